package report

import (
	"encoding/base64"
	"fmt"
	"image/png"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestCross: the table has every chosen feature once, with its rank in each selection, the
// ones in most selections first.
func TestCross(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var list []pageSelection
	want := map[string][]string{}
	for i := range 4 {
		var names []string
		for _, j := range r.Perm(30)[:8+i] {
			names = append(names, fmt.Sprint("f", j))
		}
		list = append(list, pageSelection{selectionOf(names...), "", fmt.Sprint(i)})
		for rank, name := range names {
			if want[name] == nil {
				want[name] = make([]string, 4)
			}
			want[name][i] = fmt.Sprint(rank + 1)
		}
	}
	v := newRankTableView(list)
	if len(v.Rows) != len(want) {
		t.Errorf("%d rows, want %d", len(v.Rows), len(want))
	}
	for i, row := range v.Rows {
		var ranks []string
		in := 0
		for _, c := range row.Cells {
			ranks = append(ranks, c.Rank)
			if c.Rank != "" {
				in++
			}
		}
		if !slices.Equal(ranks, want[row.Name]) || row.Count != in || i > 0 && in > v.Rows[i-1].Count {
			t.Errorf("row %d: %+v, want %v", i, row, want[row.Name])
		}
	}
}

// TestSparkColours: the line of a selection has its colour of the plot, also after one without.
func TestSparkColours(t *testing.T) {
	unknown := falling(math.NaN())
	v := must.Get(compareSelections([]pageSelection{{falling(0.5, 0.4), "s1", "a"}, {unknown, "s2", "b"}, {falling(0.6, 0.2), "s3", "c"}}))(t)
	if len(v.Curves[0].Legend) != 2 {
		t.Fatalf("legend %+v", v.Curves[0].Legend)
	}
	for i, row := range []int{0, 2} {
		class := strings.Replace(v.Curves[0].Legend[i].Class, "f-", "l-", 1)
		if v.Rows[row].Name != v.Curves[0].Legend[i].Name || !strings.Contains(string(v.Rows[row].Spark), `"`+class+`"`) {
			t.Errorf("row %d of %s is not %s: %s", row, v.Rows[row].Name, class, v.Rows[row].Spark)
		}
	}
	if v.Rows[1].Spark != "" {
		t.Errorf("a line of nothing: %s", v.Rows[1].Spark)
	}
}

// TestDrift: moves are those of the definition, the largest first; the same data do not drift.
func TestDrift(t *testing.T) {
	a, b := selectionOf("x", "y"), selectionOf("y")
	a.Rows, b.Rows = 100, 50
	a.Inputs, b.Inputs = []stream.Input{{Fingerprint: "1"}}, []stream.Input{{Fingerprint: "2"}}
	a.Columns = []stream.ColumnReport{{Name: "x", Mean: 1, Std: 2}, {Name: "y", Mean: 10, Std: 1, Nulls: 10}, {Name: "only a", Std: 1}, {Name: "const", Mean: 1}, {Name: "z", Std: 1}}
	b.Columns = []stream.ColumnReport{{Name: "z", Std: 1}, {Name: "const", Mean: 1}, {Name: "y", Mean: 10.5, Std: 1, Nulls: 5, NaNs: 10, Infs: 5}, {Name: "x", Mean: 1.1, Std: 3}}
	list := []pageSelection{{a, "s1", "a"}, {a, "s2", "twice"}, {b, "s3", "b"}, {b, "s4", "b again"}}
	views := driftViews(list)
	if len(views) != 1 || views[0].From != "a" || views[0].To != "b" {
		t.Fatalf("drift: got %+v, want one view from a to b", views)
	}
	want := []driftRow{
		// 30 points of missing values are 6 times what counts as moved.
		{"y", "a, b", "+0.50", "1.00", "+30.0", true},
		{"x", "a", "+0.05", "1.50", "+0.0", true},
		{"z", "", "+0.00", "1.00", "+0.0", false},
		{"const", "", "–", "–", "+0.0", false},
	}
	if !slices.Equal(views[0].Rows, want) {
		t.Errorf("%+v\nwant %+v", views[0].Rows, want)
	}
	if !strings.HasPrefix(views[0].Note, "2 of 4 features") {
		t.Errorf("note: got %q, want 2 of 4 features", views[0].Note)
	}
	if v := driftViews(list[:2]); v != nil {
		t.Errorf("the same data: %+v", v)
	}
}

// TestColumns: the table has the chosen columns by rank, then those that were left out, then the others by their absolute
// correlation; missing values are counted by kind, and stand in the ranking.
func TestColumns(t *testing.T) {
	r := func(x stream.Number) *stream.Number { return &x }
	s := selectionOf("a", "b")
	s.Rows = 40
	s.Columns = []stream.ColumnReport{
		{Name: "e", Explained: 0.25, Nearest: "b"}, {Name: "b", Explained: 1, Nearest: "b", Correlation: r(1)},
		{Name: "a", Explained: 1, Nulls: 2, NaNs: 1, Infs: 1, Mean: 1.5, Std: 2}, {Name: "c", Explained: 0.5, Nulls: 1200 / 30, Nearest: "a", Correlation: r(0.25)},
		{Name: "d", Explained: 0.125, Nearest: "b", Correlation: r(-0.75)}, {Name: "f"},
	}
	s.LeftOut = []stream.LeftOut{{Name: "g", Why: "constant (4 in every row)"}}
	want := []columnRow{
		{Name: "a", Role: "chosen, rank 1", SortRole: "1", Explained: "100.00 %", Mean: "1.5", Std: "2", Missing: "10.00 % (2 null, 1 NaN, 1 infinite)"},
		{Name: "b", Role: "chosen, rank 2", SortRole: "2", Explained: "100.00 %", Mean: "0", Std: "0"},
		{Name: "g", Role: "left out: constant (4 in every row)", SortRole: "4"},
		{Name: "d", Role: "near ", Near: "b", SortRole: "2.5", R: "−0.75", Explained: "12.50 %", Mean: "0", Std: "0"},
		{Name: "c", Role: "near ", Near: "a", SortRole: "1.5", R: "0.25", Explained: "50.00 %", Mean: "0", Std: "0", Missing: "100.00 % (40 null)"},
		{Name: "e", Role: "near ", Near: "b", SortRole: "2.5", Explained: "25.00 %", Mean: "0", Std: "0"},
		{Name: "f", Role: "not chosen", SortRole: "3", Explained: "0.00 %", Mean: "0", Std: "0"},
	}
	v := newColumnsView(s, maxColumnRows)
	if !slices.Equal(v.Rows, want) || v.Rest != nil || v.More != "" || !strings.HasSuffix(v.Note, " 2 of 6 features have missing values, 1 of them chosen.") {
		t.Errorf("columns: got %+v, want rows %+v", v, want)
	}
	if r := newRankingView(s, nil); !r.Missing || r.Rows[0].Missing != "10.00 %" || r.Rows[1].Missing != "0.00 %" {
		t.Errorf("the ranking: %+v", r.Rows)
	}
	chosen := newChosenView(s, featureGroups(s))
	if want := []chosenItem{
		{"a", "is like none; nearest to 1:", []nearFeature{{"c", "0.25"}}},
		{"b", "stands for 2:", []nearFeature{{"d", "−0.75"}, {"e", ""}}},
	}; !reflect.DeepEqual(chosen.First, want) {
		t.Errorf("the chosen: got %+v, want %+v", chosen.First, want)
	}
	s.Columns = s.Columns[1:2]
	if strings.Contains(newColumnsView(s, maxColumnRows).Note, "missing") || newRankingView(s, nil).Missing {
		t.Error("nothing is missing")
	}
	for range maxColumnRows {
		s.Columns = append(s.Columns, stream.ColumnReport{Name: "x"})
	}
	if v := newColumnsView(s, maxColumnRows); len(v.Rows) != firstRows || len(v.Rows)+len(v.Rest) != maxColumnRows || v.More != "2" || v.Total != "1,002" {
		t.Errorf("got %d and %d rows, %s more, %s in all, want %d in all, %d shown", len(v.Rows), len(v.Rest), v.More, v.Total, maxColumnRows+2, maxColumnRows)
	}
	if v := newColumnsView(selectionOf("a"), maxColumnRows); v != nil {
		t.Errorf("columns of which nothing is known: %+v", v)
	}
}

// TestColumnOfTheRanking: positions in the input stand in the ranking, and no column for them where none is known.
func TestColumnOfTheRanking(t *testing.T) {
	s := selectionOf("a", "b")
	shown := func() string { return pageOf(t, Document{Name: "x.json", Selection: s}) }
	s.Selected[0].Column, s.Selected[1].Column = stream.PositionAt(7123), stream.Position{}
	if page := shown(); !strings.Contains(page, `<td class="n" data-v="7123">7123</td></tr>`) || !strings.Contains(page, `<td class="n" data-v=""></td></tr>`) || !strings.Contains(page, "position in the input, from 0") {
		t.Errorf("the positions 7123 and unknown are not in the ranking:\n%s", page)
	}
	s.Selected[0].Column = stream.Position{}
	if page := shown(); strings.Contains(page, "position in the input, from 0") {
		t.Error("a column of positions though none is known")
	}
}

// TestAlike: the map shows each correlation at its two places, by opacity and by the colour of
// its sign; the pairs named are the largest.
func TestAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := selectionOf("a", "b", "c", "d", "e", "f")
	for i := range s.Selected {
		row := make([]stream.Number, i)
		for j := range row {
			row[j] = stream.Number(2*r.Float64() - 1)
		}
		s.Correlations = append(s.Correlations, row)
	}
	s.Correlations[4][2] = stream.Number(math.NaN()) // of a constant
	s.Correlations[5][1] = -1
	v := must.Get(newCorrelationsView(s))(t)
	data := regexp.MustCompile(`base64,([^"]*)`).FindStringSubmatch(string(v.SVG))[1]
	img := must.Get(png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data))))(t)
	for i := range 6 {
		for j := range 6 {
			want := 1.0
			if i != j {
				want = float64(s.Correlations[max(i, j)][min(i, j)])
			}
			_, g, b, alpha := img.At(j, i).RGBA()
			if math.IsNaN(want) {
				want = 0
			}
			if math.Abs(float64(alpha)/65535-math.Abs(want)) > 0.5/255+1e-9 || want != 0 && (b > g) != (want > 0) {
				t.Errorf("cell %d, %d of %v: opacity %v, green %d, blue %d", i, j, want, float64(alpha)/65535, g, b)
			}
		}
	}
	if len(v.Pairs) != maxPairs || v.Pairs[0] != (correlatedPairView{"b", "f", "−1.00"}) {
		t.Errorf("pairs %+v", v.Pairs)
	}
	s.Correlations = s.Correlations[:5]
	if v := must.Get(newCorrelationsView(s))(t); v != nil {
		t.Error("a map of too few")
	}
}

// TestBars: every finite score has a bar, the largest a full one, though rounding may put
// 100 times its share above 100.
func TestBars(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		s := selectionOf("a", "b")
		s.Selected[0].Score, s.Selected[1].Score = stream.Number(r.ExpFloat64()), 1e-3
		s.Selected[0].Error, s.Selected[1].Error = stream.Number(math.NaN()), stream.Number(math.NaN())
		rows := newRankingView(s, nil).Rows
		if rows[0].Bar != "100.0" && rows[1].Bar != "100.0" || rows[0].Bar == "" || rows[1].Bar == "" {
			t.Fatalf("scores %v and %v: bars %q and %q", s.Selected[0].Score, s.Selected[1].Score, rows[0].Bar, rows[1].Bar)
		}
	}
	for x, want := range map[float64]string{1 + 1e-15: "100.0", -1e-18: "0.0", 0.5: "50.0"} {
		if got := barWidth(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
	if barWidth(math.NaN()) != "" || barWidth(math.Inf(1)) != "" {
		t.Error("a bar of no number")
	}
}

// TestEvaluationWithoutLabels: what was not done is not explained: no scale of a clustering,
// no means over runs, no marks.
func TestEvaluationWithoutLabels(t *testing.T) {
	e := &stream.Evaluation{Scale: "none", ReconstructionScale: "pareto", Results: []stream.Evaluated{{Name: "sel", Method: "m", K: 3, Reconstruction: 0.25, Redundancy: 0.5}}}
	html := pageOf(t, Document{Name: "e.json", Evaluation: e})
	_, html, _ = strings.Cut(html, "<body>")
	for _, unwanted := range []string{">none<", "★", "Means", "means over the runs", "is clustered", "clusterings"} {
		if strings.Contains(html, unwanted) {
			t.Errorf("the page has %q", unwanted)
		}
	}
	for _, want := range []string{"1 result judged without labels", "pareto", "of what is reconstructed", "0.250", "0.500", "Redundancy: mean absolute correlation"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	best := true
	e.Label, e.Scale, e.Results[0].Best, e.Results[0].ACC = "class", "none", &best, &stream.Spread{Mean: 0.5}
	html = pageOf(t, Document{Name: "e.json", Evaluation: e})
	for _, want := range []string{">none<", "of what is clustered", "★ is the best", "means over the runs"} {
		if !strings.Contains(html, want) {
			t.Errorf("with labels the page lacks %q", want)
		}
	}
}
