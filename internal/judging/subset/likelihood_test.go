package subset

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
)

// twoLogLikelihood is −2 log L of the model of Sood and Hastie at its maximum, from the
// definition: the density of a normal variable whose covariance is made of Ĉ, Ŵ and D̂.
func twoLogLikelihood(x *mat.Dense, chosen []int) float64 {
	n, d := x.Dims()
	in := make(map[int]bool)
	order := append([]int(nil), chosen...)
	for _, j := range chosen {
		in[j] = true
	}
	for j := range d {
		if !in[j] {
			order = append(order, j)
		}
	}
	sorted := mat.NewDense(n, d, nil)
	for to, j := range order {
		sorted.SetCol(to, mat.Col(nil, j, x))
	}
	sample := mat.NewDense(d, d, nil)
	sample.Mul(sorted.T(), sorted)
	sample.Scale(1/float64(n), sample)
	k := len(chosen)
	model := mat.NewSymDense(d, nil)
	if k == 0 {
		for j := range d {
			model.SetSym(j, j, sample.At(j, j))
		}
	} else {
		c := sample.Slice(0, k, 0, k)
		var w, fitted mat.Dense // W = Σ_RS C⁻¹, and WCWᵀ
		if err := w.Solve(c, sample.Slice(0, k, k, d)); err != nil {
			return math.NaN()
		}
		fitted.Mul(sample.Slice(k, d, 0, k), &w)
		for i := range d {
			for j := i; j < d; j++ {
				v := sample.At(i, j)
				if i >= k && i != j { // with D̂ the diagonal is the sample's
					v = fitted.At(i-k, j-k)
				}
				model.SetSym(i, j, v)
			}
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(model) {
		return math.NaN()
	}
	var inverse mat.Dense
	if err := chol.SolveTo(&inverse, sample); err != nil {
		return math.NaN()
	}
	return float64(n) * (chol.LogDet() + mat.Trace(&inverse) + float64(d)*math.Log(2*math.Pi))
}

// TestCriterionTwin: differences of the criterion equal those of −2 log L by the definition, and the number of
// parameters equals a count one by one.
func TestCriterionTwin(t *testing.T) {
	s := set{"mixtures", 80, 10, 3, 0.5, 4}
	x := s.data()
	n, g := float64(s.n), gramOf(x)
	c := NewCurve(gram.Full(g, s.d), 6, 1)
	order := []int{4, 0, 9, 2, 7, 5}
	at := func(k int, pivots float64) float64 {
		return informationCriterion(n, s.d, k, pivots, c.sumLogResiduals(n))
	}
	none, pivots := at(0, 0), 0.0
	start := twoLogLikelihood(x, nil)
	for i, p := range order {
		c.TakeColumn(p)
		pivots += math.Log(c.Pivot[i] / n)
		k := i + 1
		parameters := 0
		for a := range s.d {
			for b := range a + 1 {
				switch {
				case a < k: // of C
					parameters++
				case b < k: // of W
					parameters++
				case a == b: // of D
					parameters++
				}
			}
		}
		want := twoLogLikelihood(x, order[:k]) - start + math.Log(n)*float64(parameters-s.d)
		if got := at(k, pivots) - none; math.Abs(got-want) > 1e-8*n*float64(s.d) {
			t.Errorf("k = %d: %v, want %v", k, got, want)
		}
	}
}
