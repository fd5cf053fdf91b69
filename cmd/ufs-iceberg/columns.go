package main

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/iceberg-go"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Iceberg identifies the columns of a file by their ids, and ufs-stream by their names. Only the footer of a file
// contains its ids and names reliably: merged manifests have newer schemas, and old schemas are removed from the
// metadata.

// columns describes how the columns of one file differ from the columns of the table.
type columns struct {
	lacking []lackingColumn
	widths  map[int]parquet.Type // physical types of numbers, by column id
}

// lackingColumn is a column of the table that a file does not have.
type lackingColumn struct {
	id   int
	name string // with the names of the structs that contain it
}

// matcher finds the columns of the table in a file.
type matcher struct {
	columns
	path string // path of the file, without secrets
}

// matchColumns compares the columns of a file with the columns of the table. It returns an error if Iceberg and
// ufs-stream would read different columns of the file for the same column of the table.
func matchColumns(path string, table *iceberg.Schema, mapping iceberg.NameMapping, root *schema.GroupNode) (columns, error) {
	m := matcher{columns{widths: make(map[int]parquet.Type)}, path}
	identified := false
	for i := range root.NumFields() {
		identified = identified || root.Field(i).FieldID() >= 0
	}
	switch {
	case identified:
		mapping = nil
	case mapping == nil && root.NumFields() > 0:
		e := stream.Dataf(path, "its columns have no ids, and the table has no mapping of names (schema.name-mapping.default)")
		e.Remedy = rewriteRemedy()
		return m.columns, e
	}
	return m.columns, m.matchGroup("", table.AsStruct().FieldList, mapping, root)
}

func rewriteRemedy() stream.Text {
	return stream.Textf("have the table's files written again under its present schema and plan again, as by Spark's CALL system.rewrite_data_files(table => '…', options => map('rewrite-all', 'true'))")
}

func (m *matcher) matchGroup(prefix string, fields []iceberg.NestedField, mapping []iceberg.MappedField, group *schema.GroupNode) error {
	byID, byName := make(map[int]schema.Node), make(map[string]schema.Node)
	ids := make([]int, group.NumFields())
	for i := range ids {
		n := group.Field(i)
		ids[i] = int(n.FieldID())
		if mapping != nil {
			ids[i] = mappedFieldID(mapping, n.Name())
		}
		if ids[i] >= 0 {
			byID[ids[i]] = n
		}
		byName[n.Name()] = n
	}
	for _, f := range fields {
		n, found := byID[f.ID]
		_, namesake := byName[f.Name]
		switch {
		case found && n.Name() != f.Name:
			return m.errColumn(prefix+f.Name, "the table's column is called %q in this file: it was renamed after the file was written", prefix+n.Name())
		case !found && namesake:
			return m.errColumn(prefix+f.Name, "this file has another column of that name: the table's was added again after one was dropped")
		case !found:
			m.lacking = append(m.lacking, lackingColumn{f.ID, prefix + f.Name})
			continue
		}
		if err := m.matchNested(prefix+f.Name+".", f, mapping, n); err != nil {
			return err
		}
	}
	for i, id := range ids {
		if !slices.ContainsFunc(fields, func(f iceberg.NestedField) bool { return f.ID == id }) {
			return m.errColumn(prefix+group.Field(i).Name(), "the table has no such column any more, and this file still has it")
		}
	}
	return nil
}

// matchNested compares the fields of column f, if it is a struct, with the file's node n. Of a number it records the
// width.
func (m *matcher) matchNested(prefix string, f iceberg.NestedField, mapping []iceberg.MappedField, n schema.Node) error {
	switch t := f.Type.(type) {
	case *iceberg.StructType:
		below, ok := n.(*schema.GroupNode)
		if !ok {
			return m.errColumn(prefix[:len(prefix)-1], "this is a struct in the table, and none in this file")
		}
		if mapping != nil {
			mapping = mappedFields(mapping, n.Name())
		}
		return m.matchGroup(prefix, t.FieldList, mapping, below)
	case iceberg.Int32Type, iceberg.Int64Type, iceberg.Float32Type, iceberg.Float64Type:
		if leaf, ok := n.(*schema.PrimitiveNode); ok {
			m.widths[f.ID] = leaf.PhysicalType()
		}
	}
	return nil
}

func (m *matcher) errColumn(column, format string, args ...any) error {
	e := stream.Dataf(m.path, format, args...)
	e.Column, e.Remedy = column, rewriteRemedy()
	return e
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

// commonColumns checks that all files of a plan have the same columns. It returns the columns that no file has: in keys
// if they are partition keys with a value in every file, otherwise in absent.
func commonColumns(files []*dataFile) (keys []lackingColumn, absent []string, err error) {
	lacking := make(map[lackingColumn]int)
	var order []lackingColumn
	for _, f := range files {
		for _, c := range f.columns.lacking {
			if lacking[c] == 0 {
				order = append(order, c)
			}
			lacking[c]++
		}
	}
	for _, c := range order {
		without := slices.IndexFunc(files, func(f *dataFile) bool { return slices.Contains(f.columns.lacking, c) })
		if lacking[c] < len(files) {
			with := slices.IndexFunc(files, func(f *dataFile) bool { return !slices.Contains(f.columns.lacking, c) })
			e := stream.Dataf(place.DisplayName(files[without].path), "this file lacks the column, and %s has it: it was added to the table between the two", place.DisplayName(files[with].path))
			e.Column, e.Remedy = c.name, rewriteRemedy()
			return nil, nil, e
		}
		valued := 0
		for _, f := range files {
			if _, ok := f.identity[c.id]; ok {
				valued++
			}
		}
		switch {
		case valued == len(files):
			keys = append(keys, c)
		case valued > 0:
			without := slices.IndexFunc(files, func(f *dataFile) bool { _, ok := f.identity[c.id]; return !ok })
			e := stream.Dataf(place.DisplayName(files[without].path), "this file neither has the column nor is partitioned by it, as others are")
			e.Column, e.Remedy = c.name, rewriteRemedy()
			return nil, nil, e
		default:
			absent = append(absent, c.name)
		}
	}
	return keys, absent, checkWidths(files)
}

func checkWidths(files []*dataFile) error {
	for _, f := range files[1:] {
		ids := make([]int, 0, len(f.columns.widths))
		for id := range f.columns.widths {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		for _, id := range ids {
			if was, ok := files[0].columns.widths[id]; ok && was != f.columns.widths[id] {
				e := stream.Dataf(place.DisplayName(f.path), "it is %v here and %v in %s: the table widened it between the two", f.columns.widths[id], was, place.DisplayName(files[0].path))
				e.Column, e.Remedy = f.names[id], rewriteRemedy()
				return e
			}
		}
	}
	return nil
}

func partitionText(columnType iceberg.Type, value any) (string, error) {
	if value == nil {
		return nullKey, nil
	}
	switch v := value.(type) {
	case bool, int32, int64, string:
		if text := fmt.Sprint(v); text != nullKey && text != "" {
			return text, nil
		}
	case iceberg.Date:
		return iceberg.DateLiteral(v).String(), nil
	case iceberg.Decimal:
		return v.String(), nil
	}
	return "", fmt.Errorf("its partition value is of type %s, which cannot be carried in a plan", columnType)
}

// nullKey represents a null among the partition values of a plan.
const nullKey = "__HIVE_DEFAULT_PARTITION__"
