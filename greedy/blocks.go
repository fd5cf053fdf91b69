package greedy

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

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
// the rule of single features): the squared norm of Γ_g L⁻ᵀ, by which Γ and E are deflated once g is chosen.
//
// Γ is held in full, c×d, and deflated in place, so that no number comes out of a recursion of squares:
// there is nothing to settle. A turn costs bcd for the gains of blocks of b features and 2bcd for the
// deflation. Where G is not in memory, Γ is, of a target of few rows, and G comes from passes (blocks_stream.go).
type blocks struct {
	*memory
	from   products
	list   []method.Block
	gamma  kernel.Matrix[float64] // d×c: Γ by features
	within [][]float64            // E_gg of each block, b×b
	start  []float64              // gains at the start of the layer
	gains  []float64              // of this turn; 0 of blocks that cannot be chosen
	// factors are those that the gains were found by.
	factors []factor
}

// products supplies what a choice of blocks takes of G, in the engine's units.
type products interface {
	// withinTo writes G_gg of each block to an n×n matrix below the diagonal, which is there already.
	withinTo(ctx context.Context, list []method.Block, to [][]float64) error
	// columns are those of the features; soon are others, the first wanted most, up to a number that there is room for.
	columns(ctx context.Context, features []int, soon func(room int) []int) ([][]float64, error)
	// again starts another layer, without the features that are out; nil starts the first one anew.
	again(ctx context.Context, out []bool) (*memory, error)
	scoreUnit() float64
}

// newBlocks starts a selection of blocks.
func newBlocks(ctx context.Context, m *memory, from products, list []method.Block) (*blocks, error) {
	b := &blocks{memory: m, from: from, list: list, within: make([][]float64, len(list)), gains: make([]float64, len(list)), factors: make([]factor, len(list))}
	return b, b.fill(ctx)
}

func (b *blocks) scoreUnit() float64 { return b.from.scoreUnit() }

// fill puts Γ and E_gg at what they are at the start of a layer.
func (b *blocks) fill(ctx context.Context) error {
	c := b.height()
	if need := b.d * c; cap(b.gamma.Data) < need {
		b.gamma.Data = make([]float64, need)
	}
	b.gamma = kernel.RowMajor(b.gamma.Data[:b.d*c], b.d, c, c)
	for from := 0; from < b.d; from += residualColumns {
		n := min(residualColumns, b.d-from)
		b.target.rowsTo(b.team, b.gamma.Sub(from, 0, n, c), b.hUnit, nil, from)
	}
	for i, block := range b.list {
		b.within[i] = make([]float64, len(block.Members)*len(block.Members))
	}
	if err := b.from.withinTo(ctx, b.list, b.within); err != nil {
		return err
	}
	kernel.Each(b.workers, len(b.list), func(i int) {
		members, e := b.list[i].Members, b.within[i]
		n := len(members)
		for a, p := range members {
			for o := range members[:a] {
				e[o*n+a] = e[a*n+o]
			}
			e[a*n+a] = b.g[p]
		}
	})
	if !b.target.self { // of G itself no gain is noise before its features are exhausted
		b.judge(func(int) bool { return true })
		b.start = slices.Clone(b.gains)
	}
	return nil
}

// next starts another layer.
func (b *blocks) next(ctx context.Context, out []bool) (err error) {
	if b.memory, err = b.from.again(ctx, out); err != nil {
		return err
	}
	return b.fill(ctx)
}

// withinTo implements products for G in memory.
func (m *memory) withinTo(_ context.Context, list []method.Block, to [][]float64) error {
	kernel.Each(m.workers, len(list), func(i int) {
		members := list[i].Members
		for a, p := range members {
			for o, q := range members[:a] {
				to[i][a*len(members)+o] = m.gUnit * m.gram.At(p, q)
			}
		}
	})
	return nil
}

// columns implements products for G in memory.
func (m *memory) columns(_ context.Context, features []int, _ func(int) []int) ([][]float64, error) {
	out := make([][]float64, len(features))
	for i, p := range features {
		out[i] = m.columnTo(make([]float64, m.d), p)
	}
	return out, nil
}

// again implements products for G in memory.
func (m *memory) again(ctx context.Context, out []bool) (*memory, error) {
	_, err := m.next(ctx, out)
	return m, err
}

// judge finds the gains of the blocks that may be chosen, in the engine's units. Each is a sum over parts
// of the rows of Γ_g, whose sizes depend on the block alone.
func (b *blocks) judge(may func(block int) bool) {
	c := b.height()
	kernel.Each(b.workers, len(b.list), func(i int) {
		b.gains[i], b.factors[i] = 0, factor{}
		if may(i) {
			b.factors[i] = b.factor(i)
		}
	})
	var parts []part
	for i, f := range b.factors {
		n := len(f.pivots)
		if n == 0 {
			continue
		}
		width := max(partNumbers/n, leastPart)
		for from := 0; from < c; from += width {
			parts = append(parts, part{i, from, min(from+width, c)})
		}
	}
	gains := make([]float64, len(parts))
	kernel.Each(b.workers, len(parts), func(n int) { gains[n] = b.gainOf(parts[n]) })
	for n, p := range parts {
		b.gains[p.block] += gains[n]
	}
}

// part is a range of the rows of Γ_g of a block.
type part struct{ block, from, to int }

const (
	// partNumbers of Γ_g are solved at a time, which stay in a cache.
	partNumbers = 1 << 15
	leastPart   = 16
)

// factor is the Cholesky factor of E_gg among the members that are pivots.
type factor struct {
	pivots []int     // features, in order
	low    []float64 // row of pivot m: the first m+1 of n numbers
}

// factor factors E_gg of block i. It takes the members by the share of them that is left, as long as that
// is one (exhaustedShare). Cost n³/3 for a block of n.
func (b *blocks) factor(i int) factor {
	members := b.list[i].Members
	var live []int // places of members
	for a, p := range members {
		if b.alive[p] {
			live = append(live, a)
		}
	}
	n := len(live)
	e, low := make([]float64, n*n), make([]float64, n*n) // low by members
	for s, a := range live {
		for t, o := range live {
			e[s*n+t] = b.within[i][a*len(members)+o]
		}
	}
	var order []int
	taken, column := make([]bool, n), make([]float64, n)
	for m := range n {
		best, most := -1, exhaustedShare
		for s, a := range live {
			if share := e[s*n+s] / b.g0[members[a]]; !taken[s] && share > most {
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
	f := factor{low: make([]float64, len(order)*n)}
	for m, s := range order {
		f.pivots = append(f.pivots, members[live[s]])
		copy(f.low[m*len(order):(m+1)*len(order)], low[s*n:(s+1)*n])
	}
	return f
}

// gainOf is the squared norm of a part of Γ_g L⁻ᵀ.
func (b *blocks) gainOf(p part) (gain float64) {
	f := b.factors[p.block]
	n, width := len(f.pivots), p.to-p.from
	rows := make([]float64, n*width)
	for m, q := range f.pivots {
		copy(rows[m*width:(m+1)*width], b.gammaOf(q)[p.from:p.to])
	}
	f.solve(rows, width)
	for m := range f.pivots {
		row := rows[m*width : (m+1)*width]
		gain += kernel.Dot(row, row)
	}
	return gain
}

// solve turns the rows X of so many numbers into L⁻¹X.
func (f *factor) solve(rows []float64, width int) {
	n := len(f.pivots)
	for m := range n {
		row := rows[m*width : (m+1)*width]
		for r := range m {
			kernel.Axpy(-f.low[m*n+r], rows[r*width:(r+1)*width], row)
		}
		floats.Scale(1/f.low[m*n+m], row)
	}
}

func (b *blocks) gammaOf(p int) []float64 { return b.gamma.Data[p*b.gamma.RowStride:][:b.gamma.Cols] }

// take makes block i part of S and gives its features to r, with what each takes off the target: those of
// pivots, then those that they explain. first says that this is the first layer, and soon which features are
// likely to be taken after these.
func (b *blocks) take(ctx context.Context, i int, first bool, r *recorder, soon func(room int) []int) (score float64, err error) {
	c, pivots := b.height(), b.factors[i].pivots
	columns, err := b.from.columns(ctx, pivots, soon)
	if err != nil {
		return 0, err
	}
	n := len(pivots)
	omega := kernel.RowMajor(make([]float64, n*b.d), n, b.d, b.d)
	upsilon := omega
	if !b.target.same {
		upsilon = kernel.RowMajor(make([]float64, n*c), n, c, c)
		kernel.Each(b.workers, tasks(c, colsPerTask), func(task int) {
			from, to := span(task, colsPerTask, c)
			rows := make([]float64, n*(to-from))
			for m, p := range pivots {
				copy(rows[m*(to-from):], b.gammaOf(p)[from:to])
			}
			b.factors[i].solve(rows, to-from)
			for m := range pivots {
				copy(upsilon.Data[m*c+from:m*c+to], rows[m*(to-from):(m+1)*(to-from)])
			}
		})
	}
	for m, p := range pivots {
		w := omega.Data[m*b.d : (m+1)*b.d]
		copy(w, columns[m])
		b.deflate(w, b.omegas, p)
		b.clearChosen(w)
		floats.Scale(1/math.Sqrt(b.g[p]), w)
		b.omegas = append(b.omegas, w)
		if first {
			r.omegas = append(r.omegas, w)
		}
		for q, v := range w {
			b.g[q] = max(b.g[q]-v*v, 0)
			if b.g[q] <= exhaustedShare*b.g0[q] {
				b.alive[q] = false
			}
		}
		b.retire(p)
		v := upsilon.Data[m*c : (m+1)*c]
		gain := kernel.Dot(v, v)
		score += gain
		r.add(p, gain*b.scoreUnit(), columns[m], b.criterion)
	}
	for _, p := range b.list[i].Members {
		if !b.chosen[p] {
			b.retire(p)
			r.add(p, 0, nil, b.criterion)
		}
	}
	b.shrink(omega)
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
	return score, nil
}

// shrink takes ΩᵀΩ from E_gg of the blocks that are left; the diagonal is up to date.
func (b *blocks) shrink(omega kernel.Matrix[float64]) {
	kernel.Each(b.workers, len(b.list), func(i int) {
		members, e := b.list[i].Members, b.within[i]
		n, turns := len(members), omega.Rows
		if b.chosen[members[0]] {
			return
		}
		own := make([]float64, n*turns)
		for a, p := range members {
			for m := range turns {
				own[a*turns+m] = omega.Data[m*b.d+p]
			}
		}
		for a, p := range members {
			for o := range members[:a] {
				e[a*n+o] -= kernel.Dot(own[a*turns:(a+1)*turns], own[o*turns:(o+1)*turns])
				e[o*n+a] = e[a*n+o]
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
	one := 2*int64(largest)*int64(largest) + max(partNumbers, leastPart*int64(largest))
	return 8 * (int64(d)*int64(rows+3*largest) + 2*int64(largest)*int64(d+rows) + int64(max(threads, 1))*one)
}

// refuseBlocks says where blocks are not chosen, and what helps.
func refuseBlocks(remedy string) error {
	return stream.Usagef("groups, columns of several features, costs and a budget take the whole Gram matrix or one estimate of it: " + remedy)
}

const (
	// withoutGram: squares of Γ = E would come out of a recursion, whose rounding nothing bounds for blocks.
	withoutGram   = "raise {memory-limit}, or choose {method} partgreedy, which works on sums of features and reads the rows again"
	withoutPasses = "{passes} 1 chooses by the {sketch} alone; or leave {sketch} out"
)
