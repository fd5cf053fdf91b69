package fsfs

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options sets the number of features to keep.
type Options struct {
	K         int // least number of features to keep, if Neighbors is 0
	Neighbors int // the paper's first k; 0 means the largest k that leaves K features
	Threads   int // 0 means GOMAXPROCS; the answer does not depend on it
}

// Validate reports every fault of o for d features in one *stream.UsageError.
func (o Options) Validate(d int) error {
	var faults stream.Faults
	method.RefuseNumber(&faults, o.K, d)
	method.RefuseNegative(&faults, "{neighbors}", o.Neighbors)
	method.RefuseNegative(&faults, "{threads}", o.Threads)
	return faults.Err("")
}

// Result lists the kept features.
type Result struct {
	Order     []int     // at least K features, unless Neighbors is set
	Turns     []float64 // of each kept feature: λ₂ to its k-th nearest feature when it was kept, in units of G
	Neighbors int       // the first k; 0 means that all features are kept
}

// Bytes bounds the memory of Select in addition to G. If rank is not 0, G is a factor of `rank` rows.
func Bytes(d, rank int) int64 {
	return room.Measure(func(l *room.Layout) {
		layOutSimilarity(l, d, rank, pairCapacity(d))
		side := min(blockSide, d)
		l.Add(kernel.TeamBytes(side, side) + 16*5/4*int64(side)*int64(side)) // also the pairs of a block, with their growth
		l.Add((8*headSize + 240) * int64(d))                                 // the heads, and lists of features
	})
}

// Select chooses among d features by the Gram matrix of their centred columns, which it does not modify. It needs the
// memory given by [Bytes]. With a factor of n rows, it costs n·d² flops for the covariances and a test of all pairs.
// Then Select tries several first k, each of which costs a search of the graph of the nearest pairs. If a first k is
// too large for that graph, pairs are searched again, at up to about 2n·d² flops. The error is a *stream.UsageError or
// the context's error.
func Select(ctx context.Context, m *gram.Matrix, opt Options) (*Result, error) {
	if err := opt.Validate(m.D); err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		panic(fmt.Sprintf("fsfs: %v", err))
	}
	return selectWithCapacity(ctx, m, opt, pairCapacity(m.D))
}

// selectWithCapacity selects as Select does, with a graph of at most `pairs` edges, which do not affect the result.
func selectWithCapacity(ctx context.Context, m *gram.Matrix, opt Options, pairs int) (*Result, error) {
	s, err := newSimilarity(ctx, kernel.NewTeam(opt.Threads), m, pairs)
	if err != nil {
		return nil, err
	}
	k := opt.Neighbors
	if k == 0 {
		if k, err = largestFirstK(ctx, s, max(opt.K, 1)); err != nil {
			return nil, err
		}
	}
	result, err := runElimination(ctx, s, k, 0)
	if err != nil {
		return nil, err
	}
	if err := result.keepRemainingFeatures(ctx); err != nil {
		return nil, err
	}
	return &Result{Order: result.order, Turns: result.turns, Neighbors: k}, nil
}

// largestFirstK finds by bisection the largest k of the first turn that leaves at least `want` features.
func largestFirstK(ctx context.Context, s *similarity, want int) (k int, err error) {
	largest := s.d - 1 // leaves one feature
	for k < largest {
		middle := (k + largest + 1) / 2
		if s.d-middle < want {
			largest = middle - 1
			continue
		}
		if middle > s.mostNeighbours && s.densest[middle] == nil {
			if err := findDensest(ctx, s, bisectionNumbers(s, k, largest, want, censusSteps)); err != nil {
				return 0, err
			}
		}
		trial, err := runElimination(ctx, s, middle, want)
		if err != nil {
			return 0, err
		}
		if len(trial.order)+trial.openCount >= want {
			k = middle
		} else {
			largest = middle - 1
		}
	}
	return k, nil
}

// bisectionNumbers lists the k above mostNeighbours that a bisection between k and largest may try in its next n steps.
func bisectionNumbers(s *similarity, k, largest, want, n int) (numbers []int) {
	if k >= largest || n == 0 {
		return nil
	}
	middle := (k + largest + 1) / 2
	numbers = bisectionNumbers(s, k, middle-1, want, n-1)
	if s.d-middle < want {
		return numbers
	}
	if middle > s.mostNeighbours {
		numbers = append(numbers, middle)
	}
	return append(numbers, bisectionNumbers(s, middle, largest, want, n-1)...)
}
