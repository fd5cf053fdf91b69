package fsfs

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// similar are d features, each with all others in the order of λ₂.
type similar struct {
	d    int
	g    []float64 // centred Gram matrix, d×d
	near []int32   // d×(d−1)
}

// index is λ₂ of two features in units of G, without the cancellation of its definition:
// λ₁λ₂ is the determinant.
func (s *similar) index(i, j int) float64 {
	a, b, c := s.g[i*s.d+i], s.g[j*s.d+j], s.g[i*s.d+j]
	// Squares are of shares of the larger of the two, so that none overflows.
	size := max(a, b)
	if size == 0 {
		return 0
	}
	a, b, c = a/size, b/size, c/size
	largest := (a + b + math.Sqrt((a-b)*(a-b)+4*c*c)) / 2
	return size * max(a*b-c*c, 0) / largest
}

// newSimilar sorts all pairs: d²·log d comparisons, a feature at a time.
func newSimilar(threads int, g []float64, d int) *similar {
	s := &similar{d: d, g: g, near: make([]int32, d*max(d-1, 0))}
	const run = 32 // features that share the room for their indices
	kernel.Each(threads, (d+run-1)/run, func(t int) {
		index := make([]float64, d)
		for i := t * run; i < min(d, (t+1)*run); i++ {
			list := s.near[i*(d-1):][:0]
			for j := range d {
				if index[j] = s.index(i, j); j != i {
					list = append(list, int32(j))
				}
			}
			slices.SortFunc(list, func(a, b int32) int { return cmp.Or(cmp.Compare(index[a], index[b]), cmp.Compare(a, b)) })
		}
	})
	return s
}

// of are the other features, nearest first.
func (s *similar) of(i int) []int32 { return s.near[i*(s.d-1):][:s.d-1] }

// denser compares the nearest features of two, then the second nearest and so on, among all: it
// is below 0 where i has the nearer ones. It tells features apart that are each other's nearest,
// where their column order would be the alternative.
func (s *similar) denser(i, j int) int {
	a, b := s.of(i), s.of(j)
	for p := range a {
		if c := cmp.Compare(s.index(i, int(a[p])), s.index(j, int(b[p]))); c != 0 {
			return c
		}
	}
	return 0
}
