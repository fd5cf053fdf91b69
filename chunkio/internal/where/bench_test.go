package where

import (
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/internal/app/condition"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// BenchmarkRows evaluates conditions on decoded columns of 64 Ki rows.
func BenchmarkRows(b *testing.B) {
	const n = 1 << 16
	rng := rand.New(rand.NewPCG(1, 1))
	values, ids := make([]float64, n), make([]int32, n)
	for i := range values {
		values[i], ids[i] = rng.NormFloat64(), rng.Int32N(100)
	}
	list := &text.List{}
	for range 100 {
		list.Text = append(list.Text, "2026-01-0"...)
		list.Text = append(list.Text, byte('1'+rng.IntN(9)))
		list.EndValue()
	}
	list.Fixed = 100
	for _, text := range []string{"f > 0", "f in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)", "t >= '2026-01-05'", "day >= '2026-01-05'", "f > 0 and not t in ('2026-01-01', 'x')"} {
		b.Run(text, func(b *testing.B) {
			bound := must.Get(Bind(must.Get(condition.Parse(text))(b), kindOf))(b)
			r, bits := NewRows(bound), make([]uint64, n/64)
			for b.Loop() {
				r.Reset(bound.NewState(), n)
				for _, name := range bound.Columns() {
					if k, _ := kindOf(name); k.IsNumeric() {
						r.AddNumbers(name, values)
					} else if !r.AddTexts(name, 0, 0, ids, list) {
						b.Fatal("not understood")
					}
				}
				clear(bits)
				r.MarkSkipped(bits)
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
