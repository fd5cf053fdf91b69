package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// numberFn is the step that lists the shard numbers. The pipeline contains only their count, so it is always small.
type numberFn struct{}

// ProcessElement emits the numbers 1 to n.
func (*numberFn) ProcessElement(n int, emit func(int)) {
	for shard := range n {
		emit(shard + 1)
	}
}

// scanFn is the step that scans shards without a profile, in the profile round or if the method needs no profile.
type scanFn struct {
	Job   job
	Round round
}

// ProcessElement scans one shard into its part file.
func (f *scanFn) ProcessElement(ctx context.Context, shard int) (Piece, error) {
	return f.Job.scanShard(ctx, f.Round, shard, "")
}

// profiledScanFn is the step that scans shards with the help of the profile of all shards.
type profiledScanFn struct{ Job job }

// ProcessElement scans one shard into its part file. profile is the file of the profile, passed as a side input.
func (f *profiledScanFn) ProcessElement(ctx context.Context, shard int, profile string) (Piece, error) {
	return f.Job.scanShard(ctx, profiledRound, shard, profile)
}

func (j *job) scanShard(ctx context.Context, r round, shard int, profile string) (Piece, error) {
	done, err := runInTurn(ctx, func() (*ufs.Gathered, error) {
		if err := makeParentFolder(j.partName(r, shard)); err != nil {
			return nil, err
		}
		q := ufs.ScanRequest{Request: j.newLimitedRequest(), Shard: fmt.Sprintf("%d/%d", shard, j.Shards), Profile: profile}
		q.Input.Plan, q.Output = j.Plan, j.partName(r, shard)
		if r == profileRound {
			q.ProfileOnly, q.KeepRows = true, j.SampleRows
		}
		return ufs.Scan(ctx, q)
	})
	shardName := fmt.Sprintf("%s of shard %d of %d", r, shard, j.Shards)
	if err != nil {
		code := exit.CodeOf(err)
		text := shardName + ": " + errorLine(err)
		if r == statisticsRound && strings.Contains(text, "--profile-only") {
			text += "; this program does both with --profile-round"
		}
		if isPermanent(code) {
			log.Errorf(ctx, "%s (exit code %d: no other try would help)", text, code)
			return Piece{Number: shard, Code: code, Failed: []string{text}}, nil
		}
		return Piece{}, &failure{code, text}
	}
	for _, warning := range done.Warnings {
		log.Warnf(ctx, "%s: %s", shardName, warning)
	}
	count, what := partsScanned, "scanned into"
	if done.There {
		count, what = partsFound, "there already in"
	}
	beam.NewCounter(metricsNamespace, count).Inc(ctx, 1)
	log.Infof(ctx, "%s: %s %s", shardName, what, done.Path)
	return Piece{Number: shard, Name: j.partName(r, shard)}, nil
}

// Beam's counters of a job, as its runner shows them.
const (
	metricsNamespace = "ufs-beam"
	partsScanned     = "parts scanned"
	partsFound       = "parts that were there"
)

// turnToken lets one scan or merge at a time run in a worker process, even if the runner assigns several bundles to the
// process. One scan uses all permitted cores. The limits of memory and threads apply to the whole process (see package
// ufs). So turnToken is a variable of the package, which the process has only once.
var turnToken = make(chan struct{}, 1)

func runInTurn[T any](ctx context.Context, work func() (T, error)) (done T, err error) {
	select {
	case turnToken <- struct{}{}:
	case <-ctx.Done():
		return done, context.Cause(ctx)
	}
	defer func() { <-turnToken }()
	return work()
}
