package greedy

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

const (
	// settleTogether features share each υ while it is in the cache.
	settleTogether = 4
	// maxSettlers bounds the scratch of settling, whatever the number of workers.
	maxSettlers = 16
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
	c := m.height()
	f := make([]float64, len(features))
	reach := make([]float64, len(features))
	m.settlers(tasks(len(features), settleTogether), func(scratch []float64, task int) {
		from, to := span(task, settleTogether, len(features))
		columns := make([][]float64, to-from)
		for j := range columns {
			columns[j] = m.targetColumn(scratch[j*c:(j+1)*c], features[from+j])
			if m.target == nil {
				m.clearChosen(columns[j])
			}
			reach[from+j] = floats.Norm(columns[j], 2)
		}
		for r, v := range m.upsilons {
			for j, col := range columns {
				kernel.Axpy(-m.omegas[r][features[from+j]], v, col)
			}
		}
		for j, col := range columns {
			if m.target == nil {
				m.clearChosen(col)
			}
			f[from+j] = kernel.Dot(col, col)
		}
	})
	for j, i := range features {
		m.criterion.settle(i, f[j], reach[j])
	}
	return ctx.Err()
}

// settlers shares n tasks among the workers that have scratch.
func (m *memory) settlers(n int, do func(scratch []float64, task int)) {
	kernel.Each(m.workers, len(m.scratch), func(worker int) {
		for task := worker; task < n; task += len(m.scratch) {
			do(m.scratch[worker], task)
		}
	})
}

// tasks is the number of tasks of the given size that cover n items; span is the
// half-open range of one of them.
func tasks(n, size int) int { return (n + size - 1) / size }

func span(task, size, n int) (from, to int) { return task * size, min((task+1)*size, n) }

// respend takes the chosen rows out of Σ ‖υ_r‖²: they no longer count, and may
// have been most of it.
func (m *memory) respend() {
	if m.target != nil {
		return
	}
	m.spent = 0
	for _, v := range m.upsilons {
		m.clearChosen(v)
		m.spent += kernel.Dot(v, v)
	}
}
