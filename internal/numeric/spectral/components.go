package spectral

import (
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Components holds the leading principal components of the centred data X by their Gram matrix G = XᵀX: the
// eigenpairs of G, which are the squared lengths of the components Xv and their loadings v.
type Components struct {
	Values   []float64              // λ = ‖Xv‖², descending; eigenvalues that are only rounding errors are left out
	Loadings kernel.Matrix[float64] // c×d: the unit eigenvectors v as rows
	// Tied has an element for each component: it is true if the next eigenvalue of G is equal. The loadings are then any
	// basis of the eigenspace.
	Tied []bool
}

// firstCount is the number of components that FindComponents computes first to reach a share of the variance.
const firstCount = 32

// FindComponents returns the `count` leading components of the data with the Gram matrix G of order d, or fewer if G
// has a lower rank. If count is 0, it returns the fewest components whose eigenvalues sum up to the given share of the
// trace. It costs the eigenpairs of a matrix of
// order d or r, see [linalg.Smallest], and needs the memory given by [ComponentsBytes]. Other methods of g must not be
// running. The error is a *stream.DataError if G is 0, or wraps an error of package linalg.
func FindComponents(team *kernel.Team, g *gram.Matrix, count int, share float64) (*Components, error) {
	trace := g.Trace(team.Threads())
	if trace == 0 {
		return nil, stream.Dataf("", "every feature is constant")
	}
	c := new(Components)
	var vectors kernel.Matrix[float64]
	var err error
	eachPairCount(matrixOrder(g.D, g.Rank), count, func(pairs int) bool {
		var found linalg.Eigen
		if found, err = LeadingPairs(team, g, pairs); err != nil {
			return true
		}
		vectors = found.Vectors
		return c.keepComponents(found.Values, count, share*trace, pairs == matrixOrder(g.D, g.Rank))
	})
	if err != nil {
		return nil, err
	}
	c.Loadings = ToLoadings(team, g, vectors, c.Values)
	return c, nil
}

// ToLoadings returns the unit eigenvectors of G, as rows, of the pairs that [LeadingPairs] has found: the first columns
// of vectors, one for each of the values. If G is a factor R of r rows, v = Rᵀu/√λ.
func ToLoadings(team *kernel.Team, g *gram.Matrix, vectors kernel.Matrix[float64], values []float64) kernel.Matrix[float64] {
	rows, loadings := layOutComponents(nil, g.D, g.Rank, len(values))
	kernel.Copy(rows, vectors.Sub(0, 0, vectors.Rows, len(values)).Trans())
	if g.IsFactor() {
		for k, value := range values {
			row := rows.Data[k*rows.Cols:][:rows.Cols]
			for i := range row {
				row[i] /= math.Sqrt(value)
			}
		}
		g.AddUps(team.Threads(), rows.Rows, rows.Data, loadings.Data)
	}
	return loadings
}

// keepComponents keeps the leading eigenvalues that are wanted: `count` of them, or if count is 0, as many as sum up to
// variance. It reports whether values contains all of these, and the next eigenvalue if there is one. areAll means
// that values contains all eigenvalues.
func (c *Components) keepComponents(values []float64, count int, variance float64, areAll bool) (isComplete bool) {
	c.Values, c.Tied = nil, nil
	largest, sum := values[0], 0.0
	for i, value := range values {
		isEnough := i == count
		if count == 0 {
			// The sum has rounding errors, and is the trace if all components are wanted.
			isEnough = i > 0 && sum >= variance*(1-1e-12)
		}
		if isEnough || value < minEigenvalue*largest {
			return true
		}
		sum += value
		c.Values = append(c.Values, value)
		c.Tied = append(c.Tied, i+1 < len(values) && value-values[i+1] < tieTolerance*largest)
	}
	return areAll
}

// WarnOfTies warns if components from index `from` on are tied.
func (c *Components) WarnOfTies(from int) []stream.Text {
	ties := 0
	for _, isTied := range c.Tied[from:] {
		if isTied {
			ties++
		}
	}
	if ties == 0 {
		return nil
	}
	return []stream.Text{stream.Textf("%d of the leading eigenvalues of the Gram matrix equal the next: the choice among their components is arbitrary", ties)}
}

// eachPairCount calls find with numbers of eigenpairs to compute until it returns true: one more than count, to see
// whether the last eigenvalue repeats; if count is 0, rising numbers up to the order n of the matrix.
func eachPairCount(n, count int, find func(pairs int) bool) {
	if count > 0 {
		find(min(count+1, n))
		return
	}
	for pairs := firstCount; ; pairs *= 2 {
		if 5*pairs >= n { // the dense solver is used, and finds all
			find(n)
			return
		}
		if find(pairs) {
			return
		}
	}
}

func matrixOrder(d, rank int) int {
	if rank > 0 {
		return rank
	}
	return d
}

func layOutComponents(l *room.Layout, d, rank, count int) (eigenvectors, loadings kernel.Matrix[float64]) {
	loadings = kernel.NewMatrix[float64](l, count, d)
	if rank == 0 {
		return loadings, loadings
	}
	return kernel.NewMatrix[float64](l, count, rank), loadings
}

// ComponentsBytes bounds the memory of FindComponents with the result and the dual matrix of a factor. G has order d;
// it is a factor of `rank` rows unless rank is 0.
func ComponentsBytes(d, rank, count int) int64 {
	n := matrixOrder(d, rank)
	return room.Measure(func(l *room.Layout) {
		l.Add(8*int64(rank)*int64(rank) + 8*int64(d) + kernel.TeamBytes(n, max(n, d))) // the dual, and the diagonal
		eachPairCount(n, count, func(pairs int) bool {
			l.Phase(func() { l.Add(linalg.SmallestBytes(n, pairs, linalg.EigenOptions{})) })
			return false
		})
		most := n
		if count > 0 {
			most = min(count, n)
		}
		layOutComponents(l, d, rank, most)
		l.Add(8 * int64(n) * int64(most)) // eigenvectors that are being copied
	})
}

// LeadingPairs returns the `count` largest eigenvalues of G, in descending order, and their eigenvectors. If G is a
// factor R of r rows, they are the eigenpairs of RRᵀ, and count is at most r. During the call the sign of the matrix is
// reversed in place, so that no copy is needed: the largest eigenvalues of G are the smallest of −G, negated. The call
// needs the memory given by [linalg.SmallestBytes].
func LeadingPairs(team *kernel.Team, g *gram.Matrix, count int) (linalg.Eigen, error) {
	sym, n := g.Sym, g.D
	if g.IsFactor() {
		sym, n = g.Dual(team.Threads()), g.Rank
	}
	negateAll(sym, team.Threads())
	defer negateAll(sym, team.Threads())
	found, err := linalg.NewSmallest(team, n, min(count, n), linalg.EigenOptions{}).
		Solve(kernel.RowMajor(sym, n, n, n), kernel.Matrix[float64]{})
	if err != nil {
		return found, err
	}
	for i := range found.Values {
		found.Values[i] *= -1
	}
	return found, nil
}

func negateAll(x []float64, threads int) {
	const size = 1 << 16
	kernel.Each(threads, (len(x)+size-1)/size, func(b int) {
		part := x[b*size : min(len(x), (b+1)*size)]
		for i := range part {
			part[i] = -part[i]
		}
	})
}
