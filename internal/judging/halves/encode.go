package halves

import (
	"io"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
)

// magic is the beginning of the binary form of a Splitter. Its last character is the version.
const magic = "ufswait1"

// The binary form of a Splitter contains only its waiting rows, because the shards' statistics are stored elsewhere. It
// consists of 8-byte little-endian words: "ufswait1", the numbers of columns and of shards, and for each shard its
// number of rows and whether these have weights. If a shard has rows, their positions and weights, the number of
// missing entries of each column, and the values by columns follow.

// WriteTo writes the waiting rows of the Splitter in binary form. It implements io.WriterTo.
func (s *Splitter) WriteTo(w io.Writer) (int64, error) {
	if s.err != nil {
		return 0, s.err
	}
	return words.WriteState(w, func(v *words.Visitor) { s.encodeOrDecode(v, s) })
}

// ReadFrom replaces the waiting rows by the rows that WriteTo of a Splitter with equally many columns and shards wrote.
// It reads no further than the end of this form. If it fails, s is unchanged.
func (s *Splitter) ReadFrom(r io.Reader) (int64, error) {
	return words.ReplaceState(s, r, (*Splitter).encodeOrDecode)
}

func (s *Splitter) encodeOrDecode(v *words.Visitor, previous *Splitter) {
	if v.Reads() {
		*s = *previous
		s.shards = make([]shard, len(previous.shards))
	}
	v.Magic(magic, "rows that wait")
	d, n := v.Length("number of columns", s.d, math.MaxInt32), v.Length("number of shards", len(s.shards), MostShards)
	if d != s.d || n != len(s.shards) {
		v.Fail("%d columns in %d shards, want %d in %d", d, n, s.d, len(s.shards))
	}
	for h := range s.shards {
		t := &s.shards[h]
		t.adder = previous.shards[h].adder
		t.encodeOrDecode(v, s.d)
	}
}

func (t *shard) encodeOrDecode(v *words.Visitor, columns int) {
	words.Count(v, "number of rows", &t.rows, stripRows-1)
	v.Flag("whether they have weights", &t.weighted)
	if t.rows == 0 || v.Err() != nil {
		return
	}
	if v.Reads() {
		t.layOut(nil, columns)
	}
	v.Expect(2*t.rows + columns + t.rows*columns)
	words.Counts(v, "position", t.position[:t.rows], math.MaxInt64)
	v.Floats(t.weight[:t.rows])
	for _, w := range t.weight[:t.rows] {
		if !(w > 0) || math.IsInf(w, 0) {
			v.Fail("a weight of %g", w)
		}
	}
	for j := range t.missing {
		words.Count(v, "missing entries", &t.missing[j].NaNs, t.rows)
	}
	for j := range columns {
		v.Floats(t.data[j*stripRows:][:t.rows])
	}
}
