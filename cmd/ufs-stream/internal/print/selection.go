package print

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/stream"
)

// WriteSelection writes s as a table, JSON, CSV, Parquet, or the names of the input columns that it needs, one a line.
func WriteSelection(w io.Writer, s *stream.Selection, o Options) error {
	if o.Format == "names" {
		return writeNames(w, s)
	}
	return output{s.Encode, func(w *screen.Page) { printSelection(w, s, o) }, selectionColumns(s), len(s.Selected)}.writeTo(w, o)
}

func writeNames(w io.Writer, s *stream.Selection) error {
	names := InputNames(s)
	if i := slices.IndexFunc(names, func(name string) bool { return strings.ContainsAny(name, "\r\n") }); i >= 0 {
		return stream.Usagef("--format names: the name %q has a line break, and names are lines; take {format json} or yaml", names[i])
	}
	for _, name := range names {
		if _, err := fmt.Fprintln(w, name); err != nil {
			return err
		}
	}
	return nil
}

// InputNames returns the names of the input columns that a selection needs. Each name occurs once.
func InputNames(s *stream.Selection) (names []string) {
	taken := make(map[string]bool)
	for _, f := range s.Selected {
		for _, name := range f.Inputs() {
			if !taken[name] {
				names, taken[name] = append(names, name), true
			}
		}
	}
	return names
}

func selectionColumns(s *stream.Selection) []column {
	at := func(i int) *stream.Selected { return &s.Selected[i] }
	columns := []column{
		{name: "rank", title: ">rank", value: func(i int) int { return at(i).Rank }},
		{name: "name", title: "feature", value: func(i int) string { return at(i).Name }, text: func(i int) string { return screen.QuoteName(at(i).Name) }},
		{name: "column", title: ">column", value: func(i int) stream.Position { return at(i).Column }},
		{name: "score", title: ">score", value: func(i int) stream.Number { return at(i).Score }},
		{name: "error", value: func(i int) stream.Number { return at(i).Error }},
	}
	if s.LowerIsBetter {
		columns[3].title += " (lower is better)"
	}
	if slices.ContainsFunc(s.Selected, func(f stream.Selected) bool { return !math.IsNaN(float64(f.Error)) }) {
		columns = append(columns, column{title: ">explained so far", text: func(i int) string { return percentText(1 - at(i).Error) }})
	}
	if slices.ContainsFunc(s.Selected, func(f stream.Selected) bool { return f.Layer > 1 }) {
		columns = append(columns, column{title: ">layer", value: func(i int) int { return max(at(i).Layer, 1) }})
	}
	frequency := func(i int) stream.Number { return selectionFrequency(s, *at(i)) }
	if s.Stability != nil {
		columns = append(columns, column{name: "frequency", value: frequency})
	}
	if s.HasGroups() {
		columns[1].title = "group or feature"
		columns = append(columns, membersColumn(func(i int) []string { return at(i).Features() }))
	}
	if s.Cost != nil {
		columns = append(columns, column{name: "cost", title: ">cost", value: func(i int) stream.Number { return *at(i).Cost }})
	}
	if s.Stability != nil {
		columns = append(columns, column{title: ">freq", text: func(i int) string { return fmt.Sprintf("%.2f", float64(frequency(i))) }})
	}
	return columns
}

// membersColumn returns the column of the features of a group: their number in the table, else their names.
func membersColumn(features func(int) []string) column {
	return column{
		name: "members", title: ">columns",
		value: func(i int) string { return strings.Join(features(i), ";") },
		text:  func(i int) string { return strconv.Itoa(len(features(i))) },
	}
}

func scaleText(options map[string]any) string {
	text := fmt.Sprint(options["scale"])
	if rows := options["rows-scale"]; rows != nil {
		text += fmt.Sprintf(" of rows in %v", rows)
	}
	return text
}

// printSelection prints the ranking, and then the features that were dropped or left out with the reasons. The longest
// lists are printed only with -v.
func printSelection(w *screen.Page, s *stream.Selection, o Options) {
	w.Printf("%s: %s of %s features from %s (scale %s, seed %d)\n",
		s.Method, chosenCountText(s), humanize.Comma(int64(s.Features)), rowsText(s.RowsUsed, s.Rows), scaleText(s.Options), s.Seed)
	if s.Why != "" {
		w.Printf("method %s: %s\n", s.Method, s.Why)
	}
	printTrust(w, s.Trust)
	if s.Size != nil && s.Options["k"] == "auto" {
		w.Printf("k = %s\n", autoSizeText(s))
	}
	if s.WhyK != "" {
		w.Printf("k = %d: %s\n", len(s.Selected), s.WhyK)
	}
	w.Printf("\n")
	printColumns(w, selectionColumns(s), len(s.Selected))
	printGapToBest(w, s)
	printCost(w, s)
	if s.Stability != nil {
		printAgreement(w, s.Stability)
	}
	printDropped(w, s, o.Verbose)
	printLeftOut(w, s.LeftOut, o.Verbose)
	if line := WorthSentence(s); line != "" {
		w.Printf("\n%s\n", line)
	}
	printTransfer(w, s.Transfer)
}

// printGapToBest compares the error of the k selected features with the least error that any k directions can have.
func printGapToBest(w *screen.Page, s *stream.Selection) {
	k := len(s.Selected)
	if k == 0 || s.Selected[k-1].Least == nil {
		return
	}
	last := s.Selected[k-1]
	one := [2]string{"features leave", "directions"}
	if k == 1 {
		one = [2]string{"feature leaves", "direction"}
	}
	w.Printf("\n%d %s %s, the best %[1]d %[4]s would leave %[5]s\n", k, one[0], percentText(last.Error), one[1], percentText(*last.Least))
}

// selectionFrequency returns the share of the half-samples whose selection contains f. For a group this is the share
// for its first feature.
func selectionFrequency(s *stream.Selection, f stream.Selected) stream.Number {
	name := f.Features()[0]
	i := slices.IndexFunc(s.Columns, func(c stream.ColumnReport) bool { return c.Name == name })
	if i < 0 || s.Columns[i].Frequency == nil {
		return stream.Number(math.NaN())
	}
	return *s.Columns[i].Frequency
}

// printAgreement prints how well the selections from half-samples agree.
func printAgreement(w *screen.Page, a *stream.Agreement) {
	halves := fmt.Sprintf("over %d half-samples of the rows (%d hash shards)", a.Halves, a.Shards)
	if math.IsNaN(float64(a.Index)) { // all features are chosen, or no feature
		w.Printf("\nstability: unknown %s, because there is no choice\n", halves)
		return
	}
	w.Printf("\nstability %.2f (95%% interval %.2f to %.2f) %s: 1 is always the same features, 0 chance; freq is how often each was chosen\n",
		float64(a.Index), float64(a.Low), float64(a.High), halves)
}

// printTrust prints how far the graph of the rows can be trusted, and whether a sample of the rows has clusters.
func printTrust(w *screen.Page, t *stream.Trust) {
	if t == nil {
		return
	}
	line := func(format, yes, no string, c *stream.Chance) {
		if c == nil {
			return
		}
		verdict := yes
		if !c.Trusted {
			verdict = no
		}
		w.Printf(format+"\n", verdict, float64(c.Value), float64(c.Chance))
	}
	line("graph of the rows: %s (alignment %.2f, and %.2f by chance)", "trusted", "not trusted", t.Graph)
	line("columns: %s (mean squared correlation %.2g, and %.2g by chance)", "go together", "independent", t.Dependence)
	measure := "eigenvalues of their graph"
	if t.Clusters != nil && strings.HasPrefix(t.Clusters.Measure, "mean share") {
		measure = "their graph explains of a column"
	}
	line("rows: %s ("+measure+" %.2f, and %.2f without clusters)", "clusters beyond what covariances explain", "no clusters beyond what covariances explain", t.Clusters)
}

// printDropped prints the features that were not selected because the selected features explain them, or the columns
// that they were chosen to explain. The best explained feature comes first.
func printDropped(w *screen.Page, s *stream.Selection, verbose bool) {
	selected := make(map[string]bool, len(s.Selected))
	for _, f := range s.Selected {
		for _, name := range f.Features() {
			selected[name] = true
		}
	}
	explainsSome := s.ExplainsGiven()
	var dropped []stream.ColumnReport
	for _, col := range s.Columns {
		if !selected[col.Name] && col.Nearest != "" && (!explainsSome || col.Role != "") {
			dropped = append(dropped, col)
		}
	}
	if len(dropped) == 0 {
		return
	}
	slices.SortStableFunc(dropped, func(a, b stream.ColumnReport) int {
		switch {
		case a.Explained > b.Explained:
			return -1
		case a.Explained < b.Explained:
			return 1
		}
		return 0
	})
	kind := "features not selected"
	if explainsSome {
		kind = "columns explained by these"
	}
	if !verbose {
		least := dropped[len(dropped)-1]
		w.Printf("\n%s "+kind+": from %s (%s) down to %s (%s) explained; -v lists them\n",
			humanize.Comma(int64(len(dropped))), percentText(dropped[0].Explained), screen.QuoteName(dropped[0].Name),
			percentText(least.Explained), screen.QuoteName(least.Name))
		return
	}
	w.Printf("\n%s:\n", strings.TrimPrefix(kind, "features "))
	for _, col := range dropped {
		w.Printf("  %s: %s explained, mostly by %s\n", screen.QuoteName(col.Name), percentText(col.Explained), screen.QuoteName(col.Nearest))
	}
}

// printLeftOut prints the columns that cannot be features. Columns with the same name and reason share a line.
func printLeftOut(w *screen.Page, left []stream.LeftOut, verbose bool) {
	if len(left) == 0 {
		return
	}
	w.Printf("\nleft out (%d):\n", len(left))
	counts := map[stream.LeftOut]int{}
	var lines []stream.LeftOut
	for _, l := range stream.BySeverity(left) {
		l.Column = stream.Position{} // columns with the same name share an entry, whatever their positions
		if counts[l]++; counts[l] == 1 {
			lines = append(lines, l)
		}
	}
	if !verbose && len(lines) > maxListLines {
		lines = lines[:maxListLines]
	}
	shown := 0
	for _, l := range lines {
		name := screen.QuoteName(l.Name)
		if n := counts[l]; n > 1 {
			name += fmt.Sprintf(" (%s columns)", humanize.Comma(int64(n)))
		}
		w.Printf("  %s: %s\n", name, strings.TrimSpace(l.Why))
		shown += counts[l]
	}
	if n := len(left) - shown; n > 0 {
		w.Printf("  and %d more; -v lists them\n", n)
	}
}

func chosenCountText(s *stream.Selection) string {
	if !s.HasGroups() {
		return strconv.Itoa(len(s.Selected))
	}
	groups := 0
	for _, f := range s.Selected {
		groups += min(len(f.Members), 1)
	}
	alsoFeatures := ""
	if alone := len(s.Selected) - groups; alone > 0 {
		alsoFeatures = " and " + CountNoun(alone, "feature") + " by themselves"
		if alone == 1 {
			alsoFeatures = " and 1 feature by itself"
		}
	}
	return fmt.Sprintf("%s%s, %d", CountNoun(groups, "group"), alsoFeatures, s.SelectedFeatures())
}

func printCost(w *screen.Page, s *stream.Selection) {
	if s.Cost == nil {
		return
	}
	budgetNote := ""
	if budget := s.Options["budget"]; budget != nil {
		budgetNote = fmt.Sprintf(" of a budget of %v", budget)
	}
	w.Printf("\ncost %s%s\n", roundedNumber(*s.Cost), budgetNote)
}
