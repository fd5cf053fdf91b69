// Package inmemory serves methods that hold all rows in memory, because any row may be a neighbour of another.
package inmemory

import (
	"context"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Anchors is the number of rows that methods whose problem is of order n draw by default, as for anchor graphs.
const Anchors = 2000

// PlanCost returns the cost of a run. The rows are first loaded and then solved, for which solve returns the memory in
// addition to n rows of d features, and the greatest number of iterations.
func PlanCost(s method.Shape, solve func(n int64, d int) (bytes int64, iterations int)) method.Cost {
	n, d := max(s.Rows, 0), max(len(s.Columns), 1)
	bytes, iterations := solve(n, d)
	bytes = max(rows.DenseBytes(n, d), 8*n*int64(d)+bytes)
	return method.Cost{
		Bytes: bytes, Least: bytes,
		Passes:     method.Passes{Least: 1, Most: 1, Why: stream.Textf("then the rows are loaded; all of them must fit into memory, and {sample} sets their number")},
		Iterations: iterations,
	}
}

// ReadRows reads the scaled rows of the evidence, n×d row-major, and then frees the buffers of its source. It also
// returns the number of passes.
func ReadRows(ctx context.Context, e *method.Evidence) (x kernel.Matrix[float64], passes int, err error) {
	source := rows.Source{Source: e.Source, Meter: e.Meter, OnPass: e.Pass}
	x, err = source.ReadDense(ctx, e.Threads, int(e.Rows), len(e.Columns), e.Std.To)
	if err == nil {
		err = e.Release()
	}
	return x, source.Passes, err
}
