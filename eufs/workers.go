package eufs

import "github.com/ufs-stream/ufs-stream/internal/kernel"

// worker has the memory that a worker needs for strips: four strips of h×d, and one of h×k.
type worker struct {
	team      *kernel.Team
	x, p, old []float64
	m         []float64
	lu        []float64
}

// pool assigns strips to workers.
type pool struct {
	layout
	workers int
	free    chan *worker
}

func newPool(workers int, l layout) *pool {
	p := &pool{l, min(workers, lanes), make(chan *worker, min(workers, lanes))}
	for range p.workers {
		p.free <- &worker{team: kernel.NewTeam(1), x: make([]float64, l.stripRows*l.d), p: make([]float64, l.stripRows*l.d),
			old: make([]float64, l.stripRows*l.d), m: make([]float64, l.stripRows*l.d), lu: make([]float64, l.stripRows*l.k)}
	}
	return p
}

// eachStrip calls visit for the strips of a block of h rows. The strips of a lane are visited in order, and the lanes
// in parallel.
func (p *pool) eachStrip(h int, visit func(w *worker, lane, from, h int)) {
	kernel.Each(p.workers, (h+p.laneRows-1)/p.laneRows, func(lane int) {
		w := <-p.free
		end := min(h, (lane+1)*p.laneRows)
		for from := lane * p.laneRows; from < end; from += p.stripRows {
			visit(w, lane, from, min(p.stripRows, end-from))
		}
		p.free <- w
	})
}

// laneSums is a d×k matrix and a few numbers that are summed up over rows, in lanes.
type laneSums struct {
	layout
	matrix  [lanes][]float64
	numbers [lanes][sumCount]float64
}

func newSums(l layout) *laneSums {
	s := &laneSums{layout: l}
	for i := range s.matrix {
		s.matrix[i] = make([]float64, l.d*l.k)
	}
	return s
}

func (s *laneSums) laneMatrix(i int) kernel.Matrix[float64] {
	return kernel.RowMajor(s.matrix[i], s.d, s.k, s.k)
}

func (s *laneSums) clearAll() {
	for i := range s.matrix {
		clear(s.matrix[i])
		s.numbers[i] = [sumCount]float64{}
	}
}

// sumMatrices adds up the matrices, in the memory of the first.
func (s *laneSums) sumMatrices() []float64 {
	for _, m := range s.matrix[1:] {
		kernel.Axpy(1, m, s.matrix[0])
	}
	return s.matrix[0]
}

func (s *laneSums) sumNumbers(i int) (v float64) {
	for l := range s.numbers {
		v += s.numbers[l][i]
	}
	return v
}
