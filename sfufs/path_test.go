package sfufs

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/agree"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/method"
)

// TestPathIsSelect: every setting of a path equals Select's result, to the bit.
func TestPathIsSelect(t *testing.T) {
	g := rowstest.Graph(sample(90, 120, 20, 3, 8)) // fewer rows than features: the start is the mean
	grid := Grid{Alpha: []float64{10, 0.1, 10}, Gamma: []float64{1, 0, 100}, K: []int{7, 3}}
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
		if len(p.All) != 3*len(alphas) || !slices.Equal(p.K, []int{3, 7}) {
			t.Fatalf("%v: %d settings, K %v", opt.Method, len(p.All), p.K)
		}
		for i, s := range p.All {
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
	bad := Grid{Alpha: []float64{0}, Gamma: []float64{math.NaN()}, K: []int{5}}
	_, err := Path(t.Context(), rowstest.Graph(x, z), bad, Options{Method: FUFS, Clusters: 9})
	rowstest.Refused(t, err, "clusters = 9", "no alpha", "alpha = 0", "gamma = NaN", "k = 5")
}

// settings makes a grid whose settings choose feature groups: the setting with letter c
// takes c's features first. A small letter warns.
func settings(width int, rows ...string) *Settings {
	p := &Settings{K: []int{2}}
	for _, row := range rows {
		for _, c := range row {
			r := &Result{Converged: true, Ties: []int{1, 1, 1, 1, 1, 1, 1, 1}}
			if c >= 'a' {
				r.Warnings = []string{"warned"}
				c -= 'a' - 'A'
			}
			first := 2 * int(c-'A')
			for i := range 8 {
				r.Order = append(r.Order, (first+i)%8)
			}
			p.All = append(p.All, Setting{Result: r})
		}
	}
	p.compare(width)
	p.recommend(width)
	return p
}

func TestRecommend(t *testing.T) {
	for _, c := range []struct {
		rows []string
		want int
		why  string
	}{
		{[]string{"A"}, 0, "only"},
		{[]string{"a"}, -1, "warning"},
		{[]string{"AB"}, 0, "no two"},
		{[]string{"AAABB"}, 1, "3 of 5"},
		{[]string{"AaABB"}, 3, "2 of 4"},
		{[]string{"AAAB", "AAAB", "AAAB"}, 5, "9 of 12"},
		{[]string{"AAB", "BBB", "CDB"}, 4, "5 of 9"},
		{[]string{"bbbb", "bbCb"}, 6, "no two"},
	} {
		p := settings(len(c.rows[0]), c.rows...)
		if p.Recommended != c.want || !strings.Contains(p.Why, c.why) {
			t.Errorf("%q: setting %d, %q; want %d, %q", c.rows, p.Recommended, p.Why, c.want, c.why)
		}
	}
}

func TestUnsoundSettings(t *testing.T) {
	for name, spoil := range map[string]func(r *Result){
		"not converged": func(r *Result) { r.Converged = false },
		"rose":          func(r *Result) { r.Rose = &method.Rise{} },
		"tied at k":     func(r *Result) { r.Ties = []int{3, 5} },
	} {
		p := settings(3, "AAA")
		spoil(p.All[1].Result)
		p.recommend(3)
		if p.Recommended == 1 {
			t.Errorf("%s: recommended", name)
		}
	}
}

func TestAgreement(t *testing.T) {
	p := settings(3, "AAB", "CAB")
	for i, want := range []float64{0.5, 2. / 3, 0.5, 0, 1. / 3, 0.5} {
		if got := p.All[i].Agreement[0]; math.Abs(got-want) > 1e-15 {
			t.Errorf("setting %d agrees to %v, want %v", i, got, want)
		}
	}
	if got := agree.Jaccard([]int{0, 1, 2, 3}, []int{3, 2, 0, 1}, 3); got != 0.5 {
		t.Errorf("Jaccard index %v of {0 1 2} and {0 2 3}", got)
	}
	if got := settings(1, "A").All[0].Agreement[0]; !math.IsNaN(got) {
		t.Errorf("agreement %v without neighbours", got)
	}
}
