package linalg

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

func (r *reducedPencil) findPencilPairs(s *Smallest, z kernel.Matrix[float64], theta []float64) (b pencilRitz, ok bool) {
	y := r.yFromZ(z, theta)
	least := slices.Min(r.pencil.diag)
	for range maxReadings {
		if !(least > minRatio*theta[r.p-1]*r.pencil.rho) {
			return b, false
		}
		if b, ok = r.ritzPairs(y, theta); !ok {
			return b, false
		}
		theta = b.theta
		limit := max(pairTolerance*(theta[min(r.l, r.p-1)]-theta[r.l-1]), s.tolerance()*max(r.pencil.top, theta[r.l-1]))
		if slices.Max(b.bounds[:r.l]) <= limit {
			return b, true
		}
		if y, ok = r.solveCorrections(b); !ok {
			return b, false
		}
		r.root.SolveTo(r.team, y.Trans(), y.Trans())
		kernel.Axpy(1, b.y.Data, y.Data)
	}
	return b, false
}

const (
	// stretchBlock is the number of features that a worker reads at a time. For 3,000 rows in float32, blocks of 100 to
	// 256 features took two thirds of the time of blocks of 24 or 1,024, and of panels shared by all workers.
	stretchBlock = 128
	maxStretches = 32
)

// pairTolerance is the largest residual of accepted pairs, as a share of the gap θ_{l+1} − θ_l. It bounds the angle
// between a computed vector and the exact one.
const pairTolerance = 1e-7

func (r *reducedPencil) yFromZ(z kernel.Matrix[float64], theta []float64) kernel.Matrix[float64] {
	y := kernel.RowMajor(make([]float64, len(z.Data)), z.Rows, r.n, r.n)
	addProductInBlocks(r.team, -1, z, r.pencil.middle, y)
	for i, v := range theta {
		kernel.Axpy(v, z.Data[i*r.n:(i+1)*r.n], y.Data[i*r.n:(i+1)*r.n])
	}
	return y
}

type pencilRitz struct {
	theta  []float64
	w      kernel.Matrix[float64] // p×d, scaled to wᵀMw = 1
	z, y   kernel.Matrix[float64] // p×n
	g      kernel.Matrix[float64] // residuals y + (T − θI)z, p×n
	bounds []float64              // upper bounds on the residuals, in the norm of M⁻¹
}

// ritzPairs computes the w = (D − θρ)⁻¹Uᵀy and z = Uw of [reducedPencil] in one reading of U, and returns the Ritz
// pairs in the span of w.
func (r *reducedPencil) ritzPairs(y kernel.Matrix[float64], theta []float64) (b pencilRitz, ok bool) {
	n, d, p := r.n, r.d, y.Rows
	w, z := kernel.RowMajor(make([]float64, p*d), p, d, d), kernel.RowMajor(make([]float64, p*n), p, n, n)
	r.computeWAndZ(y, theta, w, z)
	square := func() kernel.Matrix[float64] { return kernel.RowMajor(make([]float64, p*p), p, p, p) }
	zt := kernel.RowMajor(make([]float64, p*n), p, n, n)
	addProductInBlocks(r.team, 1, z, r.pencil.middle, zt)
	ww, metric, full := square(), square(), square()
	r.writeGrams(w, ww, full)
	for i, v := range ww.Data {
		metric.Data[i] = r.pencil.rho * v
	}
	kernel.Gemm(r.team, 1, z, z.Trans(), metric)
	kernel.Gemm(r.team, 1, zt, z.Trans(), full)
	var c Cholesky
	if c.Factor(r.team, metric) != nil {
		return b, false
	}
	c.HalfSolveTo(r.team, full, full)
	c.HalfSolveTo(r.team, full.Trans(), full.Trans())
	b.theta = make([]float64, p)
	if !symmetricEigen(1, full.Data, p, b.theta) {
		return b, false
	}
	c.BackSolveTo(r.team, full, full) // the pairs in the basis of the rows of w
	b.w, b.z = MultiplyMatrices(r.team, full.Trans(), w), MultiplyMatrices(r.team, full.Trans(), z)
	b.y = MultiplyMatrices(r.team, full.Trans(), y)
	b.g = copyRows(b.y)
	kernel.Gemm(r.team, 1, full.Trans(), zt, b.g)
	b.bounds = make([]float64, p)
	rest, times := make([]float64, p), make([]float64, p)
	for i, v := range b.theta {
		g := b.g.Data[i*n : (i+1)*n]
		kernel.Axpy(-v, b.z.Data[i*n:(i+1)*n], g)
		for j := range rest {
			rest[j] = full.Data[j*p+i] * (theta[j] - v)
		}
		clear(times)
		kernel.Gemv(1, p, p, ww.Data, p, rest, times)
		b.bounds[i] = norm2(g) + math.Sqrt(r.pencil.rho*max(kernel.Dot(rest, times), 0))
	}
	return b, true
}

// computeWAndZ writes (D − θρ)⁻¹Uᵀy to w and Uw to z, both of which must be 0 before. See [reducedPencil] for the
// symbols. It divides the features into stretches of consecutive features. One worker reads a stretch, and adds to a
// sum for this stretch alone. The vectors, padded with 0, are multiplied in groups of the largest size for which a
// product does not copy U.
func (r *reducedPencil) computeWAndZ(y kernel.Matrix[float64], theta []float64, w, z kernel.Matrix[float64]) {
	n, d, p := r.n, r.d, y.Rows
	count := stretchCount(n, p)
	size := (d + count - 1) / count
	few := cmp.Or(kernel.ThinColumns(), p)
	groups := (p + few - 1) / few
	padded := kernel.RowMajor(make([]float64, groups*few*n), groups*few, n, n)
	copy(padded.Data, y.Data)
	sums := make([][]float64, count) // z of each stretch: n×few numbers for each group of vectors
	kernel.Each(cap(r.readers), count, func(t int) {
		reader := <-r.readers
		defer func() { r.readers <- reader }()
		sum, last := make([]float64, groups*n*few), min((t+1)*size, d)
		for from := t * size; from < last; from += stretchBlock {
			h := min(stretchBlock, last-from)
			u, some := kernel.RowMajor(r.u.Some(reader.room, from, h), h, n, n), kernel.RowMajor(reader.products, h, few, few)
			for g := range groups {
				clear(some.Data[:h*few])
				kernel.Gemm(reader.team, r.scale, u, padded.Sub(g*few, 0, few, n).Trans(), some)
				for i, v := range theta[g*few : min((g+1)*few, p)] {
					row := w.Data[(g*few+i)*d+from:][:h]
					for j, diag := range r.pencil.diag[from:][:h] {
						row[j] = some.Data[j*few+i] / (diag - v*r.pencil.rho)
						some.Data[j*few+i] = row[j]
					}
				}
				kernel.Gemm(reader.team, r.scale, u.Trans(), some, kernel.RowMajor(sum[g*n*few:], n, few, few))
			}
		}
		sums[t] = sum
	})
	for _, sum := range sums {
		for i := range p {
			for j, row := 0, z.Data[i*n:(i+1)*n]; j < n; j++ {
				row[j] += sum[(i/few*n+j)*few+i%few]
			}
		}
	}
}

// panelReader is the scratch memory of a worker that reads features.
type panelReader struct {
	team           *kernel.Team
	room, products []float64
}

// stretchCount returns the number of stretches of consecutive features that are read in parallel. It is so small that
// the sums of all stretches are at most n² numbers.
func stretchCount(n, vectors int) int { return max(min(maxStretches, n/(2*vectors)), 1) }

// writeGrams writes wwᵀ to plain and wDwᵀ to heavy, with the diagonal D of [reducedPencil]. A worker computes whole
// rows, because w's rows are few and long.
func (r *reducedPencil) writeGrams(w, plain, heavy kernel.Matrix[float64]) {
	p, d := w.Rows, w.Cols
	kernel.Each(r.team.Threads(), p, func(i int) {
		row, times := w.Data[i*d:(i+1)*d], make([]float64, d)
		multiplyElements(times, row, r.pencil.diag)
		for j := range p {
			other := w.Data[j*d : (j+1)*d]
			plain.Data[i*p+j], heavy.Data[i*p+j] = kernel.Dot(row, other), kernel.Dot(times, other)
		}
	})
	Symmetrize(plain)
	Symmetrize(heavy)
}

// solveCorrections returns the correction u of every pair, see [reducedPencil] for K, θ, z and g. u solves (K − θI)u =
// −g, restricted to vectors orthogonal to all z. Conjugate gradients solve (I − θK⁻¹)u = −K⁻¹g in the space of these
// vectors. The residual g lies in this space, because the pairs are Ritz pairs.
func (r *reducedPencil) solveCorrections(b pencilRitz) (kernel.Matrix[float64], bool) {
	n, p, g := r.n, r.p, b.g
	rows := func() kernel.Matrix[float64] { return kernel.RowMajor(make([]float64, p*n), p, n, n) }
	apart, products := rows(), kernel.RowMajor(make([]float64, p*p), p, p, p)
	kernel.Syrk(r.team, 1, b.z, products)
	var c Cholesky
	if c.Factor(r.team, products) != nil {
		return apart, false
	}
	c.HalfSolveTo(r.team, apart, b.z) // orthonormal basis of the z
	project := func(x kernel.Matrix[float64]) {
		clear(products.Data)
		kernel.Gemm(r.team, 1, x, apart.Trans(), products)
		kernel.Gemm(r.team, -1, products, apart, x)
	}
	u, left, times, minus := rows(), rows(), rows(), rows()
	r.addInverseProduct(-1, g, left)
	project(left)
	along := copyRows(left)
	square, first := make([]float64, p), make([]float64, p)
	for i := range p {
		row := left.Data[i*n : (i+1)*n]
		square[i] = kernel.Dot(row, row)
		first[i] = square[i]
	}
	for range gradientSteps {
		copy(times.Data, along.Data)
		clear(minus.Data)
		r.addInverseProduct(1, along, minus)
		for i, v := range b.theta {
			v = min(v, b.theta[r.l-1]) // the matrix may be indefinite for values above θ_l: use at most θ_l for the guards
			kernel.Axpy(-v, minus.Data[i*n:(i+1)*n], times.Data[i*n:(i+1)*n])
		}
		project(times)
		busy := false
		for i := range p {
			if !(square[i] > solvedShare*solvedShare*first[i]) {
				continue
			}
			a, ta, x := along.Data[i*n:(i+1)*n], times.Data[i*n:(i+1)*n], left.Data[i*n:(i+1)*n]
			curve := kernel.Dot(a, ta)
			if !(curve > 0) {
				square[i] = 0
				continue
			}
			step := square[i] / curve
			kernel.Axpy(step, a, u.Data[i*n:(i+1)*n])
			kernel.Axpy(-step, ta, x)
			next := kernel.Dot(x, x)
			for j := range a {
				a[j] = x[j] + next/square[i]*a[j]
			}
			square[i] = next
			busy = busy || i < r.l && next > solvedShare*solvedShare*first[i]
		}
		if !busy {
			break
		}
	}
	return u, true
}

const (
	gradientSteps = 80   // largest number of steps of conjugate gradients
	solvedShare   = 1e-5 // residual at which a pair's conjugate gradients stop, as a share of the first residual
)
