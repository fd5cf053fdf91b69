package spectral

import (
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// mostAsked is how many times c eigenpairs EmbedWide computes at most, to have enough that are
// wide.
const mostAsked = 4

// EmbedWide is [Embed] without the eigenvectors that live on fewer rows than given. A few rows
// that hardly touch the others have an eigenvalue near 1 of their own, and its eigenvector tells
// them apart from all the rest, which is an outlier and no structure of the data.
//
// Unconnected parts that are too small cost nothing. Any other narrow eigenvector counts among
// the c, so that the depth of the spectrum stays what was asked for; only where fewer than c/5
// are left are more computed, up to 4c. Where no eigenvector is wide, the narrow ones are returned, and
// Narrow is 0.
func EmbedWide(team *kernel.Team, g *anchor.Graph, c int, rows float64) (*Embedding, error) {
	for asked := c; ; asked *= 2 {
		e, err := embed(team, g, asked, rows)
		if err != nil {
			return nil, err
		}
		found := len(e.Values)
		kept := e.wide(g, rows)
		switch {
		case len(kept) > 0 && 5*len(kept) >= c, found < asked, 2*asked > mostAsked*c:
			if len(kept) == 0 {
				return Embed(team, g, c)
			}
			e.take(g.M, kept[:min(len(kept), c)])
			e.Narrow += found - len(kept)
			return e, nil
		}
	}
}

// wide lists the eigenvectors that live on that many rows.
func (e *Embedding) wide(g *anchor.Graph, rows float64) (kept []int) {
	for i := range e.Values {
		if Participation(g, e.Vectors.Data[i*g.M:][:g.M]) >= rows {
			kept = append(kept, i)
		}
	}
	return kept
}

// take keeps the listed eigenpairs.
func (e *Embedding) take(m int, kept []int) {
	for to, from := range kept { // never to a higher index
		e.Values[to] = e.Values[from]
		copy(e.Vectors.Data[to*m:][:m], e.Vectors.Data[from*m:])
	}
	e.Values = e.Values[:len(kept)]
	e.Vectors = kernel.RowMajor(e.Vectors.Data[:len(kept)*m], len(kept), m, m)
}

// Participation is the number of rows that the eigenvector v of S lives on. For u = Bv/√λ, of
// length 1, it is 1/Σᵢuᵢ⁴: the number of rows where u is constant on so many and 0 elsewhere. The
// rows are gone, so we take 1/Σₐvₐ⁴/Δₐ. Both B's rows over the roots of Δ and its columns over
// those are averages, so that by Jensen's inequality the two differ by a factor of λ² at most.
func Participation(g *anchor.Graph, v []float64) float64 {
	sum := 0.0
	for a, x := range v {
		if x != 0 && g.Delta[a] > 0 {
			y := x / math.Sqrt(math.Sqrt(g.Delta[a]))
			sum += y * y * y * y
		}
	}
	return 1 / sum
}

// WideBytes is what EmbedWide holds at most.
func WideBytes(m, c int) int64 { return Bytes(m, mostAsked*c) }
