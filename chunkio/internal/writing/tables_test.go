package writing_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// CountTable returns d columns w0, w1, … of the type typ. Most numbers, some rows and some columns are zero.
func CountTable(rows, d, block int, typ string) *chunkiotest.TableSource {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(d)))
	s := &chunkiotest.TableSource{Height: rows, Block: block}
	for j := range d {
		col := make([]float64, rows)
		for i := range col {
			switch rng.IntN(9) {
			case 0:
				col[i] = float64(rng.IntN(5))
			case 1:
				if col[i] = rng.NormFloat64(); typ == "float" {
					col[i] = float64(float32(col[i]))
				}
			}
		}
		s.Names, s.Cols = append(s.Names, stream.Column{Name: fmt.Sprint("w", j), Type: typ}), append(s.Cols, col)
	}
	for j := range s.Cols {
		for i := range rows {
			if i%4 == 3 || d > 2 && j == 1 {
				s.Cols[j][i] = 0
			}
		}
	}
	return s
}
