package triangle

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/greedy/internal/tasks"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// ResidualNorms computes fᵢ = Σⱼ Rᵢⱼ² with R = G − Σ ω_r ω_rᵀ for all i, reachᵢ = Σⱼ Gᵢⱼ², and the diagonal of G. The
// sums are over the features j that are not chosen. G is computed in runs of consecutive rows of its upper triangle,
// each as long as fits into maxNumbers float64s. omegas are the vectors ω_r of the chosen features. If sketches is true,
// the pass of the first run also adds the rows to the sketch. In any runs, terms are added in the order of j, so that f has the same bits under any memory limit.
func (s *Passes) ResidualNorms(ctx context.Context, omegas [][]float64, sketches bool) (f, reach, diag []float64, err error) {
	d := s.Rows.D
	f, reach, diag = make([]float64, d), make([]float64, d), make([]float64, d)
	runs := CutRuns(d, s.MaxNumbers)
	largest := 0
	for _, run := range runs {
		largest = max(largest, (run[1]-run[0])*(d-run[0]))
	}
	acc := room.MakeSlice[float64](largest)
	for n, run := range runs {
		from, to := run[0], run[1]
		finish := func() {
			for i := from; i < to; i++ {
				diag[i] = acc[(i-from)*(d-from)+i-from]
			}
			s.addRowSquares(reach, acc, from, to)
			if len(omegas) == 0 { // without choices f is equal to reach
				return
			}
			kernel.Each(s.Rows.Workers, to-from, func(i int) {
				for _, w := range omegas {
					kernel.Axpy(-w[from+i], w[from:], acc[i*(d-from):(i+1)*(d-from)])
				}
			})
			s.addRowSquares(f, acc, from, to)
		}
		name := fmt.Sprintf("%s, features %d to %d of %d", s.Purpose, from+1, to, d)
		if err := s.computeTriangle(ctx, name, acc, from, to, sketches && n == 0, finish, f, reach, diag); err != nil {
			return nil, nil, nil, err
		}
	}
	if len(omegas) == 0 {
		copy(f, reach)
	}
	return f, reach, diag, nil
}

// addRowSquares adds the squares of the entries in rows [from, to) of a symmetric matrix to sums, which has one sum for
// each row of the matrix. acc has rows [from, to) from the diagonal on, so entry (i, j) counts for both i and j. Chosen
// features do not count, and their entries become 0. Every sum adds its terms in the order of the features. Four sums
// are computed at a time, because each addition waits for the previous one in its sum: at 100,000 features this is 2.5
// times as fast as one by one.
func (s *Passes) addRowSquares(sums, acc []float64, from, to int) {
	ld, n := s.Rows.D-from, to-from
	s.clearChosenEntries(acc, from, to)
	kernel.Each(s.Rows.Workers, tasks.TaskCount(ld, tasks.ColsPerTask), func(task int) {
		lo, hi := tasks.TaskRange(task, tasks.ColsPerTask, ld)
		i, out := 0, sums[from+lo:from+hi]
		for ; i+4 <= min(n, lo); i += 4 {
			a, b, c, d := acc[i*ld:][lo:hi], acc[(i+1)*ld:][lo:hi], acc[(i+2)*ld:][lo:hi], acc[(i+3)*ld:][lo:hi]
			for j, x := range a {
				out[j] = out[j] + float64(x*x) + float64(b[j]*b[j]) + float64(c[j]*c[j]) + float64(d[j]*d[j])
			}
		}
		for ; i < n; i++ {
			row := acc[i*ld : (i+1)*ld]
			for j := max(lo, i+1); j < hi; j++ {
				sums[from+j] += float64(row[j] * row[j])
			}
		}
	})
	kernel.Each(s.Rows.Workers, tasks.TaskCount(n, 4), func(task int) {
		lo, hi := tasks.TaskRange(task, 4, n)
		for i := lo; i < hi; i++ { // columns before the first one in which all four rows have entries
			for _, x := range acc[i*ld+i : i*ld+min(lo+4, ld)] {
				sums[from+i] += float64(x * x)
			}
		}
		if lo+4 > n {
			for i := lo; i < hi; i++ {
				for _, x := range acc[i*ld+min(lo+4, ld) : (i+1)*ld] {
					sums[from+i] += float64(x * x)
				}
			}
			return
		}
		out := sums[from+lo:][:4]
		p, q, r, t := out[0], out[1], out[2], out[3]
		a, b, c, d := acc[lo*ld:][lo+4:ld], acc[(lo+1)*ld:][lo+4:ld], acc[(lo+2)*ld:][lo+4:ld], acc[(lo+3)*ld:][lo+4:ld]
		for j, x := range a {
			p += float64(x * x)
			q += float64(b[j] * b[j])
			r += float64(c[j] * c[j])
			t += float64(d[j] * d[j])
		}
		out[0], out[1], out[2], out[3] = p, q, r, t
	})
}

func (s *Passes) clearChosenEntries(acc []float64, from, to int) {
	ld := s.Rows.D - from
	for j, gone := range s.Chosen {
		if !gone || j < from {
			continue
		}
		for i := range to - from {
			acc[i*ld+j-from] = 0
		}
		if j < to {
			clear(acc[(j-from)*ld : (j-from+1)*ld])
		}
	}
}
