package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// groupFn is the step that finds the group of a part.
type groupFn struct{ Job job }

// ProcessElement returns the number of the group of a piece, and the piece.
func (f *groupFn) ProcessElement(p Piece) (int, Piece) { return f.Job.groupOf(p.Number), p }

// groupMergeFn is the step that merges the parts of a group, the first level of merging.
type groupMergeFn struct {
	Job   job
	Round round
}

// ProcessElement merges the parts of one group. If some of these parts have faults, it passes the faults to the last
// level, which reports the faults of all groups together.
func (f *groupMergeFn) ProcessElement(ctx context.Context, group int, parts func(*Piece) bool) (Piece, error) {
	merged := Piece{Number: group, Name: f.Job.groupName(f.Round, group)}
	first := (group-1)*f.Job.groupWidth() + 1
	files, err := collectNames(&merged, parts, first, f.Job.groupSize(group))
	if err != nil || merged.Code != 0 {
		return merged, err
	}
	return merged, f.Job.mergeFiles(ctx, files, merged.Name, true)
}

// lastMergeFn is the step that merges the files of all groups, the second level of merging.
type lastMergeFn struct {
	Job    job
	Round  round
	Output string
}

// ProcessElement merges the files of all groups and returns the name of the result. If any shard had a fault, the job
// fails.
func (f *lastMergeFn) ProcessElement(ctx context.Context, _ int, groups func(*Piece) bool) (string, error) {
	all := Piece{Name: f.Output}
	files, err := collectNames(&all, groups, 1, f.Job.groupCount())
	if err != nil {
		return "", err
	}
	if all.Code != 0 {
		return "", &failure{all.Code, all.faultText()}
	}
	return f.Output, f.Job.mergeFiles(ctx, files, f.Output, false)
}

// collectNames returns the names of `count` pieces, with the numbers first, first+1 and so on. They are in the order of
// the numbers, so that merging gives the same sums on every runner. It adds the pieces' faults to the piece `whole`.
func collectNames(whole *Piece, pieces func(*Piece) bool, first, count int) ([]string, error) {
	var all []Piece
	for p := (Piece{}); pieces(&p); p = (Piece{}) {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Piece) int { return a.Number - b.Number })
	var files []string
	for i, p := range all {
		if i >= count || p.Number != first+i {
			break
		}
		files = append(files, p.Name)
		whole.addFaultsOf(p)
	}
	if len(files) != count || len(all) != count {
		return nil, &failure{exit.Fault, fmt.Sprintf("the runner passed on %d pieces for %s, not %d to %d once each",
			len(all), place.DisplayName(whole.Name), first, first+count-1)}
	}
	return files, nil
}

func (j *job) mergeFiles(ctx context.Context, files []string, output string, partial bool) error {
	done, err := runInTurn(ctx, func() (*ufs.Gathered, error) {
		if err := makeParentFolder(output); err != nil {
			return nil, err
		}
		return ufs.Merge(ctx, ufs.MergeRequest{Files: files, Partial: partial, Output: output, Limits: ufs.Limits{Threads: j.Threads, Memory: j.Memory}})
	})
	if err != nil {
		return &failure{exit.CodeOf(err), "merge into " + place.DisplayName(output) + ": " + errorLine(err)}
	}
	for _, warning := range done.Warnings {
		log.Warn(ctx, warning)
	}
	log.Infof(ctx, "merged %d files into %s", done.Merged, place.DisplayName(output))
	return nil
}

// Piece is passed from step to step. It contains the name of a part file or of a merged file. If the file cannot be
// made, the piece contains the reason in Failed. If the step returned an error instead, the runner would repeat it
// (Dataflow four times) before the job fails.
type Piece struct {
	Number int // number of the shard or of the group whose file this is
	Name   string

	Code   int      // exit code of the first fault; 0 if the file exists
	Failed []string // the first few faults, each with its shard
	More   int      // number of other faults
}

// maxFaultsShown is the largest number of faults that a job reports in full. Often all faults are equal.
const maxFaultsShown = 5

func (p *Piece) addFaultsOf(other Piece) {
	if other.Code == 0 {
		return
	}
	if p.Code == 0 {
		p.Code = other.Code
	}
	p.More += other.More
	for _, text := range other.Failed {
		if len(p.Failed) < maxFaultsShown {
			p.Failed = append(p.Failed, text)
		} else {
			p.More++
		}
	}
}

func (p *Piece) faultText() string {
	text := joinTexts(p.Failed)
	if p.More > 0 {
		text += fmt.Sprintf("; and %d more shards failed", p.More)
	}
	return text
}

func joinTexts(texts []string) string { return strings.Join(texts, "; ") }
