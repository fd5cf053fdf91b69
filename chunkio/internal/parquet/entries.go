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

// entryReader reads the entries of a column chunk in order. An entry is a value, a null, or the placeholder of a list
// without elements.
type entryReader struct {
	pages    *pageWalker
	col      *column
	buf      *scratch
	values   *valueDecoder
	width    int   // the length that all lists must have; 0 for other columns
	pos, end int64 // position of the next entry, and end of the range
	left     int   // entries left in the current page
	noNulls  bool  // no entry of the current page is null
	def, rep hybridReader

	replaceTexts func(found []float64) // replaces the indices of texts in a text.List by other numbers; nil for numeric columns
}

// unevenError reports an entry that is not part of a whole list of the expected width.
type unevenError struct {
	entry     int64 // position of the entry in the column chunk
	length    int   // length of the list; -1 for a null list
	continues bool  // the list continues after the last entry read
}

func (e *unevenError) Error() string { return fmt.Sprintf("a list of %d values", e.length) }

// nextPage moves to the next page that has entries at or after pos, once the current page is used up.
func (e *entryReader) nextPage(ctx context.Context) error {
	for e.left == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := e.pages.nextDataPage()
		switch {
		case err != nil:
			return err
		case !more:
			return errors.New("column chunk ends before the row group's last row")
		case e.pages.entriesBefore+int64(e.pages.header.Values) <= e.pos && !e.col.hasChainedPages():
			e.pages.skipPage()
			continue
		}
		if err := e.pages.loadPage(); err != nil {
			return err
		}
		if err := e.startPage(&e.pages.page); err != nil {
			return err
		}
	}
	return nil
}

func (e *entryReader) startPage(p *page) (err error) {
	if e.values == nil {
		e.values = &e.buf.values
		*e.values = valueDecoder{col: e.col, buf: e.buf, dict: dictionary{plain: e.pages.dict, size: e.pages.dictSize}}
	}
	if p.header.Encoding == parquet.Encodings.DeltaByteArray && e.col.independentPages {
		return errors.New("the page is encoded DELTA_BYTE_ARRAY, which the footer does not list")
	}
	skip := min(int(e.pos-p.entriesBefore), p.header.Values)
	present := skip
	e.left, e.noNulls = p.header.Values-skip, p.present == p.header.Values
	e.def = hybridReader{rest: p.def, width: bitsOfLevel(e.col.def)}
	e.rep = hybridReader{rest: p.rep, width: bitsOfLevel(e.col.rep)}
	if e.col.rep > 0 {
		if err := e.rep.skip(skip); err != nil {
			return err
		}
	}
	if !e.noNulls {
		present, err = e.def.countEqual(skip, uint32(e.col.def), uint32(e.col.def))
		if err != nil {
			return err
		}
	}
	return e.values.startPage(p, present)
}

// readEntries fills dst with the next entries; a null is format.Null. If width is set, the entries must form whole
// lists of this width, or readEntries fails with an *unevenError. Elements may be null. A null list is one entry, so it
// is accepted (as a null element) only if width is 1.
func (e *entryReader) readEntries(ctx context.Context, dst []float64) error {
	for len(dst) > 0 {
		if err := e.nextPage(ctx); err != nil {
			return err
		}
		n := min(len(dst), e.left, batchValues)
		err := e.readFromPage(dst[:n])
		dst = dst[n:]
		e.left -= n
		e.pos += int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *entryReader) readFromPage(dst []float64) error {
	var uneven *unevenError
	if e.width > 0 {
		var err error
		if uneven, err = e.checkListWidths(len(dst)); err != nil {
			return err
		}
	}
	if e.noNulls {
		if uneven != nil {
			return uneven
		}
		return e.values.readValues(dst)
	}
	levels := resizeBuffer(&e.buf.levels, len(dst))
	if err := e.def.readLevels(levels); err != nil {
		return err
	}
	if e.width > 0 {
		if uneven = e.checkListsPresent(levels, uneven); uneven != nil {
			return uneven
		}
	}
	present := bytes.Count(levels, []byte{e.col.def})
	if err := e.values.readValues(dst[:present]); err != nil {
		return err
	}
	spreadValues(dst, levels, e.col.def, present)
	return nil
}

// spreadValues moves the present values from the beginning of dst to the positions whose level is def, and writes
// format.Null to all other positions. It works from the end to the beginning, so that no value is overwritten before it
// has moved. It has no branches, because the processor cannot predict them if nulls are random: with branches, decoding
// columns with 10 % nulls took a seventh longer.
func spreadValues(dst []float64, levels []uint8, def uint8, present int) {
	null := math.Float64bits(format.Null)
	for i := len(dst) - 1; i >= 0; i-- {
		here := 0
		if levels[i] == def {
			here = 1
		}
		present -= here
		x := math.Float64bits(dst[present]) // for a null, this is a value that moves next or has moved already; its index is at most i
		if here == 0 {
			x = null
		}
		dst[i] = math.Float64frombits(x)
	}
}

func (e *entryReader) checkListWidths(entries int) (*unevenError, error) {
	reps := resizeBuffer(&e.buf.reps, entries)
	if err := e.rep.readLevels(reps); err != nil {
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
				return &unevenError{at, e.width + entries - i, true}, nil
			}
			return &unevenError{entry: at, length: e.width + more}, nil
		}
		if in++; in == e.width {
			in = 0
		}
	}
	return nil, nil
}

// checkListsPresent looks for the first null or empty list in the levels of a batch, and returns an error for it. If
// there is no such list, or if the error uneven is about an earlier entry, it returns uneven, which may be nil.
func (e *entryReader) checkListsPresent(levels []uint8, uneven *unevenError) *unevenError {
	for i, d := range levels {
		at := e.pos + int64(i)
		if uneven != nil && at > uneven.entry {
			break
		}
		switch {
		case e.width == 1: // a null or empty list is read as one null element
		case d+1 == e.col.elementLevel:
			return &unevenError{entry: at}
		case d < e.col.elementLevel:
			return &unevenError{entry: at, length: -1}
		}
	}
	return uneven
}

func (e *entryReader) describeLengthOfList(ctx context.Context, u *unevenError, from int64) string {
	if u.entry < from*int64(e.width) { // the beginning of the list has not been read
		return "a list of another length"
	}
	if u.length < 0 {
		return "a null list"
	}
	if u.continues {
		more, whole := e.countRestOfList(ctx)
		if u.length += more; !whole {
			return fmt.Sprintf("a list of %d values or more", u.length)
		}
	}
	return u.Error()
}

// countRestOfList counts the remaining entries of a list; whole is true if its end was found.
func (e *entryReader) countRestOfList(ctx context.Context) (n int, whole bool) {
	for e.pos < e.pages.info.Values {
		if e.nextPage(ctx) != nil { // the range of bytes to be read may end here
			return n, false
		}
		reps := resizeBuffer(&e.buf.reps, min(e.left, batchValues))
		if e.rep.readLevels(reps) != nil {
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

// readLists appends the lists of rows [from, to) to the empty dst. row is the row of the entry before e.pos, or -1 if
// e.pos is the first entry.
func (e *entryReader) readLists(ctx context.Context, row, from, to int64, dst *format.Lists) error {
	for e.pos < e.end {
		if err := e.nextPage(ctx); err != nil {
			return err
		}
		n := min(e.left, batchValues)
		reps, levels := resizeBuffer(&e.buf.reps, n), resizeBuffer(&e.buf.levels, n)
		if err := errors.Join(e.rep.readLevels(reps), e.def.readLevels(levels)); err != nil {
			return err
		}
		present := bytes.Count(levels, []byte{e.col.def})
		found := resizeBuffer(&e.buf.table, present)
		if err := e.values.readValues(found); err != nil {
			return err
		}
		if e.replaceTexts != nil {
			e.replaceTexts(found)
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
					dst.Null = append(dst.Null, d+1 < e.col.elementLevel)
				}
			}
			x := format.Null
			if d == e.col.def {
				x, found = found[0], found[1:]
			}
			if row >= from && d >= e.col.elementLevel {
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
