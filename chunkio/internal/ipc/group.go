package ipc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

var remedyDamaged = stream.Textf("the data is damaged: write it again")

// refusalError is an error whose text already contains the remedy.
type refusalError struct{ error }

func newRefusalError(format string, args ...any) error {
	return refusalError{fmt.Errorf(format, args...)}
}

// group is one record batch, as a format.Group. It reads its buffers when they are needed, one tile at a time, and
// holds only the batch's metadata: 16 bytes per array and 16 bytes per buffer.
type group struct {
	path      string
	index     int          // number of the batch in the file or stream, or -1 for the whole file
	firstRow  func() int64 // returns the number of rows in the batches before this one
	schema    *schema
	batch     batch
	body      *bodyReader
	bodyStart int64 // position of the body in the file
	dicts     map[int64]*numberDictionary
	texts     map[int64]*textDictionary
}

var _ format.Group = (*group)(nil)

// checkBatch verifies that the batch has all arrays and buffers of the columns, so that they can be indexed, and that
// their lengths are consistent.
func (s *schema) checkBatch(b *batch) error {
	if len(b.nodes) < s.nodes {
		return fmt.Errorf("damaged metadata (%d arrays where the schema has %d)", len(b.nodes), s.nodes)
	}
	for _, c := range s.columns {
		for _, f := range c.arrayFields() {
			if n := f.bufferCount(); n > 0 && b.bufferIndex(f, n-1) >= len(b.buffers) {
				return fmt.Errorf("damaged metadata (%d buffers are too few)", len(b.buffers))
			}
		}
		for _, f := range append(c.outerStructs[:len(c.outerStructs):len(c.outerStructs)], c.listField, c.valueField) {
			if f == nil {
				continue
			}
			if n := b.nodes[f.node].length; n != b.rows {
				return fmt.Errorf("damaged metadata (column %q has %d values for %d rows)", c.Name, n, b.rows)
			}
			if f == c.listField {
				if w := int64(f.width); w > 0 && b.rows > b.nodes[f.children[0].node].length/w {
					return fmt.Errorf("damaged metadata (column %q has too few elements)", c.Name)
				}
				break
			}
		}
	}
	return nil
}

// mayBeNull reports whether the validity bitmap of an array must be read. The batch may state that there are no nulls,
// or it may have no bitmap and an unknown number of nulls. In both cases the bitmap is not read.
func (g *group) mayBeNull(f *field) bool {
	switch n := g.batch.nodes[f.node].nulls; {
	case n != unknownNulls:
		return n != 0
	case f.bufferCount() == 0:
		return false
	}
	return g.bufferRangeOf(f, 0).length > 0
}

func (g *group) bufferRangeOf(f *field, bufferNumber int) bufferRange {
	return g.batch.buffers[g.batch.bufferIndex(f, bufferNumber)]
}

func (g *group) Extents(leaves []int) []format.Extent {
	var all []format.Extent
	for _, l := range leaves {
		c := &g.schema.columns[l]
		all = append(all, g.columnExtents(c)...)
		if c.entries != nil {
			for _, side := range c.entries {
				all = append(all, g.columnExtents(&g.schema.columns[side])...)
			}
		}
	}
	return all
}

// columnExtents lists the ranges of the file that contain the buffers of a column. It skips buffers that a damaged
// batch does not have, which are reported when they are read.
func (g *group) columnExtents(c *column) (all []format.Extent) {
	arrays := c.arrayFields()
	if c.textField != nil && c.textField != c.valueField {
		arrays = append(arrays, c.textField)
	}
	for _, f := range arrays {
		buffers := f.bufferCount()
		switch {
		case f != c.textField || f.index != nil:
		case f.kind == arrowBinary, f.kind == arrowUtf8, f.kind == arrowLargeBinary, f.kind == arrowLargeUtf8:
			buffers = 3 // the third buffer contains the bytes of the texts
		}
		for i := range buffers {
			if at := g.batch.bufferIndex(f, i); at < len(g.batch.buffers) {
				b := g.batch.buffers[at]
				all = append(all, format.Extent{At: g.bodyStart + b.offset, Size: b.length})
			}
		}
	}
	return all
}

// Close does nothing. For a stream, the memory of the group's message is freed with the group.
func (g *group) Close() {}

func (g *group) errInBatch(cause error) error {
	if m := new(stream.MemoryError); errors.As(cause, &m) {
		return cause
	}
	return g.errAtValue(nil, -1, cause, remedyDamaged)
}

func (g *group) errAtValue(c *column, row int64, err error, remedy stream.Text) error {
	if _, placed := errors.AsType[*stream.DataError](err); err == nil || placed || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.As(err, new(refusalError)) {
		remedy = stream.Text{}
	}
	e := &stream.DataError{Path: g.path, RowGroup: g.index, Row: -1, Err: err, Remedy: remedy}
	if c != nil {
		e.Column = c.Name
	}
	if row >= 0 {
		e.Row = g.firstRow() + row
	}
	return e
}

func (g *group) numberColumnForRows(ctx context.Context, l int, from, to int64) (*column, error) {
	c := &g.schema.columns[l]
	if c.valueField == nil {
		return nil, g.errAtValue(c, -1, errors.New(c.Why), stream.Text{})
	}
	if from < 0 || from > to || to > g.batch.rows {
		return nil, g.errAtValue(c, -1, fmt.Errorf("rows %d to %d of %d", from, to, g.batch.rows), stream.Text{})
	}
	return c, ctx.Err()
}

func (g *group) Decode(ctx context.Context, l int, from, to int64, dst [][]float64) error {
	defer g.body.addDecodeTime(time.Now())
	c, err := g.numberColumnForRows(ctx, l, from, to)
	if err != nil {
		return err
	}
	if c.List {
		return g.decodeFixedWidthLists(ctx, c, from, to, dst)
	}
	if dst[0] == nil {
		return nil
	}
	return g.errAtValue(c, -1, g.decodeScalars(c, from, to, dst[0][:to-from]), remedyDamaged)
}

func (g *group) decodeScalars(c *column, from, to int64, dst []float64) error {
	values, err := g.openNumbers(c.valueField, from, to)
	if err != nil {
		return err
	}
	defer values.close()
	if err := values.readNumbers(dst); err != nil {
		return err
	}
	return g.eachNull(c.outerStructs, from, to, func(i int) { dst[i] = format.Null })
}

// eachNull calls f(i) for each row from+i in [from, to) that is null in at least one of the arrays.
func (g *group) eachNull(arrays []*field, from, to int64, f func(i int)) error {
	for _, a := range arrays {
		if !g.mayBeNull(a) {
			continue
		}
		bits, err := g.body.openBits(g.bufferRangeOf(a, 0), from, to)
		if err != nil {
			return err
		}
		err = bits.visitBitsEqualTo(int(to-from), 0, f)
		bits.close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *column) decodeScratchBytes(largestBatch *batch) int64 {
	need := 8 * int64(max(c.Width, 0))
	for _, f := range c.arrayFields() {
		bits := f.bits
		switch {
		case f.index != nil:
			bits = f.index.bits
		case f.kind == arrowList || f.kind == arrowLargeList || f.kind == arrowMap:
			bits = 64
		}
		n := largestBatch.nodes[f.node].length
		need += min(n, tileValues) * int64(bits/8+listRowBytes+16)
		need += decompressionMemory(largestBatch.codec, min(n, maxZstdWindow)*int64(bits)/8) + decompressionMemory(largestBatch.codec, n/8)
	}
	return need
}
