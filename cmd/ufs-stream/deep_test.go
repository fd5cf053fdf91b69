package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// TestDeepJSON: whatever JSON the program reads, values within each other a million deep are refused in words
// that say so, by name, and cost no more memory than some copies of their text.
func TestDeepJSON(t *testing.T) {
	const depth, says = 1_000_000, "nested more than 10,000 deep"
	dir := t.TempDir()
	file := func(name, before, open, end, behind string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatalf("making a folder: %v", err)
		}
		return write(t, path, before+strings.Repeat(open, depth)+strings.Repeat(end, depth)+behind)
	}
	rows := write(t, filepath.Join(dir, "rows.csv"), "a,b\n1,2\n2,1\n3,5\n")
	good := filepath.Join(dir, "good.json")
	must(t, "select", rows, "-k", "1", "--method", "greedy", "-o", good)
	open, whole := file("open.json", "", `{"a":`, "", ""), file("whole.json", `{"a":`, "[", "]", "}")
	within := file("within.json", `{"schema":"ufs-stream/selection/v1","method":"greedy","k":1,"options":{"x":`, `{"y":`, "}", "}}")
	log := filepath.Dir(filepath.Dir(file("table/_delta_log/00000000000000000000.json", `{"metaData":{"id":`, "[", "]", "}}\n")))
	checkpoint := filepath.Dir(filepath.Dir(file("other/_delta_log/_last_checkpoint", `{"version":`, "[", "]", "}")))
	write(t, filepath.Join(checkpoint, "_delta_log", "00000000000000000000.json"), "{}\n")
	type run struct {
		says string
		args []string
	}
	runs := []run{
		{says, []string{"select", rows, "-k", "1", "--groups", open}}, {says, []string{"select", rows, "-k", "1", "--costs", whole, "--budget", "1"}},
		{says, []string{"select", rows, "-k", "1", "--method", "hufs", "--tree", whole}},
		{says, []string{"inspect", file("rows.ndjson", "{\"a\":1}\n{\"a\":", "[", "]", "}\n")}}, {says, []string{"inspect", file("rows.jsonl", "", `{"a":`, "", "")}},
		{says, []string{"inspect", log}}, {"no protocol action", []string{"inspect", checkpoint}},
		{says, []string{"select", "-k", "1", "--plan", file("job.plan.json", `{"schema":"ufs-stream/plan/v1","id":`, "[", "]", "}")}},
		{says, []string{"select", "-k", "1", "--plan", file("files.plan.json", `{"schema":"ufs-stream/plan/v1","files":[`, `{"path":`, "}", "]}")}},
		{"it is no plan", []string{"select", "-k", "1", "--plan", file("list.plan.json", "", "[", "]", "")}},
		{"want the value as on the command line", []string{"select", rows, "--config", file("config", "k: ", "[", "]", "")}},
		{"want flag: value", []string{"select", rows, "--config", file("flow", "", "[", "]", "")}},
	}
	for _, path := range []string{open, whole, within} {
		runs = append(runs, run{says, []string{"apply", rows, "--selection", path, "-o", filepath.Join(dir, "o.parquet")}},
			run{says, []string{"diff", path, good}}, run{says, []string{"report", path, "-o", filepath.Join(dir, "o.html")}})
	}
	for _, r := range runs {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := runHostile(t, r.args...)
		runtime.ReadMemStats(&after)
		if got.code != exit.Data && got.code != exit.Usage || !strings.Contains(got.err, r.says) || !strings.Contains(got.err, dir) {
			t.Errorf("%q: exit code %d: %.500s", r.args, got.code, got.err)
		}
		if len(got.err) > 2000 {
			t.Errorf("%q: %d bytes of error", r.args, len(got.err))
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 96<<20 { // the text has up to 7 MB
			t.Errorf("%q: %d MiB allocated", r.args, used>>20)
		}
	}
}
