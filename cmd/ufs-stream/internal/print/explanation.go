package print

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// WriteExplanation writes x, why columns were chosen or not, for people or as JSON.
func WriteExplanation(w io.Writer, x *ufs.Explanation, o Options) error {
	return output{encode: jsonEncoderOf(x), page: func(w *screen.Page) { printExplanation(w, x, o) }}.writeTo(w, o)
}

func printExplanation(w *screen.Page, x *ufs.Explanation, o Options) {
	w.Printf("%s of %s (scale %s)", CountNoun(x.K, "feature"), x.Method, x.Scale)
	if d := x.Data; d != nil {
		w.Printf("; correlations of %s features over %s rows", humanize.Comma(int64(d.Features)), humanize.Comma(d.RowsUsed))
		if d.Scale == "rank" {
			w.Printf(", of the normal scores of their ranks")
		}
	}
	w.Printf("\n")
	for _, col := range x.Columns {
		w.Printf("\n%s: %s\n", screen.QuoteName(col.Name), columnOutcomeText(col))
		printRepresentedColumns(w, col, o)
		if col.Relations == nil {
			continue
		}
		printRelations(w, col, o)
	}
	if x.More != "" {
		w.Printf("\n%s\n", x.More)
	}
	printTransfer(w, x.Transfer)
}

// columnOutcomeText describes whether a column was kept, dropped or left out, and why.
func columnOutcomeText(col ufs.ExplainedColumn) string {
	switch col.State {
	case ufs.StateKept:
		text := fmt.Sprintf("kept, rank %d, score %s", col.Rank, roundedNumber(*col.Score))
		if col.Added != nil {
			text += ", added " + percentText(*col.Added) + " to what is explained"
		}
		return text
	case ufs.StateLeftOut:
		return "left out: " + strings.TrimSpace(col.Why)
	case ufs.StateDropped:
		text := "dropped"
		if col.Explained != nil {
			text += ": the selection explains " + percentText(*col.Explained) + " of it"
		}
		if col.Nearest != "" {
			text += ", mostly by " + screen.QuoteName(col.Nearest)
		}
		return text
	}
	return col.State
}

func printRepresentedColumns(w *screen.Page, col ufs.ExplainedColumn, o Options) {
	if col.State != ufs.StateKept {
		return
	}
	if len(col.StandsFor) == 0 {
		w.Printf("  stands for no dropped column\n")
		return
	}
	var names []string
	for _, s := range col.StandsFor[:o.limitList(len(col.StandsFor), maxNamesInLine)] {
		names = append(names, fmt.Sprintf("%s (%s)", screen.QuoteName(s.Name), percentText(s.Explained)))
	}
	w.Printf("  stands for %s: %s%s\n", CountNoun(len(col.StandsFor), "dropped column"), strings.Join(names, ", "), andMoreText(len(col.StandsFor)-len(names)))
}

// printRelations prints how a column is related to other columns: R², VIF, combinations, weights, nearest columns.
func printRelations(w *screen.Page, col ufs.ExplainedColumn, o Options) {
	r := col.Relations
	explaining := "the chosen features"
	if col.State == ufs.StateKept {
		explaining = "the other chosen features"
	}
	exactly := ""
	if r.Exact {
		exactly = ", exactly"
	}
	w.Printf("  mean %s, standard deviation %s; %s explain R² = %s of its variance%s, and leave a standard deviation of %s\n",
		roundedNumber(r.Mean), roundedNumber(r.Std), explaining, roundedNumber(r.R2), exactly, roundedNumber(r.Residual))
	w.Printf("  VIF %s on all other columns", vifText(r.VIF, r.Determined))
	if r.VIFSelected != nil {
		w.Printf(", %s among the chosen ones", vifText(*r.VIFSelected, r.Exact))
	}
	w.Printf("\n")
	for _, l := range r.Combinations {
		w.Printf("  exactly: %s\n", equationText(l))
	}
	if r.LongCombinations {
		w.Printf("  the other columns determine it together; no combination of 20 or fewer of them does\n")
	}
	terms := slices.DeleteFunc(slices.Clone(r.Terms), func(t ufs.Term) bool { return t.Standardized == 0 })
	var rows [][]string
	for _, t := range terms[:o.limitList(len(terms), maxNamesInLine)] {
		rows = append(rows, []string{"  " + screen.QuoteName(t.Name), roundedNumber(t.Weight), roundedNumber(t.Standardized)})
	}
	if rows != nil {
		shown := len(rows)
		rows = append(rows, []string{"  (constant)", roundedNumber(r.Constant), ""})
		w.Table([]string{"  explained by", ">weight", ">in standard deviations"}, rows)
		if n := andMoreText(len(terms) - shown); n != "" {
			w.Printf(" %s; -v shows them\n", n)
		}
	}
	rows = nil
	for _, n := range r.Nearest {
		rows = append(rows, []string{"  " + screen.QuoteName(n.Name), roundedNumber(n.Correlation), map[bool]string{true: "yes"}[n.Selected]})
	}
	if rows == nil {
		return
	}
	w.Table([]string{"  nearest", ">correlation", "selected"}, rows)
}

func vifText(vif stream.Number, infinite bool) string {
	if infinite {
		return "infinite"
	}
	return roundedNumber(vif)
}
