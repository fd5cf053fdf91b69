package anchor

import (
	"cmp"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/room"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Keep reduces s in place to the columns that are wanted; wanted has one element for
// each. Which rows are kept does not change. Cost O(rows·d).
func (s *Sampler) Keep(wanted []bool) {
	var kept []int
	for j, want := range wanted {
		if want {
			kept = append(kept, j)
		}
	}
	if s.opt.Entries {
		s.renumber(kept)
		return
	}
	for i := range s.rows {
		row := s.rows[i].values
		// An entry never moves to a higher index, so ascending order overwrites nothing unread.
		for k, j := range kept {
			row[k] = row[j]
		}
		s.rows[i].values = row[:len(kept):len(kept)]
	}
	s.d, s.free = len(kept), nil
}

// Reorder makes column j of s what column order[j] was; order is a permutation. Which rows are
// kept does not change. Cost O(rows·d).
func (s *Sampler) Reorder(order []int) {
	if s.opt.Entries {
		s.renumber(order)
		return
	}
	was := make([]float64, s.d)
	for i := range s.rows {
		row := s.rows[i].values
		copy(was, row)
		for j, from := range order {
			row[j] = was[from]
		}
	}
}

// renumber makes column j of a sample of entries what column columns[j] was, and leaves the others out.
func (s *Sampler) renumber(columns []int) {
	to := slices.Repeat([]int32{-1}, s.d)
	for j, from := range columns {
		to[from] = int32(j)
	}
	s.d, s.size = len(columns), 0
	for i := range s.rows {
		was := s.rows[i].entries
		var kept []int
		for at, j := range was.index {
			if to[j] >= 0 {
				kept = append(kept, at)
			}
		}
		slices.SortFunc(kept, func(a, b int) int { return cmp.Compare(to[was.index[a]], to[was.index[b]]) })
		now := entries{make([]int32, len(kept)), make([]float64, len(kept))}
		for k, at := range kept {
			now.index[k], now.value[k] = to[was.index[at]], was.value[at]
		}
		s.rows[i].entries = now
		s.size += now.bytes()
	}
}

// Where is a copy of s that has the rows at the wanted positions; it shares their values.
func (s *Sampler) Where(wanted func(position int64) bool) *Sampler {
	o := &Sampler{d: s.d, opt: s.opt}
	for _, r := range s.sorted() {
		if wanted(r.position) {
			o.rows = append(o.rows, r)
			o.size += r.entries.bytes()
		}
	}
	slices.Reverse(o.rows) // descending, hence a heap
	return o
}

// Table has the first m rows of a sample at some of its columns.
type Table struct {
	Rows, Cols int
	Values     []float64   // row-major, NaN where entries are missing; nil if there is CSR
	CSR        *stream.CSR // of a sample of entries, by column; nil if there are Values
}

// TableBytes bounds what a Table of m rows of d columns holds.
func TableBytes(m, d int) int64 { return 8 * int64(m) * (int64(d) + 1) }

// ThinTableBytes bounds what a Table of m sparse rows holds that have so many entries in all, with what TableOf
// holds while it makes one: a copy of the entries, and lists that grow by doubling.
func ThinTableBytes(m int, entries int64) int64 { return 4*(4+8)*entries + 256*int64(m) }

// TableOf copies the values of the first m rows at the columns, ascending.
func TableOf(s Drawn, m int, columns []int, threads int) *Table {
	t := &Table{Rows: m, Cols: len(columns)}
	if sampled, ok := s.(*Sampler); ok && sampled.opt.Entries {
		t.CSR = &stream.CSR{RowPtr: []int{0}}
		own := Sampler{d: sampled.d, opt: sampled.opt, rows: sampled.sorted()[:m]}
		own.renumber(columns)
		for _, r := range own.rows {
			t.CSR.Index, t.CSR.Value = append(t.CSR.Index, r.entries.index...), append(t.CSR.Value, r.entries.value...)
			t.CSR.RowPtr = append(t.CSR.RowPtr, len(t.CSR.Index))
		}
		return t
	}
	t.Values = room.Make[float64](m * t.Cols)
	write := s.first(m)
	const run = 64 // columns, so that a row's neighbours share lines
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
