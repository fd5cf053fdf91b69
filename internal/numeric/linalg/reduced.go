package linalg

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// reducedPencil finds the lowest eigenpairs of a pencil (see [NewPencil]) by solving a problem with n×n matrices. With
// z = Uw and
//
//	W(λ) = U(D − λρI)⁻¹Uᵀ,
//
// the equation Aw = λMw, that is (D − λρI)w + Uᵀ(T − λI)Uw = 0, is equivalent to
//
//	w = (D − λρI)⁻¹Uᵀy,  y = (λI − T)z,  N(λ)z = (W(λ)⁻¹ + T − λI)z = 0,
//
// If all entries of D exceed λρ, the number of negative eigenvalues of N(λ) is the number of the pencil's eigenvalues
// below λ. If features outnumber rows by far, W hardly depends on λ, because ρ is about 0.001 and the smallest entry of
// D about 10. With fixed weights near 1/(D − λρ) in W, the lowest pairs of K = W⁻¹ + T are nearly the wanted ones. From
// an eigenvector z of K and its eigenvalue θ, the step
//
//	y ← y + W⁻¹u,  (K − θI)u = −g,  g = y + (T − θI)z,
//
// with u orthogonal to the z's found, gives a better y. One reading of U then computes w from y and z from w. The
// Rayleigh-Ritz method in the span of these w finds better pairs (z, θ). The more exact the weights are, the more
// digits each reading gains. Uᵀg is the residual of a pair. In the norm of M⁻¹ its length is at most ‖g‖.
//
// W is reused for the next D, after correcting it for the features whose weights changed much. In a run of sfufs for
// 500 × 50,000, each of the last seven of 13 updates of D changed W by 0.3 to 7 %, and 3,000 features caused nine
// tenths of that change. Moreover, W is a sum of rounded numbers, see [scaledColumns.addRoughSum]. Why the pairs are
// right nevertheless is explained at [reducedPencil.proveComplete].
//
// With W = LLᵀ, the matrices X = I + LᵀTL and Y = LᵀL describe K: K⁻¹ = LX⁻¹Lᵀ, and K − μI has as many negative
// eigenvalues as X − μY. A reading of U costs 4·n·d flops for each vector. Computing W costs at most n²·d flops, and
// everything else about 2·n³ + n²·m flops, m being the number of rows of H.
type reducedPencil struct {
	*scaledColumns
	pencil *LowRank
	l, p   int

	weights        []float64                 // weight of each feature in W; nil until W is computed
	w              kernel.Matrix[float64]    // W, upper triangle
	roughWeights   []float64                 // for each feature, the largest weight with which an approximate sum added it to W
	wError         sumError                  // error bound of W
	influence      []float64                 // influence of each feature on the wanted pairs, see recordInfluence
	root           Cholesky                  // the factor Lᵀ of W
	x, y           kernel.Matrix[float64]    // X and Y, upper triangles
	chol           Cholesky                  // the factor of X
	kInverse       kernel.Matrix[float64]    // K⁻¹
	float32Scratch [3]kernel.Matrix[float32] // scratch for computing K⁻¹
	readers        chan *panelReader         // scratch of the workers that read U
	lastTheta      float64                   // θ_l of the previous matrix
	gap            float64                   // (θ_{l+1} − θ_l)/θ_l of the previous matrix
}

const (
	// A pencil is reduced only if every entry of D is more than minRatio times λρ, see [reducedPencil].
	minRatio = 2
	// maxReadings bounds the number of readings of U for one matrix.
	maxReadings = 12
	// minError and maxError are the limits of the error allowed for W, as a share of W's trace. Between them, the allowed
	// error is an eighth of the gap after θ_l, as a share of θ_l. The exact weight of a feature may exceed its weight in W
	// by the same share. A reading multiplies the error of the pairs by about that share. It also weakens the proof.
	minError, maxError = 1e-3, 0.03
	// influenceFactor multiplies the influence of a feature on the wanted pairs, when changedFeatures rates how much a
	// changed weight matters. With a factor of 1, a reading of U reduced the error of the pairs only by a third if a few
	// features dominate all pairs and their weights had changed.
	influenceFactor = 8
	// exactRidge is a share of W's largest diagonal entry. Adding it to the diagonal gives W a Cholesky factor also if the
	// rows are linearly dependent, as centred rows are.
	exactRidge = 1e-12
	// float32Ridge is larger than the error of computing W in float32, as a share of W's largest diagonal entry. Each
	// entry of W is summed in float32 over 256 products at a time, and added to a float64 sum after float32SumFeatures
	// features.
	float32Ridge       = 4e-6
	float32SumFeatures = 4 * float32Block
)

// solveReduced finds the lowest eigenpairs of a pencil by means of n×n matrices, see [reducedPencil]. It returns false
// if D is too small compared with λρ, if there are too few rows for the number of pairs, or if it does not converge.
func (a *LowRank) solveReduced(s *Smallest, warm kernel.Matrix[float64]) (Eigen, bool) {
	least, most := slices.Min(a.diag), slices.Max(a.diag)
	if 2*s.p > a.n || !(least > 0) {
		return Eigen{}, false
	}
	if a.reduction == nil || a.reduction.p != s.p {
		a.reduction = layOutReduction(nil, a.team.Threads(), a.n, s.p)
		a.reduction.scaledColumns, a.reduction.pencil, a.reduction.l = &a.scaledColumns, a, s.l
	}
	r := a.reduction
	if warm.Cols == 0 { // the answer's bits must not depend on an earlier matrix
		r.weights, r.lastTheta, r.gap = nil, 0, 0
	} else {
		warm = warm.Sub(a.d, 0, a.n, warm.Cols)
	}
	even := warm.Cols == 0 && least == most
	if even && !r.computeWForEqualD() || !even && !r.computeW(false) || !r.factorW() {
		return Eigen{}, false
	}
	z, theta, ok := r.lowestPairsOfK(warm)
	if even && ok && theta[s.l-1]*a.rho > minError*least { // recompute W for that λ, which is cheap if D is constant
		if r.lastTheta = theta[s.l-1]; !r.computeWForEqualD() || !r.factorW() {
			return Eigen{}, false
		}
		z, theta, ok = r.lowestPairsOfK(z.Trans())
	}
	if !ok {
		return Eigen{}, false
	}
	b, ok := r.findPencilPairs(s, z, theta)
	if !ok {
		return Eigen{}, false
	}
	r.lastTheta = b.theta[s.l-1]
	r.gap = b.theta[min(s.l, s.p-1)]/r.lastTheta - 1
	r.recordInfluence(b)
	if !r.proveComplete(s, b) {
		if r.weights = nil; !r.computeW(true) || !r.factorW() || !r.proveComplete(s, b) {
			return Eigen{}, false
		}
	}
	return r.eigenFromPairs(s, b), true
}

// layOutReduction takes the memory that a reducedPencil of n rows and p pairs keeps from l, except for a few numbers for
// each feature.
func layOutReduction(l *room.Layout, workers, n, p int) *reducedPencil {
	square := func() kernel.Matrix[float64] { return kernel.NewMatrix[float64](l, n, n) }
	r := &reducedPencil{p: p, w: square(), x: square(), y: square(), kInverse: square()}
	r.root.LayOut(l, n)
	r.chol.LayOut(l, n)
	for i := range r.float32Scratch {
		r.float32Scratch[i] = kernel.NewMatrix[float32](l, n, n)
	}
	r.readers = make(chan *panelReader, min(workers, stretchCount(n, p)))
	for range cap(r.readers) {
		r.readers <- &panelReader{kernel.NewTeam(1), room.Slice[float64](l, stretchBlock*n), room.Slice[float64](l, stretchBlock*cmp.Or(kernel.ThinColumns(), p))}
	}
	return r
}

// factorW computes Y, X and K⁻¹ from W, all defined at [reducedPencil], and the Cholesky factors of W and X. The result
// is false if W or X has no such factor.
func (r *reducedPencil) factorW() bool {
	n, m, ridge := r.n, r.pencil.smooth.Rows, r.ridgeFor(r.weights)
	copyUpper(r.team.Threads(), r.y, r.w)
	for i := range n {
		r.y.Data[i*n+i] += ridge
	}
	if r.root.Factor(r.team, r.y) != nil {
		return false
	}
	u := r.root.u
	r.eachRowOfXY(func(_ int, _, y []float64) { clear(y) })
	uh := kernel.RowMajor(make([]float64, n*m), n, m, m)
	for k := 0; k < n; k += stripColumns { // the entries of U before the diagonal are 0
		h := min(stripColumns, n-k)
		some := u.Sub(0, k, k+h, h)
		kernel.Syrk(r.team, 1, some, r.y.Sub(0, 0, k+h, k+h))
		kernel.Gemm(r.team, 1, some, r.pencil.smooth.Sub(0, k, m, h).Trans(), uh.Sub(0, 0, k+h, m))
	}
	r.eachRowOfXY(func(i int, x, y []float64) {
		for j, v := range y[i:] {
			x[i+j] = r.pencil.share * v
		}
		x[i]++
	})
	kernel.Syrk(r.team, -r.pencil.share, uh, r.x)
	if r.chol.Factor(r.team, r.x) != nil {
		return false
	}
	r.computeKInverse()
	return true
}

// computeKInverse computes K⁻¹ = SᵀS with S = V⁻ᵀLᵀ, see [reducedPencil] for K, L and X. V is the factor of X = VᵀV. It
// uses float32, whose rounding is smaller than the error of W. Finding the pairs needs dozens of products with K⁻¹.
// Such a product takes a sixth of the time of the alternative, two products with L and two solves with V.
func (r *reducedPencil) computeKInverse() {
	n, v, team := r.n, r.chol.u, r.team
	s, right, product := r.float32Scratch[0], r.float32Scratch[1], r.float32Scratch[2]
	kernel.Each(team.Threads(), n, func(i int) {
		clear(s.Data[i*n : (i+1)*n])
		clear(product.Data[i*n : (i+1)*n])
		for j := i; j < n; j++ {
			s.Data[i*n+j], right.Data[i*n+j] = float32(r.root.u.Data[i*n+j]), float32(v.Data[i*n+j])
		}
	})
	for k := 0; k < n; k += solveStripRows {
		h := min(solveStripRows, n-k)
		below := s.Sub(k, 0, h, n)
		kernel.Gemm(team, -1, right.Sub(0, k, k, h).Trans(), s.Sub(0, 0, k, n), below)
		own := kernel.RowMajor(make([]float64, h*h), h, h, h)
		for i := range h {
			own.Data[i*h+i] = 1
		}
		solveTrans(team, v.Sub(k, k, h, h), false, own)
		inverse, solved := newFloat32Matrix(h, h), newFloat32Matrix(h, n)
		for i, x := range own.Data {
			inverse.Data[i] = float32(x)
		}
		kernel.Gemm(team, 1, inverse, below, solved)
		kernel.Copy(below, solved)
	}
	kernel.Syrk(team, 1, s.Trans(), product)
	kernel.Each(team.Threads(), n, func(i int) {
		for j := i; j < n; j++ {
			r.kInverse.Data[i*n+j] = float64(product.Data[i*n+j])
		}
	})
	kernel.MirrorUpper(team.Threads(), r.kInverse)
}

func newFloat32Matrix(rows, cols int) kernel.Matrix[float32] {
	return kernel.RowMajor(make([]float32, rows*cols), rows, cols, cols)
}

func maxDiagonal(x kernel.Matrix[float64]) (top float64) {
	for i := range x.Rows {
		top = max(top, x.Data[i*(x.RowStride+1)])
	}
	return top
}

func (r *reducedPencil) eachRowOfXY(visit func(i int, x, y []float64)) {
	kernel.Each(r.team.Threads(), r.n, func(i int) { visit(i, r.x.Data[i*r.n:(i+1)*r.n], r.y.Data[i*r.n:(i+1)*r.n]) })
}

// stripColumns is the number of columns of a triangle that are multiplied at a time, so that most of the triangle's
// zeros are skipped. solveStripRows is the number of rows for which computeKInverse solves at a time, the same as the
// number of terms that kernel.Gemm sums in registers. With 3,000 rows, solving 256 rows at a time took three quarters
// of the time of 128 rows.
const stripColumns, solveStripRows = 128, 256

func (r *reducedPencil) addInverseProduct(alpha float64, x, y kernel.Matrix[float64]) {
	addProductInBlocks(r.team, alpha, x, r.kInverse.Trans(), y)
}

// negatedInverse is −K⁻¹ as a matrixForm that supports only products, see [reducedPencil] for K.
type negatedInverse struct{ pencil *reducedPencil }

func (f negatedInverse) addProduct(y, x kernel.Matrix[float64]) { f.pencil.addInverseProduct(-1, x, y) }
func (f negatedInverse) completeVectors(kernel.Matrix[float64]) {}
func (f negatedInverse) measureResiduals(r kernel.Matrix[float64], lengths []float64) {
	writeRowLengths(r, lengths)
}
func (f negatedInverse) factorShifted(float64, kernel.Matrix[float64]) shiftedFactor { return nil }

func (r *reducedPencil) lowestPairsOfK(warm kernel.Matrix[float64]) (z kernel.Matrix[float64], theta []float64, ok bool) {
	n, p := r.n, r.p
	z, theta = kernel.RowMajor(make([]float64, p*n), p, n, n), make([]float64, p)
	if n <= 8*p { // a search would span the whole space
		unit, all := kernel.RowMajor(make([]float64, n*n), n, n, n), kernel.RowMajor(make([]float64, n*n), n, n, n)
		for i := range n {
			unit.Data[i*n+i] = 1
		}
		r.addInverseProduct(-1, unit, all)
		values := make([]float64, n)
		if !symmetricEigen(r.team.Threads(), all.Data, n, values) {
			return z, theta, false
		}
		copy(theta, values)
		kernel.Copy(z, all.Sub(0, 0, n, p).Trans())
	} else {
		s := &searchSpace{n: n, l: p, p: min(n, p+2), team: r.team, form: negatedInverse{r}}
		if !s.runKrylov(warm, lowestShare) {
			return z, theta, false
		}
		copy(theta, s.theta)
		copy(z.Data, s.x)
	}
	for i, v := range theta {
		theta[i] = -1 / v
	}
	return z, theta, true
}

// lowestShare is the largest accepted ratio of the residual of a lowest pair of K to its eigenvalue.
const lowestShare = 1e-6

// proveComplete reports whether the pairs found include all eigenvalues below θ_l.
//
// See [reducedPencil] for W, K, X and Y. W(μ) is W with the exact weights for μ. If W is at least W(μ), then K is at
// most the K made from W(μ). K − μI has then at least as many negative eigenvalues as with W(μ). (1 + η)W is at least
// W(μ) if η is the largest share by which a weight of W(μ) exceeds the one in W. Let μ be θ_k, and move the eigenvalues
// of the first k pairs above μ. If X − μY, made from (1 + η)W, is then positive definite, at most k values are below μ.
// k is chosen to make the gap θ_{k+1} − θ_k as wide as possible. It is at least l, and the lower bounds of values l+1
// to k must be at least θ_l.
func (r *reducedPencil) proveComplete(s *Smallest, b pencilRitz) bool {
	n, k := r.n, r.l
	for i := r.l; i < r.p-1 && b.theta[i]-b.bounds[i] >= b.theta[r.l-1]-4*s.tolerance()*s.norm; i++ {
		if b.theta[i+1]-b.theta[i] > b.theta[k]-b.theta[k-1] {
			k = i + 1
		}
	}
	mu, eta := b.theta[k-1], 0.0
	for i, v := range r.pencil.diag {
		eta = max(eta, 1/((v-mu*r.pencil.rho)*r.weights[i])-1)
	}
	eta = (1+eta)/(1-r.wError.relative) - 1
	r.eachRowOfXY(func(i int, x, y []float64) {
		for j, v := range y[i:] {
			x[i+j] = (1 + eta) * (x[i+j] - mu*v)
		}
		x[i] -= eta
	})
	lifted := kernel.RowMajor(make([]float64, k*n), k, n, n)
	addProductInBlocks(r.team, 2*math.Sqrt(mu), b.z.Sub(0, 0, k, n), r.root.u.Trans(), lifted)
	kernel.Syrk(r.team, 1, lifted.Trans(), r.x)
	ok := r.chol.Factor(r.team, r.x) == nil
	return ok
}

func (r *reducedPencil) eigenFromPairs(s *Smallest, b pencilRitz) Eigen {
	e := s.layOutEigen(nil, r.p)
	e.Factors, e.Residual = s.shift.factorTries, slices.Max(b.bounds[:r.l])/s.norm
	copy(e.Values, b.theta)
	root := math.Sqrt(r.pencil.rho)
	for i := range r.p {
		for j, v := range b.w.Data[i*r.d : (i+1)*r.d] {
			e.Basis.Data[j*r.p+i] = root * v
		}
		for j, v := range b.z.Data[i*r.n : (i+1)*r.n] {
			e.Basis.Data[(r.d+j)*r.p+i] = v
		}
	}
	return e
}
