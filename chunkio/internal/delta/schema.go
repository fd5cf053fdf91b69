package delta

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/stream"
)

// schemaBytes bounds the memory for parsing a schema, as a multiple of its length in bytes. For 100,000 columns we
// measured a multiple of 8.
const schemaBytes = 16

// tableSchema returns the schema of the table, or nil if the log does not contain one. The protocol forbids logs
// without a schema, but some tools write such logs. The columns are then taken from the data files. If columns have
// other names in data files, partition values have these names too, and tableSchema puts them into m.PartitionColumns.
func tableSchema(t *table, m *metaData, mapping mappingMode) (*columns.Schema, error) {
	if mapping == unmapped && (m.SchemaString == "" || m.SchemaString == "{}") {
		return nil, nil
	}
	need := schemaBytes * int64(len(m.SchemaString))
	if err := t.budget.reserveBytes(need, t.name); err != nil {
		return nil, err
	}
	defer t.budget.releaseBytes(need)
	var document any
	var whole columns.Column
	var schema *columns.Schema
	err := json.Unmarshal([]byte(m.SchemaString), &document)
	if err == nil {
		whole, err = mapping.parseColumn("", document)
	}
	if err == nil && whole.Type != columns.Struct {
		err = errors.New("it is no struct, as the schema of a table is")
	}
	if err == nil {
		schema, err = columns.NewSchema(whole.Fields)
	}
	if err != nil {
		e := stream.Dataf(t.pathForMessages(logFolder), "the schema in the metaData action cannot be read: %w", err)
		e.Remedy = stream.Textf("restore the log from a copy")
		return nil, e
	}
	if mapping != unmapped {
		names := slices.Clone(m.PartitionColumns) // a physical name may be the name of another column
		for _, field := range document.(map[string]any)["fields"].([]any) {
			d, _ := field.(map[string]any)
			if i := slices.IndexFunc(names, func(name string) bool { return name == d["name"] }); i >= 0 {
				m.PartitionColumns[i] = physicalName(d)
			}
		}
	}
	return schema, nil
}

func (m mappingMode) parseColumn(name string, typeJSON any) (columns.Column, error) {
	c := columns.Column{Name: name}
	var err error
	switch d := typeJSON.(type) {
	case string:
		c.Type = typeNames[d]
		if d == "decimal" {
			c.Type = "decimal(10,0)"
		} else if strings.HasPrefix(d, "decimal(") {
			c.Type = strings.ReplaceAll(d, " ", "")
		}
	case map[string]any:
		switch fields, isStruct := d["fields"].([]any); {
		case d["type"] == columns.Struct && isStruct:
			c.Type = columns.Struct
			c.Fields, err = m.parseFields(fields)
		case d["type"] == "array":
			c.Type = columns.List
			err = m.addInnerColumns(&c, d, "element")
		case d["type"] == columns.Map:
			c.Type = columns.Map
			err = m.addInnerColumns(&c, d, "key", "value")
		case d["type"] == columns.Variant:
			c.Type = columns.Variant
		}
	}
	return c, err
}

func (m mappingMode) addInnerColumns(c *columns.Column, typeJSON map[string]any, names ...string) error {
	for _, name := range names {
		inner, err := m.parseColumn(name, typeJSON[name+"Type"])
		if err != nil {
			return err
		}
		c.Fields = append(c.Fields, inner)
	}
	return nil
}

func (m mappingMode) parseFields(fields []any) ([]columns.Column, error) {
	parsed := make([]columns.Column, len(fields))
	for i, field := range fields {
		d, _ := field.(map[string]any) // a field that is not a JSON object has neither a name nor a type
		name, _ := d["name"].(string)
		c, err := m.parseColumn(name, d["type"])
		if err != nil {
			return nil, err
		}
		metadata, _ := d["metadata"].(map[string]any)
		id, _ := metadata["delta.columnMapping.id"].(float64)
		switch {
		case m == mappedByName:
			c.Physical = physicalName(d)
		case m == mappedByID && id == math.Trunc(id) && id <= math.MaxInt32:
			c.ID = int32(id)
		}
		if m != unmapped && (physicalName(d) == "" || m == mappedByID && c.ID <= 0) {
			return nil, fmt.Errorf("the column %q has no id or no physical name, and %s is %s", name, columnMappingKey, m)
		}
		parsed[i] = c
	}
	return parsed, nil
}

func physicalName(field map[string]any) string {
	metadata, _ := field["metadata"].(map[string]any)
	name, _ := metadata["delta.columnMapping.physicalName"].(string)
	return name
}

// typeNames maps the primitive types of the protocol to their names in data files.
var typeNames = map[string]string{
	"byte": "int8", "short": "int16", "integer": "int32", "long": "int64", "float": "float", "double": "double", "boolean": "bool",
	"string": "string", "binary": "binary", "date": "date", "timestamp": "timestamp", "timestamp_ntz": "timestamp_ntz",
	"variant": columns.Variant,
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
		"binary string", "enum string", "json string", "uuid string", "string binary", "json binary", "bson binary", "uuid binary", "binary uuid": // the same texts or bytes under other names
		return true
	}
	return false
}

func parseDecimalType(typeName string, precision, scale *int) bool {
	n, err := fmt.Sscanf(typeName, "decimal(%d,%d)", precision, scale)
	return n == 2 && err == nil
}
