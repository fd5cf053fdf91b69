package agree

import (
	"math"
	"strings"
	"testing"
)

// TestApart: a setting marked Apart has no neighbours, and is never recommended.
func TestApart(t *testing.T) {
	same, other := []int{0, 1, 2, 3}, []int{2, 3, 0, 1}
	g := &Grid{Width: 4, K: []int{2}, Settings: []Setting{
		{Order: same, Sound: true}, {Order: other, Sound: true, Apart: true}, {Order: same, Sound: true}, {Order: same, Sound: true},
	}}
	got := g.AgreementByK()
	if !math.IsNaN(got[0][0]) || !math.IsNaN(got[1][0]) || got[2][0] != 1 || got[3][0] != 1 {
		t.Errorf("agreement %v", got)
	}
	if at, why := g.RecommendSetting(); at != 2 {
		t.Errorf("setting %d is recommended: %s", at, why)
	}
	for i := range g.Settings {
		g.Settings[i].Apart = true
	}
	if at, why := g.RecommendSetting(); at != -1 || why != "" {
		t.Errorf("setting %d is recommended of none: %s", at, why)
	}
	g.Settings[3].Apart = false
	if at, _ := g.RecommendSetting(); at != 3 {
		t.Errorf("setting %d is recommended, want the only one", at)
	}
}

// settings makes a grid whose settings choose groups of 8 features: the setting with letter c takes c's features first.
// A small letter is unsound.
func settings(rows ...string) *Grid {
	g := &Grid{Width: len(rows[0]), K: []int{2}}
	for _, c := range strings.Join(rows, "") {
		one := Setting{Sound: c < 'a'}
		first := 2 * int((c|0x20)-'a')
		for i := range 8 {
			one.Order = append(one.Order, (first+i)%8)
		}
		g.Settings = append(g.Settings, one)
	}
	return g
}

// TestRecommend: the middle of the largest region of sound settings that agree is recommended, and the reason given.
func TestRecommend(t *testing.T) {
	for _, c := range []struct {
		rows []string
		want int
		why  string
	}{
		{[]string{"A"}, 0, "only"},
		{[]string{"a"}, -1, ""},
		{[]string{"AB"}, 0, "no two"},
		{[]string{"AAABB"}, 1, "3 of 5"},
		{[]string{"AaABB"}, 3, "2 of 4"},
		{[]string{"AAAB", "AAAB", "AAAB"}, 5, "9 of 12"},
		{[]string{"AAB", "BBB", "CDB"}, 4, "5 of 9"},
		{[]string{"bbbb", "bbCb"}, 6, "no two"},
	} {
		if at, why := settings(c.rows...).RecommendSetting(); at != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%q: setting %d, %q; want %d, %q", c.rows, at, why, c.want, c.why)
		}
	}
}

// TestAgreement: a setting agrees with its neighbours to their mean Jaccard index, of sets of other sizes too.
func TestAgreement(t *testing.T) {
	got := settings("AAB", "CAB").AgreementByK()
	for i, want := range []float64{0.5, 2. / 3, 0.5, 0, 1. / 3, 0.5} {
		if math.Abs(got[i][0]-want) > 1e-15 { // a sum of thirds
			t.Errorf("setting %d agrees to %v, want %v", i, got[i], want)
		}
	}
	if got := Jaccard([]int{0, 1, 2, 3}, []int{3, 2, 0, 1}, 3); got != 0.5 {
		t.Errorf("Jaccard index %v of {0 1 2} and {0 2 3}", got)
	}
	if got := Jaccard([]int{7, 9}, []int{9, 2, 4}, 5); got != 0.25 {
		t.Errorf("Jaccard index %v of {7 9} and {2 4 9}", got)
	}
	if got := settings("A").AgreementByK(); !math.IsNaN(got[0][0]) {
		t.Errorf("agreement %v without neighbours", got)
	}
}
