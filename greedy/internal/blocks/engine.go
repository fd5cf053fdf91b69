package blocks

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/greedy/internal/tasks"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// blockEngine runs Algorithm 1 for blocks, i.e. groups of features that are chosen together. E is the residual of G,
// and Γ is the residual of the target H (E itself if H = G). Block g reduces the squared norm of Γ by
//
//	tr(E_gg⁺ (ΓᵀΓ)_gg),
//
// which is its gain. For a block of one feature i it is the score fᵢ/gᵢ of the criterion. In general it is the squared
// norm of Γ_g L⁻ᵀ, with the Cholesky factorization E_gg = LLᵀ. The next pivot of the factorization is the feature whose
// diagonal entry of E is the largest share of its initial value. Features with a share of at most ExhaustedShare are
// skipped, as in the choice of single features. Once block g is chosen, ΥᵀΩ is subtracted from Γ and ΩᵀΩ from E, with Υ
// = L⁻¹Γ_gᵀ and Ω = L⁻¹E_g, E_g being the rows of E in g.
//
// Γ is stored in full, c×d, and updated in place. The gains are computed from Γ itself, not by a recursion like that of
// f (see [engine.Criterion]), and need no recomputation. With blocks of b features, a turn costs b·c·d flops for the gains and
// 2·b·c·d for the update of Γ. If G is not in memory, passes compute its columns (see Source).
type blockEngine struct {
	engine         *engine.Gram
	source         Source
	blockList      []method.Block
	gamma          kernel.Matrix[float64] // d×c: Γᵀ, with one row for each feature
	residualBlocks [][]float64            // E_gg of each block, b×b
	startGains     []float64              // gains at the start of the layer
	blockGains     []float64              // gains in this turn; 0 for blocks that cannot be chosen
	// factors has the Cholesky factors of E_gg from which blockGains were computed, by block.
	factors []blockFactor
}

func newBlockEngine(ctx context.Context, m *engine.Gram, from Source, list []method.Block) (*blockEngine, error) {
	b := &blockEngine{engine: m, source: from, blockList: list, residualBlocks: make([][]float64, len(list)), blockGains: make([]float64, len(list)), factors: make([]blockFactor, len(list))}
	return b, b.computeResiduals(ctx)
}

func (b *blockEngine) scoreUnit() float64 { return b.source.ScoreUnit() }

func (b *blockEngine) computeResiduals(ctx context.Context) error {
	c := b.engine.TargetHeight()
	if need := b.engine.D * c; cap(b.gamma.Data) < need {
		b.gamma.Data = make([]float64, need)
	}
	b.gamma = kernel.RowMajor(b.gamma.Data[:b.engine.D*c], b.engine.D, c, c)
	for from := 0; from < b.engine.D; from += target.ResidualColumns {
		n := min(target.ResidualColumns, b.engine.D-from)
		b.engine.Target.WriteColumns(b.engine.Team, b.gamma.Sub(from, 0, n, c), b.engine.HUnit, nil, from)
	}
	for i, block := range b.blockList {
		b.residualBlocks[i] = make([]float64, len(block.Members)*len(block.Members))
	}
	if err := b.source.BlockGramsTo(ctx, b.blockList, b.residualBlocks); err != nil {
		return err
	}
	kernel.Each(b.engine.Workers, len(b.blockList), func(i int) {
		members, e := b.blockList[i].Members, b.residualBlocks[i]
		n := len(members)
		for a, p := range members {
			for o := range members[:a] {
				e[o*n+a] = e[a*n+o]
			}
			e[a*n+a] = b.engine.G[p]
		}
	})
	if !b.engine.Target.IsSelf { // if the target is G itself, no gain is noise before the block's features are exhausted
		b.computeGains(func(int) bool { return true })
		b.startGains = slices.Clone(b.blockGains)
	}
	return nil
}

func (b *blockEngine) startNextBlockLayer(ctx context.Context, excluded []bool) (err error) {
	if b.engine, err = b.source.RestartWithout(ctx, excluded); err != nil {
		return err
	}
	return b.computeResiduals(ctx)
}

// computeGains sets the gains of the blocks that may be chosen, in the engine's units. Each gain is summed over parts
// of Γ_g, whose sizes depend on the block alone. So the sum has the same bits for any number of workers.
func (b *blockEngine) computeGains(mayChoose func(block int) bool) {
	c := b.engine.TargetHeight()
	kernel.Each(b.engine.Workers, len(b.blockList), func(i int) {
		b.blockGains[i], b.factors[i] = 0, blockFactor{}
		if mayChoose(i) {
			b.factors[i] = b.factorBlock(i)
		}
	})
	var parts []blockPart
	for i, f := range b.factors {
		n := len(f.pivots)
		if n == 0 {
			continue
		}
		width := max(valuesPerPart/n, minPartWidth)
		for from := 0; from < c; from += width {
			parts = append(parts, blockPart{i, from, min(from+width, c)})
		}
	}
	gains := make([]float64, len(parts))
	kernel.Each(b.engine.Workers, len(parts), func(n int) { gains[n] = b.gainOfPart(parts[n]) })
	for n, p := range parts {
		b.blockGains[p.block] += gains[n]
	}
}

// blockPart is the range [from, to) of the rows of Γ_g, for one block g.
type blockPart struct{ block, from, to int }

const (
	// valuesPerPart is the number of values in a part of Γ_g: few enough to stay in a cache while L⁻¹ is applied to
	// them. minPartWidth is the least number of rows in a part.
	valuesPerPart = 1 << 15
	minPartWidth  = 16
)

// factorBlock computes the Cholesky factor of E_gg of block i, with pivots as described at blockEngine. It costs n³/3
// flops for a block of n features.
func (b *blockEngine) factorBlock(i int) blockFactor {
	members := b.blockList[i].Members
	var live []int // indices into members
	for a, p := range members {
		if b.engine.Alive[p] {
			live = append(live, a)
		}
	}
	n := len(live)
	e, low := make([]float64, n*n), make([]float64, n*n) // low has a row for each live member
	for s, a := range live {
		for t, o := range live {
			e[s*n+t] = b.residualBlocks[i][a*len(members)+o]
		}
	}
	var order []int
	taken, column := make([]bool, n), make([]float64, n)
	for m := range n {
		best, most := -1, engine.ExhaustedShare
		for s, a := range live {
			if share := e[s*n+s] / b.engine.G0[members[a]]; !taken[s] && share > most {
				best, most = s, share
			}
		}
		if best < 0 {
			break
		}
		taken[best], order = true, append(order, best)
		root := math.Sqrt(e[best*n+best])
		for s := range live {
			if column[s] = 0; s == best || !taken[s] {
				column[s] = e[s*n+best] / root
			}
			low[s*n+m] = column[s]
		}
		for s := range live {
			if !taken[s] {
				kernel.Axpy(-column[s], column, e[s*n:(s+1)*n])
			}
		}
	}
	f := blockFactor{lower: make([]float64, len(order)*n)}
	for m, s := range order {
		f.pivots = append(f.pivots, members[live[s]])
		copy(f.lower[m*len(order):(m+1)*len(order)], low[s*n:(s+1)*n])
	}
	return f
}

func (b *blockEngine) gainOfPart(part blockPart) (gain float64) {
	f := b.factors[part.block]
	n, width := len(f.pivots), part.to-part.from
	rows := make([]float64, n*width)
	for m, q := range f.pivots {
		copy(rows[m*width:(m+1)*width], b.gammaRow(q)[part.from:part.to])
	}
	f.solveRows(rows, width)
	for m := range f.pivots {
		row := rows[m*width : (m+1)*width]
		gain += kernel.Dot(row, row)
	}
	return gain
}

func (b *blockEngine) gammaRow(feature int) []float64 {
	return b.gamma.Data[feature*b.gamma.RowStride:][:b.gamma.Cols]
}

// takeBlock adds block i to the chosen features and returns its gain. It records in r the features of the block, each
// with the amount by which it reduces the squared norm of the residual target: first the pivots, then the features that
// the pivots explain. For likely, see Source.
func (b *blockEngine) takeBlock(ctx context.Context, i int, isFirstLayer bool, r *engine.Recorder, likely func(room int) []int) (score float64, err error) {
	c, pivots := b.engine.TargetHeight(), b.factors[i].pivots
	columns, err := b.source.GramColumns(ctx, pivots, likely)
	if err != nil {
		return 0, err
	}
	n := len(pivots)
	omega := kernel.RowMajor(make([]float64, n*b.engine.D), n, b.engine.D, b.engine.D)
	upsilon := omega
	if !b.engine.Target.IsGram {
		upsilon = kernel.RowMajor(make([]float64, n*c), n, c, c)
		kernel.Each(b.engine.Workers, tasks.TaskCount(c, tasks.ColsPerTask), func(task int) {
			from, to := tasks.TaskRange(task, tasks.ColsPerTask, c)
			rows := make([]float64, n*(to-from))
			for m, p := range pivots {
				copy(rows[m*(to-from):], b.gammaRow(p)[from:to])
			}
			b.factors[i].solveRows(rows, to-from)
			for m := range pivots {
				copy(upsilon.Data[m*c+from:m*c+to], rows[m*(to-from):(m+1)*(to-from)])
			}
		})
	}
	for m, p := range pivots {
		w := omega.Data[m*b.engine.D : (m+1)*b.engine.D]
		copy(w, columns[m])
		b.engine.DeflateVector(w, b.engine.Omegas, p)
		b.engine.ClearChosen(w)
		floats.Scale(1/math.Sqrt(b.engine.G[p]), w)
		b.engine.Omegas = append(b.engine.Omegas, w)
		if isFirstLayer {
			r.FirstOmegas = append(r.FirstOmegas, w)
		}
		for q, v := range w {
			b.engine.G[q] = max(b.engine.G[q]-v*v, 0)
			if b.engine.G[q] <= engine.ExhaustedShare*b.engine.G0[q] {
				b.engine.Alive[q] = false
			}
		}
		b.engine.RetireFeature(p)
		v := upsilon.Data[m*c : (m+1)*c]
		gain := kernel.Dot(v, v)
		score += gain
		r.RecordFeature(p, gain*b.scoreUnit(), columns[m], b.engine.Criterion)
	}
	for _, p := range b.blockList[i].Members {
		if !b.engine.Chosen[p] {
			b.engine.RetireFeature(p)
			r.RecordFeature(p, 0, nil, b.engine.Criterion)
		}
	}
	b.deflateBlocks(omega)
	kernel.Gemm(b.engine.Team, -1, omega.Trans(), upsilon, b.gamma)
	if b.engine.Target.IsGram { // rows of chosen features have no residual
		kernel.Each(b.engine.Workers, tasks.TaskCount(b.engine.D, tasks.RowsPerTask), func(task int) {
			from, to := tasks.TaskRange(task, tasks.RowsPerTask, b.engine.D)
			for row := from; row < to; row++ {
				for _, p := range pivots {
					b.gamma.Data[row*c+p] = 0
				}
			}
		})
	}
	return score, nil
}

// deflateBlocks subtracts ΩᵀΩ from E_gg of the blocks that are not chosen. The rows of Ω are the vectors ω of the
// pivots of the chosen block. The diagonals of E_gg, which are in g, are already up to date.
func (b *blockEngine) deflateBlocks(omega kernel.Matrix[float64]) {
	kernel.Each(b.engine.Workers, len(b.blockList), func(i int) {
		members, e := b.blockList[i].Members, b.residualBlocks[i]
		n, turns := len(members), omega.Rows
		if b.engine.Chosen[members[0]] {
			return
		}
		own := make([]float64, n*turns)
		for a, p := range members {
			for m := range turns {
				own[a*turns+m] = omega.Data[m*b.engine.D+p]
			}
		}
		for a, p := range members {
			for o := range members[:a] {
				e[a*n+o] -= kernel.Dot(own[a*turns:(a+1)*turns], own[o*turns:(o+1)*turns])
				e[o*n+a] = e[a*n+o]
			}
			e[a*n+a] = b.engine.G[p]
		}
	})
}

// BlockBytes returns the memory that a choice of blocks of at most `largest` features needs in addition to a choice of
// single features, for a target of `rows` rows. If largest is 0, features are chosen one by one.
func BlockBytes(d, rows, largest, threads int) int64 {
	if largest == 0 {
		return 0
	}
	one := 2*int64(largest)*int64(largest) + max(valuesPerPart, minPartWidth*int64(largest))
	return 8 * (int64(d)*int64(rows+3*largest) + 2*int64(largest)*int64(d+rows) + int64(max(threads, 1))*one)
}

// ErrNeedGram returns the error for a choice of blocks without the Gram matrix. remedy is a constant below.
func ErrNeedGram(remedy string) error {
	return stream.Usagef("groups, columns of several features, costs and a budget take the whole Gram matrix or one estimate of it: " + remedy)
}

const (
	// RemedyWithoutGram is the advice for a choice of blocks if G does not fit in memory. If H = G, Γ does not fit
	// either, and a recursion of the gains of blocks would have rounding errors without a known bound.
	RemedyWithoutGram = "raise {memory-limit}, or choose {method} partgreedy, which works on sums of features and reads the rows again"
	// RemedyOnePass is the advice for a choice of blocks by a sketch in several passes.
	RemedyOnePass = "{passes} 1 chooses by the {sketch} alone; or leave {sketch} out"
)
