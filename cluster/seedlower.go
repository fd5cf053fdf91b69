package cluster

import "github.com/ufs-stream/ufs-stream/internal/kernel"

// lower writes to lowered[t] what D² of every row becomes with point t as a further centre.
// It has the bits of [kernel.Nearest], with and without a store.
func (s *seeder) lower(points matrix, lowered [][]float64) {
	switch {
	case s.store == nil:
		s.lowerAll(points, lowered)
	case s.drawn == 1 && points.Rows == 1: // the first centre, for which nothing can be screened
		s.store.distances(len(s.workers), points, func(int) int { return 0 }, lowered[0])
	default:
		s.lowerScreened(points, lowered)
	}
}

// lowerAll computes the distances of all rows from all points.
func (s *seeder) lowerAll(points matrix, lowered [][]float64) {
	count := points.Rows
	near := kernel.NewNearest(s.team, points, count)
	rows := min(blockRows(s.team, s.x.Cols), s.x.Rows)
	index, distance := make([]int32, rows*count), make([]float64, rows*count)
	for at := 0; at < s.x.Rows; at += rows {
		block := s.x.Sub(at, 0, min(rows, s.x.Rows-at), s.x.Cols)
		if s.unit != nil {
			block = s.unit.normalized(block)
		}
		near.To(index, distance, block)
		for i := range block.Rows {
			square := s.square[at+i]
			for q := i * count; q < (i+1)*count; q++ {
				lowered[index[q]][at+i] = min(square, distance[q])
			}
		}
	}
}

// lowerScreened is lowerAll by a store: it computes a distance only where it may be below
// what the row has.
func (s *seeder) lowerScreened(points matrix, lowered [][]float64) {
	t, sc := s.store, newScreen(s.store, points)
	tasks := (t.n + batchRows - 1) / batchRows
	share(s.workers, tasks, func(w *worker, task int) {
		w.at = w.at[:0]
		for i := task * batchRows; i < min((task+1)*batchRows, t.n); i++ {
			w.at = append(w.at, int32(i))
		}
		sc.search(w)
		for i, r := range w.at {
			square := s.square[r]
			var x []float64 // row r, once it is needed
			// A screened value v stands for ‖x‖² + 2v, which is off by slack at most.
			norm := t.norm[r]
			limit := (square*t.scale*t.scale - norm + float64(sc.slack(norm))) / 2
			for q, to := range lowered {
				to[r] = square
				if v := float64(w.values[q*valueRows+i]); v > limit {
					continue
				}
				if x == nil {
					x = w.near.row(t, int(r))
				}
				p := sc.point(q)
				d, _ := kernel.Squares(x, p, p)
				to[r] = min(square, d)
			}
		}
		w.at = w.at[:0]
	})
}

// groupRows is how many rows of columns are read together: as many values of a column lie in
// a line of the cache, so that they cost little more than one.
const groupRows = 8

// rowGroup is a worker's reader of single rows.
type rowGroup struct {
	from int // the first of the rows in buf; -1 at first
	buf  []float64
}

// row is row r of the store's x, padded, until the next call.
func (g *rowGroup) row(t *store, r int) []float64 {
	long, height := t.padded(), groupRows
	if t.byRows() {
		height = 1
	}
	if g.buf == nil {
		g.buf = make([]float64, height*long)
	}
	if from := r / height * height; from != g.from {
		t.rows(from, min(height, t.n-from), g.buf)
		g.from = from
	}
	return g.buf[(r-g.from)*long:][:long]
}
