package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// openingView is the text at the beginning of the page or of a section.
type openingView struct {
	First string      // sentence on the choice, and on the share that it explains
	Rest  []paragraph // how many features suffice, whether to trust the choice, and the columns that were left out
}

// paragraph has sentences on one subject, which its title names.
type paragraph struct {
	Title     string
	Sentences []string
}

func (v *openingView) addParagraph(title string, sentences ...string) {
	if len(sentences) > 0 {
		v.Rest = append(v.Rest, paragraph{title, sentences})
	}
}

// newOpening describes selection s. judged is the sentence of an evaluation about s, or empty.
func newOpening(s *stream.Selection, judged string) openingView {
	k := len(s.Selected)
	v := openingView{First: chosenCountText(s)}
	x := explainedShare(s)
	verb := " explain "
	if k == 1 {
		verb = " explains "
	}
	switch {
	case math.IsNaN(x):
		v.First += ", chosen by " + drawing.TruncateText(s.Method, 60) + "; what they explain is not known."
	case s.Estimate != nil && s.Estimate.Candidates == 0:
		v.First += verb + "about " + percentText(x) + " of " + errorMeasure(s) + ", by a sketch of the rows."
	default:
		v.First += verb + percentText(x) + " of " + errorMeasure(s) + randomShareText(s, x) + "."
	}
	switch {
	case judged != "":
		v.addParagraph("The data", judged)
	case reconstructionTarget(s) != "" && !math.IsNaN(x):
		v.addParagraph("The data", "That is not the share of the data itself, which eval measures.")
	}
	v.addParagraph("How many", sizeSentences(s)...)
	v.addParagraph("Trust", trustSentences(s)...)
	v.addParagraph("Left out", leftOutSentences(s.LeftOut)...)
	return v
}

func faintSentence(s *stream.Selection) string {
	w, k := s.Worth, len(s.Selected)
	noBetter := s.Trust != nil && s.Trust.Choice != nil && !s.Trust.Choice.Trusted
	switch {
	case w == nil || w.Faint > 0 && (s.Size.Keeps(w, k) || s.Options["k"] == "auto" && s.Size != nil):
		return "" // the rules that found the number of features count these otherwise
	case w.Faint == 0 && (k == 1 || noBetter):
		return ""
	case w.Faint == 0:
		return "Each of the chosen adds more than noise would."
	}
	which := countText(int64(w.Faint)) + " of the chosen add"
	if w.Faint == 1 {
		which = "1 of the chosen adds"
	}
	return fmt.Sprintf("%s no more than noise does (at most %s, and noise up to %s).", which, percentText(float64(w.Most)), percentText(float64(w.Noise)))
}

func randomShareText(s *stream.Selection, explained float64) string {
	if s.Trust == nil || s.Trust.Choice == nil || s.Worth == nil || math.Abs(float64(s.Trust.Choice.Value)-explained) > 1e-9 {
		return "" // the run has measured random features by another share
	}
	return fmt.Sprintf("; %s random ones %s", countText(int64(len(s.Selected))), percentText(float64(s.Trust.Choice.Chance)))
}

// The numbers of reasons, and of names for each, in the sentence about columns that were left out.
const (
	maxReasons  = 5
	maxExamples = 3
)

func leftOutSentences(list []stream.LeftOut) []string {
	if len(list) == 0 {
		return nil
	}
	names := map[string][]string{} // by reason
	var reasons []string           // in the order of their first columns
	for _, l := range stream.BySeverity(list) {
		parts := leftOutReason().FindStringSubmatch(l.Why)
		reason := cmp.Or(drawing.TruncateText(parts[1]+parts[2], maxBriefRunes), "no reason")
		if names[reason] == nil {
			reasons = append(reasons, reason)
		}
		names[reason] = append(names[reason], truncateTag(l.Name))
	}
	slices.SortStableFunc(reasons, func(a, b string) int { return len(names[b]) - len(names[a]) })
	var parts []string
	for _, reason := range reasons[:min(len(reasons), maxReasons)] {
		those := names[reason]
		text := fmt.Sprintf("%s (%s", reason, strings.Join(those[:min(len(those), maxExamples)], ", "))
		if more := len(those) - maxExamples; more > 0 {
			text += fmt.Sprintf(" and %s more", countText(int64(more)))
		}
		parts = append(parts, text+")")
	}
	if more := len(reasons) - maxReasons; more > 0 {
		parts = append(parts, countNoun(more, "other reason"))
	}
	return []string{countNoun(len(list), "column") + ": " + strings.Join(parts, ", ") + "."}
}

// leftOutReason is the reason at the beginning of a text such as "constant (4 in every row)".
var leftOutReason = convert.CompilePattern(`(?s)^(?:(a copy) of.*|(.*?)(?: in every.*| \(.*|[:;,].*)?)$`)

// evaluationSentence states the share of the data that the selection in d explains, according to an evaluation in the
// page. It is empty if the page has no such evaluation, or if the selection itself records the share.
func (p Page) evaluationSentence(d *Document) string {
	if d.Selection == nil {
		return ""
	}
	for _, e := range p.Documents {
		if e.Evaluation == nil || reconstructionTarget(d.Selection) == "" && recordedOption(d.Selection, "scale") == e.Evaluation.ReconstructionScale {
			continue
		}
		for _, r := range e.Evaluation.Results {
			of := Document{Name: r.Path}
			if r.Path != "" && of.shortName() == d.shortName() && r.K == len(d.Selection.Selected) && isFinite(r.Reconstruction) {
				scale := ""
				if e.Evaluation.ReconstructionScale != "" {
					scale = " (scale " + drawing.TruncateText(e.Evaluation.ReconstructionScale, 40) + ")"
				}
				return fmt.Sprintf("By eval they explain %s of the sum of squares of the data itself%s.", percentText(1-float64(r.Reconstruction)), scale)
			}
		}
	}
	return ""
}

func sizeSentences(s *stream.Selection) []string {
	faint := faintSentence(s)
	size := recommendedSizeSentence(s)
	switch z := recommendedSize(s); {
	case faint != "" && s.Worth.Faint > 0 && z.k >= len(s.Selected):
		return []string{fmt.Sprintf("Two measures disagree: the rules for greedy's features would keep %s (%s), but %s", countText(int64(z.k)), cmp.Or(strings.TrimSuffix(drawing.TruncateText(z.why, 400), "."), "recommended"), faint)}
	case faint == "":
		return size
	}
	return append(size, faint)
}

func recommendedSizeSentence(s *stream.Selection) []string {
	z := recommendedSizeOrElbow(s)
	switch {
	case z.k <= 0:
		return nil
	case z.why != "":
		sentence := fmt.Sprintf("Worth keeping: %s: %s", countNoun(z.k, groupOrFeature(s)), strings.TrimSuffix(drawing.TruncateText(z.why, 400), "."))
		if n := s.Size; isFinite(n.Next) && isFinite(n.Noise) && n.Noise > 0 {
			sentence += fmt.Sprintf("; of greedy's features each one after these adds at most %s, and noise %s", percentText(float64(n.Next)), percentText(float64(n.Noise)))
		}
		return []string{sentence + "."}
	case z.k >= len(s.Selected) || !isFinite(s.Selected[z.k-1].Error):
		return []string{fmt.Sprintf("The curve bends at %s.", countNoun(z.k, groupOrFeature(s)))}
	}
	most := 0.0
	for i := z.k; i < len(s.Selected); i++ {
		if gain := float64(s.Selected[i-1].Error - s.Selected[i].Error); gain > most {
			most = gain
		}
	}
	bends := "The curve bends at"
	if z.source == "recommended" {
		bends = "Worth keeping:"
	}
	verb := "explain"
	if z.k == 1 {
		verb = "explains"
	}
	return []string{fmt.Sprintf("%s %s, which %s %s; from then on each adds at most %s.", bends, countNoun(z.k, groupOrFeature(s)), verb, percentText(1-float64(s.Selected[z.k-1].Error)), percentText(most))}
}

func trustSentences(s *stream.Selection) []string {
	var list []string
	if t := s.Trust; t != nil && t.Choice != nil {
		verdict := "Better than chance"
		if !t.Choice.Trusted {
			verdict = "No better than chance: do not rely on it"
		}
		details := ""
		if b := t.Choice.Beats; b != nil && isFinite(*b) {
			details += ", more than " + percentText(float64(*b)) + " of such choices"
			if *b == 1 {
				details = ", more than all of them"
			}
		}
		if p := t.Choice.Permuted; p != nil && isFinite(*p) {
			details += ", on columns that have nothing to do with each other " + percentText(float64(*p))
		}
		list = append(list, fmt.Sprintf("%s (%s: %s, of random features %s ± %s%s).", verdict, drawing.TruncateText(t.Choice.Measure, 200), percentText(float64(t.Choice.Value)), percentText(float64(t.Choice.Chance)), percentText(float64(t.Choice.Spread)), details))
	}
	if t := s.Trust; t != nil && t.Dependence != nil {
		verdict := "The columns go together"
		if !t.Dependence.Trusted {
			verdict = "The columns go together no more than independent ones"
		}
		list = append(list, fmt.Sprintf("%s (mean squared correlation %s, by chance %s).", verdict, fixedText(float64(t.Dependence.Value), 4), fixedText(float64(t.Dependence.Chance), 4)))
	}
	if t := s.Trust; t != nil && t.Clusters != nil {
		verdict := "The rows have clusters beyond what the covariances of the columns explain"
		if !t.Clusters.Trusted {
			verdict = "The rows show no clusters beyond what the covariances of the columns explain"
		}
		list = append(list, fmt.Sprintf("%s (%s: %s, without clusters %s).", verdict, drawing.TruncateText(t.Clusters.Measure, 200), fixedText(float64(t.Clusters.Value), 2), fixedText(float64(t.Clusters.Chance), 2)))
	}
	if t := s.Trust; t != nil && t.Graph != nil {
		verdict := "The graph of the rows can be trusted"
		if !t.Graph.Trusted {
			verdict = "The graph of the rows cannot be trusted"
		}
		list = append(list, fmt.Sprintf("%s (alignment %s, by chance %s).", verdict, fixedText(float64(t.Graph.Value), 2), fixedText(float64(t.Graph.Chance), 2)))
	}
	if a := s.Stability; a != nil && isFinite(a.Index) {
		list = append(list, fmt.Sprintf("Selections from half-samples agree to %s (95 %% interval %s to %s; 1 is always the same features, 0 chance).", fixedText(float64(a.Index), 2), fixedText(float64(a.Low), 2), fixedText(float64(a.High), 2)))
	}
	return list
}

// trustVerdict states in a few words whether the choice can be trusted. If that is unknown, it states whether the graph
// of the rows can be trusted. The result is empty if both are unknown.
func trustVerdict(s *stream.Selection) string {
	switch t := s.Trust; {
	case t == nil:
		return ""
	case t.Choice != nil && t.Choice.Trusted:
		return "better than chance"
	case t.Choice != nil:
		return "no better than chance"
	case t.Graph != nil && t.Graph.Trusted:
		return "graph trusted"
	case t.Graph != nil:
		return "graph not trusted"
	}
	return ""
}

func combinedOpening(list []pageSelection, v *compareView) openingView {
	few, most := len(list[0].Selected), 0
	features, alike := list[0].Features, true
	measures := map[string][]pageSelection{} // selections with equal errorMeasure and inputsKey
	for _, s := range list {
		few, most = min(few, len(s.Selected)), max(most, len(s.Selected))
		alike = alike && s.Features == features
		if !math.IsNaN(explainedShare(s.Selection)) {
			of := errorMeasure(s.Selection) + "\n" + inputsKey(s.Selection)
			measures[of] = append(measures[of], s)
		}
	}
	o := openingView{First: fmt.Sprintf("%s of %s", countNoun(len(list), "selection"), countText(int64(few)))}
	if most > few {
		o.First += " to " + countText(int64(most))
	}
	if alike {
		o.First += fmt.Sprintf(" of %s", countText(int64(features)))
	}
	o.First += " features."
	var leaders []string
	for _, key := range slices.Sorted(maps.Keys(measures)) {
		same := measures[key]
		best, of := same[0], errorMeasure(same[0].Selection)
		for _, s := range same {
			if explainedShare(s.Selection) > explainedShare(best.Selection) {
				best = s
			}
		}
		if n := len(same); n > 1 {
			name, x := drawing.TruncateText(best.name, maxBriefRunes), percentText(explainedShare(best.Selection))
			sentence := fmt.Sprintf("%s explains the most of %s: %s.", name, of, x)
			if n < len(list) {
				sentence = fmt.Sprintf("Of the %s that explain %s, %s explains the most: %s.", countText(int64(n)), of, name, x)
			}
			leaders = append(leaders, sentence)
		}
	}
	o.addParagraph("Best", leaders...)
	var doubtful []string
	for _, r := range v.Rows {
		if r.Distrusted {
			doubtful = append(doubtful, drawing.TruncateText(r.Name, maxBriefRunes))
		}
	}
	if doubtful != nil {
		o.addParagraph("Trust", "Not to be relied on, being no better than chance: "+strings.Join(doubtful, ", ")+".")
	}
	o.addParagraph("In common", v.Table.Note)
	return o
}
