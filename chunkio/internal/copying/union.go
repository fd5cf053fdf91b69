package copying

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// columnsInFile returns a copy of the columns. In this copy, the columns that file i lacks have the kind Absent. Only a
// union allows a file to lack columns.
func columnsInFile(c *catalog.Catalog, i int, columns []copier.Column) []copier.Column {
	here := make([]copier.Column, len(columns))
	for k, column := range columns {
		if here[k] = column; !fileHasColumn(c, i, column) {
			here[k].Kind = copier.Absent
		}
	}
	return here
}

// widenColumns marks the columns of file i that must be written with a wider type than the file has: if the schema of the
// table has a wider type, or if text has whole numbers in one file and fractions in another. A column of decimals keeps the
// type of the file, because a double has not all their digits.
func widenColumns(c *catalog.Catalog, src copier.Source, i int, columns []copier.Column) []copier.Column {
	if c.List.Schema == nil && c.Texts.RowsByName(c.FileName(i)) == nil {
		return columns
	}
	columns = slices.Clone(columns)
	leaves := src.Leaves()
	for k, column := range columns {
		if column.Kind != copier.FromLeaf || c.HasDecimals(column.Leaf) {
			continue
		}
		own := &leaves[c.Files[i].LeafIndex(column.Leaf)]
		switch typ := c.Leaves[column.Leaf].Type; {
		case format.IsNumber(typ) && typ != own.Type:
			columns[k].Kind = copier.FromNumbers
		case typ == "timestamp" && own.PerSecond == 1: // Parquet has no times in seconds
			columns[k].Kind = copier.FromDates
		}
	}
	return columns
}

func setNullFieldsOfAbsentColumns(leaves []format.Leaf, fields []copier.Field, columns []copier.Column) {
	for k := range fields {
		if c := columns[k]; fields[k].Node == nil && c.Kind != copier.FromField {
			fields[k] = copier.Field{Node: newColumnNode(c.Name, elementTypeOfList(leaves[c.Leaf])), Dict: []bool{true}}
		}
	}
}

func fileHasColumn(files *catalog.Catalog, fileIndex int, c copier.Column) bool {
	f := &files.Files[fileIndex]
	if f.Order == nil { // a file without its own order has all columns
		return true
	}
	switch c.Kind {
	case copier.FromLeaf:
		return f.LeafIndex(c.Leaf) >= 0
	case copier.FromField:
		for at, l := range files.Leaves {
			if (l.Name == c.Name || strings.HasPrefix(l.Name, c.Name+".")) && f.LeafIndex(at) >= 0 {
				return true
			}
		}
		return false
	}
	return true
}

// presentColumns returns the columns to write for input file i, for an output folder: the columns that the file has, or
// all if it belongs to a table. A file with rows must have at least one of the columns.
func presentColumns(from *catalog.Catalog, i int, columns []copier.Column) ([]copier.Column, error) {
	var present []copier.Column
	for k, c := range columnsInFile(from, i, columns) {
		// The files of a table get all columns of the table, but an absent nested column cannot be made.
		if c.Kind != copier.Absent || from.List.Schema != nil && columns[k].Kind == copier.FromLeaf {
			present = append(present, c)
		}
	}
	if len(present) == 0 && from.Files[i].CountRows() > 0 {
		e := stream.Dataf(from.FileName(i), "the file has none of the columns to write")
		e.Remedy = stream.Textf("write one file, {o} FILE.parquet, where its rows are null, or add a column that it has, {also}")
		return nil, e
	}
	return present, nil
}

func newColumnNode(name, typ string) schema.Node {
	var logical schema.LogicalType = schema.StringLogicalType{}
	physical := parquet.Types.ByteArray
	switch typ {
	case "string":
	case "binary":
		logical = schema.NoLogicalType{}
	case "date":
		logical, physical = schema.DateLogicalType{}, parquet.Types.Int32
	case "timestamp", "timestamp_ntz":
		logical, physical = schema.NewTimestampLogicalType(typ == "timestamp", schema.TimeUnitMicros), parquet.Types.Int64
	default:
		return writer.NumberOf(typ).Node(name, false)
	}
	return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Optional, logical, physical, -1, -1))
}

func makeNodeNullable(path string, node schema.Node) (schema.Node, error) {
	p, ok := node.(*schema.PrimitiveNode)
	switch {
	case node.RepetitionType() == parquet.Repetitions.Optional:
		return node, nil
	case !ok:
		e := stream.Dataf(path, "the file lacks this column, which is nested and never null in others")
		e.Column, e.Remedy = node.Name(), stream.Textf("write the files to a folder, {o} DIR, where each keeps its columns")
		return nil, e
	}
	return copier.FlatNode(p, p.Name(), false)
}

func writeNullColumn(c copier.Target) error {
	for _, chunk := range c.Chunks {
		levels := make([]int16, chunk.Rows)
		var rep []int16
		if chunk.Descr().MaxRepetitionLevel() > 0 {
			rep = levels
		}
		if err := format.Guard(func() error { return putNullLevels(chunk, levels, rep) }); err != nil {
			return err
		}
	}
	return nil
}

func putNullLevels(chunk *writer.Chunk, definitionLevels, repetitionLevels []int16) error {
	switch t := chunk.Type(); t {
	case parquet.Types.Boolean:
		return writer.Put(chunk, []bool{}, definitionLevels, repetitionLevels)
	case parquet.Types.Int32:
		return writer.Put(chunk, []int32{}, definitionLevels, repetitionLevels)
	case parquet.Types.Int64:
		return writer.Put(chunk, []int64{}, definitionLevels, repetitionLevels)
	case parquet.Types.Int96:
		return writer.Put(chunk, []parquet.Int96{}, definitionLevels, repetitionLevels)
	case parquet.Types.Float:
		return writer.Put(chunk, []float32{}, definitionLevels, repetitionLevels)
	case parquet.Types.Double:
		return writer.Put(chunk, []float64{}, definitionLevels, repetitionLevels)
	case parquet.Types.ByteArray:
		return writer.Put(chunk, []parquet.ByteArray{}, definitionLevels, repetitionLevels)
	case parquet.Types.FixedLenByteArray:
		return writer.Put(chunk, []parquet.FixedLenByteArray{}, definitionLevels, repetitionLevels)
	default:
		return fmt.Errorf("unknown physical type %v", t)
	}
}
