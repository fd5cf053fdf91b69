package alike

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
)

const (
	// maxDenseOrder is the largest number of columns for which computing all eigenpairs is as fast as a search.
	maxDenseOrder = 64
	// searchBlock is the number of vectors that are added to the search space at a time. searchSpace is the largest
	// number of vectors in it. When the space is full, the search restarts from the best 2·searchBlock vectors.
	searchBlock = 4
	searchSpace = 48
)

// searchGoal determines when a search for the largest eigenpairs of a matrix ends.
type searchGoal struct {
	count     int     // number of eigenpairs
	tol       float64 // largest accepted residual of an eigenpair divided by the largest eigenvalue; the error of the eigenvalue is at best the square of this
	spaceSize int     // largest number of vectors in the search space
	rounds    int     // largest number of restarts
}

// The goals of three searches. finalGoal is for the component of a finished cluster. divisionGoal is for the two
// components that determine whether and how a cluster is divided. sortingGoal is for a component by which columns are
// moved during a division; its search starts from a vector close to the solution. The number of rounds must be limited,
// because the eigenvalues of noise are very close to each other. If eigenvalues are so close, no choice of vectors
// leads to a better division than another.
func finalGoal() searchGoal    { return searchGoal{1, 1e-9, searchSpace, 30} }
func divisionGoal() searchGoal { return searchGoal{2, 1e-4, searchSpace, 30} }
func sortingGoal() searchGoal  { return searchGoal{1, 1e-3, 4 * searchBlock, 4} }

type eigenpairs struct {
	values  []float64
	vectors [][]float64 // of norm 1; the sign makes the entry with the largest absolute value positive
}

// findLeadingComponents finds the largest eigenpairs of a submatrix of a. The parameter `in` lists the rows and columns
// of the submatrix, ascending. The search is a block Lanczos process with full orthogonalization and restarts. Each
// vector of the search costs 2m² flops if a is m×m. The search begins with the vectors in start, which have len(in)
// entries, and ends when it reaches the goal, the parameter `to`.
func findLeadingComponents(team *kernel.Team, a kernel.Matrix[float64], in []int, start [][]float64, to searchGoal) (eigenpairs, error) {
	n := len(in)
	count := min(to.count, n)
	if n <= maxDenseOrder {
		return computeAllEigenpairs(team, a, in, count)
	}
	s := &krylovSearch{team: team, a: a, listed: in, n: n}
	for _, v := range start {
		s.pending = append(s.pending, slices.Clone(v))
	}
	for k := len(start); k < searchBlock; k++ {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(int64(splitmix.Hash(uint64(k), uint64(i)))) / (1 << 63)
		}
		s.pending = append(s.pending, v)
	}
	newest := s.joinPending()
	for round := 1; ; round++ {
		for room := min(to.spaceSize, n); len(s.q) < room && len(newest) > 0; {
			for _, k := range newest[:min(len(newest), room-len(s.q))] {
				s.pending = append(s.pending, slices.Clone(s.aq[k]))
			}
			newest = s.joinPending()
		}
		found, residual, err := s.ritzPairs(min(2*searchBlock, len(s.q)))
		if err != nil {
			return eigenpairs{}, err
		}
		if slices.Max(residual[:count]) <= to.tol*found.values[0] || round == to.rounds {
			found.values, found.vectors = found.values[:count], found.vectors[:count]
			return found.orientSigns(), nil
		}
		newest = []int{0, 1, 2, 3}
	}
}

func computeAllEigenpairs(team *kernel.Team, a kernel.Matrix[float64], columns []int, count int) (eigenpairs, error) {
	n := len(columns)
	submatrix := make([]float64, n*n)
	for i, from := range columns {
		row := a.Data[from*a.RowStride:]
		for j, k := range columns {
			submatrix[i*n+j] = row[k]
		}
	}
	values, err := linalg.SymmetricEigen(team, kernel.RowMajor(submatrix, n, n, n))
	if err != nil {
		return eigenpairs{}, err
	}
	var c eigenpairs
	for k := range count {
		at := n - 1 - k
		v := make([]float64, n)
		for i := range v {
			v[i] = submatrix[i*n+at]
		}
		c.values, c.vectors = append(c.values, values[at]), append(c.vectors, v)
	}
	return c.orientSigns(), nil
}

func (c eigenpairs) orientSigns() eigenpairs {
	for _, v := range c.vectors {
		largest := 0.0
		for _, x := range v {
			if math.Abs(x) > math.Abs(largest) {
				largest = x
			}
		}
		if largest < 0 {
			for i := range v {
				v[i] = -v[i]
			}
		}
	}
	return c
}

// krylovSearch is the state of a search: a Krylov space of vectors q with n entries, and their products aq with the
// matrix.
type krylovSearch struct {
	team    *kernel.Team
	a       kernel.Matrix[float64]
	listed  []int // rows and columns of a that form the searched submatrix
	n       int
	q, aq   [][]float64
	pending [][]float64 // vectors to be added to the space
	room    []float64   // scratch memory
}

// joinPending orthogonalizes the pending vectors twice against the space, adds the vectors that do not become 0, and
// computes their products with the matrix at once. It returns their indices in the space.
func (s *krylovSearch) joinPending() (newest []int) {
	from := len(s.q)
	for _, v := range s.pending {
		before := math.Sqrt(kernel.Dot(v, v))
		for range 2 {
			for _, q := range s.q {
				kernel.Axpy(-kernel.Dot(q, v), q, v)
			}
		}
		length := math.Sqrt(kernel.Dot(v, v))
		if !(length > 1e-10*before) {
			continue
		}
		for i := range v {
			v[i] /= length
		}
		newest, s.q = append(newest, len(s.q)), append(s.q, v)
	}
	s.pending = s.pending[:0]
	s.multiplyNewVectors(from)
	return newest
}

func (s *krylovSearch) multiplyNewVectors(firstNew int) {
	k, m := len(s.q)-firstNew, s.a.Rows
	if k == 0 {
		return
	}
	if len(s.room) < 2*k*m {
		s.room = make([]float64, 2*k*m)
	}
	x, y := s.room[:k*m], s.room[k*m:2*k*m]
	clear(s.room[:2*k*m])
	for t := range k {
		for i, at := range s.listed {
			x[t*m+at] = s.q[firstNew+t][i]
		}
	}
	kernel.Gemm(s.team, 1, kernel.RowMajor(x, k, m, m), s.a, kernel.RowMajor(y, k, m, m))
	for t := range k {
		v := make([]float64, s.n)
		for i, at := range s.listed {
			v[i] = y[t*m+at]
		}
		s.aq = append(s.aq, v)
	}
}

// ritzPairs finds the approximate eigenpairs of the matrix within the space. Afterwards the space contains only the
// vectors of the largest pairs, whose number is keep.
func (s *krylovSearch) ritzPairs(keep int) (found eigenpairs, residual []float64, err error) {
	size := len(s.q)
	h := make([]float64, size*size)
	for i := range size {
		for j := range i + 1 {
			v := kernel.Dot(s.q[i], s.aq[j])
			h[i*size+j], h[j*size+i] = v, v
		}
	}
	values, err := linalg.SymmetricEigen(s.team, kernel.RowMajor(h, size, size, size))
	if err != nil {
		return found, nil, err
	}
	var aq [][]float64
	for k := range keep {
		at := size - 1 - k
		v, av := make([]float64, s.n), make([]float64, s.n)
		for i := range size {
			kernel.Axpy(h[i*size+at], s.q[i], v)
			kernel.Axpy(h[i*size+at], s.aq[i], av)
		}
		squares := 0.0
		for i := range v {
			r := av[i] - values[at]*v[i]
			squares += r * r
		}
		found.values, found.vectors = append(found.values, values[at]), append(found.vectors, v)
		aq, residual = append(aq, av), append(residual, math.Sqrt(squares))
	}
	s.q, s.aq = slices.Clone(found.vectors), aq
	return found, residual, nil
}

func componentSearchBytes(d int) int64 { return 8 * int64(d) * (2*searchSpace + 6*searchBlock*2 + 64) }
