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

// Add implements stream.Adder: it adds the rows of c, of which only the rows with the lowest hashes are kept.
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
		rows = min(rows+o.sampler.Len(), s.sampler.Options().Rows, o.sampler.Options().Rows)
	}
	return SampleBytes(rows, s.sampler.Columns())
}

// The binary form consists of 8-byte little-endian words, and equal samples have equal bytes. The words are:
// "ufsrows1", d, the seed, the number of rows to keep, the number of rows n, the n positions in order, the n starts of
// their row groups, and n times d values. The bits of a NaN determine the kind of the missing entry (see
// stream.MissingValue).

// WriteTo implements io.WriterTo.
func (s Sample) WriteTo(w io.Writer) (int64, error) {
	rows, opt := s.sampler.InOrder(), s.sampler.Options()
	h := sampleHead{d: s.sampler.Columns(), seed: opt.Seed, keep: opt.Rows}
	for _, r := range rows {
		h.positions, h.starts = append(h.positions, r.Position), append(h.starts, r.Start)
	}
	return words.WriteState(w, func(v *words.Visitor) {
		h.encodeOrDecode(v, nil)
		for _, r := range rows {
			h.encodeOrDecodeRow(v, r.Values)
		}
	})
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
func readHead(v *words.Visitor, fits func(rows, d int) error) (h sampleHead) {
	h.encodeOrDecode(v, fits)
	return h
}

func (h *sampleHead) encodeOrDecode(v *words.Visitor, fits func(rows, d int) error) {
	v.Magic(magic, "sample of rows")
	words.Count(v, "number of columns", &h.d, maxColumns)
	v.Word(&h.seed)
	words.Count(v, "rows to keep", &h.keep, MostRows)
	n := v.Length("rows", len(h.positions), h.keep)
	if h.keep == 0 {
		v.Fail("a sample that keeps no rows")
	}
	if v.Reads() && v.Err() == nil {
		v.Stop(fits(n, h.d))
	}
	const limit = math.MaxInt64 - 1 // position + 1 must also be a valid number
	v.Expect(2 * n)
	words.VisitElements(v, &h.positions, n, func(i int, p *int64) {
		if words.Count(v, "position", p, limit); i > 0 && *p < h.positions[i-1] {
			v.Fail("positions are not in order")
		}
	})
	words.VisitElements(v, &h.starts, n, func(i int, p *int64) {
		if words.Count(v, "start of a row group", p, limit); *p > h.positions[i] {
			v.Fail("the row at %d is in a row group that starts at %d", h.positions[i], *p)
		}
	})
}

func (h *sampleHead) encodeOrDecodeRow(v *words.Visitor, row []float64) {
	v.Expect(h.d)
	for j := range row {
		bits := canonicalBits(row[j])
		if v.Word(&bits); !v.Reads() {
			continue
		}
		x := math.Float64frombits(bits)
		if math.IsInf(x, 0) || canonicalBits(x) != bits {
			v.Fail("a row has an invalid value")
		}
		row[j] = x
	}
}

// ReadFrom replaces s by the sample that WriteTo wrote, including its seed and number of rows to keep. It keeps the
// other options of s, and reads no further than the end of the sample. If there is too little memory, it fails with a
// *stream.MemoryError before it reads any row. If it fails, s is unchanged.
func (s *Sample) ReadFrom(from io.Reader) (int64, error) {
	return words.ReplaceState(s, from, (*Sample).readSample)
}

func (s *Sample) readSample(v *words.Visitor, previous *Sample) {
	opt := previous.sampler.Options()
	h := readHead(v, func(rows, d int) error {
		if need := SampleBytes(rows, d); need > opt.Limit {
			return &stream.MemoryError{What: "a sample of rows", Need: need, Limit: opt.Limit}
		}
		return nil
	})
	opt.Rows, opt.Seed = max(h.keep, 1), h.seed
	*s = New(h.d, opt)
	if d := previous.sampler.Columns(); d > 0 && h.d != d {
		v.Fail("%d columns, want %d", h.d, d)
	}
	for i := range h.positions {
		if v.Err() != nil {
			return
		}
		row := make([]float64, h.d)
		h.encodeOrDecodeRow(v, row)
		v.Stop(s.sampler.Put(anchor.SampledRow{Position: h.positions[i], Start: h.starts[i], Values: row}))
	}
}
