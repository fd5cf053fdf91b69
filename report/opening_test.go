package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

// falling is a selection of features that leave these errors.
func falling(errors ...float64) *stream.Selection {
	s := &stream.Selection{Method: "m", Features: 100, Options: map[string]any{"scale": "standard"}}
	for i, e := range errors {
		s.Selected = append(s.Selected, stream.Selected{Rank: i + 1, Name: string(rune('a' + i)), Error: stream.Number(e)})
	}
	return s
}

func (v openingView) text() string {
	text := v.First
	for _, p := range v.Rest {
		text += " [" + p.Title + "] " + strings.Join(p.Sentences, " ")
	}
	return text
}

// TestOpening: the first sentences state the share explained, how many features suffice, and whether to trust the
// choice, in all cases.
func TestOpening(t *testing.T) {
	bent := []float64{0.6, 0.3, 0.28, 0.25, 0.24}
	nan := math.NaN()
	for name, c := range map[string]struct {
		change func(s *stream.Selection)
		want   string
	}{
		"elbow": {func(*stream.Selection) {},
			"5 of 100 features explain 76.00 % of the sum of squares (scale standard). [How many] The curve bends at 2 features, which explain 70.00 %; from then on each adds at most 3.00 %."},
		"recommended": {func(s *stream.Selection) {
			s.Size = &stream.Size{Recommended: 3, Why: "each later one adds what noise adds."}
		},
			"5 of 100 features explain 76.00 % of the sum of squares (scale standard). [How many] Worth keeping: 3 features: each later one adds what noise adds."},
		"worth": {func(s *stream.Selection) {
			s.Size = &stream.Size{Recommended: 3, Why: "two rules agree", Next: 0.01, Noise: 0.02}
			s.Worth = &stream.Worth{Faint: 2, Most: 0.03, Noise: 0.04}
		}, "5 of 100 features explain 76.00 % of the sum of squares (scale standard). [How many] Worth keeping: 3 features: two rules agree; of greedy's features each one after these adds at most 1.00 %, and noise 2.00 %. 2 of the chosen add no more than noise does (at most 3.00 %, and noise up to 4.00 %)."},
		"as many as the rules find": {func(s *stream.Selection) {
			s.Options["k"] = "auto"
			s.Size = &stream.Size{Recommended: 5, Why: "two rules agree"}
			s.Worth = &stream.Worth{Faint: 2, Most: 0.03, Noise: 0.04}
		}, "5 of 100 features explain 76.00 % of the sum of squares (scale standard). [How many] Worth keeping: 5 features: two rules agree."},
		"measures that disagree": {func(s *stream.Selection) {
			s.Size = &stream.Size{Recommended: 7, Why: "no two rules agree."}
			s.Worth = &stream.Worth{Faint: 1, Most: 0.03, Noise: 0.04}
		}, "5 of 100 features explain 76.00 % of the sum of squares (scale standard). [How many] Two measures disagree: the rules for greedy's features would keep 7 (no two rules agree), but 1 of the chosen adds no more than noise does (at most 3.00 %, and noise up to 4.00 %)."},
		"all worth it": {func(s *stream.Selection) {
			s.Size, s.Worth = &stream.Size{Recommended: 5, Why: "they agree"}, new(stream.Worth)
		},
			"5 of 100 features explain 76.00 % of the sum of squares (scale standard). [How many] Worth keeping: 5 features: they agree. Each of the chosen adds more than noise would."},
		"recommended without a reason": {func(s *stream.Selection) { s.Size = &stream.Size{Recommended: 1} },
			"5 of 100 features explain 76.00 % of the sum of squares (scale standard). [How many] Worth keeping: 1 feature, which explains 40.00 %; from then on each adds at most 30.00 %."},
		"smoothed": {func(s *stream.Selection) {
			s.Options["target"], s.Options["smooth"], s.Selected = "smooth", 2.0, s.Selected[:1]
		},
			"1 of 100 features explains 40.00 % of the data smoothed on the graph of the rows. [The data] That is not the share of the data itself, which eval measures."},
		"not smoothed": {func(s *stream.Selection) {
			s.Options["target"], s.Options["smooth"], s.Selected = "smooth", 0.0, s.Selected[:1]
		},
			"1 of 100 features explains 40.00 % of the sum of squares (scale standard)."},
		"unknown": {func(s *stream.Selection) { s.Selected[4].Error = stream.Number(nan); s.Selected = s.Selected[4:] },
			"1 of 100 features, chosen by m; what they explain is not known."},
		"sketch": {func(s *stream.Selection) { s.Estimate, s.Selected = &stream.Estimate{}, s.Selected[:1] },
			"1 of 100 features explains about 40.00 % of the sum of squares (scale standard), by a sketch of the rows."},
		"trusted": {func(s *stream.Selection) {
			s.Selected = s.Selected[:1]
			s.Trust = &stream.Trust{Choice: &stream.Chance{Measure: "share", Value: 0.4, Chance: 0.3, Spread: 0.01, Trusted: true}, Graph: &stream.Chance{Value: 0.5, Chance: 0.125}}
			s.Stability = &stream.Agreement{Index: 0.5, Low: 0.25, High: 0.75}
		}, "1 of 100 features explains 40.00 % of the sum of squares (scale standard). [Trust] Better than chance (share: 40.00 %, of random features 30.00 % ± 1.00 %). The graph of the rows cannot be trusted (alignment 0.50, by chance 0.12). Selections from half-samples agree to 0.50 (95 % interval 0.25 to 0.75; 1 is always the same features, 0 chance)."},
		"variance": {func(s *stream.Selection) {
			s.Worth = &stream.Worth{Explained: 1 - 0.24}
			s.Trust = &stream.Trust{Choice: &stream.Chance{Measure: "share", Value: 1 - 0.24, Chance: 0.3, Spread: 0.01, Trusted: true}}
		}, "5 of 100 features explain 76.00 % of the variance (scale standard); 5 random ones 30.00 %. [How many] The curve bends at 2 features, which explain 70.00 %; from then on each adds at most 3.00 %. Each of the chosen adds more than noise would. [Trust] Better than chance (share: 76.00 %, of random features 30.00 % ± 1.00 %)."},
		"left out": {func(s *stream.Selection) {
			s.Selected = s.Selected[:1]
			for name, why := range map[string]string{"a": "constant (4 in every row)", "b": "constant (-5 in every row)", "c": "text", "d": "maps", "e": "dates; {times} makes features of them", "f": "one\nline", "g": "", "h": "constant", "i": "constant (in every row)", "j": "a copy of c, nearly"} {
				s.LeftOut = append(s.LeftOut, stream.LeftOut{Name: name, Why: why})
			}
			slices.SortFunc(s.LeftOut, func(a, b stream.LeftOut) int { return strings.Compare(a.Name, b.Name) })
		}, "1 of 100 features explains 40.00 % of the sum of squares (scale standard). [Left out] 10 columns: constant (a, b, h and 1 more), a copy (j), maps (d), dates (e), one\nline (f), 2 other reasons."},
		"distrusted": {func(s *stream.Selection) {
			s.Selected = s.Selected[:1]
			s.Trust = &stream.Trust{Choice: &stream.Chance{Measure: "share", Value: 0.4, Chance: 0.39, Spread: 0.01}}
		}, "1 of 100 features explains 40.00 % of the sum of squares (scale standard). [Trust] No better than chance: do not rely on it (share: 40.00 %, of random features 39.00 % ± 1.00 %)."},
	} {
		s := falling(bent...)
		c.change(s)
		if got := strings.TrimSpace(newOpening(s, "").text()); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// TestJudged: a selection shows an evaluation's sentence only if the evaluation judges its own file and number of
// features.
func TestJudged(t *testing.T) {
	s := falling(0.5, 0.25)
	s.Options["target"] = "smooth"
	eval := &stream.Evaluation{ReconstructionScale: "standard", Results: []stream.Evaluated{
		{Name: "all", K: 2, Reconstruction: 0.9}, {Path: "x/other.json", K: 2, Reconstruction: 0.8},
		{Path: "x/sel.json", K: 1, Reconstruction: 0.7}, {Path: "x/sel.json", K: 2, Reconstruction: 0.375},
	}}
	p := Page{Documents: []Document{{Name: "y/sel.json", Selection: s}, {Name: "eval.json", Evaluation: eval}}}
	if got, want := p.evaluationSentence(&p.Documents[0]), "By eval they explain 62.50 % of the sum of squares of the data itself (scale standard)."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	html := pageOf(t, p.Documents...)
	if !strings.Contains(html, "75.00 % of the data smoothed on the graph of the rows") || !strings.Contains(html, "62.50 % of the sum of squares of the data itself") {
		t.Error("the page does not have both shares")
	}
	delete(s.Options, "target")
	if got := p.evaluationSentence(&p.Documents[0]); got != "" {
		t.Errorf("of the same measure: %q", got)
	}
	s.Options["target"] = "smooth"
	p.Documents[0].Name = "third.json"
	if got := p.evaluationSentence(&p.Documents[0]); got != "" {
		t.Errorf("of another file: %q", got)
	}
}

// TestOpeningTogether: the best is named among those that explain the same thing only.
func TestOpeningTogether(t *testing.T) {
	a, b, c := falling(0.5), falling(0.25, 0.125), falling(0.1)
	c.Options = map[string]any{"scale": "pareto"}
	c.Selected[0].Name = "z"
	b.Trust = &stream.Trust{Choice: &stream.Chance{}}
	list := []pageSelection{{a, "s1", "a"}, {b, "s2", "b"}, {c, "s3", "c"}}
	for n, want := range map[int]string{
		2: "2 selections of 1 to 2 of 100 features. [Best] b explains the most of the sum of squares (scale standard): 87.50 %. [Trust] Not to be relied on, being no better than chance: b. [In common] Together they chose 2 features: 1 in every selection.",
		3: "3 selections of 1 to 2 of 100 features. [Best] Of the 2 that explain the sum of squares (scale standard), b explains the most: 87.50 %. [Trust] Not to be relied on, being no better than chance: b. [In common] Together they chose 3 features: none in every selection, 1 in more than one.",
	} {
		v, err := compareSelections(list[:n])
		if err != nil {
			t.Fatalf("comparing the selections: %v", err)
		}
		if got := combinedOpening(list[:n], v).text(); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
	b.Inputs = []stream.Input{{Path: "other data"}}
	v, err := compareSelections(list)
	if err != nil {
		t.Fatalf("comparing the selections: %v", err)
	}
	if got := combinedOpening(list, v).text(); strings.Contains(got, "explains the most") {
		t.Errorf("of different data one explains the most: %s", got)
	}
	if !slices.Contains(v.Curves[0].Notes, "The selections are of different data: their shares do not compare.") {
		t.Errorf("the plot says nothing of different data: %q", v.Curves[0].Notes)
	}
}
