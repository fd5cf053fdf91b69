// Package jsonsize counts the memory of decoding a JSON document before it is decoded: 200 MB of one array of
// short texts took 2 GB.
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
	allocation = 16 // of a value of its own, beyond its bytes
	member     = 64 // of a map, beyond its key and value
)

// allocated returns the memory of a text of so many bytes: the allocator has sizes that are up to an eighth apart.
func allocated(bytes int) int64 { return int64(bytes) + int64(bytes)/8 + allocation }

// Of returns the most memory that encoding/json takes to decode text into a value of a type, without the text. It takes next to
// nothing itself. Its error is of text that is no JSON, or of ctx.
func Of(ctx context.Context, text []byte, into reflect.Type) (int64, error) {
	c := counter{values: newDecoder(text), fields: map[reflect.Type]map[string]reflect.Type{}}
	err := c.value(ctx, into)
	return c.bytes, err
}

// Elements counts the elements of an array; anything else has 0.
func Elements(ctx context.Context, text []byte) (n int, err error) {
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

// checkEvery is after how many values the context is looked at.
const checkEvery = 1 << 12

// newDecoder takes all that encoding/json takes. It reads a bytes.Buffer in its place.
func newDecoder(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// counter walks over a document.
type counter struct {
	values *jsontext.Decoder
	fields map[reflect.Type]map[string]reflect.Type // of structs, by name
	seen   int                                      // values
	bytes  int64
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// value counts the next value as one of type t, which its owner has room for.
func (c *counter) value(ctx context.Context, t reflect.Type) error {
	if c.seen++; c.seen%checkEvery == 0 && ctx.Err() != nil {
		return ctx.Err()
	}
	kind := c.values.PeekKind()
	switch {
	case kind == 'n':
	case t.Kind() == reflect.Pointer:
		c.bytes += int64(t.Elem().Size()) + allocation
		return c.value(ctx, t.Elem())
	case reflect.PointerTo(t).Implements(unmarshaler):
		raw, err := c.values.ReadValue()
		c.bytes += allocated(len(raw))
		return err
	case kind == '"':
		raw, err := c.values.ReadValue()
		if c.bytes += allocated(len(raw)); !utf8.Valid(raw) {
			c.bytes += allocated(2 * len(raw)) // each wrong byte becomes one of three
		}
		return err
	case kind == '[' && t.Kind() == reflect.Slice:
		return c.elements(ctx, t.Elem())
	case kind == '[' && t.Kind() == reflect.Interface:
		c.bytes += allocation + int64(reflect.TypeFor[[]any]().Size())
		return c.elements(ctx, t)
	case kind == '{' && t.Kind() == reflect.Struct:
		return c.members(ctx, t)
	case kind == '{' && t.Kind() == reflect.Map:
		return c.entries(ctx, t.Elem())
	case kind == '{' && t.Kind() == reflect.Interface:
		return c.entries(ctx, t)
	case t.Kind() == reflect.Interface:
		c.bytes += allocation // a number
	}
	return c.values.SkipValue()
}

// elements counts the elements of an array: the slice grows by a quarter, and is copied.
func (c *counter) elements(ctx context.Context, t reflect.Type) error {
	if _, err := c.values.ReadToken(); err != nil {
		return err
	}
	each := int64(t.Size())
	for k := c.values.PeekKind(); k != ']'; k = c.values.PeekKind() {
		c.bytes += each + each*5/4
		if err := c.value(ctx, t); err != nil {
			return err
		}
	}
	_, err := c.values.ReadToken()
	return err
}

// entries counts the members of an object that becomes a map.
func (c *counter) entries(ctx context.Context, t reflect.Type) error {
	c.bytes += member
	return c.object(func(name []byte) error {
		c.bytes += member + int64(len(name)) + 2*int64(t.Size())
		return c.value(ctx, t)
	})
}

// members counts the members of an object that becomes a struct. What the struct has no field for is passed over.
func (c *counter) members(ctx context.Context, t reflect.Type) error {
	return c.object(func(name []byte) error {
		if field := c.field(t, name); field != nil {
			return c.value(ctx, field)
		}
		return c.values.SkipValue()
	})
}

// object walks over the members of an object; see takes the value.
func (c *counter) object(see func(name []byte) error) error {
	if _, err := c.values.ReadToken(); err != nil {
		return err
	}
	for k := c.values.PeekKind(); k != '}'; k = c.values.PeekKind() {
		raw, err := c.values.ReadValue()
		if err != nil {
			return err
		}
		if err := see(raw); err != nil {
			return err
		}
	}
	_, err := c.values.ReadToken()
	return err
}

// field is the type of the field of t that a name in quotes goes to, nil for none. As in encoding/json its case
// does not matter.
func (c *counter) field(t reflect.Type, quoted []byte) reflect.Type {
	fields, known := c.fields[t]
	if !known {
		fields = fieldsOf(t)
		c.fields[t] = fields
	}
	name := bytes.Trim(quoted, `"`)
	if f, ok := fields[string(name)]; ok {
		return f
	}
	if bytes.IndexByte(name, '\\') >= 0 {
		name, _ = jsontext.AppendUnquote(nil, quoted)
	}
	for known, f := range fields {
		if strings.EqualFold(known, string(name)) {
			return f
		}
	}
	return nil
}

// fieldsOf are the types of the fields that encoding/json finds in a struct: of those that share a name, the
// outermost.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
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
