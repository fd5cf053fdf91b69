package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

func newPlan(c *cli) *cobra.Command {
	var o selectFlags
	var m machinesFlags
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
		RunE: func(cmd *cobra.Command, args []string) error { return c.runPlan(cmd, args, &o, &m) },
	}
	fs := cmd.Flags()
	o.addMethodFlags(fs)
	o.addStabilityFlag(fs)
	o.addSketchFlag(fs)
	o.addPassesFlag(fs)
	o.addInputFlags(fs)
	o.addHygieneFlags(fs)
	o.addLimitFlags(fs)
	o.addScratchFlags(fs)
	fs.StringVar(&o.req.Checkpoint.Folder, "checkpoint", "", "plan for a run that keeps its scratch files in `DIR`: the output of each iteration of a method over rows is there twice")
	m.addFlags(fs)
	o.output.addFlags(fs, planFormats()...)
	showFlagsInGroups(cmd)
	return cmd
}

func planFormats() []string { return []string{"table", "json"} }

func (c *cli) runPlan(cmd *cobra.Command, args []string, o *selectFlags, m *machinesFlags) error {
	q, err := o.buildRequest(c, cmd, args, o.output.path)
	if err != nil {
		return err
	}
	if chunkio.IsPlan(o.output.path) {
		if err := m.rejectForPlanFile(cmd); err != nil {
			return err
		}
		if cmd.Flags().Changed("format") {
			return stream.Usagef("--format is for the forecast, and -o %s writes a plan file; give only one of them", place.DisplayName(o.output.path))
		}
		return c.writePlan(cmd.Context(), q)
	}
	if err := o.output.resolveFormat(cmd.Context(), planFormats()...); err != nil {
		return err
	}
	f, err := ufs.Plan(cmd.Context(), q)
	if err != nil {
		return err
	}
	if err := m.estimateMachines(cmd, f); err != nil {
		return err
	}
	c.warn(f.Warnings)
	return c.writeOutput(cmd.Context(), o.output.path, func(w io.Writer) error {
		if o.output.format == "json" {
			return writeJSON(w, f)
		}
		return renderPage(w, func(w *screen.Page) { printForecast(w, f) })
	})
}

func (c *cli) writePlan(ctx context.Context, q ufs.Request) error {
	reportReplaced := c.replacementReport(q.Output)
	p, err := ufs.WritePlan(ctx, q)
	if err != nil {
		return err
	}
	reportReplaced()
	c.warn(p.Warnings)
	c.printRemark("%s: plan %s of %s, %s, %s rows, %s to read; --memory-limit %dMiB is enough for a shard", p.Path, p.ID,
		countNoun(p.Files, "file"), countNoun(p.Groups, "row group"), humanize.Comma(p.Rows), humanize.IBytes(uint64(p.Weight)), roundUpToMiB(p.Smallest))
	switch {
	case p.KeepRows > 0:
		c.printRemark("one round of profiles suffices (scan --profile-only --sample-rows %d, merge, select --stats): %s", p.KeepRows, p.Profile)
	case p.Profile != "":
		c.printRemark("a round of profiles comes first (scan --profile-only, merge, scan --profile): %s", p.Profile)
	}
	return nil
}

func roundUpToMiB(n int64) int64 { return (n + 1<<20 - 1) >> 20 }

func printForecast(w *screen.Page, f *ufs.Forecast) {
	rows := "unknown rows"
	if f.Rows >= 0 {
		rows = humanize.Comma(f.Rows) + " rows"
	}
	count := fmt.Sprint(f.Passes.Least)
	if f.Passes.Most > f.Passes.Least {
		count += fmt.Sprintf(" to %d", f.Passes.Most)
	}
	where := "in memory"
	switch m := f.Memory; {
	case m.Sketch > 0:
		where = fmt.Sprintf("by a sketch of %s rows", humanize.Comma(m.Sketch))
	case m.OutOfCore:
		where = "out of core"
	case m.Factor > 0:
		where = fmt.Sprintf("in memory, the Gram matrix as a factor of %s rows", humanize.Comma(m.Factor))
	}
	scratch := "none"
	if f.Scratch > 0 {
		scratch = humanize.IBytes(uint64(f.Scratch))
	}
	m := f.Memory
	smallest := fmt.Sprintf("--memory-limit %dMiB", roundUpToMiB(m.Smallest))
	if roundUpToMiB(m.Smallest) < roundUpToMiB(m.InMemory) {
		way := "with more passes"
		if f.OnRows {
			way = "with scratch files"
		}
		smallest += fmt.Sprintf(" (out of core, %s; %dMiB works in memory)", way, roundUpToMiB(m.InMemory))
	}
	number := ""
	if f.AutoK {
		number = "k auto: "
	}
	if roundUpToMiB(m.Smallest) < roundUpToMiB(m.AutoK) {
		smallest += fmt.Sprintf(" (%dMiB to tell how many features are worth keeping)", roundUpToMiB(m.AutoK))
	}
	lines := [][]string{
		{"method", fmt.Sprintf("%s, scale %s, %sup to %d of %s features, %s", f.Method, f.Scale, number, f.K, humanize.Comma(int64(f.Features)), where)},
		{"input", fmt.Sprintf("%s, %s, %s", countNoun(f.Files, "file"), rows, humanize.IBytes(uint64(f.Bytes)))},
		{"bytes read", "up to " + humanize.IBytes(uint64(f.Bytes)) + " a pass: the columns it needs"},
		{"passes", count + " (" + f.Passes.Why + ")"},
		{"peak memory", humanize.IBytes(uint64(m.Peak)) + " of " + humanize.IBytes(uint64(m.Limit))},
		{"  program", humanize.IBytes(uint64(m.Program))},
		{"  reading", humanize.IBytes(uint64(m.Reading))},
		{"  statistics", humanize.IBytes(uint64(m.Statistics))},
		{"  solver", humanize.IBytes(uint64(m.Solver))},
		{"scratch space", scratch},
		{"smallest limit", smallest},
	}
	if f.Candidates > 0 {
		lines[0][1] = fmt.Sprintf("%s, scale %s, up to %d of %s groups or features that can be chosen, %s features in all, %s", f.Method, f.Scale, f.K, humanize.Comma(int64(f.Candidates)), humanize.Comma(int64(f.Features)), where)
	}
	if m.Kept > 0 {
		kept := fmt.Sprintf("up to %s of a pass for the next: at least %d of %s", humanize.IBytes(uint64(m.Kept)), m.KeptGroups, countNoun(m.Groups, "row group"))
		lines = slices.Insert(lines, 8, []string{"  kept", kept})
	}
	if f.WhyK != "" {
		lines = slices.Insert(lines, 1, []string{"", fmt.Sprintf("k %d: %s", f.K, f.WhyK)})
	}
	if f.Why != "" {
		lines = slices.Insert(lines, 1, []string{"", f.Why})
	}
	w.Table([]string{"select would", ""}, lines)
	if f.Machines != nil {
		printMachines(w, f.Machines)
	}
}
