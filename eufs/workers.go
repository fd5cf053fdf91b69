package eufs

import (
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// passWorker has a worker's memory for a strip of h rows: four h×d matrices, and lu, h×k, for rows of the products of a
// laplacianMultiplier.
type passWorker struct {
	team      *kernel.Team
	x, p, old []float64
	m         []float64
	lu        []float64
}

// workerPool assigns strips, i.e. the rows processed at a time (see layout), to workers.
type workerPool struct {
	layout
	workers int
	free    chan *passWorker
}

func newWorkerPool(l *room.Layout, workers int, shape layout) *workerPool {
	p := &workerPool{shape, min(workers, laneCount), make(chan *passWorker, min(workers, laneCount))}
	for range p.workers {
		strip := func(columns int) []float64 { return room.Slice[float64](l, shape.stripRows*columns) }
		p.free <- &passWorker{kernel.NewTeam(1), strip(shape.d), strip(shape.d), strip(shape.d), strip(shape.d), strip(shape.k)}
		l.Add(kernel.TeamBytes(shape.d, shape.d))
	}
	return p
}

// eachStrip calls visit for the strips of a block of h rows (see layout), in order within a lane, lanes in parallel.
func (p *workerPool) eachStrip(h int, visit func(w *passWorker, lane, from, h int)) {
	kernel.Each(p.workers, (h+p.laneRows-1)/p.laneRows, func(lane int) {
		w := <-p.free
		end := min(h, (lane+1)*p.laneRows)
		for from := lane * p.laneRows; from < end; from += p.stripRows {
			visit(w, lane, from, min(p.stripRows, end-from))
		}
		p.free <- w
	})
}

// sumsByLane adds up a d×k matrix and sumCount numbers over rows, separately for each lane (see layout).
type sumsByLane struct {
	layout
	matrix  [laneCount][]float64
	numbers [laneCount][sumCount]float64
}

func newSumsByLane(l *room.Layout, shape layout) *sumsByLane {
	s := &sumsByLane{layout: shape}
	for i := range s.matrix {
		s.matrix[i] = room.Slice[float64](l, shape.d*shape.k)
	}
	return s
}

func (s *sumsByLane) matrixOfLane(lane int) kernel.Matrix[float64] {
	return kernel.RowMajor(s.matrix[lane], s.d, s.k, s.k)
}

func (s *sumsByLane) clearSums() {
	for i := range s.matrix {
		clear(s.matrix[i])
		s.numbers[i] = [sumCount]float64{}
	}
}

func (s *sumsByLane) sumMatrices() []float64 {
	for _, m := range s.matrix[1:] {
		kernel.Axpy(1, m, s.matrix[0])
	}
	return s.matrix[0]
}

func (s *sumsByLane) sumNumberOverLanes(number int) (v float64) {
	for l := range s.numbers {
		v += s.numbers[l][number]
	}
	return v
}
