package eufs

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The naive twin: the two algorithms as the papers print them, with the slips that
// doc.go names mended, on dense matrices of n rows. Nothing is shared with the engine.

// twinStep is the twin's state after one iteration.
type twinStep struct {
	objective, split, zu, e, p float64
}

type twin struct {
	x, l           *mat.Dense // l nil: no graph
	u, v, z        *mat.Dense
	e              *mat.Dense
	y1, y2         *mat.Dense
	p, y3          []*mat.Dense // of the groups
	groups         [][]int
	alpha, beta    float64
	mu, rho, muMax float64
	hufs           bool
}

func newTwin(x, u, v *mat.Dense) *twin {
	n, d := x.Dims()
	_, k := u.Dims()
	return &twin{x: x, u: mat.DenseCopyOf(u), v: mat.DenseCopyOf(v), z: mat.DenseCopyOf(u),
		e: mat.NewDense(n, d, nil), y1: mat.NewDense(n, k, nil), y2: mat.NewDense(n, d, nil)}
}

// plant sets the tree's groups, P = MV and Y₃ = 0.
func (w *twin) plant(groups [][]int) {
	w.hufs, w.groups = true, groups
	_, k := w.v.Dims()
	for _, g := range groups {
		w.p = append(w.p, pick(w.v, g))
		w.y3 = append(w.y3, mat.NewDense(len(g), k, nil))
	}
}

func pick(v *mat.Dense, rows []int) *mat.Dense {
	_, k := v.Dims()
	out := mat.NewDense(len(rows), k, nil)
	for a, i := range rows {
		out.SetRow(a, v.RawRowView(i))
	}
	return out
}

// sum returns a + s·b.
func sum(a *mat.Dense, s float64, b mat.Matrix) *mat.Dense {
	var t, out mat.Dense
	t.Scale(s, b)
	out.Add(a, &t)
	return &out
}

func product(a, b mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Mul(a, b)
	return &out
}

// shrinkRows takes t off the length of every row.
func shrinkRows(q *mat.Dense, t float64) *mat.Dense {
	out := mat.DenseCopyOf(q)
	n, _ := q.Dims()
	for i := range n {
		row := out.RawRowView(i)
		norm := mat.Norm(mat.NewVecDense(len(row), row), 2)
		for j := range row {
			if norm > t {
				row[j] *= 1 - t/norm
			} else {
				row[j] = 0
			}
		}
	}
	return out
}

func positive(a *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(a)
	out.Apply(func(_, _ int, x float64) float64 { return max(x, 0) }, out)
	return out
}

func orthonormal(n *mat.Dense) *mat.Dense {
	var svd mat.SVD
	if !svd.Factorize(n, mat.SVDThin) {
		panic("no SVD")
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	return product(&u, v.T())
}

func rowNorms(a *mat.Dense) (total float64) {
	n, _ := a.Dims()
	for i := range n {
		row := a.RawRowView(i)
		total += mat.Norm(mat.NewVecDense(len(row), row), 2)
	}
	return total
}

func (w *twin) laplace(a *mat.Dense) *mat.Dense {
	if w.l == nil {
		n, k := a.Dims()
		return mat.NewDense(n, k, nil)
	}
	return product(w.l, a)
}

// iterate does one iteration, of EUFS in the order E, V, Z, U, Y₁, Y₂, μ and of HUFS in
// the order E, V, U, P, Z, Y₁, Y₂, Y₃, μ.
func (w *twin) iterate() twinStep {
	mu := w.mu
	w.e = shrinkRows(sum(sum(w.x, -1, product(w.u, w.v.T())), 1/mu, w.y2), 1/mu)
	m := sum(sum(w.x, -1, w.e), 1/mu, w.y2)
	k := product(m.T(), w.u)
	if w.hufs {
		w.hierarchical(m, k)
	} else {
		w.v = shrinkRows(k, w.alpha/mu)
		w.z = positive(sum(sum(w.u, -1/mu, w.y1), -w.beta/mu, w.laplace(w.u)))
		w.u = orthonormal(sum(sum(sum(w.z, 1/mu, w.y1), -w.beta/mu, w.laplace(w.z)), 1, product(m, w.v)))
	}
	zu := sum(w.z, -1, w.u)
	left := sum(w.x, -1, product(w.u, w.v.T()))
	off := sum(left, -1, w.e)
	w.y1 = sum(w.y1, mu, zu)
	w.y2 = sum(w.y2, mu, off)
	s := twinStep{zu: mat.Norm(zu, 2), e: mat.Norm(off, 2)}
	var trees, split float64
	for i, g := range w.groups {
		own := pick(w.v, g)
		gap := sum(w.p[i], -1, own)
		w.y3[i] = sum(w.y3[i], mu, gap)
		trees += rowNorms(mat.DenseCopyOf(own.T()))
		split += rowNorms(mat.DenseCopyOf(w.p[i].T()))
		s.p += math.Pow(mat.Norm(gap, 2), 2)
	}
	s.p = math.Sqrt(s.p)
	if w.hufs {
		s.objective = rowNorms(left) + w.beta*rowNorms(w.v) + w.alpha*trees
		s.split = rowNorms(w.e) + w.beta*rowNorms(w.v) + w.alpha*split
	} else {
		lu := w.laplace(w.u)
		s.objective = rowNorms(left) + w.alpha*rowNorms(w.v) + w.beta*mat.Trace(product(w.u.T(), lu))
		s.split = rowNorms(w.e) + w.alpha*rowNorms(w.v) + w.beta*mat.Trace(product(w.z.T(), lu))
	}
	w.mu = min(w.rho*mu, w.muMax)
	return s
}

func (w *twin) hierarchical(m, k *mat.Dense) {
	d, c := w.v.Dims()
	holders := make([]float64, d)
	for i, g := range w.groups {
		for a, j := range g {
			holders[j]++
			for b := range c {
				k.Set(j, b, k.At(j, b)+w.p[i].At(a, b)+w.y3[i].At(a, b)/w.mu)
			}
		}
	}
	for j, h := range holders { // eq. (4.17)
		row := mat.NewDense(1, c, k.RawRowView(j))
		row.Scale(1/(1+h), row)
		w.v.SetRow(j, shrinkRows(row, w.beta/w.mu/(1+h)).RawRowView(0))
	}
	w.u = orthonormal(sum(sum(w.z, 1/w.mu, w.y1), 1, product(m, w.v)))
	for i, g := range w.groups {
		p := sum(pick(w.v, g), -1/w.mu, w.y3[i])
		w.p[i] = mat.DenseCopyOf(shrinkRows(mat.DenseCopyOf(p.T()), w.alpha/w.mu).T())
	}
	w.z = positive(sum(w.u, -1/w.mu, w.y1))
}

func farthest(a, b []float64) (most float64) {
	for i, x := range a {
		if d := math.Abs(x - b[i]); !(d <= most) {
			most = d
		}
	}
	return most
}

func (w *twin) scores() []float64 {
	d, _ := w.v.Dims()
	out := make([]float64, d)
	for j := range d {
		out[j] = rowNorms(mat.NewDense(1, len(w.v.RawRowView(j)), w.v.RawRowView(j)))
	}
	return out
}

// within fails unless every figure is as near as asked.
func within(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	if off := farthest(got, want); !(off <= tol) {
		t.Errorf("%s is off by %.3g", what, off)
	}
}
