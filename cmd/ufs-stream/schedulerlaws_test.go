package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
)

// runsAsWritten runs the commands of the README, in order, with its folders in another place.
func (s scheduler) runsAsWritten(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatalf("making the path absolute: %v", err)
	}
	_, section, _ := strings.Cut(read(t, filepath.Join(root, "examples", "README.md")), "\n## "+s.section+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	in, _ := plant(t, 450, 2)
	bin, state := programFolder(t), folder(t)
	places := strings.NewReplacer("/lake/events", in, "/shared/events", state("events"))
	ran := 0
	for _, block := range strings.Split(section, "```sh\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.Lines(block) {
			code, out := outside(t, bin, s.env, "bash", "-c", "cd '"+root+"' && "+places.Replace(line))
			if code != exit.Done {
				t.Fatalf("%sexit code %d\n%s", line, code, out)
			}
			ran++
		}
	}
	if ran < 2 {
		t.Errorf("the README has %d commands for %s", ran, s.section)
	}
	for name, method := range map[string]string{"events": "greedy", "events-sfufs": "sfufs"} {
		want := names(selection(t, in, "--method", method, "-k", "9"))
		if got := names(readSelection(t, filepath.Join(state(name), "selection.json"))); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", method, got, want)
		}
	}
}

// selectsAsOneRun: shards give what one run gives; run again, nothing is scanned again, and with
// one part gone only that one.
func (s scheduler) selectsAsOneRun(t *testing.T) {
	t.Parallel()
	in, _ := plant(t, 2000, 3)
	j := s.job(t, in, "METHOD=greedy")
	j.run(exit.Done)
	j.answers("greedy")
	j.ranOnce("stats")

	parts, err := filepath.Glob(j.state("parts/stats/*.ufs"))
	if err != nil || len(parts) != shardsOfExamples {
		t.Fatalf("parts %v, %v", parts, err)
	}
	before := map[string]os.FileInfo{}
	for _, path := range parts {
		if before[path], err = os.Stat(path); err != nil {
			t.Fatalf("finding a file: %v", err)
		}
	}
	j.run(exit.Done)
	j.ranOnce("stats")
	for _, path := range []string{parts[4], j.state("stats.ufs")} {
		if err := os.Remove(path); err != nil {
			t.Fatalf("removing a file: %v", err)
		}
	}
	j.run(exit.Done)
	j.answers("greedy")
	for _, path := range parts {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatalf("finding a file: %v", err)
		}
		if kept := os.SameFile(info, before[path]) && info.ModTime().Equal(before[path].ModTime()); kept != (path != parts[4]) {
			t.Errorf("%s: the same file is %v", path, kept)
		}
	}
	if out := j.run(exit.Usage, "PLAN_FLAGS=--exclude x001"); !strings.Contains(out, "is of another job") {
		t.Errorf("other options with the same plan: %s", out)
	}
}

// samples: methods that iterate over rows get those that one run on a sample takes.
func (s scheduler) samples(t *testing.T) {
	t.Parallel()
	in, _ := plant(t, 900, 2)
	j := s.job(t, in, "METHOD=eufs", "SAMPLE=300", "SELECT_FLAGS=--clusters 3 --max-iter 4")
	j.run(exit.Done)
	j.ranOnce("profile")
	want := selection(t, in, "--method", "eufs", "--sample", "300", "--clusters", "3", "--max-iter", "4", "-k", "9")
	got := readSelection(t, j.state("selection.json"))
	if a, b := names(got), names(want); !slices.Equal(a, b) || got.RowsUsed != want.RowsUsed {
		t.Errorf("%v of %d rows, want %v of %d", a, got.RowsUsed, b, want.RowsUsed)
	}
}

// kill ends a process by its number.
func kill(pid string) error {
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil {
		return err
	}
	p, err := os.FindProcess(n)
	if err != nil {
		return err
	}
	return p.Kill()
}

// triesAgain: a process is killed while it waits for the data of its shard, another one finds
// the store busy. Both are scanned again, and no other; nothing counts twice.
func (s scheduler) triesAgain(t *testing.T) {
	t.Parallel()
	in, paths := plant(t, 320, shardsOfExamples) // one row group in each file, and one file in each shard
	store, env := storetest.S3Apart(t)
	proxy := storetest.NewProxy(t, store.Endpoint)
	for _, path := range paths {
		store.PutObject("data/"+filepath.Base(path), []byte(read(t, path)))
	}
	j := s.job(t, in, "METHOD=sfufs", "INPUT="+store.URLAt(proxy.URL, "data/"), "PARTS="+store.URL("parts"))
	j.settings = append(env, j.settings...)
	j.first("scan-stats-3", `echo $$ >"$NOTES/pid.new"; mv "$NOTES/pid.new" "$NOTES/pid"`+"\n")
	j.first("scan-stats-6", "echo busy; exit 75\n")
	var killed atomic.Int32
	proxy.OnRequest(func(r *http.Request) *http.Response {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, filepath.Base(paths[2])) {
			if pid, err := os.ReadFile(j.notes("pid")); err == nil && killed.CompareAndSwap(0, 1) {
				if err := kill(string(pid)); err != nil {
					t.Errorf("the process of the shard could not be killed: %v", err)
				}
			}
		}
		return nil
	})
	j.run(exit.Done)
	if killed.Load() == 0 {
		t.Error("no process was killed")
	}
	j.answers("sfufs")
	j.ranOnce("profile")
	j.ranOnce("stats", 3, 6)
	for _, round := range []string{"profile", "stats"} {
		if parts, err := filepath.Glob(filepath.Join(store.Dir, "parts", round, "*")); err != nil || len(parts) != shardsOfExamples {
			t.Errorf("round %s left %v, %v", round, parts, err)
		}
	}
}

// stops: where the data of a shard are corrupt, its scan is not tried again, its message and
// exit code come out, and what depends on all shards does not run.
func (s scheduler) stops(t *testing.T) {
	t.Parallel()
	in, paths := plant(t, 800, shardsOfExamples)
	text := read(t, paths[4])
	write(t, paths[4], damaged(text, 4, len(text)/2, 7)) // pages, not the footer
	j := s.job(t, in, "METHOD=greedy")
	out := j.run(exit.Data)
	if !strings.Contains(out, filepath.Base(paths[4])) || !strings.Contains(out, "5/8") {
		t.Errorf("it does not name the shard and its file:\n%s", out)
	}
	if n := j.runs("scan-stats-5"); n != 1 {
		t.Errorf("the shard was scanned %d times", n)
	}
	if j.runs("merge") != 0 || j.runs("select") != 0 {
		t.Errorf("merged or selected in spite of it: %s", read(t, j.notes("runs")))
	}
	for _, name := range []string{"stats.ufs", "selection.json"} {
		if _, err := os.Stat(j.state(name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}

// goesOn: where a shard fails more often than it may, its exit code comes out, and the same
// command later finishes the job. The settings are those of real clusters.
func (s scheduler) goesOn(t *testing.T) {
	t.Parallel()
	in, _ := plant(t, 900, 2)
	j := s.job(t, in, "METHOD=greedy", "TRIES=1", "RETRIES=0", "PLAN_FLAGS=--exclude x001 --missing mean",
		"SCAN_FLAGS=--memory-limit 1GiB --threads 2", "SELECT_FLAGS=--scale minmax",
		"SBATCH=--partition=all --time=10", "SCAN_SBATCH=--cpus-per-task=2 --mem=1G")
	j.first("scan-stats-2", "echo 'the store is busy' >&2; exit 75\n")
	if out := j.run(exit.TryAgain); !strings.Contains(out, "the store is busy") || !strings.Contains(out, "2/8") {
		t.Errorf("it does not say what failed:\n%s", out)
	}
	j.run(exit.Done)
	if n := j.runs("scan-stats-2"); n != 2 {
		t.Errorf("the shard was scanned %d times", n)
	}
	want := names(selection(t, in, "--method", "greedy", "--exclude", "x001", "--missing", "mean", "--scale", "minmax", "-k", "9"))
	if got := names(readSelection(t, j.state("selection.json"))); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// runsElementsAgain: elements that failed for good run again by themselves when their cause has
// gone.
func (s scheduler) runsElementsAgain(t *testing.T) {
	t.Parallel()
	in, _ := plant(t, 800, 1)
	j := s.job(t, in, "METHOD=greedy")
	for shard := 1; shard <= shardsOfExamples; shard++ {
		does := "touch \"$NOTES/began-" + strconv.Itoa(shard) + "\"\n"
		if shard == 3 || shard == 7 { // when the others have begun, which otherwise would not
			does += "until [ $(ls \"$NOTES\"/began-* | wc -l) = 8 ]; do sleep 0.1; done; echo 'the memory limit cannot be met' >&2; exit 4\n"
		}
		j.first("scan-stats-"+strconv.Itoa(shard), does)
	}
	out := j.run(exit.Memory)
	for _, says := range []string{"scan stats 3/8", "scan stats 7/8", "the memory limit cannot be met"} {
		if !strings.Contains(out, says) {
			t.Errorf("it does not say %q:\n%s", says, out)
		}
	}
	j.run(exit.Done, "ARRAY=3,7")
	j.answers("greedy")
	j.ranOnce("stats", 3, 7)
}
