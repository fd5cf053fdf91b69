package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/stream"
)

// piece contains the bytes of some consecutive whole rows.
type piece struct {
	data []byte
	line int64 // number of its first line, or of its first row in formats without lines
	rows int   // upper bound on the number of rows
}

// cutter cuts text into pieces at the ends of rows. A row ends at a line feed outside quotes. A quote inside a quoted
// field is doubled, so the number of quotes before the end of a row is even.
type cutter struct {
	from    io.Reader
	name    string
	quotes  bool
	goal    int // intended bytes of a piece
	maxRow  int // greatest number of bytes of a row
	maxRows int // greatest number of rows of a piece; 0: no limit

	buf   []byte // bytes that have been read and not cut off yet
	line  int64  // line number at the beginning of buf
	atEnd bool   // the input has been read to its end
}

// maxCells limits the number of cells of a batch. A batch of CSV cannot exceed it, because its cells have at least two
// bytes each. A batch of JSON could, because a line may have values for few of very many columns.
func (c *cutter) maxCells() int { return c.goal / 2 }

// maxNames limits the total number of bytes of the columns' names. The names may be longer than the text, because the
// column of every member of an object has the object's name as a prefix.
func (c *cutter) maxNames() int { return 4 * c.maxRow }

func (c *cutter) fillBuffer(leastBytes int) error {
	for len(c.buf) < leastBytes && !c.atEnd {
		if len(c.buf) == cap(c.buf) {
			grown := make([]byte, len(c.buf), min(max(2*cap(c.buf), 64<<10), leastBytes))
			copy(grown, c.buf)
			c.buf = grown
		}
		k, err := c.from.Read(c.buf[len(c.buf):min(cap(c.buf), leastBytes)])
		c.buf = c.buf[:len(c.buf)+k]
		if errors.Is(err, io.EOF) {
			c.atEnd = true
		} else if err != nil {
			return c.errReadFailed(err)
		}
	}
	return nil
}

func (c *cutter) errReadFailed(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the compressed data end early: is the file cut off?")
	}
	if place, ok := errors.AsType[*stream.DataError](err); ok {
		return place
	}
	lines := c.line + int64(bytes.Count(c.buf, []byte{'\n'}))
	return stream.Dataf(c.name, "after line %d: %w", lines-1, err)
}

// findEnd returns the length and the number of the whole rows at the beginning of buf that fit into goal bytes. The
// first row is included even if it is longer.
func (c *cutter) findEnd(goal int) (end, rows int, err error) {
	for want := goal; ; want *= 2 {
		if err := c.fillBuffer(want); err != nil {
			return 0, 0, err
		}
		end, rows = c.findRowsEndingBefore(goal)
		if end > 0 || c.atEnd {
			break
		}
		if len(c.buf) > c.maxRow {
			e := stream.Dataf(c.name, "line %d: a row of more than %s", c.line, humanize.IBytes(uint64(c.maxRow)))
			e.Remedy = stream.Textf("close the quote where one is open; longer rows need a larger {memory-limit}")
			return 0, 0, e
		}
	}
	if end == 0 && len(c.buf) > 0 { // the last row has no line feed, or a quote is open, which parsing reports
		return len(c.buf), rows + 1, nil
	}
	if c.atEnd && len(c.buf)-end > 0 && end < goal && (c.maxRows == 0 || rows < c.maxRows) {
		return len(c.buf), rows + 1 + bytes.Count(c.buf[end:], []byte{'\n'}), nil
	}
	return end, rows, nil
}

func (c *cutter) findRowsEndingBefore(maxBytes int) (end, rows int) {
	odd := false
	for at := 0; at < len(c.buf) && (end == 0 || at < maxBytes) && (c.maxRows == 0 || rows < c.maxRows); {
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

// peekSample returns the whole rows in about the next goal bytes. The next piece begins with them again.
func (c *cutter) peekSample(goal int) (piece, error) {
	end, rows, err := c.findEnd(goal)
	return piece{data: c.buf[:end], line: c.line, rows: rows}, err
}

func (c *cutter) advanceBytes(n int) {
	c.line += int64(bytes.Count(c.buf[:n], []byte{'\n'}))
	c.buf = c.buf[:copy(c.buf, c.buf[n:])]
}

// nextPiece cuts off the next piece and copies its data into the buffer room. It returns io.EOF at the end.
func (c *cutter) nextPiece(room []byte) (piece, error) {
	end, rows, err := c.findEnd(c.goal)
	if err != nil {
		return piece{}, err
	}
	if end == 0 {
		return piece{}, io.EOF
	}
	p := piece{data: append(room[:0], c.buf[:end]...), line: c.line, rows: rows}
	c.advanceBytes(end)
	return p, nil
}

// misfit is a value that does not fit the kind of its column, or a column that does not occur in the sample.
type misfit struct {
	line          int64
	column        string
	kind          Kind // kind of the column
	value         string
	noSuchColumn  bool
	typeRequested bool // the user requested the kind
	losesSpelling bool // the value fits the kind, but a number would lose its spelling
}

func (m *misfit) Error() string {
	if m.noSuchColumn {
		return "the first rows have no such column"
	}
	value := m.value
	if len(value) > 40 {
		value = value[:40] + "…"
	}
	switch {
	case m.typeRequested:
		return fmt.Sprintf("%q is not %s, the requested type", value, m.kind)
	case m.losesSpelling:
		return fmt.Sprintf("%q is spelled otherwise than the values before it, which changes the type of the column", value)
	}
	return fmt.Sprintf("%q is not %s, as the values before it", value, m.kind)
}
