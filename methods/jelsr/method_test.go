package jelsr

import (
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// bind makes the method of that name with these settings.
func bind(t *testing.T, name string, settings method.Settings) *method.Bound {
	t.Helper()
	list := Specs()
	at := slices.IndexFunc(list, func(s method.Spec) bool { return s.Name == name })
	return must.Get(list[at].Bind(settings))(t)
}

// TestPath: every setting equals a run by itself, by rising weights, and is sound if it converged.
func TestPath(t *testing.T) {
	g := planted(90, 20)
	for _, name := range []string{"jelsr", "ndfs"} {
		b := bind(t, name, method.Settings{"alpha": "10,0.1,1", "beta": "1,0.5", "clusters": 3})
		e := &method.Evidence{Graph: g, K: 5, Seed: 2, Threads: 2}
		varied := b.Solver.(method.Varied)
		grid := must.Get(varied.Path(t.Context(), e))(t)
		if len(grid.Settings) != 6 || varied.Settings() != 6 || grid.Width != 2 {
			t.Fatalf("%s: %d settings in rows of %d", name, len(grid.Settings), grid.Width)
		}
		for i, set := range grid.Settings {
			alpha, beta := []float64{0.1, 1, 10}[i/2], []float64{0.5, 1}[i%2]
			if set.Alpha != alpha || set.Beta != beta || !math.IsNaN(set.Gamma) || set.Sound == set.Ranking.Unsettled {
				t.Errorf("%s: setting %d is %+v", name, i, set)
			}
			alone := bind(t, name, method.Settings{"alpha": alpha, "beta": beta, "clusters": 3})
			r := must.Get(alone.Solver.Select(t.Context(), e))(t)
			if !slices.Equal(r.Scores, set.Ranking.Scores) || r.Used["alpha"] != alpha || r.Used["clusters"] != 3 {
				t.Errorf("%s: setting %d differs from a run alone with %v", name, i, r.Used)
			}
			must.Do(t, r.Check(g.D))
		}
	}
	two := bind(t, "ndfs", method.Settings{"gamma": "1,10"})
	_, err := two.Solver.(method.Varied).Path(t.Context(), &method.Evidence{Graph: g, K: 5})
	rowstest.CheckRefusal(t, err, "gamma has 2 values")
}

func TestOptionsAreRefused(t *testing.T) {
	for _, settings := range []method.Settings{
		{"alpha": "0.1x"}, {"beta": "0"}, {"alpha": "1e13"}, {"clusters": 0}, {"max-iter": 0}, {"tol": 2.0},
	} {
		for _, spec := range Specs() {
			if _, err := spec.Bind(settings); err == nil {
				t.Errorf("%s takes %v", spec.Name, settings)
			}
		}
	}
	if _, err := Specs()[0].Bind(method.Settings{"gamma": "1"}); err == nil {
		t.Error("jelsr takes gamma")
	}
}

// TestCost: the plan's bytes and iterations are those of a run's options.
func TestCost(t *testing.T) {
	shape := method.Shape{Columns: make([]stream.Column, 40), Anchors: 30, Threads: 2}
	for _, name := range []string{"jelsr", "ndfs"} {
		b := bind(t, name, method.Settings{"clusters": 4, "max-iter": 7})
		cost := must.Get(b.Solver.Cost(shape))(t)
		opt := Options{Clusters: 4, Threads: 2}
		if name == "ndfs" {
			opt.Method = NDFS
		}
		if cost.Bytes != Bytes(40, 30, 0, opt) || cost.Iterations != 7 {
			t.Errorf("%s: cost %+v, want %d bytes and 7 iterations", name, cost, Bytes(40, 30, 0, opt))
		}
	}
}
