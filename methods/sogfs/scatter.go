package sogfs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/rowsparse"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

// scatterMatrix is XᵀLX for changing graphs: d×d numbers, or a product with the rows if these are few.
type scatterMatrix struct {
	matrix    rowsparse.Matrix
	product   *rowsparse.Product     // nil if XᵀLX is stored as numbers
	laplacian kernel.Matrix[float64] // L, for a product
	numbers   []float64              // XᵀLX, d×d
	panel     []float64              // scratch of rowsparse.WriteScatter
}

func (s *scatterMatrix) layOut(l *room.Layout, n, d int) {
	if rowsparse.IsWide(int64(n), d) {
		s.laplacian = kernel.NewMatrix[float64](l, n, n)
		return
	}
	s.numbers, s.panel = room.Slice[float64](l, d*d), rowsparse.LayOutPanel(l, n, d)
}

func (s *scatterMatrix) prepareMatrix(ctx context.Context, team *kernel.Team, x kernel.Matrix[float64], dimensions int) (err error) {
	s.layOut(nil, x.Rows, x.Cols)
	if s.numbers != nil {
		s.matrix = rowsparse.NewFull(team, s.numbers, x.Cols, dimensions)
		return nil
	}
	s.product, err = rowsparse.NewProduct(ctx, team, x, dimensions)
	s.matrix = s.product
	return err
}

func (s *scatterMatrix) setGraph(ctx context.Context, team *kernel.Team, x kernel.Matrix[float64], g *rows.Graph) error {
	if s.product != nil {
		g.WriteLaplacian(s.laplacian)
		return s.product.SetLaplacian(s.laplacian)
	}
	return rowsparse.WriteScatter(ctx, team, s.numbers, s.panel, x, func(dst []float64, first, h int) {
		g.LaplacianTo(team.Threads(), dst, x.Data, first, h, x.Cols)
	})
}
