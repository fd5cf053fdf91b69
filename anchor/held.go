package anchor

import (
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// For an estimate of G, the rows held out of the sketch give a second, independent estimate of the estimated part.
// Together with the part that the graph gives exactly, it shows the error of the first estimate.

// writeKnownPartRoot writes Λ^(−½)Uᵀ to up, q×M, for the q eigenpairs Λ, U of S that Estimate used. See [Graph] for S, C,
// G and M. The product of this matrix with C gives q numbers for each feature, from which the exactly known part of G
// follows. It does not change if the rows of the factor of G are rotated.
func (g *Graph) writeKnownPartRoot(up kernel.Matrix[float64]) {
	copy(up.Data, g.knownB) // Λ^½Uᵀ; the squared lengths of its rows are Λ
	for i := range up.Rows {
		row := up.Data[i*g.M:][:g.M]
		square := kernel.Dot(row, row)
		for j := range row {
			row[j] /= square
		}
	}
}

// addKnownPart adds the column of up·C of each listed feature to a row of dst. up is from writeKnownPartRoot. c is
// scratch of M numbers for each feature.
func (g *Graph) addKnownPart(team *kernel.Team, up, c kernel.Matrix[float64], list []int, dst kernel.Matrix[float64]) {
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
	q := len(g.knownB) / g.M
	up, known := kernel.NewMatrix[float64](nil, q, g.M), kernel.NewMatrix[float64](nil, len(list), q)
	g.writeKnownPartRoot(up)
	g.addKnownPart(kernel.NewTeam(threads), up, kernel.NewMatrix[float64](nil, len(list), g.M), list, known)
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
	// The variance of the difference between the two estimates is the sum of their variances. Each variance is
	// inversely proportional to the number of rows.
	main, heldRank := float64(g.G.Rank-q), float64(g.Held.Rank)
	return math.Sqrt(total / float64(pairs) * heldRank / (heldRank + main))
}

// exhaustedShare is a share of a feature's sum of squares. If the features chosen before leave less than this share
// unexplained, the remainder is rounding error.
const exhaustedShare = 1e-12

// HeldErrors returns F(S)/F(∅) after each feature of the order. F(S) is the squared error of reconstructing all
// features from S, the features so far. HeldErrors measures it on the known part of G and, for the rest, on the
// held-out rows. The weights by which the features of S explain the others come from G, which does not contain the
// held-out rows, so the errors are not underestimated. The result is nil if G is not an estimate. With k features in
// the order and a sketch of r rows, the cost is 2·m²·D + 2·k·(2·r + m)·D flops. [HeldBytes] gives the memory.
func (g *Graph) HeldErrors(threads int, order []int) []float64 {
	if g.Held == nil {
		return nil
	}
	team := kernel.NewTeam(threads)
	q, rank, heldRank := len(g.knownB)/g.M, g.G.Rank, g.Held.Rank
	width := heldRank + q
	var s heldScratch
	s.layOut(nil, g.M, q, rank, heldRank, len(order))
	g.writeKnownPartRoot(s.up)
	rows, basis, heldBasis, left, total := s.rows, s.basis, s.heldBasis, s.left, s.total
	readRows := func(list []int) { // sets rows to the held-out numbers and the known numbers of the features
		clear(s.known.Data)
		g.addKnownPart(team, s.up, s.columns.Sub(0, 0, len(list), g.M), list, s.known.Sub(0, 0, len(list), q))
		for i, j := range list {
			copy(rows[i*width:], g.Held.R[j*heldRank:][:heldRank])
			copy(rows[i*width+heldRank:], s.known.Data[i*q:][:q])
		}
	}
	// Make each feature of the order orthogonal to the previous ones, and scale it to length 1. The weights and lengths
	// come from G; the same operations are then applied to the held-out rows.
	for a, p := range order {
		readRows(order[a : a+1])
		v, w := basis[a*rank:][:rank], heldBasis[a*width:][:width]
		copy(v, g.G.R[p*rank:][:rank])
		copy(w, rows[:width])
		for range 2 { // orthogonalizing twice is enough (Kahan)
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

// HeldBytes returns the memory that HeldErrors needs for an order of k features. The Graph of m anchors, estimated from
// a sketch of the given number of rows, is not counted.
func HeldBytes(m, k, rows int) int64 {
	held := gram.SketchHeld(rows)
	return kernel.TeamBytes(m, sketchBlock) + bufferBytes + room.Measure(func(l *room.Layout) {
		new(heldScratch).layOut(l, m, m, gram.SketchRows(rows)-held+m, held, k)
	})
}

// heldScratch is the memory of HeldErrors for an order of k features. A feature has rank numbers in the factor, heldRank
// numbers in the held-out rows, and q numbers in the known part.
type heldScratch struct {
	up, columns, known                  kernel.Matrix[float64] // columns is the scratch of addKnownPart
	rows, basis, heldBasis, left, total []float64
}

func (s *heldScratch) layOut(l *room.Layout, m, q, rank, heldRank, k int) {
	width := heldRank + q
	s.up, s.columns, s.known = kernel.NewMatrix[float64](l, q, m), kernel.NewMatrix[float64](l, sketchBlock, m), kernel.NewMatrix[float64](l, sketchBlock, q)
	s.rows, s.basis, s.heldBasis = room.Slice[float64](l, sketchBlock*width), room.Slice[float64](l, k*rank), room.Slice[float64](l, k*width)
	s.left, s.total = room.Slice[float64](l, sketchBlock*(k+1)), room.Slice[float64](l, k+1)
}

// EstimateBytes bounds the memory of Estimate for d features and m anchors, in addition to the Graph without G and two
// sketches of the given number of rows. peak includes the result. stays is the memory that remains afterwards.
func EstimateBytes(m, d, rows int) (peak, stays int64) {
	r, held := gram.SketchRows(rows), gram.SketchHeld(rows)
	peak = room.Measure(func(l *room.Layout) {
		kernel.NewMatrix[float64](l, m, m) // eigenvectors of S
		l.Add(linalg.SymmetricEigenBytes(m) + kernel.TeamBytes(max(m, sketchBlock), max(m, r)))
		new(estimateScratch).layOut(l, m, m, d, r, held)
		l.Add(sketchReaders*16*int64(r) + bufferBytes)
	})
	return peak, 8 * (int64(max(2*r, r-held+m)+held)*int64(d) + int64(m)*int64(m))
}

// estimateScratch is the memory of Estimate for m anchors, q directions of the graph, d features and r rows of the
// sketch, of which `held` are held out. Its factor is empty if the memory of the sketch suffices.
type estimateScratch struct {
	up, knownB, weights, across, sketched, known, factor, heldRows kernel.Matrix[float64]
}

func (s *estimateScratch) layOut(l *room.Layout, m, q, d, r, held int) {
	s.up, s.knownB = kernel.NewMatrix[float64](l, q, m), kernel.NewMatrix[float64](l, q, m)
	s.weights, s.across = kernel.NewMatrix[float64](l, m, r), kernel.NewMatrix[float64](l, q, r)
	s.sketched, s.known = kernel.NewMatrix[float64](l, sketchBlock, r), kernel.NewMatrix[float64](l, sketchBlock, q)
	if rank := r - held + q; rank > 2*r {
		s.factor = kernel.NewMatrix[float64](l, d, rank)
	}
	s.heldRows = kernel.NewMatrix[float64](l, d, held)
}
