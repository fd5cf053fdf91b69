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

// redundancyFlags are the flags of redundancy.
type redundancyFlags struct {
	requestFlags
	redundancy ufs.RedundancyRequest
	output     outputFlags
}

func newRedundancy(c *cli) *cobra.Command {
	var o redundancyFlags
	cmd := &cobra.Command{
		Use:   "redundancy INPUT… | --stats ALL.ufs",
		Short: "Say which columns are alike: clusters, duplicates, exact combinations",
		Long: `Say from the correlations of all pairs which columns are alike:

  clusters      groups of columns that one component explains, each with the column that
                stands for it best (a variant of VARCLUS: the smallest (1 − R² with its own
                component)/(1 − R² with the next))
  kept          columns no two of which are correlated above --threshold; every other one is,
                with the kept one that it is dropped for, whatever the order of the columns
  duplicates    columns that are another one, times a weight and plus a constant
  combinations  columns that some others determine, as total = a + b + c

and the variance inflation VIF of every column (json, csv). Correlations are of columns less their
means; from statistics scanned with --scale rank they are of normal scores. Memory is for two
matrices of all pairs: 16 bytes × features².

  ufs-stream redundancy data/*.parquet
  ufs-stream redundancy --stats all.ufs --threshold 0.9 --format csv -o alike.csv`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.redundancy(cmd, args, &o) },
	}
	fs := cmd.Flags()
	fs.StringVar(&o.req.Stats, "stats", "", "compare the columns of the statistics in `ALL.ufs` (see scan and merge) in place of INPUT")
	fs.Float64Var(&o.redundancy.Threshold, "threshold", ufs.DefaultThreshold, "no pair of the columns kept is correlated above `R`, by size")
	fs.Float64Var(&o.redundancy.MaxEigen, "max-eigen", 1, "divide a cluster whose second eigenvalue is above `E`")
	fs.Float64Var(&o.redundancy.Proportion, "proportion", ufs.DefaultProportion, "divide a cluster whose component explains less than `SHARE` of one of its columns")
	o.input(fs)
	o.limits(fs)
	o.scratchSpace(fs)
	o.output.add(fs, curveFormats()...)
	return cmd
}

func (c *cli) redundancy(cmd *cobra.Command, args []string, o *redundancyFlags) error {
	q, err := o.request(c, cmd, args, o.output.path)
	if err != nil {
		return err
	}
	if err := o.output.resolve(cmd.Context(), curveFormats()...); err != nil {
		return err
	}
	if err := agreesWithStats(cmd, q); err != nil {
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
	c.noteRun(found.Passes, found.Timing, found.Memory)
	c.warn(found.Warnings)
	return c.write(cmd.Context(), o.output.path, func(w io.Writer) error {
		switch o.output.format {
		case "json":
			return writeJSON(w, found)
		case "csv":
			return c.redundancyCSV(w, found)
		}
		return forPeople(w, func(w *screen.Page) { c.redundancyTable(w, found) })
	})
}

// redundancyCSV has a row a column, cluster by cluster.
func (c *cli) redundancyCSV(w io.Writer, r *ufs.Redundant) error {
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
			vif := exact(col.VIF)
			if col.Exact {
				vif = "inf"
			}
			drop, dropped := drops[col.Name]
			correlation := ""
			if dropped {
				correlation = exact(drop.Correlation)
			}
			rows = append(rows, []string{
				col.Name, strconv.Itoa(cl.Cluster), strconv.Itoa(len(cl.Columns)), strconv.FormatBool(i == 0), exact(col.R2Own), exact(col.R2Next),
				exact(col.Ratio), vif, strconv.FormatBool(!dropped), drop.For, correlation, copies[col.Name],
			})
		}
	}
	return c.writeCSV(w, []string{"name", "cluster", "size", "representative", "r2_own", "r2_next", "ratio", "vif", "kept", "dropped_for", "correlation", "copy_of"}, rows)
}

// redundancyTable is the form for people.
func (c *cli) redundancyTable(w *screen.Page, r *ufs.Redundant) {
	rows := humanize.Comma(r.RowsUsed) + " rows"
	if r.RowsUsed != r.Rows {
		rows = fmt.Sprintf("%s of %s rows", humanize.Comma(r.RowsUsed), humanize.Comma(r.Rows))
	}
	scores := ""
	if r.Scale == "rank" {
		scores = ", by normal scores of their ranks"
	}
	w.Printf("%s over %s%s: rank %s, %s\n", plural(r.Features, "feature"), rows, scores, humanize.Comma(int64(r.Rank)), plural(len(r.Clusters), "cluster"))
	var several []ufs.AlikeCluster
	for _, cl := range r.Clusters {
		if len(cl.Columns) > 1 || c.verbose {
			several = append(several, cl)
		}
	}
	c.clusterTable(w, several)
	if n := len(r.Clusters) - len(several); n > 0 {
		w.Printf("%s like no other\n", plural(n, "column"))
	}
	c.duplicates(w, r)
	c.exactCombinations(w, r)
	w.Printf("\n%s kept, no two correlated above %v; %d dropped", plural(len(r.Kept), "column"), float64(r.Threshold), len(r.Dropped))
	for i, at := range c.firstOf(len(r.Dropped)) {
		d := r.Dropped[at]
		w.Printf("%s%s for %s (%s)", map[bool]string{true: ": ", false: ", "}[i == 0], screen.Name(d.Name), screen.Name(d.For), rough(d.Correlation))
	}
	w.Printf("%s\n", andMore(len(r.Dropped)-len(c.firstOf(len(r.Dropped)))))
	c.leftOutTable(w, r.LeftOut)
	transferFoot(w, r.Transfer)
}

func (c *cli) clusterTable(w *screen.Page, clusters []ufs.AlikeCluster) {
	if len(clusters) == 0 {
		return
	}
	shown := clusters
	if !c.verbose && len(shown) > 2*shortList {
		shown = shown[:2*shortList]
	}
	var table [][]string
	for _, cl := range shown {
		var others []string
		for _, i := range c.firstOf(len(cl.Columns) - 1) {
			others = append(others, screen.Name(cl.Columns[i+1].Name))
		}
		list := strings.Join(others, ", ") + andMore(len(cl.Columns)-1-len(others))
		table = append(table, []string{strconv.Itoa(cl.Cluster), humanize.Comma(int64(len(cl.Columns))), percent(float64(cl.Explained)), screen.Name(cl.Representative), rough(cl.Columns[0].Ratio), list})
	}
	w.Printf("\n")
	w.Table([]string{">cluster", ">columns", ">explained", "representative", ">ratio", "and"}, table)
	if n := len(clusters) - len(shown); n > 0 {
		w.Printf("and %s; -v lists them\n", plural(n, "smaller cluster"))
	}
}

func (c *cli) duplicates(w *screen.Page, r *ufs.Redundant) {
	if len(r.Duplicates) == 0 {
		return
	}
	w.Printf("\nduplicates (%d):\n", len(r.Duplicates))
	for _, at := range c.shortOf(len(r.Duplicates)) {
		d := r.Duplicates[at]
		for _, i := range c.firstOf(len(d.Copies)) {
			own := d.Copies[i]
			w.Printf("  %s\n", equation(ufs.LinearCombination{Name: own.Name, Constant: own.Constant, Terms: []ufs.Term{{Name: d.Name, Weight: own.Weight}}}))
		}
		if more := andMore(len(d.Copies) - len(c.firstOf(len(d.Copies)))); more != "" {
			w.Printf(" %s of %s\n", more, screen.Name(d.Name))
		}
	}
	c.moreOf(w, len(r.Duplicates))
}

func (c *cli) exactCombinations(w *screen.Page, r *ufs.Redundant) {
	if len(r.Combinations) == 0 && r.Longer == 0 {
		return
	}
	w.Printf("\nexact combinations (%d):\n", len(r.Combinations)+r.Longer)
	for _, at := range c.shortOf(len(r.Combinations)) {
		w.Printf("  %s\n", equation(r.Combinations[at]))
	}
	c.moreOf(w, len(r.Combinations))
	if r.Longer > 0 {
		w.Printf("  and %s by more than 20 others each\n", plural(r.Longer, "column"))
	}
}

// shortOf numbers those of a list at the foot that are shown, and moreOf says how many are not.
func (c *cli) shortOf(n int) []int {
	if c.verbose {
		return c.firstOf(n)
	}
	list := make([]int, min(n, shortList))
	for i := range list {
		list[i] = i
	}
	return list
}

func (c *cli) moreOf(w *screen.Page, n int) {
	if left := n - len(c.shortOf(n)); left > 0 {
		w.Printf("  and %d more; -v lists them\n", left)
	}
}
