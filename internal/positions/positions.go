// Package positions reads and writes the section of a statistics file with the columns' positions in the input.
package positions

import (
	"io"

	"github.com/ufs-stream/ufs-stream/internal/words"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Record has the positions of the columns in a header, in its order.
type Record struct {
	Total   int // number of positions in the input
	Columns []stream.Position
	LeftOut []stream.Position
}

// New returns an empty record with these numbers of columns, for ReadFrom.
func New(columns, leftOut int) *Record {
	return &Record{Columns: make([]stream.Position, columns), LeftOut: make([]stream.Position, leftOut)}
}

// The binary form, 8-byte little-endian words: "ufsposn1", positions of the input, d, for each column its
// position + 1 or 0 if it is unknown, number of columns that are left out, and the same of each.
const magic = "ufsposn1"

const mostPositions = 1 << 31

// WriteTo writes the binary form of r. It implements io.WriterTo.
func (r *Record) WriteTo(w io.Writer) (int64, error) {
	e := words.NewWriter(w)
	e.Word(words.MagicWord(magic))
	e.Int(int64(r.Total))
	for _, list := range [][]stream.Position{r.Columns, r.LeftOut} {
		e.Int(int64(len(list)))
		for _, p := range list {
			i, _ := p.Index() // -1 if it is unknown
			e.Int(int64(i + 1))
		}
	}
	return e.Finish()
}

// ReadFrom replaces r by a record of WriteTo and reads no further. The numbers of columns must agree. r is
// unchanged on error.
func (r *Record) ReadFrom(from io.Reader) (int64, error) {
	return words.Replace(r, from, r.decodeRecord)
}

func (r *Record) decodeRecord(from *words.Reader) *Record {
	from.Magic(magic, "positions of columns")
	got := New(len(r.Columns), len(r.LeftOut))
	from.Expect(1)
	got.Total = int(from.Count("number of positions", mostPositions))
	for _, list := range [][]stream.Position{got.Columns, got.LeftOut} {
		from.Expect(1)
		if n := from.Count("number of columns", mostPositions); n != int64(len(list)) {
			from.Fail("positions of %d columns, not of %d", n, len(list))
		}
		if from.Err() != nil {
			return nil
		}
		from.Expect(int64(len(list)))
		for j := range list {
			list[j] = stream.PositionAt(int(from.Count("position", int64(got.Total))) - 1)
		}
	}
	return got
}
