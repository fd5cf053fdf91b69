package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// leftByQR is the error of one set by an orthonormal basis of its columns, each scaled to
// length 1 first; an SVD drops dependent ones.
func leftByQR(x kernel.Matrix[float64], chosen []int) float64 {
	full := dense(x)
	n := x.Rows
	basis := mat.NewDense(n, len(chosen), nil)
	for k, j := range chosen {
		col := mat.Col(nil, j, full)
		if norm := mat.Norm(mat.NewVecDense(n, col), 2); norm > 0 {
			for i := range col {
				basis.Set(i, k, col[i]/norm)
			}
		}
	}
	var svd mat.SVD
	if !svd.Factorize(basis, mat.SVDThin) {
		return math.NaN()
	}
	var u mat.Dense
	svd.UTo(&u)
	rank := 0
	for _, v := range svd.Values(nil) {
		if v > 1e-7 {
			rank++
		}
	}
	rest := mat.DenseCopyOf(full)
	if rank > 0 {
		q := u.Slice(0, n, 0, rank)
		var c, p mat.Dense
		c.Mul(q.T(), full)
		p.Mul(q, &c)
		rest.Sub(full, &p)
	}
	whole := mat.Norm(full, 2)
	if whole == 0 {
		return 0
	}
	return mat.Norm(rest, 2) * mat.Norm(rest, 2) / whole / whole
}

// TestReconstructionErrorTwin: every prefix against the projection by an orthonormal
// basis; with duplicates, constants, zeros, and more columns than rows.
func TestReconstructionErrorTwin(t *testing.T) {
	for _, c := range []struct{ n, d, rank int }{{1, 1, 1}, {5, 3, 2}, {40, 12, 12}, {30, 20, 4}, {6, 12, 12}, {200, 140, 130}} {
		x := factors(c.n, c.d, c.rank, 3)
		order := rand.New(rand.NewPCG(7, 7)).Perm(c.d)
		got := ReconstructionError(kernel.NewTeam(2), x, order)
		var want []float64
		for k := range order {
			want = append(want, leftByQR(x, order[:k+1]))
		}
		// Squares of columns are rounded to 2⁻⁵² of the whole, and pivots as small as 1e-8
		// of their column divide the rounding.
		equal(t, fmt.Sprintf("%+v", c), got, want, 1e-8)
		for k := 1; k < len(got); k++ {
			if got[k] > got[k-1] {
				t.Errorf("%+v: the error rises at %d from %v to %v", c, k, got[k-1], got[k])
			}
		}
	}
}

// TestReconstructionErrorGreedy: the error equals package greedy's on the same rows.
func TestReconstructionErrorGreedy(t *testing.T) {
	const n, d = 90, 70
	x := noise(n, d, 11)
	g := make([]float64, d*d)
	gm := kernel.RowMajor(g, d, d, d)
	kernel.Gemm(kernel.NewTeam(1), 1, x.Trans(), x, gm)
	res := must.Get(greedy.Select(t.Context(), gram.Full(g, d), greedy.Options{K: d}))(t)
	equal(t, "curve", ReconstructionError(kernel.NewTeam(1), x, res.Order), res.Error, 1e-12*d)
}

// TestReconstructionErrorLaws: prefixes do not depend on later columns; permuting columns
// or rows, scaling all by one factor, and threads change nothing.
func TestReconstructionErrorLaws(t *testing.T) {
	const n, d = 300, 150
	x := factors(n, d, 140, 5)
	random := rand.New(rand.NewPCG(5, 5))
	order := random.Perm(d)[:131] // across two strips
	want := ReconstructionError(kernel.NewTeam(1), x, order)
	for _, k := range []int{1, 63, 64, 65, 128, 130} {
		if got := ReconstructionError(kernel.NewTeam(1), x, order[:k]); !slices.Equal(got, want[:k]) {
			t.Errorf("the first %d by themselves give other bits", k)
		}
	}
	if got := ReconstructionError(kernel.NewTeam(8), x, order); !slices.Equal(got, want) {
		t.Error("8 workers give other bits")
	}
	perm := random.Perm(d)
	moved, to := columns(x, perm), make([]int, len(order))
	for k, j := range order {
		to[k] = slices.Index(perm, j)
	}
	equal(t, "columns permuted", ReconstructionError(kernel.NewTeam(1), moved, to), want, 1e-10)
	turned := clone(x)
	for i, from := range random.Perm(n) {
		for j := range d {
			turned.Data[j*n+i] = x.Data[j*n+from]
		}
	}
	equal(t, "rows permuted", ReconstructionError(kernel.NewTeam(1), turned, order), want, 1e-9)
	scaled := clone(x)
	for i := range scaled.Data {
		scaled.Data[i] *= 0x1p-40
	}
	if got := ReconstructionError(kernel.NewTeam(1), scaled, order); !slices.Equal(got, want) {
		t.Error("a power of two as factor gives other bits")
	}
}

func TestReconstructionErrorEdges(t *testing.T) {
	team := kernel.NewTeam(1)
	zeros := kernel.ColMajor(make([]float64, 12), 4, 3, 4)
	equal(t, "zeros", ReconstructionError(team, zeros, []int{2, 0}), []float64{0, 0}, 0)
	equal(t, "nothing chosen", ReconstructionError(team, zeros, nil), nil, 0)
	x := noise(4, 3, 1)
	if got := ReconstructionError(team, x, []int{0, 1, 2}); got[2] != 0 {
		t.Errorf("all columns leave %v", got[2])
	}
	for i := range 4 {
		x.Data[i] = 1e200
	}
	if got := ReconstructionError(team, x, []int{1}); !math.IsNaN(got[0]) {
		t.Errorf("overflow gives %v", got[0])
	}
}

func BenchmarkReconstructionError(b *testing.B) {
	x := noise(10000, 784, 1)
	order := rand.New(rand.NewPCG(1, 1)).Perm(784)[:80]
	team := kernel.NewTeam(0)
	for b.Loop() {
		ReconstructionError(team, x, order)
	}
	b.ReportMetric(2*10000*784*80*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
