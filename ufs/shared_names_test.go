package ufs

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// twoOfAName is a text with two columns a, beside A and b.
const twoOfAName = "a,b,a,A\n1,2,x,3\n4,5,y,7\n6,9,,1\n"

// TestStatsOfSharedNames: a statistics file says of names that several columns of its input have what the input says.
func TestStatsOfSharedNames(t *testing.T) {
	input, stats := textFile(t, "two.csv", twoOfAName), filepath.Join(t.TempDir(), "two.ufs")
	must.Get(Scan(t.Context(), ScanRequest{Request: Request{Inputs: []string{input}, Output: stats}}))(t)
	excluded := func(name string) stream.LeftOut { return stream.LeftOut{Name: name, Why: chunkio.Excluded} }
	notAsked := func(name string) stream.LeftOut { return stream.LeftOut{Name: name, Why: chunkio.NotAskedFor} }
	shares := stream.LeftOut{Name: "a", Why: chunkio.SharedName}
	for _, from := range []Request{{Inputs: []string{input}}, {Stats: stats}} {
		from.Method, from.K = "greedy", 1
		for _, refused := range []func(q *Request){func(q *Request) { q.Columns = []string{"a", "b"} }, func(q *Request) { q.Label = "a" }} {
			q := from
			refused(&q)
			if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), "a: the name is ambiguous") {
				t.Errorf("%+v: %v", q, err)
			}
		}
		if s := must.Get(Select(t.Context(), from))(t); !strings.Contains(strings.Join(s.Warnings, " "), "share a name") {
			t.Errorf("%+v: warnings %q", from, s.Warnings)
		}
		for _, c := range []struct {
			columns, exclude []string
			want             []stream.LeftOut
		}{
			{nil, []string{"a"}, []stream.LeftOut{excluded("a"), excluded("a")}},
			{nil, []string{"a*"}, []stream.LeftOut{excluded("a"), excluded("a")}},
			{nil, []string{"[a]"}, []stream.LeftOut{excluded("a"), excluded("a")}},
			{nil, []string{"[aA]"}, []stream.LeftOut{excluded("A"), excluded("a"), excluded("a")}},
			{nil, []string{"A"}, []stream.LeftOut{excluded("A"), shares, shares}},
			{[]string{"b", "A"}, nil, []stream.LeftOut{notAsked("a"), notAsked("a")}},
			{[]string{"[ab]"}, nil, []stream.LeftOut{notAsked("A"), shares, shares}},
			{[]string{"*"}, []string{"a", "b"}, []stream.LeftOut{excluded("a"), excluded("a"), excluded("b")}},
		} {
			q := from
			q.Columns, q.Exclude = c.columns, c.exclude
			s := must.Get(Select(t.Context(), q))(t)
			slices.SortStableFunc(s.LeftOut, func(a, b stream.LeftOut) int { return strings.Compare(a.Name, b.Name) })
			warned := strings.Contains(strings.Join(s.Warnings, " "), "share a name")
			if warned != slices.Contains(c.want, shares) || !slices.Equal(s.LeftOut, c.want) {
				t.Errorf("%+v: left out %v, want %v; warnings %q", q, s.LeftOut, c.want, s.Warnings)
			}
		}
	}
}

// TestExplainSharedNames: what a selection records is no option that was given, and the error is of the input.
func TestExplainSharedNames(t *testing.T) {
	other, two := textFile(t, "one.csv", "a,b,A\n1,2,3\n4,5,7\n6,9,1\n"), textFile(t, "two.csv", twoOfAName)
	for _, q := range []Request{{Columns: []string{"a", "b"}, K: 1}, {Label: "a", K: 1}, {Where: "a > 0", K: 1}} {
		q.Inputs, q.Method = []string{other}, "greedy"
		o := ExplainRequest{Request: Request{Inputs: []string{two}}, Selection: must.Get(Select(t.Context(), q))(t), Names: []string{"b"}}
		_, err := Explain(t.Context(), o)
		if e := (*stream.DataError)(nil); !errors.As(err, &e) || e.Path != two || e.Column != "a" || !strings.Contains(err.Error(), "rename them") {
			t.Errorf("%+v: %v", q, err)
		}
	}
}
