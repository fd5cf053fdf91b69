package greedy

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// makeExact recomputes f of the listed features, or of all live features if more than d/8 are listed, as the squared
// norms of columns of the residual target. In turn t this costs 2·c·t flops for each feature and c rows of H.
func (m *gramEngine) makeExact(ctx context.Context, features []int) error {
	if 8*len(features) > m.d {
		features = features[:0]
		for i, ok := range m.alive {
			if ok {
				features = append(features, i)
			}
		}
		m.recountUpsilons()
	}
	if err := m.rebase.rebaseSmallResidual(m); err != nil {
		return err
	}
	f, reach := make([]float64, residualColumns), make([]float64, residualColumns)
	for len(features) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch := features[:min(len(features), residualColumns)]
		features = features[len(batch):]
		c := m.targetHeight()
		rows := m.targetColumnScratch(len(batch))
		m.target.writeColumns(m.team, rows, m.hUnit, batch, 0)
		each := func(visit func(i int, column []float64)) {
			kernel.Each(m.workers, len(batch), func(i int) {
				column := rows.Data[i*c:][:c]
				if m.target.isGram {
					m.clearChosen(column)
				}
				visit(i, column)
			})
		}
		each(func(i int, column []float64) { reach[i] = floats.Norm(column, 2) })
		m.deflateRows(rows, batch)
		each(func(i int, column []float64) { f[i] = kernel.Dot(column, column) })
		for i, j := range batch {
			m.setExact(j, f[i], reach[i])
		}
	}
	return nil
}

// deflateRows subtracts Σ υ_r ω_r[i], summed over the choices r, from the row of each listed feature i.
func (m *gramEngine) deflateRows(rows kernel.Matrix[float64], features []int) {
	c, n := m.targetHeight(), len(features)
	if len(m.upsilonPanel) == 0 {
		m.upsilonPanel = make([]float64, upsilonsPerPanel*c)
	}
	var coef [residualColumns * upsilonsPerPanel]float64
	for first := 0; first < len(m.upsilons); first += upsilonsPerPanel {
		turns := min(upsilonsPerPanel, len(m.upsilons)-first)
		for r := range turns {
			copy(m.upsilonPanel[r*c:], m.upsilons[first+r])
			for i, j := range features {
				coef[i*turns+r] = m.omegas[first+r][j]
			}
		}
		kernel.Gemm(m.team, -1, kernel.RowMajor(coef[:], n, turns, turns), kernel.RowMajor(m.upsilonPanel, turns, c, c), rows)
	}
}

func taskCount(n, size int) int { return (n + size - 1) / size }

func taskRange(task, size, n int) (from, to int) { return task * size, min((task+1)*size, n) }

// recountUpsilons removes the rows of chosen features from Σ ‖υ_r‖² if H = G. The rows of chosen features no longer
// count in error bounds, and may have been most of the sum.
func (m *gramEngine) recountUpsilons() {
	if !m.target.isGram {
		return
	}
	m.upsilonSquares = 0
	for _, v := range m.upsilons {
		m.clearChosen(v)
		m.upsilonSquares += kernel.Dot(v, v)
	}
}
