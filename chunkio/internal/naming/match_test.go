package naming

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

func TestPatternsMatchNames(t *testing.T) {
	names := []ColumnName{{Flat: "a"}, {Flat: "a/b"}, {Flat: "emb3"}, {Flat: "emb[3]", List: "emb"}, {Flat: "emb[4]", List: "emb"}, {Flat: "px_1_2"}, {Flat: "x*"}, {Flat: "xy"}}
	name := func(i int) ColumnName { return names[i] }
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
		matched, err := MatchPatterns("columns", strings.Fields(c.patterns), len(names), name)
		if err != nil {
			t.Errorf("matching %s: %v", c.patterns, err)
			continue
		}
		var got []string
		for i, m := range matched {
			if m {
				got = append(got, names[i].Flat)
			}
		}
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s matches %v, want %s", c.patterns, got, c.want)
		}
	}
	for pattern, words := range map[string]string{"px_1_3": "did you mean px_1_2?", "zzzzzz*": "no column", "{a": "malformed"} {
		if _, err := MatchPatterns("exclude", []string{pattern}, len(names), name); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: error %v, want %q", pattern, err, words)
		}
	}
}

// Selections name thousands of columns: time must grow with names and patterns, not
// with their product.
func BenchmarkMatchExactNames(b *testing.B) {
	for _, n := range []int{1000, 16_000} {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("emb[%d]", i)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := MatchNames("columns", names, names); err != nil {
					b.Fatalf("matching %d names: %v", n, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n)/float64(b.N), "ns/name")
		})
	}
}
