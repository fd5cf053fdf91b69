package ufs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
)

// Merged shards of a plan that keep rows give the selection of the data, merged at once or in two levels; the
// plan's missing policy holds; a part with another number of kept rows is not reused.
func TestKeptRowsOfAPlan(t *testing.T) {
	dir := t.TempDir()
	table := faces(2100, 24, 21).holes(200)
	for i := range 3 {
		part := tableOf(table.Names, make([][]float64, len(table.Cols)))
		for j, col := range table.Cols {
			part.Cols[j] = col[i*700 : (i+1)*700]
		}
		if err := os.Rename(part.write(t), filepath.Join(dir, fmt.Sprintf("%d.parquet", i))); err != nil {
			t.Fatalf("moving file %d: %v", i, err)
		}
	}
	for _, missing := range []string{"mean", "drop-row"} {
		at := func(name string) string { return filepath.Join(dir, missing, name) }
		q := Request{
			Input:   Input{Paths: []string{dir + "/*.parquet"}},
			Choice:  Choice{Method: "eufs", K: 4, Seed: 3, Options: method.Settings{"clusters": 3, "max-iter": 4, "sample": 300}},
			Columns: Columns{Missing: missing, Label: "px_0_2"},
		}
		if err := os.Mkdir(filepath.Join(dir, missing), 0o777); err != nil {
			t.Fatalf("making the folder of {missing} %s: %v", missing, err)
		}
		want := chosen(t, q)
		plan := q
		plan.Output, plan.Choice.K = at("job.plan.json"), 0
		if _, err := WritePlan(t.Context(), plan); err != nil {
			t.Fatalf("{missing} %s: writing the plan: %v", missing, err)
		}
		scan := ScanRequest{Request: Request{Input: Input{Plan: plan.Output}, Output: at("parts") + "/"}, ProfileOnly: true, KeepRows: 300}
		var parts []string
		for i := range 5 {
			scan.Shard = fmt.Sprintf("%d/5", 5-i)
			done, err := Scan(t.Context(), scan)
			if err != nil {
				t.Fatalf("{missing} %s: scanning shard %s: %v", missing, scan.Shard, err)
			}
			if h, err := chunkio.ReadStatsHeader(t.Context(), done.Path, chunkio.FetchOptions{}); err != nil || h.Options["sample-missing"] != missing || h.Options["seed"] != "3" {
				t.Errorf("{missing} %s: header options %v (%v), want sample-missing %[1]s and seed 3", missing, h.Options, err)
			}
			parts = append(parts, done.Path)
		}
		if done, err := Scan(t.Context(), scan); err != nil || !done.There {
			t.Errorf("scanned again: %+v, %v", done, err)
		}
		other := scan
		other.KeepRows = 200
		_, err := Scan(t.Context(), other)
		refused(t, "another number of rows", err, "sample-rows")

		merge := func(m MergeRequest) string {
			t.Helper()
			if _, err := Merge(t.Context(), m); err != nil {
				t.Fatalf("{missing} %s: merging: %v", missing, err)
			}
			return m.Output
		}
		two := []string{
			merge(MergeRequest{Files: parts[3:], Partial: true, Output: at("first.ufs")}),
			merge(MergeRequest{Files: parts[:3], Partial: true, Output: at("second.ufs")}),
		}
		for _, all := range []string{merge(MergeRequest{Files: []string{at("parts") + "/"}, Output: at("all.ufs")}), merge(MergeRequest{Files: two, Output: at("both.ufs")})} {
			s := Request{Stats: all, Choice: Choice{Method: "eufs", K: 4, Options: method.Settings{"clusters": 3, "max-iter": 4}}, Columns: Columns{Label: "px_0_2"}}
			same(t, chosen(t, s), want)
			if said := selected(t, s).Warnings; strings.Contains(strings.Join(said, "\n"), "apart") {
				t.Errorf("shards of a plan are numbered alike: %q", said)
			}
		}
		some := Request{Stats: two[0], Choice: Choice{Method: "eufs", K: 4, Options: method.Settings{"clusters": 3, "max-iter": 4}}}
		if s := selected(t, some); s.RowsUsed >= 300 || !strings.Contains(strings.Join(s.Warnings, "\n"), "2 of the 5 shards") {
			t.Errorf("some shards: %d rows, %q", s.RowsUsed, s.Warnings)
		}
	}
}

// Many parts merge in memory for a few of them, by way of scratch files, to the same bytes.
func TestKeptRowsMergeInLittleMemory(t *testing.T) {
	path := faces(2560, 400, 22).write(t)
	dir := t.TempDir()
	var parts []string
	for i := range 20 {
		s := ScanRequest{Request: Request{Input: Input{Paths: []string{path}}, Output: filepath.Join(dir, fmt.Sprintf("%02d.ufs", i))}, ProfileOnly: true, KeepRows: 2000}
		s.Shard = fmt.Sprintf("%d/20", i+1)
		if _, err := Scan(t.Context(), s); err != nil {
			t.Fatalf("scanning shard %s: %v", s.Shard, err)
		}
		parts = append(parts, s.Output)
	}
	var files [2][]byte
	for i, memory := range []int64{1 << 30, budget.ProgramBytes + 3*8<<20} {
		out := filepath.Join(dir, fmt.Sprint("all", i))
		if _, err := Merge(t.Context(), MergeRequest{Files: parts, Output: out, Limits: Limits{Memory: memory, Threads: 1 + 3*i}}); err != nil {
			t.Fatalf("merging within %d bytes: %v", memory, err)
		}
		var err error
		if files[i], err = os.ReadFile(out); err != nil {
			t.Fatalf("reading the merged file: %v", err)
		}
	}
	if string(files[0]) != string(files[1]) {
		t.Error("memory and threads change the sum")
	}
	out := filepath.Join(dir, "last")
	_, err := Merge(t.Context(), MergeRequest{Files: parts, Output: out, Limits: Limits{Memory: budget.ProgramBytes + 4<<20}})
	var tight *stream.MemoryError
	if !errors.As(err, &tight) {
		t.Fatalf("a sample that does not fit: %v", err)
	}
	if _, err := Merge(t.Context(), MergeRequest{Files: parts, Output: out, Limits: Limits{Memory: tight.Need}}); err != nil {
		t.Errorf("with what was said to be enough: %v", err)
	}
}

// Anchors of shards come from rows that shards kept under one bound: the merged profile of all has the rows of
// a scan of the whole, and a profile of some shards names the missing ones.
func TestAnchorsOfBoundedShards(t *testing.T) {
	path, dir := faces(4000, 8, 23).write(t), t.TempDir()
	profile := func(name, shard string) string {
		t.Helper()
		q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "sfufs", Options: method.Settings{"anchors": 300}}, Output: filepath.Join(dir, name)}
		if _, err := Scan(t.Context(), ScanRequest{Request: q, ProfileOnly: true, Shard: shard}); err != nil {
			t.Fatalf("scanning the profile of shard %q: %v", shard, err)
		}
		return q.Output
	}
	var parts []string
	for i := range 4 {
		parts = append(parts, profile(fmt.Sprint(i), fmt.Sprintf("%d/4", i+1)))
	}
	all := filepath.Join(dir, "all.ufs")
	if _, err := Merge(t.Context(), MergeRequest{Files: parts, Output: all}); err != nil {
		t.Fatalf("merging the profiles: %v", err)
	}
	graph := func(profile string) (string, error) {
		q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "sfufs", Options: method.Settings{"anchors": 300}}, Output: filepath.Join(dir, "graph.ufs")}
		if _, err := Scan(t.Context(), ScanRequest{Request: q, Profile: profile}); err != nil {
			return "", err
		}
		return strings.Join(names(selected(t, Request{Stats: q.Output, Choice: Choice{Method: "sfufs", K: 4}})), " "), nil
	}
	want, err := graph(profile("whole", ""))
	if err != nil {
		t.Fatalf("scanning with the profile of the whole: %v", err)
	}
	if got, err := graph(all); err != nil || got != want {
		t.Errorf("selected %s, want %s: %v", got, want, err)
	}
	_, err = graph(parts[0])
	refused(t, "a profile of some shards", err, "some shards", "merge the profiles of all shards")
}

func names(s *stream.Selection) (list []string) {
	for _, f := range s.Selected {
		list = append(list, f.Name)
	}
	return list
}
