package greedy

import (
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
)

// source serves a matrix.
type source struct {
	rowstest.Source
	matrix
}

func serve(x matrix, block int) *source {
	at := func(i, j int) float64 { return x.col[j][i] }
	return &source{rowstest.Source{N: x.n, D: x.d, At: at, Heights: []int{block}}, x}
}

// standardized is the whole A of a source, by the definition.
func (s *source) standardized(t testing.TB, scale gram.Scale, fill gram.Fill) matrix {
	std := rowstest.Standardizer(t, s, scale, fill)
	a := newMatrix(s.n, len(std.Columns))
	for k, j := range std.Columns {
		for i, x := range s.col[j] {
			if x != x {
				x = std.Fill[k]
			}
			w := 1.0
			if s.Weight != nil {
				w = s.Weight[i]
			}
			a.col[k][i] = (x - std.Shift[k]) * std.Factor[k] * math.Sqrt(w)
		}
	}
	return a
}
