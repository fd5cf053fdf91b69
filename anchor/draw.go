package anchor

import (
	"cmp"
	"fmt"
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

func (s *Sampler) checkMergedMemory(o *Sampler) error {
	both := Sampler{d: s.d, opt: s.opt, entryBytes: s.entryBytes + o.entryBytes}
	return both.checkMemoryLimit(min(len(s.rows)+len(o.rows), s.opt.Rows, o.opt.Rows))
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

// SetLimit changes SamplerOptions.Limit for all later calls.
func (s *Sampler) SetLimit(limit int64) {
	s.opt.Limit = SamplerOptions{Limit: limit}.withDefaults().Limit
}
