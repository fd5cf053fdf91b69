package ufs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
)

// looked is a context that ends when it was looked at so often.
type looked struct {
	context.Context
	left   atomic.Int64
	cancel context.CancelFunc
}

func lookedAt(t *testing.T, times int64) *looked {
	l := new(looked)
	l.Context, l.cancel = context.WithCancel(t.Context())
	t.Cleanup(l.cancel)
	l.left.Store(times)
	return l
}

func (l *looked) Err() error {
	if l.left.Add(-1) < 0 {
		l.cancel()
	}
	return l.Context.Err()
}

// TestSelectGoesOn: a selection that is interrupted again and again, later and later, and goes on each time, is that
// of a run without interruption to the last bit, and leaves nothing in its folder that Forget does not remove.
func TestSelectGoesOn(t *testing.T) {
	narrow := noiseFile(t, 4000, 30, 8)
	outOfCore := Request{Input: Input{Paths: []string{noiseFile(t, 600, 600, 4)}}, Choice: Choice{Method: "greedy", K: 4}}
	outOfCore.Limits.Memory = must.Get(Plan(t.Context(), outOfCore))(t).Memory.Smallest
	if !must.Get(Plan(t.Context(), outOfCore))(t).Memory.OutOfCore {
		t.Fatal("its matrix fits")
	}
	for name, c := range map[string]struct {
		q           Request
		first, step int64
		midway      int // interruptions that something was saved by, at least
	}{
		"one pass":    {Request{Input: Input{Paths: []string{narrow}}, Choice: Choice{Method: "greedy", K: 3}}, 5, 7, 2},
		"two passes":  {Request{Input: Input{Paths: []string{narrow}}, Choice: Choice{Method: "graphgreedy", K: 3, Options: method.Settings{"anchors": 40}}}, 5, 9, 2},
		"ranks":       {Request{Input: Input{Paths: []string{narrow}}, Choice: Choice{Method: "graphgreedy", K: 3, Scale: "rank", Options: method.Settings{"anchors": 40}}}, 5, 9, 2},
		"scaled rows": {Request{Input: Input{Paths: []string{narrow}}, Choice: Choice{Method: "graphgreedy", K: 3, Options: method.Settings{"anchors": 40}}, Columns: Columns{RowScale: "tfidf"}}, 8, 9, 2},
		"excluded":    {Request{Input: Input{Paths: []string{narrow}}, Choice: Choice{Method: "graphgreedy", K: 3, Options: method.Settings{"anchors": 40}}, Columns: Columns{AutoExclude: true}}, 5, 9, 3},
		"factor":      {Request{Input: Input{Paths: []string{noiseFile(t, 60, 500, 3)}}, Choice: Choice{Method: "greedy", K: 3}}, 3, 3, 1},
		"out of core": {outOfCore, 10, 10, 2},
	} {
		t.Run(name, func(t *testing.T) {
			want := answerOf(t, selected(t, c.q))
			q := c.q
			q.Checkpoint.Folder, q.Checkpoint.Every = filepath.Join(t.TempDir(), "state"), 1
			said, midway := 0, 0
			q.Hooks.Say = func(text stream.Text) {
				if strings.Contains(text.String(), "continuing from "+q.Checkpoint.Folder) {
					said++
				}
			}
			for times := c.first; ; times += c.step + times/2 {
				s, err := Select(lookedAt(t, times), q)
				if err == nil {
					if got := answerOf(t, s); got != want {
						t.Errorf("resumed:\n%s, want\n%s", got, want)
					}
					break
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("the stopped run failed with %v, want a cancelled context", err)
				}
				if saved := (*Interrupted)(nil); errors.As(err, &saved) {
					midway++
				}
			}
			if midway < c.midway || said < midway {
				t.Errorf("%d interruptions with something saved, %d times said to go on", midway, said)
			}
			must.Do(t, Forget(q))
			if _, err := os.Stat(q.Checkpoint.Folder); err == nil && len(must.Get(os.ReadDir(q.Checkpoint.Folder))(t)) > 0 {
				t.Error("Forget leaves something")
			}
		})
	}
}

// TestAutoCheckpoint: a run that is predicted to be long saves its progress next to the output. The same run
// resumes from there, whatever its new prediction; another run removes it, reports that and starts anew; Forget
// removes the folder. A short run, a run without an output file and a run with NoCheckpoint make none.
func TestAutoCheckpoint(t *testing.T) {
	file := noiseFile(t, 4000, 30, 8)
	folder := t.TempDir()
	var said []string
	q := Request{Input: Input{Paths: []string{file}}, Choice: Choice{Method: "greedy", K: 3}, Checkpoint: Checkpoint{Folder: AutoCheckpoint, Every: 1}, Output: filepath.Join(folder, "s.json"), Hooks: Hooks{Say: func(text stream.Text) { said = append(said, text.String()) }}}
	beside := q.Output + ".checkpoint"
	want, none := answerOf(t, selected(t, q)), q
	none.Checkpoint.Folder, none.Checkpoint.LongRun = NoCheckpoint, 1
	selected(t, none)
	none.Checkpoint.Folder, none.Output = AutoCheckpoint, "-"
	selected(t, none)
	if left := must.Get(os.ReadDir(folder))(t); len(left) > 0 || said != nil {
		t.Fatalf("%v, said %q", left, said)
	}
	long := q
	long.Checkpoint.LongRun = 1
	_, err := Select(lookedAt(t, 40), long)
	if saved := (*Interrupted)(nil); !errors.As(err, &saved) || saved.Checkpoint != beside {
		t.Fatalf("a run stopped halfway: %v, want an Interrupted with the checkpoint %s", err, beside)
	}
	if got := answerOf(t, selected(t, q)); got != want {
		t.Errorf("gone on:\n%s, want\n%s", got, want)
	}
	if len(said) != 1 || !strings.Contains(said[0], "continuing from "+beside+" at row") {
		t.Errorf("said %q", said)
	}
	other := q
	other.Columns.Exclude, said = []string{"px_0_0"}, nil
	if got, want := answerOf(t, selected(t, other)), answerOf(t, selected(t, Request{Input: Input{Paths: q.Input.Paths}, Choice: Choice{Method: "greedy", K: 3}, Columns: Columns{Exclude: other.Columns.Exclude}})); got != want {
		t.Errorf("another run:\n%s, want\n%s", got, want)
	}
	if len(said) != 1 || !strings.Contains(said[0], "feature 1 is px_1_0, and was px_0_0") {
		t.Errorf("said %q", said)
	}
	must.Do(t, Forget(q))
	if left := must.Get(os.ReadDir(folder))(t); len(left) > 0 {
		t.Errorf("Forget leaves %v", left)
	}
}

// TestPredicted: the prediction grows with rows and passes, and a sparse table counts as its entries only.
func TestPredicted(t *testing.T) {
	predicted := func(q Request) float64 {
		r := must.Get(settled.NewAttempts(t.Context(), q))(t)[0]
		ds := must.Get(settled.OpenDataset(t.Context(), q.Input.Paths, r.ReadOptions()))(t)
		defer ds.Close()
		return planning.PredictDuration(r, ds, must.Get(planning.SelectionPlanner(nil)(r, ds))(t)).Seconds()
	}
	small := Request{Input: Input{Paths: []string{noiseFile(t, 500, 30, 8)}}, Choice: Choice{Method: "greedy", K: 3}}
	large, twice := small, small
	large.Input.Paths, twice.Choice.Method = []string{noiseFile(t, 5000, 30, 8)}, "graphgreedy"
	if a, b, c := predicted(small), predicted(large), predicted(twice); !(a > 0 && b > a && c > a) {
		t.Errorf("%g s, of ten times the rows %g s, in two passes %g s", a, b, c)
	}
	rows := filepath.Join(t.TempDir(), "rows.svm")
	must.Do(t, os.WriteFile(rows, []byte(strings.Repeat("1 3:1 99999:2\n", 200_000)), 0o600))
	if s := predicted(Request{Input: Input{Paths: []string{rows}}, Choice: Choice{Method: "variance", K: 3}}); s > 30 {
		t.Errorf("400,000 values are predicted to take %g s", s)
	}
}

// TestPredictedIterations: a run over rows is predicted to take as long as its iterations may.
func TestPredictedIterations(t *testing.T) {
	file := noiseFile(t, 1000, 30, 8)
	predicted := func(most int) float64 {
		t.Helper()
		q := Request{Input: Input{Paths: []string{file}}, Choice: Choice{Method: "eufs", K: 3, Options: method.Settings{"max-iter": most, "sample": 0}}, Limits: Limits{Threads: 1}}
		r := must.Get(settled.NewRun(t.Context(), q))(t)
		ds := must.Get(settled.OpenDataset(t.Context(), r.Input.Paths, r.ReadOptions()))(t)
		defer ds.Close()
		return planning.PredictDuration(r, ds, must.Get(planning.SelectionPlanner(nil)(r, ds))(t)).Seconds()
	}
	few, many := predicted(10), predicted(1_000_010)
	if want := 1e6 * 1000 * 30 / planning.IteratedValuesPerSecond; math.Abs(many-few-want) > 1e-6*want {
		t.Errorf("%v s for a million iterations more, want %v", many-few, want)
	}
}

// TestSelectOfTextGoesOn: a checkpoint of text that was read in one way is none of a run that reads it in another.
func TestSelectOfTextGoesOn(t *testing.T) {
	var b strings.Builder
	b.WriteString("2001,2002,2003,2004\n")
	for i := range 60_000 {
		fmt.Fprintf(&b, "%d,%d,%d,%d\n", i*i%11, i*7%5, i*i%13, i*3%17)
	}
	file := filepath.Join(t.TempDir(), "y.csv")
	must.Do(t, os.WriteFile(file, []byte(b.String()), 0o666))
	q := Request{Input: Input{Paths: []string{file}}, Choice: Choice{Method: "greedy", K: 2}, Columns: Columns{Missing: "mean"}}
	for name, c := range map[string]struct {
		texts chunkio.TextOptions
		same  bool
	}{
		"as guessed": {chunkio.TextOptions{Header: "yes"}, true},
		"header":     {chunkio.TextOptions{Header: "no"}, false},
		"nulls":      {chunkio.TextOptions{Nulls: []string{"3"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			begun, saved := q, false
			begun.Checkpoint.Folder, begun.Checkpoint.Every = filepath.Join(t.TempDir(), "state"), 1
			for times := int64(5); !saved; times += 3 {
				_, err := Select(lookedAt(t, times), begun)
				if err == nil {
					t.Fatal("it ended before anything was saved")
				}
				saved = errors.As(err, new(*Interrupted))
			}
			other, said := q, ""
			other.Input.Texts = c.texts
			want := answerOf(t, selected(t, other))
			other.Checkpoint.Folder, other.Checkpoint.Every = begun.Checkpoint.Folder, 1
			other.Hooks.Say = func(text stream.Text) { said += text.String() }
			s, err := Select(t.Context(), other)
			switch {
			case err != nil && c.same, err == nil && strings.Contains(said, "continuing from") != c.same:
				t.Errorf("it goes on: want %v, said %q, %v", c.same, said, err)
			case err == nil && answerOf(t, s) != want:
				t.Errorf("resumed:\n%s, want\n%s", answerOf(t, s), want)
			}
			t.Log(said, err)
		})
	}
}
