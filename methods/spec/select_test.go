package spec

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

var all = []Score{Phi1, Phi2, Phi3}

// TestIsTheDenseForm: the scores by definition, from all eigenvectors of the n×n Laplacian,
// of features with their means, and of centred ones.
func TestIsTheDenseForm(t *testing.T) {
	for seed := range uint64(3) {
		x, z := sample(seed, 50, 6, 9, 1)
		g := rowstest.BuildGraph(x, z)
		values, vectors := rowstest.Jacobi(rowstest.Laplacian(z))
		for _, score := range all {
			for _, power := range []int{1, 2, 5} {
				opt := Options{Score: score, Power: power, Clusters: 4}
				check := func(name string, x [][]float64, opt Options) {
					t.Helper()
					got, want := must.Get(Select(g, opt))(t).Scores, dense(x, values, vectors, score, power, 4)
					// Sums of 50 products; the mean is up to ten times the deviation, and φ₂ divides by
					// the square of what is left.
					if off := rowstest.RelativeDistance(got, want); !(off <= 1e-11) {
						t.Errorf("seed %d, %v^%d%s is off by %.2g:\n%v\n%v", seed, score, power, name, off, got, want)
					}
				}
				check(" centred", rowstest.CentreColumns(x), opt)
				opt.Mean = means(x)
				check("", x, opt)
			}
		}
	}
}

// TestScoresOfCentredFeatures: φ₁ is φ₂, and φ₂ sees no shift.
func TestScoresOfCentredFeatures(t *testing.T) {
	x, z := sample(3, 60, 7, 9, 1)
	g := rowstest.BuildGraph(x, z)
	one, two := must.Get(Select(g, Options{Score: Phi1}))(t), must.Get(Select(g, Options{}))(t)
	moved := must.Get(Select(g, Options{Mean: means(x)}))(t)
	if !slices.Equal(one.Scores, two.Scores) || !slices.Equal(moved.Scores, two.Scores) {
		t.Errorf("φ₁ %v\nφ₂ %v\nof shifted features %v", one.Scores, two.Scores, moved.Scores)
	}
	for j, v := range two.Scores {
		if !(v >= 0 && v <= 1) {
			t.Errorf("feature %d: %v is no share", j, v)
		}
	}
}

// TestLaws: any number of workers, permuted features, features twice as long.
func TestLaws(t *testing.T) {
	x, z := sample(4, 80, 300, 12, 1) // more features than a panel
	g := rowstest.BuildGraph(x, z)
	order := rand.New(rand.NewPCG(4, 4)).Perm(g.D)
	twice := *g
	twice.G, twice.C = gram.Full(slices.Clone(g.G.Sym), g.D), slices.Clone(g.C)
	for i := range twice.G.Sym {
		twice.G.Sym[i] *= 4
	}
	for i := range twice.C {
		twice.C[i] *= 2
	}
	for _, score := range all {
		opt := Options{Score: score, Power: 3, Clusters: 5, Threads: 1}
		want := must.Get(Select(g, opt))(t)
		if from, to := want.Ties.At(slices.Index(want.Order, 1)); to-from < 2 || slices.Index(want.Order, 1) != slices.Index(want.Order, 0)+1 {
			t.Errorf("%v: equal features 0 and 1 in the order %v, ties %v", score, want.Order, want.Ties)
		}
		if got := must.Get(Select(&twice, opt))(t); !slices.Equal(got.Scores, want.Scores) { // powers of 2 are exact
			t.Errorf("%v: features twice as long have other scores", score)
		}
		moved := must.Get(Select(rowstest.PermuteFeatures(g, order), opt))(t)
		for to, j := range order {
			// The same sums in panels of other widths.
			if !(math.Abs(moved.Scores[to]-want.Scores[j]) <= 1e-13*max(1, want.Scores[j])) {
				t.Errorf("%v: feature %d has %v, permuted %v", score, j, want.Scores[j], moved.Scores[to])
			}
		}
		for _, opt.Threads = range []int{2, 8} {
			if got := must.Get(Select(g, opt))(t); !slices.Equal(got.Scores, want.Scores) || !slices.Equal(got.Order, want.Order) {
				t.Errorf("%v: other bits from %d workers", score, opt.Threads)
			}
		}
	}
}

// TestParts: unconnected parts are the first eigenvectors that φ₃ takes.
func TestParts(t *testing.T) {
	x, z := sample(5, 60, 5, 13, 3)
	for i := range x {
		x[i][4] = float64(i%3) + 0.001*x[i][4] // nothing but the part
	}
	r := must.Get(Select(rowstest.BuildGraph(x, z), Options{Score: Phi3, Clusters: 3}))(t)
	if r.Order[0] != 4 || !slices.Equal(r.Eigenvalues, []float64{0, 0}) || !strings.Contains(strings.Join(r.Warnings, ";"), "3 unconnected parts") {
		t.Errorf("order %v, eigenvalues %v, warnings %q", r.Order, r.Eigenvalues, r.Warnings)
	}
	// Centred, all of it lies in the two eigenvectors, at the weight 2 − 0.
	if v := r.Scores[4]; !(v > 1.99 && v <= 2+1e-12) {
		t.Errorf("score %v, want nearly 2", v)
	}
}

func TestEdges(t *testing.T) {
	x, z := sample(6, 30, 4, 6, 1)
	for i := range x {
		x[i][2] = 3
	}
	g := rowstest.BuildGraph(x, z)
	for _, score := range all {
		r := must.Get(Select(g, Options{Score: score, Clusters: 20}))(t)
		if r.Order[3] != 2 || r.LowerIsBetter != (score != Phi3) {
			t.Errorf("%v: order %v, want the constant feature last", score, r.Order)
		}
		if score == Phi3 && !strings.Contains(strings.Join(r.Warnings, ";"), "only") {
			t.Errorf("warnings %q of 19 eigenvectors of 6 anchors", r.Warnings)
		}
	}
	one, z1 := sample(7, 20, 1, 4, 1)
	if r := must.Get(Select(rowstest.BuildGraph(one, z1), Options{}))(t); len(r.Order) != 1 {
		t.Errorf("order %v of one feature", r.Order)
	}
	flat := rowstest.ZeroRows(30, 4)
	_, err := Select(rowstest.BuildGraph(flat, z), Options{})
	if data := (*stream.DataError)(nil); !errors.As(err, &data) {
		t.Errorf("constant features: %v", err)
	}
	g.G.Sym[0] = math.NaN()
	if _, err := Select(g, Options{}); !errors.Is(err, linalg.ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
	rowstest.CheckRefusal(t, Options{Score: 7, Power: -1, Clusters: -2, Threads: -3, Mean: []float64{1}}.Validate(3),
		"score", "power = -1", "clusters = -2", "threads = -3", "1 means")
	rowstest.CheckRefusal(t, Options{Score: Phi3, Clusters: 1, Power: 33}.Validate(0), "no features", "no eigenvector", "more than 32")
}
