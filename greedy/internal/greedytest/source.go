package greedytest

import (
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Source is a stream.Source of the rows of a matrix.
type Source struct {
	rowstest.Source
	Matrix Matrix
}

// NewSource returns a source of the rows of x in chunks of `block` rows.
func NewSource(x Matrix, block int) *Source {
	at := func(i, j int) float64 { return x.Col[j][i] }
	return &Source{rowstest.Source{N: x.N, D: x.D, At: at, Heights: []int{block}}, x}
}

// StandardizedMatrix returns the filled and scaled rows of s, which gram.Standardizer calls A, computed by definition.
func (s *Source) StandardizedMatrix(t testing.TB, scale gram.Scale, fill gram.Fill) Matrix {
	std := rowstest.Standardizer(t, s, scale, fill)
	a := NewMatrix(s.N, len(std.Columns))
	for k, j := range std.Columns {
		for i, x := range s.Matrix.Col[j] {
			if x != x {
				x = std.Fill[k]
			}
			w := 1.0
			if s.Weight != nil {
				w = s.Weight[i]
			}
			a.Col[k][i] = (x - std.Shift[k]) * std.Factor[k] * math.Sqrt(w)
		}
	}
	return a
}

// SketchGram returns the estimate of the Gram matrix by a sketch of s with the given number of rows.
func (s *Source) SketchGram(t testing.TB, rows int, scale gram.Scale, fill gram.Fill) *gram.Gram {
	t.Helper()
	p, sketch := gram.NewProfile(s.D), gram.NewSketch(s.D, gram.SketchOptions{Rows: rows, Seed: 7, Threads: 2})
	must.Do(t, stream.Fold(t.Context(), s, stream.FoldOptions{}, p, sketch))
	return must.Get(sketch.Finish(p, s.Columns(), gram.FinishOptions{Scale: scale, Fill: fill}))(t)
}
