package outofcore

import (
	"context"
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/greedy/internal/blocks"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/scan"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// passBlockSource supplies entries of G if the target is in memory but G is not. One pass computes G_gg of all blocks
// g. Other passes compute columns of G for the chosen block and for the blocks that are likely to be chosen next.
type passBlockSource struct {
	engine      *streamEngine
	columnRoom  int               // capacity of columnCache
	columnCache map[int][]float64 // columns of G, by feature
}

// selectBlocksByPasses chooses blocks by passes over the rows, for a target in memory. There is memory for `room` columns of G,
// but the cache holds at most half as many: a pass computes its columns in one array, and each column is then copied,
// so that its memory can be freed independently of the other columns.
func selectBlocksByPasses(ctx context.Context, s *streamEngine, room int, opt selection.Options) (*selection.Result, error) {
	return blocks.SelectBlocks(ctx, s.target, &passBlockSource{engine: s, columnRoom: room / 2, columnCache: make(map[int][]float64)}, opt)
}

func (s *passBlockSource) BlockGramsTo(ctx context.Context, list []method.Block, to [][]float64) error {
	return s.engine.rows.RunPass(ctx, scan.Pass{
		Purpose: "products within groups", Sums: to,
		AddBlock: func(b *scan.Block) { s.engine.rows.AddBlockGrams(b, list, to) }, Finish: func() { s.engine.rows.UnshiftBlockGrams(list, to) },
	})
}

func (s *passBlockSource) GramColumns(ctx context.Context, features []int, likely func(room int) []int) ([][]float64, error) {
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
	d := s.engine.rows.D
	columns := make([]float64, len(features)*d)
	err := s.engine.rows.RunPass(ctx, scan.Pass{Purpose: fmt.Sprintf("columns of %d features", len(features)), Sums: [][]float64{columns}, AddBlock: func(b *scan.Block) {
		if b.Sparse == nil {
			s.engine.scratch = rows.ResizeSlice(s.engine.scratch, len(features)*b.Rows)
		}
		s.engine.rows.AddColumns(b, columns, features, s.engine.scratch)
	}, Finish: func() { s.engine.rows.UnshiftColumns(columns, features) }})
	if err != nil {
		return err
	}
	for i, p := range features {
		s.columnCache[p] = slices.Clone(columns[i*d : (i+1)*d])
	}
	return nil
}

func (s *passBlockSource) RestartWithout(ctx context.Context, excluded []bool) (*engine.Gram, error) {
	_, err := s.engine.StartNextLayer(ctx, excluded)
	return s.engine.target, err
}

func (s *passBlockSource) ScoreUnit() float64 { return s.engine.ScoreUnit() }

// MaxBlockStartPasses bounds the passes that a choice of blocks needs in addition to the passes for columns and the
// first pass for the criterion. Under a budget the choice is made twice. Each time there is one pass for G within
// blocks, and the second time also one for the criterion.
const MaxBlockStartPasses = 3

// BlocksBytes returns the memory that a choice of blocks by passes over the rows of the data needs, in addition to a
// choice of single features. rows is the number of rows of the target.
func BlocksBytes(d, rows, largest, threads int) int64 {
	if largest == 0 {
		return 0
	}
	return blocks.BlockBytes(d, rows, largest, threads) + 8*int64(largest)*(2*int64(d)+int64(max(threads, 1)+1)*int64(stream.BlockRows(d)))
}
