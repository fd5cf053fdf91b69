package sfufs

import (
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// epsilon keeps Q finite if a row of W vanishes: Q_ii = 0.5/√(‖wᵢ‖² + ε), eq. (3.1).
const epsilon = 1e-8

// wUpdate has the matrix W (see the package comment) after an iteration, and bounds of its accuracy.
type wUpdate struct {
	w    []float64 // d×l row-major
	norm []float64 // ‖wᵢ‖
	// nextEigenvalue is an upper bound on the eigenvalue λ_{l+1} from the solver's extra vectors, or +Inf for l = d.
	// eigenvalueGap is its distance from λ_l.
	nextEigenvalue, eigenvalueGap float64
	matrixNorm                    float64                // the largest norm of a column of the eigenproblem's matrix
	costSlack                     float64                // bound on the amount by which rounding may have raised Tr(WᵀAW) above its minimum
	basis                         kernel.Matrix[float64] // the solver's vectors, from which the next update starts
}

// maxNormError is the largest relative error of the row norms of W at which a ranking is meaningful.
const maxNormError = 1e-4

// isDetermined reports whether the row norms of W are known to maxNormError. By the theorem of Davis and Kahan, the
// space of the l eigenvectors rotates at most by the error of M divided by the gap between eigenvalues l and l+1. M is
// known at best to about √d·2⁻⁵² of its norm. The rounding of γQ is left out, because γQ is large only in diagonal
// entries whose row of W has vanished.
func (u *wUpdate) isDetermined(normM float64) bool {
	d, l := float64(len(u.norm)), float64(len(u.w)/len(u.norm))
	return math.Sqrt(d*l)*0x1p-52*normM <= maxNormError*u.eigenvalueGap
}

// solver minimizes Tr(WᵀAW) with A = M + γQ under one constraint. It reuses the memory of its form.
type solver struct {
	d, l int
	form matrixForm
	matrixNorms
}

func (s *fullForm) minimizeCost(gamma float64, q []float64, warm kernel.Matrix[float64]) (*wUpdate, error) {
	d, l := s.d, s.l
	if s.scatter != nil {
		s.scatter.writeReducedCosts(s, gamma, q)
	} else {
		copy(s.a, s.m)
		for i := range q {
			s.a[i*d+i] += gamma * q[i]
		}
	}
	a := kernel.RowMajor(s.a, d, d, d)
	e, err := s.eig.Solve(a, warm)
	if err != nil {
		return nil, fmt.Errorf("sfufs: %w", err)
	}
	u := &wUpdate{w: make([]float64, d*l), basis: e.Basis}
	w := kernel.RowMajor(u.w, d, l, l)
	if s.scatter != nil {
		kernel.Gemm(s.team, 1, s.scatter.x.Trans(), e.Vectors, w)
	} else {
		for i := range d {
			copy(u.w[i*l:(i+1)*l], e.Vectors.Data[i*e.Vectors.RowStride:])
		}
	}
	kernel.MirrorUpper(s.team.Threads(), a)
	u.matrixNorm = columnNorm(s.a, d)
	u.fillBounds(e, d, l, func(x kernel.Matrix[float64]) kernel.Matrix[float64] {
		ax := kernel.RowMajor(make([]float64, x.Rows*d), x.Rows, d, d)
		kernel.Gemm(s.team, 1, x, a, ax)
		return ax
	})
	return u, nil
}

func columnNorm(a []float64, order int) float64 {
	var norm float64
	for i := range order {
		row := a[i*order : (i+1)*order]
		norm = max(norm, math.Sqrt(kernel.Dot(row, row)))
	}
	return norm
}

// fillBounds sets the norms of the rows of W and the bounds of the accuracy of the eigenpairs in e, which are of the
// matrix A. u.matrixNorm must be set, and times(X) returns XA. The Rayleigh quotients of the solver's extra vectors
// give the gap after the l-th eigenvalue. The error of linalg.Smallest is at most 4·tol + residual, with tol = √d·2⁻⁴⁹,
// relative to the norm; costSlack allows twice that.
func (u *wUpdate) fillBounds(e linalg.Eigen, d, l int, times func(x kernel.Matrix[float64]) kernel.Matrix[float64]) {
	u.norm = rowNorms(u.w, d, l)
	u.costSlack = float64(l) * 8 * math.Sqrt(float64(d)) * 0x1p-49 * u.matrixNorm
	u.nextEigenvalue = math.Inf(1)
	length := e.Basis.Rows
	guards := kernel.RowMajor(make([]float64, (e.Basis.Cols-l)*length), e.Basis.Cols-l, length, length)
	kernel.Copy(guards, e.Basis.Sub(0, l, length, guards.Rows).Trans())
	product := times(guards)
	for j := range guards.Rows {
		x, ax := guards.Data[j*length:(j+1)*length], product.Data[j*length:(j+1)*length]
		if xx := kernel.Dot(x, x); xx > 0 {
			u.nextEigenvalue = min(u.nextEigenvalue, kernel.Dot(x, ax)/xx)
		}
	}
	u.eigenvalueGap = max(u.nextEigenvalue-e.Values[l-1], 0)
}

func (s *fullForm) costOf(u *wUpdate) float64 {
	d, l, w := s.d, s.l, u.w
	mw := make([]float64, d*l)
	kernel.Gemm(s.team, 1, kernel.RowMajor(s.m, d, d, d), kernel.RowMajor(w, d, l, l), kernel.RowMajor(mw, d, l, l))
	return kernel.Dot(w, mw)
}

func computeQ(q, rowNorms []float64) {
	for i, s := range rowNorms {
		q[i] = 0.5 / math.Sqrt(s*s+epsilon)
	}
}

// iterateFromUpdate updates W from Q, and Q from W, until the objective rests. Under Scatter, where the paper's steps
// are short, it tries longer ones, and takes the paper's step after each that raises the objective.
func (s *solver) iterateFromUpdate(ctx context.Context, first *wUpdate, gamma float64, opt Options) (*Result, *wUpdate, error) {
	r := &Result{}
	var best *wUpdate
	u, last := first, 0.0
	q := make([]float64, s.d)
	extrapolates := opt.Constraint == Scatter && opt.Iterations == 0
	var longer extrapolator
	isLonger, mayRest := false, false // this step; a longer step hardly lowered the objective
	for t := range opt.maxUpdates() {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if t > 0 {
			if isLonger = extrapolates && !mayRest && longer.predictQ(q); !isLonger {
				computeQ(q, best.norm)
			}
			var err error
			if u, err = s.form.minimizeCost(gamma, q, best.basis); err != nil {
				return nil, nil, err
			}
			if extrapolates {
				longer.recordUpdate(q, u.norm)
			}
		}
		value := s.form.costOf(u)
		for _, norm := range u.norm {
			value += gamma * math.Sqrt(norm*norm+epsilon)
		}
		if isLonger && !(value <= last) {
			longer = extrapolator{}
			continue
		}
		allowed := u.costSlack + s.noise + float64(s.d)*0x1p-52*(math.Abs(last)+math.Abs(value)) // the sums over d rows also round
		if !r.RecordStep(t+1, value, allowed, opt.Tol, opt.Progress) {
			break
		}
		best, last = u, value
		if r.Converged && !isLonger && opt.Iterations == 0 {
			break
		}
		mayRest, r.Converged = r.Converged && isLonger, r.Converged && !isLonger
	}
	return r, best, nil
}
