package delta

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Field is a column of a table's schema, or a field in one. Of its types, which are named as those of columns of data
// files are, primitive ones have a Type, structs Fields, and lists an Element; others, as maps, have none of these.
type Field struct {
	Name    string
	Type    string
	Fields  []Field
	Element *Field
}

// schemaBytes is about what a byte of a schema's text takes as Fields while it is read: of 100,000 columns that
// were all primitive it was 5.
const schemaBytes = 8

// columns are the columns of the table's schema; nil if the log tells none, which the protocol does not allow and
// short logs of other tools do: the data files tell them then.
func (t *table) columns(m *metaData) ([]Field, error) {
	if m.SchemaString == "" || m.SchemaString == "{}" {
		return nil, nil
	}
	need := schemaBytes * int64(len(m.SchemaString))
	if err := t.budget.use(need, t.name); err != nil {
		return nil, err
	}
	defer t.budget.free(need)
	var s typeJSON
	err := json.Unmarshal([]byte(m.SchemaString), &s)
	if err == nil && s.kind != "struct" {
		err = fmt.Errorf("it is of type %q, and a table is a struct", s.kind)
	}
	if err != nil {
		e := stream.Dataf(t.place(logFolder), "the schema in the metaData action cannot be read: %w", err)
		e.Remedy = stream.Textf("restore the log from a copy")
		return nil, e
	}
	return s.field("").Fields, nil
}

// typeJSON is a type as a schema has it: the name of a primitive one, or an object.
type typeJSON struct {
	kind    string
	fields  []fieldJSON
	element *typeJSON
}

type fieldJSON struct {
	Name string
	Type typeJSON
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *typeJSON) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &t.kind)
	}
	var object struct {
		Type        typeJSON
		Fields      []fieldJSON
		ElementType *typeJSON
	}
	err := json.Unmarshal(text, &object)
	t.kind, t.fields, t.element = object.Type.kind, object.Fields, object.ElementType
	return err
}

// field is a field of that name and this type.
func (t *typeJSON) field(name string) Field {
	f := Field{Name: name, Type: typeNames[t.kind]}
	switch {
	case strings.HasPrefix(t.kind, "decimal(") || t.kind == "decimal":
		f.Type = strings.ReplaceAll(t.kind, " ", "")
		if t.kind == "decimal" {
			f.Type = "decimal(10,0)"
		}
	case t.kind == "struct":
		f.Fields = make([]Field, len(t.fields))
		for i := range t.fields {
			f.Fields[i] = t.fields[i].Type.field(t.fields[i].Name)
		}
	case t.kind == "array" && t.element != nil:
		element := t.element.field("")
		f.Element = &element
	}
	return f
}

// typeNames are the primitive types as columns of data files call them.
var typeNames = map[string]string{
	"byte": "int8", "short": "int16", "integer": "int32", "long": "int64", "float": "float", "double": "double", "boolean": "bool",
	"string": "string", "binary": "binary", "date": "date", "timestamp": "timestamp", "timestamp_ntz": "timestamp",
}

// Find returns the type that the schema has for a column of a data file, which lies at that path: list<…> of a list.
// There is none in the schema if ok is false, and none to compare with if it is empty.
func Find(fields []Field, path []string) (typ string, ok bool) {
	var at *Field
	for _, name := range path {
		if at != nil && at.Fields == nil { // a list of structs, or a map
			return "", true
		}
		if at != nil {
			fields = at.Fields
		}
		if at = findField(fields, name); at == nil {
			return "", false
		}
	}
	switch {
	case at == nil:
		return "", false
	case at.Element != nil && at.Element.Type != "":
		return "list<" + at.Element.Type + ">", true
	}
	return at.Type, true
}

// findField finds a field by its name, which is told from others by more than the case of its letters.
func findField(fields []Field, name string) *Field {
	for i := range fields {
		if fields[i].Name == name {
			return &fields[i]
		}
	}
	for i := range fields {
		if strings.EqualFold(fields[i].Name, name) {
			return &fields[i]
		}
	}
	return nil
}

// Widens reports whether values of a data file's type are values of the table's: the same, or one that the protocol
// lets a table widen to it.
// https://github.com/delta-io/delta/blob/master/PROTOCOL.md#type-widening
func Widens(file, table string) bool {
	inFile, listed := strings.CutPrefix(file, "list<")
	inTable, wanted := strings.CutPrefix(table, "list<")
	if listed && wanted {
		return Widens(strings.TrimSuffix(inFile, ">"), strings.TrimSuffix(inTable, ">"))
	}
	whole := map[string]int{"int8": 3, "int16": 5, "int32": 10, "int64": 20} // digits of decimals
	digits, isWhole := whole[file]
	var precision, scale, ownPrecision, ownScale int
	isDecimal := isDecimalOf(table, &precision, &scale)
	switch {
	case file == table || table == "":
		return true
	case isWhole && whole[table] > 0:
		return digits <= whole[table]
	case isWhole && table == "double":
		return digits <= whole["int32"]
	case isWhole && isDecimal:
		return precision-scale >= max(digits, whole["int32"])
	case isDecimal && isDecimalOf(file, &ownPrecision, &ownScale):
		return scale >= ownScale && precision-ownPrecision >= scale-ownScale
	}
	switch file + " " + table {
	case "float double", "date timestamp", "int96 timestamp", "null " + table,
		"binary string", "enum string", "json string", "uuid string", "string binary", "json binary", "bson binary", "uuid binary": // which are texts, or bytes, however a writer calls them
		return true
	}
	return false
}

func isDecimalOf(typ string, precision, scale *int) bool {
	n, err := fmt.Sscanf(typ, "decimal(%d,%d)", precision, scale)
	return n == 2 && err == nil
}
