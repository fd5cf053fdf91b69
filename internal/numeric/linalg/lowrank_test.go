package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// lowRankCase is a LowRank with a T between 0 and 1, and A and M in full by definition, M = I without a metric.
func lowRankCase(t *testing.T, n, d int, rho float64, diag func(i int, r *rand.Rand) float64) (a *LowRank, full, metric kernel.Matrix[float64]) {
	t.Helper()
	r, team := rand.New(rand.NewPCG(uint64(n), uint64(d))), kernel.NewTeam(2)
	const scale = 0.5
	u := kernel.RowMajor(make([]float64, d*n), d, n, n)
	for i := range u.Data {
		u.Data[i] = r.NormFloat64()
	}
	half, middle := kernel.RowMajor(make([]float64, n*n), n, n, n), kernel.RowMajor(make([]float64, n*n), n, n, n)
	for i := range half.Data {
		half.Data[i] = r.NormFloat64() / math.Sqrt(4*float64(n))
	}
	for i := range n { // three directions cost nothing
		copy(half.Data[i*n:], []float64{0, 0, 0})
	}
	kernel.Gemm(team, 1, half.Trans(), half, middle)
	if rho > 0 {
		for i := range d { // as of centred rows
			row := u.Data[i*n : (i+1)*n]
			mean := 0.0
			for _, v := range row {
				mean += v / float64(n)
			}
			for j := range row {
				row[j] -= mean
			}
		}
		dual := kernel.RowMajor(make([]float64, n*n), n, n, n)
		kernel.Gemm(team, 1, u.Trans(), u, dual)
		a = NewPencil(team, memoryColumns(u), d, n, scale, squaresOf(u), func() []float64 { return dual.Data }, rho)
		must.Do(t, a.SetSmooth(smoothOf(t, team, middle)))
		middle = a.middle // to the last digit, which F without a D multiplies
	} else {
		dual := kernel.RowMajor(make([]float64, n*n), n, n, n)
		kernel.Gemm(team, scale*scale, u.Trans(), u, dual)
		lambda := must.Get(SymmetricEigen(team, dual))(t)
		turned := kernel.RowMajor(make([]float64, d*n), d, n, n)
		kernel.Gemm(team, 1, u, dual, turned)
		u = turned
		a = NewLowRank(team, u, scale, lambda)
		// U is turned, and T stays as it is: any T will do
		must.Do(t, a.SetMiddle(middle))
	}
	d0 := make([]float64, d)
	for i := range d0 {
		d0[i] = diag(i, r)
	}
	a.SetDiagonal(d0)

	full, metric = kernel.RowMajor(make([]float64, d*d), d, d, d), kernel.RowMajor(make([]float64, d*d), d, d, d)
	kernel.Gemm(team, scale*scale, MultiplyMatrices(a.team, u, middle), u.Trans(), full)
	if rho > 0 {
		kernel.Gemm(team, scale*scale, u, u.Trans(), metric)
	} else {
		rho = 1
	}
	for i, v := range d0 {
		full.Data[i*d+i] += v
		metric.Data[i*d+i] += rho
	}
	return a, full, metric
}

// squaresOf returns the squared lengths of rows.
func squaresOf(u kernel.Matrix[float64]) []float64 {
	out := make([]float64, u.Rows)
	for i := range out {
		row := u.Data[i*u.RowStride:][:u.Cols]
		out[i] = kernel.Dot(row, row)
	}
	return out
}

// smoothOf writes T as share·(I − HᵀH). Directions that cost nothing, the first, do so to the last digit.
func smoothOf(t *testing.T, team *kernel.Team, middle kernel.Matrix[float64]) (share float64, h kernel.Matrix[float64]) {
	t.Helper()
	n, free := middle.Rows, 0
	for free < n && middle.Data[free*n+free] == 0 {
		free++
	}
	m := n - free
	axes := copyRows(middle.Sub(free, free, m, m))
	h = kernel.RowMajor(make([]float64, n*n), n, n, n)
	for i := range free {
		h.Data[i*n+i] = 1
	}
	if m == 0 {
		return 1, h
	}
	tau := must.Get(SymmetricEigen(team, axes))(t)
	for i, v := range tau { // H = Σ √(1 − τ/share)·vvᵀ
		for j := range m {
			axes.Data[j*m+i] *= math.Pow(max(1-v/tau[m-1], 0), 0.25)
		}
	}
	kernel.Gemm(team, 1, axes, axes.Trans(), h.Sub(free, free, m, m))
	return tau[m-1], h
}

// ordinary is M^(−1/2)AM^(−1/2).
func ordinary(t *testing.T, full, metric kernel.Matrix[float64]) kernel.Matrix[float64] {
	t.Helper()
	vectors, d := slices.Clone(metric.Data), metric.Rows
	values := make([]float64, d)
	if !symmetricEigen(2, vectors, d, values) {
		t.Fatal("no eigenpairs")
	}
	root := kernel.RowMajor(vectors, d, d, d)
	scaled := copyRows(root)
	for i := range scaled.Data {
		scaled.Data[i] /= math.Sqrt(values[i%d])
	}
	product := func(x, y kernel.Matrix[float64]) kernel.Matrix[float64] {
		z := kernel.RowMajor(make([]float64, d*d), d, d, d)
		kernel.Gemm(kernel.NewTeam(2), 1, x, y, z)
		return z
	}
	inverse := product(scaled, root.Trans())
	return product(product(inverse, full), inverse)
}

// vectorsOf returns random vectors of a form and their w, d numbers each.
func vectorsOf(a *LowRank, k int) (x, w kernel.Matrix[float64]) {
	length := a.Length()
	x = kernel.RowMajor(make([]float64, k*length), k, length, length)
	for i := range x.Data {
		x.Data[i] = math.Sin(float64(i * i))
	}
	a.completeVectors(x)
	return x, a.Vectors(x.Trans())
}

// near fails where |aᵢ − bᵢ| > tol.
func near(t *testing.T, what string, a, b []float64, tol float64) {
	t.Helper()
	for i, v := range a {
		if !(math.Abs(v-b[i]) <= tol) {
			t.Fatalf("%s: %v, want %v ± %v", what, v, b[i], tol)
		}
	}
}

// Products, factors and eigenpairs equal the full matrix's.
func TestLowRankIsTheMatrix(t *testing.T) {
	for name, diag := range map[string]func(int, *rand.Rand) float64{
		"even": func(int, *rand.Rand) float64 { return 1 },
		"none": func(int, *rand.Rand) float64 { return 0 },
		"few": func(i int, r *rand.Rand) float64 {
			if i%29 == 0 {
				return 0.3 * (1 + r.Float64())
			}
			return 2000 * (1 + r.Float64())
		},
		"mixed": func(_ int, r *rand.Rand) float64 { return math.Pow(10, 4*r.Float64()-2) },
	} {
		for _, rho := range []float64{0, 1e-3} {
			for _, shape := range [][2]int{{20, 150}, {40, 260}, {3, 120}} {
				n, d := shape[0], shape[1]
				t.Run(fmt.Sprint(name, rho, shape), func(t *testing.T) {
					a, full, metric := lowRankCase(t, n, d, rho, diag)
					want := ordinary(t, full, metric)
					scale := 0.0
					for _, v := range want.Data {
						scale = max(scale, math.Abs(v))
					}
					tol := 1e-12 * scale
					if rho > 0 { // here M is made of numbers that are known no better
						tol *= 1 / rho
					}
					const k = 3
					x, w := vectorsOf(a, k)
					longest := kernel.Dot(x.Data, x.Data)
					near(t, "products", MultiplyMatrices(a.team, a.Times(x), x.Trans()).Data, MultiplyMatrices(a.team, MultiplyMatrices(a.team, w, full), w.Trans()).Data, 1e-12*longest*(scale+1))
					near(t, "metric", MultiplyMatrices(a.team, x, x.Trans()).Data, MultiplyMatrices(a.team, MultiplyMatrices(a.team, w, metric), w.Trans()).Data, 1e-12*longest)
					if norm := a.Norm(); norm > 4*float64(d)*scale || norm < scale/100 {
						t.Errorf("norm %v of a matrix with the entry %v", norm, scale)
					}
					if scale > 0 {
						checkFactors(t, a, full, metric, want, scale)
					}
					if name == "none" && rho > 0 {
						return // all of the null space is of equal use
					}
					const l = 5
					dense := must.Get(NewSmallest(a.team, d, l, EigenOptions{}).Solve(want, kernel.Matrix[float64]{}))(t)
					got := must.Get(NewSmallest(a.team, a.Length(), l, EigenOptions{}).SolveForm(a, kernel.Matrix[float64]{}))(t)
					for i := range l {
						if math.Abs(got.Values[i]-dense.Values[i]) > tol {
							t.Errorf("eigenvalues %v, want %v", got.Values, dense.Values)
						}
					}
					again := must.Get(NewSmallest(kernel.NewTeam(5), a.Length(), l, EigenOptions{}).SolveForm(a, got.Basis))(t)
					for i := range l {
						if math.Abs(again.Values[i]-dense.Values[i]) > tol {
							t.Errorf("warm, eigenvalues %v, want %v", again.Values, dense.Values)
						}
					}
				})
			}
		}
	}
}

// checkFactors compares F⁻¹x for shifts below the spectrum and between its values, and with a V.
func checkFactors(t *testing.T, a *LowRank, full, metric, want kernel.Matrix[float64], scale float64) {
	t.Helper()
	d := a.d
	values := make([]float64, d)
	if !symmetricEigen(2, slices.Clone(want.Data), d, values) {
		t.Fatal("no eigenpairs")
	}
	const k = 4 // V lifts the lowest
	e := must.Get(a.lowest(k))(t)
	v := kernel.RowMajor(make([]float64, k*a.Length()), k, a.Length(), a.Length())
	kernel.Copy(v, e.Vectors.Trans())
	scaleRows(v, math.Sqrt(scale))
	none := kernel.RowMajor[float64](nil, 0, a.Length(), a.Length())
	below := values[0] - 1e-3*scale
	for _, c := range []struct {
		sigma    float64
		v        kernel.Matrix[float64]
		definite bool
	}{
		{below, none, true},
		{(values[k-1] + values[k]) / 2, v, values[k]-values[k-1] > 1e-9*scale},
		{values[k] + 1e-3*scale, v, false},
		{values[0] + 1e-3*scale, none, false},
	} {
		if !c.definite && c.v.Rows > 0 && c.sigma < values[k] {
			continue // at a repeated value rounding decides
		}
		f := a.factorShifted(c.sigma, c.v)
		if got := f != nil; got != c.definite {
			t.Errorf("at %v, with %d rows, definite is %v; values %v", c.sigma, c.v.Rows, got, values[:k+2])
			continue
		}
		if !c.definite {
			// Without a D E is ρσ alone, and b − Uᵀz what is left of numbers 1/E times as large: enough for a
			// preconditioner, and no more.
			continue
		}
		x, _ := vectorsOf(a, 2)
		b, lift := a.rightHandSides(x), a.rightHandSides(c.v)
		f.solveRows(x)
		w := a.Vectors(x.Trans())
		back := MultiplyMatrices(a.team, w, full) // w·F
		kernel.Gemm(a.team, -c.sigma, w, metric, back)
		kernel.Gemm(a.team, 1, MultiplyMatrices(a.team, w, lift.Trans()), lift, back)
		largest := max(slices.Max(w.Data), -slices.Min(w.Data))
		near(t, fmt.Sprintf("F·F⁻¹x at %v", c.sigma), back.Data, b.Data, 1e-9*(slices.Max(full.Data)+math.Abs(c.sigma)*slices.Max(metric.Data))*largest)
		if c.v.Rows > 0 {
			inner := kernel.RowMajor(make([]float64, k*k), k, k, k)
			f.inverseGram(inner, c.v)
			v := copyRows(c.v)
			f.solveRows(v)
			near(t, "inner", inner.Data, MultiplyMatrices(a.team, c.v, v.Trans()).Data, 1e-9*scale/(values[k]-c.sigma))
		}
	}
}

// lowest are l eigenpairs, by the dense solver.
func (a *LowRank) lowest(l int) (Eigen, error) {
	s := NewSmallest(a.team, a.Length(), l, EigenOptions{})
	return s.solveInFull(a, kernel.Matrix[float64]{})
}

func TestLowRankDiagonalInverse(t *testing.T) {
	a, want, _ := lowRankCase(t, 30, 130, 0, func(int, *rand.Rand) float64 { return 0 })
	const tau = 1e-6
	got := must.Get(a.DiagonalInverse(tau))(t)
	for i := range a.d {
		want.Data[i*a.d+i] += tau
	}
	var c Cholesky
	must.Do(t, c.Factor(a.team, want))
	unit := kernel.RowMajor(make([]float64, a.d*a.d), a.d, a.d, a.d)
	for i := range a.d {
		unit.Data[i*a.d+i] = 1
	}
	c.SolveTo(a.team, unit, unit)
	for i, v := range got {
		if w := unit.Data[i*a.d+i]; math.Abs(v-w) > 1e-7*w {
			t.Errorf("entry %d is %v, want %v", i, v, w)
		}
	}
}

// Root is that of a semidefinite matrix, of its rank.
func TestRoot(t *testing.T) {
	team := kernel.NewTeam(2)
	for _, shape := range [][2]int{{1, 1}, {5, 3}, {40, 40}, {70, 45}, {33, 0}} {
		n, rank := shape[0], shape[1]
		r := rand.New(rand.NewPCG(1, uint64(n)))
		b := kernel.RowMajor(make([]float64, rank*n), rank, n, max(n, 1))
		for i := range b.Data {
			b.Data[i] = r.NormFloat64() * math.Pow(10, float64(i%n%5))
		}
		a := kernel.RowMajor(make([]float64, n*n), n, n, n)
		kernel.Gemm(team, 1, b.Trans(), b, a)
		want := copyRows(a)
		u, pivots, err := PivotedRoot(team, a)
		if err != nil {
			t.Fatalf("root of %v: %v", shape, err)
		}
		for row := range u.Rows {
			for _, j := range pivots[:row] {
				if u.Data[row*u.RowStride+j] != 0 {
					t.Errorf("%d of rank %d: row %d is not 0 in column %d, of an earlier pivot", n, rank, row, j)
				}
			}
		}
		if u.Rows != rank {
			t.Errorf("rank %d, want %d", u.Rows, rank)
		}
		got := kernel.RowMajor(make([]float64, n*n), n, n, n)
		kernel.Gemm(team, 1, u.Trans(), u, got)
		for i := range n {
			for j := range n {
				if tol := 1e-12 * math.Sqrt(want.Data[i*n+i]*want.Data[j*n+j]); math.Abs(got.Data[i*n+j]-want.Data[i*n+j]) > tol {
					t.Fatalf("%d of rank %d: entry %d, %d is %v, want %v", n, rank, i, j, got.Data[i*n+j], want.Data[i*n+j])
				}
			}
		}
	}
	if _, _, err := PivotedRoot(team, kernel.RowMajor([]float64{1, math.NaN(), math.NaN(), 1}, 2, 2, 2)); err == nil {
		t.Error("a NaN has a root")
	}
}
