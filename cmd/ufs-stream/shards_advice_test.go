package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// TestMissingPartInAStore: the command that makes a part which is missing names the folder of the
// others, with the query that finds it, in quotes for the shell, and works as it is printed.
func TestMissingPartInAStore(t *testing.T) {
	s := storetest.S3(t)
	in, _ := plant(t, 900, 2)
	plan, parts := filepath.Join(t.TempDir(), "job.plan.json"), s.URL("lake/parts/")
	must(t, "plan", in, "-o", plan)
	must(t, "scan", "--plan", plan, "--shard", "2/2", "-o", parts)
	r := invoke("merge", parts, "-o", s.URL("lake/all.ufs"))
	_, advice, _ := strings.Cut(r.err, "make each that is missing by ufs-stream ")
	advice, _, _ = strings.Cut(advice, "; ")
	if !strings.HasSuffix(advice, " -o '"+parts+"'") {
		t.Fatalf("no quotes for the shell: %s", r.err)
	}
	must(t, strings.Fields(strings.NewReplacer("JOB.plan.json", plan, "'", "").Replace(advice))...)
	must(t, "merge", parts, "-o", s.URL("lake/all.ufs"))
}

// TestDamagedPart: a part that is damaged is there, so that scanning again alone does not mend
// it; merge says to remove it first, and then it is made anew.
func TestDamagedPart(t *testing.T) {
	in, _ := plant(t, 900, 2)
	at := folder(t)
	plan, parts := at("job.plan.json"), at("parts")+"/"
	must(t, "plan", in, "-o", plan)
	must(t, "scan", "--plan", plan, "--shard", "1/1", "-o", parts)
	part := parts + "part-00001-of-00001.ufs"
	whole := read(t, part)
	for _, left := range []int{len(whole) - 1, 40} {
		if err := os.WriteFile(part, []byte(whole[:left]), 0o600); err != nil {
			t.Fatalf("writing the part: %v", err)
		}
		ends(t, exit.Data, "the file is damaged or incomplete: remove it, and", "merge", parts, "-o", at("all.ufs"))
		if err := os.Remove(part); err != nil {
			t.Fatalf("removing a file: %v", err)
		}
		must(t, "scan", "--plan", plan, "--shard", "1/1", "-o", parts)
		must(t, "merge", parts, "-o", at("all.ufs"))
	}
}

// TestPlanOfRowMethod: plan says what to run for a method that iterates over rows, which has one
// round, and that works as it is printed.
func TestPlanOfRowMethod(t *testing.T) {
	in, _ := plant(t, 900, 2)
	at := folder(t)
	plan, parts := at("job.plan.json"), at("parts")+"/"
	r := invoke("plan", in, "--method", "eufs", "--sample", "500", "-o", plan)
	if r.code != exit.Done || !strings.Contains(r.err, "(scan --profile-only --sample-rows 500, merge, select --stats)") || strings.Contains(r.err, "scan --profile)") {
		t.Errorf("plan: exit code %d: %s", r.code, r.err)
	}
	for _, shard := range []string{"1/2", "2/2"} {
		must(t, "scan", "--plan", plan, "--shard", shard, "--profile-only", "--sample-rows", "500", "-o", parts)
	}
	must(t, "merge", parts, "-o", at("all.ufs"))
	args := []string{"--method", "eufs", "-k", "4", "--max-iter", "3", "--format", "names"}
	one := must(t, append([]string{"select", in, "--sample", "500"}, args...)...)
	if got := must(t, append([]string{"select", "--stats", at("all.ufs")}, args...)...); got != one {
		t.Errorf("selected %q, want %q", got, one)
	}
}

// TestWrongPlaces: a folder, a plan or a statistics file where another of them belongs is a
// mistake that no retry mends, and is called what it is.
func TestWrongPlaces(t *testing.T) {
	in, _ := plant(t, 900, 1)
	at := folder(t)
	stats := at("all.ufs")
	must(t, "scan", in, "-o", stats)
	ends(t, exit.Fault, "whose parts go into a folder", "scan", in, "-o", at("parts")+"/")
	plan := planOf(t, in)
	ends(t, exit.Usage, "add a / at its end", "scan", "--plan", plan, "--shard", "1/2", "-o", at("new"))
	ends(t, exit.Usage, "statistics go to a file", "scan", "--plan", plan, "--shard", "1/2", "-o", "-")
	ends(t, exit.Usage, "statistics go to a file", "merge", at("x.ufs"), "-o", "-")
	ends(t, exit.Fault, "whose parts go into a folder", "scan", in, "--shard", "1/2", "-o", at(""))
	ends(t, exit.Data, "this is a folder; name a statistics file", "select", "--stats", at(""), "-k", "3")
	ends(t, exit.Data, "it is no plan: it is not JSON", "select", "--plan", stats, "-k", "3")
	ends(t, exit.Usage, "add --machines", "plan", in, "--rates", "start=3s")
	ends(t, exit.Usage, "--machines 1..3: want whole numbers", "plan", in, "--machines", "1..3")
	plan = at("job.plan.json")
	must(t, "plan", in, "-o", plan)
	must(t, "scan", "--plan", plan, "-o", at("a")+"/../b/")
	if left, _ := filepath.Glob(at("a")); len(left) > 0 {
		t.Errorf("made %v on the way to another folder", left)
	}
}

// TestDroppedRowsAreToldOnce: the sum of many parts tells of the rows that all of them dropped,
// not of each part's.
func TestDroppedRowsAreToldOnce(t *testing.T) {
	in, _ := plantHoled(t, 900, 3)
	at := folder(t)
	profiles, parts, plan := at("profiles")+"/", at("parts")+"/", at("job.plan.json")
	must(t, "plan", in, "--missing", "drop-row", "-o", plan)
	for _, shard := range []string{"1/3", "2/3", "3/3"} {
		must(t, "scan", "--plan", plan, "--shard", shard, "--profile-only", "-o", profiles)
	}
	must(t, "merge", profiles, "-o", at("profile.ufs"))
	for _, shard := range []string{"1/3", "2/3", "3/3"} {
		must(t, "scan", "--plan", plan, "--shard", shard, "--profile", at("profile.ufs"), "-o", parts)
	}
	must(t, "merge", "--partial", parts+"part-00001-of-00003.ufs", parts+"part-00003-of-00003.ufs", "-o", at("some.ufs"))
	must(t, "merge", at("some.ufs"), parts+"part-00002-of-00003.ufs", "-o", at("all.ufs"))
	must(t, "scan", in, "--missing", "drop-row", "-o", at("one.ufs"))
	got, want := decoded[ufs.Inspection](t, "inspect", at("all.ufs")), decoded[ufs.Inspection](t, "inspect", at("one.ufs"))
	if len(want.Warnings) != 1 || !strings.Contains(want.Warnings[0], " of 900 rows were dropped") || len(got.Warnings) != 1 || got.Warnings[0] != want.Warnings[0] {
		t.Errorf("warnings %q, want %q", got.Warnings, want.Warnings)
	}
}

// TestInspectParts: inspect says which shards of a plan a statistics file is of.
func TestInspectParts(t *testing.T) {
	in, _ := plant(t, 900, 2)
	at := folder(t)
	plan, parts := at("job.plan.json"), at("parts")+"/"
	must(t, "plan", in, "-o", plan)
	part := func(i string) string { return parts + "part-0000" + i + "-of-00003.ufs" }
	for _, i := range []string{"1", "2", "3"} {
		must(t, "scan", "--plan", plan, "--shard", i+"/3", "-o", parts)
	}
	must(t, "merge", "--partial", part("1"), part("3"), "-o", at("some.ufs"))
	must(t, "merge", parts, "-o", at("all.ufs"))
	for path, want := range map[string]string{part("2"): ": shard 2 of 3\n", at("some.ufs"): ": shards 1, 3 of 3\n", at("all.ufs"): ": all 3 shards\n"} {
		seen := decoded[ufs.Inspection](t, "inspect", path)
		if out := must(t, "inspect", path); seen.Part == nil || !strings.Contains(out, "plan "+seen.Part.Plan+want) {
			t.Errorf("%s: want %q in\n%s", path, want, out)
		}
	}
}

// TestGraphThatDropsRows: shards cannot draw anchors while rows are dropped for columns that may
// turn out useless. The plan says so, not the first shard, and what it advises works.
func TestGraphThatDropsRows(t *testing.T) {
	in, _ := plantHoled(t, 900, 3)
	at := folder(t)
	plan := at("job.plan.json")
	graph := []string{"plan", in, "--method", "laplacian", "--anchors", "20", "-o", plan}
	drop := append(slices.Clone(graph), "--missing", "drop-row")
	ends(t, exit.Usage, "leave out all columns with missing values by --exclude", drop...)
	if left, _ := filepath.Glob(plan); len(left) > 0 {
		t.Error("a plan was written that no shard can be scanned by")
	}
	var holes []string
	for _, c := range decoded[ufs.Inspection](t, "inspect", in).Columns {
		if c.Nulls != nil && *c.Nulls > 0 {
			holes = append(holes, c.Name)
		}
	}
	for _, advised := range [][]string{append(slices.Clone(graph), "--missing", "mean"), append(drop, "--exclude", strings.Join(holes, ","))} {
		must(t, advised...)
		must(t, "scan", "--plan", plan, "--shard", "1/3", "--profile-only", "-o", at("part.ufs"))
		if err := errors.Join(os.Remove(at("part.ufs")), os.Remove(plan)); err != nil {
			t.Fatalf("removing the part and the plan: %v", err)
		}
	}
}

// TestSmallestLimitOfRounds: the limit that plan names is enough for a shard in all rounds of its
// method, and for one of them less is not.
func TestSmallestLimitOfRounds(t *testing.T) {
	in, _ := plant(t, 900, 3)
	for method, rows := range map[string]string{"sfufs": "", "eufs": "900"} {
		at := folder(t)
		plan := at("job.plan.json")
		r := invoke("plan", in, "--method", method, "-o", plan)
		var limit int
		_, after, ok := strings.Cut(r.err, "to read; --memory-limit ")
		if _, err := fmt.Sscanf(after, "%dMiB", &limit); !ok || err != nil {
			t.Fatalf("plan said %s", r.err)
		}
		scan := func(limit int, to string, args ...string) (code int) {
			for _, shard := range []string{"1/2", "2/2"} {
				r := invoke(append([]string{"scan", "--plan", plan, "--shard", shard, "-o", at(to) + "/", "--memory-limit", fmt.Sprintf("%dMiB", limit)}, args...)...)
				code = max(code, r.code)
			}
			return code
		}
		first := []string{"--profile-only"}
		if rows != "" {
			first = append(first, "--sample-rows", rows)
		}
		less := []int{scan(limit-1, "less", first...)}
		enough := []int{scan(limit, "profiles", first...)}
		if rows == "" {
			must(t, "merge", at("profiles")+"/", "-o", at("profile.ufs"))
			second := []string{"--profile", at("profile.ufs")}
			less, enough = append(less, scan(limit-1, "fewer", second...)), append(enough, scan(limit, "parts", second...))
		}
		if slices.Max(enough) != exit.Done || slices.Max(less) != exit.Memory {
			t.Errorf("%s: exit codes of the rounds %v with %d MiB, and %v with one less", method, enough, limit, less)
		}
	}
}

// TestPlanForeseesMissingValues: if the footers show values that every scan will refuse, plan reports it before any
// round. It does not if the values are filled, or if a column has no values at all.
func TestPlanForeseesMissingValues(t *testing.T) {
	path := fixtures.DatasetPath(t, "messy.parquet")
	for columns, want := range map[string]string{"flag,d_clean,late_f,null_col --missing error": "in 2 columns (flag,late_f)", "d_clean,null_col --missing error": "", "d_clean,flag --missing mean": "", "d_clean,flag": ""} {
		args := append([]string{"plan", path, "-o", filepath.Join(t.TempDir(), "job.plan.json"), "--columns"}, strings.Fields(columns)...)
		r := invoke(args...)
		if got := strings.Contains(r.err, "values are missing in"); r.code != exit.Done || got != (want != "") || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit code %d, want %q in\n%s", columns, r.code, want, r.err)
		}
	}
}
