package ufs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
)

// sketchOf is the sketch in a statistics file, byte by byte.
func sketchOf(t *testing.T, path string) string {
	t.Helper()
	file := must.Get(chunkio.OpenStats(t.Context(), path, chunkio.FetchOptions{}))(t)
	defer file.Close()
	e := must.Get(statistics.ReadStats(file, method.FromProfile, gram.Options{}, 0))(t)
	must.Do(t, statistics.ReadState(e, file, statistics.SketchSection, statistics.StateOptions{}))
	var b strings.Builder
	must.Get(e.Sketch.WriteTo(&b))(t)
	return b.String()
}

// scannedTo scans q's input, or a shard of it, to a file of its own.
func scannedTo(t *testing.T, q Request, shard string) string {
	t.Helper()
	s := ScanRequest{Request: q, Shard: shard}
	s.Output = filepath.Join(t.TempDir(), "part.ufs")
	must.Get(Scan(t.Context(), s))(t)
	return s.Output
}

// Eight shards, merged in any order and in little memory, have the sketch of the whole, to the bit, and
// the selection, which is that of the data in one pass.
func TestSketchesOfShardsAddUp(t *testing.T) {
	for name, c := range map[string]struct {
		q     Request
		table someRows
	}{
		"plain":   {Request{}, someRows{at: everyRow}},
		"holes":   {Request{Columns: Columns{Missing: "mean"}}, someRows{at: everyRow, holes: 11}},
		"weights": {Request{Columns: Columns{Weight: "w"}}, someRows{at: everyRow, weighed: true}},
		"where":   {Request{Input: Input{Where: "x003 > 0"}}, someRows{at: everyRow}},
	} {
		t.Run(name, func(t *testing.T) {
			q := c.q
			q.Input.Paths, q.Choice.Method, q.Choice.Sketch, q.Choice.Seed, q.Limits.Threads = []string{stored(t, c.table)}, "greedy", "256", 5, 2
			whole := scannedTo(t, q, "")
			want := sketchOf(t, whole)
			data := q
			data.Choice.Reads, data.Choice.K = 1, 6
			from := Request{Stats: whole, Choice: Choice{Method: "greedy", K: 6}}
			fromData, fromFile := selected(t, data), selected(t, from)
			fromFile.Passes = 1
			sameButRounding(t, "from the file", fromFile, fromData)
			if fromFile.Estimate == nil || fromFile.Estimate.SketchRows != 192 || fromFile.Estimate.HeldRows != 64 {
				t.Fatalf("estimate %+v, want 192 rows of the sketch and 64 held back", fromFile.Estimate)
			}
			var parts []string
			for i := range 8 {
				parts = append(parts, scannedTo(t, q, fmt.Sprintf("%d/8", i+1)))
			}
			mergedInAnyOrder(t, 4, parts, sketchOf, want, from, fromFile)
		})
	}
}

// mergedInAnyOrder merges the parts in tries different orders, the last in as little memory as works. Each time
// the sketches must equal those wanted, and selecting from them must repeat the earlier selection.
func mergedInAnyOrder(t *testing.T, tries int, parts []string, sketches func(t *testing.T, path string) string, want string, from Request, before *stream.Selection) {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 1))
	for try := range tries {
		m := MergeRequest{Files: parts, Output: filepath.Join(t.TempDir(), "all.ufs")}
		if try == tries-1 { // sums wait in files
			m.Limits.Memory = leastToMerge(t, m)
		}
		must.Get(Merge(t.Context(), m))(t)
		if sketches(t, m.Output) != want {
			t.Errorf("order %d: other sketches than of the whole", try)
		}
		from.Stats = m.Output
		merged := selected(t, from)
		merged.Passes = before.Passes
		sameButRounding(t, "merged", merged, before)
		random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	}
}

// leastToMerge is the least memory that works: parts tell of missing values as they come.
func leastToMerge(t *testing.T, m MergeRequest) int64 {
	t.Helper()
	m.Limits.Memory = 1
	for range 20 {
		_, err := Merge(t.Context(), m)
		var tight *stream.MemoryError
		if err == nil {
			return m.Limits.Memory
		} else if !errors.As(err, &tight) {
			t.Fatalf("merging: %v, want a memory error", err)
		}
		m.Limits.Memory = tight.Need
	}
	t.Fatal("no memory is enough")
	return 0
}

// Two passes leave as little as the exact selection does; neither threads nor memory change a bit.
func TestSketchedSelection(t *testing.T) {
	table := planted.New(planted.Options{Rows: 4000, Columns: 400})
	path := filepath.Join(t.TempDir(), "planted.parquet")
	must.Do(t, chunkio.WriteParquet(t.Context(), path, table, chunkio.WriteOptions{Type: "float"}))
	exact := selected(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", K: 20}})
	q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Sketch: "4%", K: 20}}
	got := selected(t, q)
	if got.Method != "greedy" || got.Passes != 2 || got.Options["sketch"] != 640 || got.Options["passes"] != 2 || got.Estimate.Candidates < 20 || got.Estimate.HeldError != nil {
		t.Fatalf("method %s, %d passes, options %v, %+v", got.Method, got.Passes, got.Options, got.Estimate)
	}
	if left, best := float64(got.Selected[19].Error), float64(exact.Selected[19].Error); left > 1.01*best || left < best*(1-1e-9) {
		t.Errorf("%g is left, exactly %g", left, best)
	}
	again := q
	again.Limits.Threads, again.Limits.Memory = 5, 1
	var tight *stream.MemoryError
	if _, err := Select(t.Context(), again); !errors.As(err, &tight) {
		t.Fatalf("a byte of memory: %v", err)
	}
	again.Limits.Memory = tight.Need
	same(t, answerOf(t, selected(t, again)), answerOf(t, got))
	// Of another file the same request, as it is recorded, is another one of its kind.
	back := must.Get(settled.RequestFromRecord(got.Method, got.Options, nil))(t)
	if back.Choice.Sketch != "640" || back.Choice.Reads != 2 {
		t.Errorf("recorded as %q, %d passes", back.Choice.Sketch, back.Choice.Reads)
	}
	f := must.Get(Plan(t.Context(), q))(t)
	if f.Memory.Sketch != 640 || f.Passes.Least != 2 || f.Memory.Peak > f.Memory.Limit {
		t.Errorf("the plan: %+v, passes %+v", f.Memory, f.Passes)
	}
}

func TestSketchRefuses(t *testing.T) {
	path := stored(t, someRows{at: everyRow})
	half := stored(t, someRows{at: func(i int64) bool { return i < 450 }})
	file := scannedTo(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{Sketch: "128"}}, "")
	gramFile := scannedTo(t, Request{Input: Input{Paths: []string{path}}}, "")
	base := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", K: 3, Sketch: "128"}}
	for says, change := range map[string]func(*Request){
		"sketch none: want a number of rows": func(q *Request) { q.Choice.Sketch = "none" },
		"sketch 0.01%: want a share":         func(q *Request) { q.Choice.Sketch = "0.01%" },
		"sketch 2000000: want":               func(q *Request) { q.Choice.Sketch = "2000000" },
		"passes -1: want":                    func(q *Request) { q.Choice.Reads = -1 },
		"not for method eufs":                func(q *Request) { q.Choice.Method = "eufs" },
		"not for method partgreedy":          func(q *Request) { q.Choice.Method, q.Choice.Sketch, q.Choice.Reads = "partgreedy", "", 2 },
		"no halves of the rows":              func(q *Request) { q.Choice.Stability = 4 },
		"missing pairwise":                   func(q *Request) { q.Columns.Missing = "pairwise" },
		"k auto rests":                       func(q *Request) { q.Choice.K, q.Choice.AutoK = 0, true },
		"variance needs an exact share":      func(q *Request) { q.Choice.K, q.Choice.Variance = 0, 0.9 },
		"refine swap works on":               func(q *Request) { q.Choice.Options = method.Settings{"refine": "swap"} },
		"has no rows to read again":          func(q *Request) { q.Input.Paths, q.Stats, q.Choice.Reads = nil, file, 2 },
		"has a sketch of 128 rows":           func(q *Request) { q.Input.Paths, q.Stats, q.Choice.Sketch = nil, file, "256" },
		"holds no sketch":                    func(q *Request) { q.Input.Paths, q.Stats = nil, gramFile },
		"holds a sketch of the rows, which other ": func(q *Request) {
			q.Input.Paths, q.Stats, q.Choice.Sketch, q.Choice.Method = nil, file, "", "partgreedy"
		},
	} {
		q := base
		change(&q)
		_, err := Select(t.Context(), q)
		if usage := (*stream.UsageError)(nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want a usage error that says %q", err, says)
		}
	}
	for says, change := range map[string]func(*ScanRequest){
		"a profile of its own":  func(q *ScanRequest) { q.ProfileOnly = true },
		"a sketch in a file is": func(q *ScanRequest) { q.Choice.Scale = "rank" },
		"a scan reads once":     func(q *ScanRequest) { q.Choice.Reads = 2 },
	} {
		q := ScanRequest{Request: base}
		q.Output = filepath.Join(t.TempDir(), "x.ufs")
		change(&q)
		if _, err := Scan(t.Context(), q); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
	// Rows that are numbered apart would meet with the same sign.
	other := scannedTo(t, Request{Input: Input{Paths: []string{half}}, Choice: Choice{Sketch: "128"}}, "")
	for says, files := range map[string][]string{
		"are sketches of other inputs": {file, other},
		"merge those of one kind":      {file, gramFile},
	} {
		_, err := Merge(t.Context(), MergeRequest{Files: files, Output: filepath.Join(t.TempDir(), "all.ufs")})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}
