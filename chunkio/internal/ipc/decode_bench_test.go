package ipc

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// BenchmarkDecode reads 64 columns of 65,536 rows; it counts the bytes of the delivered float64.
func BenchmarkDecode(b *testing.B) {
	const rows, cols = 1 << 16, 64
	for _, typ := range []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Uint8} {
		rng := rand.New(rand.NewPCG(1, 1))
		rec := randomRecord(rng, 0.01, rows, slices.Repeat([]arrow.DataType{typ}, cols)...)
		for name, opts := range compressions {
			file := formattest.WriteArrow(b, false, []arrow.Record{rec}, opts...)
			b.Run(fmt.Sprintf("%v/%s", typ, name), func(b *testing.B) {
				dst := [][]float64{make([]float64, rows)}
				b.SetBytes(rows * cols * 8)
				b.ReportAllocs()
				for b.Loop() {
					f, err := Open(formattest.NewMemory(file), 1<<30)
					formattest.Must(b, err)
					g, err := f.Open(b.Context(), 0, nil)
					formattest.Must(b, err)
					for l := range cols {
						formattest.Must(b, g.Decode(b.Context(), l, 0, rows, dst))
					}
				}
			})
		}
	}
}
