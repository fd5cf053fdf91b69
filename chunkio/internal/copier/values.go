package copier

import (
	"context"
	"fmt"

	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
)

// copyBatch is the number of values that are copied at a time. It is large enough to make the cost of calls negligible.
// It is small enough for the buffers (24 B per value and the strings) to stay in the cache.
const copyBatch = 4096

// copyTarget is the destination of a copied column.
type copyTarget struct {
	chunk *writer.Chunk
	// element is the index of the list element that is written to the output column, or -1 to write whole values.
	element int
	// keepsLevels reports that the output column is nested like the input, so that levels are copied unchanged.
	// Otherwise the output column is flat, and a row of it is null if the leaf of the input or one of its enclosing
	// groups is null.
	keepsLevels bool
	skip        []uint64 // see Target.Skip; the same for all targets
}

// copyChunk copies a whole column chunk from r to every target. Values are never converted, so uint8, decimals, NaN
// payloads and nulls stay the same to the last bit. It reads the chunk only once, even for many elements of a list.
// values is the number of entries, including nulls, according to the footer. batch is the number of values copied at a
// time. Byte arrays of r must stay valid, because the writer's statistics refer to them.
func copyChunk(ctx context.Context, r pqfile.ColumnChunkReader, to []copyTarget, values int64, batch int) error {
	return format.Guard(func() error {
		d := r.Descriptor()
		switch r := r.(type) {
		case *pqfile.BooleanColumnChunkReader:
			return copyValues(ctx, r, d, to, values, batch)
		case *pqfile.Int32ColumnChunkReader:
			return copyValues(ctx, r, d, to, values, batch)
		case *pqfile.Int64ColumnChunkReader:
			return copyValues(ctx, r, d, to, values, batch)
		case *pqfile.Int96ColumnChunkReader:
			return copyValues(ctx, r, d, to, values, batch)
		case *pqfile.Float32ColumnChunkReader:
			return copyValues(ctx, r, d, to, values, batch)
		case *pqfile.Float64ColumnChunkReader:
			return copyValues(ctx, r, d, to, values, batch)
		case *pqfile.ByteArrayColumnChunkReader:
			return copyValues(ctx, r, d, to, values, batch)
		case *pqfile.FixedLenByteArrayColumnChunkReader:
			return copyValues(ctx, r, d, to, values, batch)
		}
		return fmt.Errorf("unknown column type %v", r.Type())
	})
}

func copyValues[T any](ctx context.Context, r parquet.TypedReader[T], d *schema.Column, to []copyTarget, total int64, batch int) error {
	values := make([]T, batch)
	var def, rep []int16
	if d.MaxDefinitionLevel() > 0 {
		def = make([]int16, batch)
	}
	if d.MaxRepetitionLevel() > 0 {
		rep = make([]int16, batch)
	}
	flat := make([]int16, batch)
	split := newListSplitter[T](d, to)
	rows := rowFilter[T]{skip: to[0].skip, valueLevel: d.MaxDefinitionLevel(), row: -1}
	for r.HasNext() {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, read, err := r.ReadBatch(int64(batch), values, def, rep)
		if err != nil {
			return err
		}
		if n == 0 || read > int(n) {
			return fmt.Errorf("read %d values for %d levels", read, n)
		}
		total -= n
		v, def, rep := values[:read], def[:min(len(def), int(n))], rep[:min(len(rep), int(n))]
		if rows.skip != nil {
			if v, def, rep, n = rows.keepRows(v, def, rep); n == 0 {
				continue
			}
		}
		for _, t := range to {
			switch {
			case t.element >= 0:
				continue // the list splitter copies all elements
			case t.keepsLevels:
				err = writer.Put(t.chunk, v, def, rep)
			default:
				err = writer.Put(t.chunk, v, flatLevels(t.chunk, flat[:n], def, d.MaxDefinitionLevel()), nil)
			}
			if err != nil {
				return err
			}
		}
		if err := split.addLevels(v, def, rep); err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		return err
	}
	if total != 0 {
		return fmt.Errorf("the column chunk has %d values less than the footer says", total)
	}
	return split.writeLastRows()
}

// flatLevels writes the definition levels of a flat column to dst: 1 for entries whose level in def is valueLevel, else
// 0. It returns nil for a REQUIRED column.
func flatLevels(c *writer.Chunk, dst, def []int16, valueLevel int16) []int16 {
	if !c.Optional() {
		return nil
	}
	for i := range dst {
		dst[i] = 0
		if def == nil || def[i] == valueLevel {
			dst[i] = 1
		}
	}
	return dst
}

// rowFilter removes skipped rows from the batches of a column. A row may extend over several batches.
type rowFilter[T any] struct {
	skip       []uint64
	valueLevel int16 // definition level of a value
	row        int   // current row
}

// keepRows moves the values and levels of rows that are written to the beginning of a batch, and returns them and the
// number of levels.
func (k *rowFilter[T]) keepRows(values []T, def, rep []int16) ([]T, []int16, []int16, int64) {
	n := max(len(def), len(rep))
	if def == nil { // a required column contains one value per row
		n = len(values)
	}
	levels, keptValues, next := 0, 0, 0
	for i := range n {
		if len(rep) == 0 || rep[i] == 0 {
			k.row++
		}
		present := len(def) == 0 || def[i] == k.valueLevel
		if !skipsRow(k.skip, k.row) {
			if len(def) > 0 {
				def[levels] = def[i]
			}
			if len(rep) > 0 {
				rep[levels] = rep[i]
			}
			levels++
			if present {
				values[keptValues] = values[next]
				keptValues++
			}
		}
		if present {
			next++
		}
	}
	return values[:keptValues], def[:min(len(def), levels)], rep[:min(len(rep), levels)], int64(levels)
}
