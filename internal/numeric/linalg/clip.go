package linalg

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// ClipReport describes the eigenvalues that [ClipNegative] removed.
type ClipReport struct {
	Count int     // number of negative eigenvalues
	Least float64 // the smallest negative eigenvalue, or 0 if Count is 0
	Share float64 // sum of the magnitudes of the negative eigenvalues, divided by the trace
}

// Eigenvalues above −clipShare·s count as 0, s being the largest sum of magnitudes in a row of the matrix. By rounding,
// a positive semidefinite matrix of low rank can get eigenvalues of about −1e-15·s.
const clipShare = 1e-12

// clipFirstPairs is the number of smallest eigenpairs that ClipNegative computes first. As long as all computed
// eigenvalues are negative, it computes four times as many.
const clipFirstPairs = 8

// ClipNegative replaces the symmetric n×n matrix A, stored in full, by the positive semidefinite matrix nearest to A in
// Frobenius' norm: its negative eigenvalues become 0 (Higham, Computing a nearest symmetric positive semidefinite
// matrix, Linear Algebra and its Applications 103, 1988). It tries a Cholesky factorization first. If that fails, it
// computes the negative eigenpairs. Wrong shapes cause a panic. If it returns an error, A is unchanged, and the error
// wraps [ErrNotFinite] or [ErrNoConvergence].
func ClipNegative(team *kernel.Team, a kernel.Matrix[float64]) (ClipReport, error) {
	n := a.Rows
	norm, trace := 0.0, 0.0
	for i := range n {
		sum := 0.0
		for j := range n {
			sum += math.Abs(a.Data[i*a.RowStride+j])
		}
		norm = max(norm, sum)
		trace += a.Data[i*a.RowStride+i]
	}
	if n == 0 || norm == 0 {
		return ClipReport{}, nil
	}
	if err := checkFinite("matrix", a); err != nil {
		return ClipReport{}, err
	}
	if hasCholeskyFactor(team, a, clipShare*norm) {
		return ClipReport{}, nil
	}
	var found Eigen
	for l := min(clipFirstPairs, n); ; l = min(4*l, n) {
		var err error
		if found, err = NewSmallest(team, n, l, EigenOptions{}).Solve(a, found.Basis); err != nil {
			return ClipReport{}, err
		}
		if l == n || found.Values[l-1] >= -clipShare*norm {
			break
		}
	}
	var c ClipReport
	for c.Count < len(found.Values) && found.Values[c.Count] < -clipShare*norm {
		c.Share -= found.Values[c.Count] / trace
		c.Count++
	}
	if c.Count == 0 {
		return c, nil
	}
	c.Least = found.Values[0]
	v := kernel.NewMatrix[float64](nil, n, c.Count) // a column √−λ·v for each negative eigenpair (λ, v)
	for j := range c.Count {
		root := math.Sqrt(-found.Values[j])
		for i := range n {
			v.Data[i*c.Count+j] = root * found.Vectors.Data[i*found.Vectors.RowStride+j*found.Vectors.ColStride]
		}
	}
	kernel.Syrk(team, 1, v, a)
	kernel.MirrorUpper(team.Threads(), a)
	return c, nil
}

func hasCholeskyFactor(team *kernel.Team, a kernel.Matrix[float64], shift float64) bool {
	n := a.Rows
	shifted := kernel.NewMatrix[float64](nil, n, n)
	kernel.Copy(shifted, a)
	for i := range n {
		shifted.Data[i*n+i] += shift
	}
	at, _ := factorUpper(team, shifted)
	return at < 0
}

// ClipBytes bounds the memory of [ClipNegative] for a matrix of order n, without the matrix itself. For each number of
// pairs, the bound includes a solver [Smallest] and the start of the search, which has no more vectors than that.
func ClipBytes(n int) int64 {
	return room.Measure(func(l *room.Layout) {
		l.Add(kernel.TeamBytes(n, n))
		l.Phase(func() { kernel.NewMatrix[float64](l, 2*n, n) }) // all eigenvectors and their multiples
		for pairs := min(clipFirstPairs, n); ; pairs = min(4*pairs, n) {
			l.Phase(func() { l.Add(8*int64(n)*int64(pairs) + SmallestBytes(n, pairs, EigenOptions{})) })
			if pairs == n {
				return
			}
		}
	})
}
