package eufs

import "github.com/ufs-stream/ufs-stream/internal/kernel"

// worker is the memory of a worker on strips: four strips of h×d, one of h×k.
type worker struct {
	team      *kernel.Team
	x, p, old []float64
	m         []float64
	lu        []float64
}

// pool hands strips to workers.
type pool struct {
	layout
	workers int
	free    chan *worker
}

func newPool(workers int, l layout) *pool {
	p := &pool{l, min(workers, lanes), make(chan *worker, min(workers, lanes))}
	for range p.workers {
		p.free <- &worker{team: kernel.NewTeam(1), x: make([]float64, l.strip*l.d), p: make([]float64, l.strip*l.d),
			old: make([]float64, l.strip*l.d), m: make([]float64, l.strip*l.d), lu: make([]float64, l.strip*l.k)}
	}
	return p
}

// strips calls do for the strips of a block of h rows: in a lane one after the other, in
// order, and lanes side by side.
func (p *pool) strips(h int, do func(w *worker, lane, from, h int)) {
	kernel.Each(p.workers, (h+p.lane-1)/p.lane, func(lane int) {
		w := <-p.free
		end := min(h, (lane+1)*p.lane)
		for from := lane * p.lane; from < end; from += p.strip {
			do(w, lane, from, min(p.strip, end-from))
		}
		p.free <- w
	})
}

// sums is a d×k matrix and a few numbers that are summed up over rows, in lanes.
type sums struct {
	layout
	matrix  [lanes][]float64
	numbers [lanes][scalars]float64
}

func newSums(l layout) *sums {
	s := &sums{layout: l}
	for i := range s.matrix {
		s.matrix[i] = make([]float64, l.d*l.k)
	}
	return s
}

func (s *sums) lane(i int) kernel.Matrix[float64] {
	return kernel.RowMajor(s.matrix[i], s.d, s.k, s.k)
}

func (s *sums) clear() {
	for i := range s.matrix {
		clear(s.matrix[i])
		s.numbers[i] = [scalars]float64{}
	}
}

// total adds up the matrices, in the memory of the first.
func (s *sums) total() []float64 {
	for _, m := range s.matrix[1:] {
		kernel.Axpy(1, m, s.matrix[0])
	}
	return s.matrix[0]
}

// number adds up one of the numbers.
func (s *sums) number(i int) (v float64) {
	for l := range s.numbers {
		v += s.numbers[l][i]
	}
	return v
}
