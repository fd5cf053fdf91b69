package survey

import (
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/spectral"
	"github.com/ufs-stream/ufs-stream/stream"
)

// surveyCounts surveys rows that are 0 almost everywhere, by their entries alone: rows of length 1 make the graph. There is no surrogate,
// as it would be dense, and no column is noise: a rare word goes with few others by its nature.
func (l *look) surveyCounts() error {
	l.Floor = 0
	if l.Cosine {
		l.Power = countsPower
	}
	factor := l.factors(l.table)
	points := l.thinPoints(factor)
	if err := l.ctx.Err(); err != nil {
		return err
	}
	g, err := anchor.AmongThin(points, l.table.Cols, anchor.Options{Neighbors: l.opt.Neighbors, Threads: l.team.Threads(), Limit: l.opt.Limit})
	if err != nil {
		return err
	}
	k, err := spectral.Diffuse(l.team, g, l.opt.Diffusion)
	if err != nil {
		return err
	}
	squares := thinSquares(points, l.m, l.table.Cols)
	for j, v := range squares {
		if v > 0 {
			l.Shares[j] = min(k.A[j]/v, 1)
		}
	}
	l.Norm, l.Eigenvalues, l.Warnings = k.Norm, k.Eigenvalues, k.Warnings
	l.Clusters.Trusted, l.Dependence.Trusted = true, true
	return nil
}

// thinPoints are the anchors by their entries, of length 1 if rows are compared by the cosine.
func (l *look) thinPoints(factor []float64) *stream.CSR {
	out := &stream.CSR{RowPtr: make([]int, 1, l.m+1)}
	for i := range l.m {
		from, length := len(out.Value), 0.0
		l.eachEntry(i*l.table.Rows/l.m, func(j int, v float64) {
			if v *= factor[j]; v != 0 {
				out.Index, out.Value = append(out.Index, int32(j)), append(out.Value, v)
				length = math.Hypot(length, v)
			}
		})
		if l.Cosine && length > 0 {
			for e := range out.Value[from:] {
				out.Value[from+e] /= length
			}
		}
		out.RowPtr = append(out.RowPtr, len(out.Value))
	}
	return out
}

// eachEntry calls do for the entries of row i that are not 0.
func (l *look) eachEntry(i int, do func(j int, v float64)) {
	if t := l.table.Thin; t != nil {
		for e := t.RowPtr[i]; e < t.RowPtr[i+1]; e++ {
			do(int(t.Index[e]), t.Value[e])
		}
		return
	}
	for j, v := range l.table.Values[i*l.table.Cols:][:l.table.Cols] {
		if v != 0 {
			do(j, v)
		}
	}
}

// thinSquares are the squared lengths of the centred columns of m thin rows.
func thinSquares(p *stream.CSR, m, d int) []float64 {
	squares, sums := make([]float64, d), make([]float64, d)
	for e, j := range p.Index {
		sums[j] += p.Value[e]
		squares[j] += p.Value[e] * p.Value[e]
	}
	for j, s := range sums {
		squares[j] = max(squares[j]-s*s/float64(m), 0)
	}
	return squares
}
