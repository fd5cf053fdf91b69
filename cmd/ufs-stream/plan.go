package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

func newPlan(c *cli) *cobra.Command {
	var o selectFlags
	var m ufs.Machines
	cmd := &cobra.Command{
		Use:   "plan INPUT… [-o JOB.plan.json]",
		Short: "Show what select would do and cost, or write a plan file; reads only footers",
		Long: `Show the plan and the cost of select with the same flags: method, features, passes over the
data, bytes read, peak memory by part, and the smallest --memory-limit that works.
plan reads only footers. INPUT is as in select.

If -o ends in .plan.json, plan writes a plan file for many machines. It freezes the files with
their sizes and versions, row groups, columns, and the flags that shape statistics. Each machine
scans its shard of the plan, and merge adds the parts:

  ufs-stream plan s3://bucket/events/ --label class -o job.plan.json
  ufs-stream scan --plan job.plan.json --shard 3/100 -o s3://bucket/parts/
  ufs-stream merge s3://bucket/parts/ -o all.ufs
  ufs-stream select --stats all.ufs -k 50

--machines 1,10,100 estimates the time that 1, 10 and 100 machines take, from their start to the
selection, and the number from which more hardly help; docs/scale.md has the formulas.
If plan asks for it, a round of profiles comes first: scan --profile-only of all shards,
merge, and then scan --profile.`,
		Args: o.requireInputs,
		RunE: func(cmd *cobra.Command, args []string) error { return runPlan(c, cmd, args, &o, m) },
	}
	fs := cmd.Flags()
	o.addOptions(fs, partsOfSelection, "stability", "sketch", "passes")
	fs.StringVar(&o.req.Checkpoint.Folder, "checkpoint", "", "plan for a run that keeps its scratch files in `DIR`: the output of each iteration of a method over rows is there twice")
	fs.IntSliceVar(&m.Counts, "machines", nil, "estimate the time on `N,…` machines: a row for each number, and the number from which more hardly help")
	fs.IntVar(&m.Cores, "cores", 0, "cores of a machine, for --machines (default: this machine's)")
	fs.StringVar(&m.Rates, "rates", "", "for --machines, `NAME=VALUE,…` in place of rates that were measured or are assumed: start=60s,machine-bandwidth=1GB")
	o.output.addFlags(fs, "table", "json")
	showFlagsInGroups(cmd)
	return cmd
}

func runPlan(c *cli, cmd *cobra.Command, args []string, o *selectFlags, m ufs.Machines) error {
	q, err := o.buildRequest(c, cmd, args, o.output.path)
	if err != nil {
		return err
	}
	given := slices.IndexFunc(machinesFlags(), cmd.Flags().Changed)
	if chunkio.IsPlan(o.output.path) {
		if given >= 0 {
			return stream.Usagef("--%s is for an estimate on the screen or as --format json, which a plan file does not hold; give -o JOB.plan.json without it", machinesFlags()[given])
		}
		if cmd.Flags().Changed("format") {
			return stream.Usagef("--format is for the forecast, and -o %s writes a plan file; give only one of them", place.DisplayName(o.output.path))
		}
		return writePlan(cmd.Context(), c, q)
	}
	if err := o.output.resolveFormat(cmd.Context()); err != nil {
		return err
	}
	f, err := ufs.Plan(cmd.Context(), q)
	if err != nil {
		return err
	}
	if given >= 0 {
		if err := f.OnMachines(m); err != nil {
			return err
		}
	}
	c.warn(f.Warnings)
	return writeResult(cmd.Context(), c, o.output, print.WriteForecast, f)
}

func writePlan(ctx context.Context, c *cli, q ufs.Request) error {
	reportReplaced := c.replacementReport(q.Output)
	p, err := ufs.WritePlan(ctx, q)
	if err != nil {
		return err
	}
	reportReplaced()
	c.warn(p.Warnings)
	for _, line := range print.DescribePlan(p) {
		c.printRemark("%s", line)
	}
	return nil
}

// machinesFlags lists the flags of plan for an estimate of the time on many machines.
func machinesFlags() []string { return []string{"machines", "cores", "rates"} }
