package ufs

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// twoOfAName is a text with two columns a, beside A and b.
const twoOfAName = "a,b,a,A\n1,2,x,3\n4,5,y,7\n6,9,,1\n"

// TestStatsOfSharedNames: names shared by several columns of the input give the same errors from a statistics
// file as from the input.
func TestStatsOfSharedNames(t *testing.T) {
	input, stats := textFile(t, "two.csv", twoOfAName), filepath.Join(t.TempDir(), "two.ufs")
	must.Get(Scan(t.Context(), ScanRequest{Request: Request{Input: Input{Paths: []string{input}}, Output: stats}}))(t)
	// leftOut has the columns at these positions of a,b,a,A.
	leftOut := func(why string, at ...int) (list []stream.LeftOut) {
		for _, i := range at {
			list = append(list, stream.LeftOut{Name: []string{"a", "b", "a", "A"}[i], Why: why, Column: stream.PositionAt(i)})
		}
		return list
	}
	shares := leftOut(chunkio.SharedName, 0, 2)
	for _, from := range []Request{{Input: Input{Paths: []string{input}}}, {Stats: stats}} {
		from.Choice.Method, from.Choice.K = "greedy", 1
		for _, refused := range []func(q *Request){func(q *Request) { q.Columns.Names = []string{"a", "b"} }, func(q *Request) { q.Columns.Label = "a" }} {
			q := from
			refused(&q)
			if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), "a: the name is ambiguous") {
				t.Errorf("%+v: got %v, want the refusal of an ambiguous name", q, err)
			}
		}
		if s := must.Get(Select(t.Context(), from))(t); !strings.Contains(strings.Join(s.Warnings, " "), "share a name") {
			t.Errorf("%+v: warnings %q", from, s.Warnings)
		}
		for _, c := range []struct {
			columns, exclude []string
			want             []stream.LeftOut
		}{
			{nil, []string{"a"}, leftOut(chunkio.Excluded, 0, 2)},
			{nil, []string{"a*"}, leftOut(chunkio.Excluded, 0, 2)},
			{nil, []string{"[a]"}, leftOut(chunkio.Excluded, 0, 2)},
			{nil, []string{"[aA]"}, leftOut(chunkio.Excluded, 3, 0, 2)},
			{nil, []string{"A"}, append(leftOut(chunkio.Excluded, 3), shares...)},
			{[]string{"b", "A"}, nil, leftOut(chunkio.NotAskedFor, 0, 2)},
			{[]string{"[ab]"}, nil, append(leftOut(chunkio.NotAskedFor, 3), shares...)},
			{[]string{"*"}, []string{"a", "b"}, leftOut(chunkio.Excluded, 0, 2, 1)},
		} {
			q := from
			q.Columns.Names, q.Columns.Exclude = c.columns, c.exclude
			s := must.Get(Select(t.Context(), q))(t)
			slices.SortStableFunc(s.LeftOut, func(a, b stream.LeftOut) int { return strings.Compare(a.Name, b.Name) })
			warned := strings.Contains(strings.Join(s.Warnings, " "), "share a name")
			if warned != slices.Contains(c.want, shares[0]) || !slices.Equal(s.LeftOut, c.want) {
				t.Errorf("%+v: left out %v, want %v; warnings %q", q, s.LeftOut, c.want, s.Warnings)
			}
		}
	}
}

// TestStatsRestrictedAsTheInput: options about columns that are no features, and names of no feature, have the
// same effect on statistics as on their input.
func TestStatsRestrictedAsTheInput(t *testing.T) {
	for _, c := range []struct {
		table    string
		requests []Request
	}{
		{"a[0],a[0],a,b,label,c\n1,2,3,9,4,1\n4,5,6,7,8,3\n7,9,1,1,2,8\n", []Request{
			{}, {Columns: Columns{Exclude: []string{"a"}}}, {Columns: Columns{Names: []string{"a", "b"}}}, {Columns: Columns{Exclude: []string{"label"}}}, {Columns: Columns{Exclude: []string{"a*", "l*"}}},
			{Columns: Columns{Exclude: []string{"b"}}}, {Columns: Columns{Names: []string{"b", "label"}}}, {Columns: Columns{Exclude: []string{"none"}}}, {Columns: Columns{Names: []string{"a[0]", "b"}}},
		}},
		{"t,k,b,c,y\nx,1,2,3,9\nz,1,5,3,4\nw,1,7,8,1\n", []Request{
			{}, {Columns: Columns{Exclude: []string{"t"}}}, {Columns: Columns{Exclude: []string{"t*"}}}, {Columns: Columns{Exclude: []string{"k"}}}, {Columns: Columns{Exclude: []string{"[ty]"}}},
			{Columns: Columns{Names: []string{"b", "c"}}}, {Columns: Columns{Names: []string{"b", "k"}}}, {Columns: Columns{Names: []string{"*"}, Exclude: []string{"y", "t"}}}, {Columns: Columns{Names: []string{"t"}}},
		}},
		{"missing(x),missing(x),x,b\n1,2,3,9\n4,5,6,7\n7,9,1,1\n", []Request{{}, {Columns: Columns{Exclude: []string{"x"}}}}},
	} {
		input, stats := textFile(t, "in.csv", c.table), filepath.Join(t.TempDir(), "in.ufs")
		must.Get(Scan(t.Context(), ScanRequest{Request: Request{Input: Input{Paths: []string{input}}, Output: stats}}))(t)
		said := func(q Request) string {
			q.Choice.Method, q.Choice.K = "greedy", 1
			s, err := Select(t.Context(), q)
			if err != nil {
				return strings.ReplaceAll(err.Error(), stats, input)
			}
			slices.SortStableFunc(s.LeftOut, func(a, b stream.LeftOut) int { return strings.Compare(a.Name, b.Name) })
			named := slices.DeleteFunc(s.Warnings, func(w string) bool { return !chunkio.OfNames(stream.PlainText(w)) })
			return fmt.Sprint(s.LeftOut, named)
		}
		for _, q := range c.requests {
			ofStats, ofInput := q, q
			ofStats.Stats, ofInput.Input.Paths = stats, []string{input}
			if got, want := said(ofStats), said(ofInput); got != want {
				t.Errorf("columns %q, exclude %q: of statistics\n%s\nof the input\n%s", q.Columns.Names, q.Columns.Exclude, got, want)
			}
		}
	}
}

// TestStatsAreWithoutWhatWasLeftOut: a name of a column of which the statistics have no values is refused, and not taken
// for none; a glob means the others.
func TestStatsAreWithoutWhatWasLeftOut(t *testing.T) {
	input, stats := textFile(t, "in.csv", "a,b,c\n1,2,3\n4,5,9\n6,9,1\n"), filepath.Join(t.TempDir(), "in.ufs")
	must.Get(Scan(t.Context(), ScanRequest{Request: Request{Input: Input{Paths: []string{input}}, Columns: Columns{Exclude: []string{"a"}}, Output: stats}}))(t)
	q := Request{Stats: stats, Choice: Choice{Method: "greedy", K: 1}, Columns: Columns{Names: []string{"a", "b"}}}
	if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), "a: the statistics are without it, left out because: excluded; scan again with it") {
		t.Errorf("naming an excluded column: %v, want a usage error with its reason", err)
	}
	q.Columns.Names, q.Columns.Exclude = []string{"a*", "none"}, nil
	if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), "no column has this name") {
		t.Errorf("naming a column that does not exist: %v, want a usage error", err)
	}
	q.Columns.Names = []string{"a*"}
	if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.DataError)) || !strings.Contains(err.Error(), "no numeric column is left to select from (a: excluded; b: not among the columns asked for; c: ") {
		t.Errorf("naming only excluded columns: %v, want a data error with their reasons", err)
	}
	q.Columns.Names = []string{"[ab]"}
	left := []stream.LeftOut{{Name: "a", Why: chunkio.Excluded, Column: stream.PositionAt(0)}, {Name: "c", Why: chunkio.NotAskedFor, Column: stream.PositionAt(2)}}
	if s := must.Get(Select(t.Context(), q))(t); !slices.Equal(s.LeftOut, left) {
		t.Errorf("left out %v", s.LeftOut)
	}
	q.Columns.Names, q.Columns.Exclude = nil, []string{"a", "b"}
	if s := must.Get(Select(t.Context(), q))(t); len(s.Selected) != 1 || s.Selected[0].Name != "c" {
		t.Errorf("selected %v, want c alone", s.Selected)
	}
}

// TestExplainSharedNames: an option recorded in a selection was not given by the user, and the error is about
// the input.
func TestExplainSharedNames(t *testing.T) {
	other, two := textFile(t, "one.csv", "a,b,A\n1,2,3\n4,5,7\n6,9,1\n"), textFile(t, "two.csv", twoOfAName)
	for _, q := range []Request{{Columns: Columns{Names: []string{"a", "b"}}, Choice: Choice{K: 1}}, {Columns: Columns{Label: "a"}, Choice: Choice{K: 1}}, {Input: Input{Where: "a > 0"}, Choice: Choice{K: 1}}} {
		q.Input.Paths, q.Choice.Method = []string{other}, "greedy"
		o := ExplainRequest{Request: Request{Input: Input{Paths: []string{two}}}, Selection: must.Get(Select(t.Context(), q))(t), Names: []string{"b"}}
		_, err := Explain(t.Context(), o)
		if e := (*stream.DataError)(nil); !errors.As(err, &e) || e.Path != two || e.Column != "a" || !strings.Contains(err.Error(), "rename them") {
			t.Errorf("%+v: got %v, want a data error that names column a of %s", q, err, two)
		}
	}
}
