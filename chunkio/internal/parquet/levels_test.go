package parquet

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// encodeHybrid writes values as a random mixture of repeated and packed runs.
func encodeHybrid(r *rand.Rand, values []uint32, width int) (b []byte) {
	for len(values) > 0 {
		same := 1
		for same < len(values) && values[same] == values[0] {
			same++
		}
		if same > 1 && r.IntN(4) > 0 {
			b = binary.AppendUvarint(b, uint64(same)<<1)
			var le [4]byte
			binary.LittleEndian.PutUint32(le[:], values[0])
			b = append(b, le[:(width+7)/8]...)
			values = values[same:]
			continue
		}
		groups := 1 + r.IntN(4)
		b = binary.AppendUvarint(b, uint64(groups)<<1|1)
		packed := make([]byte, groups*width)
		for i := range min(8*groups, len(values)) {
			for bit := range width {
				at := i*width + bit
				packed[at/8] |= byte(values[i]>>bit&1) << (at % 8)
			}
		}
		b = append(b, packed...)
		values = values[min(8*groups, len(values)):]
	}
	return b
}

func TestHybrid(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for width := 0; width <= 32; width++ {
		for range 20 {
			values := make([]uint32, 1+r.IntN(300))
			for i := range values {
				values[i] = uint32(r.Uint64() & (1<<width - 1))
				if i > 0 && r.IntN(3) > 0 {
					values[i] = values[i-1]
				}
			}
			b := encodeHybrid(r, values, width)
			limit, wanted := uint32(0), values[r.IntN(len(values))]
			found, skip := 0, r.IntN(len(values)+1)
			for i, v := range values {
				limit = max(limit, v)
				if i >= skip && v == wanted {
					found++
				}
			}
			h := hybridReader{rest: b, width: width}
			formattest.Must(t, h.skip(skip))
			if got, err := h.countEqual(len(values)-skip, limit, wanted); err != nil || got != found {
				t.Fatalf("width %d: found %d, want %d, %v", width, got, found, err)
			}
			if limit > 0 {
				h = hybridReader{rest: b, width: width}
				if _, err := h.countEqual(len(values), limit-1, wanted); err == nil {
					t.Fatal("a value above the limit went unnoticed")
				}
			}
			if width <= 8 {
				got := make([]uint8, len(values))
				h = hybridReader{rest: b, width: width}
				formattest.Must(t, h.readLevels(got))
				for i, v := range got {
					if uint32(v) != values[i] {
						t.Fatalf("width %d: value %d is %d, want %d", width, i, v, values[i])
					}
				}
			}
		}
	}
}

// TestHybridShort: running out of bytes is an error, never zeros.
func TestHybridShort(t *testing.T) {
	for _, b := range [][]byte{{}, {0x80}, {0x03}, {0x03, 0xFF}, {0x10}, {0x00, 0x01}, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}} {
		h := hybridReader{rest: b, width: 3}
		if err := h.skip(8); err == nil {
			t.Errorf("8 values were found in %x", b)
		}
	}
}
