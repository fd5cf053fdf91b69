package main

import (
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func newScan(c *cli) *cobra.Command {
	var o requestFlags
	var q ufs.ScanRequest
	var out, fromSums string
	cmd := &cobra.Command{
		Use:   "scan INPUT… | --plan JOB.plan.json -o FILE.ufs",
		Short: "Gather the statistics of the input, or of a shard of it, into a file",
		Long: `Gather mergeable statistics into one file. They suffice to select with the default method or
any --scale, --method and -k of the greedy family. Many machines can scan parts, and merge adds
them; the selection equals that of the whole. With a graph method (sfufs, graphgreedy, …) as
--method, the file also has the statistics of its anchor graph. Parts then need one profile of the
whole, with the scaling and the anchors. INPUT is as in select.

  ufs-stream scan data --profile-only --method sfufs -o profile.ufs
  ufs-stream scan data --profile profile.ufs --method sfufs --shard 1/8 -o 1.ufs

With --sample-rows a profile keeps a seeded sample of rows. Methods that iterate over rows
(eufs, hufs, cpufs, cpufsnn, udfs, rufs, rsfs, sogfs) select from it as from all the data with --sample. Each
part keeps its sample, and merge combines them into the sample of the whole.

  ufs-stream scan data --profile-only --sample-rows 10000 --method eufs -o rows.ufs
  ufs-stream select --stats rows.ufs --method eufs -k 50

  ufs-stream scan data --shard 1/8 -o 1.ufs

Many machines scan the shards of a plan file (see plan), each into the same folder. Existing
parts are not scanned again. So after a failure simply run the command again:

  ufs-stream plan s3://bucket/events/ --label class -o job.plan.json
  ufs-stream scan --plan job.plan.json --shard 3/100 -o s3://bucket/parts/
  ufs-stream merge s3://bucket/parts/ -o all.ufs

With --since, only the changes of a Delta table are read: the files that it has gained since a
version, or rows that came back, and those that it has lost, which merge subtracts. Compaction
(OPTIMIZE) is no change.

  ufs-stream scan s3://bucket/table --since total.ufs -o day.ufs
  ufs-stream merge total.ufs day.ufs -o new.ufs && mv new.ufs total.ufs

Of an Iceberg table, ufs-iceberg --since makes a plan of the changes, which scan --plan reads.

With --from-sums, FILE is the result of the query that matrix --format sql writes, as CSV or Parquet.
Its counts, symmetry and definiteness are checked; what needs rows or a graph does not work from it.

  ufs-stream matrix --format sql --dialect spark --from events --columns a,b,c -o sums.sql
  ufs-stream scan --from-sums sums.parquet -o all.ufs
  ufs-stream scan s3://bucket/events/day=2026-01-31 -o s3://bucket/stats/2026-01-31.ufs
  ufs-stream merge *.ufs -o all.ufs
  ufs-stream select --stats all.ufs -k 50`,
		Args: func(cmd *cobra.Command, args []string) error {
			if fromSums != "" {
				return nil
			}
			return o.requireInputs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if q.Request, err = o.buildRequest(c, cmd, args, out); err != nil {
				return err
			}
			reportReplaced := c.replacementReport(out)
			done, err := scanRowsOrSums(cmd, q, fromSums)
			if err != nil {
				return err
			}
			c.warn(done.Warnings)
			c.printTransferIfVerbose(done.Transfer)
			if done.There {
				c.printRemark("%s is there already: %s rows", done.Path, humanize.Comma(done.Rows))
				return nil
			}
			reportReplaced()
			c.printRemarkIfVerbose("%s: %d features, %s rows", done.Path, done.Features, humanize.Comma(done.RowsUsed))
			return nil
		},
	}
	fs := cmd.Flags()
	o.addOptions(fs, partsOfData|request.PartChoice|request.PartCheckpoint, "stability", "sketch")
	fs.StringVarP(&out, "output", "o", "", "the statistics `FILE`, or an object (s3://, gs://, azblob://), best ending in .ufs; with --plan also a folder for the parts")
	fs.StringVar(&q.Shard, "shard", "", "only part `I/N` of the rows: whole row groups, about equal parts; auto or auto/N: from the scheduler")
	fs.BoolVar(&q.ProfileOnly, "profile-only", false, "only mean, spread and missing values of each column: small and quick")
	fs.Int64Var(&q.KeepRows, "sample-rows", 0, "with --profile-only: keep a seeded sample of `N` rows, for methods that iterate over rows")
	fs.StringVar(&q.Profile, "profile", "", "a profile of all parts, `P.ufs`, so that every part leaves out the same columns")
	fs.StringVar(&fromSums, "from-sums", "", "the sums of all pairs of columns in `FILE`, made by the query of matrix --format sql, in place of INPUT")
	fs.StringVar(&q.Since, "since", "", "only the changes of a Delta table since a `VERSION`, or since the one that a statistics file is of: the rows gained, and those lost to subtract; merge adds them to it")
	showFlagsInGroups(cmd)
	return cmd
}

func scanRowsOrSums(cmd *cobra.Command, q ufs.ScanRequest, fromSums string) (*ufs.Gathered, error) {
	if fromSums == "" {
		return ufs.Scan(cmd.Context(), q)
	}
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"from-sums", "output", "memory-limit", "threads", "anonymous", "config", "quiet", "verbose", "progress"}, f.Name) {
			err = stream.Usagef("--%s is for reading rows; the sums of --from-sums are made, so put it into the query", f.Name)
		}
	})
	if err != nil {
		return nil, err
	}
	return ufs.ScanSums(cmd.Context(), q.Request, fromSums)
}
