package scanning

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowsample"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

// ScanRequest describes the statistics to gather into the file Request.Output. With a plan (Request.Plan), Output may
// also be the folder for the parts of all shards.
type ScanRequest struct {
	request.Request
	// Shard "I/N" scans only part I of N about equal parts of the input, which consist of whole row groups. With "auto"
	// the scheduler that runs this process gives I and N in environment variables; with "auto/N" it gives only I. The
	// known schedulers are Slurm, Kubernetes, AWS Batch and Cloud Run.
	Shard       string
	ProfileOnly bool // gather only mean, spread and missing values of each column
	// KeepRows is the number of rows of a seeded sample that a profile also keeps, for methods that iterate over rows.
	// They are the rows that Select would draw (option sample). KeepRows requires ProfileOnly.
	KeepRows int64
	// Profile is a statistics file with a profile of all parts. It determines the columns to leave out, so that these
	// are the same in every part, and contains the scaling and the anchors of a graph.
	Profile string
	// Since gathers the changes of a Delta table since this version, in place of all its rows: the statistics of the rows
	// that it has gained, and of the rows that it has lost. Merge adds them to statistics of that version. Since may also
	// be the path of a statistics file: its version is then taken.
	Since string

	sinceTable *stream.Table // of the file Since; nil if it is a version
}

// ScanInput implements ufs.Scan: it gathers mergeable statistics of the input, or of a shard, into a file.
func ScanInput(ctx context.Context, q ScanRequest) (done *result.Gathered, err error) {
	r, piece, err := q.newScanRun(ctx)
	if err != nil {
		return nil, err
	}
	end, err := budget.ApplyLimits(ctx, &r.Request)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := request.RefuseInputAsOutput(ctx, &r.Request, q.Profile); err != nil {
		return nil, err
	}
	if err := settled.OpenCheckpoint(r); err != nil {
		return nil, err
	}
	defer func() { err = r.SavedState.CloseFolder(ctx, err) }()
	if q.Profile == "" { // a given profile contains the categories and frequencies
		if err := settled.PrepareFeatures(ctx, r); err != nil {
			return nil, err
		}
	}
	fetched := r.Hooks.Meter.Transfer()
	if err := atomicfile.CheckWritable(ctx, r.Output); err != nil {
		return nil, err
	}
	if err := settled.CountAnchorsInFile(ctx, r); err != nil {
		return nil, err
	}
	g := newScanGatherer(r, q.ProfileOnly, piece)
	if q.Profile != "" {
		if err := readProfile(ctx, r, q.Profile, samplesRowsForAnchors(r), g.Planner); err != nil {
			return nil, err
		}
	}
	if r.PlanHeader != nil {
		if there, err := findFinishedPart(ctx, r, r.Output, g.GatherKind); there != nil || err != nil {
			return there, err
		}
	}
	e, err := g.Gather(ctx)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	if !q.ProfileOnly { // a profile does not fill missing values
		settled.NoteFilled(r, settled.ListFilled(r, e))
	}
	if t := q.sinceTable; t != nil && !t.IsSame(e.Table) {
		return nil, stream.Usagef("{since} %s: these statistics are of another table, %s; scan the whole table, and continue from that", place.DisplayName(q.Since), t.Path)
	}
	if e.HasLosses {
		if err := e.Close(); err != nil { // its footers use memory
			return nil, err
		}
		if err := scanLosses(ctx, r, q, piece, e); err != nil {
			return nil, err
		}
	}
	if r.WholeProfile != nil && r.PlanHeader == nil {
		e.Warnings = append(e.Warnings, coverageWarnings(r.WholeProfile, e.Inputs, place.DisplayName(q.Profile))...)
	}
	if e.Graph != nil {
		if t := e.Graph.Trust(); t != (anchor.Trust{}) && !t.HasStructure() {
			e.Warnings = append(e.Warnings, stream.Textf("the graph of the rows in {scale} %s shows no more structure than that of a copy with permuted columns; try another {scale}", r.Choice.Scale))
		}
	}
	if err := e.WriteStats(ctx, r.Output, r.Hooks.Spelling); err != nil {
		return nil, err
	}
	done = e.Summary(r.Hooks.Spelling, r.Hooks.Meter.Transfer().Since(fetched))
	done.Path = place.DisplayName(r.Output)
	return done, r.SavedState.ResumeFolder().Forget()
}

func (q *ScanRequest) newScanRun(ctx context.Context) (r *settled.Run, shard gathering.Shard, err error) {
	if err := settled.RefuseStats(ctx, &q.Request, "add statistics files with merge"); err != nil {
		return nil, shard, err
	}
	if err := request.RefuseExclusion(&q.Request, "scan"); err != nil {
		return nil, shard, err
	}
	if err := q.settleSince(ctx); err != nil {
		return nil, shard, err
	}
	if r, err = settled.NewGatheringRun(ctx, q.Request); err != nil {
		return nil, shard, err
	}
	if err := settleKeptRows(r, *q); err != nil {
		return nil, shard, err
	}
	if shard, err = readShard(q.Shard, os.LookupEnv); err != nil {
		return nil, shard, err
	}
	if err := settlePlan(r, q, shard); err != nil {
		return nil, shard, err
	}
	if err := cmp.Or(checkScanRequest(r, *q, shard), checkSinceRequest(r, q)); err != nil {
		return nil, shard, err
	}
	r.Choice.Reads = min(r.Choice.Reads, 1) // a scan reads once, whatever a selection would do
	if r.PlanHeader != nil {
		r.Output, err = partPath(r, q.Output)
	}
	return r, shard, err
}

func checkScanRequest(r *settled.Run, q ScanRequest, shard gathering.Shard) error {
	switch {
	case q.Output == "":
		return stream.Usagef("scan: no output given; add {o} FILE.ufs")
	case q.Output == "-":
		return stream.Usagef("{o} -: statistics go to a file, which is verified when it is read; name it FILE.ufs")
	case r.PlanHeader != nil && r.Shard.Of > 1 && !place.IsFolder(q.Output) && place.Ext(q.Output) != ".ufs":
		return stream.Usagef("{o} %s is no folder, and all shards would be written to it; add a / at its end to make it one, or name the part of this shard FILE.ufs", place.DisplayName(q.Output))
	case r.PlanHeader == nil && place.IsFolder(q.Output):
		return &stream.OutputError{Path: place.DisplayName(q.Output), Err: errors.New("this names a folder"),
			Remedy: stream.Textf("name a FILE.ufs, or make a plan (plan INPUT… {o} JOB.plan.json) and scan by it ({plan}), whose parts go into a folder")}
	case q.ProfileOnly && q.Profile != "":
		return stream.Usagef("{profile-only} makes a profile, {profile} uses one; give one of them")
	case shard.Count > 0 && q.SampleRows > 0:
		return stream.Usagef("{rows} and {shard} do not go together")
	case r.ParsedScale == gram.ScaleRank && q.KeepRows > 0:
		return stream.Usagef("{scale} rank is of the rows that a method draws, which {sample-rows} does not know; select from the data, or leave {-scale} out")
	case r.ParsedScale == gram.ScaleRank && !q.ProfileOnly && q.Profile == "" && (shard.Count > 0 || r.Shard.Of > 1):
		return stream.Usagef("{scale} rank: a shard does not know the ranks of all rows; scan all shards with {profile-only} {scale} rank, merge those, and scan with that {profile}")
	case r.SketchRows > 0 && q.ProfileOnly:
		return stream.Usagef("{sketch} comes with a profile of its own; leave {-profile-only} out")
	case r.SketchRows > 0 && r.ParsedScale == gram.ScaleRank:
		return stream.Usagef("{scale} rank: a sketch in a file is of the values; select from the data, or leave {-scale} out")
	case q.Choice.Reads > 0:
		return stream.Usagef("{passes}: a scan reads once; select from the data reads again")
	case r.PlanHeader != nil && r.Bound.From.UsesGraph() && !q.ProfileOnly && q.Profile == "":
		return stream.Usagef("method %s needs a {profile} of all shards: scan them with {profile-only} first, and merge those", r.Bound.Name)
	}
	return nil
}

func samplesRowsForAnchors(r *settled.Run) bool {
	return r.Bound.From.UsesGraph() && r.Bound.Anchors.File == ""
}

func newScanGatherer(r *settled.Run, profileOnly bool, shard gathering.Shard) *gathering.Gatherer {
	g := &gathering.Gatherer{Run: r, GatherKind: method.FromGram, Planner: planning.PlanGramScan, ScannedShard: shard, TakesHistograms: true}
	switch {
	case profileOnly:
		g.GatherKind, g.Planner, g.TakesSample = method.FromProfile, planning.PlanProfileScan(samplesRowsForAnchors(r)), samplesRowsForAnchors(r)
		g.TakesRanks = r.ParsedScale == gram.ScaleRank
		// A profile counts the values on which the missing policy will act, so the policy must not act yet. There are two
		// exceptions. The scaling and the anchors of a graph come from the rows that drop-row keeps. For sparse rows,
		// zero and drop-row act while the rows are read.
		acts := (r.Bound.From.UsesGraph() || r.Columns.Sparse != "") && r.Columns.Missing == request.MissingDropRow || r.Columns.Sparse != "" && r.Columns.Missing == request.MissingZero
		if !acts {
			r.Columns.Missing = request.MissingMean
		}
	case r.Bound.From.UsesGraph():
		g.GatherKind, g.Planner = method.FromGraph, planning.PlanGraphScan
	default:
		g.TakesSample = r.Bound.Takes.Sample
	}
	g.Planner = refuseLosses(g.Planner, g)
	return g
}

// coverageWarnings warns if the profile e, from the file called name, lacks some of its own inputs, or some of the
// inputs that were scanned with it.
func coverageWarnings(e *statistics.Bundle, scanned []stream.Input, name string) []stream.Text {
	warnings := e.GapWarnings(name)
	for _, in := range scanned {
		if !slices.ContainsFunc(e.Inputs, func(known stream.Input) bool { return known.Fingerprint == in.Fingerprint }) {
			warnings = append(warnings, stream.Textf("%s was made without %s", name, in.Path))
		}
	}
	return warnings
}

// readProfile reads the profile in the file path, and its sample of rows if withSample is set. If the sample does not
// fit into memory, the error states the memory for the whole run, which plan computes.
func readProfile(ctx context.Context, r *settled.Run, path string, withSample bool, plan planning.Planner) error {
	file, err := statistics.OpenStats(ctx, &r.Request, path)
	if err != nil {
		return err
	}
	defer file.Close()
	if r.WholeProfile, err = statistics.ReadStats(file, method.FromProfile, gram.Options{}, 0); err != nil {
		return err
	}
	r.WholeProfile.Digest = file.Digest()
	r.Columns.Categories = cmp.Or(r.Columns.Categories, r.WholeProfile.Options[request.OptionCategories])
	if recorded := r.WholeProfile.Options[request.OptionRowScale]; recorded != r.Columns.RowScale {
		return stream.Usagef("{rows-scale} %q, but {profile} was made with %q; make both alike", r.Columns.RowScale, recorded)
	}
	if r.Columns.RowScale != "" && r.Columns.Frequencies == "" {
		r.Columns.Frequencies = r.WholeProfile.Options[request.OptionFrequencies]
	}
	if r.ParsedScale == gram.ScaleRank {
		if err := gathering.ReadProfileRanks(r, file); err != nil {
			return err
		}
	}
	if r.PlanHeader != nil {
		if err := checkProfileOfPlan(r, r.WholeProfile, file.Path()); err != nil {
			return err
		}
	}
	if !withSample {
		return nil
	}
	err = statistics.ReadState(r.WholeProfile, file, statistics.SampleSection, statistics.StateOptions{Limit: max(r.Limits.Memory-budget.ProgramBytes, 1)})
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) {
		r.SampleBytes = m.Need
		opt := r.ReadOptions()
		opt.Memory = max(opt.Memory, gathering.ReopenedBytes)
		return gathering.ErrOfPlan(ctx, r, r.Input.Paths, opt, plan, err)
	}
	if err == nil && r.WholeProfile.Sample != nil {
		r.SampleBytes = anchor.SamplerBytes(r.WholeProfile.Sample.Len(), len(r.WholeProfile.Columns))
	}
	return err
}

// settleKeptRows sets the number of rows that a scan keeps. It refuses options that do not allow a sample of rows, and
// a method that iterates over rows if no sample is requested.
func settleKeptRows(r *settled.Run, q ScanRequest) error {
	isOverRows := r.Bound.From.UsesRows()
	switch {
	case q.KeepRows < 0 || q.KeepRows > rowsample.MostRows:
		return stream.Usagef("{sample-rows} %d: want a number of rows up to %d", q.KeepRows, rowsample.MostRows)
	case q.KeepRows == 0 && !isOverRows:
		return nil
	case q.KeepRows == 0:
		return stream.Usagef("scan: method %s iterates over rows, which statistics cannot replace; keep a sample of them: scan INPUT… {profile-only} {sample-rows} %d {method} %[1]s, or use select INPUT… {method} %[1]s",
			r.Bound.Name, method.DefaultSample)
	case !q.ProfileOnly:
		return stream.Usagef("{sample-rows} goes with {profile-only}: rows are kept with a profile, before {missing} acts on them; scan twice if you want Gram statistics too")
	case isOverRows && r.Original.Choice.Options["sample"] != nil: // a plan may have the option, for select
		return stream.Usagef("{sample} sets how many rows select draws; a scan keeps {sample-rows} of them, from which select can draw fewer")
	case r.Columns.Weight != "":
		return stream.Usagef("{sample-rows} keeps rows for methods that take no {weight}; leave one of them out")
	case r.Columns.Missing == request.MissingDropRow && r.Columns.Sparse != "":
		return stream.Usagef("{sample-rows} keeps rows before any is dropped, and {missing} drop-row drops sparse ones as they are read; use {missing zero} or error")
	case r.Columns.Missing == request.MissingDropRow && r.Bound.From.UsesGraph():
		return stream.Usagef("{sample-rows} keeps rows before any is dropped, and anchors of method %s come from those that {missing} drop-row leaves; make two profiles, or use {missing mean} or zero", r.Bound.Name)
	}
	if isOverRows {
		r.Bound.Sample = 0 // the profile is of all rows
	}
	r.KeepRows, r.KeptRowsMissing = int(q.KeepRows), r.Columns.Missing
	return nil
}
