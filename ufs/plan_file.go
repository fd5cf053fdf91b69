package ufs

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/rowsample"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Planned describes the contents of a new plan file.
type Planned struct {
	Path     string `json:"path"`
	ID       string `json:"id"`
	Files    int    `json:"files"`
	Groups   int    `json:"row_groups"` // number of row groups; a shard consists of whole row groups
	Rows     int64  `json:"rows"`
	Bytes    int64  `json:"bytes"`  // of the files
	Weight   int64  `json:"weight"` // bytes of the row groups to read, which shards share equally
	Features int    `json:"features"`
	// Profile is the reason why a first round of profiles is needed. It is empty if one round of Scan suffices.
	Profile string `json:"profile,omitempty"`
	// KeepRows is set for a method that iterates over rows. Such a method needs only the round of profiles. The profiles
	// keep this many rows (ScanRequest.KeepRows), from which Select draws.
	KeepRows int      `json:"keep_rows,omitempty"`
	Smallest int64    `json:"smallest_bytes"` // the smallest memory limit for scanning a shard
	Warnings []string `json:"warnings"`
}

// WritePlan writes the plan file q.Output, which fixes the work of a Scan: files with their sizes and versions, row
// groups, columns, and the options that shape statistics. It reads only footers. Many machines can then Scan the shards
// of the plan independently.
func WritePlan(ctx context.Context, q Request) (*Planned, error) {
	if err := q.refuseExclusion("plan"); err != nil {
		return nil, err
	}
	r, err := newGatheringRun(ctx, q)
	if err != nil {
		return nil, err
	}
	switch {
	case q.Stats != "":
		return nil, stream.Usagef("%s: statistics are there already, so there is nothing to plan", place.DisplayName(q.Stats))
	case slices.Contains(q.Inputs, "-"): // it need not be read to refuse it
		return nil, stream.Usagef("standard input cannot be planned: who scans by the plan does not have it; save it to a file first")
	case q.SampleRows > 0:
		return nil, stream.Usagef("{rows} is a quick try, which takes one machine; leave it out of the plan")
	case !chunkio.IsPlan(q.Output):
		return nil, stream.Usagef("{o} %s: want the name of a plan file, JOB.plan.json", place.DisplayName(q.Output))
	}
	end, err := r.applyLimits(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := r.findCategories(ctx); err != nil {
		return nil, err
	}
	if err := atomicfile.CheckWritable(ctx, q.Output); err != nil {
		return nil, err
	}
	if err := r.countAnchorsInFile(ctx); err != nil {
		return nil, err
	}
	opt := r.readOptions()
	opt.ForPlan, opt.Sample = true, 0
	ds, err := openDataset(ctx, r.Inputs, opt)
	if err != nil {
		return nil, r.errLeastMemory(ctx, r.Inputs, opt, r.planShard, err)
	}
	defer ds.Close()
	recordHeader(&r.Request, ds)
	if err := ds.NotInput(ctx, q.Output); err != nil {
		return nil, err
	}
	if r.From == method.FromGraph && r.Missing == missingDropRow && r.Sparse == "" && promisesMissing(ds) {
		return nil, stream.Usagef("method %s by shards cannot drop rows: the footers show missing values, and its anchors are drawn before all shards together know which columns these make useless; %v", r.Name, oneRoundRemedy())
	}
	b, err := r.planShard(ds)
	if err != nil {
		return nil, err
	}
	options := r.planOptions()
	if r.Sparse != "" { // the number of features is known now
		options["sparse"] = ds.SparseColumns()
	}
	h, err := ds.WritePlan(ctx, q.Output, chunkio.PlanHeader{Version: Release, Method: r.Name, Options: options})
	if err != nil {
		return nil, err
	}
	noteFilled(r, listPromisedMissing(r, ds))
	_, least := ds.RowsMemory() // memory for converting files of rows when a shard is opened
	b.Smallest = max(b.Smallest, b.Program+least)
	var keep int
	if r.From == method.FromRows {
		keep = r.rowsToKeep(ds)
	}
	return &Planned{
		Path: place.DisplayName(q.Output), ID: h.ID, Files: h.Files, Groups: h.Groups, Rows: h.Rows, Bytes: h.Bytes, Weight: h.Weight,
		Features: len(ds.Columns()), Profile: r.profileReason(ds).Spell(r.Spelling), KeepRows: keep, Smallest: b.Smallest,
		Warnings: append([]string{}, spellAll(append(slices.Clip(ds.Warnings()), r.missingWarnings(ds)...), r.Spelling)...),
	}, nil
}

// rowsToKeep returns the number of rows that the profiles of shards keep for a method that iterates over rows. The
// method itself would draw the same number.
func (r *run) rowsToKeep(ds *chunkio.Dataset) int {
	return int(min(cmp.Or(r.Sample, ds.Rows()), rowsample.MostRows))
}

// planShard plans the scan of one shard. For a graph method it returns the plan of the second round, with a memory
// limit that suffices for both rounds.
func (r *run) planShard(ds *chunkio.Dataset) (Budget, error) {
	shardRun := *r
	switch r.From {
	case method.FromRows:
		shardRun.keepRows = r.rowsToKeep(ds)
		return shardRun.planScan(method.FromProfile, false)(ds)
	case method.FromGraph:
		// The first round keeps a sample; the second holds the merged sample in addition to the statistics.
		sampled := r.Anchors.File == ""
		first, err := r.planScan(method.FromProfile, sampled)(ds)
		if err != nil {
			return first, err
		}
		if d := len(ds.Columns()); sampled {
			shardRun.sampleBytes = anchor.SamplerBytes(limitRows(r.anchorSampleRows(r.maxAnchors(), d), ds), d)
		}
		second, err := shardRun.planScan(method.FromGraph, false)(ds)
		second.Smallest = max(first.Smallest, second.Smallest)
		return second, err
	}
	return r.planScan(method.FromGram, false)(ds)
}

func (r *run) profileReason(ds *chunkio.Dataset) stream.Text {
	switch {
	case r.From == method.FromGraph:
		return stream.Textf("method %s needs the scaling and the anchors of all rows", r.Name)
	case r.From == method.FromRows:
		return stream.Textf("method %s iterates over rows, and a profile takes a sample of them along", r.Name)
	case r.missingPolicy() != stream.MissingKeep && r.Sparse == "" && promisesMissing(ds):
		return stream.Textf("values are missing, and {missing} %s needs to know which columns are left out", r.Missing)
	}
	return stream.Text{}
}

// missingWarnings warns about columns that have missing values by the footers, if the missing policy refuses missing
// values. Without the warning only the last round of scans would report these columns.
func (r *run) missingWarnings(ds *chunkio.Dataset) []stream.Text {
	if r.missingPolicy() != stream.MissingError || r.From == method.FromRows {
		return nil
	}
	var names []string
	for _, c := range listPromisedMissing(r, ds) {
		names = append(names, c.Name)
	}
	if len(names) == 0 {
		return nil
	}
	text := joinNames(names[:min(len(names), 10)])
	if len(names) > 10 {
		text += ", …"
	}
	return []stream.Text{stream.Textf("values are missing in %s (%s), and scans with {missing} error will fail, but for columns that the profile leaves out as useless: plan with {missing} mean, zero or drop-row, or with {exclude}", plural(len(names), "column"), text)}
}

func (r *run) planOptions() map[string]string {
	options := r.statisticsShape()
	options["seed"] = strconv.FormatUint(r.Seed, 10)
	planned := r.planHeader != nil && r.planHeader.Method == r.Name && r.planHeader.Options["scale"] != ""
	if r.From == method.FromGraph || r.original.Scale != "" || planned {
		options["scale"] = r.Scale
	}
	for option := range r.Request.Options {
		options[option] = rootedPath(option, r.Request.Options.Text(option))
	}
	return options
}

// rootedPath returns the text of an option in a form that has the same meaning on every machine: names of files become
// absolute.
func rootedPath(option, text string) string {
	if !namesFile(option, text) {
		return text
	}
	path, err := place.WithoutParameters(text)
	if err != nil { // the reader of the option reports the error
		return text
	}
	return path
}

func (r *run) applyPlan(ctx context.Context) error {
	q := &r.Request
	switch {
	case len(q.Inputs) > 0:
		return stream.Usagef("{plan} %s names the files to read; leave INPUT out", place.DisplayName(q.Plan))
	case q.Stats != "":
		return stream.Usagef("give {plan} or {stats}, not both")
	case q.SkipBad:
		return stream.Usagef("{on-error} skip-file leaves files out when the plan is made; by then all of it is read")
	}
	h, err := chunkio.ReadPlanHeader(ctx, q.Plan, q.documentOptions())
	if err != nil {
		return q.errForLimit(err)
	}
	r.planHeader = &h
	settings := make(method.Settings, len(h.Options))
	for option, text := range h.Options {
		settings[option] = text
	}
	if h.Method == "" { // made by another program, which plans only files
		q.Where = cmp.Or(q.Where, h.Options["where"])
		return nil
	}
	p, err := requestFromRecord(h.Method, settings, q.Methods)
	if err != nil {
		return stream.Dataf(place.DisplayName(q.Plan), "%w", err)
	}
	if err := resolveFiles(p.Options, func(name string) (string, error) { return h.Resolve(q.Plan, name, q.Allow) }); err != nil {
		return err
	}
	if h.Footers {
		if err := checkPlannedTexts(r, h.Options); err != nil {
			return err
		}
	}
	q.fillFromPlan(p)
	return nil
}

// checkPlannedTexts refuses options for reading text that differ from the options of the plan. It is for plans with
// footers, which depend on these options.
func checkPlannedTexts(r *run, planned map[string]string) error {
	requested := map[string]string{}
	(&Request{Texts: r.Texts}).addColumnShape(requested)
	for _, option := range sortedKeys(requested) {
		if requested[option] != planned[option] {
			return r.errFrozenOption(option, requested[option], planned[option])
		}
	}
	return nil
}

// fillFromPlan copies from p the options that q leaves open. It copies the scale and the options of a method only if q
// does not name another method.
func (q *Request) fillFromPlan(p Request) {
	q.Label = cmp.Or(q.Label, p.Label)
	q.Weight = cmp.Or(q.Weight, p.Weight)
	q.Sparse = cmp.Or(q.Sparse, p.Sparse)
	q.Missing = cmp.Or(q.Missing, p.Missing)
	q.Where = cmp.Or(q.Where, p.Where)
	q.Seed = cmp.Or(q.Seed, p.Seed)
	q.fillColumnOptions(&p)
	q.Stability = cmp.Or(q.Stability, p.Stability)
	q.Sketch = cmp.Or(q.Sketch, p.Sketch)
	if len(q.Columns)+len(q.Exclude) == 0 {
		q.Columns, q.Exclude = p.Columns, p.Exclude
	}
	if q.Method != "" && q.Method != p.Method {
		return
	}
	q.Method = p.Method
	q.Scale = cmp.Or(q.Scale, p.Scale)
	own := q.Options
	q.Options = maps.Clone(p.Options)
	maps.Copy(q.Options, own)
}
