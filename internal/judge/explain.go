package judge

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
)

// ExplainChoice computes how the chosen features, in order, explain all d, from the d×d Gram matrix of the data: Error,
// Explained and Nearest as if greedy had chosen them.
func ExplainChoice(ctx context.Context, g *gram.Matrix, chosen []int, threads int) (*greedy.Result, error) {
	return greedy.Explain(ctx, g, chosen, threads)
}

// ExplainBytes bounds the memory of Explain in addition to the matrix, which is in full if rank is 0, and else a factor
// of rank rows.
func ExplainBytes(d, k, rank int) int64 { return greedy.ExplainBytes(d, k, rank) }

// ChooseGreedily returns greedy's choice of k features from the d×d Gram matrix, those of keep first, as the reference for any
// other choice of as many. Time and memory are as for greedy.Select.
func ChooseGreedily(ctx context.Context, g *gram.Matrix, k int, keep []int, threads int) (*greedy.Result, error) {
	return greedy.Select(ctx, g, greedy.Options{K: k, Keep: keep, Threads: threads})
}
