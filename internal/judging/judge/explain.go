package judge

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
)

// ExplainChoice computes how well the chosen features explain all d features, from the d×d Gram matrix of the data.
// The result has the same fields (Error, Explained and Nearest) as if greedy had chosen these features in this order.
func ExplainChoice(ctx context.Context, g *gram.Matrix, chosen []int, threads int) (*greedy.Result, error) {
	return greedy.Explain(ctx, g, chosen, threads)
}

// ExplainBytes returns an upper bound of the memory that ExplainChoice needs in addition to the matrix. If the matrix
// is given by a factor, rank is the number of the factor's rows, otherwise 0.
func ExplainBytes(d, k, rank int) int64 { return greedy.ExplainBytes(d, k, rank) }

// ChooseGreedily returns greedy's choice of k features from the d×d Gram matrix, including the features of keep, which
// come first. Other choices of k features are compared with this one. It needs as much time and memory as
// greedy.Select.
func ChooseGreedily(ctx context.Context, g *gram.Matrix, k int, keep []int, threads int) (*greedy.Result, error) {
	return greedy.Select(ctx, g, greedy.Options{K: k, Keep: keep, Threads: threads})
}
