package rowsample

import (
	"io"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/disk/words"
	"github.com/ufs-stream/ufs-stream/stream"
)

// MostRows is the largest number of rows of a sample.
const MostRows = 1 << 24

const (
	maxColumns = 1 << 24
	magic      = "ufsrows1"
)

// Sample holds the rows with the lowest hashes and, for each of them, the start of its row group. Unlike the sample for
// anchors, a Sample is written in the order of the table and records the kinds of missing entries.
type Sample struct{ sampler *anchor.Sampler }

// New returns an empty sample of d columns.
func New(d int, opt anchor.SamplerOptions) Sample { return Sample{anchor.NewSampler(d, opt)} }

// SampleBytes returns an upper bound of the memory of a Sample, including the memory for writing it.
func SampleBytes(rows, d int) int64 {
	b := anchor.SamplerBytes(rows, d)
	if b == math.MaxInt64 {
		return b
	}
	return b + 64*int64(rows) // the numbers of the rows in the order of the table
}

// Add implements stream.Adder.
func (s Sample) Add(c *stream.Chunk) error { return s.sampler.Add(c) }

// SetLimit sets the largest number of bytes of s; 0 means no limit.
func (s Sample) SetLimit(limit int64) { s.sampler.SetLimit(limit) }

// Reorder moves column order[j] of s to position j; order is a permutation.
func (s Sample) Reorder(order []int) { s.sampler.Reorder(order) }

// Merge replaces s by the sample of the rows of both parts, see [anchor.Sampler.Merge].
func (s Sample) Merge(o *Sample) error { return s.sampler.Merge(o.sampler) }

// MergedBytes returns an upper bound of the memory that s will need after o is merged into it (see [SampleBytes]). o
// may be nil.
func (s Sample) MergedBytes(o *Sample) int64 {
	rows := s.sampler.Len()
	if o != nil {
		rows = min(rows+o.sampler.Len(), s.sampler.Rows(), o.sampler.Rows())
	}
	return SampleBytes(rows, s.sampler.Columns())
}

// The binary form consists of 8-byte little-endian words, and equal samples have equal bytes. The words are:
// "ufsrows1", d, the seed, the number of rows to keep, the number of rows n, the n positions in order, the n starts of
// their row groups, and n times d values. The bits of a NaN determine the kind of the missing entry (see
// stream.MissingValue).

// WriteTo implements io.WriterTo.
func (s Sample) WriteTo(w io.Writer) (int64, error) {
	e := words.NewWriter(w)
	e.Word(words.MagicWord(magic))
	e.Int(int64(s.sampler.Columns()))
	e.Word(s.sampler.Seed())
	e.Int(int64(s.sampler.Rows()))
	e.Int(int64(s.sampler.Len()))
	rows := s.sampler.InOrder()
	for _, r := range rows {
		e.Int(r.Position)
	}
	for _, r := range rows {
		e.Int(r.Start)
	}
	for _, r := range rows {
		for _, x := range r.Values {
			e.Word(canonicalBits(x))
		}
	}
	return e.Finish()
}

// canonicalBits returns the bits of a value. All NaNs that represent the same kind of missing entry have the same bits.
func canonicalBits(x float64) uint64 {
	bits := math.Float64bits(x)
	if x != x && bits != stream.NullBits && bits != stream.InfBits {
		return math.Float64bits(math.NaN())
	}
	return bits
}

// sampleHead is the part of the file that precedes the values.
type sampleHead struct {
	d                 int
	seed              uint64
	keep              int
	positions, starts []int64
}

// readHead reads the head. It calls the function fits, which must return an error if there is too little memory for the
// sample. It allocates memory only as data are read, so that a damaged head cannot exhaust the memory.
func readHead(r *words.Reader, fits func(rows, d int) error) (h sampleHead) {
	r.Magic(magic, "sample of rows")
	r.Expect(4)
	h.d = int(r.Count("number of columns", maxColumns))
	h.seed = r.Word()
	h.keep = int(r.Count("rows to keep", MostRows))
	n := int(r.Count("rows", int64(h.keep)))
	if h.keep == 0 {
		r.Fail("a sample that keeps no rows")
	}
	if r.Err() == nil {
		r.Stop(fits(n, h.d))
	}
	numbers := func(what string, check func(i int, v int64)) (list []int64) {
		if r.Err() == nil {
			r.Expect(int64(n))
		}
		for i := range n {
			if r.Err() != nil {
				return nil
			}
			v := r.Count(what, math.MaxInt64-1) // position + 1 must also be a valid number
			check(i, v)
			list = append(list, v)
		}
		return list
	}
	last := int64(0)
	h.positions = numbers("position", func(_ int, v int64) {
		if v < last {
			r.Fail("positions are not in order")
		}
		last = v
	})
	h.starts = numbers("start of a row group", func(i int, v int64) {
		if r.Err() == nil && v > h.positions[i] {
			r.Fail("the row at %d is in a row group that starts at %d", h.positions[i], v)
		}
	})
	return h
}

func (h *sampleHead) readRow(r *words.Reader, row []float64) {
	r.Expect(int64(h.d))
	for j := range row {
		x := r.Float()
		if math.IsInf(x, 0) || x != x && canonicalBits(x) != math.Float64bits(x) {
			r.Fail("a row has an invalid value")
		}
		row[j] = x
	}
}

// ReadFrom replaces s by the sample that WriteTo wrote, including its seed and number of rows to keep. It keeps the
// other options of s, and reads no further than the end of the sample. If there is too little memory, it fails with a
// *stream.MemoryError before it reads any row. If it fails, s is unchanged.
func (s *Sample) ReadFrom(from io.Reader) (int64, error) {
	return words.Replace(s, from, s.decodeSample)
}

func (s *Sample) decodeSample(r *words.Reader) *Sample {
	opt := s.sampler.Options()
	h := readHead(r, func(rows, d int) error {
		if need := SampleBytes(rows, d); need > opt.Limit {
			return &stream.MemoryError{What: "a sample of rows", Need: need, Limit: opt.Limit}
		}
		return nil
	})
	opt.Rows, opt.Seed = max(h.keep, 1), h.seed
	got := New(h.d, opt)
	if d := s.sampler.Columns(); d > 0 && h.d != d {
		r.Fail("%d columns, want %d", h.d, d)
	}
	for i := range h.positions {
		if r.Err() != nil {
			return nil
		}
		row := make([]float64, h.d)
		h.readRow(r, row)
		r.Stop(got.sampler.Put(anchor.SampledRow{Position: h.positions[i], Start: h.starts[i], Values: row}))
	}
	return &got
}
