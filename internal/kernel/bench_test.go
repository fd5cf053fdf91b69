package kernel

import (
	"fmt"
	"testing"
)

// The shapes of the issue: a chunk of 8,192 rows and 896 features, 2,048 anchors.
func BenchmarkSyrk(b *testing.B) {
	b.Run("f64", benchSyrk[float64])
	b.Run("f32", benchSyrk[float32])
}

func benchSyrk[T Float](b *testing.B) {
	const n, d = 8192, 896
	x, g := filled[T](n*d), make([]T, d*d)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("n=%d/d=%d/workers=%d", n, d, workers), func(b *testing.B) {
			t := NewTeam(workers)
			steady(b, n*d*d, func() { Syrk(t, 1, RowMajor(x, d, n, n), RowMajor(g, d, d, d)) })
		})
	}
}

func BenchmarkGemm(b *testing.B) {
	b.Run("f64", benchGemm[float64])
	b.Run("f32", benchGemm[float32])
}

func benchGemm[T Float](b *testing.B) {
	const n, d, m = 8192, 896, 2048
	x, y, c := filled[T](n*d), filled[T](m*d), make([]T, n*m)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("n=%d/d=%d/m=%d/workers=%d", n, d, m, workers), func(b *testing.B) {
			t := NewTeam(workers)
			steady(b, 2*n*d*m, func() { Gemm(t, 1, ColMajor(x, n, d, n), ColMajor(y, d, m, d), RowMajor(c, n, m, m)) })
		})
	}
}

// steady times a product that has run before: its scratch and the pages it writes exist.
func steady(b *testing.B, operations int, product func()) {
	product()
	for b.Loop() {
		product()
	}
	b.ReportMetric(float64(operations)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func filled[T Float](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(i%17) - 8
	}
	return x
}
