package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// airflowOfTasks stands in for the modules that the sharded DAG imports. It runs the DAG when it
// is made: tasks in the order of their dependences, instances of a mapped one after the other,
// each with its retries, and what follows a failure not at all. It prints every try.
const airflowOfTasks = `
import json
class AirflowException(Exception): pass
class AirflowFailException(AirflowException): pass
tries, made = [], []
class Node:
    def __init__(self, name, function, every, mapped):
        self.name, self.function, self.every, self.mapped, self.before = name, function, every, mapped, []
        made.append(self)
    def __rshift__(self, other):
        other.before.append(self)
        return other
    def run(self, retries):
        done = True
        for index, arguments in enumerate(self.mapped):
            for number in range(retries + 1):
                outcome, said = "success", ""
                try: self.function(**self.every, **arguments)
                except AirflowFailException as e: outcome, said = "fail", str(e)
                except Exception as e: outcome, said = "retry", str(e)
                tries.append({"task": self.name, "index": index, "outcome": outcome, "said": said})
                if outcome != "retry": break
            done = done and outcome == "success"
        return done
class task:
    def __init__(self, function, name=None): self.function, self.name, self.every = function, name, {}
    def override(self, task_id): return task(self.function, task_id)
    def __call__(self, **every): return Node(self.name, self.function, every, [{}])
    def partial(self, **every):
        partial = task(self.function, self.name)
        partial.every = every
        return partial
    def expand(self, **lists):
        (name, values), = lists.items()
        return Node(self.name, self.function, self.every, [{name: v} for v in values])
def dag(default_args, **options):
    def decorate(function):
        def make():
            import contextlib, sys
            function()
            done = set()
            with contextlib.redirect_stdout(sys.stderr):
                for node in made: # made after what they need
                    if all(b.name in done for b in node.before) and node.run(default_args["retries"]):
                        done.add(node.name)
            print(json.dumps(tries))
        return make
    return decorate
`

// triesOfDAG runs the sharded DAG of the examples, and returns the outcomes of each instance in
// order, by task and index, and what the last try of each task said.
func triesOfDAG(t *testing.T, bin string, env ...string) (outcomes map[string][]string, said map[string]string) {
	t.Helper()
	at := folder(t)
	for name, text := range map[string]string{
		"airflow/__init__.py": airflowOfTasks, "airflow/decorators.py": "from airflow import dag, task\n",
		"airflow/exceptions.py": "from airflow import AirflowException, AirflowFailException\n",
	} {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o777); err != nil {
			t.Fatalf("making a folder: %v", err)
		}
		write(t, at(name), text)
	}
	dag, err := filepath.Abs(filepath.Join("..", "..", "examples", "airflow", "ufs_sharded_dag.py"))
	if err != nil {
		t.Fatalf("making the path absolute: %v", err)
	}
	code, out := outside(t, bin, append([]string{"PYTHONPATH=" + at(""), "PYTHONDONTWRITEBYTECODE=1"}, env...),
		"bash", "-c", `python3 "$0" 2>"$1" || { code=$?; cat "$1"; exit $code; }`, dag, at("log"))
	var tries []struct {
		Task, Outcome, Said string
		Index               int
	}
	if err := json.Unmarshal([]byte(out), &tries); code != exit.Done || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, out)
	}
	outcomes, said = map[string][]string{}, map[string]string{}
	for _, one := range tries {
		name := fmt.Sprintf("%s %d", one.Task, one.Index)
		outcomes[name] = append(outcomes[name], one.Outcome)
		said[one.Task] = one.Said
	}
	return outcomes, said
}

// killedOnce is a folder with the program behind a script that is killed when it first scans
// the third shard.
func killedOnce(t *testing.T) string {
	t.Helper()
	bin, at := programFolder(t), folder(t)
	write(t, at("ufs-stream"), `#!/usr/bin/env bash
case "$*" in
*--profile-only*) ;;
*"--shard 3/"*) if mkdir "`+at("killed")+`" 2>/dev/null; then kill -KILL $$; fi ;;
esac
exec "`+filepath.Join(bin, "ufs-stream")+`" "$@"
`)
	if err := os.Chmod(at("ufs-stream"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatalf("making the program executable: %v", err)
	}
	return at("")
}

// TestShardedDAG runs the sharded DAG with one round and with two: the same selection as in one
// run, and the instance that is killed is tried again alone.
func TestShardedDAG(t *testing.T) {
	needs(t, "bash", "python3")
	at := folder(t)
	data, _ := plant(t, 600, 4)
	for method, rounds := range map[string]string{"greedy": "1", "sfufs": "2"} {
		job := at(method)
		if err := os.Mkdir(job, 0o777); err != nil {
			t.Fatalf("making a folder: %v", err)
		}
		outcomes, said := triesOfDAG(t, killedOnce(t), "UFS_DATA="+data, "UFS_JOB="+job, "UFS_METHOD="+method, "UFS_K=5", "UFS_SHARDS=4", "UFS_ROUNDS="+rounds)
		want := 3 + 4
		if rounds == "2" {
			want += 1 + 4
		}
		if len(outcomes) != want {
			t.Errorf("%s: %d instances ran, want %d: %v %v", method, len(outcomes), want, outcomes, said)
		}
		for name, got := range outcomes {
			tried := []string{"success"}
			if name == "scan 2" {
				tried = []string{"retry", "success"}
			}
			if !slices.Equal(got, tried) {
				t.Errorf("%s, %s: %v, want %v\n%v", method, name, got, tried, said)
			}
		}
		must(t, "select", data, "--method", method, "-k", "5", "-o", at(method+".json"))
		if got, want := names(readSelection(t, filepath.Join(job, "selection.json"))), names(readSelection(t, at(method+".json"))); !slices.Equal(got, want) {
			t.Errorf("%s: selected %v, in one run %v", method, got, want)
		}
	}
}

// TestShardedDAGGivesUp: an exit code that is final fails the task at its first try, and what
// follows does not run.
func TestShardedDAGGivesUp(t *testing.T) {
	needs(t, "bash", "python3")
	at := folder(t)
	outcomes, said := triesOfDAG(t, programFolder(t), "UFS_DATA="+at("nothing"), "UFS_JOB="+at(""), "UFS_SHARDS=4")
	if len(outcomes) != 1 || !slices.Equal(outcomes["plan 0"], []string{"fail"}) || !strings.Contains(said["plan"], at("nothing")) {
		t.Errorf("tries %v, %v", outcomes, said)
	}
}
