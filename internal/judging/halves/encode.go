package halves

import (
	"io"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
)

// magic is the beginning of the binary form. Its last character is the version.
const magic = "ufswait1"

// The binary form of a Splitter contains only its waiting rows, because the shards' statistics are stored elsewhere. It
// consists of 8-byte little-endian words: "ufswait1", the numbers of columns and of shards, and for each shard its
// number of rows and whether these have weights. If a shard has rows, their positions and weights, the number of
// missing entries of each column, and the values by columns follow.

// WriteTo writes the binary form. It implements io.WriterTo.
func (s *Splitter) WriteTo(w io.Writer) (int64, error) {
	if s.err != nil {
		return 0, s.err
	}
	e := words.NewWriter(w)
	e.Word(words.MagicWord(magic))
	e.Int(int64(s.d))
	e.Int(int64(len(s.shards)))
	for h := range s.shards {
		t := &s.shards[h]
		e.Int(int64(t.rows))
		weighted := int64(0)
		if t.weighted {
			weighted = 1
		}
		e.Int(weighted)
		if t.rows == 0 {
			continue
		}
		for _, p := range t.position[:t.rows] {
			e.Int(p)
		}
		e.Floats(t.weight[:t.rows])
		for _, n := range t.missing {
			e.Int(n)
		}
		for j := range s.d {
			e.Floats(t.data[j*stripRows:][:t.rows])
		}
	}
	return e.Finish()
}

// ReadFrom replaces the waiting rows by the rows that WriteTo of a Splitter with equally many columns and shards wrote.
// It reads no further than the end of this form. If it fails, s is unchanged.
func (s *Splitter) ReadFrom(r io.Reader) (int64, error) {
	return words.Replace(s, r, s.decodeRows)
}

func (s *Splitter) decodeRows(r *words.Reader) *Splitter {
	got := *s
	got.shards = make([]shard, len(s.shards))
	r.Magic(magic, "rows that wait")
	r.Expect(2)
	if d, n := r.Count("number of columns", math.MaxInt32), r.Count("number of shards", MostShards); r.Err() == nil && (int(d) != s.d || int(n) != len(s.shards)) {
		r.Fail("%d columns in %d shards, want %d in %d", d, n, s.d, len(s.shards))
	}
	for h := range got.shards {
		t := &got.shards[h]
		t.adder = s.shards[h].adder
		r.Expect(2)
		t.rows = int(r.Count("number of rows", stripRows-1))
		t.weighted = r.Count("whether they have weights", 1) == 1
		if r.Err() != nil {
			return nil
		}
		if t.rows > 0 {
			t.decodeShard(r, s.d)
		}
	}
	return &got
}

func (t *shard) decodeShard(r *words.Reader, d int) {
	t.data, t.position = make([]float64, stripRows*d), make([]int64, stripRows)
	t.weight, t.missing = make([]float64, stripRows), make([]int64, d)
	r.Expect(int64(2*t.rows + d + t.rows*d))
	for i := range t.rows {
		t.position[i] = r.Count("position", math.MaxInt64)
	}
	r.Floats(t.weight[:t.rows])
	for _, w := range t.weight[:t.rows] {
		if !(w > 0) || math.IsInf(w, 0) {
			r.Fail("a weight of %g", w)
		}
	}
	for j := range t.missing {
		t.missing[j] = r.Count("missing entries", int64(t.rows))
	}
	for j := range d {
		r.Floats(t.data[j*stripRows:][:t.rows])
	}
}
