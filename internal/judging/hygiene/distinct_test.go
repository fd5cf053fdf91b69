package hygiene

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestSketchIsTheLeastHashes against all values in memory.
func TestSketchIsTheLeastHashes(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{1, sketchSize - 1, sketchSize, sketchSize + 1, 5000} {
		values, count := make([]float64, n), map[float64]uint32{}
		var parts [3]distinctSketch
		for i := range values {
			values[i] = float64(r.IntN(2 * n))
			count[values[i]]++
			parts[r.IntN(3)].addValue(values[i])
		}
		var whole distinctSketch
		for _, x := range values {
			whole.addValue(x)
		}
		var sum distinctSketch
		for i := range parts {
			sum.mergeSketch(&parts[i])
		}
		if !reflect.DeepEqual(sum.hash, whole.hash) || !reflect.DeepEqual(sum.count, whole.count) || sum.seen != whole.seen {
			t.Errorf("%d values: parts differ from the whole", n)
		}
		for x, times := range count {
			var one distinctSketch
			one.addValue(x)
			at, kept := slices.BinarySearch(whole.hash, one.hash[0])
			if kept != (at < sketchSize && (kept || one.hash[0] < whole.hash[len(whole.hash)-1])) || kept && whole.count[at] != times {
				t.Fatalf("%d values: %v is kept %v", n, x, kept)
			}
		}
		if want := min(len(count), sketchSize); len(whole.hash) != want {
			t.Errorf("%d values: %d hashes, want %d", n, len(whole.hash), want)
		}
		// The share of 256 of the distinct values is off by 2 of the standard errors, which are at most
		// 0.5/√256 of it.
		if got, want := whole.distinctShare(), float64(len(count))/float64(n); math.Abs(got-want) > want/16 {
			t.Errorf("%d values: share %v, want %v", n, got, want)
		}
	}
}

// TestManyIdentifiersAreMeasurements: in one read as in parts.
func TestManyIdentifiersAreMeasurements(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, d := range []int{maxSketched, maxSketched + 1} {
		tab := &table{label: make([]float64, 200)}
		for j := range d {
			tab.add(fmt.Sprint(j), func(int) float64 { return float64(r.Uint32()) })
		}
		for _, parts := range []int{1, 2} {
			g := tab.gather(t, 0, 200/parts, 100)
			if parts == 2 {
				g.merge(t, tab.gather(t, 100, 200, 100))
			}
			if got, want := len(g.facts.FindSuspects(g.profile, nil, 0.5)), d; (got == want) != (d == maxSketched) || got != want && got != 0 {
				t.Errorf("%d columns, %d parts: %d suspects", d, parts, got)
			}
		}
	}
}

// TestMeasurementsAreNoIdentifiers: whole numbers that differ as chance has them differ.
func TestMeasurementsAreNoIdentifiers(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, n := range []int{120, 1000, 20000} {
		tab := &table{label: make([]float64, n)}
		for _, sd := range []float64{1, 100, 1e4, 1e5} {
			tab.add(fmt.Sprint("normal ", sd), func(int) float64 { return math.Round(sd * r.NormFloat64()) })
			tab.add(fmt.Sprint("uniform ", sd), func(int) float64 { return math.Floor(sd * r.Float64()) })
			tab.add(fmt.Sprint("skewed ", sd), func(int) float64 { return math.Floor(sd * r.ExpFloat64()) })
		}
		if got := tab.say(tab.gather(t, 0, n, 999)); got != nil {
			t.Errorf("%d rows: %q", n, got)
		}
	}
}
