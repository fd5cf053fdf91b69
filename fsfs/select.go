package fsfs

import (
	"context"
	"fmt"

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

// Bytes is what Select holds beside G, with the lists of the features kept.
func Bytes(d, threads int) int64 {
	return 4*int64(d)*int64(d) + 8*int64(d)*int64(max(threads, 64)) + 64*int64(d)
}

// Select chooses among d features by the Gram matrix of their centred columns, d×d, which it
// does not modify. Costs d²·log d comparisons, and for each first k that it
// tries up to d² for every feature kept, d³/k in all. The error
// is a *stream.UsageError or the context's.
func Select(ctx context.Context, g []float64, d int, opt Options) (*Result, error) {
	if err := opt.Validate(d); err != nil {
		return nil, err
	}
	if len(g) != d*d {
		panic(fmt.Sprintf("fsfs: %d values of a matrix of order %d", len(g), d))
	}
	s := newSimilar(opt.Threads, g, d)
	k := opt.Neighbors
	if k == 0 {
		most := d - 1 // which leaves one feature
		for k < most {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if middle := (k + most + 1) / 2; len(s.eliminate(middle).order) >= max(opt.K, 1) {
				k = middle
			} else {
				most = middle - 1
			}
		}
	}
	left := s.eliminate(k)
	return &Result{Order: left.order, Turns: left.turns, Neighbors: k}, ctx.Err()
}
