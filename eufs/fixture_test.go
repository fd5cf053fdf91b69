package eufs

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// grid is a matrix by rows.
type grid [][]float64

func (t grid) dense() *mat.Dense {
	m := mat.NewDense(len(t), len(t[0]), nil)
	for i, row := range t {
		m.SetRow(i, row)
	}
	return m
}

// fixture is a case of eufs_*.json or hufs_*.json: the iterates after `iterations`
// iterations, and figures after each. Its about says: slips mended, objective of eq.
// (13) or (3.4), objective14 of eq. (14).
type fixture struct {
	Alpha, Beta, Mu0, Rho float64
	MuMax                 float64 `json:"mu_max"`
	Iterations            int
	Names                 []string
	Tree                  json.RawMessage
	X, L, B, U0, V0, U, V grid
	Objective             []float64
	Objective14           []float64
	ResidualZU            []float64 `json:"residual_zu"`
	ResidualE             []float64 `json:"residual_e"`
	ResidualP             []float64 `json:"residual_p"`
	Scores                []float64
	Ranking               []int
}

// run gives the engine exactly the fixture's start.
func (f *fixture) run(t *testing.T, rows int) (*Problem, *Result, *mat.Dense) {
	t.Helper()
	opt := Options{Alpha: Weight{Value: f.Alpha}, Beta: Weight{Value: f.Beta}, Mu: f.Mu0, Rho: f.Rho, MuMax: f.MuMax,
		MaxIter: f.Iterations, Tol: -1, Threads: 2}
	if f.Tree != nil {
		opt.Method = HUFS
		opt.Tree = new(Tree)
		must.Do(t, json.Unmarshal(f.Tree, opt.Tree))
	}
	var g *graph
	switch {
	case f.B != nil:
		g = factored(t, f.B.dense(), newLayout(int64(len(f.X)), len(f.X[0]), len(f.U0[0]), rows))
	case f.L != nil:
		g = &graph{neighbours: rowstest.SparseGraph(f.L)}
	}
	p := problemOf(t, f.X.dense(), f.U0.dense(), f.V0.dense(), g, rows)
	r, u := solveU(t, p, opt)
	return p, r, u
}

func TestFixtureEUFS(t *testing.T) { checkFixtures(t, "eufs") }
func TestFixtureHUFS(t *testing.T) { checkFixtures(t, "hufs") }

func checkFixtures(t *testing.T, kind string) {
	for name, f := range fixtures.ReadCases[fixture](t, kind) {
		for _, rows := range []int{0, 7} { // one block, and several
			t.Run(fmt.Sprintf("%s/%d", name, rows), func(t *testing.T) {
				_, r, u := f.run(t, rows)
				f.compare(t, r, u)
			})
		}
	}
}

// compare holds every figure to the tolerance that the fixtures ask for: their iterates
// move by 1e-11 when the input is perturbed in its last digits (sensitivity).
func (f *fixture) compare(t *testing.T, r *Result, u *mat.Dense) {
	t.Helper()
	const tol = 1e-9
	var objective, split, zu, e, p []float64
	for _, s := range r.Trace {
		objective, split = append(objective, s.Objective), append(split, s.Split)
		zu, e, p = append(zu, s.ResidualZ), append(e, s.ResidualE), append(p, s.ResidualP)
	}
	within(t, "objective", objective, f.Objective, tol)
	within(t, "‖Z−U‖", zu, f.ResidualZU, tol)
	within(t, "‖X−UVᵀ−E‖", e, f.ResidualE, tol)
	if f.Tree == nil {
		within(t, "eq. (14)", split, f.Objective14, tol)
	} else {
		within(t, "‖P−MV‖", p, f.ResidualP, tol)
	}
	within(t, "U", u.RawMatrix().Data, f.U.dense().RawMatrix().Data, tol)
	within(t, "V", r.V, f.V.dense().RawMatrix().Data, tol)
	within(t, "scores", r.Scores, f.Scores, tol)
	for i, j := range r.Order {
		if want := f.Ranking[i]; j != want && math.Abs(f.Scores[j]-f.Scores[want]) > tol {
			t.Errorf("order %v, want %v", r.Order, f.Ranking)
			break
		}
	}
}
