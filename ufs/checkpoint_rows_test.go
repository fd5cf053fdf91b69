package ufs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// interrupted makes the run of a request and interrupts it in its fourth iteration.
func interrupted(t *testing.T, q Request) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	q.Hooks.Progress = func(p Progress) {
		if strings.HasPrefix(p.What, "iteration 4") {
			cancel()
		}
	}
	_, err := Select(ctx, q)
	return err
}

// TestRowsGoOn: a method over rows that is interrupted saves its iteration, in memory and out of core. It
// resumes at the iteration that it reports, and selects the same as an uninterrupted run, with as many passes.
func TestRowsGoOn(t *testing.T) {
	many, few := faces(22_000, 24, 3).rounded().write(t), faces(1000, 24, 3).rounded().write(t)
	for name, options := range map[string]method.Settings{
		"eufs": {"clusters": 3, "max-iter": 5, "sample": 0, "graph": "anchor", "anchors": 20}, "hufs": {"clusters": 3, "max-iter": 5, "sample": 0, "tree": "image"},
		"cpufs": {"clusters": 3, "max-iter": 5, "sample": 0, "graph": "anchor", "anchors": 20},
		"rufs":  {"clusters": 3, "max-iter": 5, "sample": 200}, "rsfs": {"clusters": 3, "max-iter": 5, "tol": 1e-15},
		"sogfs": {"clusters": 3, "max-iter": 5, "tol": 1e-15, "sample": 200}, "udfs": {"clusters": 3, "max-iter": 30, "sample": 200, "tol": 1e-15},
	} {
		q := Request{Input: Input{Paths: []string{few}}, Choice: Choice{Method: name, K: 4, Options: options}, Limits: Limits{Threads: 2}}
		if name == "eufs" { // in scratch files only where there are more
			q.Input.Paths = []string{many}
		}
		want := selected(t, q)
		plan := must.Get(Plan(t.Context(), q))(t).Memory
		if outOfCore := plan.Smallest < plan.InMemory; outOfCore != (name == "eufs" || name == "cpufs") {
			t.Errorf("%s has other ways than in memory: %t", name, outOfCore)
		}
		for _, limit := range []int64{0, plan.Smallest} {
			if limit > 0 && limit >= plan.InMemory {
				continue // it has no other way
			}
			q.Limits.Memory = limit
			if limit > 0 && name == "cpufs" { // which reads again and again
				want = selected(t, q)
			}
			var said []string
			q.Hooks.Say = func(text stream.Text) { said = append(said, text.String()) }
			q.Checkpoint.Folder = filepath.Join(t.TempDir(), "state")
			saved := new(Interrupted)
			if err := interrupted(t, q); !errors.As(err, &saved) || saved.Checkpoint != q.Checkpoint.Folder || !errors.Is(err, context.Canceled) {
				t.Fatalf("%s in %d bytes: interrupted: %v", name, limit, err)
			}
			other := q
			other.Choice.Seed = 5
			if _, err := Select(t.Context(), other); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), "seed is 5, and was 1") {
				t.Errorf("%s with another seed: %v", name, err)
			}
			got := selected(t, q)
			if answerOf(t, got) != answerOf(t, want) {
				t.Errorf("%s in %d bytes goes on to\n%s\nwant\n%s", name, limit, answerOf(t, got), answerOf(t, want))
			}
			if last := said[len(said)-1]; !strings.Contains(last, "at iteration ") {
				t.Errorf("%s says %q", name, said)
			}
			if err := Forget(q); err != nil {
				t.Errorf("%s: removing the checkpoint: %v", name, err)
			}
			if left := must.Get(os.ReadDir(q.Checkpoint.Folder))(t); len(left) > 0 {
				t.Errorf("%s leaves %v", name, left)
			}
		}
	}
}

// TestRowsScratchIsCountedTwice: data that each iteration rewrites are stored twice in a run with a checkpoint,
// and the bound on scratch covers both.
func TestRowsScratchIsCountedTwice(t *testing.T) {
	q := Request{Input: Input{Paths: []string{faces(30_000, 24, 3).rounded().write(t)}}, Choice: Choice{Method: "eufs", K: 4, Options: method.Settings{"clusters": 3, "max-iter": 2, "sample": 0}}}
	q.Limits.Memory = must.Get(Plan(t.Context(), q))(t).Memory.Smallest
	plain := must.Get(Plan(t.Context(), q))(t).Scratch
	q.Checkpoint.Folder = filepath.Join(t.TempDir(), "state")
	kept := must.Get(Plan(t.Context(), q))(t).Scratch
	if more := int64(30_000 * (8*24 + 8*(4*3+1))); kept-plain != more { // M, and the state of the rows
		t.Errorf("%d bytes of scratch, %d with a checkpoint: %d more, want %d", plain, kept, kept-plain, more)
	}
	q.Limits.MaxScratch = kept - 1
	var limit *stream.MemoryError
	if _, err := Select(t.Context(), q); !errors.As(err, &limit) || limit.Need != kept {
		t.Errorf("a byte less than the plan's: %v", err)
	}
	q.Limits.MaxScratch = kept
	if s := selected(t, q); s.Memory.Scratch > kept {
		t.Errorf("%d bytes were taken of %d", s.Memory.Scratch, kept)
	}
}
