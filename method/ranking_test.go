package method

import (
	"strings"
	"testing"
)

// TestRankingCheck: parts that do not fit together are found, whichever they are.
func TestRankingCheck(t *testing.T) {
	scores := []float64{3, 1, 2}
	for _, c := range []struct {
		name string
		r    *Ranking
		want string // "" where nothing is wrong
	}{
		{"scored", &Ranking{Order: []int{0, 2, 1}, Scores: scores}, ""},
		{"scored, two chosen", &Ranking{Order: []int{0, 2}, Scores: scores}, ""},
		{"in turns", &Ranking{Order: []int{2, 0}, Turns: []float64{9, 8}}, ""},
		{"nothing chosen", &Ranking{Turns: []float64{}}, ""},
		{"explained", &Ranking{Order: []int{2}, Turns: []float64{9}, Error: []float64{0.5}, Explained: scores, Nearest: []int{2, 2, 2}}, ""},
		{"nil", nil, "no ranking"},
		{"outside", &Ranking{Order: []int{0, 3}, Scores: scores}, "feature 3"},
		{"below", &Ranking{Order: []int{-1}, Scores: scores}, "feature -1"},
		{"twice", &Ranking{Order: []int{0, 0}, Scores: scores}, "feature 0"},
		{"no scores", &Ranking{Order: []int{0, 1, 2}}, "0 scores, want 3"},
		{"few scores", &Ranking{Order: []int{0}, Scores: scores[:2]}, "2 scores, want 3"},
		{"few turns", &Ranking{Order: []int{0, 1}, Turns: scores[:1]}, "1 turns, want 2"},
		{"few errors", &Ranking{Order: []int{0, 1}, Scores: scores, Error: scores[:1]}, "1 errors, want 2"},
		{"not explained", &Ranking{Order: []int{0}, Scores: scores, Error: scores[:1]}, "0 explained shares, want 3"},
		{"none nearest", &Ranking{Order: []int{0}, Scores: scores, Error: scores[:1], Explained: scores}, "0 nearest features, want 3"},
	} {
		err := c.r.Check(3)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}
