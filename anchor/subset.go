package anchor

import (
	"cmp"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Keep reduces s in place to the columns j with wanted[j]. The set of rows remains the same. The cost is O(rows·d).
func (s *Sampler) Keep(wanted []bool) {
	var places []int
	for j, want := range wanted {
		if want {
			places = append(places, j)
		}
	}
	if s.opt.Entries {
		s.renumberColumns(places)
		return
	}
	for i := range s.rows {
		row := s.rows[i].values
		// An entry never moves to a higher index, so in ascending order no entry is overwritten before it is read.
		for k, j := range places {
			row[k] = row[j]
		}
		s.rows[i].values = row[:len(places):len(places)]
	}
	s.d, s.spareValues = len(places), nil
}

// Reorder moves column order[j] of s to position j; order is a permutation. The set of rows remains the same. The cost
// is O(rows·d).
func (s *Sampler) Reorder(order []int) {
	if s.opt.Entries {
		s.renumberColumns(order)
		return
	}
	old := make([]float64, s.d)
	for i := range s.rows {
		row := s.rows[i].values
		copy(old, row)
		for j, from := range order {
			row[j] = old[from]
		}
	}
}

// renumberColumns moves column columns[j] of a sample of sparse rows to position j, and drops all columns not listed.
func (s *Sampler) renumberColumns(columns []int) {
	to := slices.Repeat([]int32{-1}, s.d)
	for j, from := range columns {
		to[from] = int32(j)
	}
	s.d, s.entryBytes = len(columns), 0
	for i := range s.rows {
		old := s.rows[i].entries
		var kept []int
		for at, j := range old.index {
			if to[j] >= 0 {
				kept = append(kept, at)
			}
		}
		slices.SortFunc(kept, func(a, b int) int { return cmp.Compare(to[old.index[a]], to[old.index[b]]) })
		renumbered := rowEntries{make([]int32, len(kept)), make([]float64, len(kept))}
		for k, at := range kept {
			renumbered.index[k], renumbered.value[k] = to[old.index[at]], old.value[at]
		}
		s.rows[i].entries = renumbered
		s.entryBytes += renumbered.heldBytes()
	}
}

// Where returns a copy of s with only the rows at wanted positions. The copy shares the values of these rows.
func (s *Sampler) Where(wanted func(position int64) bool) *Sampler {
	o := &Sampler{d: s.d, opt: s.opt}
	for _, r := range s.sortedRows() {
		if wanted(r.position) {
			o.rows = append(o.rows, r)
			o.entryBytes += r.entries.heldBytes()
		}
	}
	slices.Reverse(o.rows) // descending keys are a heap
	return o
}

// Table holds the first m rows of a sample, reduced to some of its columns.
type Table struct {
	Rows, Cols int
	Values     []float64   // row-major, NaN for missing entries; nil if CSR is set
	CSR        *stream.CSR // for a sample of sparse rows, with entries ordered by column; nil if Values is set
}

// TableBytes bounds the memory of a Table of m dense rows of d columns.
func TableBytes(m, d int) int64 { return 8 * int64(m) * (int64(d) + 1) }

// ThinTableBytes bounds the memory of a Table of m sparse rows with the given total number of entries. It includes the
// temporary memory of TableOf: a copy of the entries, and lists that grow by doubling.
func ThinTableBytes(m int, entries int64) int64 { return 4*(4+8)*entries + 256*int64(m) }

// TableOf copies the values of the first m rows of s in the given columns, which are in ascending order.
func TableOf(s Drawn, m int, columns []int, threads int) *Table {
	t := &Table{Rows: m, Cols: len(columns)}
	if sampled, ok := s.(*Sampler); ok && sampled.opt.Entries {
		t.CSR = &stream.CSR{RowPtr: []int{0}}
		sample := Sampler{d: sampled.d, opt: sampled.opt, rows: sampled.sortedRows()[:m]}
		sample.renumberColumns(columns)
		for _, r := range sample.rows {
			t.CSR.Index, t.CSR.Value = append(t.CSR.Index, r.entries.index...), append(t.CSR.Value, r.entries.value...)
			t.CSR.RowPtr = append(t.CSR.RowPtr, len(t.CSR.Index))
		}
		return t
	}
	t.Values = room.MakeSlice[float64](m * t.Cols)
	write := s.columnReader(m)
	const run = 64 // columns per task; neighbouring columns of a row share cache lines
	kernel.Each(threads, (t.Cols+run-1)/run, func(b int) {
		column := make([]float64, m)
		for k := b * run; k < min(t.Cols, (b+1)*run); k++ {
			write(column, columns[k])
			for i, x := range column {
				t.Values[i*t.Cols+k] = x
			}
		}
	})
	return t
}
