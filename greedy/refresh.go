package greedy

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// spans cuts the rows of the upper triangle of G into runs whose part of it fits
// into the given number of float64s: one pass over A computes a run.
func spans(d int, numbers int64) [][2]int {
	var runs [][2]int
	for from := 0; from < d; {
		to := min(d, from+int(max(numbers/int64(d-from), 1)))
		runs = append(runs, [2]int{from, to})
		from = to
	}
	return runs
}

// residuals computes fᵢ = Σⱼ Rᵢⱼ², R = G − Σ ω_r ω_rᵀ, for all i; reachᵢ = Σⱼ Gᵢⱼ² and
// the diagonal of G. j runs over the features not chosen. G comes in runs of rows of
// its upper triangle, as many as fit into numbers float64s; before the first run's
// pass is over, also sees every block. Sums run over j in order whatever the runs
// are, so that f has the same bits under any memory limit.
func (s *streamed) residuals(ctx context.Context, what string, numbers int64, also func(*block)) (f, reach, diag []float64, err error) {
	d := s.rows.d
	f, reach, diag = make([]float64, d), make([]float64, d), make([]float64, d)
	runs := spans(d, numbers)
	largest := 0
	for _, run := range runs {
		largest = max(largest, (run[1]-run[0])*(d-run[0]))
	}
	acc := make([]float64, largest)
	for n, run := range runs {
		from, to := run[0], run[1]
		clear(acc)
		err := s.rows.pass(ctx, fmt.Sprintf("%s, features %d to %d of %d", what, from+1, to, d), func(b *block) {
			s.rows.addTriangle(b, acc, from, to)
			if n == 0 && also != nil {
				also(b)
			}
		})
		if err != nil {
			return nil, nil, nil, err
		}
		s.rows.finishTriangle(acc, from, to)
		for i := from; i < to; i++ {
			diag[i] = acc[(i-from)*(d-from)+i-from]
		}
		s.squareTo(reach, acc, from, to)
		if len(s.omegas) == 0 { // nothing is taken out yet: f is the same numbers
			continue
		}
		kernel.Each(s.rows.workers, to-from, func(i int) {
			for _, w := range s.omegas {
				kernel.Axpy(-w[from+i], w[from:], acc[i*(d-from):(i+1)*(d-from)])
			}
		})
		s.squareTo(f, acc, from, to)
	}
	if len(s.omegas) == 0 {
		copy(f, reach)
	}
	return f, reach, diag, nil
}

// squareTo adds the squares of rows [from, to) of a symmetric matrix to the sums of
// its rows, given the rows from the diagonal on: entry (i, j) counts for i and j.
func (s *streamed) squareTo(sums, acc []float64, from, to int) {
	d := s.rows.d
	ld := d - from
	kernel.Each(s.rows.workers, tasks(ld, colsPerTask), func(task int) {
		lo, hi := span(task, colsPerTask, ld)
		for i := range to - from {
			if s.isChosen(from + i) {
				continue
			}
			row := acc[i*ld : (i+1)*ld]
			if lo <= i && i < hi {
				for j := i; j < ld; j++ {
					if !s.isChosen(from + j) {
						sums[from+i] += row[j] * row[j]
					}
				}
			}
			for j := max(lo, i+1); j < hi; j++ {
				sums[from+j] += row[j] * row[j]
			}
		}
	})
}

func (s *streamed) isChosen(i int) bool { return s.criterion != nil && s.chosen[i] }
