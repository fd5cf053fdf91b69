package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A gap is a row whose list is null or empty, in a column whose remaining lists all have the same length. All elements
// of a gap are missing. Each gap is one entry in the column chunk, so the number of entries of a row group determines
// its number of gaps.

// countGaps computes the number of gaps in a row group with these numbers of rows and entries, if all lists except the
// gaps have this width (at least 2). ok is false if no number of gaps is consistent with the number of entries.
func countGaps(rows, entries int64, width int) (gaps int64, ok bool) {
	missing, perGap := rows*int64(width)-entries, int64(width-1)
	return missing / perGap, missing >= 0 && missing%perGap == 0 && missing/perGap <= rows
}

// findWidthExceptGaps returns the common length of all lists of a column, ignoring gaps. It returns 0 if their lengths
// differ. It reads the length from the first page, and compares it with the numbers of entries and nulls of every row
// group. In an object store, every read is a request. For a file there, it computes the length from these numbers
// alone. This is only possible if no element is null.
func findWidthExceptGaps(f *File, l *format.Leaf, c *column) (int, error) {
	first := 0 // first row group whose lists have more than one element
	for first < len(f.rows) && f.footer.Groups[first].Chunks[c.index].Values <= f.rows[first] {
		first++
	}
	if first == len(f.rows) {
		return 0, nil
	}
	if _, fault := f.footer.Groups[first].ChunkFaults[c.index]; fault {
		return 0, nil
	}
	width, seen := int64(0), int64(0)
	if format.IsFar(f.in) {
		chunk := f.footer.Groups[first].Chunks[c.index]
		if lists := f.rows[first] - chunk.Nulls; chunk.Nulls > 0 && lists > 0 && (chunk.Values-chunk.Nulls)%lists == 0 {
			width = (chunk.Values - chunk.Nulls) / lists
		}
	} else {
		var err error
		if width, seen, err = readFirstListWidth(f, first, l, c); err != nil {
			return 0, err
		}
	}
	if width < 2 || width > maxWidth {
		return 0, nil
	}
	found := int64(0)
	for g, rows := range f.rows {
		chunk := f.footer.Groups[g].Chunks[c.index]
		gaps, ok := countGaps(rows, chunk.Values, int(width))
		if _, fault := f.footer.Groups[g].ChunkFaults[c.index]; fault || rows == 0 {
			continue
		}
		if !ok || chunk.Nulls >= 0 && gaps > chunk.Nulls {
			return 0, nil
		}
		found += gaps
	}
	if found < max(seen, 1) {
		return 0, nil
	}
	return int(width), nil
}

// readFirstListWidth returns the common length of the lists that end in the first page, and the number of gaps there.
// If no list ends in that page, it reads on until a list ends. The length is 0 if the lengths differ or all lists are
// gaps.
func readFirstListWidth(f *File, g int, l *format.Leaf, c *column) (width, gaps int64, err error) {
	const (
		maxPageBytes = 4 << 20 // bytes of pages that are examined
		maxEntries   = 1 << 16 // number of entries that are examined
	)
	group := &rowGroup{file: f, number: g}
	err = group.withDecodeBuffers(l, 0, f.rows[g], func(buf *scratch) error {
		e := group.startEntryReader(c, buf)
		e.end = e.pages.info.Values
		e.pages.info.Uncompressed = min(e.pages.info.Uncompressed, maxPageBytes)
		e.pages.win.ahead = readAhead
		length := int64(-1) // length of the current list; -1: no list has begun
		for e.pos < min(e.end, maxEntries) {
			if err := e.nextPage(context.Background()); err != nil {
				return err
			}
			n := min(e.left, batchValues)
			reps, levels, err := e.readEntryLevels(n)
			if err != nil {
				return err
			}
			for i, d := range levels {
				if reps[i] != 0 {
					length++
					continue
				}
				if length > 0 && width != 0 && width != length {
					width = 0
					return nil
				}
				width, length = max(width, length), 1
				if d < c.elementLevel {
					gaps, length = gaps+1, -1
				}
			}
			switch {
			case width > 0 && e.left == 0:
				return nil
			case e.pos == e.end:
				width = max(length, 0)
			}
		}
		return nil
	})
	return width, gaps, footer.ReadErrorOrNil(err)
}

func (e *entryReader) readEntryLevels(n int) (reps, levels []uint8, err error) {
	reps, levels = resizeBuffer(&e.buf.reps, n), resizeBuffer(&e.buf.levels, n)
	if err := errors.Join(e.rep.readLevels(reps), e.def.readLevels(levels)); err != nil {
		return nil, nil, err
	}
	found := resizeBuffer(&e.buf.table, bytes.Count(levels, []byte{e.col.def}))
	if err := e.values.readValues(found); err != nil {
		return nil, nil, err
	}
	e.left -= n
	e.pos += int64(n)
	return reps, levels, nil
}

// decodeGaps decodes lists that have the same length, except for gaps, into one column for each element.
func decodeGaps(ctx context.Context, g *rowGroup, e *entryReader, l int, from, to int64, dst [][]float64) error {
	row, err := seekRow(g, e, l, from)
	if err != nil {
		return err
	}
	width, length := g.file.leaves[l].Width, 0 // length of the list of the last row
	gap := true
	ends := func() error {
		if row < from || gap || length == width {
			return nil
		}
		name := g.file.leaves[l].Name
		return &stream.DataError{
			RowGroup: g.number, Row: format.GroupStart(g.file, g.number) + row,
			Err: format.ErrUnevenList(fmt.Sprintf("a list of %d values", length), width), Remedy: format.RemedyLeaveOut(name),
		}
	}
	for e.pos < e.end {
		if err := e.nextPage(ctx); err != nil {
			return err
		}
		reps, levels, err := e.readEntryLevels(min(e.left, batchValues))
		if err != nil {
			return err
		}
		found := e.buf.table
		for i, d := range levels {
			x := format.Null
			if d == e.col.def {
				x, found = found[0], found[1:]
			}
			switch {
			case reps[i] == 0:
				if err := ends(); err != nil {
					return err
				}
				if row++; row == to {
					return nil
				}
				length, gap = 0, d < e.col.elementLevel
			case row < 0:
				return errors.New("the first list has no beginning")
			}
			if row < from {
				continue
			}
			if gap {
				for _, out := range dst {
					if out != nil {
						out[row-from] = format.Null
					}
				}
				continue
			}
			if length < width && dst[length] != nil {
				dst[length][row-from] = x
			}
			length++
		}
	}
	if err := ends(); err != nil {
		return err
	}
	if row+1 != to {
		return fmt.Errorf("column chunk has %d rows where the row group has %d", row+1, to)
	}
	return nil
}

// seekRow prepares e, which reads leaf l, to begin at a page that starts at or before row from. It returns the row of
// the last entry before that page.
func seekRow(g *rowGroup, e *entryReader, l int, from int64) (row int64, err error) {
	e.end = e.pages.info.Values
	if from == 0 || e.col.hasChainedPages() {
		return -1, nil
	}
	marks, err := loadPageMarks(g, markKey{l, true}, e.col, e.buf)
	if err != nil {
		return 0, err
	}
	first := 0
	for i, m := range marks {
		if m.rowsBefore <= from {
			first = i
		}
	}
	if err := e.pages.restrictTo(marks, first, len(marks)); err != nil {
		return 0, err
	}
	e.pos = marks[first].entriesBefore
	return marks[first].rowsBefore - 1, nil
}
