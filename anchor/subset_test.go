package anchor

import (
	"bytes"
	"testing"
)

// A sample reduced to some columns is the sample of the table of those columns, and
// takes further rows of it.
func TestSamplerKeepsColumns(t *testing.T) {
	tab := clusters(300, 5, 4).holes()
	for _, wanted := range [][]bool{
		{true, true, true, true, true}, {false, true, false, true, true}, {false, false, true, false, false}, {true, false, false, false, false},
	} {
		var some table
		for j, want := range wanted {
			if want {
				some.Cols = append(some.Cols, tab.Cols[j])
			}
		}
		s, whole := NewSampler(5, SamplerOptions{Rows: 20, Seed: 1}), NewSampler(len(some.Cols), SamplerOptions{Rows: 20, Seed: 1})
		tab.AddRows(t, s, 0, 100, 64)
		s.Keep(wanted)
		some.AddRows(t, s, 100, 300, 64)
		some.AddRows(t, whole, 0, 300, 64)
		if !bytes.Equal(written(t, s), written(t, whole)) {
			t.Errorf("%v: another sample", wanted)
		}
	}
}
