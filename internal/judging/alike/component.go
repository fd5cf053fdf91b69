package alike

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
)

const (
	// maxDenseOrder is the largest number of columns for which computing all eigenpairs is as fast as a search.
	maxDenseOrder = 64
	// searchBlock is the number of vectors that are added to the search space at a time. searchSpace is the largest
	// number of vectors in it. When the space is full, the search restarts from the best maxKept vectors.
	searchBlock = 4
	searchSpace = 48
	maxKept     = 2 * searchBlock
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

// krylovSearch finds the largest eigenpairs of submatrices, one submatrix after the other in the same memory. It holds a
// Krylov space of vectors and their products with the submatrix.
type krylovSearch struct {
	team   *kernel.Team
	a      kernel.Matrix[float64]
	listed []int // rows and columns of a that form the searched submatrix, n of them
	n      int
	size   int // number of vectors in the space

	q, aq             []float64 // the vectors and their products, each of n entries; there is room for searchSpace of them
	ritz, ritzProduct []float64 // the largest approximate eigenvectors and their products, up to maxKept of them
	x, y              []float64 // new vectors as vectors of a, and their products, up to searchBlock of them
	dense             []float64 // a submatrix of order maxDenseOrder or less, or the inner products of vectors and products; searchSpace is less
}

func (s *krylovSearch) layOut(l *room.Layout, d int) {
	s.q, s.aq = room.Slice[float64](l, searchSpace*d), room.Slice[float64](l, searchSpace*d)
	s.ritz, s.ritzProduct = room.Slice[float64](l, maxKept*d), room.Slice[float64](l, maxKept*d)
	s.x, s.y = room.Slice[float64](l, searchBlock*d), room.Slice[float64](l, searchBlock*d)
	s.dense = room.Slice[float64](l, maxDenseOrder*maxDenseOrder)
}

func (s *krylovSearch) spaceVector(k int) []float64 { return s.q[k*s.n:][:s.n] }

func (s *krylovSearch) spaceProduct(k int) []float64 { return s.aq[k*s.n:][:s.n] }

// findLeadingComponents finds the largest eigenpairs of a submatrix of a. The parameter `in` lists the rows and columns
// of the submatrix, ascending. The search is a block Lanczos process with full orthogonalization and restarts. Each
// vector of the search costs 2m² flops if a is m×m. The search begins with the vectors in start, which have len(in)
// entries, and ends when it reaches the goal, the parameter `to`.
func (s *krylovSearch) findLeadingComponents(a kernel.Matrix[float64], in []int, start [][]float64, to searchGoal) (eigenpairs, error) {
	s.a, s.listed, s.n, s.size = a, in, len(in), 0
	count := min(to.count, s.n)
	if s.n <= maxDenseOrder {
		return s.computeAllEigenpairs(count)
	}
	for _, v := range start {
		s.joinVector(v)
	}
	for k := len(start); k < searchBlock; k++ {
		v := s.spaceVector(s.size)
		for i := range v {
			v[i] = float64(int64(splitmix.Hash(uint64(k), uint64(i)))) / (1 << 63)
		}
		s.joinVector(v)
	}
	s.multiplyNewVectors(0)
	newest, end := 0, s.size // the vectors from newest to end are multiplied next
	for round := 1; ; round++ {
		for space := min(to.spaceSize, s.n); s.size < space && newest < end; {
			first := s.size
			for k := newest; k < min(end, newest+space-first); k++ {
				s.joinVector(s.spaceProduct(k))
			}
			s.multiplyNewVectors(first)
			newest, end = first, s.size
		}
		values, residual, err := s.keepRitzPairs(min(maxKept, s.size))
		if err != nil {
			return eigenpairs{}, err
		}
		if slices.Max(residual[:count]) <= to.tol*values[0] || round == to.rounds {
			found := eigenpairs{values: values[:count]}
			for k := range count {
				found.vectors = append(found.vectors, slices.Clone(s.spaceVector(k)))
			}
			return found.orientSigns(), nil
		}
		newest, end = 0, min(searchBlock, s.size)
	}
}

func (s *krylovSearch) computeAllEigenpairs(count int) (eigenpairs, error) {
	n := s.n
	submatrix := s.dense[:n*n]
	for i, from := range s.listed {
		row := s.a.Data[from*s.a.RowStride:]
		for j, k := range s.listed {
			submatrix[i*n+j] = row[k]
		}
	}
	values, err := linalg.SymmetricEigen(s.team, kernel.RowMajor(submatrix, n, n, n))
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

// joinVector copies v to the space after orthogonalizing it twice against the space, unless it becomes 0.
func (s *krylovSearch) joinVector(v []float64) {
	to := s.spaceVector(s.size)
	copy(to, v)
	before := math.Sqrt(kernel.Dot(to, to))
	for range 2 {
		for k := range s.size {
			kernel.Axpy(-kernel.Dot(s.spaceVector(k), to), s.spaceVector(k), to)
		}
	}
	length := math.Sqrt(kernel.Dot(to, to))
	if !(length > 1e-10*before) {
		return
	}
	for i := range to {
		to[i] /= length
	}
	s.size++
}

func (s *krylovSearch) multiplyNewVectors(firstNew int) {
	k, m := s.size-firstNew, s.a.Rows
	if k == 0 {
		return
	}
	x, y := s.x[:k*m], s.y[:k*m]
	clear(x)
	clear(y)
	for t := range k {
		v := s.spaceVector(firstNew + t)
		for i, at := range s.listed {
			x[t*m+at] = v[i]
		}
	}
	kernel.Gemm(s.team, 1, kernel.RowMajor(x, k, m, m), s.a, kernel.RowMajor(y, k, m, m))
	for t := range k {
		v := s.spaceProduct(firstNew + t)
		for i, at := range s.listed {
			v[i] = y[t*m+at]
		}
	}
}

// keepRitzPairs finds the approximate eigenpairs of the matrix within the space. Afterwards the space contains only the
// vectors of the largest pairs, whose number is keep.
func (s *krylovSearch) keepRitzPairs(keep int) (largest, residual []float64, err error) {
	size, n := s.size, s.n
	h := s.dense[:size*size]
	for i := range size {
		for j := range i + 1 {
			v := kernel.Dot(s.spaceVector(i), s.spaceProduct(j))
			h[i*size+j], h[j*size+i] = v, v
		}
	}
	values, err := linalg.SymmetricEigen(s.team, kernel.RowMajor(h, size, size, size))
	if err != nil {
		return nil, nil, err
	}
	clear(s.ritz[:keep*n])
	clear(s.ritzProduct[:keep*n])
	for k := range keep {
		at := size - 1 - k
		v, av := s.ritz[k*n:][:n], s.ritzProduct[k*n:][:n]
		for i := range size {
			kernel.Axpy(h[i*size+at], s.spaceVector(i), v)
			kernel.Axpy(h[i*size+at], s.spaceProduct(i), av)
		}
		squares := 0.0
		for i := range v {
			r := av[i] - values[at]*v[i]
			squares += r * r
		}
		largest, residual = append(largest, values[at]), append(residual, math.Sqrt(squares))
	}
	s.size = copy(s.q, s.ritz[:keep*n]) / n
	copy(s.aq, s.ritzProduct[:keep*n])
	return largest, residual, nil
}
