package greedy

import (
	"context"
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// blockPasses supplies a choice of blocks without G, for a target that is in memory: one pass computes G within the
// blocks, and others fetch the columns of those chosen, with the columns of the blocks that are worth most after them.
type blockPasses struct {
	*streamed
	room int               // for columns that are held
	held map[int][]float64 // columns of G, by feature
}

// selectBlocks chooses blocks from rows, for a target that is in memory, with room for so many columns of G: half of
// them are held, as they are copied one by one to be given up so.
func (s *streamed) selectBlocks(ctx context.Context, room int, opt Options) (*Result, error) {
	return selectBlocks(ctx, s.target, &blockPasses{streamed: s, room: room / 2, held: make(map[int][]float64)}, opt)
}

func (s *blockPasses) withinTo(ctx context.Context, list []method.Block, to [][]float64) error {
	return s.rows.pass(ctx, reading{
		what: "products within groups", sums: to,
		add: func(b *block) { s.rows.addWithin(b, list, to) }, finish: func() { s.rows.finishWithin(list, to) },
	})
}

func (s *blockPasses) columns(ctx context.Context, features []int, soon func(room int) []int) ([][]float64, error) {
	missing := func(list []int) []int {
		return slices.DeleteFunc(slices.Clone(list), func(p int) bool { return s.held[p] != nil })
	}
	if fetch := missing(features); len(fetch) > 0 {
		wanted := soon(max(s.room-len(features), 0))
		for p := range s.held {
			if !slices.Contains(features, p) && !slices.Contains(wanted, p) {
				delete(s.held, p)
			}
		}
		if err := s.read(ctx, append(fetch, missing(wanted)...)); err != nil {
			return nil, err
		}
	}
	out := make([][]float64, len(features))
	for i, p := range features {
		out[i] = s.held[p]
	}
	return out, nil
}

// read takes a pass for columns of G.
func (s *blockPasses) read(ctx context.Context, features []int) error {
	d := s.rows.d
	columns := make([]float64, len(features)*d)
	err := s.rows.pass(ctx, reading{what: fmt.Sprintf("columns of %d features", len(features)), sums: [][]float64{columns}, add: func(b *block) {
		if b.sparse == nil {
			s.scratch = rows.Room(s.scratch, len(features)*b.rows)
		}
		s.rows.addColumns(b, columns, features, s.scratch)
	}, finish: func() { s.rows.finishColumns(columns, features) }})
	if err != nil {
		return err
	}
	for i, p := range features {
		s.held[p] = slices.Clone(columns[i*d : (i+1)*d])
	}
	return nil
}

func (s *blockPasses) again(ctx context.Context, out []bool) (*memory, error) {
	_, err := s.next(ctx, out)
	return s.target, err
}

// addWithin adds what a block of rows contributes to G within blocks of features, below the diagonal. Cost n·Σb².
func (r *reader) addWithin(b *block, list []method.Block, to [][]float64) {
	kernel.Each(r.workers, len(list), func(i int) {
		members := list[i].Members
		n := len(members)
		if b.sparse != nil {
			for a, p := range members {
				for o, q := range members[:a] {
					to[i][a*n+o] += b.sparse.product(p, q)
				}
			}
			return
		}
		x := make([]float64, n*b.rows)
		for a, p := range members {
			r.std.Some(x[a*b.rows:(a+1)*b.rows], b.rows, b.chunk, p, p+1)
			for o := range members[:a] {
				to[i][a*n+o] += kernel.Dot(x[a*b.rows:(a+1)*b.rows], x[o*b.rows:(o+1)*b.rows])
			}
		}
	})
}

// finishWithin takes the shift of sparse rows out.
func (r *reader) finishWithin(list []method.Block, to [][]float64) {
	if r.weight == 0 {
		return
	}
	for i, block := range list {
		for a, p := range block.Members {
			for o, q := range block.Members[:a] {
				to[i][a*len(block.Members)+o] += r.shift[p]*r.shift[q]*r.weight - r.shift[p]*r.sum[q] - r.shift[q]*r.sum[p]
			}
		}
	}
}

// product is Σ w x′_p x′_q.
func (s *sparseBlock) product(p, q int) (sum float64) {
	k, end := s.colPtr[q], s.colPtr[q+1]
	for at := s.colPtr[p]; at < s.colPtr[p+1]; at++ {
		row := s.row[at]
		for k < end && s.row[k] < row {
			k++
		}
		if k < end && s.row[k] == row {
			sum += s.weight[row] * s.value[s.at[at]] * s.value[s.at[k]]
		}
	}
	return sum
}

// blockStarts bounds the passes that a choice of blocks makes beside two for each feature: within a budget it is made
// twice, and each time begins with a pass for the criterion and one for products within blocks.
const blockStarts = 3

// streamedBlocksBytes is what choosing blocks of so many features at most holds beside what choosing as many features
// from rows does, for a target of so many rows.
func streamedBlocksBytes(d, rows, largest, threads int) int64 {
	if largest == 0 {
		return 0
	}
	return blocksBytes(d, rows, largest, threads) + 8*int64(largest)*(2*int64(d)+int64(max(threads, 1)+1)*int64(stream.BlockRows(d)))
}
