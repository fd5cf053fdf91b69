package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/internal/planted"
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
	want := fmt.Sprintf("12 features explain %s of the variance; from the 13th on each adds less than %s, no more than noise does (up to %s)",
		percentText(1-float64(s.Selected[11].Error)), percentRoundedUp(s.Size.Next), percentRoundedUp(s.Size.Noise))
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
	want = fmt.Sprintf("20 features explain %s of the variance; of these, the last 8 add no more than noise (each less than %s, and noise up to %s); -k auto keeps 12",
		percentText(1-float64(w.Selected[19].Error)), percentRoundedUp(w.Worth.Most), percentRoundedUp(w.Worth.Noise))
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

// TestUpTo: a share is below what is said of it, by no more than a step of its second digit.
func TestUpTo(t *testing.T) {
	for _, c := range []struct {
		share stream.Number
		want  string
	}{{0.00384, "0.39%"}, {0.0038, "0.39%"}, {0.0111, "1.2%"}, {0.123, "13%"}, {0, "0.001%"}, {1e-9, "0.001%"}, {0.0000123, "0.002%"}, {0.00399, "0.4%"}, {0.999, "100%"}} {
		if got := percentRoundedUp(c.share); got != c.want {
			t.Errorf("%v: %s, want %s", c.share, got, c.want)
		}
	}
	var above float64
	for x := 1e-5; x < 1; x *= 1.07 {
		if _, err := fmt.Sscanf(percentRoundedUp(stream.Number(x)), "%g%%", &above); err != nil || !(above > 100*x) || above > 111*x+0.001 && !math.Signbit(x) {
			t.Errorf("%v is said to be below %s", x, percentRoundedUp(stream.Number(x)))
		}
	}
}

// TestWorthLine: what is said of other selections than greedy's, and of those that add nothing.
func TestWorthLine(t *testing.T) {
	nan := stream.Number(math.NaN())
	chosen := func(k int, left stream.Number) []stream.Selected {
		list := make([]stream.Selected, k)
		list[k-1].Error = left
		return list
	}
	size := &stream.Size{Recommended: 2, Explained: 0.7, Next: 0.01, Noise: 0.02}
	auto := map[string]any{"k": "auto"}
	groups := []stream.Selected{{Name: "a"}, {Name: "g", Members: []string{"x", "y", "z"}, Error: 0.2}}
	for want, s := range map[string]*stream.Selection{
		"": {Selected: chosen(2, nan)},
		"1 feature explains 60.00% of the sum of squares":                                                                                                                                                               {Selected: chosen(1, 0.4)},
		"3 features explain 50.00% of the variance, each more than noise would":                                                                                                                                         {Selected: chosen(3, 0.4), Worth: &stream.Worth{Explained: 0.5}},
		"3 features explain 50.00% of the variance; of these, the last adds no more than noise (less than 1.1%, and noise up to 2.1%)":                                                                                  {Selected: chosen(3, 0.4), Worth: &stream.Worth{Explained: 0.5, Faint: 1, Last: 1, Most: 0.01, Noise: 0.02}},
		"3 features explain 50.00% of the variance; 2 of these add no more than noise (each less than 1.1%, and noise up to 2.1%)":                                                                                      {Selected: chosen(3, 0.4), Worth: &stream.Worth{Explained: 0.5, Faint: 2, Last: 1, Most: 0.01, Noise: 0.02}},
		"3 features explain 50.00% of the variance; all of these add no more than noise (each less than 1.1%, and noise up to 2.1%)":                                                                                    {Selected: chosen(3, 0.4), Worth: &stream.Worth{Explained: 0.5, Faint: 3, Last: 3, Most: 0.01, Noise: 0.02}},
		"2 features explain 50.00% of the variance; greedy's first 2 explain 70.00%, and from its 3rd on each adds less than 1.1%, no more than noise does (up to 2.1%)":                                                {Method: "align", Options: auto, Selected: chosen(2, 0.5), Size: size, Worth: &stream.Worth{Explained: 0.5}},
		"2 features explain 70.00% of the variance; from the 3rd on each adds less than 3.1%, where noise adds up to 2.1%":                                                                                              {Method: "greedy", Options: auto, Selected: chosen(2, 0.3), Size: &stream.Size{Recommended: 2, Explained: 0.7, Next: 0.03, Noise: 0.02}, Worth: &stream.Worth{Explained: 0.7}},
		"2 features explain 70.00% of the variance; more were not looked at":                                                                                                                                            {Method: "greedy", Options: auto, Selected: chosen(2, 0.3), Size: &stream.Size{Recommended: 2, Explained: 0.7, Next: nan, Noise: nan}, Worth: &stream.Worth{Explained: 0.7}},
		"the 2 chosen, 4 features together, explain 80.00% of the sum of squares; single features: greedy's first 2 explain 70.00%, and from its 3rd on each adds less than 1.1%, no more than noise does (up to 2.1%)": {Options: auto, Selected: groups, Size: size},
		"the 2 chosen, 4 features together, explain 80.00% of the sum of squares":                                                                                                                                       {Selected: groups, Size: size},
	} {
		if got := worthSentence(s); got != want {
			t.Errorf("%q\nwant %q", got, want)
		}
	}
}
