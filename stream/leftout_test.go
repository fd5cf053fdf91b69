package stream

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBySeverity: from any order a list comes leaks, identifiers, copies, mostly missing, other reasons, texts and dates,
// and columns left out by the user; equals keep their order. A longer word is no type.
func TestBySeverity(t *testing.T) {
	want := []string{
		"nearly determines the label y (97 %)", "looks like an identifier: whole numbers that hardly repeat", "a copy of date",
		"mostly missing (80.0 % of the rows)", "constant (3 in every row)", "text (line 132: \"?\")", "excluded",
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		var list []LeftOut
		for _, i := range random.Perm(len(want)) {
			list = append(list, LeftOut{Name: "a", Why: want[i]}, LeftOut{Name: "b", Why: want[i]})
		}
		before := slices.Clone(list)
		var got []string
		for i, l := range BySeverity(list) {
			got = append(got, l.Why)
			if name := []string{"a", "b"}[i%2]; l.Name != name {
				t.Errorf("%s comes as %d of %v", l.Name, i, list)
			}
		}
		if got = slices.Compact(got); !slices.Equal(got, want) || !slices.Equal(list, before) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if a, b := severityRank("textile weights"), severityRank("date"); a != otherSeverity || b <= otherSeverity {
		t.Errorf("severities %d and %d", a, b)
	}
	warnings := []string{"few rows", "2 columns are copies: a (of b)", "1 column nearly determines the label y: c", "text"}
	if got := WarningsBySeverity(warnings); !slices.Equal(got, []string{warnings[2], warnings[1], warnings[0], warnings[3]}) {
		t.Errorf("the order is %q", got)
	}
}
