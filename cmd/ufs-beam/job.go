package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// job holds the settings that a worker needs. They are part of the pipeline, because a worker only has Beam's flags.
type job struct {
	Plan   string // the plan file: absolute, or a URL
	Shards int
	Parts  string   // folder of the part files: absolute, or a URL
	Output string   // absolute, or a URL
	Allow  []string // prefixes of places that the plan may refer to: absolute paths, or URLs

	Threads    int
	Memory     int64
	TempDir    string
	MaxScratch int64
	SampleRows int64 // number of rows to store in a profile, for methods that iterate over rows
}

// A round is one pass of all shards over their rows. The name of the round is also the folder of its part files.
type round string

const (
	profileRound    round = "profile"
	statisticsRound round = "statistics" // if no profile is needed
	profiledRound   round = "profiled"   // statistics, computed with the help of a profile of all shards
)

// String returns the name of the result of a round, for messages.
func (r round) String() string {
	if r == profileRound {
		return "profile"
	}
	return "statistics"
}

func (j *job) validate() error {
	var faults []string
	for _, flag := range []struct{ name, value string }{{"plan", j.Plan}, {"parts", j.Parts}, {"output", j.Output}} {
		if flag.value == "" {
			faults = append(faults, fmt.Sprintf("no --%s", flag.name))
		}
	}
	if j.Shards < 1 {
		faults = append(faults, fmt.Sprintf("--shards %d: want 1 or more", j.Shards))
	}
	if j.Threads < 0 {
		faults = append(faults, fmt.Sprintf("--threads %d: want 0 (one a core) or more", j.Threads))
	}
	if j.SampleRows < 0 {
		faults = append(faults, fmt.Sprintf("--sample-rows %d: want 1 or more", j.SampleRows))
	}
	if len(faults) > 0 {
		return stream.Usagef("%s; --help shows the flags", joinTexts(faults))
	}
	return nil
}

func (j *job) makePathsAbsolute() error {
	for _, path := range []*string{&j.Plan, &j.Parts, &j.Output} {
		if place.IsURL(*path) {
			continue
		}
		whole, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = whole
	}
	for i, prefix := range j.Allow {
		whole, err := place.AbsolutePath(prefix)
		if err != nil {
			return err
		}
		j.Allow[i] = whole
	}
	return nil
}

// partName returns the file name of one shard's part. Each round has its own folder, so that its parts can also be
// merged by hand.
func (j *job) partName(r round, shard int) string {
	return place.JoinBelow(j.Parts, string(r)+"/"+numberedName("part", shard, j.Shards))
}

func (j *job) groupName(r round, group int) string {
	return place.JoinBelow(j.Parts, string(r)+"/groups/"+numberedName("group", group, j.groupCount()))
}

// numberedName returns a file name with leading zeros, so that names are sorted by number. The verb scan of ufs-stream
// gives part files the same names.
func numberedName(what string, n, of int) string {
	digits := max(5, len(fmt.Sprint(of)))
	return fmt.Sprintf("%s-%0*d-of-%0*d.ufs", what, digits, n, digits, of)
}

func (j *job) profileName() string { return place.JoinBelow(j.Parts, string(profileRound)+".ufs") }

// groupWidth returns the number of parts that the first level merges into one file. It is about the square root of the
// number of all parts, so that both levels merge about equally many files. It depends only on the number of shards. So
// the order of additions, and every bit of the result, is the same on any runner.
func (j *job) groupWidth() int { return int(math.Ceil(math.Sqrt(float64(j.Shards)))) }

func (j *job) groupCount() int { return (j.Shards + j.groupWidth() - 1) / j.groupWidth() }

// groupOf returns the number of the group of a shard. Both numbers count from 1.
func (j *job) groupOf(shard int) int { return (shard-1)/j.groupWidth() + 1 }

// groupSize returns the number of shards in a group. The last group may be smaller than the others.
func (j *job) groupSize(group int) int { return min(j.groupWidth(), j.Shards-(group-1)*j.groupWidth()) }

func makeParentFolder(file string) error {
	if place.IsURL(file) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil { //nolint:gosec // as the umask says
		return &stream.OutputError{Path: file, Err: err}
	}
	return nil
}

func (j *job) newLimitedRequest() ufs.Request {
	return ufs.Request{
		Input:  ufs.Input{Allow: j.Allow},
		Limits: ufs.Limits{Threads: j.Threads, Memory: j.Memory, TempDir: j.TempDir, MaxScratch: j.MaxScratch},
		Hooks:  ufs.Hooks{Spelling: flagOf},
	}
}

// maxRemovals is the number of objects that are removed at the same time. A store needs about 50 ms for each of up to
// 10,000.
const maxRemovals = 16

// removeParts removes all files that the job made except its output. It does not remove other files in the folders.
func (j *job) removeParts(ctx context.Context, rounds []round) error {
	client := store.New(store.Options{})
	var mu sync.Mutex
	var failed []error
	var g errgroup.Group
	g.SetLimit(maxRemovals)
	for _, name := range j.partFiles(rounds) {
		g.Go(func() error {
			if err := removeFile(ctx, client, name); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, err)
			}
			return nil
		})
	}
	_ = g.Wait() // failed holds all errors
	if len(failed) > 0 {
		return &stream.OutputError{Path: place.DisplayName(j.Parts), Remedy: stream.PlainText("the statistics are complete: remove the parts by hand"),
			Err: stream.Errorf("%d part files could not be removed: %w", len(failed), failed[0])}
	}
	for _, r := range rounds {
		for _, folder := range []string{"/groups", ""} {
			if name := place.JoinBelow(j.Parts, string(r)+folder); !place.IsURL(name) {
				_ = os.Remove(name) // fails if the folder contains other files
			}
		}
	}
	return nil
}

func (j *job) partFiles(rounds []round) (names []string) {
	for _, r := range rounds {
		for shard := range j.Shards {
			names = append(names, j.partName(r, shard+1))
		}
		for group := range j.groupCount() {
			names = append(names, j.groupName(r, group+1))
		}
	}
	if len(rounds) > 1 {
		names = append(names, j.profileName())
	}
	return names
}

func removeFile(ctx context.Context, client *store.Client, name string) error {
	if place.IsURL(name) {
		l, err := store.Parse(name)
		if err != nil {
			return err
		}
		return client.Delete(ctx, l)
	}
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
