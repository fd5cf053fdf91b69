package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// example is the path of a file of examples/daily.
func example(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "examples", "daily", name))
	if err != nil {
		t.Fatalf("making the path absolute: %v", err)
	}
	return path
}

// needs skips where the machine has not what an example is written for.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("no %s on this machine", p)
		}
	}
}

// programFolder has this test binary as ufs-stream, to be put on the PATH.
func programFolder(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("finding this program: %v", err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "ufs-stream")); err != nil {
		t.Fatalf("linking a file: %v", err)
	}
	return dir
}

// outside runs a command with the program on its PATH, and returns its exit code and output.
func outside(t *testing.T, bin string, env []string, name string, args ...string) (int, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), append([]string{asProgram + "=1", "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}, env...)...)
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("%s did not run", name)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// daysOfExamples are as many as the examples are run for; the factors change after a third, so
// that a total of all days notices too.
const (
	daysOfExamples   = 9
	changeOfExamples = 4
)

// examplePartitions makes the days' partitions.
func examplePartitions(t *testing.T, at func(string) string) {
	t.Helper()
	for day := 1; day <= daysOfExamples; day++ {
		dailyPartition(t, at("data"), day, day >= changeOfExamples)
	}
}

// TestDailyScript runs the script of the examples day by day: it selects on the first, again
// only after the factors have changed, and a day that is run again changes nothing.
func TestDailyScript(t *testing.T) {
	needs(t, "bash", "flock", "realpath")
	bin, at := programFolder(t), folder(t)
	examplePartitions(t, at)
	env := []string{"DATA=" + at("data"), "STATE=" + at("state"), "K=5", "WINDOW=4", "DECAY=0.9", "CHECK_FLAGS=--psi-limit 2"}
	again := []int{}
	for day := 1; day <= daysOfExamples; day++ {
		run := append([]string{"DAY=" + dayName(day)}, env...)
		code, out := outside(t, bin, run, "bash", example(t, "daily.sh"))
		if code != exit.Done {
			t.Fatalf("day %d: exit code %d\n%s", day, code, out)
		}
		if strings.Contains(out, "select again") {
			again = append(again, day)
			if diff := read(t, at("state/history/"+dayName(day)+".diff.txt")); !strings.Contains(diff, "came") {
				t.Errorf("day %d: the diff is\n%s", day, diff)
			}
		} else if serves := strings.Contains(out, "still serves"); serves != (day > 1) {
			t.Errorf("day %d: %s", day, out)
		}
		before := names(readSelection(t, at("state/selection.json")))
		if code, out := outside(t, bin, run, "bash", example(t, "daily.sh")); code != exit.Done || !strings.Contains(out, "still serves") {
			t.Errorf("day %d again: exit code %d\n%s", day, code, out)
		}
		if after := names(readSelection(t, at("state/selection.json"))); !slices.Equal(after, before) {
			t.Errorf("day %d again: %v, was %v", day, after, before)
		}
	}
	if len(again) == 0 || again[0] < changeOfExamples {
		t.Errorf("selected again on days %v, want none before %d and one after", again, changeOfExamples)
	}
	if s := readSelection(t, at("state/selection.json")); s.Options["window"] != "4" || s.Options["decay"] != "0.9" {
		t.Errorf("the selection records %v", s.Options)
	}
	code, out := outside(t, bin, append([]string{"DAY=2031-01-01"}, env...), "bash", example(t, "daily.sh"))
	if code != exit.Data || !strings.Contains(out, "2031-01-01") {
		t.Errorf("a day without data: exit code %d\n%s", code, out)
	}
}

// TestDailyScriptOnTable runs the script on a Delta table that gains a file a day and loses an old one, so that the
// factors change: what it keeps is a scan of the table of that day, though older files are no longer there.
func TestDailyScriptOnTable(t *testing.T) {
	needs(t, "bash", "flock", "realpath")
	bin, at := programFolder(t), folder(t)
	examplePartitions(t, at)
	if err := os.MkdirAll(at("data/_delta_log"), 0o777); err != nil {
		t.Fatalf("making a folder: %v", err)
	}
	columns, _ := dailyValues(1, false, 1)
	fields := make([]map[string]any, len(columns))
	for i, name := range columns {
		fields[i] = map[string]any{"name": name, "type": "double", "nullable": true, "metadata": map[string]any{}}
	}
	schema, err := json.Marshal(map[string]any{"type": "struct", "fields": fields})
	if err != nil {
		t.Fatalf("making the schema: %v", err)
	}
	quoted, _ := json.Marshal(string(schema))
	log := `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
{"metaData":{"id":"t","format":{"provider":"parquet","options":{}},"schemaString":` + string(quoted) + `,"partitionColumns":[],"configuration":{}}}
`
	env := []string{"TABLE=" + at("data"), "STATE=" + at("state"), "K=5", "CHECK_FLAGS=--psi-limit 2"}
	var again []int
	for day := 1; day <= daysOfExamples; day++ {
		file := "day=" + dayName(day) + "/part-0.parquet"
		info, err := os.Stat(at("data/" + file))
		if err != nil {
			t.Fatalf("looking at a file: %v", err)
		}
		log += fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{},"size":%d,"modificationTime":1,"dataChange":true}}`+"\n", file, info.Size())
		if day > 3 {
			log += fmt.Sprintf(`{"remove":{"path":"day=%s/part-0.parquet","dataChange":true}}`+"\n", dayName(day-3))
		}
		write(t, at(fmt.Sprintf("data/_delta_log/%020d.json", day-1)), log)
		log = ""
		if day > 4 { // the day's run needs only the files that came and went
			if err := os.Remove(at("data/day=" + dayName(day-4) + "/part-0.parquet")); err != nil {
				t.Fatalf("removing a file: %v", err)
			}
		}
		run := append([]string{"DAY=" + dayName(day)}, env...)
		for range 2 { // running it again adds nothing
			code, out := outside(t, bin, run, "bash", example(t, "daily.sh"))
			if code != exit.Done {
				t.Fatalf("day %d: exit code %d\n%s", day, code, out)
			}
			if strings.Contains(out, "select again") {
				again = append(again, day)
			}
		}
		must(t, "scan", at("data"), "-o", at("whole.ufs"))
		flags := []string{"--method", "greedy", "-k", "5"}
		got, want := selection(t, append(flags, "--stats", at("state/total.ufs"))...), selection(t, append(flags, "--stats", at("whole.ufs"))...)
		if !slices.Equal(names(got), names(want)) || got.Rows != want.Rows {
			t.Errorf("day %d: %v of %d rows, want %v of %d", day, names(got), got.Rows, names(want), want.Rows)
		}
	}
	if len(again) == 0 || again[0] < changeOfExamples {
		t.Errorf("selected again on days %v, want none before %d and one after", again, changeOfExamples)
	}
	if r := invoke("inspect", at("state/changes.ufs")); !strings.Contains(r.out, "version 8 of "+at("data")+": only the changes since version 8\n") {
		t.Errorf("inspect of the changes:\n%s%s", r.out, r.err)
	}
	must(t, "scan", at("data"), "--since", "7", "-o", at("day.ufs"))
	ends(t, exit.Usage, "would be added twice", "merge", at("state/total.ufs"), at("day.ufs"), "-o", at("all.ufs"))
	ends(t, exit.Usage, "merge it with the statistics of that version first", "select", "--stats", at("day.ufs"), "-k", "2")
	for _, flags := range [][]string{{"--where", columns[0] + " > 0"}, {"--columns", columns[0] + "," + columns[1] + "," + columns[2]}} {
		must(t, append([]string{"scan", at("data"), "--version", "7", "-o", at("7.ufs")}, flags...)...)
		must(t, append([]string{"scan", at("data"), "--since", at("7.ufs"), "-o", at("8.ufs")}, flags...)...)
		must(t, "merge", at("7.ufs"), at("8.ufs"), "-o", at("78.ufs"))
		must(t, append([]string{"scan", at("data"), "-o", at("whole.ufs")}, flags...)...)
		got, want := selection(t, "--stats", at("78.ufs"), "--method", "greedy", "-k", "2"), selection(t, "--stats", at("whole.ufs"), "--method", "greedy", "-k", "2")
		if !slices.Equal(names(got), names(want)) || got.Rows != want.Rows {
			t.Errorf("%v: %v of %d rows, want %v of %d", flags, names(got), got.Rows, names(want), want.Rows)
		}
	}
}

// airflow stands in for the modules that the DAG imports: it writes the tasks in the order of
// their dependences.
const airflow = `
import json, os
class DAG:
    def __init__(self, **options): self.options = options
    def __enter__(self): return self
    def __exit__(self, *_): print(json.dumps(chain))
chain = []
class BashOperator:
    def __init__(self, task_id, bash_command, skip_on_exit_code=None):
        self.task = {"id": task_id, "command": bash_command, "skip": skip_on_exit_code}
    def __rshift__(self, other):
        for op in (self, other):
            if op.task not in chain: chain.append(op.task)
        return other
`

// TestDailyDAG compiles the DAG of the examples and runs its tasks as Airflow would, day by day.
func TestDailyDAG(t *testing.T) {
	needs(t, "bash", "python3")
	bin, at := programFolder(t), folder(t)
	for name, text := range map[string]string{"airflow/__init__.py": airflow, "airflow/operators/__init__.py": "", "airflow/operators/bash.py": "from airflow import BashOperator\n"} {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o777); err != nil {
			t.Fatalf("making a folder: %v", err)
		}
		write(t, at(name), text)
	}
	dag := write(t, at("dag.py"), read(t, example(t, "ufs_daily_dag.py"))) // compiled beside it
	if code, out := outside(t, bin, nil, "python3", "-m", "py_compile", dag); code != 0 {
		t.Fatalf("it does not compile:\n%s", out)
	}
	code, out := outside(t, bin, []string{"PYTHONPATH=" + filepath.Dir(dag)}, "python3", dag)
	var tasks []struct {
		ID, Command string
		Skip        *int
	}
	if err := json.Unmarshal([]byte(out), &tasks); code != 0 || err != nil || len(tasks) != 4 {
		t.Fatalf("exit code %d, %v, %s", code, err, out)
	}
	examplePartitions(t, at)
	env := []string{"UFS_DATA=" + at("data"), "UFS_STATE=" + at("state"), "UFS_K=5"}
	selected := []int{}
	for day := 1; day <= daysOfExamples; day++ {
		for _, task := range tasks {
			command := strings.ReplaceAll(task.Command, "{{ ds }}", dayName(day))
			code, out := outside(t, bin, env, "bash", "-c", command)
			if task.Skip != nil && code == *task.Skip {
				break
			}
			if code != exit.Done {
				t.Fatalf("day %d, %s: exit code %d\n%s", day, task.ID, code, out)
			}
			if task.ID == "select" {
				selected = append(selected, day)
			}
		}
	}
	if len(selected) < 2 || selected[0] != 1 || selected[1] < changeOfExamples {
		t.Errorf("selected on days %v, want the first, and one from %d on", selected, changeOfExamples)
	}
}
