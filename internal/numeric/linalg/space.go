package linalg

import (
	"math"
	"math/rand/v2"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// searchSpace is a subspace in which eigenvectors of a symmetric n×n matrix A are sought. Vectors are contiguous rows.
type searchSpace struct {
	n, l, p int // l pairs are wanted; p is l plus the number of guards
	team    *kernel.Team
	form    matrixForm // A

	m     int       // dimension
	q, aq []float64 // orthonormal basis Q, and its product with A; basisRows×n
	h     []float64 // QᵀAQ, both triangles, basisRows×basisRows

	// y contains the coordinates of all m Ritz vectors in the basis q, and theta their Ritz values. x, ax and r belong to
	// the first p Ritz pairs.
	y        []float64
	theta    []float64
	x, ax, r []float64 // p×n: vectors, A times the vectors, residuals
	rnorm    []float64 // p: lengths of the residuals

	w    []float64 // p×n: the block that is added to q next
	rand *rand.Rand

	spare []float64    // 2p×n: a copy of w or of Ritz vectors
	dots  []float64    // p×basisRows: scalar products of w and q
	grams [3][]float64 // p×p: the Gram matrix of w, and its factor twice
	ql    *qlSolver    // for orders up to basisRows
}

// tolerance returns the bound on the residual of an accepted pair, relative to ‖A‖.
func (s *searchSpace) tolerance() float64 { return math.Sqrt(float64(s.n)) * 0x1p-49 }

// basisRows returns the dimension at which the search space is reduced. A large space is costly, because its
// eigenproblem takes m³ scalar operations for dimension m. But a reduction costs some steps of convergence.
func basisRows(n, p int) int { return min(n, 6*p) }

// layOut takes the memory of a space for s.n, s.l and s.p from l, for the given number of workers.
func (s *searchSpace) layOut(l *room.Layout, workers int) {
	n, p, m := s.n, s.p, basisRows(s.n, s.p)
	s.q, s.aq = room.Slice[float64](l, m*n), room.Slice[float64](l, m*n)
	s.h, s.y, s.theta = room.Slice[float64](l, m*m), room.Slice[float64](l, m*m), room.Slice[float64](l, m)
	s.x, s.ax, s.r = room.Slice[float64](l, p*n), room.Slice[float64](l, p*n), room.Slice[float64](l, p*n)
	s.rnorm = room.Slice[float64](l, p)
	s.layOutBlock(l, p, 2*p, m)
	s.ql = layOutQL(l, workers, m)
}

// layOutBlock takes the memory for orthonormalizeRows from l: for blocks of up to rows vectors, spareRows copies of
// vectors, and a space of up to m dimensions.
func (s *searchSpace) layOutBlock(l *room.Layout, rows, spareRows, m int) {
	s.w, s.spare = room.Slice[float64](l, rows*s.n), room.Slice[float64](l, spareRows*s.n)
	s.dots = room.Slice[float64](l, rows*m)
	for i := range s.grams {
		s.grams[i] = room.Slice[float64](l, rows*rows)
	}
}

// clearedView returns a row-major matrix of zeros at the start of data.
func clearedView(data []float64, rows, cols int) kernel.Matrix[float64] {
	clear(data[:rows*cols])
	return kernel.RowMajor(data, rows, cols, cols)
}

func (s *searchSpace) resetSpace() {
	if s.q == nil {
		s.layOut(nil, s.team.Threads())
	}
	s.m = 0
	s.rand = rand.New(rand.NewPCG(uint64(s.n), uint64(s.l)))
}

func (s *searchSpace) startSpace(warm kernel.Matrix[float64]) {
	cols := min(warm.Cols, s.p)
	for i := range cols {
		for j := range s.n {
			s.w[i*s.n+j] = warm.Data[j*warm.RowStride+i*warm.ColStride]
		}
	}
	s.extendSpace(cols)
	s.fillSpaceRandomly()
}

func (s *searchSpace) fillSpaceRandomly() {
	for tries := 0; s.m < s.p && tries < 3; tries++ {
		s.extendRandomly(s.p - s.m)
	}
}

func (s *searchSpace) extendRandomly(rows int) int {
	for i := range s.w[:rows*s.n] {
		s.w[i] = s.rand.NormFloat64()
	}
	s.form.completeVectors(kernel.RowMajor(s.w, rows, s.n, s.n))
	return s.extendSpace(rows)
}

// extendSpace adds the span of the first k rows of w, with k = rows, to the search space. It returns the number of
// added dimensions. It drops rows that lie in the space already.
func (s *searchSpace) extendSpace(rows int) int {
	n, ld := s.n, basisRows(s.n, s.p)
	// After the first pass, rows deviate from orthogonality by 2⁻⁵³ times the condition of the projected rows, which is at
	// most 10⁵. After the second pass they deviate by 2⁻⁵³. A row that the second pass shortens consisted of rounding.
	rows = s.orthonormalizeRows(rows, 1e-10)
	rows = s.orthonormalizeRows(rows, 0.25)
	rows = min(rows, ld-s.m)
	if rows == 0 {
		return 0
	}
	w := kernel.RowMajor(s.w, rows, n, n)
	q, aq := kernel.RowMajor(s.q, ld, n, n), kernel.RowMajor(s.aq, ld, n, n)
	copy(q.Data[s.m*n:], s.w[:rows*n])
	aw := aq.Sub(s.m, 0, rows, n)
	clear(aw.Data[:rows*n])
	s.form.addProduct(aw, w)
	h := kernel.RowMajor(s.h, ld, ld, ld).Sub(s.m, 0, rows, s.m+rows)
	for i := range rows {
		clear(h.Data[i*ld:][:s.m+rows])
	}
	kernel.Gemm(s.team, 1, aw, q.Sub(0, 0, s.m+rows, n).Trans(), h)
	s.m += rows
	for i := s.m - rows; i < s.m; i++ {
		for j := range i {
			s.h[j*ld+i] = s.h[i*ld+j]
		}
	}
	return rows
}

// orthonormalizeRows projects the first k rows of w, with k = rows, on the complement of the space and makes them
// orthonormal by the Cholesky factor of their Gram matrix, with the largest pivot first. It leaves out rows whose pivot
// is below `drop` times the square of their original length, and returns the number of remaining rows.
func (s *searchSpace) orthonormalizeRows(rows int, drop float64) int {
	n := s.n
	count := 0
	for i := range rows {
		row := s.w[i*n:][:n]
		if scale := maxAbs(row); scale > 0 && scale <= math.MaxFloat64 {
			// A solve near the spectrum can return vectors of any length. Scaling prevents an overflow of their squares.
			for j := range row {
				row[j] /= scale
			}
			length := norm2(row)
			for j := range row {
				s.w[count*n+j] = row[j] / length
			}
			count++
		}
	}
	rows = count
	w := kernel.RowMajor(s.w, rows, n, n)
	if s.m > 0 {
		q := kernel.RowMajor(s.q, s.m, n, n)
		c := clearedView(s.dots, rows, s.m)
		kernel.Gemm(s.team, 1, w, q.Trans(), c)
		kernel.Gemm(s.team, -1, c, q, w)
	}
	if drop < 0.1 { // the projection changes lengths: normalize again
		for i := range rows {
			row := s.w[i*n:][:n]
			if length := norm2(row); length > 1e-14 {
				for j := range row {
					row[j] /= length
				}
			} else {
				clear(row)
			}
		}
	}
	g := clearedView(s.grams[0], rows, rows)
	kernel.Syrk(s.team, 1, w, g)
	order, u := pivotedFactor(g, drop, s.grams[1], s.grams[2])
	rank := len(order)
	sorted := kernel.RowMajor(s.spare[:rank*n], rank, n, n)
	for i, from := range order {
		copy(sorted.Data[i*n:][:n], s.w[from*n:])
	}
	solveTrans(s.team, u, false, sorted)
	copy(s.w, sorted.Data)
	return rank
}

// pivotedFactor factors the small symmetric matrix g, of which it reads the upper triangle, as PᵀUᵀUP with a
// permutation P. It chooses the largest pivot first, and stops at the first pivot below drop. order lists the columns
// of g in the order of their pivots. U is written to factor. rows is scratch memory of the same size as g.
func pivotedFactor(g kernel.Matrix[float64], drop float64, rows, factor []float64) (order []int, u kernel.Matrix[float64]) {
	n := g.Rows
	kernel.MirrorUpper(1, g)
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		best := 0
		for i, c := range left {
			if g.Data[c*(n+1)] > g.Data[left[best]*(n+1)] {
				best = i
			}
		}
		c := left[best]
		if !(g.Data[c*(n+1)] > drop) {
			break
		}
		left = append(left[:best], left[best+1:]...)
		row := rows[len(order)*n:][:n] // row of U in the order of the columns of g; set for c and the columns left
		order = append(order, c)
		d := math.Sqrt(g.Data[c*(n+1)])
		row[c] = d
		for _, j := range left {
			row[j] = g.Data[c*n+j] / d
		}
		for _, i := range left {
			for _, j := range left {
				g.Data[i*n+j] -= row[i] * row[j]
			}
		}
	}
	rank := len(order)
	u = clearedView(factor, rank, rank)
	for i := range rank {
		for j := i; j < rank; j++ {
			u.Data[i*rank+j] = rows[i*n+order[j]]
		}
	}
	return order, u
}

func maxAbs(x []float64) float64 {
	var largest float64
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	return largest
}

// solveRitz solves the eigenproblem of QᵀAQ, i.e. of A in the search space, and computes the vectors of the first p
// Ritz pairs. It returns false if the space has fewer than p dimensions, or if the solver does not converge.
func (s *searchSpace) solveRitz() bool {
	if s.m < s.p {
		return false
	}
	m, ld := s.m, basisRows(s.n, s.p)
	for i := range m {
		copy(s.y[i*m:][:m], s.h[i*ld:])
	}
	if !s.ql.decomposeMatrix(s.y[:m*m], m, s.theta[:m]) {
		return false
	}
	s.writeRitzCombinations(s.x, s.q, s.p)
	s.writeRitzCombinations(s.ax, s.aq, s.p)
	s.updateResiduals(s.p)
	return true
}

func (s *searchSpace) updateResiduals(rows int) {
	n := s.n
	for i := range rows {
		r := s.r[i*n:][:n]
		copy(r, s.ax[i*n:])
		kernel.Axpy(-s.theta[i], s.x[i*n:][:n], r)
	}
	s.form.measureResiduals(kernel.RowMajor(s.r, rows, n, n), s.rnorm)
}

func (s *searchSpace) writeRitzCombinations(dst, b []float64, rows int) {
	m, n := s.m, s.n
	clear(dst[:rows*n])
	kernel.Gemm(s.team, 1, kernel.RowMajor(s.y, m, rows, m).Trans(), kernel.RowMajor(b, m, n, n),
		kernel.RowMajor(dst, rows, n, n))
}

func (s *searchSpace) shrinkSpace(rows int) {
	n, ld := s.n, basisRows(s.n, s.p)
	keep := s.spare[:rows*n]
	for _, b := range [][]float64{s.q, s.aq} {
		s.writeRitzCombinations(keep, b, rows)
		copy(b, keep)
	}
	s.m = rows
	for i := range rows {
		clear(s.h[i*ld:][:rows])
		s.h[i*ld+i] = s.theta[i]
	}
}

// runKrylov extends the search space until the residual of each of the first l Ritz pairs is at most share times its
// value. It uses neither a factor nor a proof.
func (s *searchSpace) runKrylov(warm kernel.Matrix[float64], share float64) bool {
	s.resetSpace()
	s.startSpace(warm)
	for range defaultSteps {
		if !s.solveRitz() {
			return false
		}
		rows := 0
		for i := range s.l {
			if s.rnorm[i] > share*math.Abs(s.theta[i]) {
				copy(s.w[rows*s.n:][:s.n], s.r[i*s.n:])
				rows++
			}
		}
		if rows == 0 {
			return true
		}
		if s.m+rows > basisRows(s.n, s.p) {
			s.shrinkSpace(2 * s.p)
		}
		if s.extendSpace(rows) == 0 {
			return false
		}
	}
	return false
}
