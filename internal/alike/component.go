package alike

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/internal/splitmix"
)

const (
	// denseOrder is up to where all eigenpairs are as quick as a search.
	denseOrder = 64
	// searchBlock vectors join the space at a time, up to searchRoom at most, which then starts again from
	// twice as many of the best.
	searchBlock = 4
	searchRoom  = 48
)

// goal says how far a search goes.
type goal struct {
	count  int
	tol    float64 // residual of an eigenpair as a share of the largest eigenvalue; its own error is the square at best
	room   int     // vectors of the space
	rounds int     // that begin, at most
}

// The goals: a component that is kept; the two that say whether a cluster is divided, and how; and one that columns
// are sorted by while it is, where the start is near. Eigenvalues of noise are so close together that
// rounds must end: no division by their vectors is better than another.
func fine() goal    { return goal{1, 1e-9, searchRoom, 30} }
func two() goal     { return goal{2, 1e-4, searchRoom, 30} }
func sorting() goal { return goal{1, 1e-3, 4 * searchBlock, 4} }

// components are eigenpairs of a correlation matrix, the largest first.
type components struct {
	values  []float64
	vectors [][]float64 // of length 1, the entry of the largest size positive
}

// leading finds the largest eigenpairs of the matrix of the n columns listed within the m×m matrix a: a
// block Lanczos process with full orthogonalization and restarts, 2m² flops a vector. in is ascending;
// start, vectors of n entries, is where it begins.
func leading(team *kernel.Team, a kernel.Matrix[float64], in []int, start [][]float64, to goal) (components, error) {
	n := len(in)
	count := min(to.count, n)
	if n <= denseOrder {
		return dense(team, a, in, count)
	}
	s := &search{team: team, a: a, in: in, n: n}
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
	newest := s.join()
	for round := 1; ; round++ {
		for room := min(to.room, n); len(s.q) < room && len(newest) > 0; {
			for _, k := range newest[:min(len(newest), room-len(s.q))] {
				s.pending = append(s.pending, slices.Clone(s.aq[k]))
			}
			newest = s.join()
		}
		found, residual, err := s.ritz(min(2*searchBlock, len(s.q)))
		if err != nil {
			return components{}, err
		}
		if slices.Max(residual[:count]) <= to.tol*found.values[0] || round == to.rounds {
			found.values, found.vectors = found.values[:count], found.vectors[:count]
			return found.oriented(), nil
		}
		newest = []int{0, 1, 2, 3}
	}
}

// dense finds them among all.
func dense(team *kernel.Team, a kernel.Matrix[float64], in []int, count int) (components, error) {
	n := len(in)
	own := make([]float64, n*n)
	for i, from := range in {
		row := a.Data[from*a.RowStride:]
		for j, k := range in {
			own[i*n+j] = row[k]
		}
	}
	values, err := linalg.SymmetricEigen(team, kernel.RowMajor(own, n, n, n))
	if err != nil {
		return components{}, err
	}
	var c components
	for k := range count {
		at := n - 1 - k
		v := make([]float64, n)
		for i := range v {
			v[i] = own[i*n+at]
		}
		c.values, c.vectors = append(c.values, values[at]), append(c.vectors, v)
	}
	return c.oriented(), nil
}

func (c components) oriented() components {
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

// search is a space of vectors of n entries, and their products with the matrix.
type search struct {
	team    *kernel.Team
	a       kernel.Matrix[float64]
	in      []int
	n       int
	q, aq   [][]float64
	pending [][]float64
	room    []float64
}

// join adds the pending vectors to the space, made orthogonal to it, twice, as far as anything is left
// of them, and multiplies them with the matrix together. It returns which they are.
func (s *search) join() (newest []int) {
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
	s.multiply(from)
	return newest
}

// multiply makes the products of the vectors from the given one on.
func (s *search) multiply(from int) {
	k, m := len(s.q)-from, s.a.Rows
	if k == 0 {
		return
	}
	if len(s.room) < 2*k*m {
		s.room = make([]float64, 2*k*m)
	}
	x, y := s.room[:k*m], s.room[k*m:2*k*m]
	clear(s.room[:2*k*m])
	for t := range k {
		for i, at := range s.in {
			x[t*m+at] = s.q[from+t][i]
		}
	}
	kernel.Gemm(s.team, 1, kernel.RowMajor(x, k, m, m), s.a, kernel.RowMajor(y, k, m, m))
	for t := range k {
		v := make([]float64, s.n)
		for i, at := range s.in {
			v[i] = y[t*m+at]
		}
		s.aq = append(s.aq, v)
	}
}

// ritz finds the eigenpairs of the matrix in the space, and makes the best keep of them the space.
func (s *search) ritz(keep int) (found components, residual []float64, err error) {
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
		left := 0.0
		for i := range v {
			r := av[i] - values[at]*v[i]
			left += r * r
		}
		found.values, found.vectors = append(found.values, values[at]), append(found.vectors, v)
		aq, residual = append(aq, av), append(residual, math.Sqrt(left))
	}
	s.q, s.aq = slices.Clone(found.vectors), aq
	return found, residual, nil
}

// componentBytes is what the search holds for d columns, with the correlations of each column with each component
// beside it.
func componentBytes(d int) int64 { return 8 * int64(d) * (2*searchRoom + 6*searchBlock*2 + 64) }
