package engine

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// MakeExact recomputes the numerators f of the criterion for the listed features, because updates have added rounding
// errors to them. If more than d/8 features are listed, it recomputes f of all live features. Each f is the squared norm
// of a column of the residual target, of height c, and costs 2·c·t flops after t choices.
func (m *Gram) MakeExact(ctx context.Context, features []int) error {
	if 8*len(features) > m.D {
		features = features[:0]
		for i, ok := range m.Alive {
			if ok {
				features = append(features, i)
			}
		}
		m.recountUpsilons()
	}
	if err := m.rebase.rebaseSmallResidual(m); err != nil {
		return err
	}
	f, reach := m.columnSums[:target.ResidualColumns], m.columnSums[target.ResidualColumns:]
	for len(features) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch := features[:min(len(features), target.ResidualColumns)]
		features = features[len(batch):]
		c := m.TargetHeight()
		rows := m.TargetColumnScratch(len(batch))
		m.Target.WriteColumns(m.Team, rows, m.HUnit, batch, 0)
		each := func(visit func(i int, column []float64)) {
			kernel.Each(m.Workers, len(batch), func(i int) {
				column := rows.Data[i*c:][:c]
				if m.Target.IsGram {
					m.ClearChosen(column)
				}
				visit(i, column)
			})
		}
		each(func(i int, column []float64) { reach[i] = floats.Norm(column, 2) })
		m.deflateRows(rows, batch)
		each(func(i int, column []float64) { f[i] = kernel.Dot(column, column) })
		for i, j := range batch {
			m.SetExact(j, f[i], reach[i])
		}
	}
	return nil
}

// deflateRows subtracts Σ υ_r ω_r[i], summed over the choices r, from the row of each listed feature i.
func (m *Gram) deflateRows(rows kernel.Matrix[float64], features []int) {
	c, n := m.TargetHeight(), len(features)
	for first := 0; first < len(m.Upsilons); first += UpsilonsPerPanel {
		turns := min(UpsilonsPerPanel, len(m.Upsilons)-first)
		for r := range turns {
			copy(m.upsilonPanel[r*c:], m.Upsilons[first+r])
			for i, j := range features {
				m.panelCoef[i*turns+r] = m.Omegas[first+r][j]
			}
		}
		kernel.Gemm(m.Team, -1, kernel.RowMajor(m.panelCoef, n, turns, turns), kernel.RowMajor(m.upsilonPanel, turns, c, c), rows)
	}
}

// recountUpsilons removes the rows of chosen features from Σ ‖υ_r‖² if H = G. The rows of chosen features no longer
// count in error bounds, and may have been most of the sum.
func (m *Gram) recountUpsilons() {
	if !m.Target.IsGram {
		return
	}
	m.UpsilonSquares = 0
	for _, v := range m.Upsilons {
		m.ClearChosen(v)
		m.UpsilonSquares += kernel.Dot(v, v)
	}
}
