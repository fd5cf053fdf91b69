package anchor

import (
	"io"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/splitmix"
	"github.com/ufs-stream/ufs-stream/internal/words"
)

// The binary form of a Sampler, 8-byte little-endian words; equal samples give equal
// bytes: "ufssamp1", d, seed, rows to keep, rows, then for each row in the order of the
// keys its position and d values.

// WriteTo writes the binary form of s. It implements io.WriterTo.
func (s *Sampler) WriteTo(w io.Writer) (int64, error) {
	e := words.NewWriter(w)
	e.Word(words.Magic(samplerMagic))
	e.Int(int64(s.d))
	e.Word(s.opt.Seed)
	e.Int(int64(s.opt.Rows))
	e.Int(int64(len(s.rows)))
	for _, r := range s.sorted() {
		e.Int(r.position)
		e.Floats(r.values)
	}
	return e.Finish()
}

// ReadFrom replaces s by what WriteTo wrote, with seed and rows to keep, and reads no
// further; it keeps s's limit. Where s has columns, the number must agree. Memory grows
// with the bytes read; if it would exceed the limit, ReadFrom fails with a
// *stream.MemoryError before it reads any row. s is unchanged on error.
func (s *Sampler) ReadFrom(r io.Reader) (int64, error) {
	return words.Replace(s, r, s.decode)
}

func (s *Sampler) decode(r *words.Reader) *Sampler {
	r.Magic(samplerMagic, "sample of rows")
	r.Expect(4)
	got := &Sampler{d: int(r.Count("number of columns", maxColumns)), opt: s.opt}
	got.opt.Bound, got.opt.Starts = 0, nil
	if s.d > 0 && got.d != s.d {
		r.Fail("%d columns, want %d", got.d, s.d)
	}
	got.opt.Seed = r.Word()
	got.opt.Rows = int(r.Count("rows to keep", maxRows))
	n := int(r.Count("rows", int64(got.opt.Rows)))
	if got.opt.Rows == 0 {
		r.Fail("a sample that keeps no rows")
	}
	if r.Err() == nil {
		r.Stop(got.fits(n))
	}
	for i := range n {
		if r.Err() != nil {
			return nil
		}
		r.Expect(int64(1 + got.d))
		row := sampled{position: r.Count("position", math.MaxInt64), from: settled}
		// One by one: a damaged head may promise more columns than follow.
		for j := 0; j < got.d && r.Err() == nil; j++ {
			v := r.Float()
			if math.IsInf(v, 0) {
				r.Fail("row %d has an infinite value", i)
			}
			row.values = append(row.values, v)
		}
		row.values = slices.Clip(row.values)
		row.key = splitmix.Hash(got.opt.Seed, uint64(row.position))
		if i > 0 && compare(got.rows[i-1], row) > 0 {
			r.Fail("rows are not in the order of their keys")
		}
		got.rows = append(got.rows, row)
	}
	slices.Reverse(got.rows) // descending, hence a heap
	return got
}
