package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

type redundancyFlags struct {
	requestFlags
	redundancy ufs.RedundancyRequest
	output     outputFlags
}

func newRedundancy(c *cli) *cobra.Command {
	var o redundancyFlags
	cmd := &cobra.Command{
		Use:   "redundancy INPUT… | --stats ALL.ufs",
		Short: "Find columns that are alike: clusters, duplicates, exact combinations",
		Long: `Find columns that are alike, from the correlations of all pairs:

  clusters      groups of columns that one component explains, each with the column that
                stands for it best (a variant of VARCLUS: the smallest (1 − R² with its own
                component)/(1 − R² with the next))
  kept          columns of which no two are correlated above --threshold. Every other column is,
                and is listed with the kept one. The order of the columns does not matter
  duplicates    columns that equal another one, times a weight plus a constant
  combinations  columns that other columns determine, such as total = a + b + c

It also computes the variance inflation VIF of every column (json, csv). Correlations use columns
less their means; from statistics scanned with --scale rank they use normal scores. Memory
holds two matrices of all pairs: 16 bytes × features².

  ufs-stream redundancy data/*.parquet
  ufs-stream redundancy --stats all.ufs --threshold 0.9 --format csv -o alike.csv`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.runRedundancy(cmd, args, &o) },
	}
	fs := cmd.Flags()
	fs.StringVar(&o.req.Stats, "stats", "", "compare the columns of the statistics in `ALL.ufs` (see scan and merge) in place of INPUT")
	fs.Float64Var(&o.redundancy.Threshold, "threshold", ufs.DefaultThreshold, "keep no two columns whose absolute correlation is above `R`")
	fs.Float64Var(&o.redundancy.MaxEigen, "max-eigen", 1, "divide a cluster whose second eigenvalue is above `E`")
	fs.Float64Var(&o.redundancy.Proportion, "proportion", ufs.DefaultProportion, "divide a cluster if its component explains less than `SHARE` of one of its columns")
	o.addInputFlags(fs)
	o.addLimitFlags(fs)
	o.addScratchFlags(fs)
	o.output.addFlags(fs, curveFormats()...)
	return cmd
}

func (c *cli) runRedundancy(cmd *cobra.Command, args []string, o *redundancyFlags) error {
	q, err := o.buildRequest(c, cmd, args, o.output.path)
	if err != nil {
		return err
	}
	if err := o.output.resolveFormat(cmd.Context(), curveFormats()...); err != nil {
		return err
	}
	if err := checkFlagsAgainstStats(cmd, q); err != nil {
		return err
	}
	r := o.redundancy
	r.Request = q
	for flag, value := range map[string]float64{"threshold": r.Threshold, "max-eigen": r.MaxEigen, "proportion": r.Proportion} {
		if value == 0 {
			return stream.Usagef("--%s 0: want a number above 0", flag)
		}
	}
	found, err := ufs.Redundancy(cmd.Context(), r)
	if err != nil {
		return err
	}
	c.printRunCosts(found.Passes, found.Timing, found.Memory)
	c.warn(found.Warnings)
	return c.writeOutput(cmd.Context(), o.output.path, func(w io.Writer) error {
		switch o.output.format {
		case "json":
			return writeJSON(w, found)
		case "csv":
			return c.writeRedundancyCSV(w, found)
		}
		return renderPage(w, func(w *screen.Page) { c.printRedundancy(w, found) })
	})
}

// writeRedundancyCSV writes one row for each column, grouped by cluster.
func (c *cli) writeRedundancyCSV(w io.Writer, r *ufs.Redundant) error {
	drops, copies := make(map[string]ufs.AlikeDrop), make(map[string]string)
	for _, d := range r.Dropped {
		drops[d.Name] = d
	}
	for _, d := range r.Duplicates {
		for _, own := range d.Copies {
			copies[own.Name] = d.Name
		}
	}
	var rows [][]string
	for _, cl := range r.Clusters {
		for i, col := range cl.Columns {
			vif := exactDecimal(col.VIF)
			if col.Exact {
				vif = "inf"
			}
			drop, dropped := drops[col.Name]
			correlation := ""
			if dropped {
				correlation = exactDecimal(drop.Correlation)
			}
			rows = append(rows, []string{
				col.Name, strconv.Itoa(cl.Cluster), strconv.Itoa(len(cl.Columns)), strconv.FormatBool(i == 0), exactDecimal(col.R2Own), exactDecimal(col.R2Next),
				exactDecimal(col.Ratio), vif, strconv.FormatBool(!dropped), drop.For, correlation, copies[col.Name],
			})
		}
	}
	return c.writeCSV(w, []string{"name", "cluster", "size", "representative", "r2_own", "r2_next", "ratio", "vif", "kept", "dropped_for", "correlation", "copy_of"}, rows)
}

func (c *cli) printRedundancy(w *screen.Page, r *ufs.Redundant) {
	rows := humanize.Comma(r.RowsUsed) + " rows"
	if r.RowsUsed != r.Rows {
		rows = fmt.Sprintf("%s of %s rows", humanize.Comma(r.RowsUsed), humanize.Comma(r.Rows))
	}
	scores := ""
	if r.Scale == "rank" {
		scores = ", by normal scores of their ranks"
	}
	w.Printf("%s over %s%s: rank %s, %s\n", countNoun(r.Features, "feature"), rows, scores, humanize.Comma(int64(r.Rank)), countNoun(len(r.Clusters), "cluster"))
	var several []ufs.AlikeCluster
	for _, cl := range r.Clusters {
		if len(cl.Columns) > 1 || c.verbose {
			several = append(several, cl)
		}
	}
	c.printClusters(w, several)
	if n := len(r.Clusters) - len(several); n > 0 {
		w.Printf("%s like no other\n", countNoun(n, "column"))
	}
	c.printDuplicates(w, r)
	c.printCombinations(w, r)
	w.Printf("\n%s kept, no two correlated above %v; %d dropped", countNoun(len(r.Kept), "column"), float64(r.Threshold), len(r.Dropped))
	for i, at := range c.shownIndices(len(r.Dropped)) {
		d := r.Dropped[at]
		w.Printf("%s%s for %s (%s)", map[bool]string{true: ": ", false: ", "}[i == 0], screen.QuoteName(d.Name), screen.QuoteName(d.For), roundedNumber(d.Correlation))
	}
	w.Printf("%s\n", andMoreText(len(r.Dropped)-len(c.shownIndices(len(r.Dropped)))))
	c.printLeftOut(w, r.LeftOut)
	printTransfer(w, r.Transfer)
}

func (c *cli) printClusters(w *screen.Page, clusters []ufs.AlikeCluster) {
	if len(clusters) == 0 {
		return
	}
	shown := clusters
	if !c.verbose && len(shown) > 2*maxListLines {
		shown = shown[:2*maxListLines]
	}
	var table [][]string
	for _, cl := range shown {
		var others []string
		for _, i := range c.shownIndices(len(cl.Columns) - 1) {
			others = append(others, screen.QuoteName(cl.Columns[i+1].Name))
		}
		list := strings.Join(others, ", ") + andMoreText(len(cl.Columns)-1-len(others))
		table = append(table, []string{strconv.Itoa(cl.Cluster), humanize.Comma(int64(len(cl.Columns))), percentText(float64(cl.Explained)), screen.QuoteName(cl.Representative), roundedNumber(cl.Columns[0].Ratio), list})
	}
	w.Printf("\n")
	w.Table([]string{">cluster", ">columns", ">explained", "representative", ">ratio", "and"}, table)
	if n := len(clusters) - len(shown); n > 0 {
		w.Printf("and %s; -v lists them\n", countNoun(n, "smaller cluster"))
	}
}

func (c *cli) printDuplicates(w *screen.Page, r *ufs.Redundant) {
	if len(r.Duplicates) == 0 {
		return
	}
	w.Printf("\nduplicates (%d):\n", len(r.Duplicates))
	for _, at := range c.shownFootIndices(len(r.Duplicates)) {
		d := r.Duplicates[at]
		for _, i := range c.shownIndices(len(d.Copies)) {
			own := d.Copies[i]
			w.Printf("  %s\n", equationText(ufs.LinearCombination{Name: own.Name, Constant: own.Constant, Terms: []ufs.Term{{Name: d.Name, Weight: own.Weight}}}))
		}
		if more := andMoreText(len(d.Copies) - len(c.shownIndices(len(d.Copies)))); more != "" {
			w.Printf(" %s of %s\n", more, screen.QuoteName(d.Name))
		}
	}
	c.printNotShown(w, len(r.Duplicates))
}

func (c *cli) printCombinations(w *screen.Page, r *ufs.Redundant) {
	if len(r.Combinations) == 0 && r.Longer == 0 {
		return
	}
	w.Printf("\nexact combinations (%d):\n", len(r.Combinations)+r.Longer)
	for _, at := range c.shownFootIndices(len(r.Combinations)) {
		w.Printf("  %s\n", equationText(r.Combinations[at]))
	}
	c.printNotShown(w, len(r.Combinations))
	if r.Longer > 0 {
		w.Printf("  and %s by more than 20 others each\n", countNoun(r.Longer, "column"))
	}
}

// shownFootIndices returns the indices of the entries, in a list of n, that the foot of the output shows.
func (c *cli) shownFootIndices(n int) []int {
	if c.verbose {
		return c.shownIndices(n)
	}
	list := make([]int, min(n, maxListLines))
	for i := range list {
		list[i] = i
	}
	return list
}

func (c *cli) printNotShown(w *screen.Page, n int) {
	if left := n - len(c.shownFootIndices(n)); left > 0 {
		w.Printf("  and %d more; -v lists them\n", left)
	}
}
