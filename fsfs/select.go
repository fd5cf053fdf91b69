package fsfs

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options says how many features to keep.
type Options struct {
	K         int // at least so many, where Neighbors is 0
	Neighbors int // the paper's first k; 0 means the largest that leaves K
	Threads   int // 0 means GOMAXPROCS; the answer does not depend on it
}

// Validate names every fault of o for d features in one *stream.UsageError.
func (o Options) Validate(d int) error {
	var faults stream.Faults
	method.RefuseNumber(&faults, o.K, d)
	method.RefuseNegative(&faults, "{neighbors}", o.Neighbors)
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	return faults.Err("")
}

// Result is what is kept.
type Result struct {
	Order     []int     // the features kept, at least K unless Neighbors says how many
	Turns     []float64 // of each: λ₂ to its k-th nearest when it was kept, in units of G; lower is denser
	Neighbors int       // the first k; 0 keeps all
}

// Bytes is what Select holds at most beside G of d features, which is a factor of so many rows, or in full where rank
// is 0: the pairs of its graph, blocks of products, and rows of λ₂.
func Bytes(d, rank int) int64 {
	edges := int64(pairs(d))
	block := int64(min(side, d))
	found := 16 * 5 / 4 * block * block // as they grow
	blocks := 8*block*block + found + 2*8*block*int64(rank) + kernel.TeamBytes(int(block), int(block))
	return (16+2*4)*edges + blocks + 8*together*int64(d) + (8*headSize+256)*int64(d)
}

// Select chooses among d features by the Gram matrix of their centred columns, which it does not
// modify. It holds [Bytes], and costs n·d² flops for a factor of n rows and a test of all pairs, then for each
// first k that it tries a look at the graph of the nearest pairs. Where a first k reaches beyond that graph, pairs are
// looked for again, up to some 2n·d² flops for each such k. The error is a *stream.UsageError or the context's.
func Select(ctx context.Context, m *gram.Matrix, opt Options) (*Result, error) {
	if err := opt.Validate(m.D); err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		panic(fmt.Sprintf("fsfs: %v", err))
	}
	return choose(ctx, m, opt, pairs(m.D))
}

// choose is Select with a graph of so many pairs, on which the answer does not depend.
func choose(ctx context.Context, m *gram.Matrix, opt Options, pairs int) (*Result, error) {
	s, err := newSimilar(ctx, opt.Threads, m, pairs)
	if err != nil {
		return nil, err
	}
	k := opt.Neighbors
	if k == 0 {
		if k, err = s.largest(ctx, max(opt.K, 1)); err != nil {
			return nil, err
		}
	}
	left, err := s.eliminate(ctx, k, 0)
	if err != nil {
		return nil, err
	}
	if err := left.rest(ctx); err != nil {
		return nil, err
	}
	return &Result{Order: left.order, Turns: left.turns, Neighbors: k}, nil
}

// largest looks by bisection for the largest first k that leaves so many features.
func (s *similar) largest(ctx context.Context, want int) (k int, err error) {
	most := s.d - 1 // which leaves one feature
	for k < most {
		middle := (k + most + 1) / 2
		if s.leaves(middle) < want {
			most = middle - 1
			continue
		}
		if middle > s.most && s.densest[middle] == nil {
			if err := s.census(ctx, s.steps(k, most, want, ahead)); err != nil {
				return 0, err
			}
		}
		left, err := s.eliminate(ctx, middle, want)
		if err != nil {
			return 0, err
		}
		if len(left.order)+left.count >= want {
			k = middle
		} else {
			most = middle - 1
		}
	}
	return k, nil
}

// leaves is the number of features that the first turn leaves, with the one that it keeps.
func (s *similar) leaves(k int) int { return s.d - k }

// steps are the numbers that the bisection from k to most may come to in so many steps and that want a census.
func (s *similar) steps(k, most, want, n int) (numbers []int) {
	if k >= most || n == 0 {
		return nil
	}
	middle := (k + most + 1) / 2
	numbers = s.steps(k, middle-1, want, n-1)
	if s.leaves(middle) < want {
		return numbers
	}
	if middle > s.most {
		numbers = append(numbers, middle)
	}
	return append(numbers, s.steps(middle, most, want, n-1)...)
}
