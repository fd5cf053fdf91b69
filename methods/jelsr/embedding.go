package jelsr

import (
	"cmp"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
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

	// Products of the last Y: btY is BᵀY, which is the first m rows of √κ·q, and xtY is XᵀY.
	btY, xtY []float64
	hasLast  bool                   // whether there is a last Y
	last     kernel.Matrix[float64] // basis of Y, if G is a factor

	parts  kernel.Matrix[float64] // (m+d)×c: TᵀY of the last Y, later q/√κ of the next, with √β times the last d rows
	scaled kernel.Matrix[float64] // R·V⁻¹ times the last d rows of parts
	y      kernel.Matrix[float64] // Y, n×c, if G is a factor
}

func newEmbeddingSolver(team *kernel.Team, g *anchor.Graph, r *regression, opt Options) *embeddingSolver {
	e := &embeddingSolver{graph: g, team: team, r: r, alpha: opt.Alpha, beta: opt.Beta, c: min(opt.Clusters, g.M+g.D)}
	e.layOut(nil, g.D, g.M, g.G.Rank, e.c)
	n := e.t.Rows
	if g.G.IsFactor() {
		e.b = kernel.RowMajor(g.B(team.Threads()), n, g.M, g.M)
	}
	// One more pair shows whether the last pair of Y is unique.
	e.eig = linalg.NewSmallest(team, n, min(e.c+1, n), linalg.EigenOptions{})
	return e
}

func (e *embeddingSolver) layOut(l *room.Layout, d, m, rank, c int) {
	order := cmp.Or(rank, m+d)
	e.t = kernel.NewMatrix[float64](l, order, order)
	e.xtY = room.Slice[float64](l, d*c)
	if rank > 0 {
		e.y = kernel.NewMatrix[float64](l, rank, c)
		return
	}
	e.btY = room.Slice[float64](l, m*c)
	e.parts, e.scaled = kernel.NewMatrix[float64](l, m+d, c), kernel.NewMatrix[float64](l, d, c)
}

// embeddingProducts holds the products of an embedding Y that the regression needs. The next embedding overwrites its
// Target.
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
	inverse := e.fillSmallMatrix()
	found, err := e.eig.Solve(e.t, e.warmStart())
	if err != nil {
		return nil, fmt.Errorf("jelsr: embedding: %w", err)
	}
	return e.computeProducts(found, inverse), nil
}

func (e *embeddingSolver) computeProducts(found linalg.Eigen, inverse kernel.Matrix[float64]) *embeddingProducts {
	d, m, n, c := e.graph.D, e.graph.M, e.t.Rows, e.c
	p := &embeddingProducts{Target: ridge.Target{XY: e.xtY}}
	whole := 1 + e.beta
	at := func(i, j int) float64 { return found.Vectors.Data[i*found.Vectors.RowStride+j*found.Vectors.ColStride] }
	clear(e.btY)
	clear(e.parts.Data)
	first, second := e.parts.Data[:m*c], e.parts.Data[m*c:]
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
	xy := kernel.RowMajor(e.xtY, d, c, c)
	linalg.MultiplyTo(e.team, e.scaled, 1, inverse.Trans(), kernel.RowMajor(second, d, c, c))
	for i, root := range e.r.scale {
		for j := range c {
			e.scaled.Data[i*c+j] *= root
		}
	}
	linalg.MultiplyTo(e.team, xy, 1, kernel.RowMajor(e.graph.C, m, d, d).Trans(), kernel.RowMajor(first, m, c, c))
	kernel.Gemm(e.team, 1, kernel.RowMajor(e.graph.G.Sym, d, d, d), e.scaled, xy)
	e.hasLast = true
	return p
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
	if !e.hasLast {
		return kernel.Matrix[float64]{}
	}
	d, m, c, start := e.graph.D, e.graph.M, e.c, e.parts
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
