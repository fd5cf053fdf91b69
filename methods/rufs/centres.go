package rufs

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// centreSweeps is the number of sweeps over the rows of F with one set of weights. A sweep minimizes row by row.
const centreSweeps = 5

// updateCentres lowers Σ√(‖x_i − g_iF‖² + ε) over centres F ≥ 0, for rows x_i of X and g_i of G (see the package
// comment). It lowers the weighted sum of the squares ‖x_i − g_iF‖². The weight of row i is 1/(2√(‖x_i − g_iF‖² + ε))
// for the previous F. Up to a constant, the weighted sum of squares is an upper bound of the objective. Its minimum in
// one row of F has a closed form if the other rows are fixed.
func (p *problem) updateCentres() {
	c, d := p.c, p.d
	linalg.MultiplyTo(p.team, p.xf, 1, p.x, p.f.Trans())
	linalg.MultiplyTo(p.team, p.ff, 1, p.f, p.f.Trans())
	for i := range p.n {
		row := p.g.Data[i*c:][:c]
		square := p.squares[i]
		for k, v := range row {
			square += v * (kernel.Dot(p.ff.Data[k*c:][:c], row) - 2*p.xf.Data[i*c+k])
		}
		weight := 0.5 / math.Sqrt(max(square, 0)+p.epsilonX)
		for k, v := range row {
			p.weighted.Data[i*c+k] = weight * v
		}
	}
	gg, gx := p.gg, p.gx
	linalg.MultiplyTo(p.team, gg, 1, p.weighted.Trans(), p.g)
	linalg.MultiplyTo(p.team, gx, 1, p.weighted.Trans(), p.x)
	const run = 256 // number of features in a task; features are independent of each other
	kernel.Each(p.workers, (d+run-1)/run, func(t int) {
		from, to := t*run, min(d, (t+1)*run)
		for range centreSweeps {
			for k := range c {
				pivot := gg.Data[k*c+k]
				if !(pivot > 0) {
					continue
				}
				for j := from; j < to; j++ {
					v := gx.Data[k*d+j]
					for o := range c {
						v -= gg.Data[k*c+o] * p.f.Data[o*d+j]
					}
					p.f.Data[k*d+j] = max(p.f.Data[k*d+j]+v/pivot, 0)
				}
			}
		}
	})
}
