package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/stream"
)

// piece is some whole rows.
type piece struct {
	data []byte
	line int64 // the number of its first line, or of its first row where there are no lines
	rows int   // at most
}

// cutter cuts text into pieces at the ends of rows: at line feeds, but not at those between quotes.
// A quote within quotes is doubled, so that the number of quotes before a row's end is even.
type cutter struct {
	from   io.Reader
	name   string
	quotes bool
	goal   int // bytes of a piece
	most   int // bytes of a row
	rows   int // of a piece at most; 0 means any number

	buf  []byte // read and not cut off yet
	line int64  // of its beginning
	done bool   // nothing is left to read
}

// mostCells bounds the cells of a batch to those of text, where a cell takes two bytes at least: lines
// of JSON may have few members of many columns.
func (c *cutter) mostCells() int { return c.goal / 2 }

// mostNames bounds the bytes of the columns' names together, where they are longer than what tells them: all
// members of an object have the object's name before their own.
func (c *cutter) mostNames() int { return 4 * c.most }

// fill reads until so many bytes wait, or all.
func (c *cutter) fill(n int) error {
	for len(c.buf) < n && !c.done {
		if cap(c.buf) < n {
			grown := make([]byte, len(c.buf), n)
			copy(grown, c.buf)
			c.buf = grown
		}
		k, err := c.from.Read(c.buf[len(c.buf):n])
		c.buf = c.buf[:len(c.buf)+k]
		if errors.Is(err, io.EOF) {
			c.done = true
		} else if err != nil {
			return c.broken(err)
		}
	}
	return nil
}

// broken says that reading failed, and behind which line.
func (c *cutter) broken(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the compressed data end early: is the file cut off?")
	}
	if place, ok := errors.AsType[*stream.DataError](err); ok {
		return place
	}
	lines := c.line + int64(bytes.Count(c.buf, []byte{'\n'}))
	return stream.Dataf(c.name, "behind line %d: %w", lines-1, err)
}

// end finds the end of as many whole rows as fit into goal bytes, at least one.
func (c *cutter) end(goal int) (end, rows int, err error) {
	for want := goal; ; want *= 2 {
		if err := c.fill(want); err != nil {
			return 0, 0, err
		}
		end, rows = c.scan(goal)
		if end > 0 || c.done {
			break
		}
		if len(c.buf) > c.most {
			e := stream.Dataf(c.name, "line %d: a row of more than %s", c.line, humanize.IBytes(uint64(c.most)))
			e.Remedy = stream.Textf("close the quote where one is open; longer rows need a larger {memory-limit}")
			return 0, 0, e
		}
	}
	if end == 0 && len(c.buf) > 0 { // the last row has no line feed, or a quote is open: parsing tells
		return len(c.buf), rows + 1, nil
	}
	if c.done && len(c.buf)-end > 0 && end < goal && (c.rows == 0 || rows < c.rows) {
		return len(c.buf), rows + 1 + bytes.Count(c.buf[end:], []byte{'\n'}), nil
	}
	return end, rows, nil
}

// scan finds the end of the whole rows in the first goal bytes, or of the first row.
func (c *cutter) scan(goal int) (end, rows int) {
	odd := false
	for at := 0; at < len(c.buf) && (end == 0 || at < goal) && (c.rows == 0 || rows < c.rows); {
		n := bytes.IndexByte(c.buf[at:], '\n')
		if n < 0 {
			break
		}
		line := c.buf[at : at+n+1]
		if at += n + 1; c.quotes && bytes.Count(line, []byte{'"'})%2 == 1 {
			odd = !odd
		}
		if !odd {
			end, rows = at, rows+1
		}
	}
	return end, rows
}

// sample is whole rows at the beginning, about goal bytes, which stay there.
func (c *cutter) sample(goal int) (piece, error) {
	end, rows, err := c.end(goal)
	return piece{data: c.buf[:end], line: c.line, rows: rows}, err
}

// skip cuts n bytes off.
func (c *cutter) skip(n int) {
	c.line += int64(bytes.Count(c.buf[:n], []byte{'\n'}))
	c.buf = c.buf[:copy(c.buf, c.buf[n:])]
}

// next cuts a piece off, whose data go into room; io.EOF where nothing is left.
func (c *cutter) next(room []byte) (piece, error) {
	end, rows, err := c.end(c.goal)
	if err != nil {
		return piece{}, err
	}
	if end == 0 {
		return piece{}, io.EOF
	}
	p := piece{data: append(room[:0], c.buf[:end]...), line: c.line, rows: rows}
	c.skip(end)
	return p, nil
}

// misfit is a value that is not of its column's kind, or a column that the sample has not.
type misfit struct {
	line   int64
	column string
	kind   Kind // of the column
	value  string
	added  bool
	fixed  bool // the kind is asked for
	spelt  bool // it is of the kind, but as a number would lose how it is spelled
}

func (m *misfit) Error() string {
	if m.added {
		return "the first rows have no such column"
	}
	value := m.value
	if len(value) > 40 {
		value = value[:40] + "…"
	}
	switch {
	case m.fixed:
		return fmt.Sprintf("%q is not %s, which is asked for", value, m.kind)
	case m.spelt:
		return fmt.Sprintf("%q is spelled otherwise than the values before it, which changes the type of the column", value)
	}
	return fmt.Sprintf("%q is not %s, as the values before it", value, m.kind)
}
