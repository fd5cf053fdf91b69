package main

import (
	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/program"
	"github.com/ufs-stream/ufs-stream/ufs"
)

func newMerge(c *cli) *cobra.Command {
	var o requestFlags
	var out string
	cmd := &cobra.Command{
		Use:   "merge A.ufs B.ufs… -o ALL.ufs",
		Short: "Add statistics files",
		Long: `Add statistics files of parts of the data: the result is that of one scan over all of
it. Refuses files of other columns or options, and files that cover the same rows. Files
may be globs, and lie in object stores; quote a glob of those:

  ufs-stream merge 's3://bucket/parts/*.ufs' -o s3://bucket/all.ufs`,
		Args: program.AtLeastOne("statistics file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := o.request(c, cmd, args, out)
			if err != nil {
				return err
			}
			sum, err := ufs.Merge(cmd.Context(), ufs.MergeRequest{Files: args, Output: out, Threads: q.Threads, Memory: q.Memory, Meter: q.Meter})
			if err != nil {
				return err
			}
			c.noteTransfer(sum.Transfer)
			c.note("merged %s: %s, %s rows", plural(len(args), "statistics file"), plural(sum.Inputs, "input"), humanize.Comma(sum.Rows))
			return nil
		},
	}
	o.limits(cmd.Flags())
	cmd.Flags().StringVarP(&out, "output", "o", "", "the merged statistics `FILE`, or an object (s3://, gs://, azblob://)")
	return cmd
}
