package format_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		if got, want := format.HalfFloat(uint16(h)), formattest.NaiveHalf(uint16(h)); !formattest.SameBits(got, want) && (got != 0 || want != 0 || math.Signbit(got) != (h>>15 == 1)) {
			t.Fatalf("%#04x: %v, want %v", h, got, want)
		}
	}
}

// Decimals of every width, scale and size are the float64 nearest the exact quotient.
func TestDecimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, size := range []int{4, 8, 16, 32} {
		for range 4000 {
			n := new(big.Int).SetUint64(rng.Uint64())
			for range size/8 - 1 {
				n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(rng.Uint64()))
			}
			n.Rsh(n, uint(rng.IntN(8*size)))
			n.And(n, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(8*size-1)), big.NewInt(1)))
			if rng.IntN(2) == 0 {
				n.Not(n) // −n−1, so that the most negative one comes up too
			}
			scale := rng.IntN(60) - 20
			want := formattest.NaiveDecimal(n, scale)
			if got := format.DecimalFloat(formattest.BigEndian(n, size), scale); got != want {
				t.Fatalf("%v·10^%d in %d bytes: %v, want %v", n, -scale, size, got, want)
			}
		}
	}
}
