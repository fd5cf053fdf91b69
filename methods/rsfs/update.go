package rsfs

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

// problem is the objective of RSFS for n rows X of d features in c clusters, with the current solution.
type problem struct {
	n, d, c                int
	team                   *kernel.Team
	alpha, beta, nu, gamma float64
	x                      kernel.Matrix[float64] // n×d
	graph                  *rows.Graph            // of S + Sᵀ, see newLocalGraph
	ridge                  *ridge.Solver

	current, next *clusters              // Y, and memory for the next one
	z, xw         kernel.Matrix[float64] // Z and XW, n×c
	norms         []float64              // ‖wᵢ‖

	root          []float64              // D^(−1/2)
	xy            kernel.Matrix[float64] // Xᵀ(Y − Z), d×c
	target, cubic kernel.Matrix[float64] // Y − Z and YYᵀY, n×c; target is then the factors of Y's update
}

// clusters is a Y with its products.
type clusters struct {
	y, ly kernel.Matrix[float64] // Y and LY, n×c
	yy    kernel.Matrix[float64] // YᵀY, c×c
}

func (p *problem) layOut(l *room.Layout) {
	matrix := func() kernel.Matrix[float64] { return kernel.NewMatrix[float64](l, p.n, p.c) }
	for _, to := range []**clusters{&p.current, &p.next} {
		*to = &clusters{y: matrix(), ly: matrix(), yy: kernel.NewMatrix[float64](l, p.c, p.c)}
	}
	p.z, p.xw, p.target, p.cubic = matrix(), matrix(), matrix(), matrix()
	p.xy = kernel.NewMatrix[float64](l, p.d, p.c)
	p.norms, p.root = room.Slice[float64](l, p.d), room.Slice[float64](l, p.d)
}

func (p *problem) updateProducts(f *clusters) {
	p.graph.LaplacianTo(p.team.Threads(), f.ly.Data, f.y.Data, 0, p.n, p.c)
	linalg.MultiplyTo(p.team, f.yy, 1, f.y.Trans(), f.y)
}

// updateRegression sets W, and with it XW and the norms of W's rows (step 1 of the package comment). If a norm is 0, its
// feature stays out of the regression.
func (p *problem) updateRegression() error {
	for i, norm := range p.norms {
		p.root[i] = math.Sqrt(2 * norm)
	}
	if err := p.ridge.SetWeights(p.root, p.beta/p.alpha); err != nil {
		return fmt.Errorf("rsfs: regression with beta = %v: %w", p.beta, err)
	}
	for i, v := range p.current.y.Data {
		p.target.Data[i] = v - p.z.Data[i]
	}
	linalg.MultiplyTo(p.team, p.xy, 1, p.x.Trans(), p.target)
	w, _ := p.ridge.Solve(ridge.Target{XY: p.xy.Data, Y: p.target})
	copy(p.norms, linalg.RowNorms(w, p.c))
	linalg.MultiplyTo(p.team, p.xw, 1, p.x, kernel.RowMajor(w, p.d, p.c, p.c))
	return nil
}

func (p *problem) updateErrors() { // Z of step 2
	threshold := p.nu / (2 * p.alpha)
	for i, v := range p.current.y.Data {
		v -= p.xw.Data[i]
		p.z.Data[i] = math.Copysign(max(math.Abs(v)-threshold, 0), v)
	}
}

// leastPower is the lowest power of the factors of Y's update that updateClusters tries.
const leastPower = 1.0 / 64

// updateClusters sets Y (step 3 of the package comment). It reports whether it took another power of the factors than
// the paper's.
func (p *problem) updateClusters() (isShortened bool) {
	f, factors := p.current, p.target
	linalg.MultiplyTo(p.team, p.cubic, 1, f.y, f.yy)
	for i := range p.n {
		degree := p.graph.Degree[i]
		for at := i * p.c; at < (i+1)*p.c; at++ {
			y, a := f.y.Data[at], p.xw.Data[at]+p.z.Data[at]
			// L⁺ = D, so L⁻Y = DY − LY, whose entries are not negative but for rounding
			up := max(degree*y-f.ly.Data[at], 0) + p.gamma*y + p.alpha*max(a, 0)
			down := degree*y + p.alpha*y + p.gamma*p.cubic.Data[at] + p.alpha*max(-a, 0)
			if factors.Data[at] = 0; down > 0 {
				factors.Data[at] = up / down
			}
		}
	}
	before, _ := p.totalObjective(f)
	for power := 0.5; power >= leastPower; power /= 2 {
		for at, y := range f.y.Data {
			p.next.y.Data[at] = y * math.Pow(factors.Data[at], power)
		}
		scaleColumns(p.next.y)
		p.updateProducts(p.next)
		if value, allowed := p.totalObjective(p.next); value-before <= allowed {
			p.current, p.next = p.next, f
			return power < 0.5
		}
	}
	return true
}

func (p *problem) totalObjective(f *clusters) (value, roundingBound float64) {
	var fit, errors, sparsity, orthogonal float64
	for i, y := range f.y.Data {
		miss := y - p.xw.Data[i] - p.z.Data[i]
		fit += miss * miss
		errors += math.Abs(p.z.Data[i])
	}
	for _, norm := range p.norms {
		sparsity += norm
	}
	for i, v := range f.yy.Data {
		if i%(p.c+1) == 0 {
			v--
		}
		orthogonal += v * v
	}
	value = kernel.Dot(f.y.Data, f.ly.Data) + p.alpha*fit + p.beta*sparsity + p.nu*errors + p.gamma/2*orthogonal
	// Entries of YᵀY have errors of n·2⁻⁵³, as the columns of Y have length 1. Tr(YᵀLY) has terms of up to twice the
	// largest degree. W solves equations whose right sides have errors of d·2⁻⁵³.
	terms, size := float64(p.n+p.d)*0x1p-52, float64(p.c)
	roundingBound = terms * (size*(2*maxDegree(p.graph)+p.alpha) + p.alpha*fit + p.beta*sparsity + p.nu*errors + p.gamma*(orthogonal+size*math.Sqrt(orthogonal)+size*size*terms))
	return value, roundingBound
}

func maxDegree(g *rows.Graph) (most float64) {
	for _, v := range g.Degree {
		most = max(most, v)
	}
	return most
}
