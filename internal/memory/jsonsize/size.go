// Package jsonsize computes how much memory decoding a JSON document would need, before it is decoded. For example,
// decoding 200 MB of one array of short texts used 2 GB.
package jsonsize

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	allocationOverhead = 16 // bytes for each allocated value, in addition to the value itself
	mapEntryOverhead   = 64 // bytes for each entry of a map, in addition to its key and value
)

// allocatedBytes returns the memory of a text of the given length. Go rounds sizes up, by up to an eighth.
func allocatedBytes(bytes int) int64 { return int64(bytes) + int64(bytes)/8 + allocationOverhead }

// DecodedBytes returns an upper bound of the memory that encoding/json uses to decode text into a value of type into,
// not counting the text. DecodedBytes itself uses hardly any memory. It fails if text is not JSON, or if ctx ends.
func DecodedBytes(ctx context.Context, text []byte, into reflect.Type) (int64, error) {
	c := memoryCounter{values: newDecoder(text), fields: map[reflect.Type]map[string]reflect.Type{}}
	err := c.countValue(ctx, into)
	return c.bytes, err
}

// CountElements returns the number of elements if text is an array, otherwise 0.
func CountElements(ctx context.Context, text []byte) (n int, err error) {
	d := newDecoder(text)
	if d.PeekKind() != '[' {
		return 0, nil
	}
	if _, err := d.ReadToken(); err != nil {
		return 0, err
	}
	for ; d.PeekKind() != ']'; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return n, ctx.Err()
		}
		if err := d.SkipValue(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// checkEvery is the number of values after which the context is checked again.
const checkEvery = 1 << 12

// newDecoder returns a decoder that accepts everything that encoding/json accepts. It reads text without copying it.
func newDecoder(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// memoryCounter adds up the memory for the values of a document.
type memoryCounter struct {
	values     *jsontext.Decoder
	fields     map[reflect.Type]map[string]reflect.Type // of structs, by name
	valueCount int                                      // number of values so far
	bytes      int64
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// countValue adds the memory of the next value, decoded as type t. The caller counts the memory of the variable of type
// t itself; countValue adds the memory that it refers to.
func (c *memoryCounter) countValue(ctx context.Context, t reflect.Type) error {
	if c.valueCount++; c.valueCount%checkEvery == 0 && ctx.Err() != nil {
		return ctx.Err()
	}
	kind := c.values.PeekKind()
	switch {
	case kind == 'n':
	case t.Kind() == reflect.Pointer:
		c.bytes += int64(t.Elem().Size()) + allocationOverhead
		return c.countValue(ctx, t.Elem())
	case reflect.PointerTo(t).Implements(unmarshaler):
		raw, err := c.values.ReadValue()
		c.bytes += allocatedBytes(len(raw))
		return err
	case kind == '"':
		raw, err := c.values.ReadValue()
		if c.bytes += allocatedBytes(len(raw)); !utf8.Valid(raw) {
			c.bytes += allocatedBytes(2 * len(raw)) // twice, because each invalid byte of UTF-8 becomes three bytes
		}
		return err
	case kind == '[' && t.Kind() == reflect.Slice:
		return c.countElements(ctx, t.Elem())
	case kind == '[' && t.Kind() == reflect.Interface:
		c.bytes += allocationOverhead + int64(reflect.TypeFor[[]any]().Size())
		return c.countElements(ctx, t)
	case kind == '{' && t.Kind() == reflect.Struct:
		return c.countStructFields(ctx, t)
	case kind == '{' && t.Kind() == reflect.Map:
		return c.countMapEntries(ctx, t.Elem())
	case kind == '{' && t.Kind() == reflect.Interface:
		return c.countMapEntries(ctx, t)
	case t.Kind() == reflect.Interface:
		c.bytes += allocationOverhead // a number decoded into an interface
	}
	return c.values.SkipValue()
}

// countElements adds the memory of an array, decoded into a slice. The slice grows by a quarter at a time. Each time it
// is copied to a new slice, and the old one is garbage.
func (c *memoryCounter) countElements(ctx context.Context, t reflect.Type) error {
	if _, err := c.values.ReadToken(); err != nil {
		return err
	}
	each := int64(t.Size())
	for k := c.values.PeekKind(); k != ']'; k = c.values.PeekKind() {
		c.bytes += each + each*5/4
		if err := c.countValue(ctx, t); err != nil {
			return err
		}
	}
	_, err := c.values.ReadToken()
	return err
}

func (c *memoryCounter) countMapEntries(ctx context.Context, t reflect.Type) error {
	c.bytes += mapEntryOverhead
	return c.eachMember(func(name []byte) error {
		c.bytes += mapEntryOverhead + int64(len(name)) + 2*int64(t.Size())
		return c.countValue(ctx, t)
	})
}

func (c *memoryCounter) countStructFields(ctx context.Context, t reflect.Type) error {
	return c.eachMember(func(name []byte) error {
		if field := c.fieldType(t, name); field != nil {
			return c.countValue(ctx, field)
		}
		return c.values.SkipValue()
	})
}

// eachMember calls visit with the name of each member of an object. visit must read the value.
func (c *memoryCounter) eachMember(visit func(name []byte) error) error {
	if _, err := c.values.ReadToken(); err != nil {
		return err
	}
	for k := c.values.PeekKind(); k != '}'; k = c.values.PeekKind() {
		raw, err := c.values.ReadValue()
		if err != nil {
			return err
		}
		if err := visit(raw); err != nil {
			return err
		}
	}
	_, err := c.values.ReadToken()
	return err
}

// fieldType returns the type of the field of t with a quoted name, or nil if t does not have such a field. As in
// encoding/json, it ignores upper and lower case.
func (c *memoryCounter) fieldType(t reflect.Type, quoted []byte) reflect.Type {
	fields, cached := c.fields[t]
	if !cached {
		fields = fieldTypes(t)
		c.fields[t] = fields
	}
	name := bytes.Trim(quoted, `"`)
	if f, ok := fields[string(name)]; ok {
		return f
	}
	if bytes.IndexByte(name, '\\') >= 0 {
		name, _ = jsontext.AppendUnquote(nil, quoted)
	}
	for fieldName, f := range fields {
		if strings.EqualFold(fieldName, string(name)) {
			return f
		}
	}
	return nil
}

// fieldTypes returns the types of the fields that encoding/json uses in a struct. If an embedded struct has a field of
// the same name, the outer field is used.
func fieldTypes(t reflect.Type) map[string]reflect.Type {
	fields, depth := map[string]reflect.Type{}, map[string]int{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || f.Tag.Get("json") == "-" || f.Anonymous && name == "":
			continue
		case name == "":
			name = f.Name
		}
		if d, known := depth[name]; !known || len(f.Index) < d {
			fields[name], depth[name] = f.Type, len(f.Index)
		}
	}
	return fields
}
