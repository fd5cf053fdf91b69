package anchor

import (
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
)

// If neither G nor the n rows fit in memory, G is split into a part that follows from the graph and a part that is
// estimated. Let P = BS⁺Bᵀ be the projection on the columns of B (see [Graph]). Then
//
//	G = X̃ᵀPX̃ + X̃ᵀ(I − P)X̃ = CᵀS⁺C + X̃ᵀ(I − P)X̃,
//
// The first term is known, and so is the diagonal of the second, because the diagonal of G is known. The second term is
// estimated from two sketches with the same random rows and signs Π: ΠX̃ of the rows and ΠB of their weights. A factor
// of the estimate is Π(I − P)X̃ = ΠX̃ − (ΠB)S⁺C. With S⁺ = UΛ⁻¹Uᵀ the rows
//
//	R = [Π(I − P)X̃ ; Λ^(−½)UᵀC],   B = [0 ; Λ^½Uᵀ]
//
// are the rows of a graph with BᵀR = C and BᵀB = S, and RᵀR is the estimate of G. RᵀR and RᵀLR are positive
// semidefinite. The columns of the first block are scaled to their known lengths, so the diagonals of G and XᵀLX are
// exact.

const (
	// sketchBlock is the number of features whose columns are computed at a time.
	sketchBlock = 256
	// sketchSeed is a random seed. If a feature's part to be estimated is 0 in all rows of the sketch that are not held
	// out, although its known length is not 0, this length is stored in a row chosen by a hash of the seed.
	sketchSeed = 0x5b1d
	// sketchReaders is the number of readers of a sketch that run at the same time.
	sketchReaders = 8
)

// Estimate sets the absent G of g to an estimate, in the form of a factor. The factor has the rows of x, the sketch of
// the table's rows, except the held-out rows, and one row for each direction of the graph. z is the sketch of the
// weights of the same rows (see [Statistics.SketchWeights]), with the same number of rows and the same seed. std
// standardizes the rows to X̃. Both sketches are consumed. g.Held is set to the estimate of X̃ᵀ(I − P)X̃ by the
// held-out rows. With r rows of the sketch, Estimate costs 2·(r + m)·m·D flops. It needs the memory given by
// EstimateBytes.
//
// A direction of the graph is an eigenvector of S. If its eigenvalue is within the rounding of a sum of n numbers, the
// direction is left to the sketch.
func (g *Graph) Estimate(threads int, x, z *gram.Sketch, std *gram.Standardizer) error {
	if !g.G.Absent() || len(std.Columns) != g.D || x.Rows() != z.Rows() {
		return fmt.Errorf("anchor: sketches of %d and %d rows, of %d features, for a graph of %d", x.Rows(), z.Rows(), len(std.Columns), g.D)
	}
	team := kernel.NewTeam(threads)
	m, d, r, main := g.M, g.D, x.Rows(), x.Main()
	axes := kernel.NewMatrix[float64](nil, m, m)
	copy(axes.Data, g.S)
	values, err := linalg.SymmetricEigen(team, axes)
	if err != nil {
		return fmt.Errorf("anchor: directions of the graph: %w", err)
	}
	// A sum of n numbers of one sign has a relative error of n/2⁵³ at most.
	rounding := float64(g.Rows+int64(m)) * 0x1p-53
	first, _ := slices.BinarySearch(values, rounding*values[m-1])
	q := m - first
	var s estimateScratch
	s.layOut(nil, m, q, d, r, r-main)
	up, sketched, known, heldRows := s.up, s.sketched, s.known, s.heldRows.Data // up is Λ^(−½)Uᵀ
	g.knownB = s.knownB.Data
	for i, v := range values[first:] {
		for j := range m {
			u := axes.Data[j*m+first+i]
			up.Data[i*m+j] = u / math.Sqrt(v)
			g.knownB[i*m+j] = u * math.Sqrt(v)
		}
	}
	g.sketchWeights(team, z, &s)
	rank, heldRank := main+q, r-main
	out := s.factor.Data
	if out == nil {
		out = x.Room()
	}
	c := kernel.RowMajor(g.C, m, d, d)
	var readers [sketchReaders]*gram.SketchReader
	for i := range readers {
		readers[i] = x.Reader()
	}
	for from := 0; from < d; from += sketchBlock {
		n := min(sketchBlock, d-from)
		kernel.Each(team.Threads(), sketchReaders, func(t int) {
			for i := t; i < n; i += sketchReaders {
				k := from + i
				readers[t].ColumnTo(sketched.Data[i*r:][:r], std.Columns[k], std.Shift[k], std.Factor[k], std.Fill[k])
			}
		})
		clear(known.Data)
		kernel.Gemm(team, 1, c.Sub(0, from, m, n).Trans(), up.Trans(), known.Sub(0, 0, n, q))
		kernel.Gemm(team, -1, known.Sub(0, 0, n, q), s.across, sketched.Sub(0, 0, n, r))
		// Writing does not overwrite sums of later columns, because each column has 2r numbers, and rank ≤ 2r.
		kernel.Each(team.Threads(), n, func(i int) {
			k := from + i
			row, exact := sketched.Data[i*r:][:r], known.Data[i*q:][:q]
			deviation := std.Std[k] * std.Factor[k]
			whole := std.Weight * deviation * deviation
			left := whole - kernel.Dot(exact, exact)
			if !(left > rounding*whole) {
				left = 0
			}
			if !scaleToSquare(row[:main], left) {
				row[splitmix.Hash(sketchSeed, uint64(std.Columns[k]))%uint64(main)] = math.Sqrt(left)
			}
			scaleToSquare(row[main:], left)
			copy(out[k*rank:], row[:main])
			copy(out[k*rank+main:], exact)
			copy(heldRows[k*heldRank:], row[main:])
		})
	}
	x.Drop()
	z.Drop()
	g.G.R, g.G.Rank = out[:rank*d:rank*d], rank
	g.Held = gram.FromFactor(heldRows, d, heldRank)
	return nil
}

// sketchWeights sets s.across to (ΠB·upᵀ)ᵀ = (ΠBUΛ^(−½))ᵀ, q×r, for the sketch z of Z.
func (g *Graph) sketchWeights(team *kernel.Team, z *gram.Sketch, s *estimateScratch) {
	r, reader := z.Rows(), z.Reader()
	for j, v := range g.Delta {
		if v > 0 {
			reader.ColumnTo(s.weights.Data[j*r:][:r], j, 0, 1/math.Sqrt(v), 0)
		}
	}
	kernel.Gemm(team, 1, s.up, s.weights, s.across)
}

// scaleToSquare scales x to the given squared length. It returns false if x is 0 and the squared length is not.
func scaleToSquare(x []float64, square float64) bool {
	old := kernel.Dot(x, x)
	if !(old > 0) {
		clear(x)
		return square == 0
	}
	f := math.Sqrt(square / old)
	for i := range x {
		x[i] *= f
	}
	return true
}
