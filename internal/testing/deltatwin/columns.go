package deltatwin

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// ReadCopy returns the columns of a Parquet file that should have the names and types of `like`, and the names of its
// other columns. A column that is missing has no values. If exact is set, the file must have the types of the
// table's schema. Only a partition column may be a text or a double instead, and has that type in the result.
func ReadCopy(path string, like *Table, exact bool) (columns []Column, others []string, err error) {
	f, err := openParquet(path)
	if err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for _, c := range like.Columns {
		known[c.Name] = true
		field, copied := schemaField{Name: c.Name, Type: c.Type}, Column{Name: c.Name, Type: c.Type}
		at := f.findColumn(field, "none")
		if at != nil && c.Stated != nil { // values of partitions have no times and no decimals yet
			if leaf, ok := at.node.(*schema.PrimitiveNode); ok && isText(leaf) {
				copied.Type = "string" // see Column.Stated
			} else if ok && leaf.PhysicalType() == parquet.Types.Double {
				copied.Type = "double"
			}
			field.Type = copied.Type
		}
		if at != nil {
			if copied.Values, err = f.readColumn(field, "none", exact && c.Stated == nil); err != nil {
				return nil, nil, fmt.Errorf("column %q: %w", c.Name, err)
			}
		}
		columns = append(columns, copied)
	}
	for _, c := range f.columns {
		if !known[c.node.Name()] {
			others = append(others, c.node.Name())
		}
	}
	return columns, others, nil
}

// schemaField is a column in the schema of a table, or the field of a struct.
type schemaField struct {
	Name     string
	Type     any
	Metadata map[string]any
}

func (f schemaField) physicalName(mode string) string {
	if name, ok := f.Metadata["delta.columnMapping.physicalName"].(string); ok && mode != "none" {
		return name
	}
	return f.Name
}

func (f schemaField) isColumn(c *column, mode string) bool {
	if mode == "id" {
		id, ok := f.Metadata["delta.columnMapping.id"].(float64)
		return ok && c.node.FieldID() == int32(id)
	}
	return c.node.Name() == f.physicalName(mode)
}

func (f *parquetFile) findColumn(field schemaField, mode string) *column {
	for _, c := range f.columns {
		if field.isColumn(c, mode) {
			return c
		}
	}
	return nil
}

func (f *parquetFile) readColumn(field schemaField, mode string, exact bool) ([]any, error) {
	values := make([]any, f.rows)
	c := f.findColumn(field, mode)
	if c == nil {
		return values, nil
	}
	convert, err := newConverter(field.Type, c, mode, exact)
	if err != nil {
		return nil, err
	}
	for i := range values {
		if values[i], err = convert(c.nextValue()); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// converter turns a value of a file into a value of the schema's type.
type converter func(value any) (any, error)

func newConverter(typ any, c *column, mode string, exact bool) (converter, error) {
	convert := converter(nil)
	var err error
	switch t := typ.(type) {
	case string:
		leaf, ok := c.node.(*schema.PrimitiveNode)
		if t == "variant" {
			return newConverter(variantType, c, mode, false)
		}
		if ok && !c.isList {
			convert = newScalarConverter(t, leaf)
		}
		if convert == nil || exact && !isExactType(t, leaf) {
			return nil, fmt.Errorf("the file has %s for type %s", c.describeType(), t)
		}
	case map[string]any:
		switch {
		case t["type"] == "struct" && !c.isList && c.children != nil:
			convert, err = newStructConverter(t, c, mode, exact)
		case t["type"] == "array" && c.isList && !c.isMap:
			convert, err = newListConverter(t["elementType"], c.children[0], mode, exact)
		case t["type"] == "map" && c.isMap:
			convert, err = newMapConverter(t, c.children[0], mode, exact)
		default:
			return nil, fmt.Errorf("the file has %s for type %v", c.describeType(), t["type"])
		}
	default:
		return nil, fmt.Errorf("unknown type %v", typ)
	}
	return func(value any) (any, error) {
		if value == nil {
			return nil, nil
		}
		return convert(value)
	}, err
}

// variantType is the type of the group that a file has for a variant.
var variantType = map[string]any{"type": "struct", "fields": []any{
	map[string]any{"name": "metadata", "type": "binary"}, map[string]any{"name": "value", "type": "binary"},
}}

func newStructConverter(typ map[string]any, c *column, mode string, exact bool) (converter, error) {
	text, err := json.Marshal(typ)
	if err != nil {
		return nil, err
	}
	var parsed struct{ Fields []schemaField }
	if err := json.Unmarshal(text, &parsed); err != nil {
		return nil, err
	}
	converters, places := make([]converter, len(parsed.Fields)), make([]int, len(parsed.Fields))
	for i, field := range parsed.Fields {
		for at, child := range c.children {
			if field.isColumn(child, mode) {
				places[i] = at
				if converters[i], err = newConverter(field.Type, child, mode, exact); err != nil {
					return nil, fmt.Errorf("%s: %w", field.Name, err)
				}
			}
		}
	}
	return func(value any) (any, error) {
		fields := make(Struct, len(converters))
		for i, convert := range converters {
			if convert == nil { // the file lacks the field
				continue
			}
			var err error
			if fields[i], err = convert(value.(Struct)[places[i]]); err != nil {
				return nil, err
			}
		}
		return fields, nil
	}, nil
}

func newListConverter(elementType any, element *column, mode string, exact bool) (converter, error) {
	convert, err := newConverter(elementType, element, mode, exact)
	if err != nil {
		return nil, err
	}
	return func(value any) (any, error) {
		list := List{}
		for _, v := range value.(List) {
			converted, err := convert(v)
			if err != nil {
				return nil, err
			}
			list = append(list, converted)
		}
		return list, nil
	}, nil
}

func newMapConverter(typ map[string]any, entry *column, mode string, exact bool) (converter, error) {
	key, err := newConverter(typ["keyType"], entry.children[0], mode, exact)
	if err != nil {
		return nil, err
	}
	value, err := newConverter(typ["valueType"], entry.children[1], mode, exact)
	if err != nil {
		return nil, err
	}
	return func(entries any) (any, error) {
		list := List{}
		for _, e := range entries.(List) {
			k, err := key(e.(Struct)[0])
			if err != nil {
				return nil, err
			}
			v, err := value(e.(Struct)[1])
			if err != nil {
				return nil, err
			}
			list = append(list, Struct{k, v})
		}
		return list, nil
	}, nil
}

func isText(node schema.Node) bool {
	_, ok := node.LogicalType().(schema.StringLogicalType)
	return ok
}

func (c *column) describeType() string {
	if leaf, ok := c.node.(*schema.PrimitiveNode); ok {
		return fmt.Sprintf("%v %v", leaf.PhysicalType(), leaf.LogicalType())
	}
	return fmt.Sprintf("a group of %d, %v", len(c.children), c.node.LogicalType())
}

func isExactType(typ string, leaf *schema.PrimitiveNode) bool {
	logical, physical := leaf.LogicalType(), leaf.PhysicalType()
	plain := logical == nil || logical.Equals(schema.NoLogicalType{}) || logical.Equals(schema.UnknownLogicalType{})
	isInt := func(bits int8) bool { return logical.Equals(schema.NewIntLogicalType(bits, true)) }
	if precision, scale, ok := decimalType(typ); ok {
		return logical.Equals(schema.NewDecimalLogicalType(int32(precision), int32(scale))) //nolint:gosec // at most 38
	}
	switch typ {
	case "byte":
		return isInt(8)
	case "short":
		return isInt(16)
	case "integer":
		return physical == parquet.Types.Int32 && (plain || isInt(32))
	case "long":
		return physical == parquet.Types.Int64 && (plain || isInt(64))
	case "float":
		return physical == parquet.Types.Float
	case "double":
		return physical == parquet.Types.Double
	case "boolean":
		return physical == parquet.Types.Boolean
	case "string":
		return isText(leaf)
	case "binary":
		return physical == parquet.Types.ByteArray && plain
	case "date":
		return logical.Equals(schema.DateLogicalType{})
	case "timestamp", "timestamp_ntz": // in any unit; some writers leave out that a timestamp is in UTC
		unit, ok := logical.(*schema.TimestampLogicalType)
		return ok && (!unit.IsAdjustedToUTC() || typ == "timestamp") || physical == parquet.Types.Int96
	}
	return false
}

func newScalarConverter(typ string, leaf *schema.PrimitiveNode) converter {
	physical, logical := leaf.PhysicalType(), leaf.LogicalType()
	whole := physical == parquet.Types.Int32 || physical == parquet.Types.Int64
	decimal, isDecimal := logical.(*schema.DecimalLogicalType)
	if _, scale, ok := decimalType(typ); ok {
		own := 0
		if isDecimal {
			own = int(decimal.Scale())
		} else if !whole {
			return nil
		}
		return func(value any) (any, error) { return formatDecimal(unscaledNumber(value), own, scale) }
	}
	if isDecimal {
		return nil
	}
	switch typ {
	case "byte", "short", "integer", "long":
		if whole {
			return func(value any) (any, error) { return wholeNumber(value), nil }
		}
	case "float", "double":
		if physical == parquet.Types.Float || typ == "double" && (whole || physical == parquet.Types.Double) {
			return func(value any) (any, error) { return floatNumber(value), nil }
		}
	case "boolean":
		if physical == parquet.Types.Boolean {
			return func(value any) (any, error) { return value.(bool), nil }
		}
	case "string":
		if physical == parquet.Types.ByteArray {
			return func(value any) (any, error) { return string(value.([]byte)), nil }
		}
	case "binary":
		if physical == parquet.Types.ByteArray {
			return func(value any) (any, error) { return value.([]byte), nil }
		}
	case "date":
		if physical == parquet.Types.Int32 {
			return func(value any) (any, error) { return Day(value.(int32)), nil }
		}
	case "timestamp", "timestamp_ntz":
		return newMomentConverter(physical, logical)
	}
	return nil
}

func newMomentConverter(physical parquet.Type, logical schema.LogicalType) converter {
	unit, ok := logical.(*schema.TimestampLogicalType)
	switch {
	case ok && unit.TimeUnit() == schema.TimeUnitMillis:
		return func(value any) (any, error) { return Moment(value.(int64) * 1000), nil }
	case ok && unit.TimeUnit() == schema.TimeUnitNanos:
		return func(value any) (any, error) {
			n := value.(int64)
			return Moment((n - (n%1000+1000)%1000) / 1000), nil
		}
	case physical == parquet.Types.Int64:
		return func(value any) (any, error) { return Moment(value.(int64)), nil }
	case physical == parquet.Types.Int96: // nanoseconds of the day, and the Julian day
		return func(value any) (any, error) {
			b := value.(parquet.Int96)
			day := int64(binary.LittleEndian.Uint32(b[8:])) - 2_440_588
			return Moment(day*86_400_000_000 + int64(binary.LittleEndian.Uint64(b[:8])/1000)), nil //nolint:gosec // below a day
		}
	case physical == parquet.Types.Int32: // a date
		return func(value any) (any, error) { return Moment(int64(value.(int32)) * 86_400_000_000), nil }
	}
	return nil
}

func wholeNumber(value any) int64 {
	if n, ok := value.(int32); ok {
		return int64(n)
	}
	return value.(int64)
}

func floatNumber(value any) float64 {
	switch x := value.(type) {
	case float32:
		return float64(x)
	case float64:
		return x
	}
	return float64(wholeNumber(value))
}

func unscaledNumber(value any) *big.Int {
	bytes, ok := value.([]byte)
	if !ok {
		return big.NewInt(wholeNumber(value))
	}
	n := new(big.Int).SetBytes(bytes)
	if len(bytes) > 0 && bytes[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bytes)))) //nolint:gosec // not negative
	}
	return n
}
