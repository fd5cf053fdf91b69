package greedy

import (
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// fixture is a case of <kind>_small.json. By its field "about", f[t], g[t] belong to all columns at the start of turn
// t, chosen columns 0; errors[t] is ‖X − P_S X‖² before turn t; f agrees to 1e-9·max f[0], g to 1e-9·max g[0], errors
// to 1e-9·errors[0]; it stops at g ≤ 1e-10·g⁰, we at 1e-8·g⁰.
type fixture struct {
	Name   string
	X      [][]float64
	K      int
	Order  []int
	F, G   [][]float64
	Score  []float64
	Gap    []float64 // (best − runner-up)/best; 1 where nothing runs up
	Errors []float64
	Groups []int
}

func TestFixtureGreedy(t *testing.T) { checkFixtures(t, "greedy", false) }

func TestFixturePartgreedy(t *testing.T) { checkFixtures(t, "partgreedy", true) }

func checkFixtures(t *testing.T, kind string, partitioned bool) {
	for _, fix := range fixtures.ReadCases[fixture](t, kind) {
		t.Run(fix.Name, func(t *testing.T) {
			x := MatrixFromRows(fix.X)
			opt := Options{K: fix.K, Partitioned: partitioned, Groups: fix.Groups, Threads: 2}
			must.Do(t, opt.Validate(x.D))
			for form, g := range x.GramForms() {
				groups := fix.Groups
				if !partitioned {
					groups = nil
				}
				goal := must.Get(target.NewData(kernel.NewTeam(2), g, groups))(t)
				fix.validate(t, g)
				m := must.Get(engine.NewGram(g, g.Diagonal(2), goal, 2))(t)
				var turn int
				watch := func(c *engine.Criterion) {
					if turn < len(fix.F) {
						fix.compare(t, form, turn, c, m)
					}
					turn++
				}
				m.Groups = opt.Groups
				fix.compareResult(t, must.Get(engine.RunLayers(t.Context(), m, m.Criterion, opt.WithDefaults(x.D), watch))(t))
			}
		})
	}
}

// validate requires a number for every turn: a missing one would go unchecked.
func (fix *fixture) validate(t *testing.T, m *gram.Matrix) {
	t.Helper()
	n := len(fix.Order)
	if len(fix.F) != n || len(fix.G) != n || len(fix.Score) != n || len(fix.Gap) != n || len(fix.Errors) != n+1 {
		t.Fatalf("%d turns with %d f, %d g, %d scores, %d gaps, %d errors", n,
			len(fix.F), len(fix.G), len(fix.Score), len(fix.Gap), len(fix.Errors))
	}
	total := 0.0
	for _, g := range m.Diagonal(1) {
		total += g
	}
	if !(math.Abs(fix.Errors[0]-total) <= 1e-9*total) {
		t.Errorf("errors[0] = %v, but the sum of squares is %v", fix.Errors[0], total)
	}
}

// compareGap checks the lead of the best score; f and g are in the fixture's units.
// A score is off by (δf + score·δg)/g.
func (fix *fixture) compareGap(t *testing.T, turn int, alive []bool, f, g []float64, fTol, gTol float64) {
	t.Helper()
	var best, second, tol float64
	for i, ok := range alive {
		if !ok {
			continue
		}
		score := f[i] / g[i]
		tol = max(tol, (fTol+score*gTol)/g[i])
		best, second = max(best, score), max(second, min(best, score))
	}
	if best > 0 && !(math.Abs(fix.Gap[turn]-(best-second)/best) <= 2*tol/best) {
		t.Errorf("turn %d: gap %v, want %v", turn, (best-second)/best, fix.Gap[turn])
	}
}

// compare checks f and g of one turn; c is in units of powers of 4.
func (fix *fixture) compare(t *testing.T, form string, turn int, c *engine.Criterion, m *engine.Gram) {
	t.Helper()
	gUnit, hUnit := m.GUnit, m.HUnit
	fTol, gTol := 1e-9*slices.Max(fix.F[0]), 1e-9*slices.Max(fix.G[0])
	f, g := make([]float64, c.FeatureCount), make([]float64, c.FeatureCount)
	for i := range c.FeatureCount {
		f[i], g[i] = c.F[i]/hUnit/hUnit, c.G[i]/gUnit
		if got, want := f[i], fix.F[turn][i]; !(math.Abs(got-want) <= fTol) {
			t.Errorf("%s: turn %d: f[%d] = %v, want %v", form, turn, i, got, want)
		}
		if got, want := g[i], fix.G[turn][i]; !(math.Abs(got-want) <= gTol) {
			t.Errorf("%s: turn %d: g[%d] = %v, want %v", form, turn, i, got, want)
		}
	}
	fix.compareGap(t, turn, c.Alive, f, g, fTol, gTol)
}

func (fix *fixture) compareResult(t *testing.T, r *Result) {
	t.Helper()
	order := r.Order[:greedytest.FirstLayerSize(r)] // the paper has no other layers
	if len(order) > len(fix.Order) {
		t.Fatalf("order %v, want %v", order, fix.Order)
	}
	if n := len(order); n < len(fix.Order) {
		// Only columns between the two thresholds of exhaustion may be missing.
		for i, g := range fix.G[n] {
			if g > engine.ExhaustedShare*fix.G[0][i] {
				t.Fatalf("order %v, want %v", r.Order, fix.Order)
			}
		}
		if len(r.Warnings) == 0 {
			t.Error("ended early without saying so")
		}
	}
	for j, p := range order {
		if p != fix.Order[j] {
			t.Fatalf("order %v, want %v", order, fix.Order)
		}
		// score = f/g: its error is the error of f over g, and the error of g over g times the score.
		g := fix.G[j][p]
		tol := 1e-9*slices.Max(fix.F[0])/g + 1e-9*fix.Score[j]
		if math.Abs(r.Scores[j]-fix.Score[j]) > tol {
			t.Errorf("score[%d] = %v, want %v", j, r.Scores[j], fix.Score[j])
		}
		if math.Abs(r.Error[j]-fix.Errors[j+1]/fix.Errors[0]) > 1e-9 {
			t.Errorf("error[%d] = %v, want %v", j, r.Error[j], fix.Errors[j+1]/fix.Errors[0])
		}
	}
}
