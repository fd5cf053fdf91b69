package target

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/stream"
)

// scatterRidge is the ridge ρ of NewScatter, in units of the mean diagonal entry of G. It keeps directions in which
// the data hardly vary out of the target, and makes the scatter matrix positive definite if features outnumber rows.
// Package sfufs measured its own ridge and found the same number.
const scatterRidge = 1e-3

// NewScatter is our own target T = XW, for the l directions W that are smoothest on the graph relative to their
// variance: the leading eigenvectors of
//
//	CᵀC w = μ (G + ρ·tr(G)/d·I) w,  Wᵀ(G + …)W = I,
//
// the locality preserving projection (He and Niyogi, NIPS 2003) in units of the scatter. C is the m×d matrix of the
// anchor graph, with one row for each anchor, and CᵀC has rank m. With UᵀU = G + ρ…, the matrix in brackets, and V =
// U⁻ᵀCᵀ, the pairs come from the smaller of VᵀV and VVᵀ: VᵀVy = μy gives w = U⁻¹Vy/√μ. Then
//
//	H = TᵀX̃ = WᵀG,  ‖T‖² = tr(WᵀGW) = tr(HW).
//
// It costs d³/3 + d²m + min(m, d)·md flops and the eigenpairs of a matrix of order min(m, d).
//
// If G = RᵀR is a factor, the pairs come from the m×m matrix C(G + ρ…)⁻¹Cᵀ. With K = RRᵀ and C = BᵀR, B being the
// matrix of the graph, it is BᵀK(K + ρ…)⁻¹B, and w = Rᵀ(K + ρ…)⁻¹By/√μ.
func NewScatter(team *kernel.Team, g *anchor.Graph, l int) (*Graph, error) {
	d, m := g.D, g.M
	unit := 0.0
	for _, v := range g.G.Diagonal(team.Threads()) {
		unit += v / float64(d)
	}
	if !(unit > 0 && unit <= math.MaxFloat64) {
		return nil, stream.Dataf("", "the mean sum of squares of the features is %v; scale the columns", unit)
	}
	if g.G.IsFactor() {
		return scatterOfFactor(team, g, l, unit)
	}
	scaled := make([]float64, d*d)
	for i, v := range g.G.Sym {
		scaled[i] = v / unit
	}
	for i := range d {
		scaled[i*d+i] += scatterRidge
	}
	var chol linalg.Cholesky
	if err := chol.Factor(team, kernel.RowMajor(scaled, d, d, d)); err != nil {
		return nil, fmt.Errorf("scatter matrix of the target: %w", err)
	}
	v := kernel.RowMajor(make([]float64, d*m), d, m, m) // in units of √unit
	half := kernel.RowMajor(make([]float64, m*d), m, d, d)
	for i, c := range g.C {
		half.Data[i] = c / math.Sqrt(unit)
	}
	chol.HalfSolveTo(team, v, half.Trans())
	y, mu, err := leadingEigenpairs(team, v, min(l, m, d))
	if err != nil {
		return nil, fmt.Errorf("directions of the target: %w", err)
	}
	l = len(mu)
	// (UᵀU)⁻¹C̃ᵀy/√μ = U⁻¹Vy/√μ, because V = U⁻ᵀC̃ᵀ.
	w := kernel.RowMajor(make([]float64, d*l), d, l, l)
	kernel.Gemm(team, 1, half.Trans(), y, w)
	chol.SolveTo(team, w, w)
	for i := range d {
		for j := range l {
			w.Data[i*l+j] /= math.Sqrt(mu[j])
		}
	}
	t, total := selection.Target{Rows: l, H: make([]float64, l*d)}, 0.0
	h := kernel.RowMajor(t.H, l, d, d)
	kernel.Gemm(team, 1/math.Sqrt(unit), w.Trans(), kernel.RowMajor(g.G.Sym, d, d, d), h)
	for j := range l {
		for i := range d {
			total += t.H[j*d+i] * (w.Data[i*l+j] / math.Sqrt(unit))
		}
	}
	return &Graph{Matrix: NewGiven(t, d), TotalSquares: total}, nil
}

// scatterOfFactor computes the target of NewScatter if G is given by a factor R of n rows. It costs n²m + nm² flops
// and some products with R. unit is the mean diagonal entry of G.
func scatterOfFactor(team *kernel.Team, g *anchor.Graph, l int, unit float64) (*Graph, error) {
	d, m, n := g.D, g.M, g.G.Rank
	ridged := kernel.RowMajor(make([]float64, n*n), n, n, n)
	for i, v := range g.G.Dual(team.Threads()) {
		ridged.Data[i] = v / unit
	}
	for i := range n {
		ridged.Data[i*n+i] += scatterRidge
	}
	var chol linalg.Cholesky
	if err := chol.Factor(team, ridged); err != nil {
		return nil, fmt.Errorf("scatter matrix of the target: %w", err)
	}
	b := kernel.RowMajor(g.B(team.Threads()), n, m, m)
	solved := kernel.RowMajor(make([]float64, n*m), n, m, m) // (K + ρ)⁻¹B
	chol.SolveTo(team, solved, b)
	// −BᵀK(K + ρ)⁻¹B = −S + ρ·Bᵀ(K + ρ)⁻¹B
	product := kernel.RowMajor(make([]float64, m*m), m, m, m)
	for i, v := range g.S {
		product.Data[i] = -v
	}
	kernel.Gemm(team, scatterRidge, b.Trans(), solved, product)
	found, err := linalg.NewSmallest(team, m, min(l, m, d), linalg.EigenOptions{}).Solve(product, kernel.Matrix[float64]{})
	if err != nil {
		return nil, fmt.Errorf("directions of the target: %w", err)
	}
	l = 0
	for l < len(found.Values) && -found.Values[l] > minEigenvalue {
		l++
	}
	z := kernel.RowMajor(make([]float64, l*n), l, n, n) // W = RᵀZᵀ
	kernel.Gemm(team, 1, found.Vectors.Sub(0, 0, m, l).Trans(), solved.Trans(), z)
	for j := range l {
		for i := range n {
			z.Data[j*n+i] /= math.Sqrt(-found.Values[j]) * unit
		}
	}
	kz := kernel.RowMajor(make([]float64, l*n), l, n, n)
	kernel.Gemm(team, 1, z, kernel.RowMajor(g.G.Dual(team.Threads()), n, n, n), kz)
	t := selection.Target{Rows: l, H: make([]float64, l*d)}
	g.G.AddUps(team.Threads(), l, kz.Data, t.H) // WᵀG
	return &Graph{Matrix: NewGiven(t, d), TotalSquares: kernel.Dot(kz.Data, kz.Data)}, nil
}

// minEigenvalue is the largest eigenvalue μ of NewScatter that counts as a rounding error. As CᵀC ≤ G, no eigenvalue is
// above 1. A graph without information has no eigenvalue above minEigenvalue.
const minEigenvalue = 1e-12

// leadingEigenpairs returns the l largest eigenvalues μ of VᵀV for a d×m matrix V, and the eigenvectors, m×l. It
// returns fewer if the remaining eigenvalues are rounding. The eigenproblem has the order of the smaller side of V.
func leadingEigenpairs(team *kernel.Team, v kernel.Matrix[float64], l int) (y kernel.Matrix[float64], mu []float64, err error) {
	tall := v // has as many rows as the order of the eigenproblem
	if v.Cols < v.Rows {
		tall = v.Trans()
	}
	n := tall.Rows
	product := kernel.RowMajor(make([]float64, n*n), n, n, n)
	kernel.Syrk(team, -1, tall, product)
	found, err := linalg.NewSmallest(team, n, l, linalg.EigenOptions{}).Solve(product, kernel.Matrix[float64]{})
	if err != nil {
		return y, nil, err
	}
	for _, value := range found.Values {
		if -value <= minEigenvalue {
			break
		}
		mu = append(mu, -value)
	}
	vectors := found.Vectors.Sub(0, 0, n, len(mu))
	if v.Cols < v.Rows {
		return vectors, mu, nil
	}
	y = kernel.RowMajor(make([]float64, v.Cols*len(mu)), v.Cols, len(mu), len(mu))
	kernel.Gemm(team, 1, v.Trans(), vectors, y) // the columns of y have length √μ
	for i := range v.Cols {
		for j, value := range mu {
			y.Data[i*len(mu)+j] /= math.Sqrt(value)
		}
	}
	return y, mu, nil
}

// ScatterBytes returns the memory for NewScatter with m anchors, d features and l directions, if G is in full.
func ScatterBytes(m, d, l int) int64 {
	n := min(m, d)
	return 8*(2*int64(d)*int64(d)+2*int64(m)*int64(d)+int64(n)*int64(n)+int64(l)*int64(2*d+m)) +
		linalg.SmallestBytes(n, min(l, n), linalg.EigenOptions{}) + kernel.TeamBytes(m, d)
}

// ScatterFactorBytes returns the memory for NewScatter if G is a factor of n rows.
func ScatterFactorBytes(n, m, d, l int) int64 {
	return 8*(4*int64(n)*int64(n)+2*int64(n)*int64(m)+int64(m)*int64(m)+int64(l)*int64(2*n+2*m+d)) +
		linalg.SmallestBytes(m, min(l, m), linalg.EigenOptions{}) + kernel.TeamBytes(max(n, m), d)
}
