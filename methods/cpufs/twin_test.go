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

// twin is CPUFS as the paper has it, its slips mended, sample by sample: X_i are tensors of
// any order, L is n×n.
type twin struct {
	x                    []tensor
	l                    *mat.Dense
	a                    []*mat.Dense // of each side: n_s×c
	c, f                 *mat.Dense   // n×c
	u                    []*mat.Dense // of each side: c×n_s
	nu, alpha, beta, eta float64
	nonneg               bool
}

// tensor is a row of the table, the last index running fastest.
type tensor struct {
	shape []int
	data  []float64
}

// entry is a number of a tensor, with its indices.
type entry struct {
	at    []int
	value float64
}

func (x tensor) entries() []entry {
	all := []entry{{}}
	for _, n := range x.shape {
		var more []entry
		for _, e := range all {
			for i := range n {
				more = append(more, entry{at: append(slices.Clone(e.at), i)})
			}
		}
		all = more
	}
	for i := range all {
		all[i].value = x.data[i]
	}
	return all
}

// weight is w of an entry, u₁(k, i₁)·u₂(k, i₂)·…, without the factor of one side (-1 for none).
func (t *twin) weight(e entry, k, without int) float64 {
	w := 1.0
	for s, u := range t.u {
		if s != without {
			w *= u.At(k, e.at[s])
		}
	}
	return w
}

// model is a₁(i₁, k)·a₂(i₂, k)·…, without the factor of one side (-1 for none).
func (t *twin) model(e entry, k, without int) float64 {
	w := 1.0
	for s, a := range t.a {
		if s != without {
			w *= a.At(e.at[s], k)
		}
	}
	return w
}

// predict is H: h_ik = X_i ×₁ u₁ₖ ×₂ u₂ₖ ….
func (t *twin) predict() *mat.Dense {
	_, c := t.c.Dims()
	h := mat.NewDense(len(t.x), c, nil)
	for i, x := range t.x {
		for _, e := range x.entries() {
			for k := range c {
				h.Set(i, k, h.At(i, k)+e.value*t.weight(e, k, -1))
			}
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

// score is the length of the row of W of an entry.
func (t *twin) score(e entry) float64 {
	_, c := t.c.Dims()
	sum := 0.0
	for k := range c {
		w := t.weight(e, k, -1)
		sum += w * w
	}
	return math.Sqrt(sum)
}

func (t *twin) scores() (scores []float64) {
	for _, e := range t.x[0].entries() {
		scores = append(scores, t.score(e))
	}
	return scores
}

// fit is the part of eq. (2) that speaks of the weights.
func (t *twin) fit() float64 {
	lengths := 0.0
	for _, s := range t.scores() {
		lengths += s
	}
	return t.alpha*squaredDistance(t.predict(), t.f) + t.beta*lengths
}

// objective is eq. (2).
func (t *twin) objective() float64 {
	sum := t.fit()
	_, c := t.c.Dims()
	for i, x := range t.x {
		for _, e := range x.entries() {
			r := e.value
			for k := range c {
				r -= t.model(e, k, -1) * t.c.At(i, k)
			}
			sum += r * r
		}
	}
	var lf, clf mat.Dense
	lf.Mul(t.l, t.f)
	clf.Mul(t.c.T(), &lf)
	return sum + t.nu*mat.Trace(&clf) + t.eta*squaredDistance(t.c, t.f)
}

// updateA is the multiplicative rule of line 4, cut at 0, with B the product of Khatri and
// Rao of the other factors: A∘[X₍ₛ₎(C⊙B)]₊/(A(CᵀC∘BᵀB) + ξ), BᵀB being the product of theirs
// entry by entry.
func (t *twin) updateA(side int) {
	var under, square mat.Dense
	under.Mul(t.c.T(), t.c)
	for s, a := range t.a {
		if s != side {
			var aa mat.Dense
			aa.Mul(a.T(), a)
			under.MulElem(&under, &aa)
		}
	}
	square.Mul(t.a[side], &under)
	n, c := t.a[side].Dims()
	over := mat.NewDense(n, c, nil)
	for i, x := range t.x {
		for _, e := range x.entries() {
			for k := range c {
				h := e.at[side]
				over.Set(h, k, over.At(h, k)+e.value*t.model(e, k, side)*t.c.At(i, k))
			}
		}
	}
	t.a[side].Apply(func(h, k int, a float64) float64 {
		switch {
		case under.At(k, k) == 0: // mended: any a is a minimum, and 0 for all sides would never change again
			return a
		case a == 0: // mended: it grows again, to the minimum for CᵀC = I
			return max(over.At(h, k), 0) / under.At(k, k)
		}
		return a * max(over.At(h, k), 0) / (square.At(h, k) + rowFloor)
	}, t.a[side])
}

func (t *twin) updateC() {
	_, c := t.c.Dims()
	var q mat.Dense
	q.Mul(t.l, t.f)
	q.Scale(-t.nu, &q)
	q.Add(&q, scaled(2*t.eta, t.f))
	for i, x := range t.x {
		for _, e := range x.entries() {
			for k := range c {
				q.Set(i, k, q.At(i, k)+2*e.value*t.model(e, k, -1))
			}
		}
	}
	t.c = polarFactor(&q)
}

func polarFactor(q mat.Matrix) *mat.Dense {
	var svd mat.SVD
	if !svd.Factorize(q, mat.SVDThin) {
		panic("no SVD")
	}
	var u, v, p mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	p.Mul(&u, v.T())
	return &p
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

// gradient is line 9, entry by entry: 2α Σ_i (h_ik − f_ik) X_i(e)·v(e, k) + β Σ u·v²/‖w(e)‖,
// over the entries e in the place of u, v being the product of the other sides' weights.
func (t *twin) gradient(side int) *mat.Dense {
	c, n := t.u[side].Dims()
	var off mat.Dense
	off.Sub(t.predict(), t.f)
	grad := mat.NewDense(c, n, nil)
	add := func(k, h int, v float64) { grad.Set(k, h, grad.At(k, h)+v) }
	for i, x := range t.x {
		for _, e := range x.entries() {
			for k := range c {
				add(k, e.at[side], 2*t.alpha*off.At(i, k)*e.value*t.weight(e, k, side))
			}
		}
	}
	for _, e := range t.x[0].entries() {
		for k := range c {
			v := t.weight(e, k, side)
			add(k, e.at[side], t.beta*t.u[side].At(k, e.at[side])*v*v/(t.score(e)+rowFloor))
		}
	}
	return grad
}

func (t *twin) step(side int, rate float64) {
	grad := t.gradient(side)
	t.u[side].Apply(func(k, h int, u float64) float64 {
		u -= rate * grad.At(k, h)
		if t.nonneg {
			u = max(u, 0)
		}
		return u
	}, t.u[side])
}

func (t *twin) iterate(steps int, rate float64) {
	for s := range t.a {
		t.updateA(s)
	}
	t.updateC()
	t.updateF()
	for range steps {
		for s := range t.u {
			t.step(s, rate)
		}
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
	t := &twin{l: dense(f.L), c: dense(f.C0), f: dense(f.F0), nu: f.Nu, alpha: f.Alpha, beta: f.Beta, eta: f.Eta, nonneg: f.Nonneg}
	for s, a := range f.modelStart() {
		t.a, t.u = append(t.a, dense(a)), append(t.u, dense(f.weightStart()[s]))
	}
	for _, row := range f.X {
		t.x = append(t.x, tensor{f.Shape, row})
	}
	return t
}

// problem is a random case with clusters, for the engine and for the twin: a fixture
// without answers.
func problem(seed uint64, n, c int, shape ...int) *fixture {
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
	f := &fixture{Shape: shape, N: n, Components: c, Nu: 0.5, Alpha: 0.7, Beta: 0.3, Eta: 40, Inner: 2, Iterations: 6,
		A0: matrix(shape[0], c, 1), B0: matrix(shape[1], c, 1), U0: matrix(c, shape[0], 0.3), V0: matrix(c, shape[1], 0.3)}
	d := shape[0] * shape[1]
	for _, side := range shape[2:] {
		f.more = append(f.more, [2][][]float64{matrix(side, c, 1), matrix(c, side, 1)})
		d *= side
	}
	centers := matrix(c, d, 1)
	f.X = matrix(n, d, 0.5)
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
	for _, shape := range [][]int{{4, 5}, {3, 4, 2}, {2, 3, 2, 2}} {
		f := problem(3, 30, 3, shape...)
		tw := f.twin()
		s := f.solver(t, f.options(GraphKNN))
		for side, factor := range tw.u {
			want := tw.gradient(side)
			// (φ(u+h) − φ(u−h))/2h is off by h²·φ‴/6 and by the rounding of φ over h: with h = 1e-5
			// and φ about 10 of either 1e-10 or so; gradients are about 1.
			const h = 1e-5
			got := s.factorGradient(side)
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
						t.Errorf("%v, side %d: gradient at (%d, %d) is %v, differences say %v", shape, side, k, j, got[k*cols+j], slope)
					}
					if off := math.Abs(got[k*cols+j] - want.At(k, j)); !(off <= 1e-12*(1+math.Abs(slope))) {
						t.Errorf("%v, side %d: gradient at (%d, %d) is %v, the twin's %v", shape, side, k, j, got[k*cols+j], want.At(k, j))
					}
				}
			}
		}
	}
}
