package cpufs

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// scanRows makes the first pass. It computes G = XᵀX if planned, ‖X‖², the range of each cell, and a sample of the
// rows.
func (s *solver) scanRows(ctx context.Context, sample *anchor.Sampler) error {
	d := s.d
	s.low, s.high = make([]float64, d), make([]float64, d)
	squares := make([]float64, d)
	err := s.rows.eachBlock(ctx, "scanning", func(b *rowBlock) error {
		if sample != nil {
			if err := sample.Add(b.chunk); err != nil {
				return err
			}
		}
		kernel.Each(s.opt.Threads, d, func(j int) {
			x := b.x.Data[j*b.x.ColStride:][:b.x.Rows]
			if b.number == 0 {
				s.low[j], s.high[j] = x[0], x[0]
			}
			for _, v := range x {
				s.low[j], s.high[j] = min(s.low[j], v), max(s.high[j], v)
			}
			squares[j] += kernel.Dot(x, x)
		})
		if s.g != nil {
			kernel.Syrk(s.team, 1, b.x.Trans(), kernel.RowMajor(s.g, d, d, d))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, v := range squares {
		s.squares += v
	}
	switch {
	case s.rows.N == 0:
		return stream.Dataf("", "no rows to select from")
	case s.squares == 0:
		return stream.Dataf("", "every feature is constant")
	case !(s.squares <= math.MaxFloat64/maxWeight):
		return stream.Dataf("", "the sum of squares overflows; choose {scale} minmax")
	}
	if s.g != nil {
		kernel.MirrorUpper(s.opt.Threads, kernel.RowMajor(s.g, d, d, d))
	}
	return nil
}
