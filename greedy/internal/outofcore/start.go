package outofcore

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/scan"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/greedy/internal/triangle"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

func (s *streamEngine) startGivenTarget(ctx context.Context, excluded []bool) error {
	g0 := make([]float64, s.rows.D)
	err := s.rows.RunPass(ctx, scan.Pass{Purpose: "start of the criterion", Sums: append(s.sketch.PassSums(), g0), AddBlock: func(b *scan.Block) {
		s.rows.AddSquares(b, g0)
		s.sketch.AddRows(s.rows, b)
	}, Finish: func() {
		s.rows.UnshiftSquares(g0)
		s.sketch.RemoveShift(s.rows)
	}})
	if err != nil {
		return err
	}
	if excluded != nil {
		if err := s.givenTarget.StartLayer(s.rows.Team, excluded); err != nil {
			return err
		}
	}
	if s.target, err = engine.NewGram(nil, g0, s.givenTarget, s.rows.Workers); err == nil && excluded != nil {
		err = s.target.StartLayer(g0, excluded)
	}
	if err != nil {
		return err
	}
	s.Criterion = s.target.Criterion
	return nil
}

func (s *streamEngine) StartNextLayer(ctx context.Context, excluded []bool) (*engine.Criterion, error) {
	s.omegas = nil
	s.sketch.Reset()
	var err error
	switch {
	case s.givenTarget != nil:
		err = s.startGivenTarget(ctx, excluded)
	case s.target != nil:
		err = s.startPartitionTarget(ctx, s.target.TargetHeight(), excluded)
	default:
		err = s.startCriterion(ctx, s.refreshGramFloats, excluded)
	}
	if err != nil {
		return nil, err
	}
	for k := range s.slotFeature {
		s.slotFeature[k], s.hasProduct[k] = -1, false
	}
	for i := range s.slotOf {
		s.slotOf[i] = -1
	}
	return s.Criterion, nil
}

func (s *streamEngine) startCriterion(ctx context.Context, maxNumbers int64, excluded []bool) error {
	d := s.rows.D
	p := &triangle.Passes{Rows: s.rows, Sketch: s.sketch, Chosen: excluded, Purpose: "start of the criterion", MaxNumbers: maxNumbers}
	var f, diag, size []float64
	var err error
	if s.entryCount > 0 && triangle.CanStartByEntries(s.rows) {
		f, diag, size, err = p.StartByEntries(ctx)
	} else {
		f, _, diag, err = p.ResidualNorms(ctx, nil, true)
	}
	if err != nil {
		return err
	}
	for i, x := range diag {
		if !(x >= 0 && f[i] <= math.MaxFloat64) {
			return engine.ErrBadEntry("G", i, i, x/s.rows.Unit)
		}
	}
	s.Criterion = engine.NewCriterion(f, diag, true, excluded)
	for i, v := range size {
		s.ErrBound[i] = engine.RoundingBound(d) * v
	}
	return nil
}

// startPartitionTarget computes H = BᵀA, g⁰ and the sketch for Algorithm 2 in one pass.
func (s *streamEngine) startPartitionTarget(ctx context.Context, c int, excluded []bool) error {
	d := s.rows.D
	groups := target.GroupsWithout(s.groups, excluded)
	h, g0 := room.MakeSlice[float64](c*d), make([]float64, d)
	err := s.rows.RunPass(ctx, scan.Pass{Purpose: "sums of the groups", Sums: append(s.sketch.PassSums(), h, g0), AddBlock: func(b *scan.Block) {
		if b.Sparse == nil {
			s.scratch = rows.ResizeSlice(s.scratch, c*b.Rows)
		}
		s.rows.AddGroupProducts(b, h, groups, c, s.scratch)
		s.rows.AddSquares(b, g0)
		s.sketch.AddRows(s.rows, b)
	}, Finish: func() {
		s.rows.UnshiftGroupProducts(h, groups, c)
		s.rows.UnshiftSquares(g0)
		s.sketch.RemoveShift(s.rows)
	}})
	if err != nil {
		return err
	}
	if s.target, err = engine.NewGram(nil, g0, target.NewGiven(selection.Target{Rows: c, H: h}, d), s.rows.Workers); err == nil && excluded != nil {
		err = s.target.StartLayer(g0, excluded)
	}
	if err != nil {
		return err
	}
	s.Criterion = s.target.Criterion
	return nil
}
