package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// job is what a worker has to know: it travels inside the pipeline, as part of its steps. The
// worker's own flags are Beam's.
type job struct {
	Plan   string // the plan file: absolute, or a URL
	Shards int
	Parts  string   // folder of the parts: absolute, or a URL
	Output string   // absolute, or a URL
	Allow  []string // prefixes of places that the plan may name: absolute, or URLs

	Threads    int
	Memory     int64
	TempDir    string
	MaxScratch int64
	SampleRows int64 // for methods that iterate over rows
}

// A round is one pass of all shards over their rows, named as the folder of its parts is.
type round string

const (
	profileRound    round = "profile"
	statisticsRound round = "statistics" // without a profile
	profiledRound   round = "profiled"   // statistics by the profile of all shards
)

// String is what a round makes.
func (r round) String() string {
	if r == profileRound {
		return "profile"
	}
	return "statistics"
}

// validate names every fault of what the user gave at once.
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

// makePathsAbsolute makes local paths absolute: workers have working directories of their own.
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
		whole, err := place.FromRoot(prefix)
		if err != nil {
			return err
		}
		j.Allow[i] = whole
	}
	return nil
}

// partName is the file of one shard's part. Rounds have folders of their own, so that either can
// be merged by hand.
func (j *job) partName(r round, shard int) string {
	return place.Below(j.Parts, string(r)+"/"+numberedName("part", shard, j.Shards))
}

// groupName is the file of the first merge of some neighbouring parts.
func (j *job) groupName(r round, group int) string {
	return place.Below(j.Parts, string(r)+"/groups/"+numberedName("group", group, j.groupCount()))
}

// numberedName is a file name that sorts as the numbers do; parts are called as scan calls them.
func numberedName(what string, n, of int) string {
	digits := max(5, len(fmt.Sprint(of)))
	return fmt.Sprintf("%s-%0*d-of-%0*d.ufs", what, digits, n, digits, of)
}

// profileName is the file of the merged profile.
func (j *job) profileName() string { return place.Below(j.Parts, string(profileRound)+".ufs") }

// groupWidth is how many parts are merged at once on the first level, about the square root of all, so
// that either level merges about as many. It depends on the number of shards alone: the order of
// additions, and with it every bit of the result, is that of the job and not of the runner.
func (j *job) groupWidth() int { return int(math.Ceil(math.Sqrt(float64(j.Shards)))) }

// groupCount is how many files the second level merges.
func (j *job) groupCount() int { return (j.Shards + j.groupWidth() - 1) / j.groupWidth() }

// groupOf is the group of a shard; both count from 1.
func (j *job) groupOf(shard int) int { return (shard-1)/j.groupWidth() + 1 }

// groupSize is how many shards a group has: the last one may have fewer than the others.
func (j *job) groupSize(group int) int { return min(j.groupWidth(), j.Shards-(group-1)*j.groupWidth()) }

// makeParentFolder makes the folder that a local file is to lie in. Stores have none.
func makeParentFolder(file string) error {
	if place.IsURL(file) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil { //nolint:gosec // as the umask says
		return &stream.OutputError{Path: file, Err: err}
	}
	return nil
}

// requestLimits is the part of every request that says what a run may use.
func (j *job) requestLimits() ufs.Request {
	return ufs.Request{Allow: j.Allow, Threads: j.Threads, Memory: j.Memory, TempDir: j.TempDir, MaxScratch: j.MaxScratch, Spelling: flagOf}
}
