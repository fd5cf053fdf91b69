package kernel

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// The shapes of the issue: a chunk of 8,192 rows and 896 features, 2,048 anchors.
func BenchmarkSyrk(b *testing.B) {
	b.Run("f64", benchSyrk[float64])
	b.Run("f32", benchSyrk[float32])
}

func benchSyrk[T Float](b *testing.B) {
	const n, d = 8192, 896
	x, g := filled[T](n*d), make([]T, d*d)
	onTeams(b, fmt.Sprintf("n=%d/d=%d", n, d), n*d*d, func(t *Team) func() {
		return func() { Syrk(t, 1, RowMajor(x, d, n, n), RowMajor(g, d, d, d)) }
	})
}

func BenchmarkGemm(b *testing.B) {
	b.Run("f64", benchGemm[float64])
	b.Run("f32", benchGemm[float32])
}

func benchGemm[T Float](b *testing.B) {
	const n, d, m = 8192, 896, 2048
	x, y, c := filled[T](n*d), filled[T](m*d), make([]T, n*m)
	onTeams(b, fmt.Sprintf("n=%d/d=%d/m=%d", n, d, m), 2*n*d*m, func(t *Team) func() {
		return func() { Gemm(t, 1, ColMajor(x, n, d, n), ColMajor(y, d, m, d), RowMajor(c, n, m, m)) }
	})
}

// The twin and gonum, at a size that does not take too long.
func BenchmarkBeside(b *testing.B) {
	const n, d = 512, 896
	x, g := filled[float64](n*d), make([]float64, d*d)
	for _, p := range availableSets {
		b.Run(fmt.Sprintf("Syrk/f64/n=%d/d=%d/path=%s", n, d, p.name), func(b *testing.B) {
			t := newTeam(1, p)
			steady(b, n*d*d, func() { Syrk(t, 1, RowMajor(x, d, n, n), RowMajor(g, d, d, d)) })
		})
	}
	b.Run(fmt.Sprintf("Syrk/f64/n=%d/d=%d/path=gonum", n, d), func(b *testing.B) {
		steady(b, n*d*d, func() { gonum.Implementation{}.Dsyrk(blas.Upper, blas.NoTrans, d, n, 1, x, n, 1, g, d) })
	})
	for _, p := range availableSets {
		b.Run(fmt.Sprintf("Gemm/f64/n=%d/d=%d/m=%d/path=%s", n, d, d, p.name), func(b *testing.B) {
			t := newTeam(1, p)
			steady(b, 2*n*d*d, func() { Gemm(t, 1, RowMajor(x, d, n, n), ColMajor(x, n, d, n), RowMajor(g, d, d, d)) })
		})
	}
	b.Run(fmt.Sprintf("Gemm/f64/n=%d/d=%d/m=%d/path=gonum", n, d, d), func(b *testing.B) {
		steady(b, 2*n*d*d, func() {
			gonum.Implementation{}.Dgemm(blas.NoTrans, blas.Trans, d, d, n, 1, x, n, x, n, 1, g, d)
		})
	})
}

// BenchmarkLayout compares chunks whose columns lie side by side with chunks whose
// rows do: see the package documentation.
func BenchmarkLayout(b *testing.B) {
	const n = 256
	for _, d := range []int{64, 256, 896} {
		x, g := filled[float64](n*d), make([]float64, d*d)
		for name, view := range map[string]Matrix[float64]{"column-major": RowMajor(x, d, n, n), "row-major": ColMajor(x, d, n, d)} {
			b.Run(fmt.Sprintf("d=%d/%s", d, name), func(b *testing.B) {
				t := NewTeam(1)
				steady(b, float64(n*d*d), func() { Syrk(t, 1, view, RowMajor(g, d, d, d)) })
			})
		}
	}
}

// onTeams times the product that prepare makes for teams of one and two workers.
func onTeams(b *testing.B, name string, operations float64, prepare func(t *Team) func()) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(b *testing.B) { steady(b, operations, prepare(NewTeam(workers))) })
	}
}

// steady times a product that has run before: its scratch and the pages it writes exist.
func steady(b *testing.B, operations float64, product func()) {
	product()
	for b.Loop() {
		product()
	}
	b.ReportMetric(operations*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func filled[T Float](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(i%17) - 8
	}
	return x
}

// BenchmarkThin multiplies by few columns, as cpufs does (rows and columns of X side by side), and few rows, as
// the search for eigenvectors.
func BenchmarkThin(b *testing.B) {
	const n, d, c = 10000, 784, 10
	x, v, y := make([]float64, n*d), make([]float64, n*c), make([]float64, n*c)
	for _, bench := range []struct {
		name    string
		a, b, c Matrix[float64]
	}{
		{"rows", RowMajor(x, n, d, d), RowMajor(v, d, c, c), RowMajor(y, n, c, c)},
		{"columns", ColMajor(x, n, d, n), RowMajor(v, d, c, c), RowMajor(y, n, c, c)},
		{"transposed", RowMajor(x, n, d, d).Trans(), RowMajor(v, n, c, c), RowMajor(y, d, c, c)},
		{"eigenvectors", RowMajor(v, c, d, d), RowMajor(x, d, d, d), RowMajor(y, c, d, d)},
	} {
		t := NewTeam(1)
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(8 * bench.a.Rows * bench.a.Cols))
			for b.Loop() {
				Gemm(t, 1, bench.a, bench.b, bench.c)
			}
		})
	}
}
