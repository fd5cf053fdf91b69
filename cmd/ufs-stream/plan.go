package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

func newPlan(c *cli) *cobra.Command {
	var o selectOptions
	cmd := &cobra.Command{
		Use:   "plan INPUT…",
		Short: "Say what select would do and cost; reads footers only",
		Long: `Say what select with the same flags would do: method, features, passes over the
data, bytes read, peak memory by part, and the smallest --memory-limit that works.
Reads footers only.`,
		Args: atLeastOne("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.inputs, o.given = args, cmd.Flags().Changed
			if err := noStats("plan", args, "; select --stats reads no data"); err != nil {
				return err
			}
			if err := o.prepare(o.given); err != nil {
				return err
			}
			if err := o.method.single(); err != nil {
				return err
			}
			return c.plan(cmd.Context(), o)
		},
	}
	fs := cmd.Flags()
	o.method.add(fs)
	o.input.add(fs)
	o.limits.add(fs)
	o.temp.add(fs)
	o.output.add(fs, planFormats()...)
	return cmd
}

func planFormats() []string { return []string{"table", "json"} }

// forecast is what select would do, and the JSON form of plan.
type forecast struct {
	Method   string   `json:"method"`
	K        int      `json:"k"` // at most
	Scale    string   `json:"scale"`
	Features int      `json:"features"` // before constant columns leave
	Rows     int64    `json:"rows"`     // -1 unknown
	Files    int      `json:"files"`
	Passes   passes   `json:"passes"`
	Bytes    int64    `json:"bytes"` // of the input; a pass reads the columns it needs of them
	Memory   budget   `json:"memory"`
	Scratch  int64    `json:"scratch_bytes"`
	Warnings []string `json:"warnings"`
}

// passes is the range in which the number of passes will be: missing values and
// hard choices show only on the way.
type passes struct {
	Least int    `json:"least"`
	Most  int    `json:"most"`
	Why   string `json:"why"`
}

func (c *cli) plan(ctx context.Context, o selectOptions) error {
	if err := o.output.resolve(planFormats()...); err != nil {
		return err
	}
	restore, err := o.limits.apply()
	if err != nil {
		return err
	}
	defer restore()
	if err := o.countGiven(ctx); err != nil {
		return err
	}
	opt := datasetOptions(c, o.input, o.limits, new(stream.Meter))
	ds, err := openDataset(ctx, o.inputs, opt)
	if err != nil {
		return o.leastMemory(ctx, o.inputs, opt, o.planSelection, err)
	}
	defer ds.Close()
	if err := notInput(o.output.path, paths(ds.Inputs())...); err != nil {
		return err
	}
	b, err := o.planSelection(ds)
	if err != nil {
		return err
	}
	d := len(ds.Columns())
	f := forecast{
		Method: o.chosen.name, K: o.expectedK(d), Scale: o.method.scale, Features: d, Rows: ds.Rows(),
		Files: len(ds.Inputs()), Passes: o.expectedPasses(ds, b), Memory: b, Scratch: b.Scratch, Warnings: spelled(ds.Warnings()),
	}
	for _, in := range ds.Inputs() {
		f.Bytes += in.Bytes
	}
	if err := atMost(o.method.k, d, ds.LeftOut()); err != nil {
		return err
	}
	c.warn(f.Warnings)
	return c.write(o.output.path, func(w io.Writer) error {
		if o.output.format == "json" {
			return writeJSON(w, f)
		}
		return f.table(w)
	})
}

// expectedPasses is how often gather and the selector will read the input.
func (r *request) expectedPasses(ds *chunkio.Dataset, b budget) passes {
	if r.chosen.need == needGraph {
		return r.graphPasses(ds)
	}
	p := r.gramPasses(ds)
	if r.chosen.pixels {
		return passes{p.Least + b.Later.Least, p.Most + b.Later.Most, p.Why + "; " + b.Later.Why}
	}
	if r.chosen.need == needRows {
		p.Least++
		p.Most += mostLoads
		p.Why += "; then the rows are loaded, once unless their values turn out not to fit a narrow type"
		return p
	}
	if b.OutOfCore {
		least, most := r.outOfCorePasses(b, len(ds.Columns()))
		p.Least += least
		p.Most += most
		p.Why += "; the Gram matrix does not fit, so the selector reads the rows again for every few features"
	}
	return p
}

// gramPasses is how often gather reads the input for Gram statistics or a profile.
func (r *request) gramPasses(ds *chunkio.Dataset) passes {
	p := passes{1, 1, "one pass"}
	if !ds.Replayable() || r.input.sparse != "" || r.chosen.pixels {
		return p
	}
	switch policy := r.input.policy(); {
	case policy == stream.MissingKeep:
		p.Why = "one pass; the statistics fill what is missing"
	case promisesMissing(ds):
		p = passes{2, 2, "a profile of the columns, because values are missing, then the statistics"}
	default:
		p = passes{1, 3, "one if nothing is missing, else a profile and another"}
	}
	return p
}

// graphPasses is expectedPasses for the graph methods.
func (r *request) graphPasses(ds *chunkio.Dataset) passes {
	switch {
	case r.input.policy() == stream.MissingKeep || r.input.sparse != "":
		return passes{2, 2, "a profile that draws the anchors, then the statistics"}
	case promisesMissing(ds):
		return passes{3, 3, "a profile of the columns, because values are missing, one that draws the anchors, then the statistics"}
	}
	return passes{2, 4, "a profile that draws the anchors, and the statistics, if nothing is missing; else two more profiles"}
}

func (f *forecast) table(w io.Writer) error {
	rows := "unknown rows"
	if f.Rows >= 0 {
		rows = humanize.Comma(f.Rows) + " rows"
	}
	count := fmt.Sprint(f.Passes.Least)
	if f.Passes.Most > f.Passes.Least {
		count += fmt.Sprintf(" to %d", f.Passes.Most)
	}
	where := "in memory"
	if f.Memory.OutOfCore {
		where = "out of core"
	}
	scratch := "none"
	if f.Scratch > 0 {
		scratch = humanize.IBytes(uint64(f.Scratch))
	}
	m := f.Memory
	mib := func(n int64) int64 { return (n + 1<<20 - 1) >> 20 }
	smallest := fmt.Sprintf("--memory-limit %dMiB", mib(m.Smallest))
	if mib(m.Smallest) < mib(m.InMemory) {
		way := "with more passes"
		if slices.Contains(methodsOf(needRows), f.Method) {
			way = "with scratch files"
		}
		smallest += fmt.Sprintf(" (out of core, %s; %dMiB works in memory)", way, mib(m.InMemory))
	}
	return writeTable(w, []string{"select would", ""}, [][]string{
		{"method", fmt.Sprintf("%s, scale %s, up to %d of %s features, %s", f.Method, f.Scale, f.K, humanize.Comma(int64(f.Features)), where)},
		{"input", fmt.Sprintf("%s, %s, %s", plural(f.Files, "file"), rows, humanize.IBytes(uint64(f.Bytes)))},
		{"bytes read", "up to " + humanize.IBytes(uint64(f.Bytes)) + " a pass: the columns it needs"},
		{"passes", count + " (" + f.Passes.Why + ")"},
		{"peak memory", humanize.IBytes(uint64(m.Peak)) + " of " + humanize.IBytes(uint64(m.Limit))},
		{"  program", humanize.IBytes(uint64(m.Program))},
		{"  reading", humanize.IBytes(uint64(m.Reading))},
		{"  statistics", humanize.IBytes(uint64(m.Statistics))},
		{"  solver", humanize.IBytes(uint64(m.Solver))},
		{"scratch space", scratch},
		{"smallest limit", smallest},
	})
}
