package align

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestAlignOfParts: unconnected parts give a kernel that tells them apart, whatever the basis of
// their eigenspace; a part of two rows has none of it.
func TestAlignOfParts(t *testing.T) {
	tab := clustered(2, 60, 24, 10, 3, false)
	kernelOf, got := choice(t, tab.graph(), spectral.DefaultDiffusion, Options{K: 10})
	if kernelOf.Components != 3 || kernelOf.Eigenvalues[1] != 1 {
		t.Fatalf("%d parts, eigenvalues %v", kernelOf.Components, kernelOf.Eigenvalues)
	}
	// By definition: the projector onto the parts without the constant, and the rest by Jacobi.
	k, x := tab.diffusedParts(3), rowstest.CentreColumns(tab.x)
	for turn := range got.Order {
		s := similarity(x, got.Order[:turn+1])
		want := frobenius(s, k) / math.Sqrt(frobenius(s, s)*frobenius(k, k))
		if !(math.Abs(got.Alignment[turn]-want) <= 1e-9) {
			t.Errorf("turn %d: alignment %v, want %v", turn, got.Alignment[turn], want)
		}
	}
	// Two rows by themselves, far away in every feature.
	for range 2 {
		for i := range tab.z {
			tab.z[i] = append(tab.z[i], 0)
		}
	}
	for i := range 2 {
		row, z := make([]float64, 10), make([]float64, 26)
		for j := range row {
			row[j] = 1000 * float64(1+j)
		}
		z[24], z[25] = 0.5+0.1*float64(i), 0.5-0.1*float64(i)
		tab.x, tab.z = append(tab.x, row), append(tab.z, z)
	}
	outlying, _ := choice(t, tab.graph(), spectral.DefaultDiffusion, Options{K: 10})
	if outlying.Components != 4 || outlying.Narrow != kernelOf.Narrow+2 { // the part against the rest, and one row of it against the other
		t.Errorf("%d parts, %d narrow eigenvectors", outlying.Components, outlying.Narrow)
	}
	if len(outlying.Eigenvalues) != len(kernelOf.Eigenvalues) || outlying.Eigenvalues[1] != 1 || outlying.Eigenvalues[2] == 1 {
		t.Errorf("eigenvalues %v, without the two rows %v", outlying.Eigenvalues, kernelOf.Eigenvalues)
	}
}

// diffusedParts is diffused for unconnected parts of equal size, i%parts being a row's part.
func (t data) diffusedParts(parts int) [][]float64 {
	n := len(t.x)
	values, u := rowstest.Jacobi(rowstest.Laplacian(t.z))
	k := rowstest.ZeroRows(n, n)
	for i := range n {
		for j := range n {
			k[i][j] = -1 / float64(n)
			if i%parts == j%parts {
				k[i][j] += float64(parts) / float64(n)
			}
			for c := parts; c < pairs+1; c++ {
				k[i][j] += math.Pow(max(1-values[c], 0), 2*spectral.DefaultDiffusion) * u[i][c] * u[j][c]
			}
		}
	}
	return k
}

// TestAlignOfAPoorGraph: a graph without information leaves column order, with a warning.
func TestAlignOfAPoorGraph(t *testing.T) {
	x := [][]float64{{1, 5}, {2, 3}, {4, 4}}
	g := rowstest.BuildGraph(x, [][]float64{{1}, {1}, {1}}) // one anchor
	k, r := choice(t, g, spectral.DefaultDiffusion, Options{})
	if !slices.Equal(r.Order, []int{0, 1}) || !slices.Equal(r.Alignment, []float64{0, 0}) {
		t.Errorf("a graph of one anchor: got %+v, want order [0 1] and alignments of 0", r)
	}
	if len(k.Warnings) != 1 || !strings.Contains(k.Warnings[0].String(), "no information") {
		t.Errorf("warnings %v", k.Warnings)
	}
	// Every row its own anchor and no other's: each eigenvector is narrow.
	own := rowstest.ZeroRows(6, 6)
	for i := range own {
		own[i][i] = 1
	}
	g = rowstest.BuildGraph([][]float64{{1, 0}, {2, 1}, {4, -1}, {5, 0}, {7, 3}, {9, 2}}, own)
	k, _ = choice(t, g, spectral.DefaultDiffusion, Options{})
	if k.Components != 6 || len(k.Eigenvalues) == 0 {
		t.Errorf("a graph of 6 separate anchors: got %+v, want 6 components and some eigenvalues", k)
	}
	// One row and one feature; a feature that the kernel does not see at all.
	r = must.Get(Choose(t.Context(), Problem{A: []float64{0, 2, 0}, Squares: []float64{1, 3, 2}, Norm: 1,
		Column: func(j int) []float64 {
			return []float64{[]float64{1, 0, 0}[j], []float64{0, 3, 0}[j], []float64{0, 0, 2}[j]}
		}}, Options{K: 3}))(t)
	if !slices.Equal(r.Order, []int{1, 0, 2}) {
		t.Errorf("order %v, want the only feature that follows the graph first, then the shorter", r.Order)
	}
}

func TestAlignRefuses(t *testing.T) {
	column := func(int) []float64 { return []float64{1, 1} }
	p := Problem{A: []float64{1, 1}, Squares: []float64{1, 1}, Column: column}
	_, err := Choose(t.Context(), p, Options{K: 3, Keep: []int{0, 0, 2, 1}, Threads: -1})
	rowstest.CheckRefusal(t, err, "k = 3 is more", "4 features to keep", "named twice", "column 2", "threads = -1")
	_, err = Choose(t.Context(), Problem{}, Options{K: -1})
	rowstest.CheckRefusal(t, err, "no features", "k = -1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Choose(ctx, p, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	for _, bad := range []Problem{
		{A: []float64{1, 1}, Squares: []float64{1}, Column: column},
		{A: []float64{1, -1}, Squares: []float64{1, 1}, Column: column},
		{A: []float64{1, math.NaN()}, Squares: []float64{1, 1}, Column: column},
		{A: []float64{1, 1}, Squares: []float64{1, math.Inf(1)}, Column: column},
	} {
		if _, err := Choose(t.Context(), bad, Options{}); err == nil {
			t.Errorf("took %v, %v", bad.A, bad.Squares)
		}
	}
	g := clustered(1, 30, 12, 4, 3, true).graph()
	g.S[1] = math.NaN()
	if _, err := spectral.Diffuse(kernel.NewTeam(1), g, 2); err == nil {
		t.Error("took a graph that is not finite")
	}
}
