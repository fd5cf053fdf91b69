package report

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// hostileNames are names that a column may have.
func hostileNames() []string {
	return []string{
		`<script>alert(1)</script>`,
		`"><img src=x onerror=alert(1)>`,
		`'"` + "`" + `&amp;&lt;`,
		`</style></script><svg onload=alert(1)>`,
		"two\nlines\tand a tab",
		"\u202eright to left\u202c\u200f",
		strings.Repeat("long ", 2000),
		"emoji 😀 e\u0301",
		`javascript:alert(1)`,
		`{{.Secret}} ${1+1} <!-- -->`,
		"   ",
		"",
		"NaN", "null", "__proto__", "constructor",
		"\x7f\u0001 control",
		`http://example.com/x.png`,
		`url(http://example.com/y)`,
	}
}

// hostileSelection has all hostile names, chosen and not, and a grid of pixels.
func hostileSelection() Document {
	nan := stream.Number(math.NaN())
	s := &stream.Selection{
		Schema: stream.SelectionSchema, Method: `<greedy>`, Seed: 1, Version: `0.1<i>`, Rows: 1000, RowsUsed: 900,
		Options:  map[string]any{`<opt>`: `</dd><script>alert(2)</script>`, "alpha": 0.5, "list": []any{"a", 1.0}},
		Inputs:   []stream.Input{{Path: `/tmp/<b>.parquet`, Rows: 1000, Bytes: 1 << 20, Fingerprint: "abc"}},
		LeftOut:  []stream.LeftOut{{Name: `<id>`, Why: `constant & <null>`}, {Name: "px_0_1", Why: "constant"}},
		Warnings: []string{`a <b>warning</b>`},
		Timing:   stream.Timing{Read: 0.01, Accumulate: 1.5, Solve: 200, Wall: 210},
		Memory:   stream.Memory{PeakRSS: 1 << 27, Limit: 2 << 30},
	}
	left := 1.0
	add := func(name string, chosen bool) {
		s.Columns = append(s.Columns, stream.ColumnReport{Name: name, Mean: stream.Number(len(s.Columns)), Std: 1, Explained: 0.5, Nearest: hostileNames()[len(s.Columns)%5]})
		if chosen {
			left *= 0.8
			s.Selected = append(s.Selected, stream.Selected{Rank: len(s.Selected) + 1, Name: name, Column: stream.PositionAt(len(s.Columns) - 1), Score: stream.Number(100 * left), Error: stream.Number(left)})
		}
	}
	for _, n := range hostileNames() {
		add(n, true)
	}
	for _, n := range hostileNames() {
		add("not chosen: "+n, false)
	}
	for i := range 64 {
		if i != 1 {
			add(fmt.Sprintf("px_%d_%d", i/8, i%8), i%9 == 0)
		}
	}
	s.Columns[3].Explained, s.Columns[4].Mean = nan, nan
	s.Features, s.K = len(s.Columns), len(s.Selected)
	return Document{Name: `/data/<sel> "x".json`, Selection: s}
}

func gridDocument() Document {
	g := &stream.Grid{Method: "sfufs", K: 4, Features: 9, Rows: 10, RowsUsed: 10, Recommended: 2, Why: "a <reason>"}
	for i := range 6 {
		var names []string
		for j := range 4 {
			names = append(names, fmt.Sprintf("<f%d>", (i*j+j)%9))
		}
		g.Settings = append(g.Settings, stream.GridSetting{
			Alpha: stream.Number(i / 3), Gamma: stream.Number(math.Pow(10, float64(i%3))), Agreement: stream.Number(float64(i) / 6), Selected: names, Converged: i > 0, Warnings: []string{"<w>"},
		})
	}
	return Document{Name: "grid.json", Grid: g}
}

func curveDocument() Document {
	c := &stream.Curve{Method: "greedy", Version: "v<7>", Inputs: []stream.Input{{Path: "rows<8>"}}, Features: 9, Rows: 10, RowsUsed: 10}
	for k := 1; k < 8; k++ {
		c.Points = append(c.Points, stream.CurvePoint{K: k, Name: fmt.Sprintf("<f%d>", k), Score: 1, Error: stream.Number(1 / float64(k*k+1))})
	}
	return Document{Name: "curve.json", Curve: c}
}

// TestPageEscapes: the page has every selected name, whole and escaped; no value becomes
// markup.
func TestPageEscapes(t *testing.T) {
	html := pageOf(t, hostileSelection(), gridDocument(), curveDocument())
	_, body, _ := strings.Cut(html, "<body>")
	for _, f := range hostileSelection().Selection.Selected {
		want := `<bdi class="name">` + template.HTMLEscapeString(f.Name) + `</bdi>`
		if f.Name != "" && !strings.Contains(body, want) {
			t.Errorf("%q is not in the page", drawing.TruncateText(f.Name, 60))
		}
		if strings.ContainsAny(f.Name, "<") && strings.Contains(body, f.Name) {
			t.Errorf("%q is in the page as it is", f.Name)
		}
	}
	for _, tag := range []string{"<script", "<style", "<b>", "<i>", "<img", "onerror=alert(1)>", "<svg onload", "<opt", "<id>", "<greedy", "<f1", "<w>", "<reason", "<!--"} {
		want := 0
		if tag == "<script" {
			want = 1 // the page's own
		}
		if n := strings.Count(body, tag); n != want {
			t.Errorf("%s stands %d times in the body", tag, n)
		}
	}
	if strings.Contains(html, "%!") {
		t.Error("a value is missing in the page, or has the wrong verb")
	}
	if strings.Count(html, "<h1") != 1 {
		t.Error("not one h1")
	}
}

// TestPageLoadsNothing: no attribute, style or script refers to anything outside.
func TestPageLoadsNothing(t *testing.T) {
	html := pageOf(t, hostileSelection(), gridDocument(), curveDocument())
	for _, m := range regexp.MustCompile(`(?:href|src|srcset|action|poster|data|background|formaction|ping)\s*=\s*"([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if !strings.HasPrefix(m[1], "#") && !strings.HasPrefix(m[1], "data:image/png;base64,") {
			t.Errorf("reference %s", m[0])
		}
	}
	for _, text := range []string{styleCSS, scriptJS} {
		if regexp.MustCompile(`(?i)\burl\(|@import|@font-face|https?:|fetch|XMLHttp|innerHTML|eval\(`).MatchString(text) || strings.Contains(text, "</") {
			t.Error("style or script refers to the outside, or would end its element")
		}
	}
	for _, text := range []string{styleCSS, scriptJS} {
		if !strings.Contains(html, ">"+text+"</") || !strings.Contains(html, template.HTMLEscapeString(contentPolicyHash(text))) {
			t.Error("style or script is not in the page as its hash in the policy says")
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if ids[m[1]] {
			t.Errorf("id %s twice", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?:href="#|aria-labelledby=")([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if !ids[m[1]] {
			t.Errorf("nothing has the id %s", m[1])
		}
	}
}

// TestPageOfMany: thousands of chosen columns make a page of limited size, which counts the columns it leaves out.
func TestPageOfMany(t *testing.T) {
	const d = 5966
	s := &stream.Selection{Method: "greedy", Rows: 102, RowsUsed: 102, Features: d}
	for i := range d {
		name := fmt.Sprintf("gene_%04d", i)
		s.Columns = append(s.Columns, stream.ColumnReport{Name: name, Explained: 0.9, Nearest: fmt.Sprintf("gene_%04d", i%50)})
		s.LeftOut = append(s.LeftOut, stream.LeftOut{Name: "x" + name, Why: "constant"})
	}
	choose := func(k int) string {
		s.Selected = nil
		for i := range k {
			s.Selected = append(s.Selected, stream.Selected{Rank: i + 1, Name: s.Columns[i].Name, Column: stream.PositionAt(i), Score: 1, Error: stream.Number(1 / float64(i+2))})
		}
		return pageOf(t, Document{Name: "many.json", Selection: s})
	}
	html := choose(50)
	// 1000 rows of columns of about 130 bytes each, and as much again for the rest.
	if len(html) > 260_000 {
		t.Errorf("%d bytes for 50 of %d", len(html), d)
	}
	for _, want := range []string{"and 10,932 more columns in the file", "Show all that are here<", "Show all 50<"} {
		if strings.Contains(html, want) == (want == "Show all 50<") {
			t.Errorf("the page contains %q: %v", want, strings.Contains(html, want))
		}
	}
	all := choose(d)
	if len(all) > 3_000_000 || !strings.Contains(all, "Show all 5,966<") || strings.Count(all, "<tr>") < d {
		t.Errorf("%d bytes for all, %d rows", len(all), strings.Count(all, "<tr>"))
	}
}

// TestPageWithoutNumbers: selections of any method, with scores and errors that are null.
func TestPageWithoutNumbers(t *testing.T) {
	nan := stream.Number(math.NaN())
	for name, s := range map[string]*stream.Selection{
		"null":   {Selected: []stream.Selected{{Rank: 1, Name: "a", Score: nan, Error: nan}, {Rank: 2, Name: "b", Score: nan, Error: nan}}, Scores: []stream.Score{{Name: "a", Score: nan}}},
		"equal":  {Selected: []stream.Selected{{Rank: 1, Name: "a", Score: 0, Error: nan}}, Scores: []stream.Score{{Name: "a"}, {Name: "b"}}},
		"mixed":  {Selected: []stream.Selected{{Rank: 1, Name: "a", Score: 5, Error: 0.5}, {Rank: 2, Name: "b", Score: nan, Error: nan}}},
		"scores": {Selected: []stream.Selected{{Rank: 1, Name: "a", Score: 5, Error: nan}}, Scores: []stream.Score{{Name: "a", Score: 5}, {Name: "b", Score: nan}, {Name: "c", Score: 1}, {Name: "d", Score: -2}}, Objective: []stream.Number{3, nan, 2, 2.5}},
	} {
		html := strings.ReplaceAll(pageOf(t, Document{Name: name, Selection: s}), scriptJS, "")
		if strings.Contains(html, "NaN") || strings.Contains(html, "+Inf") {
			t.Errorf("%s: NaN in the page", name)
		}
	}
}

// TestPageRecordsTheRun: version and inputs of a curve are shown, and options as the caller
// spells them.
func TestPageRecordsTheRun(t *testing.T) {
	html := pageOf(t, curveDocument())
	for _, want := range []string{"v&lt;7&gt;", "rows&lt;8&gt;"} {
		if !strings.Contains(html, want) {
			t.Errorf("%s is not in the page", want)
		}
	}
	doc := hostileSelection()
	var b bytes.Buffer
	must.Do(t, (Page{Documents: []Document{doc}, Spelling: func(o string) string { return "--" + o }}).WriteHTML(&b))
	if !strings.Contains(b.String(), ">--alpha<") || strings.Contains(pageOf(t, doc), ">--alpha<") {
		t.Error("options are not written as the caller spells them")
	}
}

// TestScoresFollowTheDocument: the curve of scores starts with the best.
func TestScoresFollowTheDocument(t *testing.T) {
	s := selectionOf("a", "b")
	s.Scores = []stream.Score{{Name: "a", Score: 3}, {Name: "b", Score: 1}, {Name: "c", Score: 2}}
	for lower, want := range map[bool][]float64{true: {1, 2, 3}, false: {3, 2, 1}} {
		s.LowerIsBetter = lower
		if got := scoreChart(s).Series[0].Y; !slices.Equal(got, want) {
			t.Errorf("lower is better %v: %v, want %v", lower, got, want)
		}
	}
}

// TestInlineColours: in the page every colour is a class, each its own.
func TestInlineColours(t *testing.T) {
	c := Chart{XLabel: "x", YLabel: "y", Marks: []Mark{{X: 1, Y: 1, Label: "m"}}}
	for i := range 12 {
		c.Series = append(c.Series, Series{X: []float64{1, 2}, Y: []float64{float64(i), 2}, Low: []float64{0, 1}, High: []float64{20, 3}})
	}
	inline := must.Get(c.InlineSVG(680, 300, "chart", "label"))(t)
	if strings.Contains(inline, "#") {
		t.Errorf("a colour without a class in\n%s", inline)
	}
	m := drawing.CSSClasses()
	if len(m) != 4+len(drawing.SeriesHues()) {
		t.Errorf("%d classes of %d colours: two are alike", len(m), 4+len(drawing.SeriesHues()))
	}
	for _, class := range m {
		if class != "mark" && class != "ink" && !strings.Contains(styleCSS, ".l-"+class+" ") {
			t.Errorf("no style for %s", class)
		}
		for _, use := range strings.Fields(strings.NewReplacer(`"`, " ").Replace(inline)) {
			if (use == "f-"+class || use == "l-"+class) && !strings.Contains(styleCSS, "."+use+" ") {
				t.Errorf("no style for %s", use)
			}
		}
	}
}
