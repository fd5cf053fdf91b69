package ufs

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

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
