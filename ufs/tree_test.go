package ufs

import (
	"errors"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestTreeNeedsOneMatrix: a tree of correlations needs less than redundancy, which holds another matrix in
// addition to the correlations, and its stated need suffices.
func TestTreeNeedsOneMatrix(t *testing.T) {
	const d = 800
	q := Request{Input: Input{Paths: []string{noiseFile(t, 20, d, 1)}}, Limits: Limits{Memory: 1 << 20}}
	var tree, redundancy *stream.MemoryError
	_, err := Redundancy(t.Context(), RedundancyRequest{Request: q})
	if !errors.As(err, &redundancy) {
		t.Fatalf("redundancy within 1 MiB: %v", err)
	}
	q.Choice.Options = method.Settings{"tree": "correlation"}
	if _, err := Tree(t.Context(), q); !errors.As(err, &tree) {
		t.Fatalf("tree within 1 MiB: %v", err)
	}
	if least := redundancy.Need - tree.Need; least < 8*d*d {
		t.Errorf("tree needs %d bytes, redundancy %d", tree.Need, redundancy.Need)
	}
	q.Limits.Memory = tree.Need
	must.Get(Tree(t.Context(), q))(t)
}
