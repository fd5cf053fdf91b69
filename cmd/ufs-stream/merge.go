package main

import (
	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func newMerge(c *cli) *cobra.Command {
	var o requestFlags
	var m ufs.MergeRequest
	cmd := &cobra.Command{
		Use:   "merge A.ufs B.ufs…|PARTS/ -o ALL.ufs",
		Short: "Add statistics files",
		Long: `Add statistics files of parts of the data. The result equals one scan over all of it. merge
refuses files with other columns or options, and files that cover the same rows. Files may be globs,
or folders for all *.ufs in them. They may lie in object stores, where a glob needs quotes:

  ufs-stream merge 's3://bucket/stats/2026-*.ufs' -o s3://bucket/all.ufs

The parts of a plan (scan --plan) must all be there, once each and of one round. Their headers
show this in seconds, before anything is added. --partial adds only some parts, as on the first of
two levels on many machines. The result records its shards:

  ufs-stream merge s3://bucket/parts/ -o s3://bucket/all.ufs
  ufs-stream merge --partial s3://bucket/parts/part-000*.ufs -o s3://bucket/sums/000.ufs

Thousands of files are added in a tree, so that few sums are in memory at a time. If
--memory-limit is low, waiting sums go to scratch files.

Changes of a Delta table (scan --since) are added to statistics of the version since which they
are, and the rows that the table has lost are subtracted. Each file must continue another, so that
no version is added twice or left out. Minima and maxima cannot be subtracted, nor a sample of
rows: once rows were lost, --scale minmax is refused, and the default method is greedy.

--minus takes rows out again: an old day, a file that must be deleted, one site of several. All of
them must be among the rows of the files, which their inputs' fingerprints show. What cannot be
subtracted is the same as for changes of a table, and a warning states the rounding error.

  ufs-stream merge all.ufs --minus stats/2026-10-01.ufs -o rest.ufs

--min-rows refuses files with few rows, whose sums could show single ones.

With --window or --decay the files are a sequence, such as one for each day. They are taken in
the order of their base names (bytes), so put the date into the name. --window 30 keeps the last 30
files and does not open the others. --decay 0.9 gives every file 0.9 times the weight of the next
one. A total that was merged with --decay comes first, whichever its name. So yesterday's total
times 0.9 plus today's file is today's total, without reading other days again. Only such a total
may also be the output.

  ufs-stream merge stats/*.ufs --window 30 -o month.ufs
  ufs-stream merge total.ufs stats/2026-11-22.ufs --decay 0.9 -o new.ufs && mv new.ufs total.ufs`,
		Args: program.AtLeastOne("statistics file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := o.buildRequest(c, cmd, args, m.Output)
			if err != nil {
				return err
			}
			if err := checkBounds(cmd, boundFlag{"window", m.Window, request.OneOrMore}, boundFlag{"min-rows", m.MinRows, request.OneOrMore}, boundFlag{"decay", m.Decay, request.Bounds{Want: "a number above 0 and up to 1", Allows: request.ShareUpToOne.Allows}}); err != nil {
				return err
			}
			m.Files, m.Anonymous, m.Limits, m.Hooks = args, q.Input.Anonymous, q.Limits, q.Hooks
			reportReplaced := c.replacementReport(m.Output)
			sum, err := ufs.Merge(cmd.Context(), m)
			if err != nil {
				return err
			}
			reportReplaced()
			c.warn(sum.Warnings)
			for _, path := range sum.Outside {
				c.printRemarkIfVerbose("outside the window of %d: %s", m.Window, path)
			}
			c.printTransferIfVerbose(sum.Transfer)
			c.printRemarkIfVerbose("merged %s: %s, %s rows", print.CountNoun(sum.Merged, "statistics file"), print.CountNoun(sum.Inputs, "input"), humanize.Comma(sum.Rows))
			return nil
		},
	}
	fs := cmd.Flags()
	o.addOptions(fs, request.PartLimits|request.PartScratch, "anonymous")
	fs.Lookup("temp-dir").Usage = "folder `DIR` for scratch files: sums that do not fit into --memory-limit (default: the system's)"
	fs.BoolVar(&m.Partial, "partial", false, "add up some of the parts of a plan: others may be missing")
	fs.IntVar(&m.Window, "window", 0, "only the last `N` of the files by name (default: all)")
	fs.StringArrayVar(&m.Minus, "minus", nil, "subtract the rows of `FILE`, a glob or a folder; may be repeated")
	fs.Int64Var(&m.MinRows, "min-rows", 0, "refuse files, and a result, with fewer than `N` rows (default: none)")
	fs.Float64Var(&m.Decay, "decay", 0, "give every file `G` times the weight of the next one by name, 0 < G <= 1 (default: equal weights)")
	fs.StringVarP(&m.Output, "output", "o", "", "the merged statistics `FILE`, or an object (s3://, gs://, azblob://)")
	return cmd
}
