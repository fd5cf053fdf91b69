package chunkio

import (
	"slices"
	"strings"
	"testing"
)

func TestPatternsMatchNames(t *testing.T) {
	names := []columnName{{flat: "a"}, {flat: "a/b"}, {flat: "emb3"}, {"emb[3]", "emb"}, {"emb[4]", "emb"}, {flat: "px_1_2"}, {flat: "x*"}, {flat: "xy"}}
	for _, c := range []struct{ patterns, want string }{
		{"a", "a"},
		{"a*", "a a/b"},
		{"*", "a a/b emb3 emb[3] emb[4] px_1_2 x* xy"},
		{"emb[3]", "emb[3]"}, // not the glob, which is emb3
		{"emb[35]", "emb3"},
		{"emb", "emb[3] emb[4]"},
		{"emb*", "emb3 emb[3] emb[4]"},
		{"px_?_?", "px_1_2"},
		{"x*", "x*"},
		{"{a,xy}", "a xy"},
		{"a xy", "a xy"},
	} {
		matched, err := matchPatterns("--columns", strings.Fields(c.patterns), names)
		if err != nil {
			t.Errorf("%s: %v", c.patterns, err)
			continue
		}
		var got []string
		for i, m := range matched {
			if m {
				got = append(got, names[i].flat)
			}
		}
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s matches %v, want %s", c.patterns, got, c.want)
		}
	}
	for pattern, words := range map[string]string{"px_1_3": "did you mean px_1_2?", "zzzzzz*": "no column", "{a": "malformed"} {
		if _, err := matchPatterns("--exclude", []string{pattern}, names); !isUsage(err) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: error %v, want %q", pattern, err, words)
		}
	}
}

func TestSuggest(t *testing.T) {
	among := []string{"price", "prices", "label", "weight", "größe"}
	for name, want := range map[string]string{
		"pirce": "price", "Label": "label", "wieght": "weight", "x": "", "temperature": "", "grösse": "größe", "": "", "y": "",
	} {
		if got := Suggest(name, among); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", name, got, want)
		}
	}
}
