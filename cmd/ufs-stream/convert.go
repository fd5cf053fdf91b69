package main

import (
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func newConvert(c *cli) *cobra.Command {
	var o requestFlags
	var v ufs.ConvertRequest
	cmd := &cobra.Command{
		Use:   "convert INPUT… -o OUT.parquet",
		Short: "Write any input as Parquet, with all its columns",
		Long: `Write the input as Parquet with zstd, all columns and rows. This pays off if a text is read
more than once. INPUT is as in select, or - for standard input. Types are guessed as in select:
whole numbers stay whole if a column has only such numbers. One file of rows is written straight
to OUT, several wait in --temp-dir. If the input is a directory, OUT is a directory too and keeps
its file layout. If OUT has the ending of a file, as in OUT.parquet, it is one file of all rows. OUT
appears whole or not at all, in an object store too. The help of apply explains where OUT may lie
below INPUT, and how an interrupted or killed run is continued.

  ufs-stream convert readings.csv.gz -o readings.parquet
  zcat readings.jsonl.gz | ufs-stream convert - -o readings.parquet`,
		Args: o.requireInputs,
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := o.buildRequest(c, cmd, args, v.Output)
			if err != nil {
				return err
			}
			v.Input, v.Union, v.Limits, v.Hooks = q.Input, q.Columns.UnionByName, q.Limits, q.Hooks
			reportReplaced := c.replacementReport(v.Output)
			done, err := ufs.Convert(cmd.Context(), v)
			if err != nil {
				return err
			}
			reportReplaced()
			c.printTransferIfVerbose(v.Hooks.Meter.Transfer())
			return reportWritten(c, v.Output, done)
		},
	}
	fs := cmd.Flags()
	o.addOptions(fs, request.PartRows|request.PartTables|request.PartLimits|request.PartScratch, "union-by-name")
	fs.StringVarP(&v.Output, "output", "o", "", "the file or folder to write, `OUT`")
	return cmd
}
