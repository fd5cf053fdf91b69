package linalg

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

var (
	// ErrNotFinite is wrapped by errors about a NaN or an infinity in a matrix. Such an error names the position.
	ErrNotFinite = errors.New("not a finite number")
	// ErrNoConvergence is returned if LAPACK's own iterations do not converge. No finite matrix is known for which
	// they fail.
	ErrNoConvergence = errors.New("eigenvalue or singular value iteration did not converge")
)

// EigenOptions contains options of [Smallest]. A field that is 0 selects the default.
type EigenOptions struct {
	// Guard is the number of vectors iterated in addition to the l wanted ones, by default l/4 and at least 4. The gap
	// after the last guard determines the speed of convergence. More guards save few steps and make each step more costly.
	Guard int
	// Steps is the number of extensions of the search space after which the dense solver is used instead, by default 60.
	Steps int
	// Filter is a cheap product with the matrix, or nil if there is none.
	Filter *Filter
}

const defaultSteps = 60

func (o EigenOptions) withDefaults(l int) EigenOptions {
	if o.Guard <= 0 {
		o.Guard = max(4, l/4)
	}
	if o.Steps <= 0 {
		o.Steps = defaultSteps
	}
	return o
}

// Eigen holds the l smallest eigenpairs of a symmetric n×n matrix.
type Eigen struct {
	Values  []float64              // l, ascending
	Vectors kernel.Matrix[float64] // n×l, column i belongs to Values[i]; orthonormal
	// Basis is an n×w matrix with w ≥ l. Its first l columns are Vectors, a view of it. The other columns are the guards,
	// which have converged less. Basis is the best start for a similar matrix.
	Basis kernel.Matrix[float64]
	// Residual is the largest ‖Av−λv‖/‖A‖ of all pairs. ‖A‖ is replaced by a lower bound, the largest norm of a column.
	Residual float64
	Steps    int  // number of extensions of the subspace
	Factors  int  // number of Cholesky factorizations, failed ones included
	Dense    bool // whether the pairs come from the dense solver
}

// Smallest finds the l algebraically smallest eigenpairs of a sequence of symmetric n×n matrices. It
// reuses its memory from one matrix to the next.
//
// The method is block Davidson with a shifted Cholesky factor as preconditioner. For a fixed shift this is
// shift-and-invert block Lanczos with full orthogonalization. The search space has an orthonormal basis Q, and QᵀAQ
// gives its Ritz pairs (θ, x). A step multiplies their residuals r = Ax − θx by (A − σI)⁻¹, for a σ below the spectrum,
// and adds the results to Q. If A has a [Filter], it is used first, as long as it halves the residuals. A pair is
// accepted if ‖r‖ ≤ tol·‖A‖ with tol = √n·2⁻⁴⁹, a few times the rounding error. For this test A·x is computed anew.
//
// An iteration alone cannot prove that it has not missed a pair. A Cholesky factor can:
//
//	B = A + t·V·Vᵀ − μI
//
// has such a factor only if wᵀAw > μ for every unit vector w orthogonal to V. If V contains the l
// accepted vectors, R their n×l residuals and μ = θ_l − 4·tol·‖A‖, then by Weyl's theorem λ_i, the
// i-th smallest eigenvalue, lies between θ_i − 4·tol·‖A‖ − ‖R‖ and θ_i.
//
// If the start is near the result, the proof does not need another factor. Let V contain all l+Guard Ritz vectors of
// the start, and let μ be their θ_l. B is then also the preconditioner of the steps. By Sylvester's law of inertia A
// has as many eigenvalues below μ as t·Vᵀ·B⁻¹·V has above 1, for any V. Near each accepted θ_i, within ‖R‖, there is an
// eigenvalue. So if the number of accepted θ_i below μ is equal to that count, all eigenvalues below μ have been found.
//
// The proof holds up to the rounding of factor and products, which is about √n·2⁻⁵³·‖A‖ in practice, and at worst n
// times as much. If eigenvalues are closer together than 4·tol·‖A‖, any of them may be chosen, also around the l-th.
// The vectors are as well determined as the gaps allow. LAPACK's dense solver is used if three proofs fail or the steps
// run out, and also if n is below 100 or below four times l+Guard.
//
// It costs a Cholesky factor (n³/3 flops) for each shift and each B, and 4·n²·p flops for each of about 5 to 20 steps,
// with p = l + Guard. If the start is near the result, one factor suffices, otherwise mostly two or three.
//
// The input determines the result: random starts have a fixed seed, the first entry of largest
// magnitude of a vector is positive, and the bits do not depend on the team.
type Smallest struct {
	searchSpace
	opt  EigenOptions
	full fullMatrix // memory for a matrix that is stored in full
	// norm is a lower bound on the norm of the scaled matrix. No eigenvalue exceeds bound in magnitude.
	norm, bound  float64
	shiftMargin  float64                   // the least distance of a shift from the spectrum
	exp          int                       // A is 2^exp times the scaled matrix
	filterBlocks [3]kernel.Matrix[float64] // scratch memory of a filter, n×p and padding
	shift        preconditioner
}

// NewSmallest returns a solver for l of n eigenpairs. It panics unless 0 ≤ l ≤ n. The solver needs the memory given by
// [SmallestBytes] from the first Solve on.
func NewSmallest(team *kernel.Team, n, l int, opt EigenOptions) *Smallest {
	if l < 0 || l > n {
		panic(fmt.Sprintf("linalg: %d eigenpairs of a matrix of order %d", l, n))
	}
	opt = opt.withDefaults(l)
	return &Smallest{searchSpace: searchSpace{n: n, l: l, p: min(n, l+opt.Guard), team: team}, opt: opt}
}

// SmallestBytes bounds the memory of a [Smallest] during Solve, with the result, but without the scratch memory of its
// team and of the product of a filter. The iteration keeps its memory if it fails and the dense solver follows.
func SmallestBytes(n, l int, opt EigenOptions) int64 {
	s := NewSmallest(nil, n, max(0, min(l, n)), opt)
	return room.Measure(func(l *room.Layout) {
		layOutFull(l, nil, n)
		if !s.needsDenseSolver() {
			s.layOut(l, maxPanels)
			if opt.Filter != nil {
				s.layOutFilter(l)
			}
		}
		s.layOutDense(l, maxPanels)
	})
}

// SmallestFormBytes bounds the memory of the iteration of a [Smallest] for a matrix not stored in full, with the
// result, but without that matrix. The dense solver, if the number of wanted pairs requires it, needs less.
func SmallestFormBytes(n, l int, opt EigenOptions) int64 {
	s := NewSmallest(nil, n, max(0, min(l, n)), opt)
	return room.Measure(func(l *room.Layout) {
		s.layOut(l, maxPanels)
		s.layOutEigen(l, s.p)
	})
}

// needsDenseSolver reports whether an iteration for a full matrix would not be faster.
func (s *Smallest) needsDenseSolver() bool { return s.n < smallOrder || s.p*4 > s.n }

// Solve returns the l smallest eigenpairs of the n×n matrix A, of which it reads the upper triangle. The iteration
// starts from the columns of warm, an n×w matrix for any w, usually the Basis of a similar matrix. The order of these
// columns and their norms do not matter. The error wraps [ErrNotFinite] or [ErrNoConvergence].
func (s *Smallest) Solve(a, warm kernel.Matrix[float64]) (Eigen, error) {
	if a.Rows != s.n || a.Cols != s.n || (warm.Cols > 0 && warm.Rows != s.n) {
		panic(fmt.Sprintf("linalg: eigenpairs of order %d from %d×%d, started from %d×%d",
			s.n, a.Rows, a.Cols, warm.Rows, warm.Cols))
	}
	if s.l == 0 {
		return Eigen{}, nil
	}
	var err error
	if s.exp, err = s.loadScaled(a); err != nil {
		return Eigen{}, err
	}
	return s.solveLoadedMatrix(warm)
}

func (s *Smallest) solveLoadedMatrix(warm kernel.Matrix[float64]) (e Eigen, err error) {
	switch {
	case s.norm == 0:
		e = s.eigenOfZeroMatrix()
	case s.needsDenseSolver():
		e, err = s.solveDense()
	default:
		if err := checkFinite("start", warm); err != nil {
			return Eigen{}, err
		}
		var ok bool
		if e, ok = s.solveByIteration(warm); !ok {
			steps, factors := e.Steps, e.Factors
			e, err = s.solveDense()
			e.Steps, e.Factors = steps, factors
		}
	}
	if err != nil {
		return Eigen{}, err
	}
	for i := range e.Values {
		e.Values[i] = math.Ldexp(e.Values[i], s.exp)
	}
	fixColumnSigns(e.Basis)
	return e, nil
}

// maxDenseOrder is the order up to which a low-rank matrix is stored in full if the iterations fail.
const maxDenseOrder = 2048

// SolveForm returns the l smallest eigenpairs of a low-rank matrix. It stores the matrix in full if the number of
// wanted pairs requires the dense solver, or if the iterations fail. If the order is above 2,048, it does not do so,
// and the error wraps [ErrNoConvergence].
func (s *Smallest) SolveForm(a *LowRank, warm kernel.Matrix[float64]) (Eigen, error) {
	if a.Length() != s.n || (warm.Cols > 0 && warm.Rows != s.n) {
		panic(fmt.Sprintf("linalg: eigenpairs of order %d from %d, started from %d×%d", s.n, a.Length(), warm.Rows, warm.Cols))
	}
	if s.p*4 > a.d {
		return s.solveInFull(a, warm)
	}
	if err := checkFinite("start", warm); err != nil {
		return Eigen{}, err
	}
	s.form, s.exp = a, 0
	s.norm = a.roundingScale()
	if s.norm-s.norm != 0 {
		return Eigen{}, fmt.Errorf("matrix: %w", ErrNotFinite)
	}
	if s.norm == 0 { // A is 0: any vectors are eigenvectors
		s.resetSpace()
		s.norm, s.shift = 1, preconditioner{}
		s.startSpace(kernel.Matrix[float64]{})
		if !s.solveRitz() {
			return Eigen{}, ErrNoConvergence
		}
		return s.eigenFromRitz(0, 0), nil
	}
	s.bound = s.norm // all eigenvalues are at least 0
	if a.metric {
		s.shiftMargin = minShiftDistance * a.top
	}
	if a.metric && (warm.Cols == 0 || a.reduction != nil) {
		if e, ok := a.solveReduced(s, warm); ok {
			fixColumnSigns(e.Basis)
			return e, nil
		}
		a.reduction = nil // release the reduction; the next call without warm makes a new one
	}
	if a.metric {
		if err := a.prepareMetric(); err != nil {
			return Eigen{}, err
		}
	}
	e, ok := s.solveByIteration(warm)
	switch {
	case !ok && a.d <= maxDenseOrder:
		return s.solveInFull(a, warm)
	case !ok:
		return Eigen{}, fmt.Errorf("%d eigenpairs of a matrix of order %d after %d steps: %w", s.l, a.d, e.Steps, ErrNoConvergence)
	}
	fixColumnSigns(e.Basis)
	return e, nil
}

func (s *Smallest) solveInFull(a *LowRank, warm kernel.Matrix[float64]) (Eigen, error) {
	if a.metric {
		return a.solveInFull(s.l, s.opt)
	}
	return s.Solve(a.ToFull(), warm)
}

// smallOrder is the order below which the dense solver is as fast as the iteration. At order 100 it takes 2 ms.
const smallOrder = 100

// loadScaled copies 2^-exp·A with both triangles, and sets the norms. exp makes the largest entry lie in [1/2, 1), so
// that squares neither overflow nor vanish.
func (s *Smallest) loadScaled(a kernel.Matrix[float64]) (exp int, err error) {
	n := s.n
	if s.full.a == nil {
		s.full = layOutFull(nil, s.team, n)
	}
	s.form = &s.full
	full := s.full.matrixView()
	copyUpper(s.team.Threads(), full, a)
	largest, sums := s.full.rows[0], s.full.rows[1] // largest magnitude of each row; NaN if the row has a NaN
	kernel.Each(s.team.Threads(), n, func(i int) {
		var most, zero float64
		for _, v := range full.Data[i*n+i : (i+1)*n] {
			zero += v - v // v − v is NaN for NaN and infinities
			if v = math.Abs(v); v > most {
				most = v
			}
		}
		largest[i] = most + zero
	})
	all := slices.Max(largest) // NaN if the matrix has a NaN
	if all != all {
		return 0, checkFinite("matrix", full) // entries below the diagonal are 0 or from the previous matrix
	}
	s.norm, s.bound, s.shiftMargin = 0, 0, 0
	if all == 0 {
		return 0, nil
	}
	_, exp = math.Frexp(all)
	exp = max(exp, -1000) // 2^-exp must be finite
	scale := math.Ldexp(1, -exp)
	kernel.Each(s.team.Threads(), n, func(i int) {
		row := full.Data[i*n+i : (i+1)*n]
		for j := range row {
			row[j] *= scale
		}
	})
	kernel.MirrorUpper(s.team.Threads(), full)
	kernel.Each(s.team.Threads(), n, func(i int) {
		row := full.Data[i*n : (i+1)*n]
		var sum float64
		for _, v := range row {
			sum += math.Abs(v)
		}
		sums[i], largest[i] = sum, norm2(row)
	})
	s.norm, s.bound = slices.Max(largest), slices.Max(sums)
	return exp, nil
}

func checkFinite(name string, m kernel.Matrix[float64]) error {
	if i, j := firstNotFinite(m); i >= 0 {
		return fmt.Errorf("%s, row %d, column %d: %w", name, i+1, j+1, ErrNotFinite)
	}
	return nil
}

func firstNotFinite(m kernel.Matrix[float64]) (i, j int) {
	for i := range m.Rows {
		for j := range m.Cols {
			if v := m.Data[i*m.RowStride+j*m.ColStride]; v-v != 0 {
				return i, j
			}
		}
	}
	return -1, -1
}

func (s *Smallest) eigenOfZeroMatrix() Eigen {
	e := s.layOutEigen(nil, s.p)
	for i := range s.p {
		e.Basis.Data[i*s.p+i] = 1
	}
	return e
}

// layOutEigen takes the memory of a result with a basis of w vectors from l.
func (s *Smallest) layOutEigen(l *room.Layout, w int) Eigen {
	basis := kernel.NewMatrix[float64](l, s.n, w)
	return Eigen{Values: room.Slice[float64](l, s.l), Vectors: kernel.RowMajor(basis.Data, s.n, s.l, w), Basis: basis}
}

// layOutDense takes the memory of solveDense from l: its result, the solver, and the residuals.
func (s *Smallest) layOutDense(l *room.Layout, workers int) (Eigen, *qlSolver, kernel.Matrix[float64]) {
	return s.layOutEigen(l, s.p), layOutQL(l, workers, s.n), kernel.NewMatrix[float64](l, s.l, s.n)
}

// solveDense returns l of all eigenpairs of the loaded matrix, computed by symmetricEigen in about 8·n³ flops.
func (s *Smallest) solveDense() (Eigen, error) {
	n := s.n
	copy(s.full.u, s.full.a)
	e, ql, r := s.layOutDense(nil, s.team.Threads())
	values := s.full.rows[0]
	if !ql.decomposeMatrix(s.full.u, n, values) {
		return Eigen{}, ErrNoConvergence
	}
	e.Dense = true
	copy(e.Values, values)
	v := s.full.factorView()
	for i := range n {
		copy(e.Basis.Data[i*s.p:][:s.p], v.Data[i*n:])
	}
	kernel.Gemm(s.team, 1, e.Vectors.Trans(), s.full.matrixView(), r)
	for i, theta := range e.Values {
		for j := range n {
			r.Data[i*n+j] -= theta * e.Basis.Data[j*s.p+i]
		}
		e.Residual = max(e.Residual, norm2(r.Data[i*n:][:n])/s.norm)
	}
	return e, nil
}

func fixColumnSigns(m kernel.Matrix[float64]) {
	for j := range m.Cols {
		var largest float64
		for i := range m.Rows {
			if v := m.Data[i*m.RowStride+j]; math.Abs(v) > math.Abs(largest) {
				largest = v
			}
		}
		if largest < 0 {
			for i := range m.Rows {
				m.Data[i*m.RowStride+j] = -m.Data[i*m.RowStride+j]
			}
		}
	}
}

// norm2 returns the Euclidean norm. The squares of x must neither overflow nor vanish.
func norm2(x []float64) float64 { return math.Sqrt(kernel.Dot(x, x)) }
