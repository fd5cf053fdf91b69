package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

type explainFlags struct {
	requestFlags
	selection string
	output    outputFlags
}

func newExplain(c *cli) *cobra.Command {
	var o explainFlags
	cmd := &cobra.Command{
		Use:   "explain COL… --selection SEL.json [--stats ALL.ufs | INPUT…]",
		Short: "Explain why columns were kept or dropped, and how they relate to the others",
		Long: `Explain for each column whether the selection kept it (rank, score, added share), dropped it or
left it out, and why. For a kept column, list the dropped columns that it stands for.
From the statistics of the data, or the data itself, explain also computes for each column:
the chosen features and weights that explain it, in its own units and in standard deviations, with
R²; its most correlated columns; its variance inflation VIF = 1/(1 − R²) on all other columns and
among the chosen ones; and its exact linear combinations, such as total = a + b + c. Correlations
use columns less their means, whichever the scale of the selection. The data is prepared as the
selection records (missing, where, …), without the columns that the selection left out, for
instance by --auto-exclude.
A name that the selection knows is a column; any other file, glob, URL or - is INPUT. For a file
with the name of a column write ./NAME.

  ufs-stream explain temperature_7 --selection sel.json
  ufs-stream explain temperature_7 total --selection sel.json --stats all.ufs
  ufs-stream explain total data/*.parquet --selection sel.json --format json`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.runExplain(cmd, args, &o) },
	}
	fs := cmd.Flags()
	fs.StringVar(&o.selection, "selection", "", "the selection `SEL.json` that the columns belong to")
	fs.StringVar(&o.req.Stats, "stats", "", "the statistics of its data, `ALL.ufs` (see scan and merge)")
	o.addLimitFlags(fs)
	hideSeed(fs)
	o.addScratchFlags(fs)
	o.addLakeFlags(fs)
	o.output.addFlags(fs, verdictFormats()...)
	return cmd
}

// hideSeed hides --seed from the help of a verb without randomness.
func hideSeed(fs *pflag.FlagSet) { fs.Lookup("seed").Hidden = true }

func (c *cli) runExplain(cmd *cobra.Command, args []string, o *explainFlags) error {
	ctx := cmd.Context()
	if err := o.output.resolveFormat(ctx, verdictFormats()...); err != nil {
		return err
	}
	if o.selection == "" {
		return stream.Usagef("explain: no selection given; add --selection SEL.json")
	}
	if err := atomicfile.CheckNotInput(ctx, o.output.path, o.selection); err != nil {
		return err
	}
	q, err := o.buildRequest(c, cmd, nil, o.output.path)
	if err != nil {
		return err
	}
	s, err := ufs.ReadSelection(ctx, o.selection, q.FetchOptions())
	if err != nil {
		return err
	}
	r := ufs.ExplainRequest{Request: q, Selection: s}
	r.Names, r.Input.Paths = splitColumnsAndInputs(s, args)
	x, err := ufs.Explain(ctx, r)
	if err != nil {
		return err
	}
	if x.Data != nil {
		c.printRunCosts(x.Data.Passes, x.Timing, x.Memory)
	}
	c.warn(x.Warnings)
	return c.writeOutput(ctx, o.output.path, func(w io.Writer) error {
		if o.output.format == "json" {
			return writeJSON(w, x)
		}
		return renderPage(w, func(w *screen.Page) { c.printExplanation(w, x) })
	})
}

// splitColumnsAndInputs separates the arguments that are names of columns of the selection from the names of input
// files.
func splitColumnsAndInputs(s *stream.Selection, args []string) (columns, inputs []string) {
	known := make(map[string]bool)
	for _, f := range s.Selected {
		known[f.Name] = true
	}
	for _, col := range s.Columns {
		known[col.Name] = true
	}
	for _, l := range s.LeftOut {
		known[l.Name] = true
	}
	for _, arg := range args {
		_, err := os.Stat(arg)
		// An argument with brackets but without the ending of a file is a column name, such as emb[3].
		input := err == nil || arg == "-" || place.IsURL(arg) || strings.HasPrefix(arg, "@") ||
			strings.ContainsAny(arg, "*?[") && place.Ext(arg) != ""
		if known[arg] || !input {
			columns = append(columns, arg)
		} else {
			inputs = append(inputs, arg)
		}
	}
	return columns, inputs
}

func (c *cli) printExplanation(w *screen.Page, x *ufs.Explanation) {
	w.Printf("%s of %s (scale %s)", countNoun(x.K, "feature"), x.Method, x.Scale)
	if d := x.Data; d != nil {
		w.Printf("; correlations of %s features over %s rows", humanize.Comma(int64(d.Features)), humanize.Comma(d.RowsUsed))
		if d.Scale == "rank" {
			w.Printf(", of the normal scores of their ranks")
		}
	}
	w.Printf("\n")
	for _, col := range x.Columns {
		w.Printf("\n%s: %s\n", screen.QuoteName(col.Name), columnOutcomeText(col))
		c.printRepresentedColumns(w, col)
		if col.Relations == nil {
			continue
		}
		c.printRelations(w, col)
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
			text += ", added " + percentText(float64(*col.Added)) + " to what is explained"
		}
		return text
	case ufs.StateLeftOut:
		return "left out: " + strings.TrimSpace(col.Why)
	case ufs.StateDropped:
		text := "dropped"
		if col.Explained != nil {
			text += ": the selection explains " + percentText(float64(*col.Explained)) + " of it"
		}
		if col.Nearest != "" {
			text += ", mostly by " + screen.QuoteName(col.Nearest)
		}
		return text
	}
	return col.State
}

func (c *cli) printRepresentedColumns(w *screen.Page, col ufs.ExplainedColumn) {
	if col.State != ufs.StateKept {
		return
	}
	if len(col.StandsFor) == 0 {
		w.Printf("  stands for no dropped column\n")
		return
	}
	var names []string
	for _, s := range c.shownIndices(len(col.StandsFor)) {
		names = append(names, fmt.Sprintf("%s (%s)", screen.QuoteName(col.StandsFor[s].Name), percentText(float64(col.StandsFor[s].Explained))))
	}
	w.Printf("  stands for %s: %s%s\n", countNoun(len(col.StandsFor), "dropped column"), strings.Join(names, ", "), andMoreText(len(col.StandsFor)-len(names)))
}

// maxNamesInLine is the largest number of names listed in a line without -v.
const maxNamesInLine = 5

// shownIndices returns the indices of the entries, in a list of n, that one line shows.
func (c *cli) shownIndices(n int) []int {
	if !c.verbose {
		n = min(n, maxNamesInLine)
	}
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func andMoreText(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %s more", humanize.Comma(int64(n)))
}

// printRelations prints how a column is related to other columns: R², VIF, combinations, weights, nearest columns.
func (c *cli) printRelations(w *screen.Page, col ufs.ExplainedColumn) {
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
	for _, i := range c.shownIndices(len(terms)) {
		rows = append(rows, []string{"  " + screen.QuoteName(terms[i].Name), roundedNumber(terms[i].Weight), roundedNumber(terms[i].Standardized)})
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
