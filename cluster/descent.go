package cluster

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// descent is Lloyd's iteration over a store from one start. It finds what passes over all
// rows find, to the last bit, without looking at most rows.
type descent struct {
	t       *store
	workers []*worker
	team    *kernel.Team
	centers matrix
	labels  []int32 // n; -1 at first
	bounds  *bounds
	sums    []float64 // c×k
	sizes   []int64
	squares []float64 // n, for inertia
}

// move is a row that changed its cluster.
type move struct{ row, from, to int32 }

// taskRows is how many rows' bounds a worker looks at in one task.
const taskRows = 1024

// newDescent reuses the memory of an old descent that has ended, or nil, except what its
// result refers to.
func newDescent(t *store, team *kernel.Team, workers []*worker, centers matrix, old *descent) *descent {
	d := &descent{t: t, workers: workers, team: team, centers: centers,
		labels: make([]int32, t.n), sizes: make([]int64, centers.Rows)}
	if old != nil {
		d.bounds, d.sums, d.squares = old.bounds, old.sums, old.squares
		d.bounds.reset()
		clear(d.sums)
	} else {
		d.bounds, d.sums = newBounds(t.n, centers.Rows), make([]float64, centers.Rows*t.k)
	}
	for i := range d.labels {
		d.labels[i] = -1
	}
	return d
}

// assign updates labels, sums and sizes for the current centres, and reports whether any
// row changed its cluster.
func (d *descent) assign() bool {
	s := newScreen(d.t, d.centers)
	fresh := d.labels[0] < 0
	for _, w := range d.workers {
		w.moves = w.moves[:0]
		w.group = make([]float32, d.bounds.count)
	}
	tasks := (d.t.n + taskRows - 1) / taskRows
	share(d.workers, tasks, func(w *worker, task int) {
		for i := task * taskRows; i < min((task+1)*taskRows, d.t.n); i++ {
			if !fresh && d.bounds.holds(i, d.labels[i]) {
				continue
			}
			if w.at = append(w.at, int32(i)); len(w.at) == batchRows {
				d.decide(w, s)
			}
		}
	})
	kernel.Each(len(d.workers), len(d.workers), func(i int) { d.decide(d.workers[i], s) })
	return d.follow()
}

// decide finds the clusters of the rows w.at, and empties it.
func (d *descent) decide(w *worker, s *screen) {
	if len(w.at) == 0 {
		return
	}
	s.search(w)
	c, width, groups := s.c, d.bounds.width, w.group[:d.bounds.count]
	const none = math.MaxFloat32
	for i, r := range w.at {
		best, second, at := float32(none), float32(none), 0
		for j := range c {
			if v := w.values[j*valueRows+i]; v < second { // rarely
				if v < best {
					best, second, at = v, best, j
				} else {
					second = v
				}
			}
		}
		slack := s.slack(d.t.norm[r])
		label, own, other := int32(at), best, second
		if second-best <= slack {
			if label, _ = s.settle(w, i, best+slack); int(label) != at {
				own, other = w.values[int(label)*valueRows+i], best
			}
		}
		if old := d.labels[r]; old != label {
			w.moves = append(w.moves, move{r, old, label})
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
		d.bounds.set(int(r), label, float32(d.t.norm[r]), slack, own, other, groups)
	}
	w.at = w.at[:0]
}

// run is [lloyd] over the store. The result's inertia and trace are estimates, off by
// no more than the second result.
func (d *descent) run(ctx context.Context, opt Options) (*Result, float64, error) {
	r := &Result{}
	var before matrix
	exact := math.NaN() // the exact inertia of the last trace, NaN if not computed
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		d.assign()
		inertia, off := d.estimate()
		r.Trace = append(r.Trace, inertia)
		r.Centers, r.Labels, r.Sizes, r.Inertia = Matrix(d.centers), d.labels, d.sizes, inertia
		moves := len(r.Trace) - 1
		next, moved, reseeded, err := d.next(opt)
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
					exact = d.inertia(before, d.labelsBefore())
				}
				now := d.inertia(d.centers, d.labels)
				small = exact-now <= opt.Tol*exact
				exact = now
			}
		}
		if r.Converged = !moved || (small && reseeded == 0); r.Converged || moves == opt.MaxIter {
			return r, off, nil
		}
		steps := make([]float64, next.Rows)
		for j := range steps {
			steps[j] = d.t.scale * math.Sqrt(squaredDistance(next.Data[j*d.t.k:][:d.t.k], d.centers.Data[j*d.t.k:][:d.t.k]))
		}
		d.bounds.moved(steps)
		before, d.centers = d.centers, next
	}
}

// restart is run, and makes the result's inertia exact where the result may beat best.
func (d *descent) restart(ctx context.Context, opt Options, number int, best *Result) (*Result, error) {
	r, off, err := d.run(ctx, opt)
	if err != nil {
		return nil, err
	}
	r.Restart = number
	if best == nil || r.Inertia-off <= best.Inertia {
		r.Inertia = d.inertia(matrix(r.Centers), r.Labels)
		r.Trace[len(r.Trace)-1] = r.Inertia
	}
	return r, nil
}

// labelsBefore returns the labels before the last assign.
func (d *descent) labelsBefore() []int32 {
	labels := append([]int32(nil), d.labels...)
	for _, w := range d.workers {
		for _, m := range w.moves {
			labels[m.row] = m.from
		}
	}
	return labels
}

// next is [Pass.next]; where a cluster is empty it makes a real pass.
func (d *descent) next(opt Options) (matrix, bool, int, error) {
	for _, n := range d.sizes {
		if n == 0 {
			p := newPass(d.team, d.centers, opt.Spherical)
			if err := p.Add(nil, Matrix(d.t.x)); err != nil {
				return d.centers, false, 0, err
			}
			return p.next()
		}
	}
	p := Pass{Sizes: d.sizes, centers: d.centers, sums: d.sums}
	return p.next()
}
