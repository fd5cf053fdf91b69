package linalg

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	lapack "gonum.org/v1/gonum/lapack/gonum"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// symmetricEigen overwrites the row-major n×n matrix a by its eigenvectors in columns, and writes the ascending
// eigenvalues to values. The squares of entries must neither overflow nor vanish. It reports whether the iterations
// converged; no finite matrix is known for which they do not. The bits do not depend on workers.
//
// LAPACK's DSYTRD makes the matrix tridiagonal, and implicit QL iterations make it diagonal (Dubrulle, Martin and
// Wilkinson 1968, as in LAPACK's DSTEQR). This needs about 1.7·n sweeps, each of up to n rotations, and 5·n³ flops for
// the vectors. It takes three quarters of the time of gonum's DSYEV, which applies each rotation to two columns of all
// rows. Here many sweeps are applied to one panel, a copy of some rows that stays in cache, before the next panel.
func symmetricEigen(workers int, a []float64, n int, values []float64) bool {
	return layOutQL(nil, workers, n).decomposeMatrix(a, n, values)
}

// decomposeMatrix does the same as symmetricEigen, in the memory of q.
func (q *qlSolver) decomposeMatrix(a []float64, n int, values []float64) bool {
	if n < 2 {
		if n == 1 {
			values[0], a[0] = a[0], 1
		}
		return true
	}
	q.n, q.d, q.vectors = n, values[:n], a
	q.c, q.s, q.sweeps = q.c[:0], q.s[:0], q.sweeps[:0]
	var impl lapack.Implementation
	impl.Dsytrd(blas.Upper, n, a, n, q.d, q.e[:n-1], q.tau[:n-1], q.work, len(q.work))
	impl.Dorgtr(blas.Upper, n, a, n, q.tau[:n-1], q.work, len(q.work))
	return q.solveBlocks()
}

// layOutQL takes the memory of a qlSolver for orders up to n from l.
func layOutQL(l *room.Layout, workers, n int) *qlSolver {
	var impl lapack.Implementation
	var size [1]float64
	impl.Dsytrd(blas.Upper, n, nil, max(n, 1), nil, nil, nil, size[:], -1) // more than DORGTR needs
	rotations := max(n, min(n*n/2, maxRotations))
	q := &qlSolver{
		e: room.Slice[float64](l, n), tau: room.Slice[float64](l, n), work: room.Slice[float64](l, int(size[0])),
		c: room.Slice[float64](l, rotations), s: room.Slice[float64](l, rotations), sweeps: room.Slice[sweep](l, n),
		order:  room.Slice[int](l, n),
		panels: make(chan []float64, max(1, min(workers, maxPanels, (n+kernel.RotateWidth-1)/kernel.RotateWidth))),
	}
	for range cap(q.panels) {
		q.panels <- room.Slice[float64](l, n*kernel.RotateWidth)
	}
	return q
}

// SymmetricEigenBytes bounds the memory of SymmetricEigen for order n, without the matrix and the team's scratch.
func SymmetricEigenBytes(n int) int64 {
	return room.Measure(func(l *room.Layout) {
		layOutQL(l, maxPanels, n)
		room.Slice[float64](l, n) // the eigenvalues
	})
}

// maxPanels bounds the number of panels in memory, and thereby also the number of workers that rotate.
const maxPanels = 4

// qlSolver diagonalizes the tridiagonal matrix with diagonal d and off-diagonal e by rotations, and applies
// the rotations to the rows of vectors.
type qlSolver struct {
	d, e      []float64
	n         int
	vectors   []float64      // n×n
	panels    chan []float64 // one for each worker
	tau, work []float64      // scratch of LAPACK; tau also of sortValues
	order     []int          // the eigenvalues in ascending order

	c, s   []float64 // the rotations not yet applied, sweep after sweep; they are applied before they exceed the capacity
	sweeps []sweep   // the sweeps of these rotations; the same holds for their capacity
}

// sweep describes n rotations of neighbouring rows of a panel, beginning with row `first`. Row i is part of eigenvector
// i.
type sweep struct {
	first, n int
	backward bool
}

// maxRotations bounds the number of rotations collected before they are applied to the vectors. This many rotations and
// one panel fit into the second-level cache.
const maxRotations = 1 << 15

// solveBlocks splits the matrix at zeros of the off-diagonal and diagonalizes each block. It reverses a block whose
// last diagonal entry is smaller than its first, because graded matrices converge from the small end.
func (q *qlSolver) solveBlocks() bool {
	for lo := 0; lo < q.n; {
		hi := lo
		for hi < q.n-1 && !q.isOffDiagonalNegligible(hi) {
			hi++
		}
		turned := math.Abs(q.d[hi]) < math.Abs(q.d[lo])
		if turned {
			slices.Reverse(q.d[lo : hi+1])
			slices.Reverse(q.e[lo:hi])
		}
		if !q.diagonalizeBlock(lo, hi, turned) {
			return false
		}
		if turned {
			slices.Reverse(q.d[lo : hi+1])
		}
		lo = hi + 1
	}
	q.sortValues()
	return true
}

func (q *qlSolver) isOffDiagonalNegligible(index int) bool {
	const epsilon, least = 0x1p-53, 0x1p-1022
	e := math.Abs(q.e[index])
	return e*e <= epsilon*math.Abs(q.d[index])*(epsilon*math.Abs(q.d[index+1]))+least
}

// diagonalizeBlock diagonalizes the rows lo to hi, which are reversed if turned is set. Each sweep begins with a
// rotation by Wilkinson's shift, which makes an entry next to the off-diagonal nonzero. Further rotations move that
// entry through the block until it vanishes.
func (q *qlSolver) diagonalizeBlock(lo, hi int, turned bool) bool {
	d, e := q.d, q.e
	tries := 30 * (hi - lo + 1)
	for l := lo; l < hi; {
		m := l
		for m < hi && !q.isOffDiagonalNegligible(m) {
			m++
		}
		if m == l {
			l++
			continue
		}
		if tries--; tries < 0 {
			return false
		}
		g := (d[l+1] - d[l]) / (2 * e[l])
		g = d[m] - d[l] + e[l]/(g+math.Copysign(math.Hypot(g, 1), g))
		c, s, p := 1.0, 1.0, 0.0
		q.beginSweep(m, m-l, lo, hi, turned)
		for i := m - 1; i >= l; i-- {
			f, b := s*e[i], c*e[i]
			var r float64
			c, s, r = planeRotation(g, f)
			if i < m-1 {
				e[i+1] = r
			}
			g = d[i+1] - p
			r = (d[i]-g)*s + 2*c*b
			p = s * r
			d[i+1] = g + p
			g = c*r - b
			q.c, q.s = append(q.c, c), append(q.s, s)
		}
		d[l] -= p
		e[l] = g
		if m < hi {
			e[m] = 0
		}
	}
	return true
}

// planeRotation returns c, s and r with c·g + s·f = r and c·f = s·g.
func planeRotation(g, f float64) (c, s, r float64) {
	if f == 0 {
		return 1, 0, g
	}
	r = math.Sqrt(g*g + f*f)
	if r < 1e-140 { // squares may have underflowed
		r = math.Hypot(g, f)
	}
	return g / r, f / r, r
}

// beginSweep records a sweep of n rotations in the rows lo to hi. It starts at row m and goes to lower rows. If turned
// is set, these rows are reversed, and the sweep goes to higher rows. If there is not enough room for another sweep of n
// rotations, beginSweep first applies the collected ones.
func (q *qlSolver) beginSweep(m, n, lo, hi int, turned bool) {
	if len(q.c)+n > cap(q.c) || len(q.sweeps) == cap(q.sweeps) {
		q.applyRotations(nil)
	}
	if turned {
		m = lo + hi - m
	}
	q.sweeps = append(q.sweeps, sweep{m, n, !turned})
}

func (q *qlSolver) sortValues() {
	order, sorted := q.order[:q.n], q.tau[:q.n]
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(q.d[i], q.d[j]) })
	q.applyRotations(order)
	for j, from := range order {
		sorted[j] = q.d[from]
	}
	copy(q.d, sorted)
}

// applyRotations applies the collected rotations to the vectors. If order is not nil, it also sorts the vectors by it.
func (q *qlSolver) applyRotations(order []int) {
	const width = kernel.RotateWidth
	n := q.n
	kernel.Each(cap(q.panels), (n+width-1)/width, func(t int) {
		rows := min(width, n-t*width)
		at := q.vectors[t*width*n:]
		panel := <-q.panels
		for i := range rows {
			for j, v := range at[i*n:][:n] {
				panel[j*width+i] = v
			}
		}
		from := 0
		for _, w := range q.sweeps {
			kernel.RotateRows(q.c[from:from+w.n], q.s[from:from+w.n], panel, w.first, w.backward)
			from += w.n
		}
		for i := range rows {
			row := at[i*n:][:n]
			for j := range row {
				from := j
				if order != nil {
					from = order[j]
				}
				row[j] = panel[from*width+i]
			}
		}
		q.panels <- panel
	})
	q.c, q.s, q.sweeps = q.c[:0], q.s[:0], q.sweeps[:0]
}

// SymmetricEigen overwrites the row-major, symmetric n×n matrix a by its eigenvectors in columns, and returns the
// eigenvalues in ascending order. It costs about 7·n³ flops. The error is [ErrNoConvergence] or wraps [ErrNotFinite].
func SymmetricEigen(team *kernel.Team, a kernel.Matrix[float64]) ([]float64, error) {
	if err := checkFinite("matrix", a); err != nil {
		return nil, err
	}
	n, largest := a.Rows, 0.0
	for _, v := range a.Data[:n*n] {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		for i := range n {
			a.Data[i*n+i] = 1
		}
		return make([]float64, n), nil
	}
	_, exp := math.Frexp(largest)
	for i := range a.Data[:n*n] {
		a.Data[i] = math.Ldexp(a.Data[i], -exp)
	}
	values := make([]float64, n)
	if !symmetricEigen(team.Threads(), a.Data[:n*n], n, values) {
		return nil, ErrNoConvergence
	}
	for i := range values {
		values[i] = math.Ldexp(values[i], exp)
	}
	return values, nil
}
