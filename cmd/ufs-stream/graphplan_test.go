package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/internal/planted"
	"github.com/ufs-stream/ufs-stream/internal/program"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// TestGraphPlanKeepsItsWord: passes and peak are within the limits that plan names. The
// smallest memory limit works and a MiB less does not, from a statistics file too.
func TestGraphPlanKeepsItsWord(t *testing.T) {
	clean, _ := plant(t, 3000, 2)
	holes, _ := plantSource(t, holed(planted.New(planted.Options{Rows: 3000, GroupRow: 100})), 2)
	dir := t.TempDir()
	for i, args := range []string{
		"--method sfufs " + clean, "--method sfufs --constraint scatter " + clean, "--method fufs " + clean, "--method laplacian " + clean,
		"--method mcfs " + clean, "--method graphgreedy --missing mean " + holes, "--method graphgreedy --missing drop-row " + holes,
		"--method graphgreedy --anchor-method kmeans --anchors 100 " + clean, "--method laplacian --anchors-file " + anchorsFile(t, filepath.Join(clean, "part-000.parquet")) + " " + clean,
	} {
		flags := strings.Fields(args)
		var f ufs.Forecast
		if err := json.Unmarshal([]byte(must(t, append([]string{"plan", "--format", "json", "-k", "3"}, flags...)...)), &f); err != nil {
			t.Fatal(err)
		}
		smallest := f.Memory.Smallest
		s := selection(t, append(flags, "-k", "3", "--memory-limit", fmt.Sprint(smallest))...)
		if s.Passes < f.Passes.Least || s.Passes > f.Passes.Most {
			t.Errorf("%s: %d passes, planned %d to %d", args, s.Passes, f.Passes.Least, f.Passes.Most)
		}
		if r := invoke(append([]string{"select", "-k", "3", "--memory-limit", fmt.Sprint(smallest - 1<<20)}, flags...)...); r.code != exit.Memory || !strings.Contains(r.err, mebibytes(smallest)) {
			t.Errorf("%s: exit code %d below the smallest limit, %s: %s", args, r.code, mebibytes(smallest), r.err)
		}
		if m := f.Memory; m.Peak > m.Limit || m.Anchors <= 0 || m.Anchors > m.Statistics || m.Peak != m.Program+m.Statistics+max(m.Reading, m.Solver) {
			t.Errorf("%s: %+v", args, m)
		}
		stats := filepath.Join(dir, fmt.Sprintf("%d.ufs", i))
		must(t, append([]string{"scan", "-o", stats}, flags...)...)
		smallestLimit(t, "select", "--method", f.Method, "--stats", stats, "-k", "3")
	}
}

// smallestLimit wants a command that has too little memory to name a limit that works. A
// MiB less must fail and name the same limit. merge may take two steps, because it knows
// what a merged sample needs only once it has read the parts.
func smallestLimit(t *testing.T, args ...string) {
	t.Helper()
	name, steps := "1MiB", 0
	var n program.Bytes
	for r := invoke(append(args, "--memory-limit", name)...); r.code != exit.Done; r = invoke(append(args, "--memory-limit", name)...) {
		var found bool
		_, name, found = strings.Cut(strings.TrimSpace(r.err), "--memory-limit ")
		if steps++; r.code != exit.Memory || !found || n.Set(name) != nil || steps > 2 || steps > 1 && args[0] != "merge" {
			t.Fatalf("%v, step %d: exit code %d: %s", args, steps, r.code, r.err)
		}
	}
	if r := invoke(append(args, "--memory-limit", fmt.Sprint(int64(n)-1<<20))...); r.code != exit.Memory || !strings.HasSuffix(strings.TrimSpace(r.err), name) {
		t.Errorf("%v: exit code %d below the smallest limit, %s: %s", args, r.code, name, r.err)
	}
}

// TestGraphSmallestLimits: every command on the way over shards names the limit it needs.
func TestGraphSmallestLimits(t *testing.T) {
	in, paths := plantSource(t, holed(planted.New(planted.Options{Rows: 3000, GroupRow: 100})), 2)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, drawn := range []string{"random", "kmeans"} {
		scan := []string{"scan", in, "--method", "sfufs", "--anchor-method", drawn, "--missing", "mean"}
		for _, n := range []string{"1", "2"} {
			smallestLimit(t, append(scan, "--profile-only", "--shard", n+"/2", "-o", at("p"+n+".ufs"))...)
		}
		smallestLimit(t, "merge", at("p1.ufs"), at("p2.ufs"), "-o", at("p.ufs"))
		for _, n := range []string{"1", "2"} {
			smallestLimit(t, append(scan, "--profile", at("p.ufs"), "--shard", n+"/2", "-o", at("s"+n+".ufs"))...)
		}
		smallestLimit(t, "merge", at("s1.ufs"), at("s2.ufs"), "-o", at("s.ufs"))
		smallestLimit(t, "path", "--method", "sfufs", "--stats", at("s.ufs"), "--gamma", "1,10")
	}
	smallestLimit(t, "select", in, "--method", "laplacian", "--missing", "zero", "--anchors-file", paths[0])
}

func mebibytes(n int64) string { return fmt.Sprintf("%dMiB", (n+1<<20-1)>>20) }
