package stream

import (
	"math"
	"testing"
)

// An entry that is missing is NaN, and keeps its kind.
func TestMissedKeepsTheKind(t *testing.T) {
	strange := math.Float64frombits(InfBits) // of a file, as its own NaN
	for _, c := range []struct {
		x    float64
		want MissingCount
	}{
		{math.Float64frombits(NullBits), MissingCount{Nulls: 1}},
		{math.NaN(), MissingCount{NaNs: 1}},
		{strange, MissingCount{NaNs: 1}},
		{math.Inf(1), MissingCount{Infs: 1}},
		{math.Inf(-1), MissingCount{Infs: 1}},
	} {
		missed := MissingValue(c.x)
		var got MissingCount
		if got.Add(missed); got != c.want || !math.IsNaN(missed) {
			t.Errorf("%#x: %v, counted as %+v, want %+v", math.Float64bits(c.x), missed, got, c.want)
		}
	}
}
