package sfufs

import (
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// fixtureFile is an sfufs_*.json. Its about says: W(1) from M0 + γI, then Q and W(t+1)
// from M0 + γQ, exactly `iterations` updates of W; objective[t] after update t+1; two
// features whose norms differ by less than 1e-7 may swap; X is not centred.
type fixtureFile struct {
	X, Z        table
	L           int
	Eps         float64
	Iterations  int
	SFUFS, FUFS []fixtureCase
}

type fixtureCase struct {
	Name         string
	Alpha, Gamma float64
	M0           table
	Objective    []float64
	RowNorms     []float64 `json:"row_norms"`
	Ranking      []int
	MinEigenGap  float64 `json:"min_eigen_gap"`
}

func TestFixtureSFUFS(t *testing.T) {
	for name, file := range fixtures.ReadCases[fixtureFile](t, "sfufs") {
		if file.Eps != epsilon || file.Iterations < 1 || len(file.SFUFS) == 0 || len(file.FUFS) == 0 {
			t.Fatalf("%s: ε %v, %d iterations, %d and %d cases", name, file.Eps, file.Iterations, len(file.SFUFS), len(file.FUFS))
		}
		for i, fix := range append(file.SFUFS, file.FUFS...) {
			opt := Options{Constraint: Identity, Alpha: fix.Alpha, Gamma: fix.Gamma, NoPenalty: fix.Gamma == 0, Clusters: file.L, Iterations: file.Iterations, Threads: 2}
			if i >= len(file.SFUFS) {
				opt.Method = FUFS
			}
			t.Run(name+"/"+fix.Name, func(t *testing.T) { fix.check(t, file, opt) })
		}
	}
}

func (fix *fixtureCase) check(t *testing.T, file *fixtureFile, opt Options) {
	if len(fix.Objective) != file.Iterations || len(fix.RowNorms) != len(file.X[0]) || len(fix.Ranking) != len(file.X[0]) {
		t.Fatalf("%d objectives, %d norms, %d ranks", len(fix.Objective), len(fix.RowNorms), len(fix.Ranking))
	}
	for _, g := range []*anchor.Graph{rowstest.BuildGraph(file.X, file.Z), rowstest.FactoredGraph(file.X, file.Z)} {
		fix.checkGraph(t, file, g, opt)
	}
}

func (fix *fixtureCase) checkGraph(t *testing.T, file *fixtureFile, g *anchor.Graph, opt Options) {
	t.Helper()
	m := must.Get(Matrix(t.Context(), g, opt))(t)
	if off := rowstest.RelativeDistance(m, fix.M0.flat()); !(off <= 1e-9) {
		t.Errorf("M is off by %.2g", off)
	}
	r := must.Get(Select(t.Context(), g, opt))(t)
	if r.Rose != nil {
		t.Fatalf("the objective rose: %+v", *r.Rose)
	}
	if off := rowstest.RelativeDistance(r.Objective, fix.Objective); !(off <= 1e-9) {
		t.Errorf("objective is off by %.2g:\n%v\n%v", off, r.Objective, fix.Objective)
	}
	// The norms, and so the ranking, have a tolerance of 1e-7.
	for i, want := range fix.RowNorms {
		if math.Abs(r.Scores[i]-want) > 1e-7 {
			t.Errorf("norm %d is %v, want %v", i, r.Scores[i], want)
		}
	}
	for k, i := range r.Order {
		if want := fix.Ranking[k]; i != want && math.Abs(fix.RowNorms[i]-fix.RowNorms[want]) >= 1e-7 {
			t.Errorf("order %v, want %v", r.Order, fix.Ranking)
			break
		}
	}
}
