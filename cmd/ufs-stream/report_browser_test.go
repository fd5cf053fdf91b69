package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ufs-stream/ufs-stream/internal/testing/browsertest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestReportInBrowser: the browser shows the mask of a selection from COIL20.
func TestReportInBrowser(t *testing.T) {
	in := fixtures.DatasetPath(t, "coil20.parquet")
	dir := t.TempDir()
	sel, out := filepath.Join(dir, "coil20.json"), filepath.Join(dir, "report.html")
	must(t, "select", in, "--scale", "none", "-k", "40", "--label", "label", "-o", sel)
	must(t, "report", sel, "-o", out)
	tab := browsertest.New(t)
	tab.Open(out)
	tab.CheckClean()
	mask := browsertest.Evaluate[[]string](tab, `[...document.querySelectorAll('.mask rect')].filter(r => r.getBoundingClientRect().width > 4).map(r => r.querySelector('title').textContent)`)
	for i, f := range readSelection(t, sel).Selected {
		if i >= len(mask) || !strings.HasPrefix(mask[i], f.Name+": rank ") {
			t.Errorf("pixel %s is not in the mask", f.Name)
		}
	}
	if len(mask) != 40 {
		t.Errorf("%d pixels in the mask", len(mask))
	}
	// The image beneath is drawn: the objects' mean is brighter in the middle than in a corner.
	type mean struct{ Middle, Corner, Side float64 }
	seen := browsertest.Evaluate[mean](tab, `(async () => {
		const image = new Image();
		image.src = document.querySelector('.mask image').getAttribute('href');
		await image.decode();
		const canvas = document.createElement('canvas');
		canvas.width = canvas.height = 32;
		const drawing = canvas.getContext('2d', { willReadFrequently: true });
		drawing.drawImage(image, 0, 0);
		return { Middle: drawing.getImageData(16, 16, 1, 1).data[0], Corner: drawing.getImageData(0, 0, 1, 1).data[0], Side: document.querySelector('.mask').getBoundingClientRect().width };
	})()`)
	if seen.Middle < 150 || seen.Corner > 30 || seen.Side < 200 {
		t.Errorf("the mean image: %+v", seen)
	}
	tab.CheckClean()
}

// percentOf is a share as the page writes it.
func percentOf(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }

// TestReportFigures: six selections of COIL20 stand in four screens of 1280 × 800, and every
// figure of the page is that of their JSON.
func TestReportFigures(t *testing.T) {
	in := fixtures.DatasetPath(t, "coil20.parquet")
	at := folder(t)
	methods := []string{"greedy", "partgreedy", "graphgreedy", "laplacian", "mcfs", "spec"}[:long.CountCases(4, 6)]
	args := []string{"report", "-o", at("report.html")}
	var list []*stream.Selection
	for _, m := range methods {
		flags := []string{"--method", m, "--label", "label", "--scale", "standard", "-o", at(m + ".json")}
		if slices.Contains(methods[2:], m) { // of a graph
			flags = append(flags, "--anchors", "200")
		}
		must(t, append([]string{"select", in, "-k", "20"}, flags...)...)
		args = append(args, at(m+".json"))
		list = append(list, readSelection(t, at(m+".json")))
	}
	must(t, args...)
	tab := browsertest.New(t)
	tab.RunSteps(chromedp.EmulateViewport(1280, 800))
	tab.Open(at("report.html"))
	if height := browsertest.Evaluate[int](tab, `document.documentElement.scrollHeight`); height > 4*800 {
		t.Errorf("the page is %d high", height)
	}

	lines := browsertest.Evaluate[[][]string](tab, `[...document.querySelectorAll('.glance tbody tr')].map(r => [...r.cells].map(c => c.innerText.trim().split('\n')[0]))`)
	for i, s := range list {
		last := s.Selected[len(s.Selected)-1]
		want := []string{methods[i], methods[i], "20", percentOf(1 - float64(last.Error))}
		if i >= len(lines) || !slices.Equal(lines[i][:4], want) {
			t.Fatalf("at a glance %q, want %q", lines, want)
		}
	}

	var first, ranked []string // by selection, what its fold has
	for i, s := range list {
		figuresOf(t, tab, fmt.Sprintf("#s%d", i+1), s)
		first, ranked = append(first, s.Selected[0].Name), append(ranked, strconv.Itoa(i))
	}
	cross := browsertest.Evaluate[[][]string](tab, `[...document.querySelectorAll('.cross tbody tr')].map(r => [...r.cells].map(c => c.textContent))`)
	shown := map[string][]string{}
	for _, row := range cross {
		shown[row[0]] = row[2:]
	}
	for i := range ranked {
		if shown[first[i]] == nil || shown[first[i]][i] != "1" {
			t.Errorf("%s is the first of %s, and the table says %q", first[i], methods[i], shown[first[i]])
		}
		chosen := 0
		for _, ranks := range shown {
			if ranks[i] != "" {
				chosen++
			}
		}
		for _, f := range list[i].Selected {
			if r := shown[f.Name]; r == nil || r[i] != strconv.Itoa(f.Rank) {
				t.Errorf("%s: %s has rank %q, want %d", methods[i], f.Name, r, f.Rank)
			}
		}
		if chosen != 20 {
			t.Errorf("%s has %d features in the table", methods[i], chosen)
		}
	}
	tab.CheckClean()
}

// figuresOf compares what the fold of a selection shows with its JSON.
func figuresOf(t *testing.T, tab *browsertest.Tab, id string, s *stream.Selection) {
	t.Helper()
	ask := func(selector string) []string {
		return browsertest.Evaluate[[]string](tab, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.textContent)`, id+" "+selector))
	}
	last := s.Selected[len(s.Selected)-1]
	of := "of the sum of squares (scale standard)"
	if s.Method == "graphgreedy" {
		of = "of the data smoothed on the graph of the rows"
	} else if w := s.Worth; w != nil && math.Abs(float64(w.Explained+last.Error-1)) < 1e-9 {
		of = "of the variance (scale standard)"
		if c := s.Trust; c != nil && c.Choice != nil && math.Abs(float64(c.Choice.Value-w.Explained)) < 1e-9 {
			of += fmt.Sprintf("; 20 random ones %s", percentOf(float64(c.Choice.Chance)))
		}
	}
	of += "."
	if got, want := ask(".opening"), fmt.Sprintf("20 of 1,024 features explain %s %s", percentOf(1-float64(last.Error)), of); !slices.Equal(got, []string{want}) {
		t.Errorf("%s: %q, want %q", s.Method, got, want)
	}
	more := strings.Join(ask(".more"), "")
	if c := s.Trust; c != nil && c.Choice != nil && !strings.Contains(more, fmt.Sprintf("%s, of random features %s ± %s", percentOf(float64(c.Choice.Value)), percentOf(float64(c.Choice.Chance)), percentOf(float64(c.Choice.Spread)))) {
		t.Errorf("%s: the chance is not in %q", s.Method, more)
	}
	var names, explained, stands []string
	nearest := map[string]int{}
	for _, c := range s.Columns {
		nearest[c.Nearest]++
	}
	for _, f := range s.Selected {
		names = append(names, f.Name)
		explained = append(explained, percentOf(1-float64(f.Error)))
		// A chosen feature may be the nearest of another chosen one, and stands for features that are not.
		count := nearest[f.Name]
		for _, g := range s.Selected {
			if slices.ContainsFunc(s.Columns, func(c stream.ColumnReport) bool { return c.Name == g.Name && c.Nearest == f.Name }) {
				count--
			}
		}
		stands = append(stands, strconv.Itoa(count))
	}
	for what, selector := range map[string]string{"the chosen": ".chosen li > .name", "the ranking": ".ranking tbody th"} {
		if got := ask(selector); !slices.Equal(got, names) {
			t.Errorf("%s: %s: %q, want %q", s.Method, what, got, names)
		}
	}
	if got := ask(".ranking tbody td:nth-child(5)"); !slices.Equal(got, explained) {
		t.Errorf("%s: explained so far %q, want %q", s.Method, got, explained)
	}
	if got := ask(".ranking tbody td:nth-child(6)"); !slices.Equal(got, stands) {
		t.Errorf("%s: stands for %q, want %q", s.Method, got, stands)
	}
	if n := browsertest.Evaluate[int](tab, fmt.Sprintf(`document.querySelectorAll(%q).length`, id+" .ranking .bar")); n != 20 {
		t.Errorf("%s: %d bars of 20", s.Method, n)
	}
	triangle := browsertest.Evaluate[string](tab, fmt.Sprintf(`document.querySelector(%q).dataset.r`, id+" .map"))
	var want []string
	for _, row := range s.Correlations {
		for _, r := range row {
			want = append(want, fmt.Sprintf("%.2f", float64(r)))
		}
	}
	if got := strings.ReplaceAll(triangle, "−", "-"); len(want) != 190 || got != strings.Join(want, " ") {
		t.Errorf("%s: correlations %s, want %s", s.Method, got, want)
	}
	largest := 0.0
	for _, row := range s.Correlations {
		for _, r := range row {
			largest = max(largest, math.Abs(float64(r)))
		}
	}
	if got := strings.Join(ask(".pointed"), ""); !strings.HasSuffix(got, fmt.Sprintf("largest %.2f.", largest)) {
		t.Errorf("%s: %q, want the largest of %v", s.Method, got, largest)
	}
}
