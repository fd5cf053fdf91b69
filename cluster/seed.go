package cluster

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// seeder draws centres by k-means++: the first uniformly from the rows, each further
// one with probability D²(x)/ΣD², D(x) being a row's distance from the nearest so far.
//
// Updating D after every centre would read all rows c times. Instead we draw a batch from
// an old D and accept a draw with probability D²(x)/D_old²(x), where D counts the rows
// accepted since: D only falls, so this is rejection sampling, and accepted rows have
// exactly the distribution of k-means++. The rows are then searched once a batch, which
// ends when comparing its rows with each other has cost about as much: 10 centres of
// 10,000 rows need one batch after the first, unless the rows lie in clumps far apart.
type seeder struct {
	team    *kernel.Team
	x       matrix
	unit    *directions // nil unless spherical
	store   *store      // of x, or nil
	workers []*worker   // for store
	rand    *rand.PCG

	centers matrix // the first drawn rows are done
	drawn   int
	square  []float64 // n: D²
	sums    []float64 // n: Σ of square up to and with each row
}

// seeds returns c rows of x as centres, or an error that wraps ErrOverflow or
// ErrNoDirection. With fewer than c distinct rows, centres repeat. It holds 16 bytes a
// row. A store of x and its workers make it faster and change nothing; both may be nil.
func seeds(team *kernel.Team, x matrix, unit *directions, st *store, workers []*worker, c int, random *rand.PCG) (matrix, error) {
	n, k := x.Rows, x.Cols
	s := &seeder{team: team, x: x, unit: unit, store: st, workers: workers, rand: random,
		centers: kernel.RowMajor(make([]float64, c*k), c, k, k),
		square:  make([]float64, n), sums: make([]float64, n)}
	if err := s.first(); err != nil {
		return s.centers, err
	}
	for from := 0; s.drawn < c; {
		if err := s.update(from); err != nil {
			return s.centers, err
		}
		from = s.drawn
		s.batch()
	}
	return s.centers, nil
}

// uniform is a number in [0, 1).
func (s *seeder) uniform() float64 { return float64(s.rand.Uint64()>>11) * 0x1p-53 }

// put copies row i of x to centre j.
func (s *seeder) put(j, i int) {
	row := s.x.Sub(i, 0, 1, s.x.Cols)
	if s.unit != nil {
		row = s.unit.normalized(row)
	}
	kernel.Copy(s.centers.Sub(j, 0, 1, s.x.Cols), row)
}

// first draws the first centre, in spherical mode from the nonzero rows.
func (s *seeder) first() error {
	for i := range s.square {
		s.square[i] = math.Inf(1)
		s.sums[i] = float64(i + 1)
	}
	if s.unit != nil {
		var nonzero float64
		for i := range s.square {
			if s.zero(i) {
				s.square[i] = 0 // never drawn, as it stays the least
			} else {
				nonzero++
			}
			s.sums[i] = nonzero
		}
		if nonzero == 0 {
			return fmt.Errorf("cluster: %w", ErrNoDirection)
		}
	}
	s.put(0, s.draw())
	s.drawn = 1
	return nil
}

func (s *seeder) zero(i int) bool {
	for j := range s.x.Cols {
		if s.x.Data[i*s.x.RowStride+j*s.x.ColStride] != 0 {
			return false
		}
	}
	return true
}

// draw returns a row with probability in proportion to its step in s.sums.
func (s *seeder) draw() int {
	n := len(s.sums)
	total := s.sums[n-1]
	if total == 0 {
		return min(int(s.uniform()*float64(n)), n-1)
	}
	at := s.uniform() * total
	i := sort.Search(n, func(i int) bool { return s.sums[i] > at })
	// The product may round up to the total, which the last step has reached.
	for i == n || s.sums[i] == 0 || (i > 0 && s.sums[i] == s.sums[i-1]) {
		i--
	}
	return i
}

// batch draws until there are centres enough, or comparisons have become many.
func (s *seeder) batch() {
	k, from := s.x.Cols, s.drawn
	for compared := 0; s.drawn < s.centers.Rows && (compared <= len(s.square)/4 || s.drawn == from); {
		i := s.draw()
		s.put(s.drawn, i)
		row, now := s.centers.Data[s.drawn*k:][:k], s.square[i]
		compared += s.drawn - from
		for j := from; j < s.drawn; j++ {
			now = min(now, squaredDistance(row, s.centers.Data[j*k:][:k]))
		}
		if accept := s.uniform() * s.square[i]; accept < now || s.square[i] == 0 {
			s.drawn++
		}
	}
}

// squaredDistance may round otherwise than [kernel.Nearest], and is faster.
func squaredDistance(x, y []float64) float64 {
	whole := len(x) / kernel.SquaresBlock * kernel.SquaresBlock
	sum, _ := kernel.Squares(x[:whole], y[:whole], y[:whole])
	for l := whole; l < len(x); l++ {
		v := x[l] - y[l]
		sum += float64(v * v) // never fused: seeds are the same on all machines
	}
	return sum
}

// update brings the distances up to date with the centres drawn since from.
func (s *seeder) update(from int) error {
	centers := s.centers.Sub(from, 0, s.drawn-from, s.x.Cols)
	switch {
	case s.store == nil || !s.store.byRows():
		s.searchAll(centers)
	case from == 0:
		s.store.distances(len(s.workers), centers, func(int) int { return 0 }, s.square)
	default:
		s.screenAll(newScreen(s.store, centers))
	}
	total := 0.0
	for i, square := range s.square {
		total += square
		s.sums[i] = total
	}
	if math.IsInf(total, 1) {
		return fmt.Errorf("cluster: %w", ErrOverflow)
	}
	return nil
}

// searchAll finds the nearest of the centres for every row.
func (s *seeder) searchAll(centers matrix) {
	near := kernel.NewNearest(s.team, centers, 1)
	rows := min(blockRows(s.team, s.x.Cols), s.x.Rows)
	index, distance := make([]int32, rows), make([]float64, rows)
	for at := 0; at < s.x.Rows; at += rows {
		block := s.x.Sub(at, 0, min(rows, s.x.Rows-at), s.x.Cols)
		if s.unit != nil {
			block = s.unit.normalized(block)
		}
		near.To(index, distance, block)
		for i := range block.Rows {
			s.square[at+i] = min(s.square[at+i], distance[i])
		}
	}
}

// screenAll is searchAll by a store: it computes distances only for rows that may be nearer
// to one of the centres than to all before.
func (s *seeder) screenAll(sc *screen) {
	t := s.store
	tasks := (t.n + batchRows - 1) / batchRows
	share(s.workers, tasks, func(w *worker, task int) {
		w.at = w.at[:0]
		for i := task * batchRows; i < min((task+1)*batchRows, t.n); i++ {
			w.at = append(w.at, int32(i))
		}
		sc.search(w)
		for i, r := range w.at {
			best := float32(math.MaxFloat32)
			for j := range sc.c {
				best = min(best, w.values[j*valueRows+i])
			}
			slack := sc.slack(t.norm[r])
			if float64(t.norm[r])+2*float64(best)-2*float64(slack) <= s.square[r]*t.scale*t.scale {
				_, d := sc.settle(w, i, best+slack)
				s.square[r] = min(s.square[r], d)
			}
		}
		w.at = w.at[:0]
	})
}
