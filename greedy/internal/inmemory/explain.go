package inmemory

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// ExplainFeatures implements greedy.Explain: it computes how much of all features the chosen ones explain.
func ExplainFeatures(ctx context.Context, g *gram.Matrix, chosen []int, threads int) (*selection.Result, error) {
	opt := selection.Options{K: len(chosen), Keep: chosen, Threads: threads}
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	opt = opt.WithDefaults(g.D)
	if err := g.Check(); err != nil {
		return nil, err
	}
	diag := g.Diagonal(opt.Threads)
	scale := target.UnitScale(diag)
	for i, v := range diag {
		if !(v >= 0 && v <= math.MaxFloat64) {
			return nil, engine.ErrBadEntry("G", i, i, v)
		}
		diag[i] = v * scale
	}
	m := &engine.Gram{D: g.D, Matrix: g, GUnit: scale, Workers: opt.Threads, Team: kernel.NewTeam(opt.Threads)}
	columns, zeros := layOutColumns(nil, g.D, len(chosen)) // f⁰ = 0 and h = 0 leave f at 0
	m.Criterion = engine.NewCriterion(zeros, diag, true, nil)
	r := engine.NewRecorder(m.Criterion, nil)
	for turn, p := range chosen {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if turn%engine.UpsilonsPerPanel == 0 {
			m.ColumnsTo(columns, chosen[turn:min(turn+engine.UpsilonsPerPanel, len(chosen))])
		}
		if !m.Alive[p] {
			r.Redundant = append(r.Redundant, p)
			m.RetireFeature(p)
			r.RecordFeature(p, 0, nil, m.Criterion)
			continue
		}
		column := columns.Data[turn%engine.UpsilonsPerPanel*g.D:][:g.D]
		if i := slices.IndexFunc(column, func(x float64) bool { return !(math.Abs(x) <= math.MaxFloat64) }); i >= 0 {
			return nil, engine.ErrBadEntry("G", i, p, column[i]/scale)
		}
		omega := slices.Clone(column)
		m.DeflateVector(omega, m.Omegas, p)
		m.ClearChosen(omega)
		floats.Scale(1/math.Sqrt(m.G[p]), omega)
		m.Omegas = append(m.Omegas, omega)
		m.ApplyStep(p, &engine.Step{Omega: omega, H: zeros})
		r.RecordFeature(p, 0, column, m.Criterion)
	}
	res := r.FinishResult(opt)
	res.Scores = nil
	return res, nil
}

// ExplainBytes returns the memory of ExplainFeatures in addition to G, as greedy.ExplainBytes describes.
func ExplainBytes(d, k, rank int) int64 {
	return room.Measure(func(l *room.Layout) {
		layOutColumns(l, d, k)
		engine.LayOutSelection(l, d, k)
		if rank > 0 {
			l.Add(16*int64(engine.UpsilonsPerPanel)*int64(rank) + kernel.TeamBytes(d, rank) + gram.PanelBytes(rank))
		}
	})
}

func layOutColumns(l *room.Layout, d, k int) (columns kernel.Matrix[float64], zeros []float64) {
	return kernel.NewMatrix[float64](l, min(engine.UpsilonsPerPanel, k), d), room.Slice[float64](l, d)
}
