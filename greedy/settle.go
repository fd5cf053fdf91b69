package greedy

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// settle recomputes f of the listed features from G and H, as the squared norms of
// columns of the residual target. Cost 2·c·turn a feature.
func (m *memory) settle(ctx context.Context, features []int) error {
	if 8*len(features) > m.d {
		features = features[:0]
		for i, ok := range m.alive {
			if ok {
				features = append(features, i)
			}
		}
		m.respend()
	}
	if err := m.base.renew(m); err != nil {
		return err
	}
	f, reach := make([]float64, residualColumns), make([]float64, residualColumns)
	for len(features) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		some := features[:min(len(features), residualColumns)]
		features = features[len(some):]
		c := m.height()
		rows := m.block(len(some))
		m.target.rowsTo(m.team, rows, m.hUnit, some, 0)
		each := func(do func(i int, column []float64)) {
			kernel.Each(m.workers, len(some), func(i int) {
				column := rows.Data[i*c:][:c]
				if m.target.same {
					m.clearChosen(column)
				}
				do(i, column)
			})
		}
		each(func(i int, column []float64) { reach[i] = floats.Norm(column, 2) })
		m.deflateRows(rows, some)
		each(func(i int, column []float64) { f[i] = kernel.Dot(column, column) })
		for i, j := range some {
			m.criterion.settle(j, f[i], reach[i])
		}
	}
	return nil
}

// deflateRows subtracts Σ υ_r ω_r[i] from the rows, one for each feature i listed.
func (m *memory) deflateRows(rows kernel.Matrix[float64], features []int) {
	c, n := m.height(), len(features)
	if len(m.some) == 0 {
		m.some = make([]float64, together*c)
	}
	var coef [residualColumns * together]float64
	for first := 0; first < len(m.upsilons); first += together {
		turns := min(together, len(m.upsilons)-first)
		for r := range turns {
			copy(m.some[r*c:], m.upsilons[first+r])
			for i, j := range features {
				coef[i*turns+r] = m.omegas[first+r][j]
			}
		}
		kernel.Gemm(m.team, -1, kernel.RowMajor(coef[:], n, turns, turns), kernel.RowMajor(m.some, turns, c, c), rows)
	}
}

// tasks is the number of tasks of the given size that cover n items; span is the
// half-open range of one of them.
func tasks(n, size int) int { return (n + size - 1) / size }

func span(task, size, n int) (from, to int) { return task * size, min((task+1)*size, n) }

// respend takes the chosen rows out of Σ ‖υ_r‖²: they no longer count, and may
// have been most of it.
func (m *memory) respend() {
	if !m.target.same {
		return
	}
	m.spent = 0
	for _, v := range m.upsilons {
		m.clearChosen(v)
		m.spent += kernel.Dot(v, v)
	}
}
