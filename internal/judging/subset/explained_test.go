package subset

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// explainedTable is n centred rows of d columns, the first `named` of which are to be explained. They share a factor, and
// the next `drivers` columns are each a part of one of them, which the factor does not explain.
func explainedTable(seed uint64, n, d, named, drivers int) (*mat.Dense, []int) {
	rng := rand.New(rand.NewPCG(seed, 17))
	x := mat.NewDense(n, d, nil)
	for i := range n {
		factor := rng.NormFloat64()
		for j := range d {
			x.Set(i, j, rng.NormFloat64())
		}
		for j := range named {
			x.Set(i, j, x.At(i, j)+2*factor)
		}
		for j := range drivers {
			x.Set(i, j, x.At(i, j)+2*x.At(i, named+j))
		}
	}
	for j := range d {
		col := mat.Col(nil, j, x)
		mean := sumValues(col) / float64(n)
		for i, v := range col {
			x.Set(i, j, v-mean)
		}
	}
	explained := make([]int, named)
	for j := range explained {
		explained[j] = j
	}
	return x, explained
}

func explainedGrams(x *mat.Dense) map[string]*gram.Matrix {
	n, d := x.Dims()
	g := mat.NewSymDense(d, nil)
	g.SymOuterK(1, x.T())
	full, factor := make([]float64, d*d), []float64(nil)
	for j := range d {
		for i := range d {
			full[j*d+i] = g.At(j, i)
		}
		factor = append(factor, mat.Col(nil, j, x)...)
	}
	return map[string]*gram.Matrix{"full": gram.Full(full, d), "factor": gram.FromFactor(factor, d, n)}
}

// TestExplainedRestEqualsDefinition: trace and norm are those of BᵀB for the residual B, by a QR decomposition.
func TestExplainedRestEqualsDefinition(t *testing.T) {
	x, explained := explainedTable(1, 60, 20, 5, 3)
	order := []int{6, 12, 5, 19, 8}
	for form, g := range explainedGrams(x) {
		r := newExplainedRest(&Gram{Matrix: g, Rows: 60, Threads: 1, Explain: explained, Forbid: explained}, len(order))
		for k := range order {
			r.takeFeature(order[k])
			chosen := mat.NewDense(60, k+1, nil)
			for at, p := range order[:k+1] {
				chosen.SetCol(at, mat.Col(nil, p, x))
			}
			var qr mat.QR
			var q, inner, fit, rest, outer mat.Dense
			qr.Factorize(chosen)
			qr.QTo(&q)
			b, thin := x.Slice(0, 60, 0, 5), q.Slice(0, 60, 0, k+1)
			inner.Mul(thin.T(), b)
			fit.Mul(thin, &inner)
			rest.Sub(b, &fit)
			outer.Mul(rest.T(), &rest)
			if norm := mat.Norm(&outer, 2); math.Abs(r.trace/mat.Trace(&outer)-1) > 1e-10 || math.Abs(r.norm/norm/norm-1) > 1e-10 {
				t.Errorf("%s, after %v: trace %v, norm %v; want %v, %v", form, order[:k+1], r.trace, r.norm, mat.Trace(&outer), norm*norm)
			}
		}
	}
}

// TestRecommendForExplained: all drivers of the named columns are recommended and nothing else, and of unrelated columns
// none, though the named ones are related. By design one set in twenty may have more; for no more than 8 of 60 sets of a
// binomial count with p = 0.05, the probability is 0.997.
func TestRecommendForExplained(t *testing.T) {
	for _, drivers := range []int{0, 3} {
		more := 0
		for seed := range uint64(60) {
			x, explained := explainedTable(seed, 300, 40, 8, drivers)
			var sizes []int
			for form, g := range explainedGrams(x) {
				size := must.Get(RecommendSize(t.Context(), &Gram{Matrix: g, Rows: 300, Threads: 2, Explain: explained, Forbid: explained}))(t)
				k := size.Rules[0].K
				if sizes = append(sizes, k); k < drivers || size.Recommended != max(k, 1) {
					t.Errorf("%d drivers, seed %d, %s: %+v, want all drivers", drivers, seed, form, size)
				}
			}
			if slices.Sort(sizes); sizes[0] != sizes[1] {
				t.Errorf("%d drivers, seed %d: %v by the two forms of one matrix", drivers, seed, sizes)
			}
			if sizes[0] > drivers {
				more++
			}
		}
		if more > 8 {
			t.Errorf("%d drivers: more than these in %d of 60 sets", drivers, more)
		}
		t.Logf("%d drivers: more in %d of 60", drivers, more)
	}
}

// TestRecommendForConstants: named columns that are constant, or candidates that are, lead to one feature and no share.
func TestRecommendForConstants(t *testing.T) {
	for _, constant := range [][]int{{0, 1}, {2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}} {
		x, explained := explainedTable(1, 30, 6, 2, 1)
		for _, j := range constant {
			x.SetCol(j, make([]float64, 30))
		}
		for form, g := range explainedGrams(x) {
			size := must.Get(RecommendSize(t.Context(), &Gram{Matrix: g, Rows: 30, Threads: 1, Explain: explained, Forbid: explained}))(t)
			if size.Recommended != 1 || size.Rules[0].K != 0 || float64(size.Explained) > 0 {
				t.Errorf("constant %v, %s: %+v", constant, form, size)
			}
		}
	}
}
