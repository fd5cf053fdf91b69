package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/apache/iceberg-go/table/compaction"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// mergeOnRead has deletes written as delete files.
var mergeOnRead = iceberg.Properties{"format-version": "2", "write.delete.mode": "merge-on-read"}

// Three appends and one delete file: the same as the live rows by hand, before and after a compaction, by the commands
// that read plans. The snapshots before are there by ID, time, tag and branch.
func TestThreeAppendsAndADelete(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 3))
	s := local(t, events(), nil, mergeOnRead)
	dir := s.current.Location()
	var rows []row
	var ids []int64
	var counts []int
	for range 3 {
		more := someEvents(rng, 200)
		rows = append(rows, more...)
		ids, counts = append(ids, s.append(more)), append(counts, len(rows))
		time.Sleep(2 * time.Millisecond) // snapshots are told apart by the millisecond
	}
	whole := mustSelect(t, byHand(t, events(), rows))
	sameSelection(t, "three appends", mustSelect(t, "--plan", mustPlan(t, dir)), whole)

	gone := rows[slices.IndexFunc(rows, func(r row) bool { return r["qty"] != nil })]["qty"].(int64)
	dead := func(r row) bool { return r["qty"] == gone }
	s.change(func(tx *table.Transaction) error {
		return tx.Delete(t.Context(), iceberg.EqualTo(iceberg.Reference("qty"), int32(gone)), nil)
	})
	live := slices.DeleteFunc(slices.Clone(rows), dead)
	if len(live) == len(rows) || liveRows(t, s) != int64(len(live)) {
		t.Fatalf("%d rows of %d are live, and Iceberg says %d", len(live), len(rows), liveRows(t, s))
	}
	everyCommand(t, mustPlan(t, dir), byHand(t, events(), live))
	for _, where := range []string{"ok", "not ok", "qty < 0 or score > 0", "x0 > 0 and site is not null"} {
		plan := mustPlan(t, dir, "--where", where)
		sameSelection(t, where, mustSelect(t, "--plan", plan), mustSelect(t, byHand(t, events(), live), "--where", where))
	}

	// What is older than the delete is as it was.
	for i, id := range ids {
		want := mustSelect(t, byHand(t, events(), rows[:counts[i]]))
		at := s.current.SnapshotByID(id).TimestampMs
		for _, by := range [][]string{{"--snapshot", fmt.Sprint(id)}, {"--as-of", timeText(at)}, {"--as-of", timeText(at + 1)}} {
			plan := mustPlan(t, append([]string{dir}, by...)...)
			sameSelection(t, fmt.Sprint(by), mustSelect(t, "--plan", plan), want)
			if h, _ := readPlan(t, plan); h.Table.Version != id || h.Table.Format != "iceberg" || h.Table.Time != timeText(at) {
				t.Errorf("%v: the plan is of %+v", by, h.Table)
			}
		}
	}
	refs := []table.Update{
		table.NewSetSnapshotRefUpdate("first", ids[0], table.TagRef, 0, 0, 0),
		table.NewSetSnapshotRefUpdate("side", ids[1], table.BranchRef, 0, 0, 0),
	}
	must.Do(t, s.put(must.Get(table.UpdateTableMetadata(s.current.Metadata(), refs, s.current.MetadataLocation()))(t)))
	sameSelection(t, "tag", mustSelect(t, "--plan", mustPlan(t, dir, "--tag", "first")), mustSelect(t, byHand(t, events(), rows[:counts[0]])))
	sameSelection(t, "branch", mustSelect(t, "--plan", mustPlan(t, dir, "--branch", "side")), mustSelect(t, byHand(t, events(), rows[:counts[1]])))
	refused(t, 2, []string{dir, "--tag", "frist"}, "--tag frist", "did you mean first?")
	refused(t, 2, []string{dir, "--branch", "first"}, "--branch first", "no branch of this name", "main, side")
	refused(t, 2, []string{dir, "--snapshot", "7"}, "--snapshot 7", fmt.Sprint(ids[2]))
	refused(t, 2, []string{dir, "--as-of", "2001-01-01"}, "had no snapshot yet")

	compact(t, s)
	everyCommand(t, mustPlan(t, dir), byHand(t, events(), live))
}

// everyCommand compares what ufs-stream reads of a plan with the same rows in one file.
func everyCommand(t *testing.T, plan, hand string) {
	t.Helper()
	want := mustSelect(t, hand)
	sameSelection(t, "select", mustSelect(t, "--plan", plan), want)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must.Do(t, os.Mkdir(at("parts"), 0o750))
	for _, args := range [][]string{
		{"plan", "--plan", plan, "--columns", "x*", "--method", "greedy", "-o", at("job.plan.json")},
		{"scan", "--plan", at("job.plan.json"), "--shard", "1/2", "-o", at("parts") + "/"},
		{"scan", "--plan", at("job.plan.json"), "--shard", "2/2", "-o", at("parts") + "/"},
		{"merge", at("parts") + "/", "-o", at("shards.ufs")},
		{"scan", "--plan", at("job.plan.json"), "--shard", "1/1", "-o", at("whole.ufs")},
	} {
		runCommand(t, args...)
	}
	sameSelection(t, "two shards", mustSelect(t, "--stats", at("shards.ufs")), want)
	sameSelection(t, "scan", mustSelect(t, "--stats", at("whole.ufs")), want)
	if got, want := runCommand(t, "redundancy", "--plan", plan, "--columns", "x*", "--format", "json"), runCommand(t, "redundancy", hand, "--columns", "x*", "--format", "json"); countRows(t, got) != countRows(t, want) {
		t.Errorf("redundancy reads %d rows, want %d", countRows(t, got), countRows(t, want))
	}
}

func countRows(t *testing.T, result string) int64 {
	t.Helper()
	var r struct {
		Rows int64 `json:"rows"`
	}
	must.Do(t, json.Unmarshal([]byte(result), &r))
	if r.Rows == 0 {
		t.Errorf("no number of rows in %.200s", result)
	}
	return r.Rows
}

func runCommand(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), ufsStream, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("running ufs-stream %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// compact rewrites the data files that have deletes.
func compact(t *testing.T, s *shelf) {
	t.Helper()
	cfg := compaction.DefaultConfig()
	cfg.DeleteFileThreshold, cfg.MinInputFiles = 1, 1
	tasks := must.Get(s.current.Scan().PlanFiles(t.Context()))(t)
	p := must.Get(cfg.PlanCompaction(tasks))(t)
	var groups []table.CompactionTaskGroup
	for _, g := range p.Groups {
		groups = append(groups, table.CompactionTaskGroup{PartitionKey: g.PartitionKey, Tasks: g.Tasks, TotalSizeBytes: g.TotalSizeBytes})
	}
	must.Get(s.current.RewriteDataFiles(t.Context(), groups, table.RewriteDataFilesOptions{}))(t)
}

// A file that changed or went since the snapshot is refused by name, and so is a table that is
// none or that is empty.
func TestRefusedTables(t *testing.T) {
	s := local(t, events(), nil, nil)
	dir := s.current.Location()
	refused(t, 3, []string{dir}, dir, "no snapshot")
	refused(t, 3, []string{t.TempDir()}, "this is no Iceberg table")
	refused(t, 3, []string{filepath.Join(dir, "metadata", "v9.metadata.json")}, "v9.metadata.json", "no such file")
	s.append(someEvents(rand.New(rand.NewPCG(1, 1)), 20))
	_, files := readPlan(t, mustPlan(t, dir))
	data := must.Get(os.ReadFile(files[0].Path))(t)
	must.Do(t, os.WriteFile(files[0].Path, append(data, 0), 0o600))
	refused(t, 3, []string{dir}, files[0].Path, "it was replaced")
	must.Do(t, os.WriteFile(files[0].Path, make([]byte, len(data)), 0o600))
	refused(t, 3, []string{dir}, files[0].Path, "the footer of this Parquet file cannot be read")
	must.Do(t, os.Remove(files[0].Path))
	refused(t, 3, []string{dir}, files[0].Path, "it is not there")
	must.Do(t, os.WriteFile(filepath.Join(dir, "metadata", "version-hint.text"), []byte("99"), 0o600))
	refused(t, 3, []string{dir}, "version-hint.text says that the newest metadata are version 99")
	newer := "00007-3f2504e0-4f89-11d3-9a0c-0305e82c3301.metadata.json"
	must.Do(t, os.WriteFile(filepath.Join(dir, "metadata", newer), []byte("{}"), 0o600))
	refused(t, 3, []string{dir}, newer, "--catalog rest or glue")
	refused(t, 3, []string{filepath.Join(dir, "metadata", newer)}, newer, "cannot be read")
}

// Requests that cannot be are usage errors, which name the flag.
func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "one TABLE"},
		{[]string{"t", "u"}, "one TABLE"},
		{[]string{"t", "--catalog", "hive"}, "--catalog hive: it is hadoop, rest or glue"},
		{[]string{"db.t", "--catalog", "rest"}, "--catalog rest needs --uri"},
		{[]string{"/lake/t", "--catalog", "glue"}, "namespace.table"},
		{[]string{"t", "--uri", "http://x"}, "--uri is of a REST catalog"},
		{[]string{"t", "--tag", "a", "--branch", "b"}, "only one"},
		{[]string{"t", "--snapshot", "0"}, "no ID"},
		{[]string{"t", "--as-of", "yesterday"}, "--as-of yesterday: want a time"},
		{[]string{"db.t", "--catalog", "rest", "--uri", "http://127.0.0.1:1", "--property", "x"}, "--property x: want NAME=VALUE"},
	} {
		refused(t, 2, c.args, c.says)
	}
	if code, said := planOf(t, "t", "-o", "plan.json"); code != 2 || said == "" {
		t.Errorf("-o plan.json: exit code %d: %s", code, said)
	}
}
