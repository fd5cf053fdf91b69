package ipc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// listRow is one row of a list column. Its list consists of the elements [from, to) of the child array. It has
// listRowBytes bytes.
type listRow struct {
	null     bool
	from, to int64
}

const listRowBytes = 24

func (g *group) visitListRows(ctx context.Context, c *column, from, to int64, f func(first int64, rows []listRow) error) error {
	child := g.batch.nodes[c.listField.children[0].node].length
	offsets, err := g.openOffsets(c.listField, from, to)
	if err != nil {
		return err
	}
	defer offsets.close()
	arrays := append(slices.Clone(c.outerStructs), c.listField)
	rows := make([]listRow, 0, min(to-from, tileValues))
	ends := make([]float64, cap(rows))
	last := int64(0)
	if offsets != nil && from < to {
		if err := offsets.readNumbers(ends[:1]); err != nil {
			return err
		}
		last = int64(ends[0])
	}
	for at := from; at < to; at += int64(len(rows)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows = rows[:min(to-at, int64(cap(rows)))]
		if offsets != nil {
			if err := offsets.readNumbers(ends[:len(rows)]); err != nil {
				return err
			}
		}
		for i := range rows {
			r := listRow{from: last, to: int64(ends[i])}
			if offsets == nil {
				r.from = (at + int64(i)) * int64(c.listField.width)
				r.to = r.from + int64(c.listField.width)
			}
			if r.from < 0 || r.from > r.to || r.to > child {
				return g.errAtValue(c, at+int64(i), fmt.Errorf("elements %d to %d of %d", r.from, r.to, child), remedyDamaged)
			}
			rows[i], last = r, r.to
		}
		if err := g.eachNull(arrays, at, at+int64(len(rows)), func(i int) { rows[i].null = true }); err != nil {
			return err
		}
		if err := f(at, rows); err != nil {
			return err
		}
	}
	return nil
}

// openOffsets opens the offsets of a list array from index `from` to index `to`, both included. It returns nil for
// fixed-size lists.
func (g *group) openOffsets(list *field, from, to int64) (*numberReader, error) {
	f := &field{kind: arrowInt, bits: 32, signed: true}
	switch {
	case list.kind == arrowFixedList || from == to:
		return nil, nil
	case list.kind == arrowLargeList:
		f.bits = 64
	}
	size := int64(f.bits / 8)
	bytes, err := g.body.openBuffer(g.bufferRangeOf(list, 1), from*size, (to+1)*size)
	return &numberReader{field: f, left: to + 1 - from, bytes: bytes}, err
}

// listElementReader reads the elements of consecutive list rows.
type listElementReader struct {
	*numberReader
	pos int64
}

func (g *group) openListElements(c *column, from int64) (*listElementReader, error) {
	r, err := g.openNumbers(c.valueField, from, g.batch.nodes[c.valueField.node].length)
	return &listElementReader{r, from}, err
}

// readRow reads the elements of one row into dst. The length of dst must be the length of the list.
func (v *listElementReader) readRow(r listRow, dst []float64) error {
	if err := v.skipNumbers(r.from - v.pos); err != nil { // skip elements of null rows
		return err
	}
	v.pos = r.to
	return v.readNumbers(dst)
}

func (g *group) decodeFixedWidthLists(ctx context.Context, listColumn *column, from, to int64, dst [][]float64) error {
	var values *listElementReader
	defer func() {
		if values != nil {
			values.close()
		}
	}()
	elements := make([]float64, listColumn.Width)
	err := g.visitListRows(ctx, listColumn, from, to, func(first int64, rows []listRow) (err error) {
		for i, r := range rows {
			at := first - from + int64(i)
			if r.null || r.from == r.to {
				for _, d := range dst {
					if d != nil {
						d[at] = format.Null
					}
				}
				continue
			}
			if n := r.to - r.from; n != int64(listColumn.Width) {
				return g.errAtValue(listColumn, first+int64(i), format.ErrUnevenList(fmt.Sprintf("a list of %d values", n), listColumn.Width), format.RemedyLeaveOut(listColumn.Name))
			}
			if values == nil {
				if values, err = g.openListElements(listColumn, r.from); err != nil {
					return err
				}
			}
			if err := values.readRow(r, elements); err != nil {
				return err
			}
			for e, d := range dst {
				if d != nil {
					d[at] = elements[e]
				}
			}
		}
		return nil
	})
	return g.errAtValue(listColumn, -1, err, remedyDamaged)
}

func (g *group) DecodeLists(ctx context.Context, l int, from, to int64, dst *format.Lists) error {
	if pair := g.schema.columns[l].entries; pair != nil {
		l = pair[1]
	}
	return g.decodeLists(ctx, l, from, to, dst)
}

func (g *group) DecodeKeys(ctx context.Context, l int, from, to int64, dst *format.Lists) error {
	if pair := g.schema.columns[l].entries; pair != nil {
		l = pair[0]
	}
	return g.decodeLists(ctx, l, from, to, dst)
}

func (g *group) decodeLists(ctx context.Context, l int, from, to int64, dst *format.Lists) error {
	defer g.body.addDecodeTime(time.Now())
	c, err := g.numberColumnForRows(ctx, l, from, to)
	if err != nil {
		return err
	}
	if !c.List {
		return g.errAtValue(c, -1, errors.New("not a list"), stream.Text{})
	}
	if n := g.batch.nodes[c.listField.children[0].node].nulls; c.listField.kind == arrowMap && n > 0 {
		return g.errAtValue(c, -1, fmt.Errorf("%d entries of maps are null", n), remedyDamaged)
	}
	dst.Ptr, dst.Values, dst.Null = append(dst.Ptr[:0], 0), dst.Values[:0], dst.Null[:0]
	var values *listElementReader
	defer func() {
		if values != nil {
			values.close()
		}
	}()
	err = g.visitListRows(ctx, c, from, to, func(_ int64, rows []listRow) (err error) {
		for _, r := range rows {
			if r.null {
				r.to = r.from
			}
			if r.from < r.to && values == nil {
				if values, err = g.openListElements(c, r.from); err != nil {
					return err
				}
			}
			for r.from < r.to { // tile by tile, because a damaged file may claim more elements than it has
				part := listRow{from: r.from, to: min(r.to, r.from+tileValues)}
				n := len(dst.Values)
				dst.Values = append(dst.Values, make([]float64, part.to-part.from)...)
				if err := values.readRow(part, dst.Values[n:]); err != nil {
					return err
				}
				r.from = part.to
			}
			dst.Ptr = append(dst.Ptr, len(dst.Values))
			dst.Null = append(dst.Null, r.null)
		}
		return nil
	})
	return g.errAtValue(c, -1, err, remedyDamaged)
}

func (g *group) readListWidth(ctx context.Context, c *column) (int, error) {
	width := int64(-1)
	err := g.visitListRows(ctx, c, 0, g.batch.rows, func(_ int64, rows []listRow) error {
		for _, r := range rows {
			n := r.to - r.from
			switch {
			case r.null || n == 0:
			case width < 0:
				width = n
			case width != n:
				width = 0
			}
		}
		return nil
	})
	return int(min(width, math.MaxInt32)), g.errAtValue(c, -1, err, remedyDamaged)
}
