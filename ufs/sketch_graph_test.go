package ufs

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
)

// eachOnGraph runs a test for every method on the graph.
func eachOnGraph(t *testing.T, test func(t *testing.T, spec method.Spec, q Request)) {
	eachOf(t, slices.DeleteFunc(methods.All(), func(s method.Spec) bool { return !s.From.UsesGraph() }), test)
}

// Every method on the graph selects by a sketch, in any number of threads and the least memory, the same to the
// bit; the scores of those that need the diagonal alone are exact.
func TestGraphMethodsSelectBySketch(t *testing.T) {
	path := faces(3000, 60, 11).write(t)
	eachOnGraph(t, func(t *testing.T, spec method.Spec, q Request) {
		q.Input.Paths, q.Limits.Threads = []string{path}, 1
		exact := selected(t, q)
		q.Choice.Sketch = "256"
		got := selected(t, q)
		e := got.Estimate
		if e == nil || e.SketchRows != 192 || e.HeldRows != 64 || e.CosineDeviation == nil || got.Options["sketch"] != 256 {
			t.Fatalf("%+v, options %v", e, got.Options)
		}
		// Entries of 192 rows are off by 1/√192 = 7 % of the part that is estimated, which is not all.
		if off := float64(*e.CosineDeviation); !(off > 0 && off < 0.15) {
			t.Errorf("cosines are off by %g", off)
		}
		if spec.Takes.Diagonal {
			for i, s := range exact.Scores {
				if off := float64(got.Scores[i].Score - s.Score); !(off <= 1e-9 && off >= -1e-9) {
					t.Errorf("%s has %v, exactly %v", s.Name, got.Scores[i].Score, s.Score)
				}
			}
		}
		again := q
		again.Limits.Threads, again.Limits.Memory = 4, 1
		var tight *stream.MemoryError
		if _, err := Select(t.Context(), again); !errors.As(err, &tight) {
			t.Fatalf("a byte of memory: %v", err)
		}
		again.Limits.Memory = tight.Need
		same(t, answerOf(t, selected(t, again)), answerOf(t, got))
		f := must.Get(Plan(t.Context(), q))(t)
		if f.Memory.Sketch != 256 || f.Passes.Least != 2 || f.Memory.Peak > f.Memory.Limit {
			t.Errorf("the plan: %+v, passes %+v", f.Memory, f.Passes)
		}
	})
}

// weightsOf is both sketches in a statistics file, byte by byte.
func weightsOf(t *testing.T, path string) string {
	t.Helper()
	file := must.Get(chunkio.OpenStats(t.Context(), path, chunkio.FetchOptions{}))(t)
	defer file.Close()
	e := must.Get(statistics.ReadStats(file, method.FromProfile, gram.Options{}, 0))(t)
	must.Do(t, statistics.ReadSketchedGraph(e, file, 2))
	var b strings.Builder
	must.Get(e.Weights.WriteTo(&b))(t)
	return sketchOf(t, path) + b.String()
}

// Eight shards, merged in any order and in little memory, have the sketches of the whole, to the bit, and
// the selection, which is that of the data.
func TestSketchedGraphsOfShardsAddUp(t *testing.T) {
	for name, c := range map[string]struct {
		q     Request
		table someRows
	}{
		"plain": {Request{}, someRows{at: everyRow}},
		"holes": {Request{Columns: Columns{Missing: "mean"}}, someRows{at: everyRow, holes: 11}},
	} {
		t.Run(name, func(t *testing.T) {
			q := c.q
			q.Input.Paths, q.Choice.Method, q.Choice.Sketch, q.Choice.Seed, q.Limits.Threads = []string{stored(t, c.table)}, "sfufs", "256", 5, 2
			q.Choice.Options = method.Settings{"anchors": 20}
			profile := ScanRequest{Request: q, ProfileOnly: true}
			profile.Choice.Sketch, profile.Output = "", filepath.Join(t.TempDir(), "profile.ufs")
			must.Get(Scan(t.Context(), profile))(t)
			scanned := func(shard string) string {
				s := ScanRequest{Request: q, Shard: shard, Profile: profile.Output}
				s.Output = filepath.Join(t.TempDir(), "part.ufs")
				must.Get(Scan(t.Context(), s))(t)
				return s.Output
			}
			whole := scanned("")
			want := weightsOf(t, whole)
			data := q
			data.Choice.K = 6
			from := Request{Stats: whole, Choice: Choice{Method: "sfufs", K: 6}}
			fromData, fromFile := selected(t, data), selected(t, from)
			fromFile.Passes, fromData.Warnings = fromData.Passes, fromFile.Warnings // a scan tells of the graph too
			sameButRounding(t, "from the file", fromFile, fromData)
			var parts []string
			for i := range 8 {
				parts = append(parts, scanned(fmt.Sprintf("%d/8", i+1)))
			}
			mergedInAnyOrder(t, 3, parts, weightsOf, want, from, fromFile)
			// Greedy selects from the same file, by the sketch alone.
			if s := selected(t, Request{Stats: whole, Choice: Choice{Method: "greedy", K: 3}}); s.Estimate == nil {
				t.Error("greedy has no estimate")
			}
			grid := must.Get(Path(t.Context(), Request{Stats: whole, Choice: Choice{Method: "sfufs", K: 4, Options: method.Settings{"gamma": "0.1,1"}}}))(t)
			if len(grid.Grid.Settings) != 2 || !strings.Contains(strings.Join(grid.Grid.Warnings, " "), "a sketch of 192 rows") {
				t.Errorf("%d settings, %q", len(grid.Grid.Settings), grid.Grid.Warnings)
			}
		})
	}
}

// If everything else is too large, the refusal names the need of an estimate, and that limit suffices.
func TestRefusalNamesTheSketch(t *testing.T) {
	path := faces(2500, 3500, 3).write(t)
	q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "sfufs", K: 3, Options: method.Settings{"anchors": 20}}, Limits: Limits{Memory: 1}}
	_, err := Plan(t.Context(), q)
	var tight *stream.MemoryError
	if !errors.As(err, &tight) || !strings.Contains(err.Error(), "or estimate the Gram matrix with sketch auto, memory-limit ") {
		t.Fatalf("planning within 1 byte: %v, want a memory error that advises a sketch", err)
	}
	q.Choice.Sketch = "auto"
	_, err = Plan(t.Context(), q)
	var less *stream.MemoryError
	if !errors.As(err, &less) || less.Need >= tight.Need || !strings.Contains(tight.Error(), fmt.Sprintf("memory-limit %dMiB", (less.Need+1<<20-1)>>20)) {
		t.Errorf("%v; with a sketch %v", tight, err)
	}
	q.Choice.Reads = 2
	if _, err = Plan(t.Context(), q); err == nil || !strings.Contains(err.Error(), "passes is not for method sfufs") {
		t.Errorf("planning sfufs with {passes}: %v, want a refusal", err)
	}
}

// A method on an estimate stays within its declared memory.
func TestHeapStaysBelowDeclaredCostOfSketches(t *testing.T) {
	path := faces(3000, 400, 4).write(t)
	eachOnGraph(t, func(t *testing.T, _ method.Spec, q Request) {
		q.Input.Paths, q.Limits.Threads, q.Choice.Sketch = []string{path}, 2, "256"
		declared, held := heldBySelect(t, q)
		for try := 1; try < 4 && held > declared+1<<20; try++ { // see TestHeapStaysBelowDeclaredCost
			_, again := heldBySelect(t, q)
			held = min(held, again)
		}
		if held > declared+1<<20 {
			t.Errorf("held %d KiB, declared %d KiB", held>>10, declared>>10)
		}
	})
}

// A choice by a sketch explains nearly as much as the exact one, for all methods on the graph: of 40 features
// of low rank and noise, 8 chosen by 192 rows leave at most a fiftieth more of the sum of squares.
func TestSketchedChoicesExplainAsMuch(t *testing.T) {
	path := faces(3000, 40, 11).write(t)
	eachOnGraph(t, func(t *testing.T, _ method.Spec, q Request) {
		q.Input.Paths, q.Choice.K = []string{path}, 8
		left := func(s *stream.Selection) float64 {
			var keep []string
			for _, f := range s.Selected {
				keep = append(keep, f.Name)
			}
			judged := selected(t, Request{Input: Input{Paths: q.Input.Paths}, Choice: Choice{Method: "greedy", K: len(keep), Keep: keep}})
			return float64(judged.Selected[len(keep)-1].Error)
		}
		exact := left(selected(t, q))
		q.Choice.Sketch = "256"
		if got := left(selected(t, q)); got > exact+0.02 {
			t.Errorf("leaves %.4f of the sum of squares, and the exact choice %.4f", got, exact)
		}
	})
}
