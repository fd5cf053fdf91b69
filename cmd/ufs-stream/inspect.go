package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

func newInspect(c *cli) *cobra.Command {
	var o selectFlags
	var scan bool
	cmd := &cobra.Command{
		Use:   "inspect INPUT…",
		Short: "Show schema, rows and columns, and which are features",
		Long: `Show rows, row groups and bytes of the input. For each column show its type, its nulls according
to the metadata, whether it is used as a feature, and if not, why. inspect reads only footers;
with --scan it reads the features too and adds missing values by kind, and the range. It also shows
statistics files (FILE.ufs). INPUT is as in select.
If a table has more than 1,000 columns, those of one type and use share a line; -v, csv and json
have every column.`,
		Args: o.requireInputs,
		RunE: func(cmd *cobra.Command, args []string) error { return c.runInspect(cmd, args, &o, scan) },
	}
	o.addInputFlags(cmd.Flags())
	o.addLimitFlags(cmd.Flags())
	o.addScratchFlags(cmd.Flags())
	o.output.addFlags(cmd.Flags(), inspectFormats()...)
	cmd.Flags().BoolVar(&scan, "scan", false, "read the features: NaN, infinities, smallest and largest value")
	return cmd
}

func inspectFormats() []string { return []string{"table", "json", "csv"} }

func (c *cli) runInspect(cmd *cobra.Command, args []string, o *selectFlags, scan bool) error {
	q, err := o.buildRequest(c, cmd, args, o.output.path)
	if err != nil {
		return err
	}
	if err := o.output.resolveFormat(cmd.Context(), inspectFormats()...); err != nil {
		return err
	}
	seen, err := ufs.Inspect(cmd.Context(), q, scan)
	if err != nil {
		return err
	}
	c.warn(seen.Warnings)
	return c.writeOutput(cmd.Context(), o.output.path, func(w io.Writer) error { return c.renderInspection(w, seen, o.output.format) })
}

func (c *cli) renderInspection(w io.Writer, s *ufs.Inspection, format string) error {
	if format == "json" {
		return writeJSON(w, s)
	}
	columns, folded := s.Columns, false
	if format == "table" && !c.verbose && len(columns) > maxUnfoldedColumns {
		columns, folded = foldColumns(columns), true
	}
	head := []string{"column", "type", ">nulls"}
	if s.Scanned {
		head = append(head, ">nan", ">inf", ">min", ">max")
	}
	head = append(head, "feature", "why not")
	var rows [][]string
	for _, col := range columns {
		name := col.Name
		if format != "csv" && !folded {
			name = screen.QuoteName(name)
		}
		r := []string{name, col.Type, countText(col.Nulls)}
		if s.Scanned {
			r = append(r, countText(col.NaNs), countText(col.Infs), rangeEndText(col.Min), rangeEndText(col.Max))
		}
		used := "no"
		if col.Used {
			used = "yes"
		}
		rows = append(rows, append(r, used, col.Why))
	}
	if format == "csv" {
		for j := range head {
			head[j] = strings.TrimPrefix(head[j], ">")
		}
		return c.writeCSV(w, head, rows)
	}
	return renderPage(w, func(w *screen.Page) {
		printInspectionHead(w, s, c.verbose)
		if folded {
			w.Printf("a line is all columns of one type and use, with sums of their counts and the ends of their ranges; -v lists each\n\n")
		}
		w.Table(head, rows)
	})
}

func printInspectionHead(w *screen.Page, s *ufs.Inspection, verbose bool) {
	what := "input"
	if s.Kind != "dataset" {
		what = s.Kind + " statistics"
	}
	rows := "rows unknown"
	if s.Rows != nil {
		rows = humanize.Comma(*s.Rows) + " rows"
	}
	if s.Groups != nil {
		rows += " in " + countNoun(*s.Groups, "row group")
	}
	w.Printf("%s: %s, %s, %s; %d of %d columns are features\n",
		what, countNoun(len(s.Inputs), "file"), humanize.IBytes(uint64(s.Bytes)), rows, s.Features, len(s.Columns))
	if p := s.Part; p != nil {
		which := "all " + countNoun(p.Of, "shard")
		if !p.Complete() {
			which = fmt.Sprintf("shards %s of %s", stream.ShardList(p.Shards), humanize.Comma(int64(p.Of)))
			if p.Count() == 1 {
				which = fmt.Sprintf("shard %d of %d", p.Shards[0].From, p.Of)
			}
		}
		if p.Round != "" {
			which += ", scanned with a profile of all of them"
		}
		w.Printf("  plan %s: %s\n", p.Plan, which)
	}
	for i, in := range s.Inputs {
		if i == maxListLines && !verbose {
			w.Printf("  and %d more files; -v lists them\n", len(s.Inputs)-i)
			break
		}
		if s.Rows == nil { // for a stream only the schema was read
			continue
		}
		w.Printf("  %s: %s rows, %s\n", in.Path, humanize.Comma(in.Rows), humanize.IBytes(uint64(in.Bytes)))
	}
	for i, note := range s.Notes {
		if i == maxListLines && !verbose {
			break
		}
		w.Printf("  %s\n", note)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		w.Printf("  --%s %s\n", name, s.Options[name])
	}
	w.Printf("\n")
}

func countText(n *int64) string {
	if n == nil {
		return "?"
	}
	return strconv.FormatInt(*n, 10)
}

func rangeEndText(n *stream.Number) string {
	if n == nil {
		return ""
	}
	// Write all digits of whole numbers, because the range of an identifier would be useless as 1e+12.
	if x := float64(*n); x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return roundedNumber(*n)
}
