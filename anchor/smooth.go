package anchor

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Target is a matrix T of n rows that selectors reconstruct from few columns. It holds only products of T.
type Target struct {
	Rows  int       // columns of T, rows of H
	H     []float64 // TᵀX̃, Rows×D row-major
	Total float64   // ‖T‖²
	// U and SU, M×D, are set for targets smoothed in at least one round: TᵀT = Uᵀ(SU), S being the matrix of [Graph].
	// Otherwise they are nil.
	U, SU []float64
}

// SmoothBytes returns the peak memory that Smooth needs in addition to the Graph, including its result.
func SmoothBytes(m, d int) int64 {
	products := kernel.TeamBytes(max(m, d), d) // m×d, and d×d for H
	return products + room.Measure(func(l *room.Layout) { layOutSmooth(l, m, d, 2) })
}

func layOutSmooth(l *room.Layout, m, d, t int) (u, su, h kernel.Matrix[float64]) {
	if t > 1 { // otherwise U is C
		u = kernel.NewMatrix[float64](l, m, d)
	}
	return u, kernel.NewMatrix[float64](l, m, d), kernel.NewMatrix[float64](l, d, d)
}

// Smooth returns the target T = AᵗX̃, the centred data smoothed in t rounds on the anchor graph. H = CᵀS^(t−1)C is D×D,
// symmetric to the last bit and stored in full; ‖T‖² = tr(CᵀS^(2t−1)C). See the package documentation. For t ≥ 1 Smooth
// multiplies an M×D matrix t times by S, and a D×M matrix once by an M×D matrix, with 2·t·M²·D + 2·M·D² flops. For t =
// 0 it returns H = G, in g's own memory. It panics if G is a factor: see [Graph.Smoothing]. threads = 0 means
// GOMAXPROCS; the bits do not depend on the number of threads.
func (g *Graph) Smooth(threads, t int) Target {
	m, d := g.M, g.D
	out := Target{Rows: d}
	if g.G.IsFactor() {
		panic("anchor: a factor has no H")
	}
	if t < 0 {
		panic(fmt.Sprintf("anchor: %d rounds of smoothing", t))
	}
	if t == 0 {
		out.H = g.G.Sym
		out.Total = g.G.Trace(threads)
		return out
	}
	team := kernel.NewTeam(threads)
	s := kernel.RowMajor(g.S, m, m, m)
	c := kernel.RowMajor(g.C, m, d, d)
	free, next, h := layOutSmooth(nil, m, d, t)
	u := c // S^(round−1)C; next is its product with S
	for round := 1; ; round++ {
		clear(next.Data)
		kernel.Gemm(team, 1, s, u, next)
		if round == t {
			break
		}
		if round == 1 {
			u = free
		}
		u, next = next, u
	}
	for i := range m { // tr(UᵀSU)
		out.Total += kernel.Dot(u.Data[i*d:][:d], next.Data[i*d:][:d])
	}
	out.U, out.SU, out.H = u.Data, next.Data, h.Data
	kernel.Gemm(team, 1, c.Trans(), u, h)
	symmetrizeMatrix(threads, d, out.H)
	return out
}

// Smoothing returns two M×M matrices for the target T = AᵗX̃, t ≥ 1, with which no d×d matrix is needed: H = CᵀPC and
// TᵀT = CᵀQC with P = S^(t−1) and Q = S^(2t−1). It computes 2t products of M×M matrices.
func (g *Graph) Smoothing(threads, t int) (p, q []float64) {
	m, team := g.M, kernel.NewTeam(threads)
	s := kernel.RowMajor(g.S, m, m, m)
	times := func(a, b kernel.Matrix[float64]) kernel.Matrix[float64] {
		c := kernel.RowMajor(make([]float64, m*m), m, m, m)
		kernel.Gemm(team, 1, a, b, c)
		symmetrizeMatrix(threads, m, c.Data)
		return c
	}
	power := kernel.RowMajor(make([]float64, m*m), m, m, m)
	for i := range m {
		power.Data[i*m+i] = 1
	}
	for range t - 1 {
		power = times(power, s)
	}
	return power.Data, times(power, times(s, power)).Data
}

// symmetrizeMatrix replaces each pair of mirrored elements by its mean. Unlike a copy of one triangle, the mean does not
// depend on the order of the columns.
func symmetrizeMatrix(threads, n int, a []float64) {
	kernel.Each(threads, n, func(i int) {
		for j := i + 1; j < n; j++ {
			v := a[i*n+j]/2 + a[j*n+i]/2
			a[i*n+j], a[j*n+i] = v, v
		}
	})
}

// Error returns F(S)/F(∅) after each choice, with F(S) = ‖T − P_S T‖² for the target T and the projection P_S on the
// chosen columns S. A choice lowers F by its score.
func (s Target) Error(score []float64) []float64 {
	out := make([]float64, len(score))
	remaining := s.Total
	for i, v := range score {
		remaining = max(remaining-v, 0)
		if s.Total > 0 {
			out[i] = remaining / s.Total
		}
	}
	return out
}
