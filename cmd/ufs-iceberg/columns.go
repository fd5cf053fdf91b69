package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/iceberg-go"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Iceberg identifies the columns of a file by their ids, so a plan has the table's columns with them. A file without ids,
// as of an import, has columns with the names in the table's mapping of names. A column that a file lacks has the value of
// the file's partition, or else its default, or is null.

// columnsOfPlan translates the fields of a struct for a plan. The mapping, which may be nil, has their names in data files.
func columnsOfPlan(fields []iceberg.NestedField, mapping []iceberg.MappedField) ([]columns.Column, error) {
	translated, mapped := make([]columns.Column, len(fields)), make(map[int]iceberg.MappedField)
	for _, m := range mapping {
		mapped[m.ID()] = m
	}
	for i, f := range fields {
		if f.ID <= 0 || f.ID > math.MaxInt32 {
			return nil, fmt.Errorf("the column %q has the id %d", f.Name, f.ID)
		}
		c := columns.Column{Name: f.Name, ID: int32(f.ID)}
		if names := mapped[f.ID].Names; len(names) > 0 {
			c.Physical, c.Aliases = names[0], names[1:]
		}
		if err := setType(&c, f.Type, mapped[f.ID].Fields); err != nil {
			return nil, err
		}
		translated[i] = c
	}
	return translated, nil
}

func setType(c *columns.Column, t iceberg.Type, mapping []iceberg.MappedField) (err error) {
	var inner []iceberg.NestedField
	switch t := t.(type) {
	case *iceberg.StructType:
		c.Type = columns.Struct
		c.Fields, err = columnsOfPlan(t.FieldList, mapping)
		return err
	case *iceberg.ListType:
		c.Type, inner = columns.List, []iceberg.NestedField{t.ElementField()}
	case *iceberg.MapType:
		c.Type, inner = columns.Map, []iceberg.NestedField{t.KeyField(), t.ValueField()}
	default:
		c.Type = typeInFiles(t)
		if fixed, ok := t.(iceberg.FixedType); ok {
			c.Fixed = int32(fixed.Len())
		}
		return nil
	}
	for _, f := range inner { // data files have these by their places
		var names []iceberg.MappedField
		if at := slices.IndexFunc(mapping, func(m iceberg.MappedField) bool { return m.ID() == f.ID }); at >= 0 {
			names = mapping[at].Fields
		}
		part := columns.Column{Name: f.Name}
		if err := setType(&part, f.Type, names); err != nil {
			return err
		}
		c.Fields = append(c.Fields, part)
	}
	return nil
}

// typeInFiles returns the name that ufs-stream has for a type of columns in data files, or "" if files have it in
// different ways.
func typeInFiles(t iceberg.Type) string {
	switch t := t.(type) {
	case iceberg.BooleanType:
		return "bool"
	case iceberg.Int32Type:
		return "int32"
	case iceberg.Int64Type:
		return "int64"
	case iceberg.DecimalType:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision(), t.Scale())
	case iceberg.TimestampType, iceberg.TimestampNsType:
		return "timestamp_ntz"
	case iceberg.TimestampTzType, iceberg.TimestampTzNsType:
		return "timestamp"
	case iceberg.FixedType:
		return "binary"
	case iceberg.VariantType:
		return columns.Variant
	case iceberg.Float32Type, iceberg.Float64Type, iceberg.DateType, iceberg.TimeType, iceberg.StringType, iceberg.BinaryType, iceberg.UUIDType:
		return t.Type()
	}
	return ""
}

// columnsInFile describes how the columns of one file differ from the columns of the table.
type columnsInFile struct {
	hasIDs  bool
	lacking []lackingColumn
	fixed   map[int]int32 // by id: the number of bytes of values with a fixed number
}

// lackingColumn is a column of the table, or a field of a struct, that a file does not have.
type lackingColumn struct {
	iceberg.NestedField
	path string // its name with the names of the structs that contain it
}

func matchColumns(shown string, table *iceberg.Schema, mapping iceberg.NameMapping, root *schema.GroupNode) (columnsInFile, error) {
	c := columnsInFile{hasIDs: hasFieldIDs(root), fixed: make(map[int]int32)}
	switch {
	case c.hasIDs:
		mapping = nil
	case len(mapping) == 0 && root.NumFields() > 0:
		e := stream.Dataf(shown, "its columns have no ids, and the table has no mapping of names (schema.name-mapping.default)")
		e.Remedy = rewriteRemedy()
		return c, e
	}
	c.matchFields("", table.AsStruct().FieldList, mapping, root)
	return c, nil
}

func rewriteRemedy() stream.Text {
	return stream.Textf("have the table's files written again under its present schema and plan again, as by Spark's CALL system.rewrite_data_files(table => '…', options => map('rewrite-all', 'true'))")
}

func (c *columnsInFile) matchFields(prefix string, fields []iceberg.NestedField, mapping []iceberg.MappedField, group *schema.GroupNode) {
	ids, nodes := make(map[string]int), make(map[int]schema.Node)
	for _, f := range mapping {
		for _, name := range f.Names {
			ids[name] = f.ID()
		}
	}
	for i := range group.NumFields() {
		n := group.Field(i)
		if id, mapped := ids[n.Name()]; c.hasIDs {
			nodes[int(n.FieldID())] = n
		} else if mapped {
			nodes[id] = n
		}
	}
	for _, f := range fields {
		found := nodes[f.ID]
		if found == nil {
			c.lacking = append(c.lacking, lackingColumn{f, prefix + f.Name})
			continue
		}
		if leaf, ok := found.(*schema.PrimitiveNode); ok && leaf.PhysicalType() == parquet.Types.FixedLenByteArray {
			c.fixed[f.ID] = int32(leaf.TypeLength())
		}
		below, isGroup := found.(*schema.GroupNode)
		if t, ok := f.Type.(*iceberg.StructType); ok && isGroup {
			c.matchFields(prefix+f.Name+".", t.FieldList, mappedFields(mapping, found.Name()), below)
		}
	}
}

func hasFieldIDs(group *schema.GroupNode) bool {
	for i := range group.NumFields() {
		n := group.Field(i)
		if below, ok := n.(*schema.GroupNode); n.FieldID() >= 0 || ok && hasFieldIDs(below) {
			return true
		}
	}
	return false
}

func mappedFieldID(mapping []iceberg.MappedField, name string) int {
	for _, f := range mapping {
		if slices.Contains(f.Names, name) {
			return f.ID()
		}
	}
	return -1
}

func mappedFields(mapping []iceberg.MappedField, name string) []iceberg.MappedField {
	for _, f := range mapping {
		if slices.Contains(f.Names, name) && f.Fields != nil {
			return f.Fields
		}
	}
	return []iceberg.MappedField{}
}

// setConstants gives the columns of a plan their defaults, and the files the values of their partitions, if a file needs them
// because it lacks the column. Values of partitions have priority over defaults, and over columns that are only found by
// their names. fields are the columns of the table, in the order of the planned columns.
func setConstants(files []*dataFile, fields []iceberg.NestedField, planned []columns.Column) (err error) {
	for _, f := range files {
		constants := columns.Constants{}
		for i, field := range fields {
			if _, decimal := field.Type.(iceberg.DecimalType); decimal {
				planned[i].Fixed = max(planned[i].Fixed, f.columns.fixed[field.ID])
			}
		}
		for _, c := range f.columns.lacking {
			value, partitioned := f.identity[c.ID]
			_, primitive := c.Type.(iceberg.PrimitiveType)
			switch {
			case c.path != c.Name && value != nil:
				return f.errColumn(c.path, "this file lacks the field, and its partition has the value; ufs-stream takes only columns outside of structs from partitions")
			case partitioned || c.InitialDefault == nil || f.rows == 0:
			case c.path != c.Name || !primitive:
				text, _ := json.Marshal(c.InitialDefault)
				return f.errColumn(c.path, "this file was written before the table had the column, whose default for such files is %s; ufs-stream knows only defaults of columns outside of structs, lists and maps", text)
			default:
				column := &planned[slices.IndexFunc(fields, func(f iceberg.NestedField) bool { return f.ID == c.ID })]
				if column.Default, err = defaultText(c.Type, c.InitialDefault); err != nil {
					return f.errColumn(c.path, "%w", err)
				}
			}
		}
		for _, field := range fields {
			value, partitioned := f.identity[field.ID]
			lacks := func(c lackingColumn) bool { return c.ID == field.ID }
			if !partitioned || f.columns.hasIDs && !slices.ContainsFunc(f.columns.lacking, lacks) {
				continue
			}
			if constants[int32(field.ID)], err = partitionText(field.Type, value); err != nil {
				return f.errColumn(field.Name, "%w", err)
			}
		}
		if len(constants) == 0 {
			continue
		}
		if f.constants, err = json.Marshal(constants); err != nil {
			return err
		}
	}
	return nil
}

func defaultText(columnType iceberg.Type, value any) (*string, error) {
	text, isText := value.(string)
	if !isText {
		literal, err := defaultLiteral(columnType, value)
		if err != nil {
			return nil, err
		}
		return partitionText(columnType, literal)
	}
	switch columnType.(type) {
	case iceberg.BooleanType, iceberg.Int32Type, iceberg.Int64Type, iceberg.Float32Type, iceberg.Float64Type:
		return nil, fmt.Errorf("its default %q cannot be read as %s", text, columnType)
	}
	return &text, nil
}

func (f *dataFile) errColumn(column, format string, args ...any) error {
	e := stream.Dataf(place.DisplayName(f.path), format, args...)
	e.Column, e.Remedy = column, rewriteRemedy()
	return e
}

// partitionText returns the text of a partition value for columns.Constants, or nil for null.
func partitionText(columnType iceberg.Type, value any) (*string, error) {
	if value == nil {
		return nil, nil
	}
	text, v := "", reflect.ValueOf(value) // some writers of manifests give a value another type than its column has
	switch t := columnType.(type) {
	case iceberg.BooleanType:
		if v.Kind() == reflect.Bool {
			text = strconv.FormatBool(v.Bool())
		}
	case iceberg.StringType:
		if s, ok := value.(string); ok && utf8.ValidString(s) { // JSON would replace other bytes
			return &s, nil
		}
	case iceberg.Float32Type, iceberg.Float64Type:
		if v.CanFloat() {
			text = strconv.FormatFloat(v.Float(), 'g', -1, 64)
		}
	case iceberg.Int32Type, iceberg.Int64Type:
		switch value.(type) {
		case int32, int64:
			text = strconv.FormatInt(v.Int(), 10)
		}
	case iceberg.DecimalType:
		switch d := value.(type) {
		case iceberg.Decimal:
			text = d.Val.ToString(int32(d.Scale))
		case iceberg.DecimalLiteral:
			text = d.Val.ToString(int32(d.Scale))
		}
	case iceberg.BinaryType, iceberg.FixedType, iceberg.UUIDType:
		if bytes, err := encodeConstant(value); err == nil && (v.Kind() == reflect.Slice || v.Kind() == reflect.Array) {
			text = hex.EncodeToString(bytes)
			return &text, nil // no bytes are a value too
		}
	default:
		text = formatTime(t, value)
	}
	if text == "" {
		return nil, fmt.Errorf("the value %v of its partition, of type %T, is none of type %s", value, value, columnType)
	}
	return &text, nil
}

func formatTime(columnType iceberg.Type, value any) string {
	var at time.Time
	layout := "" // so is the text if the value does not fit the type
	switch v := value.(type) {
	case iceberg.Date:
		at, layout = time.Unix(86400*int64(v), 0), map[string]string{"date": time.DateOnly}[columnType.Type()]
	case iceberg.Time:
		at, layout = time.UnixMicro(int64(v)), map[string]string{"time": "15:04:05.000000"}[columnType.Type()]
	case iceberg.Timestamp:
		const micros = "2006-01-02T15:04:05.000000"
		at, layout = time.UnixMicro(int64(v)), map[string]string{"timestamp": micros, "timestamptz": micros + "-07:00"}[columnType.Type()]
	case iceberg.TimestampNano:
		const nanos = "2006-01-02T15:04:05.000000000"
		at, layout = time.Unix(0, int64(v)), map[string]string{"timestamp_ns": nanos, "timestamptz_ns": nanos + "-07:00"}[columnType.Type()]
	}
	return at.UTC().Format(layout)
}
