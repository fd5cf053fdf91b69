package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestDrawnCentersAreRows: every pair of five rows is drawn equally often, and more centres than there are directions
// repeat some.
func TestDrawnCentersAreRows(t *testing.T) {
	x := kernel.ColMajor([]float64{1, 2, 3, 4, 0}, 5, 1, 5)
	const draws = 20000
	pairs := make(map[float64]float64) // by the sum of 2 to the power of each value
	for seed := range uint64(draws) {
		c := must.Get(drawCenters(x, nil, 2, rand.NewPCG(seed, 0)))(t)
		if c.Data[0] == c.Data[1] {
			t.Fatalf("seed %d: row %v was drawn twice", seed, c.Data[0])
		}
		pairs[math.Exp2(c.Data[0])+math.Exp2(c.Data[1])]++
	}
	for pair, n := range pairs { // 5 standard deviations of a share of 1/10
		if len(pairs) != 10 || math.Abs(n/draws-0.1) > 5*math.Sqrt(0.1*0.9/draws) {
			t.Errorf("pair %v of %d: drawn %v times of %d, want a tenth", pair, len(pairs), n, draws)
		}
	}
	unit := newRowNormalizer(kernel.NewTeam(1), 5, 1)
	if c := must.Get(drawCenters(x, unit, 7, rand.NewPCG(1, 0)))(t); slices.Contains(c.Data, 0) {
		t.Errorf("the row without a direction became a centre: %v", c.Data)
	}
}

// TestSeedsHaveTheirDistribution: which of five points is left out of four centres, against
// the probabilities of greedy k-means++ by enumeration of all its trials.
func TestSeedsHaveTheirDistribution(t *testing.T) {
	points := []float64{0, 1, 1.5, 4, 6.5}
	x := kernel.ColMajor(points, 5, 1, 5)
	potential := func(chosen []int) (squares []float64, total float64) {
		for i := range points {
			square := math.Inf(1)
			for _, j := range chosen {
				square = min(square, (points[i]-points[j])*(points[i]-points[j]))
			}
			squares = append(squares, square)
			total += square
		}
		return squares, total
	}
	want := make([]float64, 5)
	var enumerate func(chosen, drawn []int, p float64)
	enumerate = func(chosen, drawn []int, p float64) {
		squares, total := potential(chosen)
		switch {
		case p == 0:
		case len(chosen) == 4:
			want[10-chosen[0]-chosen[1]-chosen[2]-chosen[3]] += p
		case len(drawn) == trialsPerCenter(4):
			best, least := -1, math.Inf(1)
			for _, i := range drawn {
				if _, now := potential(append(slices.Clone(chosen), i)); now < least {
					best, least = i, now
				}
			}
			enumerate(append(slices.Clone(chosen), best), nil, p)
		default:
			for i, square := range squares {
				enumerate(chosen, append(slices.Clone(drawn), i), p*square/total)
			}
		}
	}
	for first := range points {
		enumerate([]int{first}, nil, 0.2)
	}
	const draws = 20000
	got := make([]float64, 5)
	team := kernel.NewTeam(1)
	for seed := range uint64(draws) {
		c := must.Get(seedCenters(t.Context(), team, x, nil, nil, nil, 4, rand.NewPCG(seed, 0)))(t)
		for i, v := range points {
			if !slices.Contains(c.Data, v) {
				got[i]++
			}
		}
	}
	for i, p := range want {
		if sigma := math.Sqrt(p * (1 - p) / draws); math.Abs(got[i]/draws-p) > 5*sigma {
			t.Errorf("point %d is left out with probability %v, want %v ± %v", i, got[i]/draws, p, sigma)
		}
	}
}

// naiveSeeds is k-means++ in plain loops from the same random numbers, with the given number of trials a centre: 1 is
// the plain form.
func naiveSeeds(x matrix, c, trials int, random *rand.PCG) []int {
	uniform := func() float64 { return float64(random.Uint64()>>11) * 0x1p-53 }
	chosen := []int{min(int(uniform()*float64(x.Rows)), x.Rows-1)}
	squares := make([]float64, x.Rows)
	for i := range squares {
		squares[i] = naiveSquare(row(x, i), row(x, chosen[0]))
	}
	for len(chosen) < c {
		total := 0.0
		for _, v := range squares {
			total += v
		}
		best, least, kept := -1, math.Inf(1), []float64(nil)
		for range trials {
			at, i := uniform()*total, 0
			for sum := squares[0]; sum <= at && i+1 < x.Rows; sum += squares[i] {
				i++
			}
			lowered, sum := make([]float64, x.Rows), 0.0
			for r := range lowered {
				lowered[r] = min(squares[r], naiveSquare(row(x, r), row(x, i)))
				sum += lowered[r]
			}
			if sum < least {
				best, least, kept = i, sum, lowered
			}
		}
		chosen, squares = append(chosen, best), kept
	}
	return chosen
}

// TestSeedsAreTheNaiveOnes, with a store and without, on any number of threads. Whole numbers
// make all sums exact, so that both meet the same ties.
func TestSeedsAreTheNaiveOnes(t *testing.T) {
	for seed := range uint64(10) {
		x, _ := blobs(seed, 400+int(seed), 1+3*int(seed), 5, 2)
		for i, v := range x.Data {
			x.Data[i] = math.Round(16 * v)
		}
		c := 2 + 4*int(seed)
		want := take(x, naiveSeeds(x, c, trialsPerCenter(c), rand.NewPCG(seed, 7)))
		for _, threads := range []int{1, 3} {
			team, st := kernel.NewTeam(threads), newStore(threads, x)
			var workers []*worker
			for range threads {
				workers = append(workers, newWorker(st))
			}
			plain := must.Get(seedCenters(t.Context(), team, x, nil, nil, nil, c, rand.NewPCG(seed, 7)))(t)
			stored := must.Get(seedCenters(t.Context(), team, x, nil, st, workers, c, rand.NewPCG(seed, 7)))(t)
			for j := range c {
				if !slices.Equal(row(plain, j), row(want, j)) || !slices.Equal(row(stored, j), row(want, j)) {
					t.Fatalf("seed %d, %d threads: centre %d of %d is another than the naive one", seed, threads, j, c)
				}
			}
		}
	}
}

// TestSeedsFindClusters: of 9 blobs far apart all get a centre far more often than by plain
// k-means++, and the potential is lower.
func TestSeedsFindClusters(t *testing.T) {
	const tries = 200
	var found, foundPlain int
	var potential, potentialPlain float64
	for seed := range uint64(tries) {
		x, labels := blobs(seed, 300, 4, 9, 12)
		count := func(chosen []int) (all int, sum float64) {
			hit := make(map[int]bool)
			for _, i := range chosen {
				hit[labels[i]] = true
			}
			for i := range x.Rows {
				least := math.Inf(1)
				for _, j := range chosen {
					least = min(least, naiveSquare(row(x, i), row(x, j)))
				}
				sum += least
			}
			if len(hit) == 9 {
				all = 1
			}
			return all, sum
		}
		team := kernel.NewTeam(1)
		centers := must.Get(seedCenters(t.Context(), team, x, nil, nil, nil, 9, rand.NewPCG(seed, 3)))(t)
		chosen := make([]int, 9)
		for j := range chosen {
			chosen[j] = slices.IndexFunc(sequence(300), func(i int) bool { return slices.Equal(row(x, i), row(centers, j)) })
		}
		all, sum := count(chosen)
		plainAll, plainSum := count(naiveSeeds(x, 9, 1, rand.NewPCG(seed, 4)))
		found, foundPlain = found+all, foundPlain+plainAll
		potential, potentialPlain = potential+sum, potentialPlain+plainSum
	}
	t.Logf("all 9 clusters: %d of %d, plain %d; potential %.3g, plain %.3g", found, tries, foundPlain, potential, potentialPlain)
	// Two binomial counts of 200 differ by 5·√(200/2) = 50 by chance at the very most.
	if found < foundPlain+50 || potential > potentialPlain {
		t.Errorf("all 9 clusters in %d of %d starts, by plain k-means++ in %d; potential %v and %v", found, tries, foundPlain, potential, potentialPlain)
	}
}
