package cluster

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// descent is Lloyd's iteration over the rows of a store, from one start. Its result has the same bits as passes over
// all rows, but by its bounds it searches only few rows again.
type descent struct {
	store   *store
	workers []*worker
	team    *kernel.Team
	centers matrix
	labels  []int32 // n; -1 at first
	sizes   []int64
	screen  *screen // of the centres
	bounds  *bounds
	sums    []float64 // c×k
	squares []float64 // n, for inertia
	ones    []float64 // see addAllRowsToSums
}

func (d *descent) layOut(l *room.Layout, t *store, c int) {
	d.screen, d.bounds = t.layOutScreen(l, c), layOutBounds(l, t.n, c)
	d.sums, d.squares = room.Slice[float64](l, c*t.k), room.Slice[float64](l, t.n)
}

// clusterMove is a row that changed its cluster.
type clusterMove struct{ row, from, to int32 }

// taskRows is the number of rows that a worker checks against their bounds in one task.
const taskRows = 1024

// newDescent returns a descent that reuses the memory of old, a finished descent or nil. It does not reuse the memory
// of old's result.
func newDescent(t *store, team *kernel.Team, workers []*worker, centers matrix, old *descent) *descent {
	d := &descent{store: t, workers: workers, team: team, centers: centers,
		labels: make([]int32, t.n), sizes: make([]int64, centers.Rows)}
	if old != nil {
		d.screen, d.bounds, d.sums, d.squares, d.ones = old.screen, old.bounds, old.sums, old.squares, old.ones
		d.bounds.resetBounds()
		clear(d.sums)
	} else {
		d.layOut(nil, t, centers.Rows)
	}
	for i := range d.labels {
		d.labels[i] = -1
	}
	return d
}

// assignRows updates labels, sums and sizes for the current centres, and reports whether any row changed its cluster.
func (d *descent) assignRows() bool {
	s := d.screen
	s.setCenters(d.centers)
	fresh := d.labels[0] < 0
	for _, w := range d.workers {
		w.moves = w.moves[:0]
	}
	tasks := (d.store.n + taskRows - 1) / taskRows
	runTasksOnWorkers(d.workers, tasks, func(w *worker, task int) {
		for i := task * taskRows; i < min((task+1)*taskRows, d.store.n); i++ {
			if !fresh && d.bounds.isOwnCenterStillNearest(i, d.labels[i]) {
				continue
			}
			if w.batch = append(w.batch, int32(i)); len(w.batch) == batchRows {
				d.reassignRowsOfBatch(w, s)
			}
		}
	})
	kernel.Each(len(d.workers), len(d.workers), func(i int) { d.reassignRowsOfBatch(d.workers[i], s) })
	return d.applyMovesOfRows()
}

func (d *descent) reassignRowsOfBatch(w *worker, s *screen) {
	if len(w.batch) == 0 {
		return
	}
	s.computeValues(w)
	c, width, groups := s.c, d.bounds.width, w.groupLeast[:d.bounds.count]
	const none = math.MaxFloat32
	for i, r := range w.batch {
		best, second, at := float32(none), float32(none), 0
		for j := range c {
			if v := w.values[j*valueRows+i]; v < second { // rarely true
				if v < best {
					best, second, at = v, best, j
				} else {
					second = v
				}
			}
		}
		slack := s.slack(d.store.norm[r])
		label, own, other := int32(at), best, second
		if second-best <= slack {
			if label, _ = s.nearestWithin(w, i, best+slack); int(label) != at {
				own, other = w.values[int(label)*valueRows+i], best
			}
		}
		if old := d.labels[r]; old != label {
			w.moves = append(w.moves, clusterMove{r, old, label})
			d.labels[r] = label
		}
		for g := range groups {
			least := w.values[g*width*valueRows+i]
			if g*width == int(label) {
				least = none
			}
			for j := g*width + 1; j < min((g+1)*width, c); j++ {
				if v := w.values[j*valueRows+i]; v < least && j != int(label) {
					least = v
				}
			}
			groups[g] = least
		}
		d.bounds.setRow(int(r), label, float32(d.store.norm[r]), slack, own, other, groups)
	}
	w.batch = w.batch[:0]
}

// runIterations moves the centres by Lloyd's iteration until it converges, as [runLloyd] does, but over the rows of the
// store. The inertia and the trace of the result are estimates. The second result bounds their error.
func (d *descent) runIterations(ctx context.Context, opt Options) (*Result, float64, error) {
	r := &Result{}
	var before matrix
	exact := math.NaN() // exact inertia of the last entry of the trace; NaN if not computed
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		d.assignRows()
		inertia, off := d.estimateInertia()
		r.Trace = append(r.Trace, inertia)
		r.Centers, r.Labels, r.Sizes, r.Inertia = Matrix(d.centers), d.labels, d.sizes, inertia
		moves := len(r.Trace) - 1
		next, moved, reseeded, err := d.nextCenters(opt)
		if err != nil {
			return nil, 0, err
		}
		small := false
		if moves > 0 && moved {
			last := r.Trace[moves-1]
			if drop := last - inertia; drop-2*off > opt.Tol*(last+off) {
				exact = math.NaN()
			} else {
				if math.IsNaN(exact) {
					exact = d.exactInertia(before, d.labelsBeforeMoves())
				}
				now := d.exactInertia(d.centers, d.labels)
				small = exact-now <= opt.Tol*exact
				exact = now
			}
		}
		if r.Converged = !moved || (small && reseeded == 0); r.Converged || moves == opt.MaxIter {
			return r, off, nil
		}
		steps := make([]float64, next.Rows)
		for j := range steps {
			steps[j] = d.store.scale * math.Sqrt(squaredDistance(next.Data[j*d.store.k:][:d.store.k], d.centers.Data[j*d.store.k:][:d.store.k]))
		}
		d.bounds.addMovesToPaths(steps)
		before, d.centers = d.centers, next
	}
}

// runRestart calls iterate, and computes the exact inertia if the result may be better than best.
func (d *descent) runRestart(ctx context.Context, opt Options, number int, best *Result) (*Result, error) {
	r, off, err := d.runIterations(ctx, opt)
	if err != nil {
		return nil, err
	}
	r.Restart = number
	if best == nil || r.Inertia-off <= best.Inertia {
		r.Inertia = d.exactInertia(matrix(r.Centers), r.Labels)
		r.Trace[len(r.Trace)-1] = r.Inertia
	}
	return r, nil
}

func (d *descent) labelsBeforeMoves() []int32 {
	labels := append([]int32(nil), d.labels...)
	for _, w := range d.workers {
		for _, m := range w.moves {
			labels[m.row] = m.from
		}
	}
	return labels
}

// nextCenters returns the means of the clusters as new centres, with the other results of [Pass.nextCenters]. If a
// cluster is empty, it makes a [Pass] over all rows.
func (d *descent) nextCenters(opt Options) (matrix, bool, int, error) {
	for _, n := range d.sizes {
		if n == 0 {
			p := newPass(d.team, d.centers, opt.Spherical)
			if err := p.Add(nil, Matrix(d.store.x)); err != nil {
				return d.centers, false, 0, err
			}
			return p.nextCenters()
		}
	}
	p := Pass{Sizes: d.sizes, centers: d.centers, sums: d.sums}
	return p.nextCenters()
}
