package ufs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
)

// TestEvalGoesOn: wherever eval is interrupted while it selects again, the same request resumes after the
// finished selections, and its result equals an uninterrupted one to the last bit.
func TestEvalGoesOn(t *testing.T) {
	path := sensors(t)
	var selections []NamedSelection
	for _, method := range []string{"variance", "greedy"} { // sample by sample, and by shards of one
		selections = append(selections, NamedSelection{Name: "by " + method, Path: method, Selection: selected(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: method, K: 3}})})
	}
	said := 0 // that a run goes on behind some
	state := filepath.Join(t.TempDir(), "state")
	o := EvalRequest{Input: Input{Paths: []string{path}}, Selections: selections, Resamples: 4, Limits: Limits{Threads: 1}}
	want := must.Get(Eval(t.Context(), o))(t)
	o.Checkpoint.Folder, o.Checkpoint.Every = state, 1
	o.Hooks.Say = func(text stream.Text) {
		if s := text.String(); strings.Contains(s, "continuing from "+state+":") && !strings.HasSuffix(s, " 0 are made") {
			said++
		}
	}
	var got *stream.Evaluation
	for looks, broken := int64(1), 0; got == nil; looks += 7 {
		e, err := Eval(lookedAt(t, looks), o)
		switch saved, ok := errors.AsType[*Interrupted](err); {
		case err == nil && broken < 2:
			t.Fatalf("%d runs were broken off behind a selection: the test does not test", broken)
		case err == nil:
			got = e
		case !errors.Is(err, context.Canceled):
			t.Fatalf("the stopped run failed with %v, want a cancelled context", err)
		case ok && saved.Checkpoint != state:
			t.Errorf("saved in %s", saved.Checkpoint)
		case ok:
			broken++
		}
	}
	if said == 0 {
		t.Error("no run has said that it goes on")
	}
	for i, r := range want.Results {
		a, b := r.Stability, got.Results[i].Stability
		if (a == nil) != (b == nil) || a != nil && *a != *b {
			t.Errorf("%s: stability %+v, uninterrupted %+v", r.Name, b, a)
		}
	}
	o.Seed = 3
	if _, err := Eval(t.Context(), o); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), "seed") {
		t.Errorf("another seed goes on: %v", err)
	}
	must.Do(t, o.Forget())
	if left, err := os.ReadDir(state); err == nil && len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestEvalCheckpointRefuses: a checkpoint of other files or other selections is refused by name, and so is the
// checkpoint of an active run.
func TestEvalCheckpointRefuses(t *testing.T) {
	path := sensors(t)
	s := selected(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "variance", K: 3}})
	o := EvalRequest{Input: Input{Paths: []string{path}}, Selections: []NamedSelection{{Path: "a.json", Selection: s}}, Resamples: 2, Checkpoint: Checkpoint{Folder: t.TempDir(), Every: 1}}
	must.Get(Eval(t.Context(), o))(t)
	must.Get(Eval(t.Context(), o))(t) // which goes on, and finds all of it there
	other := o
	other.Selections = []NamedSelection{{Path: "a.json", Selection: selected(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "variance", K: 2}})}}
	longer := filepath.Join(t.TempDir(), filepath.Base(path))
	must.Do(t, os.WriteFile(longer, must.Get(os.ReadFile(path))(t), 0o600))
	moved := o
	moved.Input.Paths = []string{longer}
	reread := o
	reread.Input.Texts.Nulls = []string{"-999"}
	for says, o := range map[string]EvalRequest{"null-values is -999, and was not given": reread, "the content of a.json is": other, "input 1 is " + longer + ", and was " + path: moved} {
		if _, err := Eval(t.Context(), o); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
	beside := o
	beside.Output, beside.Checkpoint.Folder, beside.Checkpoint.LongRun = filepath.Join(t.TempDir(), "e.json"), AutoCheckpoint, 0
	must.Get(Eval(t.Context(), beside))(t)
	if _, err := os.Stat(beside.Output + settled.CheckpointSuffix); err == nil {
		t.Error("a short run has a checkpoint that nobody asked for")
	}
	beside.Checkpoint.LongRun = 1
	must.Get(Eval(t.Context(), beside))(t)
	beside.Checkpoint.LongRun = 0 // which does not matter where a run has left something
	for i, c := range []struct {
		s    NamedSelection
		says string
	}{{o.Selections[0], "2 selections from samples 2 are made"}, {other.Selections[0], "it is removed, and this run begins anew"}} {
		var said []string
		beside.Selections, beside.Hooks.Say = []NamedSelection{c.s}, func(text stream.Text) { said = append(said, text.String()) }
		must.Get(Eval(t.Context(), beside))(t)
		if all := strings.Join(said, "\n"); !strings.Contains(all, c.says) {
			t.Errorf("beside the output, run %d says %q, want %q", i, all, c.says)
		}
	}
	must.Do(t, beside.Forget())
	if _, err := os.Stat(beside.Output + settled.CheckpointSuffix); err == nil {
		t.Error("the folder beside the output is left")
	}
	log := must.Get(filepath.Glob(filepath.Join(o.Checkpoint.Folder, "*"+resume.Suffix)))(t)[0]
	text := must.Get(os.ReadFile(log))(t)
	text[len(text)-9] ^= 1
	must.Do(t, os.WriteFile(log, text, 0o600))
	var said []string
	o.Hooks.Say = func(text stream.Text) { said = append(said, text.String()) }
	must.Get(Eval(t.Context(), o))(t)
	if all := strings.Join(said, "\n"); !strings.Contains(all, log+" is damaged") || !strings.Contains(all, "2 selections from samples 1 are made") {
		t.Errorf("continued from a damaged log it says %q", said)
	}
	o.Resamples, o.Label = -1, ""
	if e := must.Get(Eval(t.Context(), o))(t); !strings.Contains(strings.Join(e.Warnings, " "), "nothing was saved") {
		t.Errorf("no word that there is nothing to save: %q", e.Warnings)
	}
}
