package cpufs

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
)

// twin is CPUFS as the paper has it, its slips mended, sample by sample: X_i are n₁×n₂
// matrices, L is n×n.
type twin struct {
	x                    []*mat.Dense // n of n₁×n₂
	l                    *mat.Dense
	a, b, c, f           *mat.Dense // n₁×c, n₂×c, n×c, n×c
	u, v                 *mat.Dense // c×n₁, c×n₂
	nu, alpha, beta, eta float64
	nonneg               bool
}

// predict is H: h_ik = u_k X_i v_kᵀ.
func (t *twin) predict() *mat.Dense {
	c, _ := t.u.Dims()
	h := mat.NewDense(len(t.x), c, nil)
	for i, x := range t.x {
		for k := range c {
			h.Set(i, k, mat.Inner(t.u.RowView(k), x, t.v.RowView(k)))
		}
	}
	return h
}

func squaredDistance(a, b mat.Matrix) float64 {
	var diff mat.Dense
	diff.Sub(a, b)
	norm := mat.Norm(&diff, 2)
	return norm * norm
}

func scaled(by float64, m mat.Matrix) *mat.Dense {
	var s mat.Dense
	s.Scale(by, m)
	return &s
}

// rowNorm is the length of row (h, g) of W.
func (t *twin) rowNorm(h, g int) float64 {
	c, _ := t.u.Dims()
	sum := 0.0
	for k := range c {
		w := t.u.At(k, h) * t.v.At(k, g)
		sum += w * w
	}
	return math.Sqrt(sum)
}

// fit is the part of eq. (2) that speaks of U and V.
func (t *twin) fit() float64 {
	n1, n2 := t.x[0].Dims()
	lengths := 0.0
	for h := range n1 {
		for g := range n2 {
			lengths += t.rowNorm(h, g)
		}
	}
	return t.alpha*squaredDistance(t.predict(), t.f) + t.beta*lengths
}

// objective is eq. (2).
func (t *twin) objective() float64 {
	sum := t.fit()
	c, _ := t.u.Dims()
	for i, x := range t.x {
		n1, n2 := x.Dims()
		for h := range n1 {
			for g := range n2 {
				r := x.At(h, g)
				for k := range c {
					r -= t.a.At(h, k) * t.b.At(g, k) * t.c.At(i, k)
				}
				sum += r * r
			}
		}
	}
	var lf, clf mat.Dense
	lf.Mul(t.l, t.f)
	clf.Mul(t.c.T(), &lf)
	return sum + t.nu*mat.Trace(&clf) + t.eta*squaredDistance(t.c, t.f)
}

// updateA is the multiplicative rule of line 4, cut at 0: A∘[X₍₁₎(C⊙B)]₊/(A(CᵀC∘BᵀB) + ξ).
func (t *twin) updateA() {
	var cc, bb mat.Dense
	cc.Mul(t.c.T(), t.c)
	bb.Mul(t.b.T(), t.b)
	cc.MulElem(&cc, &bb)
	var under mat.Dense
	under.Mul(t.a, &cc)
	n1, n2 := t.x[0].Dims()
	_, c := t.a.Dims()
	for h := range n1 {
		for k := range c {
			over := 0.0
			for i, x := range t.x {
				for g := range n2 {
					over += x.At(h, g) * t.b.At(g, k) * t.c.At(i, k)
				}
			}
			t.a.Set(h, k, t.a.At(h, k)*max(over, 0)/(under.At(h, k)+rowFloor))
		}
	}
}

// transpose swaps the modes.
func (t *twin) transpose() *twin {
	s := *t
	s.x = nil
	for _, x := range t.x {
		s.x = append(s.x, mat.DenseCopyOf(x.T()))
	}
	s.a, s.b, s.u, s.v = t.b, t.a, t.v, t.u
	return &s
}

func (t *twin) updateC() {
	n, c := t.c.Dims()
	n1, n2 := t.x[0].Dims()
	var q mat.Dense
	q.Mul(t.l, t.f)
	q.Scale(-t.nu, &q)
	q.Add(&q, scaled(2*t.eta, t.f))
	for i := range n {
		for k := range c {
			sum := 0.0
			for h := range n1 {
				for g := range n2 {
					sum += t.x[i].At(h, g) * t.a.At(h, k) * t.b.At(g, k)
				}
			}
			q.Set(i, k, q.At(i, k)+2*sum)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(&q, mat.SVDThin) {
		panic("no SVD")
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	t.c.Mul(&u, v.T())
}

func (t *twin) updateF() {
	var lc mat.Dense
	lc.Mul(t.l.T(), t.c)
	h := t.predict()
	t.f.Apply(func(i, k int, _ float64) float64 {
		y := (t.alpha*h.At(i, k) + t.eta*t.c.At(i, k) - t.nu/2*lc.At(i, k)) / (t.alpha + t.eta)
		return max(y, 0)
	}, t.f)
}

// gradientU is line 9: 2α Σ_i diag(h_i − f_i) V X_iᵀ + β·U∘((V∘V)Nᵀ), N the reciprocal row
// norms as n₁×n₂.
func (t *twin) gradientU() *mat.Dense {
	c, n1 := t.u.Dims()
	_, n2 := t.x[0].Dims()
	var e mat.Dense
	e.Sub(t.predict(), t.f)
	grad := mat.NewDense(c, n1, nil)
	for i, x := range t.x {
		for k := range c {
			for h := range n1 {
				for g := range n2 {
					grad.Set(k, h, grad.At(k, h)+2*t.alpha*e.At(i, k)*t.v.At(k, g)*x.At(h, g))
				}
			}
		}
	}
	for k := range c {
		for h := range n1 {
			for g := range n2 {
				v := t.v.At(k, g)
				grad.Set(k, h, grad.At(k, h)+t.beta*t.u.At(k, h)*v*v/(t.rowNorm(h, g)+rowFloor))
			}
		}
	}
	return grad
}

func (t *twin) stepU(rate float64) {
	grad := t.gradientU()
	t.u.Apply(func(k, h int, u float64) float64 {
		u -= rate * grad.At(k, h)
		if t.nonneg {
			u = max(u, 0)
		}
		return u
	}, t.u)
}

func (t *twin) iterate(steps int, rate float64) {
	other := t.transpose() // of the same factors
	t.updateA()
	other.updateA()
	t.updateC()
	t.updateF()
	for range steps {
		t.stepU(rate)
		other.stepU(rate)
	}
}

// follow runs the twin for the fixture's iterations, and returns its objectives.
func (f *fixture) follow(t *twin) []float64 {
	objective := []float64{t.objective()}
	for range f.Iterations {
		t.iterate(f.Inner, f.Theta)
		objective = append(objective, t.objective())
	}
	return objective
}

func TestTwinHoldsTheFixtures(t *testing.T) {
	for _, kind := range []string{"cpufs", "cpufsnn"} {
		for name, f := range fixtures.ReadCases[fixture](t, kind) {
			if off := rowstest.RelativeDistance(f.follow(f.twin()), f.Objective); !(off <= 1e-9) {
				t.Errorf("%s: objective off by %.3g", name, off)
			}
		}
	}
}

func dense(m [][]float64) *mat.Dense { return mat.NewDense(len(m), len(m[0]), flat(m)) }

func (f *fixture) twin() *twin {
	t := &twin{l: dense(f.L), a: dense(f.A0), b: dense(f.B0), c: dense(f.C0), f: dense(f.F0), u: dense(f.U0), v: dense(f.V0),
		nu: f.Nu, alpha: f.Alpha, beta: f.Beta, eta: f.Eta, nonneg: f.Nonneg}
	for _, row := range f.X {
		t.x = append(t.x, mat.NewDense(f.Shape[0], f.Shape[1], slices.Clone(row)))
	}
	return t
}

// problem is a random case with clusters, for the engine and for the twin: a fixture
// without answers.
func problem(seed uint64, n1, n2, n, c int) *fixture {
	r := rand.New(rand.NewPCG(seed, 0))
	matrix := func(rows, cols int, top float64) [][]float64 {
		m := rowstest.ZeroRows(rows, cols)
		for _, row := range m {
			for j := range row {
				row[j] = top * r.Float64()
			}
		}
		return m
	}
	f := &fixture{Shape: []int{n1, n2}, N: n, Components: c, Nu: 0.5, Alpha: 0.7, Beta: 0.3, Eta: 40, Inner: 2, Iterations: 6,
		A0: matrix(n1, c, 1), B0: matrix(n2, c, 1), U0: matrix(c, n1, 0.3), V0: matrix(c, n2, 0.3)}
	centers := matrix(c, n1*n2, 1)
	f.X = matrix(n, n1*n2, 0.5)
	f.C0 = rowstest.ZeroRows(n, c)
	size := make([]float64, c)
	for i := range f.X {
		for j := range f.X[i] {
			f.X[i][j] += centers[i%c][j] / 2
		}
		size[i%c]++
	}
	for i := range f.C0 {
		f.C0[i][i%c] = 1 / math.Sqrt(size[i%c])
	}
	f.F0 = f.C0
	f.anchors(r, 9, 3)
	return f
}

// anchors makes B = ZΔ^(−1/2) of random weights, and L = I − BBᵀ.
func (f *fixture) anchors(r *rand.Rand, m, k int) {
	z := rowstest.ZeroRows(f.N, m)
	for i := range z {
		sum := 0.0
		for e := range k {
			v := 0.1 + r.Float64()
			z[i][(i+2*e)%m] = v
			sum += v
		}
		for j := range m {
			z[i][j] /= sum
		}
	}
	f.AnchorB, f.L = rowstest.Factor(z), rowstest.Laplacian(z)
}

func TestGradientsByCentralDifferences(t *testing.T) {
	f := problem(3, 4, 5, 30, 3)
	tw := f.twin()
	s := f.solver(t, f.options(GraphKNN))
	for mode, want := range []*mat.Dense{tw.gradientU(), tw.transpose().gradientU()} {
		factor := []*mat.Dense{tw.u, tw.v}[mode]
		// (φ(u+h) − φ(u−h))/2h is off by h²·φ‴/6 and by the rounding of φ over h: with h = 1e-5
		// and φ about 10 of either 1e-10 or so; gradients are about 1.
		const h = 1e-5
		got := s.factorGradient(mode)
		rows, cols := factor.Dims()
		for k := range rows {
			for j := range cols {
				at := factor.At(k, j)
				factor.Set(k, j, at+h)
				up := tw.fit()
				factor.Set(k, j, at-h)
				down := tw.fit()
				factor.Set(k, j, at)
				slope := (up - down) / (2 * h)
				if off := math.Abs(got[k*cols+j] - slope); !(off <= 1e-7*(1+math.Abs(slope))) {
					t.Errorf("mode %d: gradient at (%d, %d) is %v, differences say %v", mode, k, j, got[k*cols+j], slope)
				}
				if off := math.Abs(got[k*cols+j] - want.At(k, j)); !(off <= 1e-12*(1+math.Abs(slope))) {
					t.Errorf("mode %d: gradient at (%d, %d) is %v, the twin's %v", mode, k, j, got[k*cols+j], want.At(k, j))
				}
			}
		}
	}
}
