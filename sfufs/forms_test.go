package sfufs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// wide are n rows in three clusters, d features, every third of which separates them, and weights on m
// anchors.
func wide(n, d, m int, seed uint64) (x, z [][]float64) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		row, weights := make([]float64, d), make([]float64, m)
		for j := range row {
			row[j] = r.NormFloat64() * (1 + float64(j%5))
			if j%3 == 0 {
				row[j] += 4 * math.Sin(float64((i%3+1)*(j+2)))
			}
		}
		at := i % m
		weights[at], weights[(at+3)%m], weights[(at+6)%m] = 0.5, 0.3, 0.2
		x, z = append(x, row), append(z, weights)
	}
	return x, z
}

// G in full and as a factor give the same norms, and so the same ranking.
func TestFormsRankAlike(t *testing.T) {
	shapes := [][3]int{{30, 150, 12}, {60, 90, 15}}
	if long.IsOn() {
		shapes = append(shapes, [3]int{40, 400, 40})
	}
	for _, shape := range shapes {
		x, z := wide(shape[0], shape[1], shape[2], 5)
		// Four clusters of 40 rows pass a saddle of the objective from update 15 on, which magnifies the
		// rounding of either form: 12 updates are compared.
		for _, opt := range []Options{
			{}, {Alpha: 10, Gamma: 0.01}, {Gamma: 1}, {Method: FUFS}, {Clusters: 3, Iterations: 4},
			{Constraint: Identity}, {Constraint: Identity, Gamma: 0.1, Clusters: 4, Iterations: 12}, {Constraint: Identity, Method: FUFS, Iterations: 6},
		} {
			opt.Threads = 2
			name := fmt.Sprintf("%v %v %v α %v γ %v l %d", shape, opt.Method, opt.Constraint, opt.Alpha, opt.Gamma, opt.Clusters)
			want := must.Get(Select(t.Context(), rowstest.BuildGraph(x, z), opt))(t)
			got := must.Get(Select(t.Context(), rowstest.FactoredGraph(x, z), opt))(t)
			if got.Rose != nil || want.Rose != nil {
				t.Fatalf("%s: rose %v, %v", name, got.Rose, want.Rose)
			}
			if len(got.Objective) != len(want.Objective) || fmt.Sprint(got.Warnings) != fmt.Sprint(want.Warnings) || !slices.Equal(got.Costless, want.Costless) {
				t.Errorf("%s: %d updates, warnings %q; want %d, %q", name, len(got.Objective), got.Warnings, len(want.Objective), want.Warnings)
				continue
			}
			for i, v := range got.Objective {
				if math.Abs(v-want.Objective[i]) > 1e-7*math.Abs(want.Objective[i]) {
					t.Errorf("%s: objective %d is %v, want %v", name, i, v, want.Objective[i])
				}
			}
			for i, v := range got.Scores {
				if math.Abs(v-want.Scores[i]) > 1e-6*(1+want.Scores[i]) {
					t.Errorf("%s: norm %d is %v, want %v", name, i, v, want.Scores[i])
				}
			}
			opt.Threads = 5
			if again := must.Get(Select(t.Context(), rowstest.FactoredGraph(x, z), opt))(t); !slices.Equal(again.Scores, got.Scores) {
				t.Errorf("%s: workers change bits", name)
			}
		}
	}
}

// Where γ is so small that more directions cost next to nothing than W has columns, the null space of the rows
// among them, both forms still find as little to pay: their Tr(WᵀMW) is that of the lowest eigenvalues.
func TestFormsOfNoPenalty(t *testing.T) {
	x, z := wide(30, 150, 12, 5)
	for _, opt := range []Options{{Gamma: 1e-9}, {Gamma: 1e-6}, {NoPenalty: true}} {
		opt.Threads, opt.Iterations = 2, 1
		want := must.Get(Select(t.Context(), rowstest.BuildGraph(x, z), opt))(t)
		got := must.Get(Select(t.Context(), rowstest.FactoredGraph(x, z), opt))(t)
		// A column of W is no longer than √(1/ρ), and the sum of its rows' norms at most √d times that.
		most := opt.Gamma * 10 * math.Sqrt(150/ridge)
		if a, b := got.Objective[0], want.Objective[0]; math.Abs(a-b) > most+1e-9 {
			t.Errorf("γ = %v: the objective is %v, in full %v", opt.Gamma, a, b)
		}
	}
}

// TestLayout: the matrices for several α take the memory of the layouts. Eigenpairs and W are not measured.
func TestLayout(t *testing.T) {
	x, z := wide(300, 270, 400, 5)
	full, factor := rowstest.BuildGraph(x, z), rowstest.FactoredGraph(x, z)
	d, n, m, team := full.D, factor.G.Rank, full.M, kernel.NewTeam(1)
	for _, opt := range []Options{{}, {Method: FUFS}, {Constraint: Identity}, {Constraint: Identity, Method: FUFS}} {
		opt = opt.WithDefaults(d)
		name := fmt.Sprintf("%v, %v", opt.Method, opt.Constraint)
		declared := room.Measure(func(l *room.Layout) {
			new(costMatrix).layOut(l, d, m, opt.Method)
			if new(fullForm).layOut(l, d, opt.Constraint); opt.Constraint == Scatter {
				l.Add(linalg.CholeskyBytes(d))
			}
		})
		roomtest.CheckLayout(t, name, declared, func() {
			s := must.Get(newFullForm(full, team, opt))(t)
			for _, alpha := range []float64{1, 2, 3} {
				if _, err := s.loadMatrix(t.Context(), opt.Method, alpha); err != nil {
					t.Fatalf("alpha %v: %v", alpha, err)
				}
				if s.scatter != nil {
					s.scatter.writeReducedCosts(s, 1, make([]float64, d))
				}
			}
		})

		f := &factoredForm{team: team, graph: factor, b: kernel.RowMajor(factor.B(1), n, m, m)}
		declared = room.Measure(func(l *room.Layout) { new(factoredForm).layOut(l, n, m, opt) })
		roomtest.CheckLayout(t, name+", factored", declared, func() {
			f.layOut(nil, n, m, opt)
			for _, alpha := range []float64{1, 2, 3} {
				share, h, err := f.smoothFactor(opt.Method, alpha)
				must.Do(t, err)
				if opt.Constraint == Identity {
					f.smoothingMatrix(share, h)
				}
			}
		})
	}
}
