package chunkio

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// hardValues are numbers that no narrow form may change, by kind.
var hardValues = map[string][]float64{
	"byte":   {0, 1, 255},
	"signed": {-128, 127},
	"below":  {-129, 0},
	"int16":  {-32768, 32767, 256},
	"int32":  {math.MinInt32, math.MaxInt32},
	"beyond": {math.MaxInt32 + 1, 1 << 53, 1 << 62, 1 << 63, 1 << 32},
	"zeros":  {0, math.Copysign(0, -1)},
	"minus":  {math.Copysign(0, -1), 1},
	"single": {0.5, float64(float32(0.1)), math.SmallestNonzeroFloat32, math.MaxFloat32, format.Null},
	"double": {0.1, math.SmallestNonzeroFloat64, math.MaxFloat64, math.Nextafter(1, 2)},
	"inf":    {1, math.Inf(1), math.Inf(-1)},
	"nan": {
		math.NaN(), math.Float64frombits(0x7FF8_0000_0000_0000), math.Float64frombits(0xFFF8_0000_0000_0000),
		math.Float64frombits(0x7FF0_0000_0000_0001), math.Float64frombits(0xFFFF_FFFF_FFFF_FFFF), math.Float64frombits(stream.InfBits),
		float64(math.Float32frombits(nullSingle)), format.Null,
	},
	"nulls": {format.Null, 0, 255},
}

// Every form converts back to the same bits, wherever a value stands and wherever one begins.
func TestNarrowFormsChangeNoBit(t *testing.T) {
	found := map[valueForm]bool{}
	check := func(x []float64) {
		t.Helper()
		f, _ := narrowestForm(x)
		found[f] = true
		held := f.convertValues(x)
		for _, from := range []int{0, 1, len(x) / 2, len(x) - 1} {
			got := make([]float64, len(x)-from)
			held.copyTo(got, from)
			for i, v := range got {
				if math.Float64bits(v) != math.Float64bits(x[from+i]) {
					t.Fatalf("form %d: %x is %x", f, math.Float64bits(x[from+i]), math.Float64bits(v))
				}
			}
		}
	}
	for _, n := range []int{1, 2, 15, 16, 17, 64, 100} {
		for _, base := range hardValues {
			for _, hard := range hardValues {
				for _, v := range hard {
					for _, at := range []int{0, n / 2, n - 1} {
						x := make([]float64, n)
						for i := range x {
							x[i] = base[i%len(base)]
						}
						x[at] = v
						check(x)
					}
				}
			}
		}
	}
	if len(found) != int(asDoubles)+1 {
		t.Errorf("forms %v came up", found)
	}
}

// BenchmarkKeep converts a column of a span, from the form and back.
func BenchmarkKeep(b *testing.B) {
	const n = 8192
	rng := rand.New(rand.NewPCG(1, 1))
	for name, value := range map[string]func() float64{
		"uint8":  func() float64 { return float64(rng.IntN(256)) },
		"int16":  func() float64 { return float64(rng.IntN(5000) - 2500) },
		"single": func() float64 { return float64(rng.Float32()) },
		"double": rng.Float64,
	} {
		x, dst := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = value()
		}
		b.Run(name+"/hold", func(b *testing.B) {
			b.SetBytes(8 * n)
			for b.Loop() {
				f, _ := narrowestForm(x)
				f.convertValues(x)
			}
		})
		f, _ := narrowestForm(x)
		held := f.convertValues(x)
		b.Run(name+"/to", func(b *testing.B) {
			b.SetBytes(8 * n)
			for b.Loop() {
				held.copyTo(dst, 0)
			}
		})
	}
}
