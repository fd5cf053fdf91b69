package survey

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/room"
	"github.com/ufs-stream/ufs-stream/internal/splitmix"
)

// makeSurrogate makes W·X/√m for the m×d centred points X and W of m×m independent normals: m rows with the covariance of
// the points, without clusters or any other form. The rows of W are hashes, so that no thread changes one.
func makeSurrogate(team *kernel.Team, x []float64, m, d int, seed uint64) []float64 {
	w := room.Make[float64](m * m)
	kernel.Each(team.Threads(), m, func(i int) {
		for k := range m {
			w[i*m+k] = normalOf(splitmix.Hash(seed, uint64(i)*uint64(m)+uint64(k)))
		}
	})
	out := room.Make[float64](m * d)
	kernel.Gemm(team, 1/math.Sqrt(float64(m)), kernel.RowMajor(w, m, m, m), kernel.RowMajor(x, m, d, d), kernel.RowMajor(out, m, d, d))
	return out
}

// normalOf is the sum of four even numbers of 16 bits, with mean 0 and variance 1. What is summed over rows needs no
// better normals: only the product's rows have to be normal.
func normalOf(bits uint64) float64 {
	const invDeviation = 2.64289979213030e-05 // 1/√(4·(2³²−1)/12)
	sum := bits&0xFFFF + bits>>16&0xFFFF + bits>>32&0xFFFF + bits>>48
	return (float64(sum) - 2*0xFFFF) * invDeviation
}
