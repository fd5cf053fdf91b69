package greedy

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// Explain computes how much of all d features the chosen features explain, in their order. The result is the same as
// from [Select] with the chosen features as Keep, but without Scores. As the order is given, the criterion of the
// choice is not computed. The cost is kd + k²d flops for k chosen features and G in full. If G is a factor of r rows,
// its columns cost 2krd flops more, and it is read once for every 32 chosen features. For memory, see [ExplainBytes].
func Explain(ctx context.Context, g *gram.Matrix, chosen []int, threads int) (*Result, error) {
	opt := Options{K: len(chosen), Keep: chosen, Threads: threads}
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	opt = opt.withDefaults(g.D)
	if err := g.Check(); err != nil {
		return nil, err
	}
	diag := g.Diagonal(opt.Threads)
	scale := unitScale(diag)
	for i, v := range diag {
		if !(v >= 0 && v <= math.MaxFloat64) {
			return nil, errBadEntry("G", i, i, v)
		}
		diag[i] = v * scale
	}
	m := &gramEngine{d: g.D, gram: g, gUnit: scale, workers: opt.Threads, team: kernel.NewTeam(opt.Threads)}
	m.criterion = newCriterion(make([]float64, g.D), diag, true, nil)
	r := newRecorder(m.criterion)
	columns := kernel.RowMajor(make([]float64, min(upsilonsPerPanel, len(chosen))*g.D), min(upsilonsPerPanel, len(chosen)), g.D, g.D)
	zeroH := make([]float64, g.D) // h = 0 leaves f at 0
	for turn, p := range chosen {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if turn%upsilonsPerPanel == 0 {
			m.columnsTo(columns, chosen[turn:min(turn+upsilonsPerPanel, len(chosen))])
		}
		if !m.alive[p] {
			r.Redundant = append(r.Redundant, p)
			m.retireFeature(p)
			r.recordFeature(p, 0, nil, m.criterion)
			continue
		}
		column := columns.Data[turn%upsilonsPerPanel*g.D:][:g.D]
		if i := slices.IndexFunc(column, func(x float64) bool { return !(math.Abs(x) <= math.MaxFloat64) }); i >= 0 {
			return nil, errBadEntry("G", i, p, column[i]/scale)
		}
		omega := slices.Clone(column)
		m.deflateVector(omega, m.omegas, p)
		m.clearChosen(omega)
		floats.Scale(1/math.Sqrt(m.g[p]), omega)
		m.omegas = append(m.omegas, omega)
		m.applyStep(p, &choiceStep{omega: omega, h: zeroH})
		r.recordFeature(p, 0, column, m.criterion)
	}
	res := r.finishResult(opt)
	res.Scores = nil
	return res, nil
}

// ExplainBytes returns the memory that [Explain] needs in addition to G, to explain d features by k features. For a
// factor, rank is its number of rows; for G in full it is 0.
func ExplainBytes(d, k, rank int) int64 {
	bytes := 8 * int64(d) * int64(k+upsilonsPerPanel+24)
	if rank > 0 {
		bytes += 16*int64(upsilonsPerPanel)*int64(rank) + kernel.TeamBytes(d, rank) + gram.PanelBytes(rank)
	}
	return bytes
}
