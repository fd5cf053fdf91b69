package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/iceberg-go"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Iceberg identifies the columns of a file by their ids, so a plan has the table's columns with them. A file without ids,
// as of an import, has columns with the names in the table's mapping of names. The partition of a file may contain the
// value of a column that the file lacks.

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
}

// lackingColumn is a column of the table, or a field of a struct, that a file does not have.
type lackingColumn struct {
	iceberg.NestedField
	path string // its name with the names of the structs that contain it
}

func matchColumns(shown string, table *iceberg.Schema, mapping iceberg.NameMapping, root *schema.GroupNode) (columnsInFile, error) {
	c := columnsInFile{hasIDs: hasFieldIDs(root)}
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

// keysOfPlan returns the columns whose values a plan has for every file, because some file lacks the column although its
// partition has the value. It fails if a file lacks a column that has a default, which a plan cannot contain.
func keysOfPlan(files []*dataFile) (keys []iceberg.NestedField, err error) {
	known := make(map[int]*dataFile)
	for _, f := range files {
		for _, c := range f.columns.lacking {
			value, partitioned := f.identity[c.ID]
			switch {
			case !partitioned && c.InitialDefault != nil && f.rows > 0:
				text, _ := json.Marshal(c.InitialDefault)
				return nil, f.errColumn(c.path, "this file was written before the table had the column, whose default for such files is %s, and ufs-stream would read it as null", text)
			case value == nil || known[c.ID] != nil:
			case c.path != c.Name:
				return nil, f.errColumn(c.path, "this file lacks the field, and its partition has the value; ufs-stream takes only columns outside of structs from partitions")
			default:
				keys, known[c.ID] = append(keys, c.NestedField), f
			}
		}
	}
	for _, key := range keys {
		for _, f := range files {
			if _, partitioned := f.identity[key.ID]; !partitioned {
				return nil, f.errColumn(key.Name, "this file is not partitioned by the column, and %s has its value only as a partition", place.DisplayName(known[key.ID].path))
			}
		}
	}
	return keys, nil
}

func (f *dataFile) errColumn(column, format string, args ...any) error {
	e := stream.Dataf(place.DisplayName(f.path), format, args...)
	e.Column, e.Remedy = column, rewriteRemedy()
	return e
}

func partitionText(columnType iceberg.Type, value any) (string, error) {
	if value == nil {
		return nullKey, nil
	}
	switch columnType.(type) { // some writers of manifests give a value another type than its column has
	case iceberg.BooleanType:
		if v, ok := value.(bool); ok {
			return strconv.FormatBool(v), nil
		}
	case iceberg.Int32Type, iceberg.Int64Type:
		switch value.(type) {
		case int32, int64:
			return fmt.Sprint(value), nil
		}
	case iceberg.StringType:
		if v, ok := value.(string); ok && v != nullKey && v != "" {
			return v, nil
		}
	case iceberg.Float32Type, iceberg.Float64Type:
		switch v := value.(type) {
		case float32:
			return finiteText(float64(v))
		case float64:
			return finiteText(v)
		}
	case iceberg.DateType:
		if v, ok := value.(iceberg.Date); ok {
			return iceberg.DateLiteral(v).String(), nil
		}
	case iceberg.DecimalType:
		switch v := value.(type) {
		case iceberg.Decimal:
			return v.String(), nil
		case iceberg.DecimalLiteral:
			return v.String(), nil
		}
	}
	return "", fmt.Errorf("its partition value is of type %s, which cannot be carried in a plan", columnType)
}

func finiteText(v float64) (string, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "", errors.New("its partition value is not finite, and cannot be carried in a plan")
	}
	return strconv.FormatFloat(v, 'g', -1, 64), nil
}

// nullKey represents a null among the partition values of a plan.
const nullKey = "__HIVE_DEFAULT_PARTITION__"
