package greedy

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// meanTerm is the contribution of the means of sparse rows to G. Let x′ be a scaled row before the shift s is
// subtracted, and w its weight. The matrix g = Σwx′x′ᵀ has entries other than 0 only for pairs of features that occur
// in the same row. G = g − C with C of rank 2, cᵢⱼ = sᵢmⱼ + tᵢsⱼ, m = Σwx′ and t = m − Σw·s. So
//
//	Σⱼ Gᵢⱼ² = Σⱼ gᵢⱼ(gᵢⱼ − 2cᵢⱼ) + Σⱼ cᵢⱼ².
//
// The first sum costs one operation for each entry of g, and the second is sᵢ²Σm² + 2sᵢtᵢΣms + tᵢ²Σs². All sums leave
// out the features of earlier layers.
type meanTerm struct {
	s, m, t    []float64
	mm, ms, ss float64 // Σm², Σms and Σs²
}

// maxMeanRatio is the largest ratio Σⱼ cᵢⱼ²/Gᵢᵢ² at which Σⱼ Gᵢⱼ² is computed by the formula at meanTerm. At this ratio
// the subtraction loses ten bits.
const maxMeanRatio = 1 << 10

func newMeanTerm(shift, sum []float64, weight float64, chosen []bool) *meanTerm {
	o := &meanTerm{s: shift, m: sum, t: make([]float64, len(shift))}
	for j, s := range shift {
		o.t[j] = sum[j] - weight*s
		if chosen == nil || !chosen[j] {
			o.mm += float64(sum[j] * sum[j])
			o.ms += float64(sum[j] * s)
			o.ss += float64(s * s)
		}
	}
	return o
}

func (o *meanTerm) entry(i, j int) float64 { return float64(o.s[i]*o.m[j]) + float64(o.t[i]*o.s[j]) }

// rowSquares returns Σⱼ cᵢⱼ² (see meanTerm), and the sum of the absolute values of its three terms.
func (o *meanTerm) rowSquares(i int) (sum, size float64) {
	a, b, c := o.s[i]*o.s[i]*o.mm, 2*o.s[i]*o.t[i]*o.ms, o.t[i]*o.t[i]*o.ss
	return float64(a) + float64(b) + float64(c), math.Abs(a) + math.Abs(b) + math.Abs(c)
}

// canStartByEntries reports whether f⁰, the initial f of the criterion, can be computed from the entries of sparse
// rows. The profile must show that the means of the features are not far above their deviations.
func (s *streamEngine) canStartByEntries() bool {
	if s.entryCount == 0 {
		return false
	}
	std, d := &s.rows.std, s.rows.d
	sum := make([]float64, d)
	for k := range sum {
		sum[k] = std.Weight * std.Mean[k] * std.Factor[k]
	}
	o := newMeanTerm(s.rows.shift, sum, std.Weight, nil)
	for i := range d {
		deviation, mean := std.Std[i]*std.Factor[i], (std.Mean[i]-std.Shift[i])*std.Factor[i]
		ownSquare := std.Weight * (deviation*deviation + mean*mean)
		if _, size := o.rowSquares(i); !(size <= maxMeanRatio*ownSquare*ownSquare) {
			return false
		}
	}
	return true
}

// startByEntries computes the same as [streamEngine.residualNorms] before anything is chosen. It may be called if
// canStartByEntries is true. size[i] is an upper bound of the sum of the absolute values of the terms of f[i]. The
// terms of a feature are added in one order, which depends neither on the runs of features (see triangleRuns) nor on
// how the rows of g are stored.
func (s *streamEngine) startByEntries(ctx context.Context, purpose string, maxNumbers int64) (f, diag, size []float64, err error) {
	d, r := s.rows.d, s.rows
	f, diag, size = make([]float64, d), make([]float64, d), make([]float64, d)
	var chosen []bool
	if s.criterion != nil {
		chosen = s.chosen
	}
	var o *meanTerm
	if r.blockLimit == 0 { // rows that will stay in memory
		if err := r.runPass(ctx, rowPass{purpose: purpose, addBlock: func(*rowBlock) {}}); err != nil {
			return nil, nil, nil, err
		}
	}
	if r.inMemory {
		o = newMeanTerm(r.shift, r.sum, r.weight, chosen)
		err = s.addInMemoryTerms(ctx, o, chosen, f, diag)
	} else {
		o, err = s.addPassTerms(ctx, purpose, maxNumbers, chosen, f, diag)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	for i := range d {
		squares, terms := o.rowSquares(i)
		f[i] += squares
		size[i] = f[i] + 2*terms
		if chosen != nil && chosen[i] {
			f[i] = 0
		}
	}
	return f, diag, size, nil
}

func (s *streamEngine) addPassTerms(ctx context.Context, purpose string, maxNumbers int64, chosen []bool, f, diag []float64) (*meanTerm, error) {
	d, r := s.rows.d, s.rows
	runs := triangleRuns(d, maxNumbers)
	largest := 0
	for _, run := range runs {
		largest = max(largest, (run[1]-run[0])*(d-run[0]))
	}
	acc := make([]float64, largest)
	for n, run := range runs {
		from, to := run[0], run[1]
		acc := acc[:(to-from)*(d-from)]
		clear(acc)
		sketches := n == 0
		add, rest := s.addWithSketch(sketches, func(b *rowBlock) { r.addTriangle(b, acc, from, to) })
		err := r.runPass(ctx, rowPass{purpose: fmt.Sprintf("%s, features %d to %d of %d", purpose, from+1, to, d), sums: append(rest, acc), addBlock: add, finish: func() {
			if sketches {
				s.sketch.removeShift(r)
			}
			s.addRunTerms(acc, newMeanTerm(r.shift, r.sum, r.weight, chosen), from, to, f, diag)
		}, outputs: append(rest, f, diag)})
		if err != nil {
			return nil, err
		}
	}
	return newMeanTerm(r.shift, r.sum, r.weight, chosen), nil
}

func (s *streamEngine) addRunTerms(acc []float64, o *meanTerm, from, to int, f, diag []float64) {
	r, ld := s.rows, s.rows.d-from
	kernel.Each(r.workers, to-from, func(i int) {
		row := acc[i*ld : (i+1)*ld]
		diag[from+i] = row[i] - o.entry(from+i, from+i)
		for j := i; j < ld; j++ {
			if g := row[j]; g != 0 {
				row[j] = float64(g * (g - 2*o.entry(from+i, from+j)))
			}
		}
	})
	s.clearChosenEntries(acc, from, to)
	kernel.Each(r.workers, taskCount(ld, colsPerTask), func(task int) {
		lo, hi := taskRange(task, colsPerTask, ld)
		for i := range to - from {
			row := acc[i*ld : (i+1)*ld]
			for j := max(lo, i+1); j < hi; j++ {
				f[from+j] += row[j]
			}
		}
	})
	kernel.Each(r.workers, to-from, func(i int) {
		for _, q := range acc[i*ld+i : (i+1)*ld] {
			f[from+i] += q
		}
	})
}

const (
	// listEntriesPerFeature·d is the number of entries for which all lists together have room. A list is a gramRow.
	listEntriesPerFeature = 4
	// maxListWorkers is the largest number of workers that make lists. Each has a row of d numbers.
	maxListWorkers = 8
	// denseShare: a row of g with more than d/denseShare products is computed as a dense row and scanned from end to end.
	denseShare = 4
	// listStrips is the number of strips of features to which lists are added in parallel.
	listStrips = 64
)

// gramRow has the columns and values of the entries other than 0 of a row of g (see meanTerm), from the diagonal on.
type gramRow struct {
	at    []int32
	value []float64
}

// addInMemoryTerms adds to f and diag the terms of the rows that are in memory. The lists in use hold at most as many
// numbers as minGramRows rows of G.
func (s *streamEngine) addInMemoryTerms(ctx context.Context, o *meanTerm, chosen []bool, f, diag []float64) error {
	d, r := s.rows.d, s.rows
	at, value := make([]int32, listEntriesPerFeature*d), make([]float64, listEntriesPerFeature*d)
	var lists []gramRow
	var products []int
	workers := min(r.workers, maxListWorkers)
	scratch := make([]*rowScratch, workers)
	for w := range scratch {
		scratch[w] = newRowScratch(d)
	}
	for from := 0; from < d; {
		// The next batch has as many features as the lists have room for, by the numbers of products, and at least one.
		to, used := from, 0
		for products, lists = products[:0], lists[:0]; to < d; to++ {
			n := r.sparse.productCount(to)
			end := used + min(n, d-to)
			if end > len(at) {
				break
			}
			products, lists = append(products, n), append(lists, gramRow{at[used:used:end], value[used:used:end]})
			used = end
		}
		var next atomic.Int64
		kernel.Each(workers, workers, func(w int) {
			for i := int(next.Add(1)) - 1; i < to-from; i = int(next.Add(1)) - 1 {
				row := &lists[i]
				r.sparse.gramRowFrom(scratch[w], from+i, products[i] > d/denseShare, row)
				diag[from+i] = -o.entry(from+i, from+i)
				if len(row.at) > 0 && int(row.at[0]) == from+i {
					diag[from+i] += row.value[0]
				}
				for e, j := range row.at {
					g := row.value[e]
					row.value[e] = float64(g * (g - 2*o.entry(from+i, int(j))))
					if chosen != nil && (chosen[j] || chosen[from+i]) {
						row.value[e] = 0
					}
				}
			}
		})
		wide := (d - from + listStrips - 1) / listStrips
		kernel.Each(r.workers, listStrips, func(task int) {
			lo, hi := from+task*wide, min(d, from+(task+1)*wide)
			for i := range to - from {
				row := &lists[i]
				first := max(lo, from+i+1)
				e, _ := slices.BinarySearch(row.at, int32(first))
				for ; e < len(row.at) && int(row.at[e]) < hi; e++ {
					f[row.at[e]] += row.value[e]
				}
			}
		})
		kernel.Each(r.workers, to-from, func(i int) {
			for _, q := range lists[i].value {
				f[from+i] += q
			}
		})
		if from = to; ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// productCount returns the number of products of two entries whose sums are row p of g, from the diagonal on.
func (s *sparseBlock) productCount(p int) (n int) {
	for k := s.colPtr[p]; k < s.colPtr[p+1]; k++ {
		n += s.rowEnd[s.entryRow[k]] - int(s.entryAt[k])
	}
	return n
}

// rowScratch has d numbers for a row of g, which are 0 between rows. valueFlags has a bit for each number, set if it is
// in use, and wordFlags has a bit for each word of valueFlags.
type rowScratch struct {
	acc                   []float64
	valueFlags, wordFlags []uint64
}

func newRowScratch(d int) *rowScratch {
	words := (d + 63) / 64
	return &rowScratch{make([]float64, d), make([]uint64, words), make([]uint64, (words+63)/64)}
}

// gramRowFrom computes row p of g from the diagonal on: if full is true, by scanning a dense row from end to end, and
// otherwise by visiting only the numbers to which a product was added.
func (s *sparseBlock) gramRowFrom(w *rowScratch, p int, full bool, out *gramRow) {
	out.at, out.value = out.at[:0], out.value[:0]
	if full {
		s.addColumnFrom(w.acc, p, 0)
		for j, g := range w.acc[p:] {
			if g != 0 {
				out.at, out.value = append(out.at, int32(p+j)), append(out.value, g)
			}
		}
		clear(w.acc[p:])
		return
	}
	for k := s.colPtr[p]; k < s.colPtr[p+1]; k++ {
		i := s.entryRow[k]
		feature, value := s.rowEntries(i, int(s.entryAt[k]))
		x := value[0] * s.weight[i]
		for e, j := range feature {
			w.acc[j] += x * value[e]
			w.valueFlags[j>>6] |= 1 << (j & 63)
			w.wordFlags[j>>12] |= 1 << (j >> 6 & 63)
		}
	}
	for o := p >> 12; o < len(w.wordFlags); o++ {
		for over := w.wordFlags[o]; over != 0; over &= over - 1 {
			b := o<<6 + bits.TrailingZeros64(over)
			for word := w.valueFlags[b]; word != 0; word &= word - 1 {
				j := b<<6 + bits.TrailingZeros64(word)
				if g := w.acc[j]; g != 0 {
					out.at, out.value = append(out.at, int32(j)), append(out.value, g)
				}
				w.acc[j] = 0
			}
			w.valueFlags[b] = 0
		}
		w.wordFlags[o] = 0
	}
}
