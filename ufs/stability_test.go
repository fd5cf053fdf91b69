package ufs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/judging/halves"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
)

// someRows is a source's rows at some positions, without values at every holes-th entry of its columns except
// the first, and with the weights 1, 2, 3, 1, … in a last column if weighed is set.
type someRows struct {
	stream.Source
	at      func(position int64) bool
	holes   int64 // 0 for none
	weighed bool
	rows    int64 // counted
}

func (s *someRows) Columns() []stream.Column {
	cols := s.Source.Columns()
	if s.weighed {
		cols = append(slices.Clip(cols), stream.Column{Name: "w", Type: "double"})
	}
	return cols
}

func (s *someRows) Rows() int64 { return s.rows }

func (s *someRows) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		start := int64(0)
		for c, err := range s.Source.Chunks(ctx, r) {
			if err != nil {
				yield(nil, err)
				return
			}
			d := len(s.Columns())
			out := &stream.Chunk{Start: start, Cols: d, Stride: c.Rows, Data: make([]float64, c.Rows*d), Missing: make([]stream.MissingCount, d)}
			for i := range c.Rows {
				position := c.Position(i)
				if !s.at(position) {
					continue
				}
				for j := range c.Cols {
					x := c.Col(j)[i]
					if s.holes > 0 && j > 0 && (position*7+int64(j))%s.holes == 0 {
						x = math.NaN()
						out.Missing[j].NaNs++
					}
					out.Data[j*out.Stride+out.Rows] = x
				}
				if s.weighed {
					out.Data[c.Cols*out.Stride+out.Rows] = float64(1 + position%3)
				}
				out.Rows++
			}
			out.Block = out.Rows
			start += int64(out.Rows)
			if out.Rows > 0 && !yield(out, nil) {
				return
			}
		}
	}
}

// stored writes the rows at some positions of a planted table to a file.
func stored(t *testing.T, s someRows) string {
	t.Helper()
	s.Source = planted.New(planted.Options{Rows: 900, Noise: 9, GroupRow: 100})
	for i := range int64(900) {
		if s.at(i) {
			s.rows++
		}
	}
	path := filepath.Join(t.TempDir(), "rows.parquet")
	must.Do(t, chunkio.WriteParquet(t.Context(), path, &s, chunkio.WriteOptions{RowGroupRows: 100}))
	return path
}

func everyRow(int64) bool { return true }

// stableCases are requests for stability, and how their table is made.
func stableCases(t *testing.T) map[string]struct {
	q     Request
	table someRows
} {
	// Anchors that do not depend on the rows, and distances that do not depend on their scale.
	anchors := stored(t, someRows{at: func(i int64) bool { return i%9 == 0 }})
	graph := method.Settings{"anchors-file": anchors}
	return map[string]struct {
		q     Request
		table someRows
	}{
		"greedy":        {Request{Choice: Choice{Method: "greedy", K: 5}}, someRows{at: everyRow}},
		"greedy, holes": {Request{Choice: Choice{Method: "greedy", K: 5}, Columns: Columns{Missing: "mean"}}, someRows{at: everyRow, holes: 11}},
		"weights":       {Request{Choice: Choice{Method: "greedy", K: 5}, Columns: Columns{Weight: "w"}}, someRows{at: everyRow, weighed: true}},
		"a share":       {Request{Choice: Choice{Method: "greedy", Variance: 0.7}}, someRows{at: everyRow}},
		"partgreedy":    {Request{Choice: Choice{Method: "partgreedy", K: 5, Keep: []string{"x007"}}}, someRows{at: everyRow}},
		"graphgreedy":   {Request{Choice: Choice{Method: "graphgreedy", K: 5, Scale: "none", Options: graph}}, someRows{at: everyRow}},
		"align":         {Request{Choice: Choice{Method: "align", K: 5, Scale: "none"}}, someRows{at: everyRow}},
		"pairwise":      {Request{Choice: Choice{Method: "greedy", K: 5}, Columns: Columns{Missing: "pairwise"}}, someRows{at: everyRow, holes: 11}},
		"sfufs":         {Request{Choice: Choice{Method: "sfufs", K: 5, Scale: "none", Options: graph}}, someRows{at: everyRow}},
	}
}

// TestStabilityTwin: frequencies and index are those of plain selections from files of the rows of
// each half, and the selection itself is that without stability.
func TestStabilityTwin(t *testing.T) {
	for name, c := range stableCases(t) {
		if name == "align" { // whose sample and surrogates go by the rows' positions, which the file of a half has others of
			continue
		}
		q := c.q
		shards := 4 // six halves
		if name == "greedy" {
			shards = 6 // twenty
		}
		q.Input.Paths, q.Choice.Stability, q.Choice.Seed = []string{stored(t, c.table)}, shards, 3
		got := selected(t, q)
		plain := q
		plain.Choice.Stability = 0
		whole := selected(t, plain)
		sameButRounding(t, name, got, whole)

		place := make(map[string]int)
		for j, col := range whole.Columns {
			place[col.Name] = j
		}
		var sets [][]int
		times := make([]int, len(whole.Columns))
		for _, half := range halves.ChooseHalves(shards, halves.MostSelected, 3) {
			part := c.table
			part.at = func(i int64) bool { return slices.Contains(half, halves.ShardOf(3, i, shards)) }
			plain.Input.Paths = []string{stored(t, part)}
			if plain.Choice.Variance == 0 {
				plain.Choice.K = len(whole.Selected)
			}
			var set []int
			for _, f := range selected(t, plain).Selected {
				j := place[f.Name]
				set = append(set, j)
				times[j]++
			}
			sets = append(sets, set)
		}
		want := judge.MeasureStability(sets, len(whole.Columns))
		a := got.Stability
		if a.Shards != shards || a.Halves != len(sets) || float64(a.Index) != want.Nogueira || float64(a.Low) != want.Low || float64(a.High) != want.High {
			t.Errorf("%s: %+v, want %+v", name, a, want)
		}
		for j, col := range got.Columns {
			if share := float64(times[j]) / float64(len(sets)); float64(*col.Frequency) != share {
				t.Errorf("%s: %s is chosen in %v of the halves, want %v", name, col.Name, *col.Frequency, share)
			}
		}
	}
}

// sameButRounding wants the same features with the same scores, but for rounding, and the same
// reports and warnings.
func sameButRounding(t *testing.T, what string, got, want *stream.Selection) {
	t.Helper()
	if a, b := namesOf(got), namesOf(want); a != b {
		t.Fatalf("%s: selected %s, want %s", what, a, b)
	}
	const tolerance = 1e-9 // of sums of 900 products, and of what is solved from them
	for i := range want.Selected {
		a, b := float64(got.Selected[i].Score), float64(want.Selected[i].Score)
		if math.Abs(a-b) > tolerance*math.Abs(b) {
			t.Errorf("%s: score %d is %v, want %v", what, i+1, a, b)
		}
	}
	for j := range want.Columns {
		a, b := got.Columns[j], want.Columns[j]
		if a.Name != b.Name || a.NaNs != b.NaNs || a.Nulls != b.Nulls || a.Filled != b.Filled || a.Nearest != b.Nearest {
			t.Errorf("%s: column %+v, want %+v", what, a, b)
		}
	}
	if !slices.Equal(got.Warnings, want.Warnings) || !slices.Equal(got.LeftOut, want.LeftOut) || got.Rows != want.Rows || got.Passes != want.Passes {
		t.Errorf("%s: %v, %v, %d rows, %d passes; want %v, %v, %d, %d", what, got.Warnings, got.LeftOut, got.Rows, got.Passes, want.Warnings, want.LeftOut, want.Rows, want.Passes)
	}
}

func namesOf(s *stream.Selection) string {
	var list []string
	for _, f := range s.Selected {
		list = append(list, f.Name)
	}
	return strings.Join(list, ",")
}

// TestStabilityLaws: threads and the memory limit change no bit; neither does an interruption;
// and statistics of shards of the input, merged in any order, have the same halves as the input.
func TestStabilityLaws(t *testing.T) {
	for name, c := range stableCases(t) {
		if !long.IsOn() && slices.Contains([]string{"a share", "greedy, holes", "weights", "sfufs"}, name) {
			continue
		}
		q := c.q
		q.Input.Paths, q.Choice.Stability, q.Limits.Threads = []string{stored(t, c.table)}, 4, 1
		want := selected(t, q)
		more := q
		more.Limits.Threads = 3
		forecast := must.Get(Plan(t.Context(), more))(t)
		more.Limits.Memory = forecast.Memory.Smallest
		if c.table.holes > 0 { // where footers do not tell how many columns have missing values
			more.Limits.Memory += 8 << 20
		}
		if a, b := answerOf(t, selected(t, more)), answerOf(t, want); a != b {
			t.Errorf("%s: three threads and little memory give\n%s\nwant\n%s", name, a, b)
		}
		for stop := range long.CountCases(1, 3) {
			again := q
			again.Checkpoint.Folder, again.Checkpoint.Every = t.TempDir(), 1
			ctx, cancel := context.WithCancel(t.Context())
			_, err := Select(&stopping{Context: ctx, cancel: cancel, left: int64(6 + 8*stop)}, again)
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatalf("the run stopped at %d failed with %v, want a cancelled context", stop, err)
			}
			if a, b := answerOf(t, selected(t, again)), answerOf(t, want); a != b {
				t.Errorf("%s: stopped at %d, and resumed:\n%s\nwant\n%s", name, stop, a, b)
			}
		}
		if c.table.holes == 0 {
			mergedHalves(t, name, q, want)
		}
	}
}

// TestStabilityOfGraphFile: hash shards with graphs serve the methods on their Gram matrices too.
func TestStabilityOfGraphFile(t *testing.T) {
	in, stats := faces(300, 24, 1).write(t), filepath.Join(t.TempDir(), "graph.ufs")
	must.Get(Scan(t.Context(), ScanRequest{Request: Request{Input: Input{Paths: []string{in}}, Choice: Choice{Method: "align", Stability: 4}, Output: stats}}))(t)
	want := selected(t, Request{Input: Input{Paths: []string{in}}, Choice: Choice{Method: "greedy", K: 4, Stability: 4}})
	want.Passes = 0
	sameButRounding(t, "greedy", selected(t, Request{Stats: stats, Choice: Choice{Method: "greedy", K: 4, Stability: 4}}), want)
}

// stopping is a context that ends after its error was queried left times.
type stopping struct {
	context.Context
	cancel context.CancelFunc
	left   int64
}

func (s *stopping) Err() error {
	if atomic.AddInt64(&s.left, -1) < 0 {
		s.cancel()
	}
	return s.Context.Err()
}

// mergedHalves compares the stability from merged statistics of three shards of the input.
func mergedHalves(t *testing.T, name string, q Request, want *stream.Selection) {
	t.Helper()
	dir := t.TempDir()
	profile := ScanRequest{Request: q, ProfileOnly: true}
	profile.Output = filepath.Join(dir, "profile.ufs")
	must.Get(Scan(t.Context(), profile))(t)
	var parts []string
	for i := range 3 {
		s := ScanRequest{Request: q, Shard: fmt.Sprintf("%d/3", i+1), Profile: profile.Output}
		s.Output = filepath.Join(dir, fmt.Sprintf("%d.ufs", i))
		must.Get(Scan(t.Context(), s))(t)
		parts = append(parts, s.Output)
	}
	slices.Reverse(parts)
	for _, memory := range []int64{0, budget.ProgramBytes + 3<<20} { // the less has sums wait in scratch files
		all := filepath.Join(dir, "all.ufs")
		_, err := Merge(t.Context(), MergeRequest{Files: parts, Output: all, Limits: Limits{Memory: memory}})
		var short *stream.MemoryError
		if errors.As(err, &short) && memory > 0 {
			_, err = Merge(t.Context(), MergeRequest{Files: parts, Output: all, Limits: Limits{Memory: short.Need}})
		}
		must.Do(t, err)
		from := Request{Stats: all, Choice: Choice{Stability: AnyShards, Method: q.Choice.Method, Scale: q.Choice.Scale, K: q.Choice.K, Variance: q.Choice.Variance, Keep: q.Choice.Keep}, Columns: Columns{Weight: q.Columns.Weight}}
		got := selected(t, from)
		if a, b := namesOf(got), namesOf(want); a != b || *got.Stability != *want.Stability {
			t.Errorf("%s: merged %s with %+v, want %s with %+v", name, a, got.Stability, b, want.Stability)
		}
		for j := range want.Columns {
			if *got.Columns[j].Frequency != *want.Columns[j].Frequency {
				t.Errorf("%s: merged: %s in %v of the halves, want %v", name, want.Columns[j].Name, *got.Columns[j].Frequency, *want.Columns[j].Frequency)
			}
		}
		from.Choice.Stability = 0
		if plain := selected(t, from); plain.Stability != nil || plain.Options["stability"] != nil || namesOf(plain) != namesOf(want) {
			t.Errorf("%s: without stability %s, %v, %v", name, namesOf(plain), plain.Stability, plain.Options)
		}
	}
}

// TestStabilityMemory: the smallest limit that the plan names works, and less is refused with it.
func TestStabilityMemory(t *testing.T) {
	path := stored(t, someRows{at: everyRow})
	for _, name := range []string{"greedy", "sfufs"} {
		q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: name, K: 3, Stability: 32}, Limits: Limits{Memory: budget.ProgramBytes}}
		var short *stream.MemoryError
		if _, err := Plan(t.Context(), q); !errors.As(err, &short) {
			t.Fatalf("%s: planning within the program's memory: %v, want a memory error", name, err)
		}
		without := q
		without.Choice.Stability, without.Limits.Memory = 0, 0
		if least := must.Get(Plan(t.Context(), without))(t).Memory.Smallest; short.Need <= least {
			t.Errorf("%s: %d bytes, and %d without stability", name, short.Need, least)
		}
		q.Limits.Memory = short.Need
		selected(t, q)
		q.Limits.Memory--
		if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.MemoryError)) {
			t.Errorf("%s: one byte less: %v", name, err)
		}
	}
}

// TestStabilityRefused: requests that cannot be served are refused with the remedy.
func TestStabilityRefused(t *testing.T) {
	path := stored(t, someRows{at: everyRow})
	dir := t.TempDir()
	scan := func(file string, shards int) string {
		s := ScanRequest{Request: Request{Input: Input{Paths: []string{path}}, Choice: Choice{Stability: shards}, Output: filepath.Join(dir, file)}}
		must.Get(Scan(t.Context(), s))(t)
		return s.Output
	}
	without, four, six := scan("0.ufs", 0), scan("4.ufs", 4), scan("6.ufs", 6)
	for what, c := range map[string]struct {
		q    Request
		says string
	}{
		"odd":          {Request{Input: Input{Paths: []string{path}}, Choice: Choice{Stability: 5}}, "even"},
		"too many":     {Request{Input: Input{Paths: []string{path}}, Choice: Choice{Stability: 34}}, "32"},
		"over rows":    {Request{Input: Input{Paths: []string{path}}, Choice: Choice{Stability: 8, Method: "eufs"}}, "resamples"},
		"of a profile": {Request{Input: Input{Paths: []string{path}}, Choice: Choice{Stability: 8, Method: "variance"}}, "variance"},
		"none there":   {Request{Stats: without, Choice: Choice{Stability: AnyShards}}, "scan again with stability"},
		"others there": {Request{Stats: six, Choice: Choice{Stability: 4}}, "6 hash shards"},
		"of two rows":  {Request{Input: Input{Paths: []string{path}}, Choice: Choice{Stability: 4, K: 1}, SampleRows: 2}, "leave out stability"},
	} {
		if _, err := Select(t.Context(), c.q); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", what, err, c.says)
		}
	}
	for _, files := range [][]string{{four, six}, {without, four}} {
		_, err := Merge(t.Context(), MergeRequest{Files: files, Output: filepath.Join(dir, "all.ufs")})
		if !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), "same stability") {
			t.Errorf("merging %v: %v, want a usage error about the same stability", files, err)
		}
	}
	if _, err := Path(t.Context(), Request{Input: Input{Paths: []string{path}}, Choice: Choice{Stability: 4}}); !errors.As(err, new(*stream.UsageError)) {
		t.Errorf("path: %v", err)
	}
}
