package tuning

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Runner runs verbs of ufs-stream, and keeps the output of every command.
type Runner struct {
	Shop    *workshop.Workshop
	folder  string
	program string                   // digest of ufs-stream
	costs   map[string]workshop.Cost // by the file of the output
}

// NewRunner returns a runner that keeps outputs in folder, or in the workshop if folder is "".
func NewRunner(shop *workshop.Workshop, folder string) (*Runner, error) {
	program, err := os.ReadFile(shop.Program)
	if err != nil {
		return nil, err
	}
	if folder == "" {
		folder = shop.Dir
	}
	return &Runner{shop, folder, hashText(string(program)), make(map[string]workshop.Cost)}, nil
}

// KeptPath returns the path of a file in the folder of the kept outputs.
func (r *Runner) KeptPath(name string) string { return filepath.Join(r.folder, name) }

// TotalCost returns the number of commands so far, and the sums of their times, also if their outputs were kept from
// before.
func (r *Runner) TotalCost() (commands int, total workshop.Cost) {
	for _, c := range r.costs {
		total.Wall, total.CPU = total.Wall+c.Wall, total.CPU+c.CPU
	}
	return len(r.costs), total
}

// Set is a dataset, and the flags with which the verbs read it.
type Set struct {
	Title, Input, Label string
	Counts              []int    // numbers of features, ascending
	Flags               []string // flags of all verbs
	SelectFlags         []string // more flags of select and path
	JudgeFlags          []string // more flags of eval
	ChoiceFlags         []string // more flags of eval if it judges settings to choose from, after JudgeFlags
	Seed                uint64
	Threads             int
}

func (s Set) commonFlags(k int, seed uint64) []string {
	return slices.Concat([]string{s.Input, "--label", s.Label, "-k", strconv.Itoa(k)}, s.Flags,
		[]string{"--seed", strconv.FormatUint(seed, 10), "--threads", strconv.Itoa(s.Threads)})
}

// finishedRun is a kept file: the output and the cost of a command that has ended.
type finishedRun[T any] struct {
	Command string
	Cost    workshop.Cost
	Output  T
}

// runOnce returns the output and the cost of a verb of ufs-stream. It calls run only if the folder has no file of the
// same command, by the same program, on an input of the same size and time. The first of args is the input.
func runOnce[T any](ctx context.Context, r *Runner, verb string, args []string, run func(*T) (workshop.Cost, error)) (*T, workshop.Cost, error) {
	input, err := os.Stat(args[0])
	if err != nil {
		return nil, workshop.Cost{}, err
	}
	command := verb + " " + strings.Join(args, " ")
	key := hashText(fmt.Sprint(r.program, command, input.Size(), input.ModTime().UnixNano()))
	path := r.KeptPath(verb + "-" + key + ".json")
	done := new(finishedRun[T])
	if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, done) == nil {
		r.costs[path] = done.Cost
		return &done.Output, done.Cost, nil
	}
	done.Command = command
	if done.Cost, err = run(&done.Output); err != nil {
		return nil, done.Cost, err
	}
	r.costs[path] = done.Cost
	text, err := json.Marshal(done)
	if err != nil {
		return nil, done.Cost, err
	}
	return &done.Output, done.Cost, results.WriteFile(ctx, path, nil, text)
}

// SelectFeatures selects k features of a set by select with flags, and returns the file of the selection.
func (r *Runner) SelectFeatures(ctx context.Context, s Set, k int, seed uint64, flags []string) (file string, sel *stream.Selection, took workshop.Cost, err error) {
	args := slices.Concat(s.commonFlags(k, seed), s.SelectFlags, flags)
	sel, took, err = runOnce(ctx, r, "select", args, func(sel *stream.Selection) (workshop.Cost, error) {
		made, took, err := r.Shop.RunSelect(ctx, args...)
		*sel = *made
		sel.Columns, sel.Scores, sel.Trace = nil, nil, nil // as long as the table is wide, and not needed
		return took, err
	})
	switch {
	case err != nil:
	case len(sel.Selected) < k:
		err = fmt.Errorf("selected %d features of %d: %s", len(sel.Selected), k, strings.Join(sel.Warnings, "; "))
	case sel.IsDecidedByTies():
		err = fmt.Errorf("all %d selected features have equal scores, so column order decided: this is no result of the method", k)
	default:
		file, err = r.writeSelection(ctx, sel)
	}
	return file, sel, took, err
}

// JudgeSelections runs eval with the flags of the set and more flags. It judges the first k features of selections, each
// given as NAME=FILE, and baselines.
func (r *Runner) JudgeSelections(ctx context.Context, s Set, k int, seed uint64, moreFlags, selections, baselines []string) (*stream.Evaluation, error) {
	if baselines == nil {
		baselines = []string{"none"}
	}
	args := slices.Concat(s.commonFlags(k, seed), s.JudgeFlags, moreFlags, []string{"--baselines", strings.Join(baselines, ",")})
	for _, selection := range selections {
		args = append(args, "--selection", selection)
	}
	e, _, err := runOnce(ctx, r, "eval", args, func(e *stream.Evaluation) (workshop.Cost, error) { return r.Shop.RunJSON(ctx, e, "eval", args...) })
	return e, err
}

// writeSelection writes a selection to a file that is named by its features. So equal commands read equal selections.
func (r *Runner) writeSelection(ctx context.Context, sel *stream.Selection) (string, error) {
	var names []string
	for _, f := range sel.Selected {
		names = append(names, f.Name)
	}
	path := r.KeptPath("selection-" + hashText(fmt.Sprintf("%q", names)) + ".json")
	var text bytes.Buffer
	if err := sel.Encode(&text); err != nil {
		return "", err
	}
	return path, results.WriteFile(ctx, path, nil, text.Bytes())
}

func hashText(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:20] }
