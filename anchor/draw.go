package anchor

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// sortedRows returns the rows in the order of their keys, in which they were drawn. Equal keys occur only for rows of
// tables that were numbered separately. Such rows are ordered by their values, so that the order of merging does not
// matter.
func (s *Sampler) sortedRows() []sampledRow {
	rows := slices.Clone(s.rows)
	slices.SortFunc(rows, compareRows)
	return rows
}

func compareRows(a, b sampledRow) int {
	if c := cmp.Compare(a.key, b.key); c != 0 {
		return c
	}
	return cmp.Or(slices.Compare(a.values, b.values), slices.Compare(a.entries.index, b.entries.index),
		slices.Compare(a.entries.value, b.entries.value), cmp.Compare(a.start, b.start))
}

// Draw returns the first m rows, m ≤ Len, as a dense chunk that belongs to the caller, with NaN for missing entries.
// For a larger m the same rows come first.
func (s *Sampler) Draw(m int) *stream.Chunk {
	c := &stream.Chunk{Block: m, Rows: m, Cols: s.d, Stride: m,
		Data: make([]float64, m*s.d), Positions: make([]int64, m)}
	for i, r := range s.sortedRows()[:m] {
		c.Positions[i] = r.position
		for j, x := range r.values {
			c.Data[j*m+i] = x
		}
	}
	return c
}

// Merge makes s the sample that one Sampler of all rows would have, however the table was divided. Afterwards s keeps
// the smaller of the two limits on the number of rows. o is unchanged. Merge fails, with s unchanged, if o has other
// columns or another seed, or with a *stream.MemoryError.
func (s *Sampler) Merge(o *Sampler) error {
	if s.d != o.d {
		return fmt.Errorf("anchor: cannot merge samples of %d and %d columns", s.d, o.d)
	}
	if s.opt.Seed != o.opt.Seed {
		return stream.Usagef("samples were drawn by other seeds, %d and %d: scan all parts with the same {seed}", s.opt.Seed, o.opt.Seed)
	}
	if s.opt.Entries != o.opt.Entries {
		return fmt.Errorf("anchor: cannot merge a sample of entries with one of whole rows")
	}
	keep := min(s.opt.Rows, o.opt.Rows)
	if err := s.checkMergedMemory(o); err != nil {
		return err
	}
	own, other := s.sortedRows(), o.sortedRows()
	rows := make(keyHeap, 0, min(len(own)+len(other), keep))
	for len(rows) < cap(rows) {
		if len(other) == 0 || len(own) > 0 && compareRows(own[0], other[0]) <= 0 {
			rows, own = append(rows, own[0]), own[1:]
			continue
		}
		r := other[0]
		r.values, r.entries = slices.Clone(r.values), rowEntries{slices.Clone(r.entries.index), slices.Clone(r.entries.value)}
		rows, other = append(rows, r), other[1:]
	}
	slices.Reverse(rows) // descending keys are a heap
	s.rows, s.opt.Rows, s.spareValues, s.entryBytes = rows, keep, nil, 0
	for i := range rows {
		s.entryBytes += rows[i].entries.heldBytes()
	}
	return nil
}

func (s *Sampler) checkMergedMemory(other *Sampler) error {
	both := Sampler{d: s.d, opt: s.opt, entryBytes: s.entryBytes + other.entryBytes}
	return both.checkMemoryLimit(min(len(s.rows)+len(other.rows), s.opt.Rows, other.opt.Rows))
}

// MergedBytes bounds the memory, as [SamplerBytes] does, that s will need after o is merged into it. o may be nil.
func (s *Sampler) MergedBytes(o *Sampler) int64 {
	rows, size := len(s.rows), s.entryBytes
	if o != nil {
		rows, size = min(rows+len(o.rows), s.opt.Rows, o.opt.Rows), size+o.entryBytes
	}
	if s.opt.Entries {
		return EntriesBytes(rows, 0) + size
	}
	return SamplerBytes(rows, s.d)
}

// SetLimit changes SamplerOptions.Limit, the number of bytes that s may hold, for all later calls.
func (s *Sampler) SetLimit(limit int64) {
	s.opt.Limit = SamplerOptions{Limit: limit}.withDefaults().Limit
}

// HashBound returns a bound on hashes for a sample of the given number of rows from a table with tableRows rows. The
// hashes of all rows in the sample are almost certainly at most this bound. So every part of the table can skip all
// rows with higher hashes. The result is 0, which means no bound, if a bound would save nothing. To find the exact
// bound, every part would have to hash every row of the whole table, while this estimate costs nothing.
//
// Hashes behave like uniform random numbers. Let X be the number of the n rows whose hashes are in the lowest share p
// of all hashes, with p chosen so that the mean of X is λ = n·p = r + 10·√r + 50 for a sample of r rows. By Chernoff,
// P(X < r) ≤ exp(−(λ−r)²/(2λ)). This falls with r: 2·10⁻¹³ for 1 row, 3·10⁻²⁰ for 100, 2·10⁻²² for 10,000.
// [Sampler.Short] detects the case X < r.
func HashBound(rows int, tableRows int64) uint64 {
	r := float64(rows)
	share := (r + 10*math.Sqrt(r) + 50) / float64(tableRows)
	if rows <= 0 || tableRows <= 0 || share >= 1 {
		return 0
	}
	return uint64(math.Ldexp(share, 64))
}

// Short fails if s, the sample of a table with the given number of rows, has fewer rows than it should keep. In this
// case the bound for the parts of the table was too low.
func (s *Sampler) Short(rows int64) error {
	if want := min(int64(s.opt.Rows), rows); int64(s.Len()) < want {
		return ShortSample(int64(s.Len()), want, s.opt.Seed)
	}
	return nil
}

// ShortSample returns the error for a sample that has only the given number of rows, but should have `want` rows. The
// bound with which the parts of the table were sampled was too low for this seed.
func ShortSample(rows, want int64, seed uint64) error {
	return stream.Usagef("the sample has %d rows of %d: the rows of {seed} %d are spread unusually, so that its parts passed over too many (less than once in 10¹² seeds); scan all parts again with another {seed}",
		rows, want, seed)
}

func (s *Sampler) columnReader(rowCount int) func([]float64, int) {
	rows := s.sortedRows()[:rowCount]
	return func(dst []float64, j int) {
		for i := range rows {
			dst[i] = rows[i].values[j]
		}
	}
}

// InOrder lists the rows by their positions in the table. Rows of tables that were numbered separately may share a
// position, and are then ordered by their values.
func (s *Sampler) InOrder() []SampledRow {
	rows := make([]SampledRow, len(s.rows))
	for i, r := range s.rows {
		rows[i] = SampledRow{r.position, r.start, r.values}
	}
	slices.SortFunc(rows, func(a, b SampledRow) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), slices.Compare(a.Values, b.Values), cmp.Compare(a.Start, b.Start))
	})
	return rows
}

// MapValues returns a copy of s, with the same rows in the same order, in which each value x of column j is replaced
// by f(j, x).
func (s *Sampler) MapValues(f func(j int, x float64) float64) *Sampler {
	o := &Sampler{d: s.d, opt: s.opt, rows: slices.Clone(s.rows)}
	values := make([]float64, len(s.rows)*s.d)
	for i := range o.rows {
		own := values[i*s.d:][:s.d:s.d]
		for j, x := range s.rows[i].values {
			own[j] = f(j, x)
		}
		o.rows[i].values = own
	}
	return o
}
