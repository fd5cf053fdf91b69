package ufs

import (
	"errors"
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// withinSmallest is the selection in the smallest limit that the plan names, which is to go out of core.
func withinSmallest(t *testing.T, q Request) *stream.Selection {
	t.Helper()
	m := must.Get(Plan(t.Context(), q))(t).Memory
	if q.Limits.Memory = m.Smallest; m.Smallest >= m.InMemory {
		t.Fatalf("nothing is saved out of core: %+v", m)
	}
	return selected(t, q)
}

// TestSmallestOfEveryShape: select takes the smallest limit that plan names, and a byte less is refused, whether
// the matrix in full, as a factor, or none in memory takes the least.
func TestSmallestOfEveryShape(t *testing.T) {
	for _, rows := range []int{300, 700, 899, 900} {
		path := noiseFile(t, rows, 900, 4)
		for name, options := range map[string]method.Settings{"greedy": nil, "graphgreedy": {"anchors": 40}} {
			q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: name, Options: options, K: 2}}
			q.Limits.Memory = must.Get(Plan(t.Context(), q))(t).Memory.Smallest
			if _, err := Select(t.Context(), q); err != nil {
				t.Errorf("%s of %d rows in %d bytes: %v", name, rows, q.Limits.Memory, err)
			}
			q.Limits.Memory--
			if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.MemoryError)) {
				t.Errorf("%s of %d rows in a byte less: %v", name, rows, err)
			}
		}
	}
}

// alikeSelections wants one selection, up to the rounding of two ways to one Gram matrix.
func alikeSelections(t *testing.T, got, want *stream.Selection) {
	t.Helper()
	if len(got.Selected) != len(want.Selected) || got.Passes <= want.Passes {
		t.Fatalf("%d selected in %d passes; want %d, in more passes than %d", len(got.Selected), got.Passes, len(want.Selected), want.Passes)
	}
	for i, f := range got.Selected {
		w := want.Selected[i]
		if f.Name != w.Name || len(f.Members) != len(w.Members) || math.Abs(float64(f.Error-w.Error)) > 1e-9 {
			t.Errorf("rank %d: %+v, want %+v", i+1, f, w)
		}
	}
	for j, c := range got.Columns {
		if w := want.Columns[j]; c.Name != w.Name || c.Nearest != w.Nearest || math.Abs(float64(c.Explained-w.Explained)) > 1e-9 {
			t.Errorf("column %+v, want %+v", c, w)
		}
	}
}

// TestGroupsOutOfCore: groups are chosen for a target that fits although the Gram matrix does not, also with
// costs and within a budget. Greedy, which has no such target, names the limit that suffices.
func TestGroupsOutOfCore(t *testing.T) {
	path := noiseFile(t, 1300, 1200, 1)
	groups, costs := `regex:^px_\d_(\d*)\d$`, textFile(t, "costs.csv", "px_0_3,3\n12,4.5\n")
	for name, options := range map[string]method.Settings{"partgreedy": nil, "graphgreedy": {"anchors": 40}} {
		q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: name, Options: options, Groups: groups, K: 3}}
		alikeSelections(t, withinSmallest(t, q), selected(t, q))
		q.Choice.Costs, q.Choice.Budget, q.Choice.K = costs, 26, 0
		alikeSelections(t, withinSmallest(t, q), selected(t, q))
	}
	q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", Groups: groups, K: 3}}
	q.Limits.Memory = must.Get(Plan(t.Context(), q))(t).Memory.Smallest
	selected(t, q)
	q.Limits.Memory--
	if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("a byte less than the plan's: %v", err)
	}
}

// TestLeftOutOutOfCore: columns that are left out by themselves take no part out of core either.
func TestLeftOutOutOfCore(t *testing.T) {
	c := noiseColumns(900, 800, 1)
	c.Cols[7] = c.Cols[3]
	for _, name := range []string{"greedy", "partgreedy"} {
		q := Request{Input: Input{Paths: []string{c.write(t)}}, Choice: Choice{Method: name, K: 4}, Columns: Columns{AutoExclude: true}}
		want := selected(t, q)
		if !namesLeftOut(want.LeftOut).has(c.Names[7]) {
			t.Fatalf("left out %v", want.LeftOut)
		}
		alikeSelections(t, withinSmallest(t, q), want)
	}
}
