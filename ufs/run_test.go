package ufs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
)

// TestJoin: coverage is by file, wherever the file lies and whatever else was read.
func TestJoin(t *testing.T) {
	file := func(path, digest string, rows int64) stream.Input {
		return stream.Input{Path: path, Fingerprint: digest, Rows: rows}
	}
	a, aRows := []stream.Input{file("a", "1", 10), file("b", "2", 20)}, []stream.Range{{From: 5, To: 15}}
	b, bRows := []stream.Input{file("c", "3", 7), file("elsewhere/b", "2", 20)}, []stream.Range{{From: 0, To: 7}, {From: 12, To: 27}}
	var c statistics.Coverage
	c.AddRanges(0, a, aRows)
	c.AddRanges(1, b, bRows)
	// a rows 5 to 9, b rows 0 to 4 and 5 to 19, c whole; in the order a, b, c.
	if o, got := c.FirstOverlap(), c.CoveredRanges(); o != nil || !slices.Equal(got, []stream.Range{{From: 5, To: 37}}) || len(c.Files) != 3 {
		t.Errorf("covered %v of %v, %v twice", got, c.Files, o)
	}
	c.AddRanges(2, b, bRows)
	if o := c.FirstOverlap(); o == nil || o.First.StatsFile != 1 || o.Second.StatsFile != 2 {
		t.Errorf("the same rows were joined twice: %v", o)
	}
	copies := []stream.Input{file("x", "1", 10), file("copy of x", "1", 10)}
	var within, apart statistics.Coverage
	within.AddRanges(0, copies, []stream.Range{{From: 0, To: 20}})
	apart.PathsDiffer = true
	apart.AddRanges(0, copies[:1], []stream.Range{{From: 0, To: 10}})
	apart.AddRanges(1, copies[1:], []stream.Range{{From: 0, To: 10}})
	if len(within.Files) != 2 || within.FirstOverlap() != nil || len(apart.Files) != 2 || apart.FirstOverlap() != nil {
		t.Errorf("copies read in one run, or as parts of one plan, are two files: %v, %v", within.Files, apart.Files)
	}
}

// TestGraphMemoryIsNotOfRows: planned and kept memory grows with anchors and features, never with the rows,
// once there are enough for all anchors; and no result depends on the limit.
func TestGraphMemoryIsNotOfRows(t *testing.T) {
	for _, drawn := range []string{"random", "kmeans"} {
		var rows [2]int
		for i, limit := range []int64{64 << 20, 8 << 30} {
			r, err := settled.NewRun(t.Context(), Request{Input: Input{Paths: []string{"x"}}, Limits: Limits{Memory: limit}, Choice: Choice{Method: "sfufs", Options: method.Settings{"anchor-method": drawn}}})
			if err != nil {
				t.Fatalf("settling with %s anchors and %d bytes: %v", drawn, limit, err)
			}
			if few, many := r.ExpectedAnchors(100_000), r.ExpectedAnchors(100_000_000); few != many || few != anchor.MostAnchors {
				t.Errorf("%d and %d anchors", few, many)
			}
			rows[i] = r.AnchorSampleRows(r.ExpectedAnchors(1e6), 5_000)
		}
		if rows[0] != rows[1] {
			t.Errorf("%s: samples of %d and %d rows", drawn, rows[0], rows[1])
		}
	}
}

// rising is a method whose objective rose.
type rising struct{}

func (rising) Options(*method.Options) {}

func (rising) Cost(method.Shape) (method.Cost, error) { return method.Cost{}, nil }

func (rising) Select(_ context.Context, e *method.Evidence) (*method.Ranking, error) {
	r := &method.Ranking{Scores: make([]float64, len(e.Columns)), Rose: &method.Rise{Iteration: 2, From: 2, To: 4}}
	for j := range e.Columns {
		r.Order = append(r.Order, j)
	}
	for i, v := range []stream.Number{3, 2, 4} {
		r.Trace = append(r.Trace, stream.TraceStep{Iteration: i + 1, Objective: v})
	}
	return r, nil
}

// TestObjectiveThatRose: the selection is returned, with a warning not to trust it.
func TestObjectiveThatRose(t *testing.T) {
	spec := method.Spec{Name: "rising", From: method.FromProfile, Takes: method.Takes{Iterates: true}, New: func() method.Method { return rising{} }}
	s, err := Select(t.Context(), Request{Input: Input{Paths: []string{plant(t, 200)}}, Choice: Choice{Method: "rising", Methods: []method.Spec{spec}, K: 2}})
	if !errors.As(err, new(*stream.UnconvergedError)) || exit.CodeOf(err) != exit.Unconverged {
		t.Fatalf("got %v", err)
	}
	if s.Converged || s.Iterations != 3 || len(s.Objective) != 3 || !strings.Contains(strings.Join(s.Warnings, ""), "do not trust") {
		t.Errorf("selection %+v: want 3 iterations, not converged, and a warning not to trust it", s)
	}
}

// TestRecordedOfNothing: no selection records no request.
func TestRecordedOfNothing(t *testing.T) {
	if _, err := RecordedRequest(nil, nil); !errors.As(err, new(*stream.UsageError)) {
		t.Errorf("error %v, want a usage error", err)
	}
}
