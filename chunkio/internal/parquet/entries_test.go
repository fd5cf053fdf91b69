package parquet

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// Values and nulls in any order go to the places of their levels, also if there are no values or no nulls.
func TestSpread(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 1000 {
		levels, share := make([]uint8, r.IntN(40)), r.IntN(11)
		for i := range levels {
			levels[i] = uint8(r.IntN(2))
			if r.IntN(10) < share {
				levels[i] = 2
			}
		}
		present := bytes.Count(levels, []byte{2})
		dst := make([]float64, len(levels))
		for i := range present {
			dst[i] = float64(i)
		}
		spreadValues(dst, levels, 2, present)
		next := 0.0
		for i, x := range dst {
			switch {
			case levels[i] != 2 && !format.IsNull(x):
				t.Fatalf("%v: entry %d is %g, want a null", levels, i, x)
			case levels[i] == 2 && x != next:
				t.Fatalf("%v: entry %d is %g, want %g", levels, i, x, next)
			case levels[i] == 2:
				next++
			}
		}
	}
}
