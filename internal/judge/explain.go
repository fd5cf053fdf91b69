package judge

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
)

// ExplainChoice computes, from the d×d Gram matrix of the data, how well the chosen features, in order, explain all d
// features. It returns Error, Explained and Nearest as if greedy had chosen these features.
func ExplainChoice(ctx context.Context, g *gram.Matrix, chosen []int, threads int) (*greedy.Result, error) {
	return greedy.Explain(ctx, g, chosen, threads)
}

// ExplainBytes bounds the memory of ExplainChoice in addition to the matrix. If the matrix is a factor, rank is its
// number of rows, otherwise 0.
func ExplainBytes(d, k, rank int) int64 { return greedy.ExplainBytes(d, k, rank) }

// ChooseGreedily returns greedy's choice of k features from the d×d Gram matrix, beginning with the features of keep.
// It is the reference for any other choice of k features. Time and memory are as for greedy.Select.
func ChooseGreedily(ctx context.Context, g *gram.Matrix, k int, keep []int, threads int) (*greedy.Result, error) {
	return greedy.Select(ctx, g, greedy.Options{K: k, Keep: keep, Threads: threads})
}
