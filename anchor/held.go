package anchor

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
)

// For an estimate of G, the held-out rows give a second estimate of the estimated part. Together with the known part,
// it shows the error of the first estimate.

// knownRoot returns Λ^(−½)Uᵀ, q×M, and q. The product of this matrix with C is the known part of features. Rotations
// of the rows of G do not change it.
func (g *Graph) knownRoot() (up kernel.Matrix[float64], q int) {
	q = len(g.knownB) / g.M
	up = kernel.RowMajor(slices.Clone(g.knownB), q, g.M, g.M) // Λ^½Uᵀ, whose rows have the squares Λ
	for i := range q {
		row := up.Data[i*g.M:][:g.M]
		square := kernel.Dot(row, row)
		for j := range row {
			row[j] /= square
		}
	}
	return up, q
}

// knownNumbersTo writes the q known numbers of each listed feature to the rows of dst.
func (g *Graph) knownNumbersTo(team *kernel.Team, up kernel.Matrix[float64], list []int, dst kernel.Matrix[float64]) {
	c := kernel.RowMajor(make([]float64, len(list)*g.M), len(list), g.M, g.M)
	for a, j := range list {
		for l := range g.M {
			c.Data[a*g.M+l] = g.C[l*g.D+j]
		}
	}
	kernel.Gemm(team, 1, c, up.Trans(), dst)
}

// Deviation returns the root mean square error of the estimated cosines of the listed features, measured on the
// held-out rows. It returns NaN if G is not an estimate, or for fewer than two features.
func (g *Graph) Deviation(threads int, list []int) float64 {
	if g.Held == nil || len(list) < 2 {
		return math.NaN()
	}
	up, q := g.knownRoot()
	known := kernel.RowMajor(make([]float64, len(list)*q), len(list), q, q)
	g.knownNumbersTo(kernel.NewTeam(threads), up, list, known)
	total, pairs := 0.0, 0
	for a, i := range list {
		for b, j := range list[:a] {
			size := math.Sqrt(g.G.At(i, i) * g.G.At(j, j))
			if !(size > 0) {
				continue
			}
			off := (g.G.At(i, j) - kernel.Dot(known.Data[a*q:][:q], known.Data[b*q:][:q]) - g.Held.At(i, j)) / size
			total += off * off
			pairs++
		}
	}
	// The variance of the difference of the two estimates is the sum of their variances, which are inverse to the
	// numbers of rows.
	main, heldRank := float64(g.G.Rank-q), float64(g.Held.Rank)
	return math.Sqrt(total / float64(pairs) * heldRank / (heldRank + main))
}

// exhaustedShare: if the other features leave less than this share of a feature's sum of squares, that part is
// rounding.
const exhaustedShare = 1e-12

// HeldErrors returns F(S)/F(∅) after each feature of the order, measured on the known part of G and, for the rest, on
// the held-out rows. The weights by which the features of S explain the others come from G, which has not seen these
// rows, so the errors are not too small. The result is nil if G is not an estimate. The cost is 2m²D and 2k(2r + m)D
// flops, and the memory is [HeldBytes].
func (g *Graph) HeldErrors(threads int, order []int) []float64 {
	if g.Held == nil {
		return nil
	}
	team := kernel.NewTeam(threads)
	up, q := g.knownRoot()
	rank, heldRank := g.G.Rank, g.Held.Rank
	width := heldRank + q
	known := kernel.RowMajor(make([]float64, sketchBlock*q), sketchBlock, q, q)
	rows := make([]float64, sketchBlock*width)
	readRows := func(list []int) { // sets rows to the held-out and the known numbers of the features
		clear(known.Data)
		g.knownNumbersTo(team, up, list, known.Sub(0, 0, len(list), q))
		for i, j := range list {
			copy(rows[i*width:], g.Held.R[j*heldRank:][:heldRank])
			copy(rows[i*width+heldRank:], known.Data[i*q:][:q])
		}
	}
	// Make each feature of the order orthogonal to the previous ones, by the weights of G, and scale it to length 1
	// there.
	basis, heldBasis := make([]float64, len(order)*rank), make([]float64, len(order)*width)
	for a, p := range order {
		readRows(order[a : a+1])
		v, w := basis[a*rank:][:rank], heldBasis[a*width:][:width]
		copy(v, g.G.R[p*rank:][:rank])
		copy(w, rows[:width])
		for range 2 { // twice is enough (Kahan)
			for b := range a {
				x := -kernel.Dot(basis[b*rank:][:rank], v)
				kernel.Axpy(x, basis[b*rank:][:rank], v)
				kernel.Axpy(x, heldBasis[b*width:][:width], w)
			}
		}
		square, f := kernel.Dot(v, v), 0.0
		if square > exhaustedShare*g.G.At(p, p) {
			f = 1 / math.Sqrt(square)
		}
		for i := range v {
			v[i] *= f
		}
		for i := range w {
			w[i] *= f
		}
	}
	steps := len(order) + 1
	left, total := make([]float64, sketchBlock*steps), make([]float64, steps)
	var list []int
	for from := 0; from < g.D; from += sketchBlock {
		list = list[:0]
		for j := from; j < min(from+sketchBlock, g.D); j++ {
			list = append(list, j)
		}
		readRows(list)
		kernel.Each(team.Threads(), len(list), func(i int) {
			w, x, errors := rows[i*width:][:width], g.G.R[list[i]*rank:][:rank], left[i*steps:][:steps]
			errors[0] = kernel.Dot(w, w)
			for a := range order {
				kernel.Axpy(-kernel.Dot(basis[a*rank:][:rank], x), heldBasis[a*width:][:width], w)
				errors[a+1] = kernel.Dot(w, w)
			}
		})
		for i := range list {
			kernel.Axpy(1, left[i*steps:][:steps], total)
		}
	}
	for a := range order {
		total[a+1] /= total[0]
	}
	return total[1:]
}

// HeldBytes returns the memory that HeldErrors of k features needs in addition to a Graph of m anchors that was
// estimated by a sketch of the given rows.
func HeldBytes(m, k, rows int) int64 {
	held := int64(gram.SketchHeld(rows))
	rank, width := int64(gram.SketchRows(rows))-held+int64(m), held+int64(m)
	return 8*(int64(m)*int64(m)+sketchBlock*(2*int64(m)+width+int64(k)+2)+int64(k)*(rank+width)) + kernel.TeamBytes(m, sketchBlock) + buffers
}

// EstimateBytes returns as most the peak memory of Estimate for d features and m anchors, in addition to the Graph
// without G and two sketches of the given rows, including its result. stays is the memory that remains in place of the
// sketches.
func EstimateBytes(m, d, rows int) (most, stays int64) {
	r := int64(gram.SketchRows(rows))
	held := int64(gram.SketchHeld(rows))
	rank := r - held + int64(m)
	beside := 8 * (held*int64(d) + int64(m)*int64(m))
	stays = 8*max(2*r, rank)*int64(d) + beside
	most = beside + 8*(3*int64(m)*int64(m)+2*int64(m)*r+sketchBlock*(r+int64(m))+2*r*8) + linalg.SymmetricEigenBytes(m)
	if rank > 2*r {
		most += 8 * rank * int64(d)
	}
	return most + kernel.TeamBytes(m, d) + kernel.TeamBytes(m, int(r)) + buffers, stays
}
