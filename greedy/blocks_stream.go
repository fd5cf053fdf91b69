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

// passBlockSource supplies blocks and columns of G if the target is in memory but G is not. One pass computes the parts of
// G within the blocks. Other passes fetch columns of G for the chosen block and for the blocks of the next highest
// value.
type passBlockSource struct {
	*streamEngine
	columnRoom  int               // capacity of columnCache
	columnCache map[int][]float64 // columns of G, by feature
}

// selectBlocks chooses blocks from rows, for a target in memory, with memory for room columns of G. Half of this
// memory is for columnCache, because each column is copied so that it can be freed alone.
func (s *streamEngine) selectBlocks(ctx context.Context, room int, opt Options) (*Result, error) {
	return selectBlocks(ctx, s.target, &passBlockSource{streamEngine: s, columnRoom: room / 2, columnCache: make(map[int][]float64)}, opt)
}

func (s *passBlockSource) blockGramsTo(ctx context.Context, list []method.Block, to [][]float64) error {
	return s.rows.runPass(ctx, rowPass{
		purpose: "products within groups", sums: to,
		addBlock: func(b *block) { s.rows.addBlockGrams(b, list, to) }, finish: func() { s.rows.finishBlockGrams(list, to) },
	})
}

func (s *passBlockSource) gramColumns(ctx context.Context, features []int, likely func(room int) []int) ([][]float64, error) {
	missing := func(list []int) []int {
		return slices.DeleteFunc(slices.Clone(list), func(p int) bool { return s.columnCache[p] != nil })
	}
	if fetch := missing(features); len(fetch) > 0 {
		likelyFeatures := likely(max(s.columnRoom-len(features), 0))
		for p := range s.columnCache {
			if !slices.Contains(features, p) && !slices.Contains(likelyFeatures, p) {
				delete(s.columnCache, p)
			}
		}
		if err := s.readColumns(ctx, append(fetch, missing(likelyFeatures)...)); err != nil {
			return nil, err
		}
	}
	out := make([][]float64, len(features))
	for i, p := range features {
		out[i] = s.columnCache[p]
	}
	return out, nil
}

func (s *passBlockSource) readColumns(ctx context.Context, features []int) error {
	d := s.rows.d
	columns := make([]float64, len(features)*d)
	err := s.rows.runPass(ctx, rowPass{purpose: fmt.Sprintf("columns of %d features", len(features)), sums: [][]float64{columns}, addBlock: func(b *block) {
		if b.sparse == nil {
			s.scratch = rows.Resize(s.scratch, len(features)*b.rows)
		}
		s.rows.addColumns(b, columns, features, s.scratch)
	}, finish: func() { s.rows.finishColumns(columns, features) }})
	if err != nil {
		return err
	}
	for i, p := range features {
		s.columnCache[p] = slices.Clone(columns[i*d : (i+1)*d])
	}
	return nil
}

func (s *passBlockSource) restartWithout(ctx context.Context, excluded []bool) (*gramEngine, error) {
	_, err := s.startNextLayer(ctx, excluded)
	return s.target, err
}

// addBlockGrams adds the contribution of the rows of b to the entries below the diagonal of G_gg for each block g. It
// costs n·Σb² flops for n rows and blocks of b features.
func (r *reader) addBlockGrams(b *block, list []method.Block, to [][]float64) {
	kernel.Each(r.workers, len(list), func(i int) {
		members := list[i].Members
		n := len(members)
		if b.sparse != nil {
			for a, p := range members {
				for o, q := range members[:a] {
					to[i][a*n+o] += b.sparse.columnProduct(p, q)
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

func (r *reader) finishBlockGrams(list []method.Block, to [][]float64) {
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

func (s *sparseBlock) columnProduct(p, q int) (sum float64) {
	k, end := s.colPtr[q], s.colPtr[q+1]
	for at := s.colPtr[p]; at < s.colPtr[p+1]; at++ {
		row := s.entryRow[at]
		for k < end && s.entryRow[k] < row {
			k++
		}
		if k < end && s.entryRow[k] == row {
			sum += s.weight[row] * s.value[s.entryAt[at]] * s.value[s.entryAt[k]]
		}
	}
	return sum
}

// blockStarts bounds the passes that a choice of blocks makes for other purposes than columns. Under a budget the
// choice is made twice, each time with one pass for the criterion and one for G within blocks.
const blockStarts = 3

// streamedBlocksBytes returns the memory that is needed in addition if blocks of at most `largest` features are chosen
// from rows, for a target of `rows` rows.
func streamedBlocksBytes(d, rows, largest, threads int) int64 {
	if largest == 0 {
		return 0
	}
	return blocksBytes(d, rows, largest, threads) + 8*int64(largest)*(2*int64(d)+int64(max(threads, 1)+1)*int64(stream.BlockRows(d)))
}
