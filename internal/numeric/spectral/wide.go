package spectral

import (
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// EmbedWide does the same as [Embed] without eigenvectors that are large on fewer than `rows` rows. If a few rows are
// nearly isolated, they have an eigenvalue near 1. Its eigenvector only separates them from all other rows, and shows
// outliers instead of a structure of the data.
//
// Contrasts of components that are too small do not count among the c eigenvectors. Any other narrow eigenvector does
// count, so that the search does not go deeper into the spectrum. In noise of many dimensions, a row has hardly any
// neighbour but itself, and perhaps all eigenvectors are narrow. EmbedWide then returns Embed's result and sets
// AllNarrow.
func EmbedWide(team *kernel.Team, g *anchor.Graph, c int, rows float64) (*Embedding, error) {
	e, err := embedWithoutNarrowVectors(team, g, c, rows)
	if err != nil {
		return nil, err
	}
	wide := e.findWideVectors(g, rows)
	if len(wide) == 0 {
		if e.Narrow > 0 { // embedWithoutNarrowVectors left out contrasts
			if e, err = Embed(team, g, c); err != nil {
				return nil, err
			}
		}
		e.AllNarrow = len(e.Values) > 0
		return e, nil
	}
	e.Narrow += len(e.Values) - len(wide)
	e.keepEigenpairs(g.M, wide)
	return e, nil
}

func (e *Embedding) findWideVectors(g *anchor.Graph, minRows float64) (indices []int) {
	for i := range e.Values {
		if RowsOfVector(g, e.Vectors.Data[i*g.M:][:g.M]) >= minRows {
			indices = append(indices, i)
		}
	}
	return indices
}

func (e *Embedding) keepEigenpairs(anchors int, indices []int) {
	for to, from := range indices { // to ≤ from, so no pair is overwritten before it is moved
		e.Values[to] = e.Values[from]
		copy(e.Vectors.Data[to*anchors:][:anchors], e.Vectors.Data[from*anchors:])
	}
	e.Values = e.Values[:len(indices)]
	e.Vectors = kernel.RowMajor(e.Vectors.Data[:len(indices)*anchors], len(indices), anchors, anchors)
}

// RowsOfVector returns the number of rows on which the eigenvector v of S is large. See [anchor.Graph] for B, Z and Δ.
// For u = Bv/√λ, of length 1, the measure is 1/Σᵢuᵢ⁴, which is the number of rows with u ≠ 0 if u is constant there. As
// u is not stored, the measure is replaced by 1/Σₐvₐ⁴/Δₐ over the anchors a. Rows of Z sum to 1, and so do columns of
// ZΔ⁻¹. So u is an average of v/√(Δλ), and v/√(Δλ) is an average of u/λ. By Jensen's inequality the measures differ by
// a factor of at most λ².
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
