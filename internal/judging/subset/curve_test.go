package subset

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// leftByLeastSquares is ‖X − P_S X‖² of the data.
func leftByLeastSquares(x *mat.Dense, chosen []int) float64 {
	n, d := x.Dims()
	s := mat.NewDense(n, len(chosen), nil)
	for k, j := range chosen {
		s.SetCol(k, mat.Col(nil, j, x))
	}
	var w, rest mat.Dense
	if err := w.Solve(s, x); err != nil {
		return math.NaN()
	}
	rest.Mul(s, &w)
	rest.Sub(x, &rest)
	total := 0.0
	for j := range d {
		c := mat.Col(nil, j, &rest)
		for _, v := range c {
			total += v * v
		}
	}
	return total
}

// TestCurveTwin: the residual of every prefix of an order, against least squares on the data.
func TestCurveTwin(t *testing.T) {
	for _, s := range []set{{"mixtures", 40, 12, 3, 0.3, 1}, {"groups", 20, 30, 2, 0.5, 2}, {"noise", 300, 3, 0, 1, 3}} {
		x := s.data()
		g := gramOf(x)
		order := rand.New(rand.NewPCG(1, 1)).Perm(s.d)[:min(s.d, s.n-2, 12)]
		c := NewCurve(gram.Full(g, s.d), len(order), 2)
		for k, p := range order {
			c.TakeColumn(p)
			want := leftByLeastSquares(x, order[:k+1])
			if math.Abs(c.Left[k]-want) > 1e-9*c.Total {
				t.Errorf("%+v: %d columns leave %v, want %v", s, k+1, c.Left[k], want)
			}
			if got := ExplainedShare(gram.Full(g, s.d), order[:k+1], 1); math.Abs(got-(1-want/c.Total)) > 1e-9 {
				t.Errorf("%+v: %d columns explain %v", s, k+1, got)
			}
		}
	}
}

// TestCurveEdges: copies and zeros explain nothing more; threads change no bit.
func TestCurveEdges(t *testing.T) {
	x := set{"mixtures", 50, 600, 4, 0.4, 5}.data()
	x.SetCol(7, mat.Col(nil, 3, x))
	x.SetCol(9, make([]float64, 50))
	g := gramOf(x)
	order := []int{3, 7, 9, 11}
	one, many := NewCurve(gram.Full(g, 600), 4, 1), NewCurve(gram.Full(g, 600), 4, 8)
	for _, p := range order {
		one.TakeColumn(p)
		many.TakeColumn(p)
	}
	if !slices.Equal(one.Left, many.Left) || !slices.Equal(one.residualSquares, many.residualSquares) {
		t.Error("8 workers give other bits")
	}
	if one.Pivot[1] != 0 || one.Pivot[2] != 0 || !(one.Pivot[3] > 0) || one.Left[2] != one.Left[0] && math.Abs(one.Left[2]-one.Left[0]) > 1e-6*one.Total {
		t.Errorf("a copy and zeros: pivots %v, left %v", one.Pivot, one.Left)
	}
	if got := ExplainedShare(gram.Full(make([]float64, 4), 2), []int{1}, 1); got != 1 {
		t.Errorf("of nothing, a column explains %v", got)
	}
	if got := ExplainedShare(gram.Full(g, 600), nil, 1); got != 0 {
		t.Errorf("no column explains %v", got)
	}
}

// TestLayout: curves, models and draws take the memory of their layouts, and no more.
func TestLayout(t *testing.T) {
	const d, k, dims, many = 700, 300, 500, 200000
	full, factor := gram.Full(make([]float64, d*d), d), gram.FromFactor(make([]float64, d*dims), d, dims)
	team, squares, keys, different := kernel.NewTeam(1), make([]float64, d), make([]uint64, d), make([]float64, many)
	for i := range different {
		different[i] = float64(i + 1)
	}
	for j := range d {
		full.Sym[j*d+j], factor.R[j*dims+j%dims] = 1, 1
	}
	walk := func(g *gram.Matrix, taken int) func() {
		return func() {
			c := NewCurve(g, k, 1)
			for p := range taken {
				c.TakeColumn(p)
			}
		}
	}
	for name, c := range map[string]struct {
		layOut func(l *room.Layout)
		do     func()
	}{
		"curve":               {func(l *room.Layout) { new(Curve).layOut(l, d, k, false) }, walk(full, k)},
		"curve by the factor": {func(l *room.Layout) { new(Curve).layOut(l, d, k, true) }, walk(factor, 5)},
		"model":               {func(l *room.Layout) { layOutNullModel(l, many) }, func() { newNullModel(different, dims) }},
		"draw": {func(l *room.Layout) {
			kernel.NewMatrix[float64](l, d, d)
			layOutPermutedDraw(l, d, dims)
		}, func() { drawPermutedGram(team, squares, keys, dims, rand.New(rand.NewPCG(1, 1))) }},
	} {
		roomtest.CheckLayout(t, name, room.Measure(c.layOut), c.do)
	}
}
