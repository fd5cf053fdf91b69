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

func elementTypeOfList(l format.Leaf) string {
	if l.Entries != "" {
		return l.Entries
	}
	t, _ := strings.CutPrefix(l.Type, "list<")
	return strings.TrimSuffix(t, ">")
}

func (c *fileCopy) writeWidenedNumbers(ctx context.Context, groupIndex int, target copier.Target) error {
	leaf := c.run.catalog.Files[c.file].LeafIndex(target.Leaf)
	group, err := c.src.Open(ctx, groupIndex, []int{leaf})
	if err != nil {
		return err
	}
	defer group.Close()
	n := writer.NumberOf(elementTypeOfList(c.run.catalog.Leaves[target.Leaf]))
	batch := make([]float64, sparseBatch)
	dst := make([][]float64, max(c.src.Leaves()[leaf].Width, 1))
	for from, rows := int64(0), c.src.GroupRows()[groupIndex]; from < rows; from += sparseBatch {
		to := min(rows, from+sparseBatch)
		dst[max(target.Element, 0)] = batch[:to-from]
		if err := group.Decode(ctx, leaf, from, to, dst); err != nil {
			return err
		}
		if err := n.Encode(target.Chunks[0], target.KeepRows(batch[:to-from], from), format.IsNull); err != nil {
			return err
		}
	}
	return nil
}

// copySparseFeatures writes features of the sparse rows of row group g as dense columns. A value is 0 if the row lacks
// the index of the feature. It is null if the row has a null in place of one of its two lists, or in place of the
// value.
func (c *fileCopy) copySparseFeatures(ctx context.Context, g int, columns []copier.Target) error {
	sparse, f := c.run.sparse, &c.run.catalog.Files[c.file]
	indices, values := f.LeafIndex(sparse.Indices), f.LeafIndex(sparse.Values)
	group, err := c.src.Open(ctx, g, []int{indices, values})
	if err != nil {
		return err
	}
	defer group.Close()
	at := make([]int, sparse.Features) // feature → index in columns, plus one
	dense := make([][]float64, len(columns))
	for k, target := range columns {
		at[target.Element] = k + 1
		dense[k] = make([]float64, sparseBatch)
	}
	n := c.run.sparseNumberType()
	var index, value format.Lists
	for from, rows := int64(0), c.src.GroupRows()[g]; from < rows; from += sparseBatch {
		to := min(rows, from+sparseBatch)
		if err := sparse.DecodeIndices(ctx, group, indices, from, to, &index); err != nil {
			return err
		}
		if err := group.DecodeLists(ctx, values, from, to, &value); err != nil {
			return err
		}
		if err := spreadRows(dense, at, &index, &value, int(to-from)); err != nil {
			if bad, ok := errors.AsType[*sparseRowError](err); ok {
				return &stream.DataError{RowGroup: g, Row: format.GroupStart(c.src, g) + from + int64(bad.row), Err: err}
			}
			return err
		}
		for k, target := range columns {
			if err := n.Encode(target.Chunks[0], target.KeepRows(dense[k][:to-from], from), format.IsNull); err != nil {
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
