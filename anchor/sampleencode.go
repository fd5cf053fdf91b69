package anchor

import (
	"io"
	"math"
	"slices"
)

// The binary form of a Sampler, 8-byte little-endian words; equal samples give equal
// bytes: "ufssamp1", d, seed, rows to keep, rows, then for each row in the order of the
// keys its position and d values.

// WriteTo writes the binary form of s. It implements io.WriterTo.
func (s *Sampler) WriteTo(w io.Writer) (int64, error) {
	e := newWriter(w)
	e.word(magic(samplerMagic))
	e.int(int64(s.d))
	e.word(s.opt.Seed)
	e.int(int64(s.opt.Rows))
	e.int(int64(len(s.rows)))
	for _, r := range s.sorted() {
		e.int(r.position)
		e.floats(r.values)
	}
	return e.finish()
}

// ReadFrom replaces s by what WriteTo wrote, seed and rows to keep included, and reads
// no further; it keeps s's limit. Where s has columns, the number must agree. Memory
// grows with what was read; where that would be beyond the limit it fails with a
// *stream.MemoryError before it reads any row. s is
// unchanged on error.
func (s *Sampler) ReadFrom(r io.Reader) (int64, error) {
	d := &reader{r: r}
	got := s.decode(d)
	if d.err == nil {
		*s = *got
	}
	return d.n, d.err
}

func (s *Sampler) decode(r *reader) *Sampler {
	r.expect(5)
	if r.word() != magic(samplerMagic) {
		r.fail("no sample of rows")
	}
	got := &Sampler{d: int(r.count("number of columns", maxColumns)), opt: s.opt}
	if s.d > 0 && got.d != s.d {
		r.fail("%d columns, want %d", got.d, s.d)
	}
	got.opt.Seed = r.word()
	got.opt.Rows = int(r.count("rows to keep", maxRows))
	n := int(r.count("rows", int64(got.opt.Rows)))
	if got.opt.Rows == 0 {
		r.fail("a sample that keeps no rows")
	}
	if r.err == nil {
		r.err = got.fits(n)
	}
	for i := range n {
		if r.err != nil {
			return nil
		}
		r.expect(int64(1 + got.d))
		row := sampled{position: r.count("position", math.MaxInt64), from: settled}
		// One by one, as a head may promise columns that never come.
		for j := 0; j < got.d && r.err == nil; j++ {
			v := r.float()
			if math.IsInf(v, 0) {
				r.fail("row %d has an infinite value", i)
			}
			row.values = append(row.values, v)
		}
		row.values = slices.Clip(row.values)
		row.key = hash(got.opt.Seed, row.position)
		if i > 0 && compare(got.rows[i-1], row) > 0 {
			r.fail("rows are not in the order of their keys")
		}
		got.rows = append(got.rows, row)
	}
	slices.Reverse(got.rows) // descending, hence a heap
	return got
}
