package rowsparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// blockFeatures is the number of columns of a factor whose products are added up at a time.
	blockFeatures = 256
	// zeroShare is the share of the largest eigenvalue below which an eigenvalue counts as 0. Their relative error is 1e-13.
	zeroShare = 1e-12
	// gapShare is the share of the largest eigenvalue below which the difference of two eigenvalues counts as 0.
	gapShare = 1e-10
	// roundingShare is the largest change of the objective that rounding can explain. The eigenvalues have errors of about
	// 1e-13 of the largest one (linalg.Smallest), and about ten of them are added.
	roundingShare = 1e-11
)

// Choice is the problem to choose the K features that maximize Tr(WᵀAW), under WᵀW = I, for a W with no other rows. A is
// positive semidefinite. Tian, Nie, Wang and Li, "Learning feature sparse principal subspace" (NeurIPS 2020), replace A
// by a matrix of rank m that is nowhere larger, and equal on the present W (their Algorithm 2):
//
//  1. S = the K features with the largest Pᵢᵢ of a first P. If S does not change any more, stop.
//  2. W = the m leading eigenvectors of A_SS, and P = AW(WᵀAW)⁺WᵀA. Repeat step 1.
//
// Tr(WᵀAW) cannot fall. The result is a local optimum.
type Choice struct {
	G *gram.Matrix
	// Shift makes A = Shift·I − G, if it is above 0, and otherwise A is G. It is at least the largest eigenvalue of G. The
	// first P is then A. Otherwise it is the best approximation of rank m of A, the P of all features.
	Shift      float64
	K          int // number of features, at least 1
	Components int // m, at most K
	MaxIter    int
	Threads    int
	Progress   func(iteration int, objective float64)
}

// Chosen is the solution of a [Choice].
type Chosen struct {
	// Order lists the chosen features. Scores are Pᵢᵢ/u of all features for the last W, and the objective is
	// 1 − Tr(WᵀAW)/u, with u = Tr(G), or m·Shift if there is a shift.
	method.Descent
	IsAmbiguous bool // whether the m-th leading eigenvalue of a step was equal to the next one
}

// DefaultComponents returns the default of Components for k features.
func DefaultComponents(k int) int { return max(min(10, k/2), 1) }

// AddFaults adds the faults of K, Components, MaxIter and Threads for d features. 0 means a default, except for K.
func (c *Choice) AddFaults(faults *stream.Faults, d int) {
	method.RefuseNumber(faults, c.K, d)
	if c.K == 0 && d > 0 {
		faults.Addf("{k} = 0 chooses no feature")
	}
	method.RefuseNegative(faults, "{components}", c.Components)
	if c.Components > c.K && c.K > 0 {
		faults.Addf("{components} = %d is more than {k} = %d; lower it, or choose more features", c.Components, c.K)
	}
	method.RefuseNegative(faults, "{max-iter}", c.MaxIter)
	method.RefuseNegative(faults, "{threads}", c.Threads)
}

// ChoiceBytes bounds the memory of [Choice.SelectRows] in addition to G of d features, with the fields K, Components and
// Shift. If rank is not 0, G is a factor of `rank` rows.
func (c *Choice) ChoiceBytes(d, rank int) int64 {
	return room.Measure(func(l *room.Layout) {
		s := layOutSolver(l, d, rank, c)
		if c.Shift <= 0 {
			l.Phase(func() { l.Add(s.eigenpairBytes(d)) })
		}
		l.Phase(func() { l.Add(s.eigenpairBytes(c.K)) })
		l.Add(2 * kernel.TeamBytes(max(d, rank), d)) // the products with G have a team of their own
		l.Add(8 * int64(10*d+c.Components*rank))     // rankings, lists and scores of features, and a product with R
	})
}

// SelectRows solves the problem. An iteration costs the pairs of a matrix whose order is K or, without a shift, at most the
// number of rows of a factor, and 2·m·d² or 4·m·n·d flops. Without a shift the start costs the m+1 leading eigenpairs of
// G, or of RRᵀ if G is a factor R of fewer rows than features. G must not be 0. The error is that of the
// context, or wraps one of package linalg.
func (c *Choice) SelectRows(ctx context.Context) (*Chosen, error) {
	s, err := startSolver(c)
	if err != nil {
		return nil, err
	}
	r := &Chosen{}
	order, _ := rankByScore(s.scores)
	for t := 1; t <= c.MaxIter && !r.Converged; t++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		chosen := sortedCopy(order[:c.K])
		explained, err := s.projectOnto(chosen)
		if err != nil {
			return nil, err
		}
		if !r.RecordStep(t, 1-explained, roundingShare, -1, c.Progress) {
			break
		}
		if t > 1 && r.Objective[t-2]-r.Objective[t-1] <= roundingShare { // other features that are as good: keep the first
			r.Converged = true
			break
		}
		var ties method.Ties
		order, ties = rankByScore(s.scores)
		r.Converged = slices.Equal(sortedCopy(order[:c.K]), chosen)
		r.Scores, r.Ties = slices.Clone(s.scores), ties
		r.Order = slices.DeleteFunc(slices.Clone(order), func(j int) bool {
			_, found := slices.BinarySearch(chosen, j)
			return !found
		})
	}
	if !r.Converged { // the order of all features has others first
		r.Ties = nil
	}
	r.IsAmbiguous = s.isAmbiguous
	return r, nil
}

func rankByScore(scores []float64) ([]int, method.Ties) {
	// The eigenvectors have errors below 1e-10 of a score, and 1e-13 of the whole.
	return method.Rank(scores, func(largest, score float64) bool { return score >= largest*(1-1e-10)-1e-13 })
}

func sortedCopy(list []int) []int { return slices.Sorted(slices.Values(list)) }

// solver computes the matrix P of a [Choice] for given features.
type solver struct {
	team        *kernel.Team
	g           *gram.Matrix
	shift       float64
	rank, m     int
	unit        float64 // the u of Chosen
	isAmbiguous bool

	eig        *linalg.Smallest
	eigOrder   int       // order of the matrices that eig solves
	products   []float64 // −A_SS, or −RRᵀ over the features S
	features   []float64 // columns of R, one after the other
	directions []float64 // m rows: Λ^(−1/2)Wᵀ, or Uᵀ
	roots      []float64 // m×d: the matrix Z with P = ZᵀZ
	scores     []float64 // Pᵢᵢ/u
}

func layOutSolver(l *room.Layout, d, rank int, c *Choice) *solver {
	s := &solver{rank: rank, m: c.Components, shift: c.Shift}
	most, together := c.K, max(rank, blockFeatures)
	if c.Shift <= 0 { // the start uses all features
		most = s.eigenOrder(d)
	} else {
		together = max(c.K, together) // products with each other
	}
	s.products = room.Slice[float64](l, most*most)
	s.features = room.Slice[float64](l, min(d, together)*rank)
	s.directions, s.roots = room.Slice[float64](l, s.m*max(d, rank)), room.Slice[float64](l, s.m*d)
	s.scores = room.Slice[float64](l, d)
	return s
}

func newSolver(c *Choice) *solver {
	s := layOutSolver(nil, c.G.D, c.G.Rank, c)
	s.team, s.g = kernel.NewTeam(c.Threads), c.G
	return s
}

func startSolver(c *Choice) (*solver, error) {
	s := newSolver(c)
	diagonal := c.G.Diagonal(s.team.Threads())
	if c.Shift > 0 {
		s.unit = float64(s.m) * c.Shift
		for j, v := range diagonal {
			s.scores[j] = (c.Shift - v) / s.unit
		}
		return s, nil
	}
	every := make([]int, c.G.D)
	for j, v := range diagonal {
		every[j] = j
		s.unit += v
	}
	_, err := s.projectOnto(every) // P = G_m
	return s, err
}

func (s *solver) usesRowProducts(count int) bool {
	return s.rank > 0 && s.rank < count && s.shift <= 0
}

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

// negatedProducts returns the upper triangle of −A_SS for the features S of the list, or of −RRᵀ over these features.
func (s *solver) negatedProducts(list []int) kernel.Matrix[float64] {
	n, d, sign := s.eigenOrder(len(list)), s.g.D, -1.0
	if s.shift > 0 {
		sign = 1
	}
	a := kernel.RowMajor(s.products[:n*n], n, n, n)
	if s.g.IsFactor() {
		s.addFactorProducts(a, sign, list)
	} else {
		kernel.Each(s.team.Threads(), n, func(x int) {
			row := s.g.Sym[list[x]*d:][:d]
			for y, j := range list {
				a.Data[x*n+y] = sign * row[j]
			}
		})
	}
	for x := 0; x < n && s.shift > 0; x++ {
		a.Data[x*n+x] -= s.shift
	}
	return a
}

func (s *solver) addFactorProducts(a kernel.Matrix[float64], sign float64, list []int) {
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
		kernel.Syrk(s.team, sign, columns, a)
	}
}

// projectOnto computes P and its scores for the features S of the list, which is ascending. It returns Tr(WᵀAW)/u.
func (s *solver) projectOnto(list []int) (explained float64, err error) {
	a, threads := s.negatedProducts(list), s.team.Threads()
	if s.eig == nil || s.eigOrder != a.Rows {
		s.eig, s.eigOrder = linalg.NewSmallest(s.team, a.Rows, s.pairCount(a.Rows), linalg.EigenOptions{}), a.Rows
	}
	e, err := s.eig.Solve(a, kernel.Matrix[float64]{})
	if err != nil {
		return 0, fmt.Errorf("sparse subspace: %w", err)
	}
	largest, count := -e.Values[0], 0
	for count < min(s.m, a.Rows) && -e.Values[count] > zeroShare*largest { // of others the pseudoinverse makes 0
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
		if s.shift > 0 {
			for i, v := range s.directions[:count*d] {
				s.roots[i] = s.shift*v - s.roots[i]
			}
		}
	}
	clear(s.scores)
	for c := range count {
		for j, v := range s.roots[c*d:][:d] {
			s.scores[j] += v * v / s.unit
		}
	}
	return explained / s.unit, nil
}
