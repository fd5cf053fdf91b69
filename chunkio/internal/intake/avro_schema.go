package intake

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// avroSchema is the schema of a file: a record whose fields are the columns.
type avroSchema struct {
	root          *avroNode
	columns       []Column
	leftOut       []stream.LeftOut
	columnsBefore []int // by left-out field: number of columns before the field
	typesByName   map[string]*avroNode
	nodeCount     int // number of nodes
	nameBytesLeft int // total length allowed for further names
}

type avroNode struct {
	typ        string      // null, boolean, int, long, float, double, bytes, string, record, enum, array, map, union or fixed
	logical    string      // date, timestamp-millis, decimal, …
	fields     []*avroNode // fields of a record, or branches of a union
	names      []string    // names of the fields, or symbols of an enum
	items      *avroNode   // element type of an array, value type of a map
	size       int         // bytes of a fixed type
	scale      int         // scale of a decimal
	column     int         // index of the column; -1: no column
	kind       Kind        // kind of the column
	isComplete bool        // the definition of the type has been parsed completely
	isOpen     bool        // the traversal is inside a record of this type
}

// maxNodes limits the number of types in a schema, counting a named type once for each use. Named types that use other
// named types several times could multiply without this limit.
const maxNodes = 1 << 21

// parseAvroSchema parses a schema, written in JSON. The names of its columns may have maxNames bytes in total.
func parseAvroSchema(text []byte, maxNames int) (*avroSchema, error) {
	var raw any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&raw); err != nil {
		return nil, errors.New("the schema is no JSON: " + stream.PlainJSON(err).Error()) // hides io.EOF
	}
	s := &avroSchema{typesByName: map[string]*avroNode{}, nameBytesLeft: maxNames}
	root, err := s.parseType(raw, "", 0)
	if err != nil {
		return nil, err
	}
	if root.typ != "record" {
		return nil, fmt.Errorf("the rows are of type %s, not records", root.typ)
	}
	if s.root, err = s.addUseOfType(root, "", 0); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *avroSchema) parseType(typeJSON any, namespace string, depth int) (*avroNode, error) {
	if depth > 64 {
		return nil, errors.New("the schema is nested too deep")
	}
	switch t := typeJSON.(type) {
	case string:
		switch t {
		case "null", "boolean", "int", "long", "float", "double", "bytes", "string":
			return &avroNode{typ: t, column: -1, isComplete: true}, nil
		}
		for _, name := range []string{qualifiedName(t, namespace), t} {
			if n := s.typesByName[name]; n != nil {
				return n, nil
			}
		}
		return nil, fmt.Errorf("the schema has no type %q", t)
	case []any:
		n := &avroNode{typ: "union", column: -1, isComplete: true}
		for _, b := range t {
			branch, err := s.parseType(b, namespace, depth+1)
			if err != nil {
				return nil, err
			}
			n.fields = append(n.fields, branch)
		}
		return n, nil
	case map[string]any:
		return s.parseObject(t, namespace, depth)
	}
	return nil, errors.New("the schema has something that is no type")
}

func qualifiedName(name, namespace string) string {
	if namespace == "" || strings.Contains(name, ".") {
		return name
	}
	return namespace + "." + name
}

func (s *avroSchema) parseObject(typeJSON map[string]any, space string, depth int) (*avroNode, error) {
	typ, ok := typeJSON["type"].(string)
	if !ok {
		return s.parseType(typeJSON["type"], space, depth+1)
	}
	n := &avroNode{typ: typ, column: -1}
	n.logical, _ = typeJSON["logicalType"].(string)
	n.scale = wholeNumber(typeJSON["scale"])
	if name, ok := typeJSON["name"].(string); ok && (typ == "record" || typ == "enum" || typ == "fixed" || typ == "error") {
		if namespace, ok := typeJSON["namespace"].(string); ok {
			space = namespace
		}
		name = qualifiedName(name, space)
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			space = name[:dot]
		}
		s.typesByName[name] = n
	}
	var err error
	switch typ {
	case "record", "error":
		n.typ = "record"
		fields, _ := typeJSON["fields"].([]any)
		for _, raw := range fields {
			f, ok := raw.(map[string]any)
			name, hasName := f["name"].(string)
			if !ok || !hasName {
				return nil, errors.New("a record's field has no name")
			}
			field, err := s.parseType(f["type"], space, depth+1)
			if err != nil {
				return nil, fmt.Errorf("field %s: %w", name, err)
			}
			n.fields, n.names = append(n.fields, field), append(n.names, name)
		}
	case "enum":
		symbols, _ := typeJSON["symbols"].([]any)
		for _, x := range symbols {
			name, _ := x.(string)
			n.names = append(n.names, name)
		}
	case "fixed":
		if n.size = wholeNumber(typeJSON["size"]); n.size < 0 || n.size > 1<<20 {
			return nil, fmt.Errorf("a fixed type of %d bytes", n.size)
		}
	case "array":
		n.items, err = s.parseType(typeJSON["items"], space, depth+1)
	case "map":
		n.items, err = s.parseType(typeJSON["values"], space, depth+1)
	default:
		var plain *avroNode
		if plain, err = s.parseType(typ, space, depth+1); err == nil && !plain.isComplete {
			return plain, nil // the record contains itself
		} else if err == nil {
			n = &avroNode{typ: plain.typ, column: -1, logical: n.logical, fields: plain.fields, names: plain.names, items: plain.items, size: plain.size, scale: n.scale}
		}
	}
	n.isComplete = true
	return n, err
}

// wholeNumber returns x as an int, or 0 if x is not a whole number in JSON.
func wholeNumber(x any) int {
	n, _ := x.(json.Number)
	i, _ := n.Int64()
	return int(max(min(i, 1<<30), -1))
}

// addUseOfType copies a type for one of its uses in the schema. The use becomes a column called name, or several
// columns whose names begin with name.
func (s *avroSchema) addUseOfType(n *avroNode, name string, depth int) (*avroNode, error) {
	if s.nodeCount++; s.nodeCount > maxNodes || depth > 64 {
		return nil, errors.New("the schema has too many columns, or is nested too deep")
	}
	at := *n
	at.column = -1
	switch n.typ {
	case "record":
		if n.isOpen { // a type that contains itself is left out: its values are skipped
			s.leaveOutColumn(name, "a type that contains itself")
			return n, nil
		}
		n.isOpen = true
		defer func() { n.isOpen = false }()
		at.fields = make([]*avroNode, len(n.fields))
		for i, f := range n.fields {
			within := n.names[i]
			if name != "" {
				within = name + "." + within
			}
			if s.nameBytesLeft -= len(within); s.nameBytesLeft < 0 {
				return nil, errors.New("the names of the columns, with those of the records that they are in, take too much memory")
			}
			var err error
			if at.fields[i], err = s.addUseOfType(f, within, depth+1); err != nil {
				return nil, err
			}
		}
		return &at, nil
	case "union":
		return s.addUseOfUnion(&at, name, depth)
	}
	if at.kind = at.columnKind(); at.kind == Unknown && n.typ != "null" {
		s.leaveOutColumn(name, at.whyTypeIsNoColumn())
		return &at, nil
	}
	at.column = s.addColumn(name, at.kind)
	return &at, nil
}

func (s *avroSchema) leaveOutColumn(name, why string) {
	s.leftOut, s.columnsBefore = append(s.leftOut, stream.LeftOut{Name: name, Why: why}), append(s.columnsBefore, len(s.columns))
}

func (s *avroSchema) addColumn(name string, k Kind) int {
	s.columns = append(s.columns, Column{Name: name, Kind: k})
	return len(s.columns) - 1
}

// addUseOfUnion copies a union for one use of its named type. The union is one type that may be null, or several types
// that share one column; it is left out if no column can contain the values of all its types.
func (s *avroSchema) addUseOfUnion(at *avroNode, name string, depth int) (*avroNode, error) {
	branches := at.fields
	at.fields = make([]*avroNode, len(branches))
	kind, only, mixed := Unknown, 0, false
	for i, b := range branches {
		if b.typ == "null" {
			at.fields[i] = &avroNode{typ: "null", column: -1}
			continue
		}
		k := b.columnKind()
		if only++; only == 1 {
			kind = k
		} else if wider := widerKind(kind, k); k == Unknown || wider == Text && kind != k {
			kind, mixed = Unknown, true
		} else {
			kind = wider
		}
	}
	if only == 1 {
		for i, b := range branches {
			if b.typ != "null" {
				var err error
				at.fields[i], err = s.addUseOfType(b, name, depth+1)
				return at, err
			}
		}
	}
	column := -1
	if mixed || only > 0 && kind == Unknown {
		s.leaveOutColumn(name, "a union of types that no column holds")
	} else {
		column = s.addColumn(name, kind)
	}
	for i, b := range branches {
		if b.typ != "null" {
			branch := *b
			branch.column, branch.kind = column, kind
			at.fields[i] = &branch
		}
	}
	return at, nil
}

func (n *avroNode) columnKind() Kind {
	switch n.typ {
	case "boolean":
		return Bool
	case "int", "long":
		switch n.logical {
		case "date":
			return Date
		case "timestamp-millis", "timestamp-micros":
			return UTC
		case "local-timestamp-millis", "local-timestamp-micros":
			return Local
		}
		return Int
	case "float", "double":
		return Float
	case "string", "enum":
		return Text
	case "bytes", "fixed":
		if n.logical == "decimal" && n.scale >= 0 {
			return Float
		}
	}
	return Unknown
}

func (n *avroNode) whyTypeIsNoColumn() string {
	switch n.typ {
	case "array":
		return "lists of varying length"
	case "map":
		return "a map"
	}
	return "bytes"
}
