package judge

import (
	"context"

	"github.com/ufs-stream/ufs-stream/greedy"
)

// Explanation is what a selection makes of all features: the error that is left after
// each choice, the share of each feature that is explained, and the chosen feature that
// is nearest to it (-1 for none).
type Explanation struct {
	Error, Explained []float64
	Nearest          []int
}

// Explain says what the chosen features, in order, explain of all d, from the d×d Gram
// matrix of the data. Time 2kd² + 2k²d, and ExplainBytes of memory.
func Explain(ctx context.Context, sym []float64, d int, chosen []int, threads int) (*Explanation, error) {
	res, err := greedy.Select(ctx, sym, d, greedy.Options{K: len(chosen), Keep: chosen, Threads: threads})
	if err != nil {
		return nil, err
	}
	return &Explanation{res.Error, res.Explained, res.Nearest}, nil
}

// ExplainBytes is what Explain holds beside the matrix.
func ExplainBytes(d, k int) int64 { return greedy.Bytes(d, k, 0) }
