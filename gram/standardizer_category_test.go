package gram

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Under the scales that centre, the indicator of a category of share p is (x − p)/√p, in rows and in G, regardless of
// the scale's factor for numbers; weights weigh p. Under other scales it is scaled like a number.
func TestCategoryScaling(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 8))
	const rows = 500
	x, w := make([]float64, 3*rows), make([]float64, rows)
	var share, weight float64
	for i := range rows {
		w[i] = float64(1 + rng.IntN(3))
		x[i] = float64(rng.IntN(4) / 3)
		x[rows+i], x[2*rows+i] = x[i], rng.NormFloat64()
		share += w[i] * x[i]
		weight += w[i]
	}
	share /= weight
	c := &stream.Chunk{Block: rows, Rows: rows, Cols: 3, Data: x, Stride: rows, Weight: w}
	cols := []stream.Column{{Name: "c=a", Type: stream.CategoryType, Block: "c"}, {Name: "n", Type: "int8"}, {Name: "x", Type: "double"}}
	for scale := ScaleNone; scale <= ScaleRank; scale++ {
		m := NewMoments(3, Options{Threads: 1})
		must.Do(t, m.Add(c))
		s := must.Get(NewStandardizer(&m.Profile, cols, scale, FillMean))(t)
		a := make([]float64, 3*rows)
		s.To(a, rows, c)
		centred := scale != ScaleNone && scale != ScaleMinMax && scale != ScaleUnit
		var square float64
		for i := range rows {
			want := a[rows+i] // as the number of the same values
			if centred {
				want = (x[i] - share) / math.Sqrt(share) * math.Sqrt(w[i])
			}
			square += want * want
			if math.Abs(a[i]-want) > 1e-13*(1+math.Abs(want)) {
				t.Fatalf("%v, row %d: %v, want %v", scale, i, a[i], want)
			}
		}
		g := must.Get(m.Finish(cols, FinishOptions{Scale: scale}))(t)
		if got := g.At(0, 0); math.Abs(got-square) > 1e-12*square {
			t.Errorf("%v: G is %v, want %v", scale, got, square)
		}
		if want := weight * (1 - share); centred && math.Abs(g.At(0, 0)-want) > 1e-12*want {
			t.Errorf("%v: G is %v, want Σw(1 − p) = %v", scale, g.At(0, 0), want)
		}
	}
}
