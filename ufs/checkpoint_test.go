package ufs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
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
	outOfCore := Request{Inputs: []string{noiseFile(t, 1600, 1500, 4)}, Method: "greedy", K: 4}
	outOfCore.Memory = must.Get(Plan(t.Context(), outOfCore))(t).Memory.Smallest
	for name, c := range map[string]struct {
		q           Request
		first, step int64
		midway      int // interruptions that something was saved by, at least
	}{
		"one pass":    {Request{Inputs: []string{narrow}, Method: "greedy", K: 3}, 5, 7, 2},
		"two passes":  {Request{Inputs: []string{narrow}, Method: "graphgreedy", K: 3, Options: method.Settings{"anchors": 40}}, 5, 9, 2},
		"ranks":       {Request{Inputs: []string{narrow}, Method: "graphgreedy", K: 3, Scale: "rank", Options: method.Settings{"anchors": 40}}, 5, 9, 2},
		"excluded":    {Request{Inputs: []string{narrow}, Method: "graphgreedy", K: 3, AutoExclude: true, Options: method.Settings{"anchors": 40}}, 5, 9, 3},
		"factor":      {Request{Inputs: []string{noiseFile(t, 60, 500, 3)}, Method: "greedy", K: 3}, 3, 3, 1},
		"out of core": {outOfCore, 40, 40, 2},
	} {
		t.Run(name, func(t *testing.T) {
			want := answerOf(t, selected(t, c.q))
			q := c.q
			q.Checkpoint, q.CheckpointEvery = filepath.Join(t.TempDir(), "state"), 1
			said, midway := 0, 0
			q.Say = func(text stream.Text) {
				if strings.Contains(text.String(), "going on from "+q.Checkpoint) {
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
					t.Fatal(err)
				}
				if saved := (*Interrupted)(nil); errors.As(err, &saved) {
					midway++
				}
			}
			if midway < c.midway || said < midway {
				t.Errorf("%d interruptions with something saved, %d times said to go on", midway, said)
			}
			must.Do(t, Forget(q))
			if _, err := os.Stat(q.Checkpoint); err == nil && len(must.Get(os.ReadDir(q.Checkpoint))(t)) > 0 {
				t.Error("Forget leaves something")
			}
		})
	}
}
