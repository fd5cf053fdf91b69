package jelsr

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
)

// labelProblem is NDFS's problem for labels F = BQ with Q ≥ 0. It needs only products of B. On the anchor graph, K =
// BᵀB is S, and BᵀLB = S − S². With B = I (so K = I) and the Laplacian of any graph it is the paper's problem on n
// rows.
type labelProblem struct {
	team *kernel.Team
	m, d int
	k    kernel.Matrix[float64] // K, m×m
	l    kernel.Matrix[float64] // BᵀLB, m×m; empty if it is K − K²
	c    kernel.Matrix[float64] // BᵀX, m×d
	gram *gram.Matrix           // XᵀX
	b    kernel.Matrix[float64] // B, n×m, if XᵀX is a factor of n rows

	ratio, cv, cubic kernel.Matrix[float64] // the factors by which the paper's update multiplies Q, BᵀXHXᵀF, KQFᵀF, m×c
}

func newLabelProblem(team *kernel.Team, g *anchor.Graph) *labelProblem {
	p := &labelProblem{
		team: team, m: g.M, d: g.D,
		k: kernel.RowMajor(g.S, g.M, g.M, g.M), c: kernel.RowMajor(g.C, g.M, g.D, g.D), gram: g.G,
	}
	if g.G.IsFactor() {
		p.b = kernel.RowMajor(g.B(team.Threads()), g.G.Rank, g.M, g.M)
	}
	return p
}

// labelMatrix is F = BQ with the products that depend only on F.
type labelMatrix struct {
	q            kernel.Matrix[float64] // m×c
	kq           kernel.Matrix[float64] // KQ = BᵀF
	lq           kernel.Matrix[float64] // BᵀLF
	ff           kernel.Matrix[float64] // FᵀF, c×c
	ridge.Target                        // with F as target: XᵀF
}

func (p *labelProblem) fillProducts(f *labelMatrix) {
	linalg.MultiplyTo(p.team, f.kq, 1, p.k, f.q)
	if p.l.Rows > 0 {
		linalg.MultiplyTo(p.team, f.lq, 1, p.l, f.q)
	} else {
		copy(f.lq.Data, f.kq.Data)
		kernel.Gemm(p.team, -1, p.k, f.kq, f.lq)
	}
	linalg.MultiplyTo(p.team, f.ff, 1, f.q.Trans(), f.kq)
	linalg.MultiplyTo(p.team, kernel.RowMajor(f.XY, p.d, f.q.Cols, f.q.Cols), 1, p.c.Trans(), f.q)
	if p.b.Rows > 0 {
		linalg.MultiplyTo(p.team, f.Y, 1, p.b, f.q)
	}
}

// fittedLabels is a labelling with the regression fitted to it.
type fittedLabels struct {
	*labelMatrix
	norm           []float64 // ‖wᵢ‖
	value, allowed float64   // objective, and the bound of its rounding error
}

func (p *labelProblem) layOut(l *room.Layout, d, m, rank, c int) (labels [2]*fittedLabels) {
	matrix := func() kernel.Matrix[float64] { return kernel.NewMatrix[float64](l, m, c) }
	p.ratio, p.cv, p.cubic = matrix(), matrix(), matrix()
	for i := range labels {
		f := &labelMatrix{q: matrix(), kq: matrix(), lq: matrix(), ff: kernel.NewMatrix[float64](l, c, c)}
		f.XY, f.Y = room.Slice[float64](l, d*c), kernel.NewMatrix[float64](l, rank, c)
		labels[i] = &fittedLabels{labelMatrix: f}
	}
	return labels
}

// iterateLabels updates Q from the matrix `start` on, until the objective hardly changes. It also returns the last
// labels.
func (p *labelProblem) iterateLabels(ctx context.Context, start kernel.Matrix[float64], opt Options) (*Result, *labelMatrix, error) {
	reg := newRegression(p.team, p.gram, start.Cols, opt)
	r := &Result{}
	labels := p.layOut(nil, p.d, p.m, p.b.Rows, start.Cols)
	best, next := labels[0], labels[1]
	kernel.Copy(best.q, start)
	p.fillProducts(best.labelMatrix)
	shortened := 0
	for t := range opt.maxUpdates() {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if err := reg.setWeightsFromNorms(best.norm); err != nil {
			return nil, nil, err
		}
		p.updateRatios(best.labelMatrix, reg, opt)
		power := 1.0
		p.tryStep(next, best, power, reg, opt)
		if opt.Iterations == 0 && t > 0 {
			for next.value-best.value > next.allowed && power > shortestStep {
				power /= 2
				p.tryStep(next, best, power, reg, opt)
			}
			if power < 1 {
				shortened++
			}
			if next.value-best.value > next.allowed {
				// No step along the paper's direction lowers the objective: keep the current labels.
				r.Converged = true
				break
			}
		}
		if opt.Iterations > 0 {
			next.allowed = math.Inf(1)
		}
		if !r.RecordStep(t+1, next.value, next.allowed, opt.Tol, opt.Progress) { // the objective is NaN
			break
		}
		best, next = next, best
		if r.Converged && opt.Iterations == 0 {
			break
		}
	}
	if shortened > 0 {
		r.addWarning("%d of %d steps were shortened: the paper's would have raised the objective", shortened, len(r.Objective))
	}
	r.Scores = best.norm
	r.rankByNorm()
	return r, best.labelMatrix, nil
}

// shortestStep is the smallest power to which tryStep raises the factors of the paper's update.
const shortestStep = 1.0 / 256

// updateRatios sets p.ratio to the factors by which the paper's update multiplies Q. For labels F, half the gradient of
// the objective for the best W is MF + γFFᵀF − γF with M = L + α(I − XHXᵀ). The paper multiplies an entry of F by
// γF/(MF + γFFᵀF). Here numerator and denominator are multiplied by Bᵀ, because Q is updated in place of F.
//
// The paper assumes that the denominator is positive. But MF may be negative, and a negative factor would violate F ≥
// 0. Then −MF is added to the numerator instead, which does not change the fixed points of the update.
func (p *labelProblem) updateRatios(f *labelMatrix, reg *regression, opt Options) {
	c := f.q.Cols
	v, _ := reg.Solve(f.Target)
	linalg.MultiplyTo(p.team, p.cv, 1, p.c, kernel.RowMajor(v, p.d, c, c))
	linalg.MultiplyTo(p.team, p.cubic, 1, f.kq, f.ff)
	for i, kq := range f.kq.Data {
		mf := f.lq.Data[i] + opt.Alpha*(kq-p.cv.Data[i])
		up, down := opt.Gamma*kq, opt.Gamma*p.cubic.Data[i]
		if !(mf+down > 0x1p-52*down) {
			up -= mf
		} else {
			down += mf
		}
		if p.ratio.Data[i] = 0; down > 0 {
			p.ratio.Data[i] = up / down
		} // else no row uses this anchor, and its entry remains 0
	}
}

// tryStep sets n to the labels with Q∘ratio^power in place of Q, with the columns of F = BQ scaled to length 1, and fits
// W with the previous U (see regression).
func (p *labelProblem) tryStep(n, from *fittedLabels, power float64, reg *regression, opt Options) {
	q, c := n.q, n.q.Cols
	for i, v := range from.q.Data {
		if power == 1 {
			q.Data[i] = v * p.ratio.Data[i]
		} else {
			q.Data[i] = v * math.Pow(p.ratio.Data[i], power)
		}
	}
	linalg.MultiplyTo(p.team, n.kq, 1, p.k, q)
	linalg.MultiplyTo(p.team, n.ff, 1, q.Trans(), n.kq)
	for j := range c {
		if length := math.Sqrt(max(n.ff.Data[j*(c+1)], 0)); length > 0 {
			for a := range p.m {
				q.Data[a*c+j] /= length
			}
		}
	}
	p.fillProducts(n.labelMatrix)
	w, penalty := reg.Solve(n.Target)
	var sum, squares, orthogonal float64
	n.norm, sum = rowNorms(w, c)
	for i := range c {
		squares += n.ff.Data[i*(c+1)]
		for j := range c {
			off := n.ff.Data[i*c+j]
			if i == j {
				off--
			}
			orthogonal += off * off
		}
	}
	// With W = HXᵀF, see the package comment, ‖XW − F‖² + β·Tr(WᵀUW) is Tr(FᵀF) − Tr(WᵀXᵀF).
	fit := squares - kernel.Dot(w, n.XY) + opt.Beta*(sum-penalty)
	smooth := kernel.Dot(q.Data, n.lq.Data)
	n.value = smooth + opt.Alpha*fit + opt.Gamma/2*orthogonal
	parts := squares + opt.Alpha*(squares+opt.Beta*(sum+penalty)) + opt.Gamma*orthogonal
	n.allowed = float64(p.m+p.d)*0x1p-52*parts + opt.Alpha*reg.roundingBound(penalty)
}
