package cluster

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// blobs makes n rows in k columns about c centres, apart standard deviations from each
// other, and returns the blob of each row. The layout is column-major.
func blobs(seed uint64, n, k, c int, apart float64) (matrix, []int) {
	r := rand.New(rand.NewPCG(seed, 1))
	centers := make([]float64, c*k)
	for i := range centers {
		centers[i] = apart * r.NormFloat64()
	}
	x := kernel.ColMajor(make([]float64, n*k), n, k, n)
	labels := make([]int, n)
	for i := range n {
		labels[i] = r.IntN(c)
		for j := range k {
			x.Data[i+j*n] = centers[labels[i]*k+j] + r.NormFloat64()
		}
	}
	return x, labels
}

// rowMajor copies x to another layout, with a gap after each row.
func rowMajor(x matrix) matrix {
	return take(x, sequence(x.Rows))
}

func sequence(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// take copies the rows of x in the given order.
func take(x matrix, order []int) matrix {
	stride := x.Cols + 3
	y := kernel.RowMajor(make([]float64, len(order)*stride), len(order), x.Cols, stride)
	for to, i := range order {
		copy(y.Data[to*stride:], row(x, i))
	}
	return y
}

func row(x matrix, i int) []float64 {
	return compact(x.Sub(i, 0, 1, x.Cols)).Data
}

// chunks yields x in pieces of the given number of rows, in one lent buffer.
func chunks(x matrix, rows int) iter.Seq2[Matrix, error] {
	return func(yield func(Matrix, error) bool) {
		buf := make([]float64, rows*x.Cols)
		for at := 0; at < x.Rows; at += rows {
			n := min(rows, x.Rows-at)
			lent := kernel.ColMajor(buf, n, x.Cols, rows)
			kernel.Copy(lent, x.Sub(at, 0, n, x.Cols))
			if !yield(Matrix(lent), nil) {
				return
			}
		}
	}
}

// same reports whether two results agree to the last bit, except labels where one has
// none, and traces, which may differ by tolerance times the first inertia.
func same(a, b *Result, tolerance float64) bool {
	return a.Inertia == b.Inertia && slices.Equal(a.Centers.Data, b.Centers.Data) &&
		slices.EqualFunc(a.Trace, b.Trace, func(x, y float64) bool { return math.Abs(x-y) <= tolerance*a.Trace[0] }) &&
		slices.Equal(a.Sizes, b.Sizes) && a.Converged == b.Converged && a.Restart == b.Restart &&
		(a.Labels == nil || b.Labels == nil || slices.Equal(a.Labels, b.Labels))
}

// compact copies rows without gaps.
func compact(x matrix) matrix {
	y := kernel.RowMajor(make([]float64, x.Rows*x.Cols), x.Rows, x.Cols, x.Cols)
	kernel.Copy(y, x)
	return y
}
