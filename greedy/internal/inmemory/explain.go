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
	m.Criterion = engine.NewCriterion(make([]float64, g.D), diag, true, nil)
	r := engine.NewRecorder(m.Criterion)
	columns := kernel.RowMajor(make([]float64, min(engine.UpsilonsPerPanel, len(chosen))*g.D), min(engine.UpsilonsPerPanel, len(chosen)), g.D, g.D)
	zeroH := make([]float64, g.D) // h = 0 leaves f at 0
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
		m.ApplyStep(p, &engine.Step{Omega: omega, H: zeroH})
		r.RecordFeature(p, 0, column, m.Criterion)
	}
	res := r.FinishResult(opt)
	res.Scores = nil
	return res, nil
}

// ExplainBytes returns the memory of ExplainFeatures in addition to G, as greedy.ExplainBytes describes.
func ExplainBytes(d, k, rank int) int64 {
	bytes := 8 * int64(d) * int64(k+engine.UpsilonsPerPanel+24)
	if rank > 0 {
		bytes += 16*int64(engine.UpsilonsPerPanel)*int64(rank) + kernel.TeamBytes(d, rank) + gram.PanelBytes(rank)
	}
	return bytes
}
