package print

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/stream"
)

// WorthSentence describes how much the selection explains, and from which number of features on a further feature adds
// no more than noise. It returns "" if this is unknown.
func WorthSentence(s *stream.Selection) string {
	k := len(s.Selected)
	if k == 0 {
		return ""
	}
	explained, quantity := 1-s.Selected[k-1].Error, "sum of squares"
	if s.Worth != nil {
		explained, quantity = s.Worth.Explained, "variance"
	}
	if s.Options["explain-columns"] != nil {
		quantity += " of the explained columns"
	}
	if math.IsNaN(float64(explained)) {
		return ""
	}
	verb := "explain"
	if k == 1 {
		verb = "explains"
	}
	groups := s.HasGroups()
	subject := CountNoun(k, "feature")
	if groups { // a group has several features, so state both numbers
		subject, verb = fmt.Sprintf("the %d chosen, %s together,", k, CountNoun(s.SelectedFeatures(), "feature")), "explain"
	}
	line := fmt.Sprintf("%s %s %s of the %s", subject, verb, percentText(explained), quantity)
	auto := s.Size != nil && s.Options["k"] == "auto"
	switch w := s.Worth; {
	case auto && groups:
		line += "; single features: " + gainBeyondSizeText(s.Size, false)
	case auto && s.Size.Recommended < k: // --keep requires more features
	case auto:
		line += "; " + gainBeyondSizeText(s.Size, s.Method == "greedy" && w != nil && math.Abs(float64(w.Explained-s.Size.Explained)) < 1e-9)
	case w == nil:
	case s.Size.Keeps(w, k):
	case w.Faint > 0:
		line += "; " + faintFeaturesText(w, k)
	case k > 1 && (s.Trust == nil || s.Trust.Choice == nil || s.Trust.Choice.Trusted):
		line += ", each more than noise would"
	}
	if !auto && !groups && s.Size != nil && s.Size.Recommended != k {
		line += fmt.Sprintf("; -k auto keeps %d", s.Size.Recommended)
	}
	return line
}

func autoSizeText(s *stream.Selection) string {
	if s.HasGroups() {
		return fmt.Sprintf("%d: of single features %d would be worth keeping: %s", len(s.Selected), s.Size.Recommended, s.Size.Why)
	}
	if k := len(s.Selected); k > s.Size.Recommended {
		return fmt.Sprintf("%d: to be kept; %d would be worth keeping: %s", k, s.Size.Recommended, s.Size.Why)
	}
	return fmt.Sprintf("%d: %s", s.Size.Recommended, s.Size.Why)
}

// gainBeyondSizeText describes how much is added by features beyond the recommended number. The rules for this number
// examine the features that greedy selects. own means that greedy made the selection. Otherwise the text names greedy.
func gainBeyondSizeText(z *stream.Size, own bool) string {
	next := humanize.Ordinal(z.Recommended + 1)
	from := fmt.Sprintf("from the %s on each", next)
	if !own {
		from = fmt.Sprintf("greedy's first %d explain %s, and from its %s on each", z.Recommended, percentText(z.Explained), next)
	}
	switch {
	case math.IsNaN(float64(z.Next)) && own:
		return "more were not looked at"
	case math.IsNaN(float64(z.Next)):
		return fmt.Sprintf("greedy's first %d explain %s, and more were not looked at", z.Recommended, percentText(z.Explained))
	case z.Next > z.Noise:
		return fmt.Sprintf("%s adds less than %s, where noise adds up to %s", from, percentRoundedUp(z.Next), percentRoundedUp(z.Noise))
	}
	return fmt.Sprintf("%s adds less than %s, no more than noise does (up to %s)", from, percentRoundedUp(z.Next), percentRoundedUp(z.Noise))
}

// faintFeaturesText describes which of k features add no more than noise.
func faintFeaturesText(w *stream.Worth, k int) string {
	which, verb, each := fmt.Sprintf("%d of these", w.Faint), "add", "each "
	switch {
	case w.Faint == k:
		which = "all of these"
	case w.Last < w.Faint:
	case w.Last == 1:
		which = "of these, the last"
	default:
		which = fmt.Sprintf("of these, the last %d", w.Last)
	}
	if w.Faint == 1 {
		verb, each = "adds", ""
	}
	return fmt.Sprintf("%s %s no more than noise (%sless than %s, and noise up to %s)", which, verb, each, percentRoundedUp(w.Most), percentRoundedUp(w.Noise))
}

// percentRoundedUp rounds a share up to the next number with two digits, and writes it in percent.
func percentRoundedUp(n stream.Number) string {
	x := 100 * max(float64(n), 0)
	step := math.Pow(10, max(math.Floor(math.Log10(x))-1, -3))
	text := strconv.FormatFloat((math.Floor(x/step)+1)*step, 'g', 3, 64)
	if strings.Contains(text, "e") {
		text = "0.001"
	}
	return text + "%"
}
