package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/recipe"
	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
)

func selectionFormats() []string {
	return append([]string{"table", "json", "csv", "parquet", "names"}, recipe.Formats()...)
}

// renderSelection writes s in the given format. Parquet has the same columns as CSV.
func (c *cli) renderSelection(w io.Writer, s *stream.Selection, format string) error {
	switch format {
	case "json":
		return s.Encode(w)
	case "names":
		list := inputNames(s)
		if i := slices.IndexFunc(list, func(name string) bool { return strings.ContainsAny(name, "\r\n") }); i >= 0 {
			return stream.Usagef("{format} names: the name %q has a line break, and names are lines; take {format} json or yaml", list[i])
		}
		for _, name := range list {
			if _, err := fmt.Fprintln(w, name); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		head, rows := []string{"rank", "name", "column", "score", "error"}, make([][]string, len(s.Selected))
		if s.Stability != nil {
			head = append(head, "frequency")
		}
		groups := s.HasGroups()
		if groups {
			head = append(head, "members")
		}
		if s.Cost != nil {
			head = append(head, "cost")
		}
		for i, f := range s.Selected {
			rows[i] = []string{strconv.Itoa(f.Rank), f.Name, f.Column.String(), exactDecimal(f.Score), exactDecimal(f.Error)}
			if s.Stability != nil {
				rows[i] = append(rows[i], exactDecimal(selectionFrequency(s, f)))
			}
			if groups {
				rows[i] = append(rows[i], strings.Join(f.Features(), ";"))
			}
			if s.Cost != nil {
				rows[i] = append(rows[i], exactDecimal(*f.Cost))
			}
		}
		return c.writeCSV(w, head, rows)
	}
	if format == "parquet" {
		return writeSelectionParquet(w, s)
	}
	return renderPage(w, func(w *screen.Page) { c.printSelection(w, s) })
}

func writeSelectionParquet(w io.Writer, s *stream.Selection) error {
	n := len(s.Selected)
	rank, column, name := make([]int64, n), make([]stream.Position, n), make([]string, n)
	score, left := make([]float64, n), make([]float64, n)
	for i, f := range s.Selected {
		rank[i], name[i], column[i], score[i], left[i] = int64(f.Rank), f.Name, f.Column, float64(f.Score), float64(f.Error)
	}
	columns := []chunkio.TableColumn{
		{Name: "rank", Values: rank}, {Name: "name", Values: name}, {Name: "column", Values: column}, {Name: "score", Values: score}, {Name: "error", Values: left},
	}
	if s.Stability != nil {
		often := make([]float64, n)
		for i, f := range s.Selected {
			often[i] = float64(selectionFrequency(s, f))
		}
		columns = append(columns, chunkio.TableColumn{Name: "frequency", Values: often})
	}
	if s.HasGroups() {
		members := make([]string, n)
		for i, f := range s.Selected {
			members[i] = strings.Join(f.Features(), ";")
		}
		columns = append(columns, chunkio.TableColumn{Name: "members", Values: members})
	}
	if s.Cost != nil {
		cost := make([]float64, n)
		for i, f := range s.Selected {
			cost[i] = float64(*f.Cost)
		}
		columns = append(columns, chunkio.TableColumn{Name: "cost", Values: cost})
	}
	return chunkio.WriteTable(w, n, columns...)
}

// exactDecimal returns the shortest decimal number that is read back as n, or "" if n is NaN or infinite.
func exactDecimal(n stream.Number) string {
	x := float64(n)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// roundedNumber returns n with five digits, or "-" if n is NaN or infinite.
func roundedNumber(n stream.Number) string {
	x := float64(n)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	return strconv.FormatFloat(x, 'g', 5, 64)
}

func percentText(share float64) string {
	if math.IsNaN(share) {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", 100*share)
}

// printSelection prints the ranking, and then the features that were dropped or left out with the reasons. The longest
// lists are printed only with -v.
func (c *cli) printSelection(w *screen.Page, s *stream.Selection) {
	used := humanize.Comma(s.RowsUsed) + " rows"
	if s.RowsUsed != s.Rows {
		used = fmt.Sprintf("%s of %s rows", humanize.Comma(s.RowsUsed), humanize.Comma(s.Rows))
	}
	w.Printf("%s: %s of %s features from %s (scale %v, seed %d)\n",
		s.Method, chosenCountText(s), humanize.Comma(int64(s.Features)), used, s.Options["scale"], s.Seed)
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
	errors := slices.ContainsFunc(s.Selected, func(f stream.Selected) bool { return !math.IsNaN(float64(f.Error)) })
	head := []string{">rank", "feature", ">column", ">score"}
	if s.LowerIsBetter {
		head[3] += " (lower is better)"
	}
	if errors {
		head = append(head, ">explained so far")
	}
	layers := slices.ContainsFunc(s.Selected, func(f stream.Selected) bool { return f.Layer > 1 })
	if layers {
		head = append(head, ">layer")
	}
	groups := s.HasGroups()
	if groups {
		head[1] = "group or feature"
		head = append(head, ">columns")
	}
	if s.Cost != nil {
		head = append(head, ">cost")
	}
	if s.Stability != nil {
		head = append(head, ">freq")
	}
	rows := make([][]string, len(s.Selected))
	for i, f := range s.Selected {
		rows[i] = []string{strconv.Itoa(f.Rank), screen.QuoteName(f.Name), cmp.Or(f.Column.String(), "-"), roundedNumber(f.Score)}
		if errors {
			rows[i] = append(rows[i], percentText(1-float64(f.Error)))
		}
		if layers {
			rows[i] = append(rows[i], strconv.Itoa(max(f.Layer, 1)))
		}
		if groups {
			rows[i] = append(rows[i], strconv.Itoa(len(f.Features())))
		}
		if s.Cost != nil {
			rows[i] = append(rows[i], roundedNumber(*f.Cost))
		}
		if s.Stability != nil {
			rows[i] = append(rows[i], fmt.Sprintf("%.2f", float64(selectionFrequency(s, f))))
		}
	}
	w.Table(head, rows)
	printGapToBest(w, s)
	printCost(w, s)
	if s.Stability != nil {
		printAgreement(w, s.Stability)
	}
	c.printDropped(w, s)
	c.printLeftOut(w, s.LeftOut)
	if line := worthSentence(s); line != "" {
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
	w.Printf("\n%d %s %s, the best %[1]d %[4]s would leave %[5]s\n", k, one[0], percentText(float64(last.Error)), one[1], percentText(float64(*last.Least)))
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

// maxListLines is the largest number of lines of a list after the table without -v.
const maxListLines = 10

// printDropped prints the features that were not selected because the selected features explain them. The best
// explained feature comes first.
func (c *cli) printDropped(w *screen.Page, s *stream.Selection) {
	selected := make(map[string]bool, len(s.Selected))
	for _, f := range s.Selected {
		for _, name := range f.Features() {
			selected[name] = true
		}
	}
	var dropped []stream.ColumnReport
	for _, col := range s.Columns {
		if !selected[col.Name] && col.Nearest != "" {
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
	if !c.verbose {
		least := dropped[len(dropped)-1]
		w.Printf("\n%s features not selected: from %s (%s) down to %s (%s) explained; -v lists them\n",
			humanize.Comma(int64(len(dropped))), percentText(float64(dropped[0].Explained)), screen.QuoteName(dropped[0].Name),
			percentText(float64(least.Explained)), screen.QuoteName(least.Name))
		return
	}
	w.Printf("\nnot selected:\n")
	for _, col := range dropped {
		w.Printf("  %s: %s explained, mostly by %s\n", screen.QuoteName(col.Name), percentText(float64(col.Explained)), screen.QuoteName(col.Nearest))
	}
}

// printLeftOut prints the columns that cannot be features. Columns with the same name and reason share a line.
func (c *cli) printLeftOut(w *screen.Page, left []stream.LeftOut) {
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
	if !c.verbose && len(lines) > maxListLines {
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
