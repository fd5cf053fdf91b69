package main

import (
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
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
		RunE: func(cmd *cobra.Command, args []string) error { return runRedundancy(c, cmd, args, &o) },
	}
	fs := cmd.Flags()
	fs.StringVar(&o.req.Stats, "stats", "", "compare the columns of the statistics in `ALL.ufs` (see scan and merge) in place of INPUT")
	fs.Float64Var(&o.redundancy.Threshold, "threshold", ufs.DefaultThreshold, "keep no two columns whose absolute correlation is above `R`")
	fs.Float64Var(&o.redundancy.MaxEigen, "max-eigen", 1, "divide a cluster whose second eigenvalue is above `E`")
	fs.Float64Var(&o.redundancy.Proportion, "proportion", ufs.DefaultProportion, "divide a cluster if its component explains less than `SHARE` of one of its columns")
	o.addOptions(fs, partsOfData, "cache")
	o.output.addFlags(fs, "table", "json", "csv")
	return cmd
}

func runRedundancy(c *cli, cmd *cobra.Command, args []string, o *redundancyFlags) error {
	q, err := o.buildRequest(c, cmd, args, o.output.path)
	if err != nil {
		return err
	}
	if err := o.output.resolveFormat(cmd.Context()); err != nil {
		return err
	}
	if err := checkFlagsAgainstStats(cmd, q); err != nil {
		return err
	}
	r := o.redundancy
	r.Request = q
	notZero := request.Bounds{Want: "a number above 0", Allows: func(number float64) bool { return number != 0 }}
	if err := checkBounds(cmd, boundFlag{"threshold", r.Threshold, notZero}, boundFlag{"max-eigen", r.MaxEigen, notZero}, boundFlag{"proportion", r.Proportion, notZero}); err != nil {
		return err
	}
	found, err := ufs.Redundancy(cmd.Context(), r)
	if err != nil {
		return err
	}
	c.reportRun(found.Passes, found.Timing, found.Memory, found.Warnings)
	return writeResult(cmd.Context(), c, o.output, print.WriteRedundancy, found)
}
