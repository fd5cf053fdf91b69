package greedy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/realtest"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// standardizedRows returns the rows of x with centred columns of standard deviation 1.
func standardizedRows(x [][]float64) *mat.Dense {
	out := mat.NewDense(len(x[0]), len(x), nil)
	for j, column := range x {
		mean, sd := stat.PopMeanStdDev(column, nil)
		for i, v := range column {
			out.Set(i, j, (v-mean)/cmp.Or(sd, 1))
		}
	}
	return out
}

// principalRows returns the q leading principal components of the rows x, each of norm 1.
func principalRows(t *testing.T, x *mat.Dense, q int) *mat.Dense {
	t.Helper()
	var svd mat.SVD
	if !svd.Factorize(x, mat.SVDThin) {
		t.Fatal("gonum's decomposition failed, want success")
	}
	var u mat.Dense
	svd.UTo(&u)
	n, _ := x.Dims()
	return mat.DenseCopyOf(u.Slice(0, n, 0, q))
}

// sumSquaredCorrelations returns the sum of the squared canonical correlations of two sets of centred columns: the
// squared singular values of the product of orthonormal bases (Björck and Golub 1973). The second set is such a basis.
func sumSquaredCorrelations(columns *mat.Dense, basis *mat.Dense) float64 {
	n, k := columns.Dims()
	var qr mat.QR
	qr.Factorize(columns)
	var q, product mat.Dense
	qr.QTo(&q)
	product.Mul(q.Slice(0, n, 0, k).T(), basis)
	return mat.Norm(&product, 2) * mat.Norm(&product, 2)
}

// chooseCorrelatedNaively is fastcan by its definition: each turn computes the canonical correlations for every set.
func chooseCorrelatedNaively(x, components *mat.Dense, k int) (order []int, sums []float64) {
	n, d := x.Dims()
	for turn := range k {
		set := mat.NewDense(n, turn+1, nil)
		for i, j := range order {
			set.SetCol(i, mat.Col(nil, j, x))
		}
		best, most := -1, 0.0
		for j := range d {
			if slices.Contains(order, j) {
				continue
			}
			set.SetCol(turn, mat.Col(nil, j, x))
			if sum := sumSquaredCorrelations(set, components); best < 0 || sum > most+1e-9 {
				best, most = j, sum
			}
		}
		order, sums = append(order, best), append(sums, most)
	}
	return order, sums
}

// rankByComponents runs fastcan on x with its Gram matrix in full or as a factor.
func rankByComponents(t *testing.T, x *mat.Dense, isFactor bool, components method.ComponentCount, k, threads int) *method.Ranking {
	t.Helper()
	n, d := x.Dims()
	e := &method.Evidence{Gram: &gram.Gram{}, K: k, Threads: threads, Columns: make([]stream.Column, d)}
	if e.Gram.D = d; isFactor {
		e.Gram.R, e.Gram.Rank = mat.DenseCopyOf(x.T()).RawMatrix().Data, n
	} else {
		var full mat.Dense
		full.Mul(x.T(), x)
		e.Gram.Sym = full.RawMatrix().Data
	}
	m := &componentGreedy{components: components}
	return must.Get(m.Select(t.Context(), e))(t)
}

// checkCorrelated fails unless fastcan chooses as the naive twin, in both forms and with the same bits by any number of
// workers, and its errors are 1 less the sum of squared canonical correlations as a share of the components.
func checkCorrelated(t *testing.T, name string, x *mat.Dense, q, k int) {
	t.Helper()
	components := principalRows(t, x, q)
	order, sums := chooseCorrelatedNaively(x, components, k)
	for _, isFactor := range []bool{false, true} {
		r := rankByComponents(t, x, isFactor, method.ComponentCount{Count: q}, k, 1)
		if !slices.Equal(r.Order, order) {
			t.Fatalf("%s, %d components, factor %v: chose %v, want %v", name, q, isFactor, r.Order, order)
		}
		for i, sum := range sums {
			// The components are exact to 1e-14 over the gap of the last from the next, which is above 1e-5 here.
			if want := 1 - sum/float64(q); math.Abs(r.Error[i]-want) > 1e-9 {
				t.Errorf("%s, %d components, factor %v: error %v after %d features, want %v", name, q, isFactor, r.Error[i], i+1, want)
			}
		}
		if again := rankByComponents(t, x, isFactor, method.ComponentCount{Count: q}, k, 8); !slices.Equal(again.Turns, r.Turns) || !slices.Equal(again.Order, r.Order) {
			t.Errorf("%s, %d components, factor %v: 8 workers chose %v with other bits than %v of 1", name, q, isFactor, again.Order, r.Order)
		}
	}
}

// TestFastCanIsTheNaiveTwin: fastcan maximizes canonical correlations, of made data and of real ones.
func TestFastCanIsTheNaiveTwin(t *testing.T) {
	for _, s := range []struct{ n, d, q, k int }{{60, 12, 3, 6}, {60, 12, 1, 3}, {30, 50, 5, 8}, {200, 40, 8, 12}} {
		checkCorrelated(t, fmt.Sprint(s), standardizedRows(greedytest.RandomMatrix(uint64(s.n), s.n, s.d, 1).Col), s.q, s.k)
	}
	t.Run("real", func(t *testing.T) {
		for name, k := range map[string]int{"wine": 6, "sonar": 8, "libras": 6, "khan": 3} {
			if name == "khan" && !long.IsOn() { // which takes most of the time
				continue
			}
			x := standardizedRows(realtest.ReadColumns(t, name))
			for _, q := range []int{2, 5} {
				checkCorrelated(t, name, x, q, k)
			}
		}
	})
}

// TestCanonicalCorrelationsOfGonum: the sum of the naive twin is that of gonum's analysis of canonical correlations.
func TestCanonicalCorrelationsOfGonum(t *testing.T) {
	x := standardizedRows(greedytest.RandomMatrix(5, 80, 9, 1).Col)
	components, chosen := principalRows(t, x, 3), mat.DenseCopyOf(x.Slice(0, 80, 2, 6))
	var cc stat.CC
	must.Do(t, cc.CanonicalCorrelations(chosen, components, nil))
	want := 0.0
	for _, c := range cc.CorrsTo(nil) {
		want += c * c
	}
	if got := sumSquaredCorrelations(chosen, components); math.Abs(got-want) > 1e-10 {
		t.Errorf("sum of squared canonical correlations: got %v, want %v by gonum", got, want)
	}
}

// TestFastCanEdges: of fewer rows than features, all features but the constant one are chosen if as many are wanted, the
// first of equal ones first. The default number of components is half of the variance.
func TestFastCanEdges(t *testing.T) {
	columns := greedytest.RandomMatrix(8, 12, 6, 1).Col
	columns = slices.Concat(columns, columns, [][]float64{make([]float64, 12)}, greedytest.RandomMatrix(9, 12, 8, 0).Col)
	x := standardizedRows(columns)
	for _, isFactor := range []bool{false, true} {
		r := rankByComponents(t, x, isFactor, defaultComponentCount, 21, 2)
		if got := slices.Sorted(slices.Values(r.Order)); !slices.Equal(got, slices.Delete(rowstest.Integers(21), 12, 13)) {
			t.Errorf("factor %v: chose %v of 21, want all but the constant one, 12", isFactor, r.Order)
		}
		for j := range 6 {
			if slices.Index(r.Order, j) > slices.Index(r.Order, j+6) {
				t.Errorf("factor %v: the order %v has the copy %d before %d, want it after", isFactor, r.Order, j+6, j)
			}
		}
		if got := r.Used["components"]; got != "50%" {
			t.Errorf("factor %v: used components %v, want 50%%", isFactor, got)
		}
	}
	m := &componentGreedy{components: defaultComponentCount}
	constant := &gram.Gram{}
	constant.D, constant.Sym = 3, make([]float64, 9)
	_, err := m.Select(t.Context(), &method.Evidence{Gram: constant, K: 1})
	if !errors.As(err, new(*stream.DataError)) {
		t.Errorf("constant columns: error %v, want a data error", err)
	}
}

// TestFastCanBytes: what a run allocates is within its cost.
func TestFastCanBytes(t *testing.T) {
	for _, s := range []struct{ n, d, k int }{{300, 250, 20}, {60, 1500, 20}} {
		x := standardizedRows(greedytest.RandomMatrix(3, s.n, s.d, 0).Col)
		g := gram.FromFactor(mat.DenseCopyOf(x.T()).RawMatrix().Data, s.d, s.n)
		if s.d < s.n {
			var full mat.Dense
			full.Mul(x.T(), x)
			g = gram.Full(full.RawMatrix().Data, s.d)
		}
		m := &componentGreedy{components: method.ComponentCount{Count: 5}}
		cost := must.Get(m.Cost(method.Shape{Columns: make([]stream.Column, s.d), K: s.k, Rank: g.Rank, Threads: 1}))(t)
		e := &method.Evidence{Gram: &gram.Gram{}, K: s.k, Threads: 1, Columns: make([]stream.Column, s.d)}
		e.Gram.D, e.Gram.Sym, e.Gram.R, e.Gram.Rank = g.D, g.Sym, g.R, g.Rank
		var start, end runtime.MemStats
		runtime.ReadMemStats(&start)
		must.Get(m.Select(t.Context(), e))(t)
		runtime.ReadMemStats(&end)
		// The search for components is garbage when greedy begins.
		searching := spectral.ComponentsBytes(s.d, g.Rank, 5)
		if all := int64(end.TotalAlloc - start.TotalAlloc); all > searching+cost.Bytes || cost.Bytes < searching {
			t.Errorf("%+v: %d bytes allocated, want at most %d for components, and %d for the whole, which must be as much", s, all, searching, cost.Bytes)
		}
	}
}
