package glob

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCountAlternatives: the number of patterns that braces stand for is that of writing them all out.
func TestCountAlternatives(t *testing.T) {
	for pattern, want := range map[string][2]int{
		"": {1, 0}, "a*": {1, 0}, "{a}": {1, 1}, "{a,b}": {2, 1}, "{,a}": {2, 1}, "{a,b}{c,d,e}": {6, 1}, "{a,{b,c}{d,e}}": {5, 2},
		`\{a,b\}`: {1, 0}, "[{,}]": {1, 0}, `[\]{,]{a,b}`: {2, 1}, "a,b}": {1, 0}, "{{{{a,b}}}}": {2, 4}, "[{": {1, 0},
		strings.Repeat("{a,b}", 9): {512, 1}, strings.Repeat("{a,b}", 10): {maxAlternatives + 1, 1}, strings.Repeat("{a,b}", 100_000): {maxAlternatives + 1, 1},
	} {
		if alternatives, nested := countAlternatives(pattern); [2]int{alternatives, nested} != want {
			t.Errorf("%.40q: %d patterns, braces %d deep, want %d", pattern, alternatives, nested, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var draw func(deep int) (pattern string, written []string)
	draw = func(deep int) (pattern string, written []string) {
		written = []string{""}
		for range rng.IntN(3) {
			part, all := "x", []string{"x"}
			if deep > 0 {
				var branches []string
				all = nil
				for range 1 + rng.IntN(3) {
					branch, of := draw(deep - 1)
					branches, all = append(branches, branch), append(all, of...)
				}
				part = "{" + strings.Join(branches, ",") + "}"
			}
			pattern += part
			var next []string
			for _, w := range written {
				for _, a := range all {
					next = append(next, w+a)
				}
			}
			written = next
		}
		return pattern, written
	}
	for range 2000 {
		pattern, written := draw(rng.IntN(4))
		if got, _ := countAlternatives(pattern); got != min(len(written), maxAlternatives+1) {
			t.Errorf("%s: %d patterns, want %d", pattern, got, len(written))
		}
	}
}
