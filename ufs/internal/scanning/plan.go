package scanning

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// WritePlan implements ufs.WritePlan: it writes the plan file q.Output, which fixes the work of a Scan.
func WritePlan(ctx context.Context, q request.Request) (*result.Planned, error) {
	if err := request.RefuseExclusion(&q, "plan"); err != nil {
		return nil, err
	}
	r, err := settled.NewGatheringRun(ctx, q)
	if err != nil {
		return nil, err
	}
	switch {
	case q.Stats != "":
		return nil, stream.Usagef("%s: statistics are there already, so there is nothing to plan", place.DisplayName(q.Stats))
	case slices.Contains(q.Input.Paths, "-"): // it need not be read to refuse it
		return nil, stream.Usagef("standard input cannot be planned: who scans by the plan does not have it; save it to a file first")
	case q.SampleRows > 0:
		return nil, stream.Usagef("{rows} is a quick try, which takes one machine; leave it out of the plan")
	case !chunkio.IsPlan(q.Output):
		return nil, stream.Usagef("{o} %s: want the name of a plan file, JOB.plan.json", place.DisplayName(q.Output))
	}
	end, err := budget.ApplyLimits(ctx, &r.Request)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := settled.PrepareFeatures(ctx, r); err != nil {
		return nil, err
	}
	if err := atomicfile.CheckWritable(ctx, q.Output); err != nil {
		return nil, err
	}
	if err := settled.CountAnchorsInFile(ctx, r); err != nil {
		return nil, err
	}
	opt := r.ReadOptions()
	opt.ForPlan, opt.Sample = true, 0
	ds, err := settled.OpenDataset(ctx, r.Input.Paths, opt)
	if err != nil {
		return nil, gathering.ErrLeastMemory(ctx, r, r.Input.Paths, opt, planning.PlanShard, err)
	}
	defer ds.Close()
	settled.RecordHeader(&r.Request, ds)
	if err := ds.NotInput(ctx, q.Output); err != nil {
		return nil, err
	}
	if r.Bound.From.UsesGraph() && r.Columns.Missing == request.MissingDropRow && r.Columns.Sparse == "" && settled.PromisesMissing(ds) {
		return nil, stream.Usagef("method %s by shards cannot drop rows: the footers show missing values, and its anchors are drawn before all shards together know which columns these make useless; %v", r.Bound.Name, gathering.OneRoundRemedy())
	}
	b, err := planning.PlanShard(r, ds)
	if err != nil {
		return nil, err
	}
	options := r.PlanOptions()
	if r.Columns.Sparse != "" { // the number of features is known now
		options["sparse"] = ds.SparseColumns()
	}
	h, err := ds.WritePlan(ctx, q.Output, chunkio.PlanHeader{Version: request.Release, Method: r.Bound.Name, Options: options})
	if err != nil {
		return nil, err
	}
	settled.NoteFilled(r, settled.ListPromisedMissing(r, ds))
	_, least := ds.RowsMemory() // memory for converting files of rows when a shard is opened
	b.Smallest = max(b.Smallest, b.Program+least)
	var keep int
	if r.Bound.From.UsesRows() {
		keep = planning.RowsToKeep(r, ds)
	}
	return &result.Planned{
		Path: place.DisplayName(q.Output), ID: h.ID, Files: h.Files, Groups: h.Groups, Rows: h.Rows, Bytes: h.Bytes, Weight: h.Weight,
		Features: len(ds.Columns()), Profile: planning.ProfileReason(r, ds).Spell(r.Hooks.Spelling), KeepRows: keep, Smallest: b.Smallest,
		Warnings: append([]string{}, wording.SpellAll(append(slices.Clip(ds.Warnings()), missingWarnings(r, ds)...), r.Hooks.Spelling)...),
	}, nil
}

// missingWarnings warns about columns that have missing values by the footers, if the missing policy refuses missing
// values. Without the warning only the last round of scans would report these columns.
func missingWarnings(r *settled.Run, ds *chunkio.Dataset) []stream.Text {
	if request.MissingPolicy(&r.Request) != stream.MissingError || r.Bound.From.UsesRows() {
		return nil
	}
	names := convert.Each(settled.ListPromisedMissing(r, ds), func(c stream.ColumnReport) string { return c.Name })
	if len(names) == 0 {
		return nil
	}
	text := request.JoinNames(names[:min(len(names), 10)])
	if len(names) > 10 {
		text += ", …"
	}
	return []stream.Text{stream.Textf("values are missing in %s (%s), and scans with {missing} error will fail, but for columns that the profile leaves out as useless: plan with {missing} mean, zero or drop-row, or with {exclude}", wording.CountNoun(len(names), "column"), text)}
}
