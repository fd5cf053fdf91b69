package jelsr

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
)

// embeddingSolver computes JELSR's Y for given U = R⁻² (see regression): the c orthonormal columns with the least
//
//	Tr Yᵀ(L + βI − βXHXᵀ)Y,   H = (G + αU)⁻¹ = R·P⁻¹·R.
//
// As L = I − BBᵀ these are the leading eigenvectors of BBᵀ + βXHXᵀ = TTᵀ, where P = VᵀV by Cholesky and
//
//	T = [B, √β·XRV⁻¹],   n×(m+d),
//
// so that Y = T·q/√κ for the leading eigenpairs (κ, q) of TᵀT, which has no dimension n:
//
//	TᵀT = ⎡ S               √β·CRV⁻¹        ⎤
//	      ⎣ √β·V⁻ᵀRCᵀ       β(I − αV⁻ᵀV⁻¹)  ⎦   as RGR = P − αI.
//
// If G is a factor, with fewer rows than features, Y consists of eigenvectors of TTᵀ: see embedding_rows.go.
//
// Other eigenvectors of L + βI − βXHXᵀ are orthogonal to the columns of T and have the cost 1 + β, the largest
// possible.
type embeddingSolver struct {
	graph       *anchor.Graph
	team        *kernel.Team
	r           *regression
	alpha, beta float64
	c           int
	b           kernel.Matrix[float64] // B, n×m, if G is a factor
	t           kernel.Matrix[float64] // upper triangle of −TᵀT, of order m+d, or of −TTᵀ if G is a factor
	eig         *linalg.Smallest

	// Products of the last Y: btY is BᵀY, which is the first m rows of √κ·q, and xtY is XᵀY. Nil before the first Y.
	btY, xtY []float64
	last     kernel.Matrix[float64] // basis of Y, if G is a factor
}

func newEmbeddingSolver(team *kernel.Team, g *anchor.Graph, r *regression, opt Options) *embeddingSolver {
	n := g.M + g.D
	e := &embeddingSolver{graph: g, team: team, r: r, alpha: opt.Alpha, beta: opt.Beta, c: min(opt.Clusters, n)}
	if g.G.IsFactor() {
		n = g.G.Rank
		e.b = kernel.RowMajor(g.B(team.Threads()), n, g.M, g.M)
	}
	e.t = kernel.RowMajor(make([]float64, n*n), n, n, n)
	// One more pair shows whether the last pair of Y is unique.
	e.eig = linalg.NewSmallest(team, n, min(e.c+1, n), linalg.EigenOptions{})
	return e
}

func embeddingBytes(d, m, rank, clusters int) int64 {
	n := m + d
	clusters = min(clusters, n)
	if rank > 0 {
		n = rank
		return 8*int64(n)*int64(n+m+2*clusters) + linalg.SmallestBytes(n, min(clusters+1, n), linalg.EigenOptions{}) + 8*int64(d)*int64(2*clusters)
	}
	return 8*int64(n)*int64(n) + linalg.SmallestBytes(n, min(clusters+1, n), linalg.EigenOptions{}) + 8*int64(n)*int64(4*clusters)
}

// embeddingProducts holds the products of an embedding Y that the regression needs.
type embeddingProducts struct {
	ridge.Target
	cost float64 // Tr Yᵀ(L + βI − βXHXᵀ)Y
	// freeColumns is the number of columns of Y orthogonal to all columns of B and X. XW cannot fit them.
	freeColumns int
	isTied      bool // another Y has the same cost
}

// noEigenvalue: an eigenvalue of the embedding below this share of the largest possible one, 1 + β, is rounding error.
const noEigenvalue = 1e-12

// eigenTolerance is the relative difference up to which two eigenvalues are considered equal.
const eigenTolerance = 1e-9

// nextEmbedding computes the embedding Y (see embeddingSolver) for new row weights. It overwrites the regression's
// scratch space. It costs d³ + m·d² flops, and the c leading eigenpairs of a matrix of order m+d.
func (e *embeddingSolver) nextEmbedding() (*embeddingProducts, error) {
	if e.b.Rows > 0 {
		return e.nextEmbeddingOfRows()
	}
	d, m, n, c := e.graph.D, e.graph.M, e.t.Rows, e.c
	inverse := e.fillSmallMatrix()
	found, err := e.eig.Solve(e.t, e.warmStart())
	if err != nil {
		return nil, fmt.Errorf("jelsr: embedding: %w", err)
	}
	p := &embeddingProducts{}
	whole := 1 + e.beta
	at := func(i, j int) float64 { return found.Vectors.Data[i*found.Vectors.RowStride+j*found.Vectors.ColStride] }
	e.btY = make([]float64, m*c)
	first, second := make([]float64, m*c), make([]float64, d*c) // the first m rows of q/√κ, and the other rows times √β
	for j := range c {
		kappa := -found.Values[j]
		if !(kappa > noEigenvalue*whole) {
			p.freeColumns++
			p.cost += whole
			continue
		}
		p.cost += whole - kappa
		root := math.Sqrt(kappa)
		for a := range m {
			e.btY[a*c+j] = root * at(a, j)
			first[a*c+j] = at(a, j) / root
		}
		for i := range d {
			second[i*c+j] = math.Sqrt(e.beta) * at(m+i, j) / root
		}
	}
	p.isTied = c < n && p.freeColumns == 0 && found.Values[c]-found.Values[c-1] <= eigenTolerance*whole
	// XᵀY = Cᵀ·first + G·R·V⁻¹·second
	p.XY = make([]float64, d*c)
	xy, scaled := kernel.RowMajor(p.XY, d, c, c), make([]float64, d*c)
	kernel.Gemm(e.team, 1, inverse.Trans(), kernel.RowMajor(second, d, c, c), kernel.RowMajor(scaled, d, c, c))
	for i, root := range e.r.scale {
		for j := range c {
			scaled[i*c+j] *= root
		}
	}
	kernel.Gemm(e.team, 1, kernel.RowMajor(e.graph.C, m, d, d).Trans(), kernel.RowMajor(first, m, c, c), xy)
	kernel.Gemm(e.team, 1, kernel.RowMajor(e.graph.G.Sym, d, d, d), kernel.RowMajor(scaled, d, c, c), xy)
	e.xtY = p.XY
	return p, nil
}

// fillSmallMatrix writes −TᵀT to e.t, and returns V⁻ᵀ, which is stored in place of P.
func (e *embeddingSolver) fillSmallMatrix() (inverse kernel.Matrix[float64]) {
	d, m, n := e.graph.D, e.graph.M, e.t.Rows
	root := math.Sqrt(e.beta)
	for a := range m {
		row := e.t.Data[a*n:][:n]
		for b, v := range e.graph.S[a*m:][:m] {
			row[b] = -v
		}
		for i, v := range e.graph.C[a*d:][:d] {
			row[m+i] = -root * v * e.r.scale[i]
		}
	}
	corner := e.t.Sub(0, m, m, d).Trans()
	e.r.Chol.HalfSolveTo(e.team, corner, corner)
	inverse = e.r.P
	for i := range d {
		clear(e.t.Data[(m+i)*n:][:n])
		e.t.Data[(m+i)*(n+1)] = -e.beta
	}
	e.r.Chol.HalfInverseTo(e.team, inverse)
	kernel.Syrk(e.team, e.alpha*e.beta, inverse, e.t.Sub(m, m, d, d))
	return inverse
}

// warmStart returns TᵀY of the last Y as the start of the next eigenvalue computation. It is empty before the first Y.
func (e *embeddingSolver) warmStart() kernel.Matrix[float64] {
	if e.xtY == nil {
		return kernel.Matrix[float64]{}
	}
	d, m, n, c := e.graph.D, e.graph.M, e.t.Rows, e.c
	start := kernel.RowMajor(make([]float64, n*c), n, c, c)
	copy(start.Data, e.btY)
	root := math.Sqrt(e.beta)
	for i := range d {
		for j, v := range e.xtY[i*c:][:c] {
			start.Data[(m+i)*c+j] = root * e.r.scale[i] * v
		}
	}
	below := start.Sub(m, 0, d, c)
	e.r.Chol.HalfSolveTo(e.team, below, below)
	return start
}
