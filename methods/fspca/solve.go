package fspca

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

const (
	// blockFeatures is the number of columns of a factor whose products are added up at a time.
	blockFeatures = 256
	// nullShare is the share of the largest eigenvalue below which an eigenvalue counts as 0. Their relative error is 1e-13.
	nullShare = 1e-12
	// gapShare is the share of the largest eigenvalue below which the difference of two eigenvalues counts as 0.
	gapShare = 1e-10
)

// solver computes the matrix P of the package comment for given features.
type solver struct {
	team        *kernel.Team
	g           *gram.Matrix
	rank, m     int
	trace       float64 // of G
	isAmbiguous bool    // whether the m-th leading eigenvalue of a step was equal to the next one

	eig        *linalg.Smallest
	eigOrder   int       // order of the matrices that eig solves
	products   []float64 // −G_SS, or −RRᵀ over the features S
	features   []float64 // columns of R, one after the other
	directions []float64 // m rows: Λ^(−1/2)Wᵀ, or Uᵀ
	roots      []float64 // m×d: the matrix Z with P = ZᵀZ
	scores     []float64 // Pᵢᵢ/Tr(G)
}

func layOutSolver(l *room.Layout, d, rank, m int) *solver {
	s := &solver{rank: rank, m: m}
	most := s.eigenOrder(d)
	s.products = room.Slice[float64](l, most*most)
	s.features = room.Slice[float64](l, min(d, max(rank, blockFeatures))*rank)
	s.directions, s.roots = room.Slice[float64](l, m*max(d, rank)), room.Slice[float64](l, m*d)
	s.scores = room.Slice[float64](l, d)
	return s
}

func newSolver(team *kernel.Team, g *gram.Matrix, m int) *solver {
	s := layOutSolver(nil, g.D, g.Rank, m)
	s.team, s.g, s.trace = team, g, g.Trace(team.Threads())
	return s
}

func (s *solver) usesRowProducts(count int) bool { return s.rank > 0 && s.rank < count }

func (s *solver) eigenOrder(count int) int {
	if s.usesRowProducts(count) {
		return s.rank
	}
	return count
}

func (s *solver) pairCount(order int) int { return min(s.m+1, order) }

func (s *solver) eigenpairBytes(count int) int64 {
	n := s.eigenOrder(count)
	return linalg.SmallestBytes(n, s.pairCount(n), linalg.EigenOptions{})
}

// negatedProducts returns the upper triangle of −G_SS for the features S of the list, or of −RRᵀ over these features.
func (s *solver) negatedProducts(list []int) kernel.Matrix[float64] {
	n, d := s.eigenOrder(len(list)), s.g.D
	a := kernel.RowMajor(s.products[:n*n], n, n, n)
	if !s.g.IsFactor() {
		kernel.Each(s.team.Threads(), n, func(x int) {
			row := s.g.Sym[list[x]*d:][:d]
			for y, j := range list {
				a.Data[x*n+y] = -row[j]
			}
		})
		return a
	}
	clear(a.Data)
	most := len(s.features) / s.rank
	for from := 0; from < len(list); from += most {
		part := list[from:min(from+most, len(list))]
		kernel.Each(s.team.Threads(), len(part), func(x int) {
			to := s.features[x*s.rank:][:s.rank]
			copy(to, s.g.Feature(to, part[x]))
		})
		columns := kernel.RowMajor(s.features, len(part), s.rank, s.rank)
		if s.usesRowProducts(len(list)) {
			columns = columns.Trans()
		}
		kernel.Syrk(s.team, -1, columns, a)
	}
	return a
}

// projectOnto computes P and its scores for the features S of the list, which is ascending. It returns Tr(WᵀGW)/Tr(G).
func (s *solver) projectOnto(list []int) (explained float64, err error) {
	a, threads := s.negatedProducts(list), s.team.Threads()
	if s.eig == nil || s.eigOrder != a.Rows {
		s.eig, s.eigOrder = linalg.NewSmallest(s.team, a.Rows, s.pairCount(a.Rows), linalg.EigenOptions{}), a.Rows
	}
	e, err := s.eig.Solve(a, kernel.Matrix[float64]{})
	if err != nil {
		return 0, fmt.Errorf("fspca: %w", err)
	}
	largest, count := -e.Values[0], 0
	for count < min(s.m, a.Rows) && -e.Values[count] > nullShare*largest { // of others the pseudoinverse makes 0
		explained -= e.Values[count]
		count++
	}
	if count == s.m && s.m < a.Rows && e.Values[s.m]-e.Values[s.m-1] <= gapShare*largest {
		s.isAmbiguous = true
	}
	d := s.g.D
	clear(s.roots)
	if s.usesRowProducts(len(list)) {
		u := kernel.RowMajor(s.directions, count, s.rank, s.rank)
		kernel.Copy(u, e.Vectors.Sub(0, 0, s.rank, count).Trans())
		s.g.AddUps(threads, count, u.Data[:count*s.rank], s.roots[:count*d])
	} else {
		clear(s.directions)
		for c := range count {
			root := math.Sqrt(-e.Values[c])
			for x, j := range list {
				s.directions[c*d+j] = e.Vectors.Data[x*e.Vectors.RowStride+c*e.Vectors.ColStride] / root
			}
		}
		s.g.AddProduct(threads, count, s.directions[:count*d], s.roots[:count*d])
	}
	clear(s.scores)
	for c := range count {
		for j, v := range s.roots[c*d:][:d] {
			s.scores[j] += v * v / s.trace
		}
	}
	return explained / s.trace, nil
}
