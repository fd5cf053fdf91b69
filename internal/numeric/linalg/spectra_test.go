package linalg

import (
	"math"
	"math/rand/v2"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// spectra are symmetric matrices of order n, by the shape of their lower end.
var spectra = map[string]func(n int, rnd *rand.Rand) []float64{
	"gram":      func(n int, rnd *rand.Rand) []float64 { return gramLike(n, 3*n, rnd) },
	"deficient": func(n int, rnd *rand.Rand) []float64 { return gramLike(n, n/2, rnd) },
	"laplacian": func(n int, _ *rand.Rand) []float64 { return pathLaplacian(n) },
	"goe": func(n int, rnd *rand.Rand) []float64 {
		a := make([]float64, n*n)
		for i := range n {
			for j := range i + 1 {
				a[i*n+j] = rnd.NormFloat64()
				a[j*n+i] = a[i*n+j]
			}
		}
		return a
	},
	"diagonal": func(n int, rnd *rand.Rand) []float64 {
		a := make([]float64, n*n)
		for i, v := range rnd.Perm(n) {
			a[i*n+i] = float64(v) - 3
		}
		return a
	},
	"repeated": func(n int, rnd *rand.Rand) []float64 {
		return rotated(n, rnd, func(i int) float64 { return float64(i / 5) })
	},
	"clustered": func(n int, rnd *rand.Rand) []float64 {
		return rotated(n, rnd, func(i int) float64 { return math.Pow(10, -8+12*float64(i)/float64(n)) })
	},
	"identity": func(n int, rnd *rand.Rand) []float64 {
		return rotated(n, rnd, func(i int) float64 { return 3 })
	},
	"shifted": func(n int, rnd *rand.Rand) []float64 { // far from 0, to the right
		return rotated(n, rnd, func(i int) float64 { return 1000 + float64(i)/float64(n) })
	},
}

// gramLike is XᵀX for k rows of correlated columns of very different lengths.
func gramLike(n, k int, rnd *rand.Rand) []float64 {
	x := make([]float64, k*n)
	for i := range k {
		common := rnd.NormFloat64()
		for j := range n {
			x[i*n+j] = (common + rnd.NormFloat64()) * math.Exp(-6*float64(j)/float64(n))
		}
	}
	a := make([]float64, n*n)
	g := kernel.RowMajor(a, n, n, n)
	kernel.Syrk(kernel.NewTeam(1), 1, kernel.RowMajor(x, k, n, n).Trans(), g)
	kernel.MirrorUpper(1, g)
	return a
}

func pathLaplacian(n int) []float64 {
	a := make([]float64, n*n)
	for i := range n {
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < n {
				a[i*n+j] = -1
				a[i*n+i]++
			}
		}
	}
	return a
}

// rotated has the given eigenvalues; its eigenvectors are the columns of three reflections.
func rotated(n int, rnd *rand.Rand, value func(i int) float64) []float64 {
	a := make([]float64, n*n)
	for i := range n {
		a[i*n+i] = value(i)
	}
	u := make([]float64, n)
	for range 3 {
		for i := range u {
			u[i] = rnd.NormFloat64()
		}
		norm := norm2(u)
		for i := range u {
			u[i] /= norm
		}
		for side := range 2 {
			step, line := n, 1
			if side == 1 {
				step, line = 1, n
			}
			for j := range n {
				var s float64
				for i := range n {
					s += u[i] * a[j*line+i*step]
				}
				for i := range n {
					a[j*line+i*step] -= 2 * s * u[i]
				}
			}
		}
	}
	kernel.MirrorUpper(1, kernel.RowMajor(a, n, n, n))
	return a
}
