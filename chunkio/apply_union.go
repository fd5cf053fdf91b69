package chunkio

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// columnsIn are the given columns as file i has them: those that it lacks, which a union allows,
// are absent.
func (a *applier) columnsIn(i int, columns []copier.Column) []copier.Column {
	here := make([]copier.Column, len(columns))
	for k, c := range columns {
		if here[k] = c; !a.hasColumn(&a.catalog.files[i], c) {
			here[k].Kind = copier.Absent
		}
	}
	return here
}

func (a *applier) hasColumn(f *file, c copier.Column) bool {
	if f.order == nil { // it has all columns
		return true
	}
	switch c.Kind {
	case copier.FromLeaf:
		return f.at(c.Leaf) >= 0
	case copier.FromField:
		for at, l := range a.catalog.leaves {
			if (l.Name == c.Name || strings.HasPrefix(l.Name, c.Name+".")) && f.at(at) >= 0 {
				return true
			}
		}
		return false
	}
	return true
}

// present are the columns that file i has: a file below a folder keeps lacking the others, and
// must have one, if it has rows.
func (a *applier) present(i int, columns []copier.Column) ([]copier.Column, error) {
	var present []copier.Column
	for _, c := range a.columnsIn(i, columns) {
		if c.Kind != copier.Absent {
			present = append(present, c)
		}
	}
	if len(present) == 0 && a.catalog.files[i].rows() > 0 {
		e := stream.Dataf(a.catalog.path(i), "the file has none of the columns to write")
		e.Remedy = stream.Textf("write one file, {o} FILE.parquet, where its rows are null, or add a column that it has, {also}")
		return nil, e
	}
	return present, nil
}

// nullable makes a field one that may be null.
func nullable(path string, n schema.Node) (schema.Node, error) {
	p, ok := n.(*schema.PrimitiveNode)
	switch {
	case n.RepetitionType() == parquet.Repetitions.Optional:
		return n, nil
	case !ok:
		e := stream.Dataf(path, "the file lacks this column, which is nested and never null in others")
		e.Column, e.Remedy = n.Name(), stream.Textf("write the files to a folder, {o} DIR, where each keeps its columns")
		return nil, e
	}
	return copier.FlatNode(p, p.Name(), false)
}

// writeNulls writes a null in every row of a column that the file lacks.
func writeNulls(c copier.Target) error {
	for _, chunk := range c.Chunks {
		levels := make([]int16, chunk.Rows)
		var rep []int16
		if chunk.Descr().MaxRepetitionLevel() > 0 {
			rep = levels
		}
		if err := format.Guard(func() error { return putNulls(chunk, levels, rep) }); err != nil {
			return err
		}
	}
	return nil
}

func putNulls(chunk *writer.Chunk, def, rep []int16) error {
	switch t := chunk.Type(); t {
	case parquet.Types.Boolean:
		return writer.Put(chunk, []bool{}, def, rep)
	case parquet.Types.Int32:
		return writer.Put(chunk, []int32{}, def, rep)
	case parquet.Types.Int64:
		return writer.Put(chunk, []int64{}, def, rep)
	case parquet.Types.Int96:
		return writer.Put(chunk, []parquet.Int96{}, def, rep)
	case parquet.Types.Float:
		return writer.Put(chunk, []float32{}, def, rep)
	case parquet.Types.Double:
		return writer.Put(chunk, []float64{}, def, rep)
	case parquet.Types.ByteArray:
		return writer.Put(chunk, []parquet.ByteArray{}, def, rep)
	case parquet.Types.FixedLenByteArray:
		return writer.Put(chunk, []parquet.FixedLenByteArray{}, def, rep)
	default:
		return fmt.Errorf("unknown physical type %v", t)
	}
}
