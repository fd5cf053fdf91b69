package cluster

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// maxBatch bounds the centres that are drawn before the rows' distances are brought up
// to date: to compare them with each other costs its square.
const maxBatch = 512

// seeder draws centres by k-means++: the first uniformly from the rows, each further
// one with probability D²(x)/ΣD², D(x) being a row's distance from the nearest so far.
//
// To bring D up to date after every centre would read all rows c times. We draw a
// batch from an old D instead and accept a draw with probability D²(x)/D_old²(x), D
// from the few accepted since: D only falls, so this is rejection sampling, and what
// is accepted has exactly the distribution of k-means++. The rows are then searched
// once a batch. As batches grow with the centres drawn so far, D falls little within one.
type seeder struct {
	team *kernel.Team
	x    kernel.Matrix[float64]
	unit *directions // nil unless spherical
	rand *rand.PCG

	centers kernel.Matrix[float64] // the first drawn rows are done
	drawn   int
	square  []float64 // n: D²
	sums    []float64 // n: Σ of square up to and with each row
}

// seeds returns c rows of x as centres, and an error that wraps ErrOverflow or
// ErrNoDirection. Once all distances are 0, as there are fewer distinct rows than
// c, centres repeat. Holds 16 bytes a row; for 2,000 of 50,000 rows of 900 values it
// takes as long as 1.5 passes.
func seeds(team *kernel.Team, x kernel.Matrix[float64], unit *directions, c int, random *rand.PCG) (kernel.Matrix[float64], error) {
	n, k := x.Rows, x.Cols
	s := &seeder{team: team, x: x, unit: unit, rand: random,
		centers: kernel.RowMajor(make([]float64, c*k), c, k, k),
		square:  make([]float64, n), sums: make([]float64, n)}
	if err := s.first(); err != nil {
		return s.centers, err
	}
	if err := s.update(0); err != nil {
		return s.centers, err
	}
	for s.drawn < c {
		from := s.drawn
		s.batch(min(from, maxBatch))
		if s.drawn == c {
			break
		}
		if err := s.update(from); err != nil {
			return s.centers, err
		}
	}
	return s.centers, nil
}

// uniform is a number in [0, 1).
func (s *seeder) uniform() float64 { return float64(s.rand.Uint64()>>11) * 0x1p-53 }

// put copies row i of x to centre j.
func (s *seeder) put(j, i int) {
	row := s.x.Sub(i, 0, 1, s.x.Cols)
	if s.unit != nil {
		row = s.unit.of(row)
	}
	to := s.centers.Data[j*s.x.Cols:][:s.x.Cols]
	for l := range to {
		to[l] = row.Data[l*row.ColStride]
	}
}

// first draws the first centre, in spherical mode from the rows that are not zero.
func (s *seeder) first() error {
	for i := range s.square {
		s.square[i] = math.Inf(1)
		s.sums[i] = float64(i + 1)
	}
	if s.unit != nil {
		var some float64
		for i := range s.square {
			if s.zero(i) {
				s.square[i] = 0 // and stays the least: never drawn
			} else {
				some++
			}
			s.sums[i] = some
		}
		if some == 0 {
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

// batch makes that many draws.
func (s *seeder) batch(draws int) {
	k, from := s.x.Cols, s.drawn
	for range draws {
		if s.drawn == s.centers.Rows {
			return
		}
		i := s.draw()
		s.put(s.drawn, i)
		row, now := s.centers.Data[s.drawn*k:][:k], s.square[i]
		for j := from; j < s.drawn; j++ {
			now = min(now, squaredDistance(row, s.centers.Data[j*k:][:k]))
		}
		if accept := s.uniform() * s.square[i]; accept < now || s.square[i] == 0 {
			s.drawn++
		}
	}
}

func squaredDistance(x, y []float64) (sum float64) {
	for l, v := range x {
		v -= y[l]
		sum += v * v
	}
	return sum
}

// update brings the distances up to date with the centres drawn since from.
func (s *seeder) update(from int) error {
	k := s.x.Cols
	near := kernel.NewNearest(s.team, s.centers.Sub(from, 0, s.drawn-from, k), 1)
	rows := min(blockRows(s.team, k), s.x.Rows)
	index, distance := make([]int32, rows), make([]float64, rows)
	total := 0.0
	for at := 0; at < s.x.Rows; at += rows {
		block := s.x.Sub(at, 0, min(rows, s.x.Rows-at), k)
		if s.unit != nil {
			block = s.unit.of(block)
		}
		near.To(index, distance, block)
		for i := range block.Rows {
			s.square[at+i] = min(s.square[at+i], distance[i])
			total += s.square[at+i]
			s.sums[at+i] = total
		}
	}
	if math.IsInf(total, 1) {
		return fmt.Errorf("cluster: %w", ErrOverflow)
	}
	return nil
}
