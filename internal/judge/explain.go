package judge

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
)

// Explain says what the chosen features, in order, explain of all d, from the d×d Gram
// matrix of the data: the Error, Explained and Nearest of greedy, had it chosen them.
func Explain(ctx context.Context, g *gram.Matrix, chosen []int, threads int) (*greedy.Result, error) {
	return greedy.Explain(ctx, g, chosen, threads)
}

// ExplainBytes is what Explain holds beside the matrix, in full or, where rank is not 0, a factor of
// so many rows.
func ExplainBytes(d, k, rank int) int64 { return greedy.ExplainBytes(d, k, rank) }

// Choose is greedy's choice of k features from the d×d Gram matrix, those of keep first: what
// any other choice of as many is compared with. Time and memory are those of greedy.Select.
func Choose(ctx context.Context, g *gram.Matrix, k int, keep []int, threads int) (*greedy.Result, error) {
	return greedy.Select(ctx, g, greedy.Options{K: k, Keep: keep, Threads: threads})
}
