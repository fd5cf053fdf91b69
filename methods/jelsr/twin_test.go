package jelsr

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"gonum.org/v1/gonum/mat"
)

// sample draws n rows of d features around the m−1 anchors that they use, three each; the
// last anchor stays unused.
func sample(seed uint64, n, d, m int) (x, z [][]float64) {
	rnd := rand.New(rand.NewPCG(seed, 16))
	x, z = rowstest.ZeroRows(n, d), rowstest.ZeroRows(n, m)
	for i := range n {
		total := 0.0
		for e := range 3 {
			a := (i + e*(1+i%2)) % (m - 1)
			w := 0.1 + rnd.Float64()
			z[i][a] += w
			total += w
		}
		for a := range m {
			z[i][a] /= total
			for j := range d {
				x[i][j] += z[i][a] * math.Sin(float64((a+1)*(j+2)))
			}
		}
		for j := range d {
			x[i][j] += 0.2 * rnd.NormFloat64()
		}
	}
	return x, z
}

func denseOf(rows [][]float64) *mat.Dense {
	return mat.NewDense(len(rows), len(rows[0]), slices.Concat(rows...))
}

func product(factors ...mat.Matrix) *mat.Dense {
	out := mat.DenseCopyOf(factors[0])
	for _, f := range factors[1:] {
		next := &mat.Dense{}
		next.Mul(out, f)
		out = next
	}
	return out
}

// plus returns a + f·b.
func plus(a mat.Matrix, f float64, b mat.Matrix) *mat.Dense {
	out := &mat.Dense{}
	out.Scale(f, b)
	out.Add(a, out)
	return out
}

func eye(n int) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	for i := range n {
		m.Set(i, i, 1)
	}
	return m
}

// hat is H = (XᵀX + weight·U)⁻¹ for the diagonal of U.
func hat(x mat.Matrix, weight float64, u []float64) *mat.Dense {
	p := product(x.T(), x)
	for i, v := range u {
		p.Set(i, i, p.At(i, i)+weight*v)
	}
	h := &mat.Dense{}
	if err := h.Inverse(p); err != nil {
		panic(err)
	}
	return h
}

// norms are those of the rows of W, their sum, and the next U.
func norms(w *mat.Dense) (norm []float64, sum float64, u []float64) {
	d, _ := w.Dims()
	for i := range d {
		norm = append(norm, mat.Norm(w.RowView(i), 2))
		sum += norm[i]
		u = append(u, 1/(2*norm[i]))
	}
	return norm, sum, u
}

func square(m mat.Matrix) float64 { n := mat.Norm(m, 2); return n * n }

// denseJELSR is the paper on the n×n Laplacian: all of Y and W, eigenvectors by Jacobi.
func denseJELSR(x, l [][]float64, alpha, beta float64, c, iterations int) (objective []float64, norm []float64) {
	n, d := len(x), len(x[0])
	mx, ml := denseOf(x), denseOf(l)
	u := slices.Repeat([]float64{1}, d)
	for range iterations {
		h := hat(mx, alpha, u)
		cost := plus(plus(ml, beta, eye(n)), -beta, product(mx, h, mx.T()))
		rows := rowstest.ZeroRows(n, n)
		for i := range n {
			copy(rows[i], cost.RawRowView(i))
		}
		_, vectors := rowstest.Jacobi(rows)
		y := denseOf(vectors).Slice(0, n, 0, c)
		w := product(h, mx.T(), y)
		var sum float64
		norm, sum, u = norms(w)
		objective = append(objective, mat.Trace(product(y.T(), ml, y))+beta*(square(plus(product(mx, w), -1, y))+alpha*sum))
	}
	return objective, norm
}

// denseNDFS is the paper's objective on n rows, minimized over F = BQ for Q ≥ 0 by its own
// update with the gradient by Q. With B = I it is the paper's iteration.
func denseNDFS(x, l, b, q0 [][]float64, opt Options, iterations int) (objective, norm []float64, f *mat.Dense) {
	n, d := len(x), len(x[0])
	mx, ml, mb, q := denseOf(x), denseOf(l), denseOf(b), denseOf(q0)
	_, c := q.Dims()
	u := slices.Repeat([]float64{1}, d)
	for range iterations {
		h := hat(mx, opt.Beta, u)
		m := plus(ml, opt.Alpha, plus(eye(n), -1, product(mx, h, mx.T())))
		f = product(mb, q)
		up := product(mb.T(), f)
		down := product(mb.T(), plus(product(m, f), opt.Gamma, product(f, f.T(), f)))
		q.Apply(func(i, j int, v float64) float64 {
			if v == 0 {
				return 0
			}
			return v * opt.Gamma * up.At(i, j) / down.At(i, j)
		}, q)
		f = product(mb, q)
		for j := range c {
			length := mat.Norm(f.ColView(j), 2)
			for i := range n {
				f.Set(i, j, f.At(i, j)/length)
			}
			for a := range b[0] {
				q.Set(a, j, q.At(a, j)/length)
			}
		}
		w := product(h, mx.T(), f)
		var sum float64
		norm, sum, u = norms(w)
		objective = append(objective, mat.Trace(product(f.T(), ml, f))+
			opt.Alpha*(square(plus(product(mx, w), -1, f))+opt.Beta*sum)+
			opt.Gamma/2*square(plus(product(f.T(), f), -1, eye(c))))
	}
	return objective, norm, f
}
