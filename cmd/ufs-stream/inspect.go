package main

import (
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
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
		RunE: func(cmd *cobra.Command, args []string) error { return runInspect(c, cmd, args, &o, scan) },
	}
	o.addOptions(cmd.Flags(), partsOfData)
	o.output.addFlags(cmd.Flags(), "table", "json", "csv")
	cmd.Flags().BoolVar(&scan, "scan", false, "read the features: NaN, infinities, smallest and largest value")
	return cmd
}

func runInspect(c *cli, cmd *cobra.Command, args []string, o *selectFlags, scan bool) error {
	q, err := o.buildRequest(c, cmd, args, o.output.path)
	if err != nil {
		return err
	}
	if err := o.output.resolveFormat(cmd.Context()); err != nil {
		return err
	}
	seen, err := ufs.Inspect(cmd.Context(), q, scan)
	if err != nil {
		return err
	}
	c.warn(seen.Warnings)
	return writeResult(cmd.Context(), c, o.output, print.WriteInspection, seen)
}
