package sogfs

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// startSimilarities finds the first S, from the distances d of the rows of X, and α. Let the neighbours of row i be
// sorted by d. Then α_i = (k·d_{i,k+1} − Σ_{j≤k} d_ij)/2 is the smallest α for which the best row of S has k entries,
// s_ij = (d_{i,k+1} − d_ij)/(2α_i), and α is the mean of α_i. If there are only k other rows, the last takes the place of
// the one after it. It also sets the first λ.
func (p *problem) startSimilarities(ctx context.Context) error {
	n, k := p.n, p.k
	listed := min(k+1, n-1)
	near, err := rows.FindNearest(ctx, p.team, n, p.d, listed, rows.PartBytes(int64(n), p.d), rows.PassInMemory(p.x))
	if err != nil {
		return err
	}
	mean := 0.0
	for i := range n {
		squares := near[i*listed:][:listed]
		last, twice := squares[listed-1].Square, 0.0 // twice is 2α_i
		for _, o := range squares[:k] {
			twice += last - o.Square
			mean += o.Square / float64(n*k)
		}
		p.alpha += twice / float64(2*n)
		for j, o := range squares[:k] {
			p.near[i*k+j], p.s[i*k+j] = o, 1/float64(k)
			if twice > 0 {
				p.s[i*k+j] = (last - o.Square) / twice
			}
		}
	}
	if p.alpha == 0 { // all neighbours of a row are equally far
		p.alpha = mean
	}
	p.lambda = p.alpha // as in the program
	if p.alpha == 0 {
		return stream.Dataf("", "every row equals its nearest ones: no feature separates them; raise {neighbors}")
	}
	return nil
}

// noValue is the share of the longest row of X below which an entry of XW is rounding error.
const noValue = 1e-12

// updateSimilarities sets S, step 1 of the package comment. It searches neighbours among the points (Wᵀxᵢ, √λ·fᵢ), whose
// squared distances are d_ij.
func (p *problem) updateSimilarities(ctx context.Context) error {
	m, c, k := p.w.Cols, p.c, p.k
	linalg.MultiplyTo(p.team, p.xw, 1, p.x, p.w)
	root := math.Sqrt(p.lambda)
	for i := range p.n {
		point := p.points.Data[i*(m+c):][:m+c]
		for j, v := range p.xw.Data[i*m:][:m] {
			if point[j] = v; math.Abs(v) <= noValue*p.longest {
				point[j] = 0
			}
		}
		for j, v := range p.f.Data[i*c:][:c] {
			point[m+j] = root * v
		}
	}
	near, err := rows.FindNearest(ctx, p.team, p.n, m+c, k, rows.PartBytes(int64(p.n), m+c), rows.PassInMemory(p.points))
	if err != nil {
		return err
	}
	copy(p.near, near)
	kernel.Each(p.team.Threads(), p.n, func(i int) {
		writeSimplexPoint(p.s[i*k:][:k], p.near[i*k:][:k], p.alpha)
	})
	return nil
}

// writeSimplexPoint writes the point of the simplex nearest to −d/(2α) to s, for the ascending squared distances d. It
// minimizes Σ(d_j s_j + α s_j²) over s ≥ 0 with the sum 1.
func writeSimplexPoint(s []float64, d []rows.Neighbour, alpha float64) {
	nearest, sum, level := d[0].Square, 0.0, 0.0 // a common addend of d does not matter
	for j, o := range d {
		s[j] = 0
		sum += o.Square - nearest
		if next := (2*alpha + sum) / float64(j+1); o.Square-nearest < next {
			level = next
		} else {
			break
		}
	}
	for j, o := range d {
		s[j] = max(level-(o.Square-nearest), 0) / (2 * alpha)
	}
}
