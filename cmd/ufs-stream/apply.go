package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/program"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

func newApply(c *cli) *cobra.Command {
	var o requestFlags
	var a ufs.ApplyRequest
	var selection string
	cmd := &cobra.Command{
		Use:   "apply INPUT… --selection SEL.json -o OUT",
		Short: "Write the dataset reduced to the selected columns",
		Long: `Write the selected columns of the input, in the order of their ranks, and the --also
columns behind them, as Parquet with zstd. Types and values stay as they are. Where the
input is a directory, OUT is one too and keeps its file layout; it appears whole or not
at all. OUT may lie in an object store: the files of a folder appear there one by one, an
empty _SUCCESS last, and are deleted again if the run fails. INPUT is as in select.

  ufs-stream apply data --selection sel.json --also id,class -o small
  ufs-stream apply data --selection sel.json -k 12 -o small`,
		Args: program.AtLeastOne("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := o.request(c, cmd, args, a.Output)
			if err != nil {
				return err
			}
			a.Inputs, a.Threads, a.Memory, a.Meter, a.Progress = args, q.Threads, q.Memory, q.Meter, q.Progress
			a.Anonymous, a.Version, a.AsOf = q.Anonymous, q.Version, q.AsOf
			return c.apply(cmd, selection, a)
		},
	}
	fs := cmd.Flags()
	o.limits(fs)
	o.lake(fs)
	fs.StringVar(&selection, "selection", "", "the selection, `SEL.json`, as select --format json writes it")
	fs.StringSliceVar(&a.Also, "also", nil, "further columns `COL,…` to keep, of any type")
	fs.StringVarP(&a.Output, "output", "o", "", "the file or folder to write, `OUT`")
	fs.IntVarP(&a.K, "k", "k", 0, "only the first `N` of the selected columns, by rank (default: all)")
	fs.Lookup("k").DefValue = "0" // which help does not show
	fs.StringVar(&a.Where, "where", "", whereUsage)
	fs.StringVar(&a.Sparse, "sparse", "", "sparse rows, as in select; written dense (default: as the selection records)")
	return cmd
}

func (c *cli) apply(cmd *cobra.Command, selection string, a ufs.ApplyRequest) (err error) {
	switch {
	case selection == "":
		return stream.Usagef("apply: no selection given; add --selection SEL.json (made by: ufs-stream select … -o SEL.json)")
	case a.Output == "":
		return stream.Usagef("apply: no output given; add -o OUT")
	case cmd.Flags().Changed("k") && a.K < 1:
		return stream.Usagef("-k %d: want 1 or more", a.K)
	}
	if a.Selection, err = ufs.ReadSelection(cmd.Context(), selection, chunkio.FetchOptions{Anonymous: a.Anonymous, Meter: a.Meter}); err != nil {
		return err
	}
	done, err := ufs.Apply(cmd.Context(), a)
	if err != nil {
		return err
	}
	c.noteTransfer(a.Meter.Transfer())
	_, err = fmt.Fprintf(c.out, "%s: %s, %s rows, %s, %s\n", place.Name(a.Output), plural(done.Files, "file"), humanize.Comma(done.Rows),
		plural(len(done.Columns), "column"), humanize.IBytes(uint64(done.Bytes)))
	return err
}
