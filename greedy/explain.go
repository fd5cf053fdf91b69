package greedy

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// Explain says what the features chosen, in that order, explain of all d: what [Select] returns for them as
// Keep but for Scores. With the order given nothing needs the criterion of the others: it takes kd + k²d
// of G in full, and 2krd flops more of a factor of r rows, whose readings the columns of 32 features share. It
// holds [ExplainBytes].
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
	scale := unitOf(diag)
	for i, v := range diag {
		if !(v >= 0 && v <= math.MaxFloat64) {
			return nil, badEntry("G", i, i, v)
		}
		diag[i] = v * scale
	}
	m := &memory{d: g.D, gram: g, gUnit: scale, workers: opt.Threads, team: kernel.NewTeam(opt.Threads)}
	m.criterion = newCriterion(make([]float64, g.D), diag, true, nil)
	r := newRecorder(m.criterion)
	columns := kernel.RowMajor(make([]float64, min(together, len(chosen))*g.D), min(together, len(chosen)), g.D, g.D)
	still := make([]float64, g.D) // h, with which f stays 0
	for turn, p := range chosen {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if turn%together == 0 {
			m.columnsTo(columns, chosen[turn:min(turn+together, len(chosen))])
		}
		if !m.alive[p] {
			r.Redundant = append(r.Redundant, p)
			m.retire(p)
			r.add(p, 0, nil, m.criterion)
			continue
		}
		column := columns.Data[turn%together*g.D:][:g.D]
		if i := slices.IndexFunc(column, func(x float64) bool { return !(math.Abs(x) <= math.MaxFloat64) }); i >= 0 {
			return nil, badEntry("G", i, p, column[i]/scale)
		}
		omega := slices.Clone(column)
		m.deflate(omega, m.omegas, p)
		m.clearChosen(omega)
		floats.Scale(1/math.Sqrt(m.g[p]), omega)
		m.omegas = append(m.omegas, omega)
		m.advance(p, &step{omega: omega, h: still})
		r.add(p, 0, column, m.criterion)
	}
	res := r.finish(opt)
	res.Scores = nil
	return res, nil
}

// ExplainBytes is what [Explain] holds beside G to explain d features by k, where rank is not 0 beside a factor of
// so many rows.
func ExplainBytes(d, k, rank int) int64 {
	bytes := 8 * int64(d) * int64(k+together+24)
	if rank > 0 {
		bytes += 16*int64(together)*int64(rank) + kernel.TeamBytes(d, rank) + gram.PanelBytes(rank)
	}
	return bytes
}
