package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// twelve is a folder with a file of 12 factors among 60 columns of noise.
func twelve(t *testing.T) string {
	t.Helper()
	in, _ := plantSource(t, planted.New(planted.Options{Rows: 6000, Factors: 12, Noise: 60}), 1)
	return in
}

// TestSaysWhatToKeep: select ends by saying that twelve features are worth keeping of twelve
// factors and noise, and of 20 that the last 8 add no more than noise; path and report show the
// same number, and a file in place of the table has the sentence on standard error.
func TestSaysWhatToKeep(t *testing.T) {
	in := twelve(t)
	last := func(text string) string {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		return lines[len(lines)-1]
	}
	out := must(t, "select", in, "--method", "greedy")
	if !strings.Contains(out, "greedy: 12 of ") || !strings.Contains(out, "\nk = 12: ") {
		t.Errorf("not 12 features:\n%s", out)
	}
	s := selection(t, in, "--method", "greedy")
	want := print.WorthSentence(s)
	if !strings.HasPrefix(want, "12 features explain ") || !strings.Contains(want, " of the variance; from the 13th on each adds less than ") {
		t.Errorf("the worth of 12 features is described by %s", want)
	}
	if got := last(out); got != want {
		t.Errorf("select ends with\n%s\nwant\n%s", got, want)
	}
	sel, curve := filepath.Join(t.TempDir(), "sel.json"), filepath.Join(t.TempDir(), "path.json")
	if r := invoke("select", in, "--method", "greedy", "-o", sel); r.code != exit.Done || last(r.err) != want {
		t.Errorf("-o: standard error ends with %s", r.err)
	}
	if r := invoke("-q", "select", in, "--method", "greedy", "--format", "names"); r.err != "" {
		t.Errorf("-q: got %q on standard error, want nothing", r.err)
	}
	w := selection(t, in, "--method", "greedy", "-k", "20")
	want = print.WorthSentence(w)
	if !strings.HasPrefix(want, "20 features explain ") || !strings.Contains(want, "; of these, the last 8 add no more than noise (each less than ") || !strings.HasSuffix(want, "; -k auto keeps 12") {
		t.Errorf("the worth of 20 features is described by %s", want)
	}
	if got := last(must(t, "select", in, "--method", "greedy", "-k", "20")); got != want {
		t.Errorf("select -k 20 ends with\n%s\nwant\n%s", got, want)
	}
	if out := must(t, "path", in, "--method", "greedy", "-k", "20"); !strings.Contains(out, "\nrecommended: -k 12: ") || !strings.Contains(last(out), "greedy's first 12 explain ") {
		t.Errorf("path says\n%s", out)
	}
	must(t, "path", in, "--method", "greedy", "-k", "20", "-o", curve)
	twenty := filepath.Join(t.TempDir(), "twenty.json")
	must(t, "select", in, "--method", "greedy", "-k", "20", "-o", twenty)
	for _, file := range []string{sel, twenty, curve} {
		page := filepath.Join(t.TempDir(), "page.html")
		must(t, "report", file, "-o", page)
		if html := read(t, page); !strings.Contains(html, "Worth keeping: 12 features: ") || strings.Contains(html, "elbow ") {
			t.Errorf("the report of %s does not say that 12 features are worth keeping", file)
		}
	}
	plan := must(t, "plan", in, "--method", "greedy")
	if !strings.Contains(plan, "k auto: up to ") {
		t.Errorf("plan does not say that k is auto:\n%s", plan)
	}
}

// TestSaysWhyFifty: if the number worth keeping is unknown, the output explains why there are 50, and how to find the
// number.
func TestSaysWhyFifty(t *testing.T) {
	in, _ := plant(t, 1000, 1)
	for _, verb := range []string{"select", "plan"} {
		out := must(t, verb, in, "--method", "variance")
		if !strings.Contains(out, "the default, because the number of features worth keeping is unknown") || !strings.Contains(out, "path with --method greedy recommends a number") {
			t.Errorf("%s says\n%s", verb, out)
		}
	}
	if s := selection(t, in, "--method", "variance", "-k", "3"); s.WhyK != "" || s.Options["k"] != nil {
		t.Errorf("a given k: %q, options %v", s.WhyK, s.Options)
	}
}

// TestMinGainFlag: --min-gain stops where the next feature adds less, -k at that many.
func TestMinGainFlag(t *testing.T) {
	in := twelve(t)
	s := selection(t, in, "--min-gain", "0.01")
	if s.K != 12 || s.Options["min-gain"] != 0.01 || s.Method != "greedy" {
		t.Errorf("%s: %d features, options %v", s.Method, s.K, s.Options)
	}
	if s := selection(t, in, "--min-gain", "0.01", "-k", "5"); s.K != 5 {
		t.Errorf("%d features, at most 5", s.K)
	}
	if p := decoded[stream.Curve](t, "path", in, "--min-gain", "0.01"); len(p.Points) != 12 {
		t.Errorf("path: %d points", len(p.Points))
	}
	for _, args := range []string{"--min-gain 0", "--min-gain 1", "--min-gain 0.1 -k auto", "--min-gain 0.1 --variance 0.5", "--min-gain 0.1 --method eufs", "--min-gain 0.9"} {
		ends(t, exit.Usage, "--min-gain", append([]string{"select", in}, strings.Fields(args)...)...)
	}
	ends(t, exit.Usage, "--min-gain", "path", in, "--min-gain", "0.1", "--method", "sfufs")
}

// TestApplyTrims: apply -k writes the first features of a selection, and says so where there are fewer.
func TestApplyTrims(t *testing.T) {
	in, _ := plant(t, 300, 1)
	at := folder(t)
	must(t, "select", in, "--method", "greedy", "-k", "5", "-o", at("sel.json"))
	must(t, "apply", in, "--selection", at("sel.json"), "-k", "2", "-o", at("small"))
	var got []string
	for _, col := range decoded[ufs.Inspection](t, "inspect", at("small")).Columns {
		got = append(got, col.Name)
	}
	if want := names(readSelection(t, at("sel.json")))[:2]; !slices.Equal(got, want) {
		t.Errorf("columns %v, want %v", got, want)
	}
	ends(t, exit.Usage, "-k 6: the selection has 5 features", "apply", in, "--selection", at("sel.json"), "-k", "6", "-o", at("more"))
	ends(t, exit.Usage, "-k 0", "apply", in, "--selection", at("sel.json"), "-k", "0", "-o", at("more"))
}
