package rows

import (
	"context"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ReadDense reads all n rows of d features into a row-major matrix. It calls the function put with chunks of rows, and
// put must write the scaled rows of the chunk to dst, column by column. Column j begins at dst[j·ld]. ReadDense uses at
// most the memory given by [DenseBytes]. It fails if the source does not have n rows.
func (s *Source) ReadDense(ctx context.Context, workers, n, d int, put func(dst []float64, ld int, c *stream.Chunk)) (kernel.Matrix[float64], error) {
	x, block := layOutDense(nil, n, d) // a chunk of sparse rows may have more rows than the block
	err := s.ReadRows(ctx, Pass{Purpose: "loading rows", Rows: int64(n), Height: block.Rows, Place: func(b Block, c *stream.Chunk) error {
		h := c.Rows
		put(block.Data, h, c)
		to := x.Data[(b.First+b.Rows)*d:]
		EachRun(workers, h, func(_, from, until int) {
			const wide = 64 // columns at a time; their cache lines for some rows fit into the first-level cache
			for left := 0; left < d; left += wide {
				for i := from; i < until; i++ {
					for j := left; j < min(d, left+wide); j++ {
						to[i*d+j] = block.Data[j*h+i]
					}
				}
			}
		})
		return nil
	}})
	return x, err
}

// DenseBytes returns an upper bound of the memory of [Source.ReadDense].
func DenseBytes(n int64, d int) int64 {
	return room.Measure(func(l *room.Layout) { layOutDense(l, int(n), d) })
}

func layOutDense(l *room.Layout, n, d int) (all, block kernel.Matrix[float64]) {
	return kernel.NewMatrix[float64](l, n, d), kernel.NewMatrix[float64](l, min(n, stream.BlockRows(d)), d)
}

// PassInMemory returns a PassFunc over rows that are in memory, for [FindNearest].
func PassInMemory(x kernel.Matrix[float64]) PassFunc {
	return func(ctx context.Context, _ string, visit func(int, kernel.Matrix[float64]) error) error {
		const block = 1024 // rows between two checks of the context
		return EachBlock(ctx, (x.Rows+block-1)/block, func(b int, _ [][]byte) error {
			return visit(b*block, x.Sub(b*block, 0, min(block, x.Rows-b*block), x.Cols))
		})
	}
}

// CentreColumns subtracts the means of the columns of x, row-major without gaps.
func CentreColumns(x kernel.Matrix[float64]) {
	mean := make([]float64, x.Cols)
	for range 2 { // the second time removes the rounding error of the first mean
		clear(mean)
		for i := range x.Rows {
			kernel.Axpy(1, x.Data[i*x.Cols:][:x.Cols], mean)
		}
		for j := range mean {
			mean[j] /= float64(x.Rows)
		}
		for i := range x.Rows {
			kernel.Axpy(-1, mean, x.Data[i*x.Cols:][:x.Cols])
		}
	}
}
