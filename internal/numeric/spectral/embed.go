package spectral

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// Embedding contains the c leading eigenpairs of S = BᵀB, and of the affinity A = BBᵀ, without the constant vector.
type Embedding struct {
	Values     []float64              // λ, descending, at most 1
	Vectors    kernel.Matrix[float64] // c×m: eigenvectors v of S as rows of length 1; on data rows u = Bv/√λ
	Components int                    // number of connected components of the graph
	Narrow     int                    // number of eigenvectors that EmbedWide left out
	AllNarrow  bool                   // EmbedWide left out no eigenvector, because all are narrow
	Warnings   []string
}

// minEigenvalue is the size below which an eigenvalue of S counts as 0. The eigenvalues of S are at most 1.
const minEigenvalue = 1e-10

// tieTolerance is the relative difference up to which two eigenvalues count as equal.
const tieTolerance = 1e-9

// Embed returns c eigenpairs of the graph, or fewer if S has fewer positive eigenvalues.
//
// A graph of q connected components has the eigenvalue 1 q times, and its eigenvectors do not have a unique basis.
// Embed uses the constant vector, which is not returned, and q−1 contrasts. Components are ordered by size. Contrast t
// separates component t from all larger ones.
//
// It computes the eigenpairs of an m×m matrix, and uses the memory given by [EmbedBytes].
func Embed(team *kernel.Team, g *anchor.Graph, c int) (*Embedding, error) {
	return embedWithoutNarrowVectors(team, g, c, 0)
}

// embedWithoutNarrowVectors does the same as Embed, but leaves out contrasts that are large on fewer than `rows` rows.
func embedWithoutNarrowVectors(team *kernel.Team, g *anchor.Graph, c int, rows float64) (*Embedding, error) {
	parts := graphComponents(g)
	e := &Embedding{Components: len(parts)}
	vectors, contrast := layOutVectors(nil, g.M, c)
	eachContrast(g, parts, contrast, func() {
		if rows > 0 && RowsOfVector(g, contrast) < rows {
			e.Narrow++
		} else if len(e.Values) < c {
			e.Values, vectors = append(e.Values, 1), append(vectors, contrast...)
		}
	})
	if len(parts) > 1 {
		e.addWarning("the anchor graph falls into %d unconnected parts: the first targets separate them", len(parts))
	}
	// Find the smallest eigenpairs of I − S, after moving the eigenvalue 1 of S out of the way. Find one pair more, to see
	// whether the last eigenvalue repeats.
	if wanted := min(c-len(e.Values)+1, g.M); wanted > 1 {
		n := deflatedLaplacian(g, parts)
		opt := linalg.EigenOptions{Filter: sparseFilter(team, g, parts)}
		found, err := linalg.NewSmallest(team, g.M, wanted, opt).Solve(n, kernel.Matrix[float64]{})
		if err != nil {
			return nil, fmt.Errorf("eigenvectors of the anchor graph: %w", err)
		}
		ties := 0
		for i, value := range found.Values {
			sigma := 1 - value
			if sigma < minEigenvalue {
				break
			}
			if i > 0 && e.Values[len(e.Values)-1]-sigma < tieTolerance {
				ties++
			}
			if len(e.Values) == c {
				break
			}
			e.Values = append(e.Values, sigma)
			for a := range g.M {
				vectors = append(vectors, found.Vectors.Data[a*found.Vectors.RowStride+i*found.Vectors.ColStride])
			}
		}
		if ties > 0 {
			e.addWarning("%d of the anchor graph's leading eigenvalues equal the next: the choice among their eigenvectors is arbitrary", ties)
		}
	}
	if len(e.Values) < c {
		e.addWarning("the anchor graph has only %d eigenvectors for %d clusters", len(e.Values), c)
	}
	e.Vectors = kernel.RowMajor(vectors, len(e.Values), g.M, g.M)
	return e, nil
}

func (e *Embedding) addWarning(format string, args ...any) {
	e.Warnings = append(e.Warnings, fmt.Sprintf(format, args...))
}

// component is a connected component of the graph. It contains only anchors that rows use.
type component struct {
	anchors []int
	rows    float64 // number of rows, as the sum of [anchor.Graph]'s Δ: the weights of a row sum to 1
}

// graphComponents returns the components by descending number of rows, equal ones in the order of their first anchors.
// Two anchors are connected if a row uses both, so that their entry of S is not 0. It costs O(m²).
func graphComponents(g *anchor.Graph) []component {
	var parts []component
	seen := make([]bool, g.M)
	for first := range g.M {
		if seen[first] || g.Delta[first] == 0 {
			continue
		}
		seen[first] = true
		p := component{anchors: []int{first}}
		for i := 0; i < len(p.anchors); i++ {
			a := p.anchors[i]
			p.rows += g.Delta[a]
			for b, s := range g.S[a*g.M:][:g.M] {
				if s != 0 && !seen[b] {
					seen[b] = true
					p.anchors = append(p.anchors, b)
				}
			}
		}
		parts = append(parts, p)
	}
	slices.SortStableFunc(parts, func(a, b component) int {
		return cmp.Compare(math.Round(b.rows), math.Round(a.rows)) // integers up to rounding
	})
	return parts
}

// eachContrast writes unit vectors to v, one after the other, and calls visit for each. Together with √Δ (see
// [anchor.Graph]), they span the eigenspace of S for the eigenvalue 1. Vector t − 1 separates component t from all
// components before it, see [Embed]. v must be 0 at first.
func eachContrast(g *anchor.Graph, parts []component, v []float64, visit func()) {
	before := 0.0
	for t, p := range parts {
		if t > 0 {
			scale := math.Sqrt(1/before + 1/p.rows)
			for _, larger := range parts[:t] {
				for _, a := range larger.anchors {
					v[a] = math.Sqrt(g.Delta[a]) / (before * scale)
				}
			}
			for _, a := range p.anchors {
				v[a] = -math.Sqrt(g.Delta[a]) / (p.rows * scale)
			}
			visit()
		}
		before += p.rows
	}
}

// deflatedLaplacian returns I − S + Σ vvᵀ, see [anchor.Graph] for S and Δ. There is one v for each component: √Δ on the
// component, scaled to length 1. This makes the eigenvectors of S for the eigenvalue 1 the last ones.
func deflatedLaplacian(g *anchor.Graph, parts []component) kernel.Matrix[float64] {
	m := g.M
	n := kernel.NewMatrix[float64](nil, m, m)
	for i, s := range g.S {
		n.Data[i] = -s
	}
	for _, p := range parts {
		for _, a := range p.anchors {
			for _, b := range p.anchors {
				n.Data[a*m+b] += math.Sqrt(g.Delta[a]*g.Delta[b]) / p.rows
			}
		}
	}
	for a := range m {
		n.Data[a*(m+1)]++
	}
	return n
}

// layOutVectors takes the memory for up to c eigenvectors of m anchors and for one contrast from l.
func layOutVectors(l *room.Layout, m, c int) (vectors, contrast []float64) {
	return room.Slice[float64](l, m*max(0, min(c, m)))[:0], room.Slice[float64](l, m)
}

// componentBytes is the memory of the components for each anchor: growing lists of components and of their anchors.
const componentBytes = 80

// EmbedBytes bounds the memory of Embed for c eigenpairs of m anchors, including the result.
func EmbedBytes(m, c int) int64 {
	return room.Measure(func(l *room.Layout) {
		l.Add(componentBytes * int64(m))
		layOutVectors(l, m, c)
		kernel.NewMatrix[float64](l, m, m)
		layOutFilter(l, m, int(sparseShare*float64(m)*float64(m)), m)
		l.Add(linalg.SmallestBytes(m, min(c+1, m), linalg.EigenOptions{Filter: &linalg.Filter{}}))
	})
}
