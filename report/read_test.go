package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

const evalJSON = `{"schema": "ufs-stream/eval/v1", "protocol": "greedy", "runs": 20, "restarts": 10, "clusters": 20, "label": "label", "seed": 1,
 "rows": 70000, "rows_used": 10000, "sampled": true, "folds": 5, "news": {"a": [1]}, "classes": ["a"], "warnings": ["w <b>"],
 "results": [
  {"name": "selection", "method": "greedy", "k": 41, "acc": {"mean": 0.6, "std": 0.01}, "nmi_sqrt": {"mean": 0.7, "std": null}, "p_nmi": 0.03, "best": true, "reconstruction_error": null, "redundancy": null, "stability": {"jaccard": 0.5, "nogueira": null}},
  {"name": "selection", "method": "greedy", "k": 20, "acc": {"mean": 0.5, "std": 0.02}, "knn": {"mean": 0.8125, "std": 0.03}, "best": false, "reconstruction_error": 0.2, "redundancy": null},
  {"name": "<all>", "k": 1024, "acc": null, "reconstruction_error": null, "redundancy": null}]}`

// TestReadErrors: a file without a result is refused with its name and the reason.
func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{``, "empty"},
		{"  \n", "empty"},
		{`{`, "unexpected end"},
		{"{\n\"schema\": 7}", "line 2: schema holds a number"},
		{`[1]`, "it is no object, but of JSON's kind array"},
		{`{}`, "no schema"},
		{`{"schema": "ufs-stream/selection/v9"}`, `"ufs-stream/selection/v9", which report does not know`},
		{`{"schema": "ufs-stream/selection/v2"}`, "the selection has no features"},
		{`{"schema": "ufs-stream/selection/v2", "selected": [{"rank": 1, "name": "a", "column": "a"}]}`, `"a" is no position of a column`},
		{`{"schema": "<script>"}`, "which report does not know"},
		{`{"schema": "ufs-stream/selection/v1"}`, "the selection has no features"},
		{`{"schema": "ufs-stream/selection/v1", "selected": [{"rank": 2, "name": "a"}]}`, "ranks are not 1 to 1"},
		{`{"schema": "ufs-stream/selection/v1", "selected": [{"rank": 1, "name": 5}]}`, "selected.name holds a number"},
		{`{"schema": "ufs-stream/selection/v1", "selected": [{"rank": 1}, {"rank": 1}]}`, "1 stands at place 2"},
		{`{"schema": "ufs-stream/selection/v1", "selected": []} x`, "invalid character"},
		{`{"schema": "ufs-stream/path-curve/v1", "points": []}`, "the curve has no points"},
		{`{"schema": "ufs-stream/path-grid/v1"}`, "the grid has no settings"},
		{`{"schema": "ufs-stream/path-grid/v1", "settings": [{}], "recommended": 1}`, "recommends setting 1 of 1"},
		{`{"schema": "ufs-stream/eval/v1"}`, "no results"},
	} {
		_, err := Read("some/file.json", strings.NewReader(c.json))
		var data *stream.DataError
		var usage *stream.UsageError
		if !errors.As(err, &data) || errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "some/file.json: ") {
			t.Errorf("%s: %v, want %q", c.json, err, c.want)
		}
	}
}

// TestReadFolder: an unreadable file is named once.
func TestReadFolder(t *testing.T) {
	dir := t.TempDir()
	f := must.Get(os.Open(dir))(t)
	defer f.Close()
	if _, err := Read(dir, f); err == nil || strings.Count(err.Error(), dir) != 1 || !strings.Contains(err.Error(), "report reads") {
		t.Errorf("reading a folder: got %v, want an error that names it once and what report reads", err)
	}
}

// TestReadEvaluation: fields that are new or absent are passed over.
func TestReadEvaluation(t *testing.T) {
	d := must.Get(Read("eval.json", strings.NewReader(evalJSON)))(t)
	var slugs []string
	for _, m := range presentMeasures(d.Evaluation) {
		slugs = append(slugs, m.slug)
	}
	if got := strings.Join(slugs, " "); got != "acc nmi-sqrt knn reconstruction jaccard" {
		t.Errorf("measures %s", got)
	}
	c := evaluationChart(d.Evaluation, allMeasures()[0])
	if c == nil || len(c.Series) != 1 || len(c.Series[0].X) != 2 || c.Series[0].X[0] != 20 {
		t.Errorf("chart %+v", c)
	}
	html := pageOf(t, *d)
	for _, want := range []string{"0.600", "± 0.010", "&lt;all&gt;", "w &lt;b&gt;", "10,000 of 70,000", "a sample", "0.812", "kNN: accuracy of the five nearest rows in cross-validation."} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func pageOf(t *testing.T, docs ...Document) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, (Page{Documents: docs, Version: "test"}).WriteHTML(&b))
	return b.String()
}

// FuzzRead: a document that reads without an error is shown without one, as a page and as
// files.
func FuzzRead(f *testing.F) {
	f.Add([]byte(evalJSON))
	for _, d := range []Document{hostileSelection(), gridDocument(), curveDocument()} {
		var b bytes.Buffer
		switch {
		case d.Selection != nil:
			d.Selection.Encode(&b)
		case d.Grid != nil:
			d.Grid.Encode(&b)
		case d.Curve != nil:
			d.Curve.Encode(&b)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"schema": "ufs-stream/selection/v1", "selected": [{"rank": 1, "name": "px_0_0", "score": null}], "columns": [{"name": "px_0_0", "mean": null}]}`))
	f.Add([]byte(`{"schema": "ufs-stream/selection/v1", "rows": -3, "selected": [{"rank": 1, "name": "a", "error": 0.5}, {"rank": 2, "name": "a", "error": 0.2}], "size": {"recommended": -2}, "correlations": [[], [1e300]], "columns": [{"name": "a", "nulls": -5, "std": 0}]}`))
	f.Add([]byte(`{"schema": "ufs-stream/selection/v1", "selected": [{"rank": 1, "name": "a", "error": null}, {"rank": 2, "name": "b", "error": 0.2}], "size": {"recommended": 1}, "trust": {"choice": {}, "graph": {}}, "stability": {}, "correlations": [null, []]}`))
	f.Add([]byte(`{"schema": "ufs-stream/path-grid/v1", "settings": [{"alpha": 1, "gamma": 1, "selected": null}, {"alpha": 1, "gamma": 1e-300, "selected": ["a", "a"]}], "recommended": -1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Read("f.json", bytes.NewReader(b))
		if err != nil {
			return
		}
		p := Page{Documents: []Document{*d, *d}}
		must.Do(t, p.WriteHTML(io.Discard))
		for _, fig := range p.Figures() {
			must.Do(t, fig.WriteSVG(io.Discard))
		}
	})
}

// TestFigures: every figure is written in both forms, under names that any file system
// takes and that differ.
func TestFigures(t *testing.T) {
	e := must.Get(Read("../x/eval.json", strings.NewReader(evalJSON)))(t)
	p := Page{Documents: []Document{hostileSelection(), hostileSelection(), gridDocument(), curveDocument(), *e}}
	dir := t.TempDir()
	seen := map[string]bool{}
	for _, f := range p.Figures() {
		if seen[strings.ToLower(f.Name)] || strings.ContainsAny(f.Name, `/\.:<> `) {
			t.Errorf("name %q", f.Name)
		}
		seen[strings.ToLower(f.Name)] = true
		for end, write := range map[string]func(io.Writer) error{".svg": f.WriteSVG, ".png": f.WritePNG} {
			var b bytes.Buffer
			if err := write(&b); err != nil || b.Len() < 500 {
				t.Errorf("%s%s: %d bytes, %v", f.Name, end, b.Len(), err)
			}
			if err := os.WriteFile(filepath.Join(dir, f.Name+end), b.Bytes(), 0o666); err != nil {
				t.Errorf("writing the input: %v", err)
			}
		}
	}
	// Errors together, overlap, then error curve and mask of each selection, heat map and curve of the grid, the
	// curve, and the one measure that eval took at two k.
	if len(seen) != 2+2*2+2+1+1 {
		t.Errorf("figures %v", seen)
	}
}

// TestLargeGrid: n settings that share no value would make a table of n² cells and are
// refused; a table that is only long is shown, and not drawn.
func TestLargeGrid(t *testing.T) {
	grid := func(n int, alpha func(i int) int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"alpha": %d, "gamma": %d, "agreement": 1, "selected": ["a"]}`, alpha(i), i)
		}
		return `{"schema": "ufs-stream/path-grid/v1", "recommended": -1, "settings": [` + b.String()[1:] + `]}`
	}
	if _, err := Read("g.json", strings.NewReader(grid(101, func(i int) int { return i }))); err == nil || !strings.Contains(err.Error(), "10,201 cells") {
		t.Errorf("101 × 101 cells: %v", err)
	}
	d := must.Get(Read("g.json", strings.NewReader(grid(1000, func(int) int { return 1 }))))(t)
	if html := pageOf(t, *d); !strings.Contains(html, "Stability over the grid") {
		t.Error("the page has no table")
	}
	for _, f := range (Page{Documents: []Document{*d}}).Figures() {
		if f.Name == "g-agreement" {
			t.Error("a heat map of 1000 columns is drawn")
		}
	}
}
