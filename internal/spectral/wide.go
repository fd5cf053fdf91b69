package spectral

import (
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// EmbedWide is [Embed] without the eigenvectors that are large on fewer rows than given. A few rows that hardly touch
// the others have an eigenvalue near 1 of their own. Its eigenvector separates them from all other rows, which shows an
// outlier and not a structure of the data.
//
// Unconnected parts that are too small do not count among the c, any other narrow eigenvector does, so that the depth
// of the spectrum stays as requested. If no eigenvector is wide (noise in many dimensions, in which a row has hardly
// a neighbour but itself), EmbedWide returns Embed's result, and AllNarrow.
func EmbedWide(team *kernel.Team, g *anchor.Graph, c int, rows float64) (*Embedding, error) {
	e, err := embedOver(team, g, c, rows)
	if err != nil {
		return nil, err
	}
	wide := e.wideIndices(g, rows)
	if len(wide) == 0 {
		if e.Narrow > 0 { // components that embedOver left out
			if e, err = Embed(team, g, c); err != nil {
				return nil, err
			}
		}
		e.AllNarrow = len(e.Values) > 0
		return e, nil
	}
	e.Narrow += len(e.Values) - len(wide)
	e.keepPairs(g.M, wide)
	return e, nil
}

func (e *Embedding) wideIndices(g *anchor.Graph, rows float64) (wide []int) {
	for i := range e.Values {
		if RowsOfVector(g, e.Vectors.Data[i*g.M:][:g.M]) >= rows {
			wide = append(wide, i)
		}
	}
	return wide
}

func (e *Embedding) keepPairs(m int, indices []int) {
	for to, from := range indices { // never to a higher index
		e.Values[to] = e.Values[from]
		copy(e.Vectors.Data[to*m:][:m], e.Vectors.Data[from*m:])
	}
	e.Values = e.Values[:len(indices)]
	e.Vectors = kernel.RowMajor(e.Vectors.Data[:len(indices)*m], len(indices), m, m)
}

// RowsOfVector returns the number of rows that the eigenvector v of S lives on. For u = Bv/√λ, of length 1, it is
// 1/Σᵢuᵢ⁴: the number of rows with u ≠ 0 if u is constant on these. The rows are gone, so we take 1/Σₐvₐ⁴/Δₐ. Rows of
// Z sum to 1, and so do columns of ZΔ⁻¹: u is an average of v/√(Δλ), and this is one of u/λ, so that by Jensen's
// inequality the two differ by a factor of λ² at most.
func RowsOfVector(g *anchor.Graph, v []float64) float64 {
	sum := 0.0
	for a, x := range v {
		if x != 0 && g.Delta[a] > 0 {
			y := x / math.Sqrt(math.Sqrt(g.Delta[a]))
			sum += y * y * y * y
		}
	}
	return 1 / sum
}
