package judge

import (
	"context"

	"github.com/ufs-stream/ufs-stream/greedy"
)

// Explain says what the chosen features, in order, explain of all d, from the d×d Gram
// matrix of the data: the Error, Explained and Nearest of greedy, had it chosen them. Time
// 2kd² + 2k²d, and ExplainBytes of memory.
func Explain(ctx context.Context, sym []float64, d int, chosen []int, threads int) (*greedy.Result, error) {
	return greedy.Select(ctx, sym, d, greedy.Options{K: len(chosen), Keep: chosen, Threads: threads})
}

// ExplainBytes is what Explain holds beside the matrix.
func ExplainBytes(d, k int) int64 { return greedy.Bytes(d, k, 0) }

// Choose is greedy's choice of k features from the d×d Gram matrix, those of keep first: what
// any other choice of as many is compared with. Time and memory are those of Explain.
func Choose(ctx context.Context, sym []float64, d, k int, keep []int, threads int) (*greedy.Result, error) {
	return greedy.Select(ctx, sym, d, greedy.Options{K: k, Keep: keep, Threads: threads})
}
