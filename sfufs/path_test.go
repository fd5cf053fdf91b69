package sfufs

import (
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestPathIsSelect: every setting of a path equals Select's result, to the bit.
func TestPathIsSelect(t *testing.T) {
	g := rowstest.BuildGraph(sample(90, 120, 20, 3, 8)) // fewer rows than features: the start is the mean
	grid := Grid{Alpha: []float64{10, 0.1, 10}, Gamma: []float64{1, 0, 100}}
	for _, opt := range []Options{{Clusters: 4, Constraint: Identity}, {Clusters: 4}, {Clusters: 4, Method: FUFS, Constraint: Identity}} {
		opt.MaxIter = 6
		grid := grid
		if opt.Method == FUFS {
			grid.Alpha = nil
		}
		var progress [][]float64
		opt.Progress = func(iteration int, objective float64) {
			if iteration == 1 {
				progress = append(progress, nil)
			}
			progress[len(progress)-1] = append(progress[len(progress)-1], objective)
		}
		p := must.Get(Path(t.Context(), g, grid, opt))(t)
		alphas := []float64{0.1, 10}
		if opt.Method == FUFS {
			alphas = []float64{0}
		}
		if len(p) != 3*len(alphas) {
			t.Fatalf("%v: %d settings", opt.Method, len(p))
		}
		for i, s := range p {
			if s.Alpha != alphas[i/3] || s.Gamma != []float64{0, 1, 100}[i%3] {
				t.Errorf("setting %d: α %v γ %v", i, s.Alpha, s.Gamma)
			}
			if !slices.Equal(progress[i], s.Result.Objective) {
				t.Errorf("setting %d: progress %v, objective %v", i, progress[i], s.Result.Objective)
			}
			alone := opt
			alone.Progress = nil
			alone.Alpha, alone.Gamma, alone.NoPenalty = s.Alpha, s.Gamma, s.Gamma == 0
			if !equalResults(mustSelect(t, g, alone), s.Result) {
				t.Errorf("%v %v α %v γ %v: not what Select gives", opt.Method, opt.Constraint, s.Alpha, s.Gamma)
			}
		}
	}
}

func TestPathNamesEveryFault(t *testing.T) {
	x, z := sample(30, 4, 6, 3, 1)
	bad := Grid{Alpha: []float64{0}, Gamma: []float64{math.NaN()}}
	_, err := Path(t.Context(), rowstest.BuildGraph(x, z), bad, Options{Method: FUFS, Clusters: 9})
	rowstest.CheckRefusal(t, err, "clusters = 9", "no alpha", "alpha = 0", "gamma = NaN")
}
