package parquet

import (
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// Indices of every width, in runs of either kind, skipped and read in pieces of any length; and an index beyond the
// table, at any position.
func TestDictionary(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for width := 0; width <= 32; width++ {
		table := make([]float64, 1+r.IntN(min(1<<width, 400)))
		for i := range table {
			table[i] = r.NormFloat64()
		}
		for range 20 {
			values := make([]uint32, 1+r.IntN(300))
			for i := range values {
				values[i] = uint32(r.IntN(len(table)))
				if i > 0 && r.IntN(3) > 0 {
					values[i] = values[i-1]
				}
			}
			skip := r.IntN(len(values) + 1)
			d := dictionary{size: len(table), table: table}
			formattest.Must(t, d.startPage(append([]byte{byte(width)}, encodeHybrid(r, values, width)...), skip))
			for at := skip; at < len(values); {
				got := make([]float64, 1+r.IntN(len(values)-at))
				formattest.Must(t, d.readValues(got))
				for i, x := range got {
					if want := table[values[at+i]]; x != want {
						t.Fatalf("width %d: value %d is %g, want %g", width, at+i, x, want)
					}
				}
				at += len(got)
			}
			if len(table) < 1<<width {
				values[r.IntN(len(values))] = uint32(len(table))
				d := dictionary{size: len(table), table: table}
				formattest.Must(t, d.startPage(append([]byte{byte(width)}, encodeHybrid(r, values, width)...), 0))
				if err := d.readValues(make([]float64, len(values))); err == nil {
					t.Fatalf("width %d: an index behind the table went unnoticed", width)
				}
			}
		}
	}
}
