package triangle

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/ufs-stream/ufs-stream/greedy/internal/scan"
	"github.com/ufs-stream/ufs-stream/greedy/internal/tasks"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
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

// CanStartByEntries reports whether f⁰, the initial f of the criterion, can be computed from the entries of sparse
// rows. The profile must show that the means of the features are not far above their deviations.
func CanStartByEntries(r *scan.Reader) bool {
	std, d := &r.Std, r.D
	sum := make([]float64, d)
	for k := range sum {
		sum[k] = std.Weight * std.Mean[k] * std.Factor[k]
	}
	o := newMeanTerm(r.Shift, sum, std.Weight, nil)
	for i := range d {
		deviation, mean := std.Std[i]*std.Factor[i], (std.Mean[i]-std.Shift[i])*std.Factor[i]
		ownSquare := std.Weight * (deviation*deviation + mean*mean)
		if _, size := o.rowSquares(i); !(size <= maxMeanRatio*ownSquare*ownSquare) {
			return false
		}
	}
	return true
}

// StartByEntries computes the same as [Passes.ResidualNorms] before anything is chosen. It may be called if
// CanStartByEntries is true. size[i] is an upper bound of the sum of the absolute values of the terms of f[i]. The
// terms of a feature are added in one order, which depends neither on the runs of features (see Runs) nor on
// how the rows of g are stored.
func (s *Passes) StartByEntries(ctx context.Context) (f, diag, size []float64, err error) {
	d, r := s.Rows.D, s.Rows
	f, diag, size = make([]float64, d), make([]float64, d), make([]float64, d)
	var o *meanTerm
	if r.BlockLimit == 0 { // rows that will stay in memory
		if err := r.RunPass(ctx, scan.Pass{Purpose: s.Purpose, AddBlock: func(*scan.Block) {}}); err != nil {
			return nil, nil, nil, err
		}
	}
	if r.InMemory {
		o = newMeanTerm(r.Shift, r.Sum, r.Weight, s.Chosen)
		err = addInMemoryTerms(ctx, r, o, s.Chosen, f, diag)
	} else {
		o, err = s.addTermsByPasses(ctx, f, diag)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	for i := range d {
		squares, terms := o.rowSquares(i)
		f[i] += squares
		size[i] = f[i] + 2*terms
		if s.Chosen != nil && s.Chosen[i] {
			f[i] = 0
		}
	}
	return f, diag, size, nil
}

func (s *Passes) addTermsByPasses(ctx context.Context, f, diag []float64) (*meanTerm, error) {
	d, r := s.Rows.D, s.Rows
	runs := CutRuns(d, s.MaxNumbers)
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
		add, rest := s.addWithSketch(sketches, func(b *scan.Block) { r.AddTriangle(b, acc, from, to) })
		err := r.RunPass(ctx, scan.Pass{Purpose: fmt.Sprintf("%s, features %d to %d of %d", s.Purpose, from+1, to, d), Sums: append(rest, acc), AddBlock: add, Finish: func() {
			if sketches {
				s.Sketch.RemoveShift(r)
			}
			s.addTermsOfRun(acc, newMeanTerm(r.Shift, r.Sum, r.Weight, s.Chosen), from, to, f, diag)
		}, Outputs: append(rest, f, diag)})
		if err != nil {
			return nil, err
		}
	}
	return newMeanTerm(r.Shift, r.Sum, r.Weight, s.Chosen), nil
}

func (s *Passes) addTermsOfRun(acc []float64, o *meanTerm, from, to int, f, diag []float64) {
	r, ld := s.Rows, s.Rows.D-from
	kernel.Each(r.Workers, to-from, func(i int) {
		row := acc[i*ld : (i+1)*ld]
		diag[from+i] = row[i] - o.entry(from+i, from+i)
		for j := i; j < ld; j++ {
			if g := row[j]; g != 0 {
				row[j] = float64(g * (g - 2*o.entry(from+i, from+j)))
			}
		}
	})
	s.clearChosenEntries(acc, from, to)
	kernel.Each(r.Workers, tasks.TaskCount(ld, tasks.ColsPerTask), func(task int) {
		lo, hi := tasks.TaskRange(task, tasks.ColsPerTask, ld)
		for i := range to - from {
			row := acc[i*ld : (i+1)*ld]
			for j := max(lo, i+1); j < hi; j++ {
				f[from+j] += row[j]
			}
		}
	})
	kernel.Each(r.Workers, to-from, func(i int) {
		for _, q := range acc[i*ld+i : (i+1)*ld] {
			f[from+i] += q
		}
	})
}

const (
	// listEntriesPerFeature·d is the number of entries for which all lists together have room. A list is a GramRow.
	listEntriesPerFeature = 4
	// maxListWorkers is the largest number of workers that make lists. Each has a row of d numbers.
	maxListWorkers = 8
	// denseShare: a row of g with more than d/denseShare products is computed as a dense row and scanned from end to end.
	denseShare = 4
	// listStrips is the number of strips of features to which lists are added in parallel.
	listStrips = 64
)

// addInMemoryTerms adds to f and diag the terms of the rows that are in memory. The lists in use hold at most as many
// numbers as outofcore.minGramRows rows of G.
func addInMemoryTerms(ctx context.Context, r *scan.Reader, o *meanTerm, chosen []bool, f, diag []float64) error {
	d := r.D
	at, value := make([]int32, listEntriesPerFeature*d), make([]float64, listEntriesPerFeature*d)
	var lists []scan.GramRow
	var products []int
	workers := min(r.Workers, maxListWorkers)
	scratch := make([]*scan.RowScratch, workers)
	for w := range scratch {
		scratch[w] = scan.NewRowScratch(d)
	}
	for from := 0; from < d; {
		// The next batch has as many features as the lists have room for, by the numbers of products, and at least one.
		to, used := from, 0
		for products, lists = products[:0], lists[:0]; to < d; to++ {
			n := r.Sparse.ProductCount(to)
			end := used + min(n, d-to)
			if end > len(at) {
				break
			}
			products, lists = append(products, n), append(lists, scan.GramRow{At: at[used:used:end], Value: value[used:used:end]})
			used = end
		}
		var next atomic.Int64
		kernel.Each(workers, workers, func(w int) {
			for i := int(next.Add(1)) - 1; i < to-from; i = int(next.Add(1)) - 1 {
				row := &lists[i]
				r.Sparse.GramRowFrom(scratch[w], from+i, products[i] > d/denseShare, row)
				diag[from+i] = -o.entry(from+i, from+i)
				if len(row.At) > 0 && int(row.At[0]) == from+i {
					diag[from+i] += row.Value[0]
				}
				for e, j := range row.At {
					g := row.Value[e]
					row.Value[e] = float64(g * (g - 2*o.entry(from+i, int(j))))
					if chosen != nil && (chosen[j] || chosen[from+i]) {
						row.Value[e] = 0
					}
				}
			}
		})
		wide := (d - from + listStrips - 1) / listStrips
		kernel.Each(r.Workers, listStrips, func(task int) {
			lo, hi := from+task*wide, min(d, from+(task+1)*wide)
			for i := range to - from {
				row := &lists[i]
				first := max(lo, from+i+1)
				e, _ := slices.BinarySearch(row.At, int32(first))
				for ; e < len(row.At) && int(row.At[e]) < hi; e++ {
					f[row.At[e]] += row.Value[e]
				}
			}
		})
		kernel.Each(r.Workers, to-from, func(i int) {
			for _, q := range lists[i].Value {
				f[from+i] += q
			}
		})
		if from = to; ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
