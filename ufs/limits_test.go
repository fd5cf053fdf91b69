package ufs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// TestRefusalKeepsWithinTheLimit: input whose columns alone do not fit is not opened beyond the limit to find
// its other needs, and the refusal calls its figure a lower bound.
func TestRefusalKeepsWithinTheLimit(t *testing.T) {
	const elements = 3_000_000
	list := arrow.FixedSizeListOf(elements, arrow.PrimitiveTypes.Float32)
	path := filepath.Join(t.TempDir(), "wide.arrow")
	file := must.Get(os.Create(path))(t)
	schema := arrow.NewSchema([]arrow.Field{{Name: "v", Type: list}}, nil)
	w := must.Get(ipc.NewFileWriter(file, ipc.WithSchema(schema)))(t)
	row := array.NewFixedSizeListBuilder(memory.DefaultAllocator, elements, arrow.PrimitiveTypes.Float32)
	row.Append(true)
	row.ValueBuilder().(*array.Float32Builder).AppendValues(make([]float32, elements), nil)
	lists := row.NewArray()
	must.Do(t, errors.Join(w.Write(array.NewRecord(schema, []arrow.Array{lists}, 1)), w.Close(), file.Close()))
	for _, limit := range []int64{1, 128 << 20} {
		q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", K: 2}, Limits: Limits{Memory: limit}}
		var err error
		took := allocated(func() { _, err = Plan(t.Context(), q) })
		short, ok := errors.AsType[*stream.MemoryError](err)
		if !ok || !short.AtLeast || short.Need < 200*elements || short.Limit != limit || !strings.Contains(err.Error(), "needs at least") {
			t.Errorf("in %d bytes: %v", limit, err)
		}
		if took > gathering.ReopenedBytes {
			t.Errorf("in %d bytes: %d were allocated", limit, took)
		}
	}
	// With as much memory the columns are named, and the plan gives the need of the run: within the limit
	// without a collection.
	named := int64(budget.ProgramBytes + 200*elements)
	for what, q := range map[string]Request{
		"plain":      {Choice: Choice{Method: "variance"}},
		"kept":       {Choice: Choice{Method: "greedy", Keep: []string{"v[1]"}, Forbid: []string{"v[[]2*"}}},
		"chosen":     {Choice: Choice{Method: "variance"}, Columns: Columns{Exclude: []string{"v[1]", "v[[]2*"}}},
		"in groups":  {Choice: Choice{Method: "greedy", Groups: request.GroupsLists, GroupMost: 1}},
		"with costs": {Choice: Choice{Method: "greedy", Budget: 5}},
	} {
		if !long.IsOn() && (what == "kept" || what == "with costs") {
			continue
		}
		q.Input.Paths, q.Choice.K, q.Limits.Memory = []string{path}, 2, named
		var err error
		took := allocated(func() { _, err = Plan(t.Context(), q) })
		short, ok := errors.AsType[*stream.MemoryError](err)
		if !ok || short.AtLeast || short.Need < budget.ProfileColumnBytes*elements/2 {
			t.Errorf("%s: got %v, want an exact memory error of at least %d bytes", what, err, budget.ProfileColumnBytes*elements/2)
		}
		if took > named {
			t.Errorf("%s: %d bytes were allocated in %d", what, took, named)
		}
	}
	// So does inspect, which prints them after that.
	inspect := Request{Input: Input{Paths: []string{path}}, Limits: Limits{Memory: named}}
	_, err := Inspect(t.Context(), inspect, false)
	short, ok := errors.AsType[*stream.MemoryError](err)
	if !ok || short.AtLeast || short.Need < named {
		t.Fatalf("inspect in %d bytes: got %v, want an exact memory error", named, err)
	}
	inspect.Limits.Memory = short.Need
	took := allocated(func() {
		if s := must.Get(Inspect(t.Context(), inspect, false))(t); s.Features != elements {
			t.Errorf("%d features", s.Features)
		}
	})
	if took > short.Need {
		t.Errorf("inspect: %d bytes were allocated in %d", took, short.Need)
	}
	inspect.Limits.Memory--
	if _, err := Inspect(t.Context(), inspect, false); !errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("inspect in a byte less: %v", err)
	}
}

// TestWideFilesKeepWithinTheLimit: an Arrow file of more fields than there is memory for is refused by every verb
// before its schema is parsed.
func TestWideFilesKeepWithinTheLimit(t *testing.T) {
	const fields, limit = 100_000, budget.ProgramBytes + 32<<20
	all := make([]arrow.Field, fields)
	for i := range all {
		all[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: arrow.PrimitiveTypes.Float64}
	}
	dir := t.TempDir()
	path, out := filepath.Join(dir, "wide.arrow"), filepath.Join(dir, "out.parquet")
	file := must.Get(os.Create(path))(t)
	w := must.Get(ipc.NewFileWriter(file, ipc.WithSchema(arrow.NewSchema(all, nil))))(t)
	must.Do(t, errors.Join(w.Close(), file.Close()))
	q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", K: 2}, Limits: Limits{Memory: limit}}
	for what, do := range map[string]func() error{
		"select":  func() error { _, err := Select(t.Context(), q); return err },
		"plan":    func() error { _, err := Plan(t.Context(), q); return err },
		"inspect": func() error { _, err := Inspect(t.Context(), q, false); return err },
		"convert": func() error {
			_, err := Convert(t.Context(), ConvertRequest{Input: Input{Paths: []string{path}}, Output: out, Limits: Limits{Memory: limit}})
			return err
		},
		"apply": func() error {
			_, err := Apply(t.Context(), ApplyRequest{Input: Input{Paths: []string{path}}, Output: out, Limits: Limits{Memory: limit}, Selection: &stream.Selection{Selected: []stream.Selected{{Rank: 1, Name: "c1"}}}})
			return err
		},
	} {
		var err error
		took := allocated(func() { err = do() })
		short, ok := errors.AsType[*stream.MemoryError](err)
		if !ok || short.Limit != limit || short.Need < 600*fields {
			t.Errorf("%s: %v, want a need of %d bytes and more", what, err, 600*fields)
		}
		if took > limit-budget.ProgramBytes {
			t.Errorf("%s: %d bytes were allocated", what, took)
		}
	}
}

// allocated is the number of bytes that a function allocates, including garbage.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestRefusalHearsTheContext: a run that is interrupted while its refusal is made ends as interrupted.
func TestRefusalHearsTheContext(t *testing.T) {
	r := must.Get(settled.NewRun(t.Context(), Request{Input: Input{Paths: []string{noiseFile(t, 20, 3, 1)}}, Choice: Choice{Method: "greedy", K: 2}, Limits: Limits{Memory: 1}}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := gathering.ErrLeastMemory(ctx, r, r.Input.Paths, r.ReadOptions(), planning.SelectionPlanner(nil), &stream.MemoryError{What: "reading", Need: 2, Limit: 1})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v, want its error", err)
	}
}
