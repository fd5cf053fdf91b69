package agree

import (
	"math"
	"testing"
)

// TestApart: a setting marked Apart has no neighbours, and is never recommended.
func TestApart(t *testing.T) {
	same, other := []int{0, 1, 2, 3}, []int{2, 3, 0, 1}
	g := &Grid{Width: 4, K: []int{2}, Settings: []Setting{
		{Order: same, Sound: true}, {Order: other, Sound: true, Apart: true}, {Order: same, Sound: true}, {Order: same, Sound: true},
	}}
	got := g.Agreement()
	if !math.IsNaN(got[0][0]) || !math.IsNaN(got[1][0]) || got[2][0] != 1 || got[3][0] != 1 {
		t.Errorf("agreement %v", got)
	}
	if at, why := g.Recommend(); at != 2 {
		t.Errorf("setting %d is recommended: %s", at, why)
	}
	for i := range g.Settings {
		g.Settings[i].Apart = true
	}
	if at, why := g.Recommend(); at != -1 || why != "" {
		t.Errorf("setting %d is recommended of none: %s", at, why)
	}
	g.Settings[3].Apart = false
	if at, _ := g.Recommend(); at != 3 {
		t.Errorf("setting %d is recommended, want the only one", at)
	}
}
