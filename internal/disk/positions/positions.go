// Package positions reads and writes a section of a statistics file: the positions that the columns have in the input.
package positions

import (
	"io"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Record has the positions of the columns of a statistics file, in the order of its header.
type Record struct {
	Total   int // number of positions in the input
	Columns []stream.Position
	LeftOut []stream.Position
}

// New returns an empty record for ReadFrom. columns is the number of its columns, and leftOut the number of columns
// that were left out of the statistics.
func New(columns, leftOut int) *Record {
	return &Record{Columns: make([]stream.Position, columns), LeftOut: make([]stream.Position, leftOut)}
}

// The binary form consists of 8-byte little-endian words: "ufsposn1", the number of positions in the input, the number
// of columns, for each column its position + 1 (0 if the position is unknown), the number of columns that were left
// out, and for each of these the same.
const magic = "ufsposn1"

const maxPositions = 1 << 31

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

// ReadFrom replaces r by the record that WriteTo wrote for the same numbers of columns. It reads no further than the
// end of the record. If it fails, r is unchanged.
func (r *Record) ReadFrom(from io.Reader) (int64, error) {
	return words.Replace(r, from, r.decodeRecord)
}

func (r *Record) decodeRecord(from *words.Reader) *Record {
	from.Magic(magic, "positions of columns")
	got := New(len(r.Columns), len(r.LeftOut))
	from.Expect(1)
	got.Total = int(from.Count("number of positions", maxPositions))
	for _, list := range [][]stream.Position{got.Columns, got.LeftOut} {
		from.Expect(1)
		if n := from.Count("number of columns", maxPositions); n != int64(len(list)) {
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
