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

// passBlockSource supplies entries of G if the target is in memory but G is not. One pass computes G_gg of all blocks
// g. Other passes compute columns of G for the chosen block and for the blocks that are likely to be chosen next.
type passBlockSource struct {
	*streamEngine
	columnRoom  int               // capacity of columnCache
	columnCache map[int][]float64 // columns of G, by feature
}

// selectBlocks chooses blocks by passes over the rows, for a target in memory. There is memory for `room` columns of G,
// but the cache holds at most half as many: a pass computes its columns in one array, and each column is then copied,
// so that its memory can be freed independently of the other columns.
func (s *streamEngine) selectBlocks(ctx context.Context, room int, opt Options) (*Result, error) {
	return selectBlocks(ctx, s.target, &passBlockSource{streamEngine: s, columnRoom: room / 2, columnCache: make(map[int][]float64)}, opt)
}

func (s *passBlockSource) blockGramsTo(ctx context.Context, list []method.Block, to [][]float64) error {
	return s.rows.runPass(ctx, rowPass{
		purpose: "products within groups", sums: to,
		addBlock: func(b *rowBlock) { s.rows.addBlockGrams(b, list, to) }, finish: func() { s.rows.unshiftBlockGrams(list, to) },
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
	err := s.rows.runPass(ctx, rowPass{purpose: fmt.Sprintf("columns of %d features", len(features)), sums: [][]float64{columns}, addBlock: func(b *rowBlock) {
		if b.sparse == nil {
			s.scratch = rows.Resize(s.scratch, len(features)*b.rows)
		}
		s.rows.addColumns(b, columns, features, s.scratch)
	}, finish: func() { s.rows.unshiftColumns(columns, features) }})
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

// addBlockGrams adds the contribution of a block of n rows to the entries of G_gg below its diagonal, for each block g
// of features in the list. It costs n·Σs² flops, s being the number of features in a block.
func (r *reader) addBlockGrams(b *rowBlock, list []method.Block, to [][]float64) {
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

func (r *reader) unshiftBlockGrams(list []method.Block, to [][]float64) {
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

// maxBlockStartPasses bounds the passes that a choice of blocks needs in addition to the passes for columns and the
// first pass for the criterion. Under a budget the choice is made twice. Each time there is one pass for G within
// blocks, and the second time also one for the criterion.
const maxBlockStartPasses = 3

// streamedBlocksBytes returns the memory given by blocksBytes, and the memory that a choice by passes over the rows of
// the data needs in addition. The parameter rows is the number of rows of the target.
func streamedBlocksBytes(d, rows, largest, threads int) int64 {
	if largest == 0 {
		return 0
	}
	return blocksBytes(d, rows, largest, threads) + 8*int64(largest)*(2*int64(d)+int64(max(threads, 1)+1)*int64(stream.BlockRows(d)))
}
