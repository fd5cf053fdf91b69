package gram

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// For any set of small whole columns, and in any strips, the sums equal float64 sums, to the bit.
func TestWholeNumbersChangeNoBit(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 16))
	kinds := map[string]func(i, j, n int) float64{
		"pixels": func(int, int, int) float64 { return float64(r.IntN(256)) },
		"halves": func(int, int, int) float64 { return float64(r.IntN(256)) / 2 },
		"every third not": func(_, j, _ int) float64 {
			return map[bool]float64{true: r.NormFloat64(), false: float64(r.IntN(9))}[j%3 == 1]
		},
		"the last not": func(_, j, n int) float64 {
			return map[bool]float64{true: r.NormFloat64(), false: float64(r.IntN(9))}[j == n-1]
		},
		"some strips not": func(i, j, _ int) float64 {
			return map[bool]float64{true: r.NormFloat64() + float64(j), false: float64(r.IntN(9))}[i/stripRows == 1 && j < 20]
		},
		"mostly zero": func(i, j, _ int) float64 { return map[bool]float64{true: float64(r.IntN(5))}[(i/stripRows+j)%4 == 0] },
		"zero or not whole": func(i, j, _ int) float64 {
			return map[bool]float64{true: r.NormFloat64() * map[bool]float64{true: 1}[j%3 > 0]}[(i/stripRows+j)%4 == 0]
		},
		"at the limit": func(i, j, _ int) float64 { return float64(min(i, 1) * kernel.MostWhole * (2*(j%2) - 1)) },
		"beyond it":    func(i, j, _ int) float64 { return float64(min(i, 1) * (kernel.MostWhole + j%2)) },
		"large pilots": func(_, j, _ int) float64 { return 1e12*float64(j) + float64(r.IntN(100)) },
	}
	for name, value := range kinds {
		for _, d := range []int{1, 7, 100, 131} {
			for _, rows := range []int{1, 255, 256, 3*stripRows + 9} {
				c := &stream.Chunk{Block: rows, Rows: rows, Cols: d, Stride: rows, Data: make([]float64, d*rows)}
				for i := range rows {
					for j := range d {
						c.Data[j*rows+i] = value(i, j, d)
					}
				}
				m := NewMoments(d, Options{Threads: 2})
				must.Do(t, m.Add(c))
				want := make([]float64, d*d)
				for from := 0; from < rows; from += stripRows {
					n := min(stripRows, rows-from)
					x := make([]float64, d*n)
					for j := range d {
						for i, v := range c.Col(j)[from : from+n] {
							x[j*n+i] = v - c.Data[j*rows]
						}
					}
					kernel.Syrk(kernel.NewTeam(1), 1, kernel.RowMajor(x, d, n, n), kernel.RowMajor(want, d, d, d))
				}
				if !slices.Equal(m.g, want) {
					t.Errorf("%s, %s: other bits", name, fmt.Sprint(rows, d))
				}
			}
		}
	}
}
