package greedy

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// blocks is Algorithm 1 where blocks of features are chosen in place of features. With E the residual
// of G and Γ that of H, which is E where H = G, block g takes off the target
//
//	tr(E_gg⁺ (ΓᵀΓ)_gg),
//
// which for one feature i is fᵢ/gᵢ. It is found by a Cholesky factorization E_gg = LLᵀ that takes the
// features of g by how much of them is left, and leaves out those of which nothing is (exhaustedShare,
// the rule of single features): the squared norm of Γ_g L⁻ᵀ. The rows that it makes are those by which
// Γ and E are deflated once g is chosen.
//
// Γ is held in full, c×d, and deflated in place, so that no number comes out of a recursion of squares:
// there is nothing to settle. A turn costs 2bcd for the gains of blocks of b features and 2bcd for the
// deflation.
type blocks struct {
	*memory
	list   []method.Block
	gamma  kernel.Matrix[float64] // d×c: Γ by features
	within [][]float64            // E_gg of each block, b×b
	start  []float64              // gains at the start of the layer
	gains  []float64              // of this turn; 0 of blocks that cannot be chosen
	pivots [][]int                // the members that the gain is of, in the order of their factorization
}

// newBlocks starts a selection of blocks.
func newBlocks(m *memory, list []method.Block) *blocks {
	b := &blocks{memory: m, list: list, within: make([][]float64, len(list)), gains: make([]float64, len(list)), pivots: make([][]int, len(list))}
	b.fill()
	return b
}

// fill puts Γ and E_gg at what they are at the start of a layer.
func (b *blocks) fill() {
	c := b.height()
	if need := b.d * c; cap(b.gamma.Data) < need {
		b.gamma.Data = make([]float64, need)
	}
	b.gamma = kernel.RowMajor(b.gamma.Data[:b.d*c], b.d, c, c)
	for from := 0; from < b.d; from += residualColumns {
		n := min(residualColumns, b.d-from)
		b.target.rowsTo(b.team, b.gamma.Sub(from, 0, n, c), b.hUnit, nil, from)
	}
	kernel.Each(b.workers, len(b.list), func(i int) {
		members := b.list[i].Members
		n := len(members)
		e := make([]float64, n*n)
		for a, p := range members {
			for o, q := range members[:a] {
				e[a*n+o] = b.gUnit * b.gram.At(p, q)
				e[o*n+a] = e[a*n+o]
			}
			e[a*n+a] = b.g[p]
		}
		b.within[i] = e
	})
	b.judge(func(int) bool { return true })
	b.start = slices.Clone(b.gains)
}

// next starts another layer.
func (b *blocks) next(ctx context.Context, out []bool) (*criterion, error) {
	c, err := b.memory.next(ctx, out)
	if err == nil {
		b.fill()
	}
	return c, err
}

// judge finds the gains of the blocks that may be chosen, in the engine's units.
func (b *blocks) judge(may func(block int) bool) {
	kernel.Each(b.workers, len(b.list), func(i int) {
		if b.gains[i], b.pivots[i] = 0, nil; may(i) {
			b.gains[i], b.pivots[i] = b.gain(i)
		}
	})
}

// gain is what block i takes off the target, and by which of its features, in order.
func (b *blocks) gain(i int) (gain float64, pivots []int) {
	members := b.list[i].Members
	var live []int // places of members
	for a, p := range members {
		if b.alive[p] {
			live = append(live, a)
		}
	}
	if len(live) == 1 {
		p := members[live[0]]
		row := b.gammaOf(p)
		return kernel.Dot(row, row) / b.g[p], []int{p}
	}
	n, c := len(live), b.height()
	e, rows := make([]float64, n*n), make([]float64, n*c)
	for s, a := range live {
		for t, o := range live {
			e[s*n+t] = b.within[i][a*len(members)+o]
		}
		copy(rows[s*c:(s+1)*c], b.gammaOf(members[a]))
	}
	taken := make([]bool, n)
	for range n {
		best, most := -1, exhaustedShare
		for s, a := range live {
			if share := e[s*n+s] / b.g0[members[a]]; !taken[s] && share > most {
				best, most = s, share
			}
		}
		if best < 0 {
			break
		}
		taken[best] = true
		pivots = append(pivots, members[live[best]])
		row, root := rows[best*c:(best+1)*c], math.Sqrt(e[best*n+best])
		floats.Scale(1/root, row)
		gain += kernel.Dot(row, row)
		for s := range live {
			if taken[s] {
				continue
			}
			part := e[s*n+best] / root
			kernel.Axpy(-part, row, rows[s*c:(s+1)*c])
			for t := range live {
				if !taken[t] {
					e[s*n+t] -= part * (e[t*n+best] / root)
				}
			}
		}
	}
	return gain, pivots
}

func (b *blocks) gammaOf(p int) []float64 { return b.gamma.Data[p*b.gamma.RowStride:][:b.gamma.Cols] }

// take makes block i part of S and hands its features to add, with what each takes off the target: those
// of pivots, then those that they explain.
func (b *blocks) take(i int, first bool, r *recorder) (score float64) {
	c := b.height()
	pivots := b.pivots[i]
	omega, upsilon := kernel.RowMajor(make([]float64, len(pivots)*b.d), len(pivots), b.d, b.d), kernel.RowMajor(make([]float64, len(pivots)*c), len(pivots), c, c)
	for n, p := range pivots {
		column := b.columnTo(make([]float64, b.d), p)
		w, v := omega.Data[n*b.d:(n+1)*b.d], upsilon.Data[n*c:(n+1)*c]
		copy(w, column)
		b.deflate(w, b.omegas, p)
		b.clearChosen(w)
		root := math.Sqrt(b.g[p])
		floats.Scale(1/root, w)
		copy(v, b.gammaOf(p))
		for earlier := range n {
			kernel.Axpy(-omega.Data[earlier*b.d+p], upsilon.Data[earlier*c:(earlier+1)*c], v)
		}
		floats.Scale(1/root, v)
		b.omegas = append(b.omegas, w)
		if first {
			r.omegas = append(r.omegas, w)
		}
		b.shrink(w)
		b.retire(p)
		gain := kernel.Dot(v, v)
		score += gain
		r.add(p, gain*b.scoreUnit(), column, b.criterion)
	}
	for _, p := range b.list[i].Members {
		if !b.chosen[p] {
			b.retire(p)
			r.add(p, 0, nil, b.criterion)
		}
	}
	kernel.Gemm(b.team, -1, omega.Trans(), upsilon, b.gamma)
	if b.target.same { // the rows of chosen features have no residual
		kernel.Each(b.workers, tasks(b.d, rowsPerTask), func(task int) {
			from, to := span(task, rowsPerTask, b.d)
			for row := from; row < to; row++ {
				for _, p := range pivots {
					b.gamma.Data[row*c+p] = 0
				}
			}
		})
	}
	return score
}

// shrink takes ω ωᵀ from the residual of G, of which the diagonal and the blocks are known.
func (b *blocks) shrink(omega []float64) {
	for i, w := range omega {
		b.g[i] = max(b.g[i]-w*w, 0)
		if b.g[i] <= exhaustedShare*b.g0[i] {
			b.alive[i] = false
		}
	}
	kernel.Each(b.workers, len(b.list), func(i int) {
		members, e := b.list[i].Members, b.within[i]
		n := len(members)
		for a, p := range members {
			for o, q := range members {
				e[a*n+o] -= omega[p] * omega[q]
			}
			e[a*n+a] = b.g[p]
		}
	})
}

// blocksBytes is what choosing blocks holds beside what choosing as many features does, for a target of so
// many rows and blocks of so many features at most.
func blocksBytes(d, rows, largest, threads int) int64 {
	if largest == 0 {
		return 0
	}
	one := int64(largest) * (2*int64(largest) + int64(rows))
	return 8 * (int64(d)*int64(rows+largest) + 2*int64(largest)*int64(d+rows) + int64(max(threads, 1))*one)
}

// refuseBlocks says where blocks are not chosen.
func refuseBlocks() error {
	return stream.Usagef("groups, costs and a budget are chosen by the Gram matrix in memory: raise {memory-limit}, or leave {sketch} out")
}

// selectBlocks is selectMemory for blocks: by gain per cost where costs differ. Within a budget that is
// compared with greedy by gain alone, which begins with the best single block: each may be arbitrarily
// far from the best set, and the better of both is not (Khuller, Moss, Naor, "The budgeted maximum
// coverage problem", Information Processing Letters 70 (1999); Leskovec et al., "Cost-effective outbreak
// detection in networks", KDD 2007, section 3.2), as far as gains fall while the set grows.
func selectBlocks(ctx context.Context, g *gram.Matrix, t *target, opt Options) (*Result, error) {
	diag := g.Diagonal(opt.Threads)
	choose := func(perCost bool) (*Result, error) {
		m, err := newMemory(g, slices.Clone(diag), t, opt.Threads)
		if err != nil {
			return nil, err
		}
		m.groups = opt.Groups
		return runBlocks(ctx, newBlocks(m, opt.Blocks), opt, perCost)
	}
	best, err := choose(opt.Priced())
	if err != nil || !opt.Priced() || opt.Budget == 0 {
		return best, err
	}
	if err := t.begin(kernel.NewTeam(opt.Threads), nil); err != nil { // the first may have gone through layers
		return nil, err
	}
	plain, err := choose(false)
	if err != nil {
		return nil, err
	}
	if floats.Sum(plain.gains()) > floats.Sum(best.gains())*(1+tieShare) {
		plain.Warnings = append(plain.Warnings, stream.Textf("within the budget the choice by gain alone explains more than the one by gain per cost, and is taken"))
		return plain, nil
	}
	return best, nil
}
