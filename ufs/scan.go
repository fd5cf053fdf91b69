package ufs

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ScanRequest describes the statistics to gather into the file Request.Output. With a plan (Request.Plan), Output may
// also be the folder for the parts of all shards.
type ScanRequest struct {
	Request
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
}

// Scan gathers mergeable statistics of the input, or of a shard, into a file: the profile, the Gram matrix and the
// histograms. The file also has a sample of rows if the method surveys one, as the default method does, and the anchor
// graph if the method needs one. Later selections from the file (Request.Stats) may use any scale, k and method of the
// Gram matrix.
func Scan(ctx context.Context, q ScanRequest) (done *Gathered, err error) {
	r, piece, err := q.newScanRun(ctx)
	if err != nil {
		return nil, err
	}
	end, err := r.applyLimits(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := refuseInputAsOutput(ctx, &r.Request, q.Profile); err != nil {
		return nil, err
	}
	if err := r.openCheckpoint(); err != nil {
		return nil, err
	}
	defer func() { err = r.checkpoint.closeFolder(ctx, err) }()
	if q.Profile == "" { // a given profile contains the categories
		if err := r.findCategories(ctx); err != nil {
			return nil, err
		}
	}
	fetched := r.Meter.Transfer()
	if err := atomicfile.CheckWritable(ctx, r.Output); err != nil {
		return nil, err
	}
	if err := r.countAnchorsInFile(ctx); err != nil {
		return nil, err
	}
	g := r.newScanGatherer(q.ProfileOnly, piece)
	if q.Profile != "" {
		if err := r.readProfile(ctx, q.Profile, r.samplesAnchors(), g.plan); err != nil {
			return nil, err
		}
	}
	if r.planHeader != nil {
		if there, err := r.findFinishedPart(ctx, r.Output, g.gatherKind); there != nil || err != nil {
			return there, err
		}
	}
	e, err := g.gather(ctx)
	if err != nil {
		return nil, err
	}
	defer e.close()
	if !q.ProfileOnly { // a profile does not fill missing values
		noteFilled(r, listFilled(r, e))
	}
	if r.wholeProfile != nil && r.planHeader == nil {
		e.warnings = append(e.warnings, r.wholeProfile.coverageWarnings(e.inputs, place.DisplayName(q.Profile))...)
	}
	if e.graph != nil {
		if t := e.graph.Trust(); t != (anchor.Trust{}) && !t.HasStructure() {
			e.warnings = append(e.warnings, stream.Textf("the graph of the rows in {scale} %s shows no more structure than that of a copy with permuted columns; try another {scale}", r.Scale))
		}
	}
	if err := e.writeStats(ctx, r.Output, r.Spelling); err != nil {
		return nil, err
	}
	done = e.summary(r.Spelling, r.Meter.Transfer().Since(fetched))
	done.Path = place.DisplayName(r.Output)
	return done, r.checkpoint.resumeFolder().Forget()
}

func (q ScanRequest) newScanRun(ctx context.Context) (r *run, piece shard, err error) {
	if err := q.refuseStats(ctx, "add statistics files with merge"); err != nil {
		return nil, piece, err
	}
	if err := q.refuseExclusion("scan"); err != nil {
		return nil, piece, err
	}
	if r, err = newGatheringRun(ctx, q.Request); err != nil {
		return nil, piece, err
	}
	if err := r.settleKeptRows(q); err != nil {
		return nil, piece, err
	}
	if piece, err = readShard(q.Shard, os.LookupEnv); err != nil {
		return nil, piece, err
	}
	if r.planHeader != nil {
		if err := r.prepareShardScan(q, piece); err != nil {
			return nil, piece, err
		}
	}
	if err := r.checkScan(q, piece); err != nil {
		return nil, piece, err
	}
	r.Reads = min(r.Reads, 1) // a scan reads once, whatever a selection would do
	if r.planHeader != nil {
		r.Output, err = r.partPath(q.Output)
	}
	return r, piece, err
}

func (r *run) checkScan(q ScanRequest, piece shard) error {
	switch {
	case q.Output == "":
		return stream.Usagef("scan: no output given; add {o} FILE.ufs")
	case q.Output == "-":
		return stream.Usagef("{o} -: statistics go to a file, which is verified when it is read; name it FILE.ufs")
	case r.planHeader != nil && r.shard.Of > 1 && !place.IsFolder(q.Output) && place.Ext(q.Output) != ".ufs":
		return stream.Usagef("{o} %s is no folder, and all shards would be written to it; add a / at its end to make it one, or name the part of this shard FILE.ufs", place.DisplayName(q.Output))
	case r.planHeader == nil && place.IsFolder(q.Output):
		return &stream.OutputError{Path: place.DisplayName(q.Output), Err: errors.New("this names a folder"),
			Remedy: stream.Textf("name a FILE.ufs, or make a plan (plan INPUT… {o} JOB.plan.json) and scan by it ({plan}), whose parts go into a folder")}
	case q.ProfileOnly && q.Profile != "":
		return stream.Usagef("{profile-only} makes a profile, {profile} uses one; give one of them")
	case piece.count > 0 && q.SampleRows > 0:
		return stream.Usagef("{rows} and {shard} do not go together")
	case r.scale == gram.ScaleRank && q.KeepRows > 0:
		return stream.Usagef("{scale} rank is of the rows that a method draws, which {sample-rows} does not know; select from the data, or leave {scale} out")
	case r.scale == gram.ScaleRank && !q.ProfileOnly && q.Profile == "" && (piece.count > 0 || r.shard.Of > 1):
		return stream.Usagef("{scale} rank: a shard does not know the ranks of all rows; scan all shards with {profile-only} {scale} rank, merge those, and scan with that {profile}")
	case r.sketchRows > 0 && q.ProfileOnly:
		return stream.Usagef("{sketch} comes with a profile of its own; leave {profile-only} out")
	case r.sketchRows > 0 && r.scale == gram.ScaleRank:
		return stream.Usagef("{scale} rank: a sketch in a file is of the values; select from the data, or leave {scale} out")
	case q.Reads > 0:
		return stream.Usagef("{passes}: a scan reads once; select from the data reads again")
	case r.planHeader != nil && r.From == method.FromGraph && !q.ProfileOnly && q.Profile == "":
		return stream.Usagef("method %s needs a {profile} of all shards: scan them with {profile-only} first, and merge those", r.Name)
	}
	return nil
}

func (r *run) samplesAnchors() bool { return r.From == method.FromGraph && r.Anchors.File == "" }

func (r *run) newScanGatherer(profileOnly bool, piece shard) *gatherer {
	g := &gatherer{run: r, gatherKind: method.FromGram, scannedShard: piece, takesHistograms: true}
	switch {
	case profileOnly:
		g.gatherKind, g.takesSample = method.FromProfile, r.samplesAnchors()
		g.takesRanks = r.scale == gram.ScaleRank
		// A profile counts the values on which the missing policy will act, so the policy must not act yet. There are two
		// exceptions. The scaling and the anchors of a graph come from the rows that drop-row keeps. For sparse rows,
		// zero and drop-row act while the rows are read.
		acts := (r.From == method.FromGraph || r.Sparse != "") && r.Missing == missingDropRow || r.Sparse != "" && r.Missing == missingZero
		if !acts {
			r.Missing = missingMean
		}
	case r.From == method.FromGraph:
		g.gatherKind = method.FromGraph
	default:
		g.takesSample = r.Takes.Sample
	}
	g.plan = r.planScan(g.gatherKind, g.takesSample)
	return g
}

// coverageWarnings warns if the profile e, from the file called name, lacks some of its own inputs, or some of the
// inputs that were scanned with it.
func (e *bundle) coverageWarnings(scanned []stream.Input, name string) []stream.Text {
	warnings := e.gapWarnings(name)
	for _, in := range scanned {
		if !slices.ContainsFunc(e.inputs, func(known stream.Input) bool { return known.Fingerprint == in.Fingerprint }) {
			warnings = append(warnings, stream.Textf("%s was made without %s", name, in.Path))
		}
	}
	return warnings
}

// readProfile reads the profile in the file path, and its sample of rows if sample is set. If the sample does not fit
// into memory, the error states the memory for the whole run, which plan computes.
func (r *run) readProfile(ctx context.Context, path string, sample bool, plan func(*chunkio.Dataset) (Budget, error)) error {
	file, err := r.openStats(ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()
	if r.wholeProfile, err = readStats(file, method.FromProfile, gram.Options{}, 0); err != nil {
		return err
	}
	r.wholeProfile.digest = file.Digest()
	if r.categories == "" {
		r.categories = r.wholeProfile.options[optionCategories]
	}
	if r.scale == gram.ScaleRank {
		if err := r.readProfileRanks(file); err != nil {
			return err
		}
	}
	if r.planHeader != nil {
		if err := r.checkProfileOfPlan(r.wholeProfile, file.Path()); err != nil {
			return err
		}
	}
	if !sample {
		return nil
	}
	err = r.wholeProfile.readSample(file, max(r.Memory-programBytes, 1))
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) {
		r.sampleBytes = m.Need
		opt := r.readOptions()
		opt.Memory = max(opt.Memory, reopenedBytes)
		return r.errOfPlan(ctx, r.Inputs, opt, plan, err)
	}
	if err == nil && r.wholeProfile.sample != nil {
		r.sampleBytes = anchor.SamplerBytes(r.wholeProfile.sample.Len(), len(r.wholeProfile.columns))
	}
	return err
}
