package copying

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/pipeline"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// sparseBatch is the number of sparse rows that are made dense at a time.
const sparseBatch = 8192

// sparseNumberType returns the type of the dense columns that are made from sparse rows: the type of the sparse values
// if float64 represents all numbers of this type exactly, else double.
func (a *applier) sparseNumberType() writer.Number {
	return writer.NumberOf(listElementType(a.catalog.Leaves[a.sparse.Values]))
}

func listElementType(l format.Leaf) string {
	if l.Entries != "" {
		return l.Entries
	}
	t, _ := strings.CutPrefix(l.Type, "list<")
	return strings.TrimSuffix(t, ">")
}

// copySparseFeatures writes features of the sparse rows of row group g as dense columns. A value is 0 if the row lacks
// the index of the feature. It is null if the row has a null in place of one of its two lists, or in place of the
// value.
func (a *applier) copySparseFeatures(ctx context.Context, src copier.Source, i, g int, columns []copier.Target) error {
	f := &a.catalog.Files[i]
	indices, values := f.LeafIndex(a.sparse.Indices), f.LeafIndex(a.sparse.Values)
	group, err := src.Open(ctx, g, []int{indices, values})
	if err != nil {
		return err
	}
	defer group.Close()
	at := make([]int, a.sparse.Features) // feature → index in columns, plus one
	dense := make([][]float64, len(columns))
	for k, c := range columns {
		at[c.Element] = k + 1
		dense[k] = make([]float64, sparseBatch)
	}
	n := a.sparseNumberType()
	var index, value format.Lists
	for from, rows := int64(0), src.GroupRows()[g]; from < rows; from += sparseBatch {
		to := min(rows, from+sparseBatch)
		if err := a.sparse.DecodeIndices(ctx, group, indices, from, to, &index); err != nil {
			return err
		}
		if err := group.DecodeLists(ctx, values, from, to, &value); err != nil {
			return err
		}
		if err := spreadRows(dense, at, &index, &value, int(to-from)); err != nil {
			var bad *sparseRowError
			if errors.As(err, &bad) {
				return &stream.DataError{RowGroup: g, Row: format.GroupStart(src, g) + from + int64(bad.row), Err: err}
			}
			return err
		}
		for k, c := range columns {
			x := dense[k][:0]
			for r := range int(to - from) {
				if !copier.SkipsRow(c.Skip, int(from)+r) {
					x = append(x, dense[k][r])
				}
			}
			if err := n.Encode(c.Chunks[0], x, format.IsNull); err != nil {
				return err
			}
		}
	}
	return nil
}

type sparseRowError struct {
	row int
	msg string
}

func (e *sparseRowError) Error() string { return e.msg }

// spreadRows writes a batch of sparse rows to dense columns. at contains for each feature 1 + the index of its column
// in dense, or 0 if the feature is not written.
func spreadRows(dense [][]float64, at []int, index, value *format.Lists, rows int) error {
	for _, col := range dense {
		clear(col)
	}
	for r := range rows {
		if pipeline.IsNullRow(index, r) || pipeline.IsNullRow(value, r) {
			for _, col := range dense {
				col[r] = format.Null
			}
			continue
		}
		from, to := index.Ptr[r], index.Ptr[r+1]
		base := value.Ptr[r]
		if to-from != value.Ptr[r+1]-base {
			return &sparseRowError{r, fmt.Sprintf("%d indices but %d values", to-from, value.Ptr[r+1]-base)}
		}
		for e := from; e < to; e++ {
			j := index.Values[e]
			if !(j >= 0 && j < float64(len(at))) || j != float64(int(j)) {
				return &sparseRowError{r, fmt.Sprintf("index %v is none of the %d features", j, len(at))}
			}
			if k := at[int(j)]; k > 0 {
				if dense[k-1][r] != 0 {
					return &sparseRowError{r, fmt.Sprintf("index %v occurs twice in the row", j)}
				}
				dense[k-1][r] = value.Values[base+e-from]
			}
		}
	}
	return nil
}
