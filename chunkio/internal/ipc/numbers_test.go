package ipc

import (
	"bytes"
	"math"
	"testing"
)

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
			if f.convertNumbers(got, c.raw); got[0] != c.want {
				t.Errorf("%x as %d bits, signed %v: %v, want %v", c.raw, bits, c.signed, got[0], c.want)
			}
		}
	}
}
