package survey

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
)

// columnsOf makes n rows of d columns: value(i, j) of row i and column j.
func columnsOf(n, d int, value func(i, j int) float64) *Table {
	x := make([]float64, n*d)
	for i := range n {
		for j := range d {
			x[i*d+j] = value(i, j)
		}
	}
	return tableOf(x, n, d)
}

// Tables of each kind have the unit that a reader would see in them.
func TestUnits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name  string
		value func(i, j int) float64
		want  Unit
	}{
		{"pixels of 0 to 255, dark at the border", func(i, j int) float64 { return math.Floor(255 * r.Float64() * float64(1+j%8) / 8) }, Shared},
		{"expression levels of other means", func(i, j int) float64 { return 6 + math.Sin(float64(j)) + r.NormFloat64() }, Shared},
		{"raw intensities, log-normal", func(i, j int) float64 { return 100 * math.Exp(math.Sin(float64(j))+r.NormFloat64()) }, Shared},
		{"grades of 0 to 3", func(i, j int) float64 { return float64(r.IntN(4)) }, Shared},
		{"grades beside one age", func(i, j int) float64 {
			if j == 0 {
				return 20 + 50*r.Float64()
			}
			return float64(r.IntN(4))
		}, Differing},
		{"temperatures, pressures and speeds", func(i, j int) float64 {
			return []float64{20, 1013, 3000}[j%3] + []float64{3, 10, 200}[j%3]*r.NormFloat64()
		}, Differing},
		{"centred values of all sizes", func(i, j int) float64 { return math.Pow(10, float64(j%6)-3) * r.NormFloat64() }, Differing},
		{"words", func(i, j int) float64 { return math.Floor(1.04 / (r.Float64() + 0.04) / 8) }, Counts},
		{"few words in many rows, weighted", func(i, j int) float64 { return max(0, r.Float64()-0.95) }, Counts},
		{"constant columns", func(i, j int) float64 { return float64(j) }, Shared},
	} {
		if got := decideUnit(columnsOf(200, 30, c.value)); got != c.want {
			t.Errorf("%s: unit %d, want %d", c.name, got, c.want)
		}
	}
}

// The overlap of many columns' ranges, of which some pairs are taken, is that of all pairs.
func TestOverlapOfSomePairs(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	var once, twice []*Column
	for range 60 {
		c := &Column{Min: r.Float64(), Max: 1 + r.Float64(), Std: 1}
		once, twice = append(once, c), append(twice, c, c)
	}
	// Overlaps have a deviation of some 0.2, and so the median of 2,000 one of 0.006; a hundredth of the pairs are of equals.
	a, b := computeMedianOverlap(once), computeMedianOverlap(twice)
	if math.Abs(a-b) > 0.025 || !(a > 0.3 && a < 0.7) {
		t.Errorf("of all pairs %v, of 2,000 of 7,140 pairs %v", a, b)
	}
}

// A scale that the user gives is followed, and one that is none refused.
func TestGivenScale(t *testing.T) {
	table, _ := makeLake(1, 200, 4, 4, 0, true)
	for name, want := range map[string]gram.Scale{
		"": gram.ScaleStandard, "none": gram.ScaleNone, "center": gram.ScaleCenter, "pareto": gram.ScalePareto,
		"minmax": gram.ScaleMinMax, "unit": gram.ScaleUnit, "rank": gram.ScaleRank, "standard": gram.ScaleStandard,
	} {
		if got := lookAt(t, table, Options{Scale: name}); got.Scale != want {
			t.Errorf("scale %q: %v, want %v", name, got.Scale, want)
		}
	}
	if _, err := ExamineTable(t.Context(), table, Options{Scale: "loud"}); err == nil {
		t.Error("scale loud is taken")
	}
}
