package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
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
		RunE: func(cmd *cobra.Command, args []string) error { return runExplain(c, cmd, args, &o) },
	}
	fs := cmd.Flags()
	fs.StringVar(&o.selection, "selection", "", "the selection `SEL.json` that the columns belong to")
	fs.StringVar(&o.req.Stats, "stats", "", "the statistics of its data, `ALL.ufs` (see scan and merge)")
	o.addOptions(fs, request.PartTables|request.PartLimits|request.PartScratch, "cache")
	fs.Lookup("seed").Hidden = true
	o.output.addFlags(fs, "table", "json")
	return cmd
}

func runExplain(c *cli, cmd *cobra.Command, args []string, o *explainFlags) error {
	ctx := cmd.Context()
	if err := o.output.resolveFormat(ctx); err != nil {
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
	if x.Data == nil {
		c.warn(x.Warnings)
	} else {
		c.reportRun(x.Data.Passes, x.Timing, x.Memory, x.Warnings)
	}
	return writeResult(ctx, c, o.output, print.WriteExplanation, x)
}

// splitColumnsAndInputs separates the arguments that name columns of the selection from the names of input files.
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
