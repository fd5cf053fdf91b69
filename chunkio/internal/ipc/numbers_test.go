package ipc

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

func TestHalfFloat(t *testing.T) {
	for h := range 1 << 16 {
		if got, want := format.Half(uint16(h)), formattest.NaiveHalf(uint16(h)); !formattest.SameBits(got, want) && (got != 0 || want != 0 || math.Signbit(got) != (h>>15 == 1)) {
			t.Fatalf("%#04x: %v, want %v", h, got, want)
		}
	}
}

// Decimals of every width, scale and size are the float64 nearest the exact quotient.
func TestDecimalFloat(t *testing.T) {
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
			q := new(big.Rat).SetInt(n)
			p := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil))
			if scale > 0 {
				p.Inv(p)
			}
			want, _ := q.Mul(q, p).Float64()
			if got := decimalFloat(littleEndian(n, size), scale); got != want {
				t.Fatalf("%v·10^%d in %d bytes: %v, want %v", n, -scale, size, got, want)
			}
		}
	}
}

// littleEndian is n in two's complement.
func littleEndian(n *big.Int, size int) []byte {
	m := new(big.Int).Set(n)
	if m.Sign() < 0 {
		m.Add(m, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	}
	b := m.FillBytes(make([]byte, size))
	for i := range size / 2 {
		b[i], b[size-1-i] = b[size-1-i], b[i]
	}
	return b
}

func TestIntegerExtremes(t *testing.T) {
	ones := bytes.Repeat([]byte{0xFF}, 8)
	least := []byte{0, 0, 0, 0, 0, 0, 0, 0x80}
	for bits := 8; bits <= 64; bits *= 2 {
		size := bits / 8
		for _, c := range []struct {
			raw    []byte
			signed bool
			want   float64
		}{
			{ones[:size], true, -1},
			{ones[:size], false, math.Ldexp(1, bits) - 1}, // 2^64 when rounded
			{least[8-size:], true, -math.Ldexp(1, bits-1)},
			{least[8-size:], false, math.Ldexp(1, bits-1)},
		} {
			f := field{kind: arrowInt, bits: bits, signed: c.signed}
			got := make([]float64, 1)
			if f.numbersTo(got, c.raw); got[0] != c.want {
				t.Errorf("%x as %d bits, signed %v: %v, want %v", c.raw, bits, c.signed, got[0], c.want)
			}
		}
	}
}
