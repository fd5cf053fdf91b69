package cluster

import "github.com/ufs-stream/ufs-stream/internal/numeric/kernel"

// lowerSquares writes to lowered[t] the D² (see [seeder]) of every row, for the centres so far and point t as a further
// centre. The bits are the same as from [kernel.Nearest], with and without a store.
func (s *seeder) lowerSquares(points matrix, lowered [][]float64) {
	switch {
	case s.store == nil:
		s.lowerAllSquares(points, lowered)
	case s.centerCount == 1 && points.Rows == 1: // nothing can be screened for the first centre
		s.screen.distancesTo(s.workers, points, func(int) int { return 0 }, lowered[0])
	default:
		s.lowerSquaresByScreening(points, lowered)
	}
}

func (s *seeder) lowerAllSquares(points matrix, lowered [][]float64) {
	count := points.Rows
	near := kernel.NewNearest(s.team, points, count)
	rows := min(rowsPerBlock(s.team.Threads(), s.x.Cols), s.x.Rows)
	index, distance := make([]int32, rows*count), make([]float64, rows*count)
	for at := 0; at < s.x.Rows; at += rows {
		block := s.x.Sub(at, 0, min(rows, s.x.Rows-at), s.x.Cols)
		if s.unit != nil {
			block = s.unit.normalizeRows(block)
		}
		near.SearchTo(index, distance, block)
		for i := range block.Rows {
			square := s.squares[at+i]
			for q := i * count; q < (i+1)*count; q++ {
				lowered[index[q]][at+i] = min(square, distance[q])
			}
		}
	}
}

// lowerSquaresByScreening writes the same D² as lowerAllSquares. By means of a store it computes only distances that
// may be below the row's current D².
func (s *seeder) lowerSquaresByScreening(points matrix, lowered [][]float64) {
	t, sc := s.store, s.screen
	sc.setCenters(points)
	tasks := (t.n + batchRows - 1) / batchRows
	runTasksOnWorkers(s.workers, tasks, func(w *worker, task int) {
		w.batch = w.batch[:0]
		for i := task * batchRows; i < min((task+1)*batchRows, t.n); i++ {
			w.batch = append(w.batch, int32(i))
		}
		sc.computeValues(w)
		for i, r := range w.batch {
			square := s.squares[r]
			var x []float64 // row r; loaded when it is first needed
			// A screened value v approximates ‖x‖² + 2v, with an error of at most slack.
			norm := t.norm[r]
			limit := (square*t.scale*t.scale - norm + float64(sc.slack(norm))) / 2
			for q, to := range lowered {
				to[r] = square
				if v := float64(w.values[q*valueRows+i]); v > limit {
					continue
				}
				if x == nil {
					x = w.rowReader.paddedRow(t, int(r))
				}
				p := sc.paddedCenter(q)
				d, _ := kernel.SquaredDistances(x, p, p)
				to[r] = min(square, d)
			}
		}
		w.batch = w.batch[:0]
	})
}

// groupRows is the number of consecutive rows that are copied together from column-major data. A cache line holds this
// number of values of a column, so copying all of them costs little more than copying one.
const groupRows = 8

// rowGroup has padded copies of groupRows consecutive rows.
type rowGroup struct {
	from int // first row in buf; -1 at first
	buf  []float64
}

func (g *rowGroup) paddedRow(st *store, row int) []float64 {
	long, height := st.paddedRowLength(), groupRows
	if st.hasContiguousRows() {
		height = 1
	}
	if g.buf == nil {
		g.buf = make([]float64, height*long)
	}
	if from := row / height * height; from != g.from {
		st.copyPaddedRows(from, min(height, st.n-from), g.buf)
		g.from = from
	}
	return g.buf[(row-g.from)*long:][:long]
}
