package delta

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Schema contains the columns of a table, or the fields of a struct in it.
type Schema struct {
	Fields []Field
	index  map[string]int // position of each field by its name in lower case; names never differ only by case
}

// Field is a column of a table, or a field of a struct in it. A field of a primitive type has a Type, which is the name
// of the type in data files. A struct has a Struct, and a list has an Element. Fields of other types, such as maps,
// have none of these.
type Field struct {
	Name    string
	Type    string
	Struct  *Schema
	Element *Field
}

// schemaBytes bounds the memory for parsing a schema, as a multiple of its length in bytes. For 100,000 columns we
// measured a multiple of 8.
const schemaBytes = 16

// tableSchema returns the schema of the table, or nil if the log does not contain one. The protocol forbids logs
// without a schema, but some tools write such logs. The columns are then taken from the data files.
func tableSchema(t *table, m *metaData) (*Schema, error) {
	if m.SchemaString == "" || m.SchemaString == "{}" {
		return nil, nil
	}
	need := schemaBytes * int64(len(m.SchemaString))
	if err := t.budget.reserveBytes(need, t.name); err != nil {
		return nil, err
	}
	defer t.budget.releaseBytes(need)
	var document any
	err := json.Unmarshal([]byte(m.SchemaString), &document)
	whole := parseSchemaField("", document)
	if err == nil && whole.Struct == nil {
		err = errors.New("it is no struct, as the schema of a table is")
	}
	if err != nil {
		e := stream.Dataf(t.pathForMessages(logFolder), "the schema in the metaData action cannot be read: %w", err)
		e.Remedy = stream.Textf("restore the log from a copy")
		return nil, e
	}
	return whole.Struct, nil
}

func parseSchemaField(name string, schemaJSON any) Field {
	f := Field{Name: name}
	switch d := schemaJSON.(type) {
	case string:
		f.Type = typeNames[d]
		if d == "decimal" {
			f.Type = "decimal(10,0)"
		} else if strings.HasPrefix(d, "decimal(") {
			f.Type = strings.ReplaceAll(d, " ", "")
		}
	case map[string]any:
		fields, isStruct := d["fields"].([]any)
		switch {
		case d["type"] == "struct" && isStruct:
			f.Struct = parseSchemaFields(fields)
		case d["type"] == "array":
			element := parseSchemaField("", d["elementType"])
			f.Element = &element
		}
	}
	return f
}

func parseSchemaFields(fields []any) *Schema {
	s := &Schema{Fields: make([]Field, 0, len(fields)), index: make(map[string]int, len(fields))}
	for _, document := range fields {
		d, _ := document.(map[string]any) // a field that is not a JSON object has neither a name nor a type
		name, _ := d["name"].(string)
		s.index[strings.ToLower(name)] = len(s.Fields)
		s.Fields = append(s.Fields, parseSchemaField(name, d["type"]))
	}
	return s
}

// typeNames maps the primitive types of the protocol to their names in data files.
var typeNames = map[string]string{
	"byte": "int8", "short": "int16", "integer": "int32", "long": "int64", "float": "float", "double": "double", "boolean": "bool",
	"string": "string", "binary": "binary", "date": "date", "timestamp": "timestamp", "timestamp_ntz": "timestamp_ntz",
}

// ColumnType returns the type that the schema declares for the column with this path in a data file. For a list this is
// list<…>. ok is false if the schema lacks the column. An empty type means that types cannot be compared.
func (s *Schema) ColumnType(path []string) (typ string, ok bool) {
	var at *Field
	for _, name := range path {
		if at != nil {
			if s = at.Struct; s == nil { // the path leads into a list of structs or a map
				return "", true
			}
		}
		i, found := s.index[strings.ToLower(name)]
		if !found {
			return "", false
		}
		at = &s.Fields[i]
	}
	switch {
	case at == nil:
		return "", false
	case at.Element != nil && at.Element.Type != "":
		return "list<" + at.Element.Type + ">", true
	}
	return at.Type, true
}

// ColumnIndex returns the index of a column in the schema, or the number of columns if it is absent.
func (s *Schema) ColumnIndex(name string) int {
	if at, ok := s.index[strings.ToLower(name)]; ok {
		return at
	}
	return len(s.Fields)
}

// Widens reports whether a column may have the type `file` in a data file if the schema of the table declares the type
// `table`. This is so if the types are equal, or if the protocol allows a table to widen one type to the other.
// https://github.com/delta-io/delta/blob/master/PROTOCOL.md#type-widening
func Widens(file, table string) bool {
	inFile, fileIsList := strings.CutPrefix(file, "list<")
	inTable, tableIsList := strings.CutPrefix(table, "list<")
	if fileIsList && tableIsList {
		return Widens(strings.TrimSuffix(inFile, ">"), strings.TrimSuffix(inTable, ">"))
	}
	whole := map[string]int{"int8": 3, "int16": 5, "int32": 10, "int64": 20} // number of decimal digits
	digits, isWhole := whole[file]
	var precision, scale, ownPrecision, ownScale int
	isDecimal := parseDecimalType(table, &precision, &scale)
	switch {
	case file == table || table == "":
		return true
	case isWhole && whole[table] > 0:
		return digits <= whole[table]
	case isWhole && table == "double":
		return digits <= whole["int32"]
	case isWhole && isDecimal:
		return precision-scale >= max(digits, whole["int32"])
	case isDecimal && parseDecimalType(file, &ownPrecision, &ownScale):
		return scale >= ownScale && precision-ownPrecision >= scale-ownScale
	}
	switch file + " " + table {
	case "float double", "date timestamp_ntz", "timestamp timestamp_ntz", "int96 timestamp_ntz", "int96 timestamp", "null " + table,
		"binary string", "enum string", "json string", "uuid string", "string binary", "json binary", "bson binary", "uuid binary": // the same texts or bytes under other names
		return true
	}
	return false
}

func parseDecimalType(typeName string, precision, scale *int) bool {
	n, err := fmt.Sscanf(typeName, "decimal(%d,%d)", precision, scale)
	return n == 2 && err == nil
}
