package ufs

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
)

// spoiled has a missing value in every third column: within row groups whose footers tell of none,
// as NaN is no null.
func (c columns) spoiled() columns {
	for j := 0; j < len(c.Cols); j += 3 {
		c.Cols[j][len(c.Cols[j])*2/3+j] = math.NaN()
	}
	return c
}

// rounded has whole numbers, which take fewer bytes than their type.
func (c columns) rounded() columns {
	for _, x := range c.Cols {
		for i, v := range x {
			x[i] = math.Round(10 * v)
		}
	}
	return c
}

// TestReadOnce: every method selects the same, with as many passes, whether passes read again or use data kept
// by an earlier one; with enough memory, all of them read once.
func TestReadOnce(t *testing.T) {
	whole, spoiled := faces(1000, 24, 3).rounded().write(t), faces(1000, 24, 3).rounded().spoiled().write(t)
	turn := 0
	each(t, func(t *testing.T, spec method.Spec, q Request) {
		turn++
		for i, c := range []struct{ path, missing, scale string }{
			{whole, "error", ""}, {spoiled, "mean", ""}, {spoiled, "drop-row", ""}, {whole, "error", "rank"}, {spoiled, "mean", "rank"},
		} {
			if !spec.Takes.Cells && !long.TakesCase(turn+i, 5) {
				continue // every method reads in some ways, and every way is read by some methods
			}
			if c.path == whole && c.scale == "rank" && !spec.Takes.Cells {
				continue // for those that the spoiled table is not for
			}
			q := q
			q.Input.Paths, q.Columns.Missing, q.Choice.Scale, q.Limits.Threads = []string{c.path}, c.missing, c.scale, 2
			f, err := Plan(t.Context(), q)
			if errors.As(err, new(*stream.UsageError)) || spec.Takes.Cells && c.path == spoiled {
				continue // not for this method
			}
			if err != nil {
				t.Fatalf("method %s: %v", spec.Name, err)
			}
			grows := spec.From.UsesRows() && c.missing == "mean" // the statistics, beside the rows
			once := bytesOfAPass(t, c.path)
			var results [3]string
			for i, limit := range []int64{f.Memory.InMemory, f.Memory.InMemory + planning.KeptMargin + planning.KeptSlack + 100<<10, 0} {
				notes := ""
				q.Limits.Memory, q.Hooks.Meter, q.Hooks.Note = limit, new(stream.Meter), func(n stream.Text) { notes += n.String() + "\n" }
				s := selected(t, q)
				keeps, reads := strings.Contains(notes, "keeps 8 row groups"), q.Hooks.Meter.Bytes.Load()
				if i == 2 && !grows && (keeps != (s.Passes > 1) || reads != once) {
					t.Errorf("%+v: %d passes read %d bytes, want %d: %q", c, s.Passes, reads, once, notes)
				}
				if keeps && grows {
					t.Errorf("%+v: rows are kept that the plan has not", c)
				}
				s.Timing, s.Memory = stream.Timing{}, stream.Memory{}
				results[i] = string(must.Get(json.Marshal(s))(t))
			}
			if results[0] != results[1] || results[0] != results[2] {
				t.Errorf("%+v: other results", c)
			}
		}
	})
}

// bytesOfAPass is the number of bytes that one pass over a file reads, with its footers.
func bytesOfAPass(t *testing.T, path string) int64 {
	t.Helper()
	q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", K: 4}, Columns: Columns{Missing: "mean"}, Hooks: Hooks{Meter: new(stream.Meter)}}
	if s := selected(t, q); s.Passes != 1 {
		t.Fatalf("%d passes", s.Passes)
	}
	return q.Hooks.Meter.Bytes.Load()
}

// TestReadOnceFitsThePlan: whatever the limit, the plan keeps to it, keeps no more than there is, and
// takes nothing from the other parts.
func TestReadOnceFitsThePlan(t *testing.T) {
	path := faces(20_000, 60, 3).write(t)
	all := int64(0)
	for _, missing := range []string{"error", "mean"} {
		for _, name := range []string{"sfufs", "greedy", "eufs"} {
			q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: name, Options: method.Settings{}}, Columns: Columns{Missing: missing}}
			smallest := must.Get(Plan(t.Context(), q))(t).Memory.Smallest
			for _, more := range []int64{0, planning.KeptMargin + planning.KeptSlack, planning.KeptMargin + planning.KeptSlack + 1<<20, planning.KeptMargin + planning.KeptSlack + 8<<20, 1 << 30} {
				q.Limits.Memory = smallest + more
				b := must.Get(Plan(t.Context(), q))(t).Memory
				if b.Peak > b.Limit || b.Program+b.Statistics+max(b.Reading+b.Kept+b.Slack, b.Solver) > b.Limit {
					t.Errorf("%s, %d more: %+v", name, more, b)
				}
				if name == "sfufs" && more > planning.KeptMargin+planning.KeptSlack && (b.Kept == 0 || b.KeptGroups != 0 || b.Groups != 157) { // of doubles, by their types
					t.Errorf("%d more: %+v", more, b)
				}
				if name == "greedy" && b.Kept != 0 {
					t.Errorf("one pass keeps %d bytes", b.Kept)
				}
				all = max(all, b.Kept)
			}
		}
	}
	if numbers := int64(8 * 20_000 * 60); all < numbers || all > numbers*5/4 {
		t.Errorf("%d bytes are kept at most, of %d", all, numbers)
	}
}

// TestReadOnceAcrossCheckpoints: a run that resumes from a checkpoint, and keeps the data of its own first
// pass, selects the same as an uninterrupted one.
func TestReadOnceAcrossCheckpoints(t *testing.T) {
	q := Request{Input: Input{Paths: []string{faces(2000, 24, 3).rounded().write(t)}}, Choice: Choice{Method: "sfufs", K: 4, Options: method.Settings{"clusters": 3, "anchors": 30}}, Limits: Limits{Threads: 2}}
	want := selected(t, q)
	for stop := range 8 {
		q.Checkpoint.Folder, q.Checkpoint.Every = t.TempDir(), 1
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Select(&stopping{Context: ctx, cancel: cancel, left: int64(20 + 20*stop)}, q)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("the run stopped at %d failed with %v, want a cancelled context", stop, err)
		}
		if got := selected(t, q); !reflect.DeepEqual(got.Selected, want.Selected) {
			t.Errorf("stopped at %d: selected %v, want %v", stop, got.Selected, want.Selected)
		}
	}
}
