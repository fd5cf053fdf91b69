package baseline

import (
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestFixtureLaplacian reads every laplacian_*.json. Their numbers are exact to rounding
// and differ from ours by sums of n products about 1.
func TestFixtureLaplacian(t *testing.T) {
	type fixture struct {
		X, Z    [][]float64
		Score   []*float64 // null: +Inf
		Ranking []int
	}
	for name, fix := range fixtures.ReadCases[fixture](t, "laplacian") {
		t.Run(name, func(t *testing.T) {
			g := rowstest.BuildGraph(fix.X, fix.Z)
			scores := LaplacianScore(g)
			if len(fix.Score) != g.D || len(fix.Ranking) != g.D {
				t.Fatalf("%d scores and %d ranks for %d features", len(fix.Score), len(fix.Ranking), g.D)
			}
			for j, want := range fix.Score {
				if want == nil {
					if !math.IsInf(scores[j], 1) {
						t.Errorf("score %d = %v, want +Inf", j, scores[j])
					}
					continue
				}
				if !(math.Abs(scores[j]-*want) <= 1e-12) {
					t.Errorf("score %d = %v, want %v", j, scores[j], *want)
				}
			}
			order, warnings := RankLowest(scores, make([]stream.Column, g.D), g.D)
			if !slices.Equal(order, fix.Ranking) {
				t.Errorf("ranking %v, want %v", order, fix.Ranking)
			}
			if len(warnings) > 0 {
				t.Errorf("warnings %q", warnings)
			}
		})
	}
}

// naiveLaplacian is −½ Σ_ij L_ij (x_i − x_j)² over the variance, as L1 = 0.
func naiveLaplacian(t *dense, j int) float64 {
	var rough, total float64
	for i := range t.n {
		total += t.x[i][j] * t.x[i][j]
		for l := range t.n {
			diff := t.x[i][j] - t.x[l][j]
			rough -= t.l[i][l] * diff * diff / 2
		}
	}
	return rough / total
}

func TestLaplacianScoreIsTheDenseForm(t *testing.T) {
	for seed := range uint64(5) {
		x := randomDense(seed, 60, 12, 9, 1+int(seed)%3)
		for j, got := range LaplacianScore(x.graph()) {
			if j == x.d-2 {
				if !math.IsInf(got, 1) {
					t.Errorf("seed %d: a constant column scores %v", seed, got)
				}
				continue
			}
			// n² positive terms with a sum below 1.
			if want := naiveLaplacian(x, j); !(math.Abs(got-want) <= 3600*0x1p-52) {
				t.Errorf("seed %d, feature %d: %v, want %v", seed, j, got, want)
			}
		}
	}
}

func TestRankLowest(t *testing.T) {
	cols := []stream.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
	scores := []float64{math.Inf(1), 0.5, math.Inf(1), 0.25}
	order, warnings := RankLowest(scores, cols, 4)
	if !slices.Equal(order, []int{3, 1, 0, 2}) {
		t.Errorf("order %v", order)
	}
	if len(warnings) != 1 {
		t.Errorf("warnings %q, want one for the constant columns", warnings)
	}
}
