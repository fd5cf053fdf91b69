package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// seeder draws initial centres by greedy k-means++. The first centre is drawn uniformly from the rows. For each further
// centre several rows are drawn, with a probability of D²(x)/ΣD² for row x. D(x) is the distance of row x from the
// nearest centre so far. The drawn row that lowers ΣD² most becomes the centre; of equally good rows, the row drawn
// first. Arthur and Vassilvitskii propose this in section 5 of their paper. scikit-learn also starts in this way, so
// its scores are comparable.
//
// Plain k-means++ draws only one row for each centre. If clusters are far apart, it misses a cluster far more often
// (TestSeedsFindClusters counts misses of both), and Lloyd's iteration seldom repairs this.
type seeder struct {
	team    *kernel.Team
	x       matrix
	unit    *rowNormalizer // nil unless spherical
	store   *store         // of x, or nil
	workers []*worker      // for store
	rand    *rand.PCG

	centers     matrix // the first centerCount rows are set
	centerCount int
	squares     []float64   // n: D²
	sums        []float64   // n: Σ of squares up to and including each row
	trials      matrix      // drawn rows, of which one will be the next centre
	lowered     [][]float64 // for each trial, n numbers: D² of each row if that trial becomes a centre
	screen      *screen     // of the trials; nil without a store
}

func trialsPerCenter(centerCount int) int { return 2 + int(math.Log(float64(centerCount))) }

// layOutSeeder takes the memory for choosing c centres among n×k rows from l, except for the screen.
func layOutSeeder(l *room.Layout, n, k, c int) *seeder {
	s := &seeder{centers: kernel.NewMatrix[float64](l, c, k), squares: room.Slice[float64](l, n), sums: room.Slice[float64](l, n),
		trials: kernel.NewMatrix[float64](l, trialsPerCenter(c), k), lowered: make([][]float64, trialsPerCenter(c))}
	for t := range s.lowered {
		s.lowered[t] = room.Slice[float64](l, n)
	}
	return s
}

// seedCenters returns c rows of x as centres, or an error that wraps ErrOverflow, ErrNoDirection or the context's
// error. If there are fewer than c distinct rows, some centres are equal. Every centre costs trialCount(c) searches of
// all rows, in total 2·n·k·c·trialCount(c) flops. A store of x and its workers, which may be nil, make it faster and do
// not affect the result.
func seedCenters(ctx context.Context, team *kernel.Team, x matrix, unit *rowNormalizer, st *store, workers []*worker, c int, random *rand.PCG) (matrix, error) {
	s := layOutSeeder(nil, x.Rows, x.Cols, c)
	s.team, s.x, s.unit, s.store, s.workers, s.rand = team, x, unit, st, workers, random
	if st != nil {
		s.screen = st.layOutScreen(nil, s.trials.Rows)
	}
	if err := s.drawFirstCenter(); err != nil {
		return s.centers, err
	}
	for s.centerCount < c {
		if err := ctx.Err(); err != nil {
			return s.centers, err
		}
		if err := s.drawNextCenter(); err != nil {
			return s.centers, err
		}
	}
	return s.centers, nil
}

func firstCenters(ctx context.Context, team *kernel.Team, x matrix, unit *rowNormalizer, st *store, workers []*worker, opt Options, restart int) (matrix, error) {
	random := rand.NewPCG(opt.Seed, uint64(restart))
	if opt.RandomStarts {
		return drawCenters(x, unit, opt.Clusters, random)
	}
	return seedCenters(ctx, team, x, unit, st, workers, opt.Clusters, random)
}

func drawCenters(x matrix, unit *rowNormalizer, c int, random *rand.PCG) (matrix, error) {
	s := &seeder{x: x, unit: unit, rand: random, centers: kernel.NewMatrix[float64](nil, c, x.Cols)}
	rows := make([]int, 0, x.Rows)
	for i := range x.Rows {
		if unit == nil || !s.isZeroRow(i) {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return s.centers, fmt.Errorf("cluster: %w", ErrNoDirection)
	}
	for j := range c {
		from := min(j, len(rows)-1) // rows before it are drawn already; if too few have a direction, the last one repeats
		at := from + int(s.randomFraction()*float64(len(rows)-from))
		rows[from], rows[at] = rows[at], rows[from]
		s.copyRowToPoint(s.centers, j, rows[from])
	}
	return s.centers, nil
}

func (s *seeder) randomFraction() float64 { return float64(s.rand.Uint64()>>11) * 0x1p-53 }

func (s *seeder) copyRowToPoint(points matrix, point, number int) {
	row := s.x.Sub(number, 0, 1, s.x.Cols)
	if s.unit != nil {
		row = s.unit.normalizeRows(row)
	}
	kernel.Copy(points.Sub(point, 0, 1, s.x.Cols), row)
}

func (s *seeder) drawFirstCenter() error {
	for i := range s.squares {
		s.squares[i] = math.Inf(1)
		s.sums[i] = float64(i + 1)
	}
	if s.unit != nil {
		var nonzero float64
		for i := range s.squares {
			if s.isZeroRow(i) {
				s.squares[i] = 0 // never drawn, because D² only decreases
			} else {
				nonzero++
			}
			s.sums[i] = nonzero
		}
		if nonzero == 0 {
			return fmt.Errorf("cluster: %w", ErrNoDirection)
		}
	}
	s.copyRowToPoint(s.centers, 0, s.drawRow())
	s.centerCount = 1
	s.lowerSquares(s.centers.Sub(0, 0, 1, s.x.Cols), [][]float64{s.squares})
	return s.updateSquareSums()
}

func (s *seeder) isZeroRow(row int) bool {
	for j := range s.x.Cols {
		if s.x.Data[row*s.x.RowStride+j*s.x.ColStride] != 0 {
			return false
		}
	}
	return true
}

// drawRow returns row i with a probability proportional to the increase of s.sums at i.
func (s *seeder) drawRow() int {
	n := len(s.sums)
	total := s.sums[n-1]
	if total == 0 {
		return min(int(s.randomFraction()*float64(n)), n-1)
	}
	at := s.randomFraction() * total
	i := sort.Search(n, func(i int) bool { return s.sums[i] > at })
	// The random number times the total may round up to the total, which only the last row with an increase reaches.
	for i == n || s.sums[i] == 0 || (i > 0 && s.sums[i] == s.sums[i-1]) {
		i--
	}
	return i
}

func (s *seeder) drawNextCenter() error {
	for t := range s.lowered {
		s.copyRowToPoint(s.trials, t, s.drawRow())
	}
	s.lowerSquares(s.trials, s.lowered)
	best, most := 0, math.Inf(-1)
	for t, lowered := range s.lowered {
		gain := 0.0 // decrease of ΣD²; most of its terms are 0
		for i, v := range lowered {
			gain += s.squares[i] - v
		}
		if gain > most {
			best, most = t, gain
		}
	}
	kernel.Copy(s.centers.Sub(s.centerCount, 0, 1, s.x.Cols), s.trials.Sub(best, 0, 1, s.x.Cols))
	s.squares, s.lowered[best] = s.lowered[best], s.squares
	s.centerCount++
	return s.updateSquareSums()
}

func (s *seeder) updateSquareSums() error {
	total := 0.0
	for i, square := range s.squares {
		total += square
		s.sums[i] = total
	}
	if math.IsInf(total, 1) {
		return fmt.Errorf("cluster: %w", ErrOverflow)
	}
	return nil
}
