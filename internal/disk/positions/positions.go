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
	return words.WriteState(w, func(v *words.Visitor) { r.encodeOrDecode(v, r) })
}

// ReadFrom replaces r by the record that WriteTo wrote for the same numbers of columns. It reads no further than the
// end of the record. If it fails, r is unchanged.
func (r *Record) ReadFrom(from io.Reader) (int64, error) {
	return words.ReplaceState(r, from, (*Record).encodeOrDecode)
}

func (r *Record) encodeOrDecode(v *words.Visitor, previous *Record) {
	if v.Reads() {
		*r = *New(len(previous.Columns), len(previous.LeftOut))
	}
	v.Magic(magic, "positions of columns")
	words.Count(v, "number of positions", &r.Total, maxPositions)
	for _, list := range [][]stream.Position{r.Columns, r.LeftOut} {
		if n := v.Length("number of columns", len(list), maxPositions); n != len(list) {
			v.Fail("positions of %d columns, not of %d", n, len(list))
		}
		v.Expect(len(list))
		for j := range list {
			i, _ := list[j].Index() // -1 if it is unknown
			i++
			if words.Count(v, "position", &i, r.Total); v.Reads() {
				list[j] = stream.PositionAt(i - 1)
			}
		}
	}
}
