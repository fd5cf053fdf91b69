package ufs

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ScanRequest says what to gather into a statistics file: Request.Output names it.
type ScanRequest struct {
	Request
	// Shard "I/N" scans only that part of the rows, in whole row groups, about equal parts. With
	// "auto" the scheduler that runs this process says I and N in the environment, with "auto/N" I:
	// Slurm, Kubernetes, AWS Batch and Cloud Run are known.
	Shard       string
	ProfileOnly bool // only mean, spread and missing values of each column
	// KeepRows takes a seeded sample of so many rows along, for methods that iterate over rows:
	// those that Select would draw (option sample). It goes with ProfileOnly.
	KeepRows int64
	// Profile is a profile of all parts. It decides which columns are left out, alike in
	// every part, and has the scaling and the anchors of a graph.
	Profile string
}

// Scan gathers mergeable statistics of the input, or of a shard of it, into a file: the
// profile, the Gram matrix and the histograms, and the anchor graph where the method works from
// one. Any scale, k and method of the Gram matrix can be asked of it later (Request.Stats).
func Scan(ctx context.Context, q ScanRequest) (*Gathered, error) {
	if err := q.noStats(ctx, "add statistics files with merge"); err != nil {
		return nil, err
	}
	r, err := q.settle(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.keepSample(q); err != nil {
		return nil, err
	}
	part, err := shardOf(q.Shard, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	if r.plan != nil {
		if err := r.settlePart(q, part); err != nil {
			return nil, err
		}
	}
	switch {
	case q.Output == "":
		return nil, stream.Usagef("scan: no output given; add {o} FILE.ufs")
	case q.Plan == "" && place.IsFolder(q.Output):
		return nil, stream.Usagef("scan: {o} %s is a folder, which takes the parts of a plan; name a FILE.ufs, or make a plan (plan INPUT… {o} JOB.plan.json) and scan by it ({plan})", place.Name(q.Output))
	case q.ProfileOnly && q.Profile != "":
		return nil, stream.Usagef("{profile-only} makes a profile, {profile} uses one; give one of them")
	case q.ProfileOnly && q.Checkpoint != "":
		return nil, stream.Usagef("{checkpoint} is for the Gram statistics; a profile is quick")
	case part.count > 0 && q.SampleRows > 0:
		return nil, stream.Usagef("{rows} and {shard} do not go together")
	case q.Plan != "" && r.From == method.FromGraph && !q.ProfileOnly && q.Profile == "":
		return nil, stream.Usagef("method %s needs a {profile} of all shards: scan them with {profile-only} first, and merge those", r.Name)
	}
	if q.Plan != "" {
		if q.Output, err = r.partPath(q.Output); err != nil {
			return nil, err
		}
		r.Output = q.Output
	}
	end, err := r.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	fetched := r.Meter.Transfer()
	if err := atomicfile.CanWrite(ctx, q.Output); err != nil {
		return nil, err
	}
	if err := r.countAnchors(ctx); err != nil {
		return nil, err
	}
	graph := r.From == method.FromGraph
	g := &gatherer{run: r, from: method.FromGram, piece: part, spread: true}
	if graph {
		g.from = method.FromGraph
	}
	g.plan = r.planScan(g.from, false)
	if q.ProfileOnly {
		g.sample = graph && r.Anchors.File == ""
		g.from, g.plan = method.FromProfile, r.planScan(method.FromProfile, g.sample)
		// A profile finds out what the policy will meet, so the policy must not act. But
		// scaling and anchors come from the rows that it keeps.
		if drops := graph && r.Missing == missingDropRow; r.Sparse == "" && !drops {
			r.Missing = missingMean
		}
	}
	if q.Profile != "" {
		if err := r.takeProfile(ctx, q.Profile, graph && r.Anchors.File == "", g.plan); err != nil {
			return nil, err
		}
		q.Profile = place.Name(q.Profile) // from here on for people
	}
	if q.Plan != "" {
		if there, err := r.partThere(ctx, q.Output, g.from); there != nil || err != nil {
			return there, err
		}
	}
	e, err := g.start(ctx)
	if err != nil {
		return nil, err
	}
	if r.profile != nil && q.Plan == "" {
		e.warnings = append(e.warnings, r.profile.gaps(q.Profile)...)
		for _, in := range e.inputs {
			if !slices.ContainsFunc(r.profile.inputs, func(known stream.Input) bool { return known.Fingerprint == in.Fingerprint }) {
				e.warnings = append(e.warnings, stream.Textf("%s was made without %s", q.Profile, in.Path))
			}
		}
	}
	if err := e.writeStats(ctx, q.Output, r.Spelling); err != nil {
		return nil, err
	}
	done := e.summary(r.Spelling, r.Meter.Transfer().Since(fetched))
	done.Path = place.Name(q.Output)
	return done, Forget(q.Checkpoint)
}

// takeProfile reads the profile at path, with its sample of rows where that is wanted; plan
// says what the whole run needs where that does not fit.
func (r *run) takeProfile(ctx context.Context, path string, sample bool, plan func(*chunkio.Dataset) (Budget, error)) error {
	file, err := r.openStats(ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()
	if r.profile, err = readStats(file, method.FromProfile, gram.Options{}); err != nil {
		return err
	}
	r.profile.digest = file.Digest()
	if r.plan != nil {
		if err := r.ofPlan(r.profile, file.Path()); err != nil {
			return err
		}
	}
	if !sample {
		return nil
	}
	err = r.profile.readSample(file, max(r.Memory-programBytes, 1))
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) {
		r.sampleBytes = m.Need
		return r.leastMemory(ctx, r.Inputs, r.reading(), plan, err)
	}
	if err == nil && r.profile.sample != nil {
		r.sampleBytes = anchor.SamplerBytes(r.profile.sample.Len(), len(r.profile.columns))
	}
	return err
}

// shard is part number of count parts, counted from 1; the zero value is the whole.
type shard struct{ number, count int }

// parseShard reads "I/N"; empty is the whole.
func parseShard(s string) (shard, error) {
	if s == "" {
		return shard{}, nil
	}
	i, n, ok := strings.Cut(s, "/")
	number, err1 := strconv.Atoi(i)
	count, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || number < 1 || number > count {
		return shard{}, stream.Usagef("{shard} %q: want I/N with 1 <= I <= N, as 2/8", s)
	}
	return shard{number, count}, nil
}

// of is the range of rows of src; the zero Range, meaning all, for the whole.
func (s shard) of(src stream.Source) (stream.Range, error) {
	if s.count == 0 {
		return stream.Range{}, nil
	}
	return stream.Shard(src, s.number, s.count)
}
