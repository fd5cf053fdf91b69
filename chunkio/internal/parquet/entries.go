package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/parquet"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// entries reads the entries of a column chunk one after the other: values, nulls, and
// what stands for a list without elements.
type entries struct {
	pages    *pages
	col      *column
	buf      *scratch
	values   *values
	width    int   // of a column of lists that must all have this length; 0 for others
	pos, end int64 // next entry, and where to stop
	left     int   // entries left in the current page
	full     bool  // none of them is null
	def, rep hybrid

	numbers func(found []float64) // puts the numbers of texts in place of the numbers of a list; nil for others
}

// unevenError says that an entry does not belong to a whole list of the width expected.
type unevenError struct {
	entry  int64
	length int  // of the list; -1 for a null one
	longer bool // it goes on behind the entries read last
}

func (e *unevenError) Error() string { return fmt.Sprintf("a list of %d values", e.length) }

// nextPage goes to the next page that has entries at or behind pos, once the current one
// is used up.
func (e *entries) nextPage(ctx context.Context) error {
	for e.left == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := e.pages.next()
		switch {
		case err != nil:
			return err
		case !more:
			return errors.New("column chunk ends before the row group's last row")
		case e.pages.seen+int64(e.pages.header.Values) <= e.pos && !e.col.chained():
			e.pages.pass()
			continue
		}
		if err := e.pages.load(); err != nil {
			return err
		}
		if err := e.begin(&e.pages.page); err != nil {
			return err
		}
	}
	return nil
}

// begin starts with page p at entry pos.
func (e *entries) begin(p *page) (err error) {
	if e.values == nil {
		e.values = &e.buf.values
		*e.values = values{col: e.col, buf: e.buf, dict: dictionary{plain: e.pages.dict, size: e.pages.dictSize}}
	}
	if p.header.Encoding == parquet.Encodings.DeltaByteArray && e.col.single {
		return errors.New("the page is encoded DELTA_BYTE_ARRAY, which the footer does not tell")
	}
	skip := min(int(e.pos-p.first), p.header.Values)
	present := skip
	e.left, e.full = p.header.Values-skip, p.present == p.header.Values
	e.def = hybrid{b: p.def, width: levelWidth(e.col.def)}
	e.rep = hybrid{b: p.rep, width: levelWidth(e.col.rep)}
	if e.col.rep > 0 {
		if err := e.rep.skip(skip); err != nil {
			return err
		}
	}
	if !e.full {
		present, err = e.def.scan(skip, uint32(e.col.def), uint32(e.col.def))
		if err != nil {
			return err
		}
	}
	return e.values.startPage(p, present)
}

// read fills dst with the next entries; a null is format.Null. Where a width is set, the
// entries must make whole lists, or read fails with an *unevenError. Elements may be null;
// a null list takes one entry, so that it fits (as a null element) only among lists of one.
func (e *entries) read(ctx context.Context, dst []float64) error {
	for len(dst) > 0 {
		if err := e.nextPage(ctx); err != nil {
			return err
		}
		n := min(len(dst), e.left, batchValues)
		err := e.batch(dst[:n])
		dst = dst[n:]
		e.left -= n
		e.pos += int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}

// batch reads entries of the current page.
func (e *entries) batch(dst []float64) error {
	var uneven *unevenError
	if e.width > 0 {
		var err error
		if uneven, err = e.checkWidth(len(dst)); err != nil {
			return err
		}
	}
	if e.full {
		if uneven != nil {
			return uneven
		}
		return e.values.read(dst)
	}
	levels := grow(&e.buf.levels, len(dst))
	if err := e.def.levels(levels); err != nil {
		return err
	}
	if e.width > 0 {
		if uneven = e.checkThere(levels, uneven); uneven != nil {
			return uneven
		}
	}
	present := bytes.Count(levels, []byte{e.col.def})
	if err := e.values.read(dst[:present]); err != nil {
		return err
	}
	spread(dst, levels, e.col.def, present)
	return nil
}

// spread moves the values at the beginning of dst, as many as levels are def, to where these are,
// and puts format.Null elsewhere. It goes from the back, so that none is overwritten before it has
// moved, and without branches, which nobody foresees where nulls are random: columns of which a
// tenth is null took a seventh more of all decoding with them.
func spread(dst []float64, levels []uint8, def uint8, present int) {
	null := math.Float64bits(format.Null)
	for i := len(dst) - 1; i >= 0; i-- {
		here := 0
		if levels[i] == def {
			here = 1
		}
		present -= here
		x := math.Float64bits(dst[present]) // of a null: the next value to move, or one that has; at most i
		if here == 0 {
			x = null
		}
		dst[i] = math.Float64frombits(x)
	}
}

// checkWidth verifies that lists begin exactly at the multiples of width.
func (e *entries) checkWidth(n int) (*unevenError, error) {
	reps := grow(&e.buf.reps, n)
	if err := e.rep.levels(reps); err != nil {
		return nil, err
	}
	in := int(e.pos % int64(e.width))
	for i, r := range reps {
		switch at := e.pos + int64(i) - 1; {
		case r == 0 && in != 0:
			return &unevenError{entry: at, length: in}, nil
		case r != 0 && in == 0:
			more := bytes.IndexByte(reps[i:], 0)
			if more < 0 {
				return &unevenError{at, e.width + n - i, true}, nil
			}
			return &unevenError{entry: at, length: e.width + more}, nil
		}
		if in++; in == e.width {
			in = 0
		}
	}
	return nil, nil
}

// checkThere looks for a list that is null or empty by the levels of a batch, before what is uneven in
// it anyway.
func (e *entries) checkThere(levels []uint8, uneven *unevenError) *unevenError {
	for i, d := range levels {
		at := e.pos + int64(i)
		if uneven != nil && at > uneven.entry {
			break
		}
		switch {
		case e.width == 1: // a null or empty list stands as one null element
		case d+1 == e.col.exists:
			return &unevenError{entry: at}
		case d < e.col.exists:
			return &unevenError{entry: at, length: -1}
		}
	}
	return uneven
}

// lengthOf says how long the list is that a reading of rows from one on has found uneven.
func (e *entries) lengthOf(ctx context.Context, u *unevenError, from int64) string {
	if u.entry < from*int64(e.width) { // its beginning has not been read
		return "a list of another length"
	}
	if u.length < 0 {
		return "a null list"
	}
	if u.longer {
		more, whole := e.goOn(ctx)
		if u.length += more; !whole {
			return fmt.Sprintf("a list of %d values or more", u.length)
		}
	}
	return u.Error()
}

// goOn counts the entries by which a list goes on; whole says that its end was found.
func (e *entries) goOn(ctx context.Context) (n int, whole bool) {
	for e.pos < e.pages.info.Values {
		if e.nextPage(ctx) != nil { // what is read may end here
			return n, false
		}
		reps := grow(&e.buf.reps, min(e.left, batchValues))
		if e.rep.levels(reps) != nil {
			return n, false
		}
		if more := bytes.IndexByte(reps, 0); more >= 0 {
			return n + more, true
		}
		n += len(reps)
		e.left -= len(reps)
		e.pos += int64(len(reps))
	}
	return n, true
}

// readLists appends the lists of rows [from, to) to the empty dst; row is the row of the
// last entry read.
func (e *entries) readLists(ctx context.Context, row, from, to int64, dst *format.Lists) error {
	for e.pos < e.end {
		if err := e.nextPage(ctx); err != nil {
			return err
		}
		n := min(e.left, batchValues)
		reps, levels := grow(&e.buf.reps, n), grow(&e.buf.levels, n)
		if err := errors.Join(e.rep.levels(reps), e.def.levels(levels)); err != nil {
			return err
		}
		present := bytes.Count(levels, []byte{e.col.def})
		found := grow(&e.buf.table, present)
		if err := e.values.read(found); err != nil {
			return err
		}
		if e.numbers != nil {
			e.numbers(found)
		}
		for i, d := range levels {
			if reps[i] != 0 && row < 0 {
				return errors.New("the first list has no beginning")
			}
			if reps[i] == 0 {
				if row++; row == to {
					return nil
				}
				if row >= from {
					dst.Ptr = append(dst.Ptr, len(dst.Values))
					dst.Null = append(dst.Null, d+1 < e.col.exists)
				}
			}
			x := format.Null
			if d == e.col.def {
				x, found = found[0], found[1:]
			}
			if row >= from && d >= e.col.exists {
				dst.Values = append(dst.Values, x)
				dst.Ptr[len(dst.Ptr)-1] = len(dst.Values)
			}
		}
		e.left -= n
		e.pos += int64(n)
	}
	if row+1 != to {
		return fmt.Errorf("column chunk has %d rows where the row group has %d", row+1, to)
	}
	return nil
}
