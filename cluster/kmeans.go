package cluster

import (
	"context"
	"fmt"
	"iter"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Result is a clustering. Labels, Sizes and Inertia follow from Centers: each row belongs to the nearest centre. After
// convergence, each centre is also the mean of its rows, up to the tolerance.
type Result struct {
	Centers Matrix  // c×k, row-major
	Labels  []int32 // n; nil from Refine
	Sizes   []int64 // number of rows of each cluster; 0 only if there are fewer distinct rows, or if iterations ran out
	Inertia float64
	// Trace is the inertia at the start and after each move of the centres. It can rise only by rounding. KMeans computes
	// all entries except the last from the sums and sizes of the clusters, with an error of about 10⁻¹² of the first
	// inertia, or more if values are far larger than their differences.
	Trace     []float64
	Converged bool // the iteration ended before MaxIter
	Restart   int  // number of the best restart, counted from 0
}

// KMeans clusters n×k rows in any layout (column-major is fastest), by greedy k-means++ and Lloyd's iteration. It is
// restarted with other seeds. Of restarts with equal inertia the earliest is returned.
//
// Choosing c first centres costs 2 + ⌊ln c⌋ searches of all rows, each with 2·n·c·k flops in float32, and the first
// move of the centres costs one more search. Each later move costs 2·c·k flops for every row that may have changed its
// cluster (see bounds). For mnist10k and 10 clusters, a move searched a quarter of the rows, on average over 38 moves.
// KMeans is fastest for integers and for float32 values of similar magnitude: their sums do not round, and so can be
// updated.
//
// In addition to the rows, KMeans holds 4·k + 8 bytes a row, which all restarts share, and about 100 + 4·min(c, 64)
// bytes a row for each of the min(Restarts, Threads) restarts in progress. With more than 64 clusters in fewer than 256
// columns, or with Spherical set, every move searches all rows, and only about 80 bytes a row are held.
//
// The error is a *stream.UsageError, or wraps ErrNotFinite, ErrOverflow, ErrNoDirection or the context's error.
func KMeans(ctx context.Context, rows Matrix, opt Options) (*Result, error) {
	x := matrix(rows)
	if err := opt.Validate(x.Rows, x.Cols); err != nil {
		return nil, err
	}
	opt = opt.withDefaults()
	if err := checkFinite(opt.Threads, x); err != nil {
		return nil, err
	}
	if opt.Balanced {
		return runHalving(ctx, x, opt)
	}
	var t *store
	if !opt.Spherical {
		t = newStore(opt.Threads, x)
	}
	// Parallel restarts never wait for each other, while the workers of one restart do in every pass.
	parallel := min(opt.Restarts, opt.Threads)
	best := make([]*Result, parallel)
	errs := make([]error, parallel)
	next := make(chan int, opt.Restarts)
	for r := range opt.Restarts {
		next <- r
	}
	close(next)
	kernel.Each(parallel, parallel, func(w int) {
		team := kernel.NewTeam((opt.Threads + w) / parallel)
		var workers []*worker
		if t != nil {
			for range team.Threads() {
				workers = append(workers, newWorker(t))
			}
		}
		run := func(r int, _ *Result) (*Result, error) { return plainRestart(ctx, team, x, t, workers, opt, r) }
		if t != nil && isDescentFaster(opt.Clusters, x.Cols) {
			var d *descent
			run = func(r int, best *Result) (*Result, error) {
				centers, err := firstCenters(ctx, team, x, nil, t, workers, opt, r)
				if err != nil {
					return nil, err
				}
				d = newDescent(t, team, workers, centers, d)
				return d.runRestart(ctx, opt, r, best)
			}
		}
		for r := range next {
			result, err := run(r, best[w])
			if err != nil {
				errs[w] = err
				return
			}
			if best[w] == nil || isBetter(result, best[w]) {
				best[w] = result
			}
		}
	})
	var winner *Result
	for w := range parallel {
		if errs[w] != nil {
			return nil, errs[w]
		}
		if r := best[w]; r != nil && (winner == nil || isBetter(r, winner)) {
			winner = r
		}
	}
	return winner, nil
}

func isBetter(a, b *Result) bool {
	return a.Inertia < b.Inertia || (a.Inertia == b.Inertia && a.Restart < b.Restart)
}

// plainRestart returns the clustering of one restart of k-means, by passes over all rows. It uses the store t and its
// workers, which may be nil, only to choose the first centres.
func plainRestart(ctx context.Context, team *kernel.Team, x matrix, t *store, workers []*worker, opt Options, number int) (*Result, error) {
	var unit *rowNormalizer
	if opt.Spherical {
		unit = newRowNormalizer(team, rowsPerBlock(team.Threads(), x.Cols), x.Cols)
	}
	centers, err := firstCenters(ctx, team, x, unit, t, workers, opt, number)
	if err != nil {
		return nil, err
	}
	labels := make([]int32, x.Rows)
	r, err := runLloyd(ctx, team, centers, opt, func(p *Pass) error { return p.Add(labels, Matrix(x)) })
	if err != nil {
		return nil, err
	}
	r.Labels, r.Restart = labels, number
	return r, nil
}

// Refine moves the c×k centres by Lloyd's iteration over rows that are read anew for every move. The sequence rows must
// yield all rows in order each time, in matrices of k columns that are valid until the next iteration. Memory does not
// grow with the number of rows, so Refine returns no labels; a [Pass] over the final centres computes them. From the
// first centres of KMeans it makes the same steps to the last bit, and its Trace is exact. Errors are the errors of
// KMeans, with the number of the row in its pass, or errors of rows.
func Refine(ctx context.Context, rows iter.Seq2[Matrix, error], centers Matrix, opt Options) (*Result, error) {
	faults := opt.faultsOfIteration()
	if centers.Rows < 1 || centers.Cols < 1 {
		faults.Addf("there are %d centres in %d columns", centers.Rows, centers.Cols)
	}
	if opt.Clusters != 0 && opt.Clusters != centers.Rows {
		faults.Addf("clusters = %d, but there are %d centres", opt.Clusters, centers.Rows)
	}
	if err := faults.Err(""); err != nil {
		return nil, err
	}
	opt = opt.withDefaults()
	if err := checkFinite(opt.Threads, matrix(centers)); err != nil {
		return nil, fmt.Errorf("centres: %w", err)
	}
	team := kernel.NewTeam(opt.Threads)
	c, k := centers.Rows, centers.Cols
	if opt.Spherical {
		centers = Matrix(newRowNormalizer(team, c, k).normalizeRows(matrix(centers)))
	}
	start := kernel.RowMajor(make([]float64, c*k), c, k, k)
	kernel.Copy(start, matrix(centers))
	return runLloyd(ctx, team, start, opt, func(p *Pass) error {
		for x, err := range rows {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = p.Add(nil, x)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func runLloyd(ctx context.Context, team *kernel.Team, centers matrix, opt Options, addAllRows func(*Pass) error) (*Result, error) {
	p := newPass(team, centers, opt.Spherical)
	r := &Result{}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := addAllRows(p); err != nil {
			return nil, err
		}
		if p.Inertia-p.Inertia != 0 {
			return nil, fmt.Errorf("cluster: %w", ErrOverflow)
		}
		r.Centers, r.Sizes, r.Inertia = Matrix(p.centers), p.Sizes, p.Inertia
		r.Trace = append(r.Trace, p.Inertia)
		moves := len(r.Trace) - 1
		next, moved, reseeded, err := p.nextCenters()
		if err != nil {
			return nil, err
		}
		small := moves > 0 && r.Trace[moves-1]-p.Inertia <= opt.Tol*r.Trace[moves-1]
		if !moved || (small && reseeded == 0) {
			r.Converged = true
			return r, nil
		}
		if moves == opt.MaxIter {
			return r, nil
		}
		p.startPass(next)
	}
}

func checkFinite(workers int, x matrix) error {
	const rows = 4096
	errs := make([]error, (x.Rows+rows-1)/rows)
	kernel.Each(workers, len(errs), func(t int) {
		var zero [rows]float64 // NaN for rows with NaN or infinities
		from, to := t*rows, min((t+1)*rows, x.Rows)
		for j := range x.Cols {
			for i := from; i < to; i++ {
				v := x.Data[i*x.RowStride+j*x.ColStride]
				zero[i-from] += v - v
			}
		}
		for i := from; i < to; i++ {
			if zero[i-from] != 0 {
				errs[t] = errBadRow(x, i, 0)
				return
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
