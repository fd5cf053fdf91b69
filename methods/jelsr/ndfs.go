package jelsr

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
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

func (p *labelProblem) computeLabelProducts(q kernel.Matrix[float64]) *labelMatrix {
	f := &labelMatrix{q: q, kq: linalg.MultiplyMatrices(p.team, p.k, q)}
	if p.l.Rows > 0 {
		f.lq = linalg.MultiplyMatrices(p.team, p.l, q)
	} else {
		f.lq = kernel.RowMajor(append([]float64(nil), f.kq.Data...), p.m, q.Cols, q.Cols)
		kernel.Gemm(p.team, -1, p.k, f.kq, f.lq)
	}
	f.ff = linalg.MultiplyMatrices(p.team, q.Trans(), f.kq)
	f.XY = linalg.MultiplyMatrices(p.team, p.c.Trans(), q).Data
	if p.b.Rows > 0 {
		f.Y = linalg.MultiplyMatrices(p.team, p.b, q)
	}
	return f
}

// fittedLabels is a labelling with the regression fitted to it.
type fittedLabels struct {
	*labelMatrix
	norm           []float64 // ‖wᵢ‖
	value, allowed float64   // objective, and the bound of its rounding error
}

// iterateLabels updates Q from the matrix `start` on, until the objective hardly changes. It also returns the last
// labels.
func (p *labelProblem) iterateLabels(ctx context.Context, start kernel.Matrix[float64], opt Options) (*Result, *labelMatrix, error) {
	reg := newRegression(p.team, p.gram, start.Cols, opt)
	r := &Result{}
	best := &fittedLabels{labelMatrix: p.computeLabelProducts(start)}
	shortened := 0
	for t := range opt.maxUpdates() {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if err := reg.setWeightsFromNorms(best.norm); err != nil {
			return nil, nil, err
		}
		ratio := p.updateRatios(best.labelMatrix, reg, opt)
		next := p.tryStep(best, ratio, 1, reg, opt)
		if opt.Iterations == 0 && t > 0 {
			whole := next
			for power := 0.5; next.value-best.value > next.allowed && power >= shortestStep; power /= 2 {
				next = p.tryStep(best, ratio, power, reg, opt)
			}
			if next != whole {
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
		best = next
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

// updateRatios returns the factors by which the paper's update multiplies Q. For labels F, half the gradient of the
// objective for the best W is MF + γFFᵀF − γF with M = L + α(I − XHXᵀ). The paper multiplies an entry of F by γF/(MF +
// γFFᵀF). Here numerator and denominator are multiplied by Bᵀ, because Q is updated in place of F.
//
// The paper assumes that the denominator is positive. But MF may be negative, and a negative factor would violate F ≥
// 0. Then −MF is added to the numerator instead, which does not change the fixed points of the update.
func (p *labelProblem) updateRatios(f *labelMatrix, reg *regression, opt Options) []float64 {
	c := f.q.Cols
	v, _ := reg.Solve(f.Target)
	cv := linalg.MultiplyMatrices(p.team, p.c, kernel.RowMajor(v, p.d, c, c)) // BᵀXHXᵀF
	cubic := linalg.MultiplyMatrices(p.team, f.kq, f.ff)
	ratio := make([]float64, len(f.q.Data))
	for i, kq := range f.kq.Data {
		mf := f.lq.Data[i] + opt.Alpha*(kq-cv.Data[i])
		up, down := opt.Gamma*kq, opt.Gamma*cubic.Data[i]
		if !(mf+down > 0x1p-52*down) {
			up -= mf
		} else {
			down += mf
		}
		if down > 0 {
			ratio[i] = up / down
		} // else no row uses this anchor, and its entry remains 0
	}
	return ratio
}

// tryStep replaces Q by Q∘ratio^power, scales the columns of F = BQ to length 1, and fits W with the previous U (see
// regression).
func (p *labelProblem) tryStep(from *fittedLabels, ratio []float64, power float64, reg *regression, opt Options) *fittedLabels {
	c := from.q.Cols
	q := kernel.RowMajor(make([]float64, len(ratio)), p.m, c, c)
	for i, v := range from.q.Data {
		if power == 1 {
			q.Data[i] = v * ratio[i]
		} else {
			q.Data[i] = v * math.Pow(ratio[i], power)
		}
	}
	ff := linalg.MultiplyMatrices(p.team, q.Trans(), linalg.MultiplyMatrices(p.team, p.k, q))
	for j := range c {
		if length := math.Sqrt(max(ff.Data[j*(c+1)], 0)); length > 0 {
			for a := range p.m {
				q.Data[a*c+j] /= length
			}
		}
	}
	n := &fittedLabels{labelMatrix: p.computeLabelProducts(q)}
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
	return n
}
