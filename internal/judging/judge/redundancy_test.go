package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
)

// pairs is the mean |correlation| over the pairs of varying columns, pair by pair.
func pairs(x kernel.Matrix[float64]) float64 {
	m := dense(x)
	sum, count := 0.0, 0
	varies := func(c []float64) bool { return slices.Max(c) != slices.Min(c) }
	for i := range x.Cols {
		a := mat.Col(nil, i, m)
		for j := range i {
			if b := mat.Col(nil, j, m); varies(a) && varies(b) {
				sum += math.Abs(stat.Correlation(a, b, nil))
				count++
			}
		}
	}
	return sum / float64(count)
}

func TestRedundancyTwin(t *testing.T) {
	for _, c := range []struct{ n, d int }{{1, 3}, {2, 3}, {3, 1}, {20, 2}, {50, 12}, {9, 40}} {
		x := factors(c.n, c.d, 4, 9)
		want := make([]float64, c.d)
		for k := range want {
			want[k] = pairs(columns(x, rowstest.Integers(k+1)))
		}
		// Correlations of columns with a mean as large as their spread: n roundings.
		equal(t, fmt.Sprintf("%+v", c), RedundancyCurve(kernel.NewTeam(2), clone(x)), want, 1e-13*float64(c.n))
	}
}

// TestRedundancyLaws: across the blocks of columns, prefixes do not depend on later
// columns; order, sign and size of columns do not matter; threads change no bit.
func TestRedundancyLaws(t *testing.T) {
	const n, d = 40, 2*blockColumns + 3
	x := factors(n, d, 30, 2)
	want := RedundancyCurve(kernel.NewTeam(1), clone(x))
	for _, k := range []int{blockColumns - 1, blockColumns, blockColumns + 1} {
		if got := RedundancyCurve(kernel.NewTeam(1), columns(x, rowstest.Integers(k))); !slices.EqualFunc(got, want[:k], sameBits) {
			t.Errorf("the first %d by themselves give other bits", k)
		}
	}
	if got := RedundancyCurve(kernel.NewTeam(8), clone(x)); !slices.EqualFunc(got, want, sameBits) {
		t.Error("8 workers give other bits")
	}
	random := rand.New(rand.NewPCG(3, 3))
	moved := columns(x, random.Perm(d))
	for j := range d {
		factor := math.Ldexp(-1, random.IntN(9)-4)
		for i := range n {
			moved.Data[j*n+i] *= factor
		}
	}
	equal(t, "moved", RedundancyCurve(kernel.NewTeam(1), moved)[d-1:], want[d-1:], 1e-12)
}

func sameBits(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

func TestRedundancyEdges(t *testing.T) {
	team := kernel.NewTeam(1)
	constant := kernel.ColMajor([]float64{0.1, 0.1, 0.1, 1, 2, 3, 3, 2, 1}, 3, 3, 3)
	nan := math.NaN()
	equal(t, "constant first", RedundancyCurve(team, constant), []float64{nan, nan, 1}, 1e-15)
	huge := kernel.ColMajor([]float64{1e308, -1e308, 0, 5e-324, 0, 5e-324}, 3, 2, 3)
	if got := RedundancyCurve(team, huge)[1]; !(got >= 0 && got <= 1) {
		t.Errorf("huge and tiny columns: %v", got)
	}
	equal(t, "no column", RedundancyCurve(team, kernel.ColMajor([]float64{}, 3, 0, 3)), nil, 0)
}

// TestOverall: of few columns it is the mean over all pairs, of many that over some, which is near it, the
// same for any threads, and another of another seed.
func TestOverall(t *testing.T) {
	const n, k = 60, 700
	fill := func() kernel.Matrix[float64] {
		r := rand.New(rand.NewPCG(4, 4))
		x := kernel.ColMajor(make([]float64, k*n), n, k, n)
		common := make([]float64, n)
		for i := range common {
			common[i] = r.NormFloat64()
		}
		for j := range k {
			share := r.Float64()
			for i := range n {
				x.Data[j*n+i] = share*common[i] + r.NormFloat64()
			}
		}
		return x
	}
	curve := RedundancyCurve(kernel.NewTeam(2), fill())
	want := curve[k-1]
	if got, drawn := MeanCorrelation(kernel.NewTeam(2), fill(), k, 1); got != want || drawn {
		t.Errorf("of all columns %v, drawn %t; want %v", got, drawn, want)
	}
	one, drawn := MeanCorrelation(kernel.NewTeam(1), fill(), k/2, 1)
	// |ρ| of a pair spreads by 0.1 at most from column to column: 0.1/√350, times 2 for the two of a pair, three times.
	if !drawn || math.Abs(one-want) > 0.035 {
		t.Errorf("of half of the columns %v, drawn %t; of all %v", one, drawn, want)
	}
	if again, _ := MeanCorrelation(kernel.NewTeam(8), fill(), k/2, 1); again != one {
		t.Errorf("eight threads: %v, one: %v", again, one)
	}
	if other, _ := MeanCorrelation(kernel.NewTeam(1), fill(), k/2, 2); other == one {
		t.Error("another seed draws the same columns")
	}
}
