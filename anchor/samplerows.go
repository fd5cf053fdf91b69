package anchor

import (
	"cmp"
	"container/heap"
	"slices"
)

// SampledRow is one row of a sample.
type SampledRow struct {
	Position int64     // row number in the whole table
	Start    int64     // position at which its row group starts
	Values   []float64 // d values, NaN for missing entries; they belong to the sample
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

// Put adds a row to a sample that has room for it, and keeps the slice of its values. If the memory limit does not
// suffice, it fails with a *stream.MemoryError, with s unchanged.
func (s *Sampler) Put(r SampledRow) error {
	if len(r.Values) != s.d || len(s.rows) == s.opt.Rows {
		panic("anchor: a row of another table, or one too many")
	}
	if err := s.checkMemoryLimit(len(s.rows) + 1); err != nil {
		return err
	}
	heap.Push(&s.rows, sampledRow{key: s.rowKey(r.Position), position: r.Position, start: r.Start, values: r.Values, chunkRow: noChunkRow})
	return nil
}

// Columns returns the number of columns.
func (s *Sampler) Columns() int { return s.d }

// Options returns the options of s, with defaults filled in.
func (s *Sampler) Options() SamplerOptions { return s.opt }

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
