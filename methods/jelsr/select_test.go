package jelsr

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// both are options of the two methods.
var both = []Options{{}, {Method: NDFS}}

// TestJELSRIsTheDenseForm: n×n L, its eigenvectors by Jacobi, on A = BBᵀ; also with more
// features than rows.
func TestJELSRIsTheDenseForm(t *testing.T) {
	for seed, shape := range [][2]int{{40, 6}, {14, 20}} {
		x, z := sample(uint64(seed), shape[0], shape[1], 6)
		g, centred, l := rowstest.BuildGraph(x, z), rowstest.CentreColumns(x), rowstest.Laplacian(z)
		for _, alpha := range []float64{0.05, 1} {
			for _, beta := range []float64{0.1, 5} {
				objective, norm := denseJELSR(centred, l, alpha, beta, 3, 6)
				r := must.Get(Select(t.Context(), g, Options{Alpha: alpha, Beta: beta, Clusters: 3, Iterations: 6}))(t)
				// Rounding, some 1e-14, over the gaps of eigenvalues, above 1e-3, in each of 6 updates,
				// which a condition of G + αU up to 1e4 magnifies.
				if a, b := rowstest.RelativeDistance(r.Objective, objective), rowstest.RelativeDistance(r.Scores, norm); !(a <= 1e-8 && b <= 1e-7) || r.Rose != nil {
					t.Errorf("%v, α %v, β %v: objective off by %.2g, norms by %.2g, %+v:\n%v\n%v", shape, alpha, beta, a, b, r.Rose, r.Scores, norm)
				}
			}
		}
	}
}

// TestNDFSIsTheDenseForm: the paper's objective with n×n matrices, for labels F = BQ.
func TestNDFSIsTheDenseForm(t *testing.T) {
	for seed := range uint64(2) {
		x, z := sample(seed, 40, 6, 6)
		g := rowstest.BuildGraph(x, z)
		for _, opt := range []Options{{Alpha: 1, Beta: 1, Gamma: 1e8}, {Alpha: 0.2, Beta: 0.1, Gamma: 100}} {
			opt.Method, opt.Clusters, opt.Iterations = NDFS, 3, 7
			start, _, err := initialLabels(t.Context(), kernel.NewTeam(2), g, opt.withDefaults())
			must.Do(t, err)
			q := rowsOf(start)
			objective, norm, f := denseNDFS(rowstest.CentreColumns(x), rowstest.Laplacian(z), rowstest.Factor(z), q, opt, 7)
			r, last, err := newLabelProblem(kernel.NewTeam(2), g).iterateLabels(t.Context(), start, opt.withDefaults())
			must.Do(t, err)
			// Sums of 40 rows, 7 updates; the term of γ in the objective is the square of a difference.
			if a, b := rowstest.RelativeDistance(r.Objective, objective), rowstest.RelativeDistance(r.Scores, norm); !(a <= 1e-9 && b <= 1e-9) {
				t.Errorf("seed %d, γ %v: objective off by %.2g, norms by %.2g:\n%v\n%v", seed, opt.Gamma, a, b, r.Objective, objective)
			}
			if off := rowstest.RelativeDistance(product(denseOf(rowstest.Factor(z)), denseOf(rowsOf(last.q))).RawMatrix().Data, f.RawMatrix().Data); !(off <= 1e-9) {
				t.Errorf("seed %d, γ %v: labels are off by %.2g", seed, opt.Gamma, off)
			}
		}
	}
}

// TestNDFSIsThePaperOnAnchors: where every row is one of the anchors, labels that are the
// same for equal rows have the form F = BQ, and the paper's update of all n rows keeps it.
func TestNDFSIsThePaperOnAnchors(t *testing.T) {
	kinds, _ := sample(3, 12, 5, 6)
	var x, z [][]float64
	for i := range 40 {
		a := (i * i) % 12
		row := make([]float64, 12)
		row[a] = 1
		x, z = append(x, kinds[a]), append(z, row)
	}
	g := rowstest.BuildGraph(x, z)
	opt := Options{Method: NDFS, Alpha: 0.5, Beta: 0.3, Gamma: 1e8, Clusters: 3, Iterations: 6}
	start, _, err := initialLabels(t.Context(), kernel.NewTeam(1), g, opt.withDefaults())
	must.Do(t, err)
	b := rowstest.Factor(z)
	f0 := product(denseOf(b), denseOf(rowsOf(start)))
	rows := rowstest.ZeroRows(40, 3)
	one := rowstest.ZeroRows(40, 40)
	for i := range rows {
		copy(rows[i], f0.RawRowView(i))
		one[i][i] = 1
	}
	objective, norm, _ := denseNDFS(rowstest.CentreColumns(x), rowstest.Laplacian(z), one, rows, opt, 6)
	r := must.Get(Select(t.Context(), g, opt))(t)
	if a, b := rowstest.RelativeDistance(r.Objective, objective), rowstest.RelativeDistance(r.Scores, norm); !(a <= 1e-9 && b <= 1e-9) {
		t.Errorf("objective off by %.2g, norms by %.2g:\n%v\n%v", a, b, r.Scores, norm)
	}
}

func rowsOf(m kernel.Matrix[float64]) [][]float64 {
	rows := rowstest.ZeroRows(m.Rows, m.Cols)
	for i := range rows {
		copy(rows[i], m.Data[i*m.RowStride:])
	}
	return rows
}

// TestObjectiveFalls: JELSR's by its paper's proof, NDFS's because steps are shortened, which
// some weights need.
func TestObjectiveFalls(t *testing.T) {
	shortened := 0
	for seed := range uint64(3) {
		x, z := sample(seed, 60, 20, 9)
		g := rowstest.BuildGraph(x, z)
		for _, opt := range both {
			for _, opt.Alpha = range []float64{1e-6, 1, 1e6} {
				for _, opt.Beta = range []float64{1e-6, 1, 1e6} {
					for _, gamma := range []float64{1e-6, 1e-2, 1, 1e8} {
						if opt.Method == NDFS {
							opt.Gamma = gamma
						}
						opt.Clusters, opt.MaxIter, opt.Tol = 4, 20, 1e-9
						r := must.Get(Select(t.Context(), g, opt))(t)
						for i := range r.Objective[1:] {
							rise := r.Objective[i+1] - r.Objective[i]
							if r.Rose != nil || !(rise <= 1e-9*math.Abs(r.Objective[i])) {
								t.Errorf("%v seed %d α %v β %v γ %v: rose by %v at %d, %+v", opt.Method, seed, opt.Alpha, opt.Beta, opt.Gamma, rise, i+2, r.Rose)
							}
						}
						for _, w := range r.Warnings {
							if strings.Contains(w.String(), "shortened") {
								shortened++
							}
						}
						for j, v := range r.Scores {
							if !(v >= 0 && v <= math.MaxFloat64) {
								t.Fatalf("%v: norm %d is %v", opt.Method, j, v)
							}
						}
					}
				}
			}
		}
	}
	if shortened == 0 {
		t.Error("no step was shortened: the mend is not tested")
	}
}

// TestLabelsStayNonnegative, also where the paper's factor would be negative.
func TestLabelsStayNonnegative(t *testing.T) {
	x, z := sample(4, 60, 10, 9)
	g := rowstest.BuildGraph(x, z)
	for _, gamma := range []float64{1e-3, 1, 1e8} {
		opt := Options{Method: NDFS, Clusters: 3, Gamma: gamma, Alpha: 5, Beta: 0.01}.withDefaults()
		team := kernel.NewTeam(2)
		start, _, err := initialLabels(t.Context(), team, g, opt)
		must.Do(t, err)
		_, last, err := newLabelProblem(team, g).iterateLabels(t.Context(), start, opt)
		must.Do(t, err)
		for i, v := range last.q.Data {
			if !(v >= 0) {
				t.Fatalf("γ %v: label %d is %v", gamma, i, v)
			}
		}
		for j := range 3 {
			if v := last.ff.Data[j*4]; math.Abs(v-1) > 1e-12 {
				t.Errorf("γ %v: column %d has length² %v", gamma, j, v)
			}
		}
	}
}

// TestLaws: any number of workers, and permuted features.
func TestLaws(t *testing.T) {
	x, z := sample(5, 150, 60, 30)
	g := rowstest.BuildGraph(x, z)
	order := rand.New(rand.NewPCG(5, 5)).Perm(g.D)
	for _, opt := range both {
		opt.Clusters, opt.Iterations, opt.Threads, opt.Seed = 4, 8, 1, 3
		want := must.Get(Select(t.Context(), g, opt))(t)
		moved := must.Get(Select(t.Context(), rowstest.PermuteFeatures(g, order), opt))(t)
		for to, j := range order {
			// Other orders of the same sums, magnified as in the twins.
			if !(math.Abs(moved.Scores[to]-want.Scores[j]) <= 1e-7*want.Scores[want.Order[0]]) {
				t.Errorf("%v: feature %d has %v, permuted %v", opt.Method, j, want.Scores[j], moved.Scores[to])
			}
		}
		for _, opt.Threads = range []int{2, 8} {
			got := must.Get(Select(t.Context(), g, opt))(t)
			if !slices.Equal(got.Scores, want.Scores) || !slices.Equal(got.Objective, want.Objective) {
				t.Errorf("%v: other bits from %d workers", opt.Method, opt.Threads)
			}
		}
	}
}

// TestUnusedAnchors change nothing: an anchor that no row uses is none.
func TestUnusedAnchors(t *testing.T) {
	x, z := sample(6, 50, 8, 7)
	var less [][]float64
	for _, row := range z {
		less = append(less, row[:6])
	}
	for _, opt := range both {
		opt.Clusters, opt.Iterations = 3, 5
		a := must.Get(Select(t.Context(), rowstest.BuildGraph(x, z), opt))(t)
		b := must.Get(Select(t.Context(), rowstest.BuildGraph(x, less), opt))(t)
		if off := rowstest.RelativeDistance(a.Scores, b.Scores); !(off <= 1e-8) {
			t.Errorf("%v: off by %.2g", opt.Method, off)
		}
	}
}

// planted has rows in three groups that the first three of d features separate.
func planted(n, d int) *anchor.Graph {
	rnd := rand.New(rand.NewPCG(7, 7))
	x, z := rowstest.ZeroRows(n, d), rowstest.ZeroRows(n, 12)
	for i := range n {
		group := i % 3
		for e := range 3 {
			z[i][group*4+(i/3+e)%4] = [3]float64{0.5, 0.3, 0.2}[e]
		}
		for j := range d {
			x[i][j] = rnd.NormFloat64()
			if j < 3 {
				x[i][j] *= 0.1
				if j == group {
					x[i][j] += 2
				}
			}
		}
	}
	return rowstest.BuildGraph(x, z)
}

// TestFindsPlantedFeatures: the features that the groups hang on come first.
func TestFindsPlantedFeatures(t *testing.T) {
	g := planted(90, 20)
	for _, opt := range both {
		opt.Clusters = 3
		r := must.Get(Select(t.Context(), g, opt))(t)
		first := slices.Sorted(slices.Values(r.Order[:3]))
		// Two of three suffice to separate three groups.
		if !r.Converged || first[0] > 2 || first[1] > 2 {
			t.Errorf("%v: order %v, converged %t after %d iterations", opt.Method, r.Order, r.Converged, len(r.Objective))
		}
	}
}
