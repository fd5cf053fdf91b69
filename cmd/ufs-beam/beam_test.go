package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestJob: eight shards on Prism, with a worker that is a process of its own, come to the
// statistics and the selection of one run. The commands are those of README.md.
func TestJob(t *testing.T) {
	startCluster(t)
	in := plant(t, "data", 9000, 4)
	blocks := must.Get(readme())(t)
	r := shell(t, filepath.Dir(in), blocks[jobBlock])
	if r.code != exit.Done || !strings.Contains(r.out, "8 shards; 8 parts scanned, 0 there already") {
		t.Fatalf("exit code %d:\n%s\n%s", r.code, r.out, r.err)
	}
	all, one := filepath.Join(filepath.Dir(in), "all.ufs"), filepath.Join(t.TempDir(), "one.ufs")
	ufsStream(t, "scan", in, "-o", one)
	sameMoments(t, all, one)
	if got, want := selection(t, "--stats", all), selection(t, in, "--method", "greedy"); got != want {
		t.Errorf("selected %s, one run %s", got, want)
	}
	if left := must.Get(filepath.Glob(filepath.Join(filepath.Dir(in), "parts", "*", "*.ufs")))(t); len(left) > 0 {
		t.Errorf("the parts stayed: %v", left)
	}
}

// TestGraphJob: a method with anchors has its two rounds in one job, and comes to the graph of one
// run.
func TestGraphJob(t *testing.T) {
	c := startCluster(t)
	in, dir := plant(t, "data", 3000, 3), t.TempDir()
	plan, all, one := filepath.Join(dir, "job.plan.json"), filepath.Join(dir, "all.ufs"), filepath.Join(dir, "one.ufs")
	graph := []string{in, "--method", "sfufs", "--anchors", "60"}
	ufsStream(t, append([]string{"plan", "-o", plan}, graph...)...)
	for _, want := range []string{"5 shards; 10 parts scanned, 0 there already", "5 shards; 0 parts scanned, 10 there already"} {
		r := c.beam(t, "--plan", plan, "--shards", "5", "--parts", filepath.Join(dir, "parts"), "--output", all, "--keep-parts")
		if r.code != exit.Done || !strings.Contains(r.out, want) {
			t.Fatalf("exit code %d, and not %s:\n%s\n%s", r.code, want, r.out, r.err)
		}
	}
	ufsStream(t, append([]string{"scan", "-o", one}, graph...)...)
	sameMoments(t, all, one)
	sameGraph(t, all, one)
	if got, want := selection(t, "--stats", all, "--method", "sfufs"), selection(t, graph...); got != want {
		t.Errorf("selected %s, one run %s", got, want)
	}
	// The parts of either round can be merged by hand, to the same statistics bit for bit: that is
	// also why they may be kept.
	byHand := filepath.Join(dir, "hand.ufs")
	ufsStream(t, "merge", filepath.Join(dir, "parts", "profiled")+"/", "-o", byHand)
	sameMoments(t, byHand, one)
	sameGraph(t, byHand, one)
}

// TestRowsJob: a method that iterates over rows selects from the sample that a job of profiles
// gathers as it does from the data.
func TestRowsJob(t *testing.T) {
	c := startCluster(t)
	in, dir := plant(t, "data", 3000, 3), t.TempDir()
	plan, all := filepath.Join(dir, "job.plan.json"), filepath.Join(dir, "all.ufs")
	rows := []string{"--method", "eufs", "--clusters", "4", "--max-iter", "5"}
	ufsStream(t, append([]string{"plan", in, "-o", plan}, rows...)...)
	r := c.beam(t, "--plan", plan, "--shards", "4", "--sample-rows", "400", "--parts", filepath.Join(dir, "parts"), "--output", all)
	if r.code != exit.Done || !strings.Contains(r.out, "4 shards; 4 parts scanned") {
		t.Fatalf("exit code %d:\n%s\n%s", r.code, r.out, r.err)
	}
	got := selection(t, append([]string{"--stats", all}, rows...)...)
	if want := selection(t, append([]string{in, "--sample", "400"}, rows...)...); got != want {
		t.Errorf("selected %s, from the data %s", got, want)
	}
}

// TestProfileRound: where values are missing and rows are dropped for it, shards ask for a profile
// of all, and the job makes it with the flag that they name.
func TestProfileRound(t *testing.T) {
	c := startCluster(t)
	in, dir := plantHoled(t, "data", 3000, 3), t.TempDir()
	plan, all, one := filepath.Join(dir, "job.plan.json"), filepath.Join(dir, "all.ufs"), filepath.Join(dir, "one.ufs")
	ufsStream(t, "plan", in, "--missing", "drop-row", "-o", plan)
	args := []string{"--plan", plan, "--shards", "4", "--parts", filepath.Join(dir, "parts"), "--output", all}
	r := c.beam(t, args...)
	if told := lastWords(r); !exitIs(r, exit.Usage, exit.Data) || !strings.Contains(told, "--profile-round") {
		t.Errorf("exit code %d:\n%s", r.code, told)
	}
	if r = c.beam(t, append(args, "--profile-round")...); r.code != exit.Done {
		t.Fatalf("exit code %d:\n%s", r.code, r.err)
	}
	ufsStream(t, "scan", in, "--missing", "drop-row", "-o", one)
	sameMoments(t, all, one)
}

// TestKilledWorker: a job whose worker is killed in the middle says so, and the same command goes
// on from the parts that are in the store: they are not made again, and nothing counts twice.
func TestKilledWorker(t *testing.T) {
	const shards, before = 8, 3
	s := storetest.S3(t)
	proxy := storetest.NewProxy(t, s.Endpoint)
	c := startCluster(t)
	in := plant(t, "data", 9000, 4)
	for _, path := range must.Get(filepath.Glob(filepath.Join(in, "*.parquet")))(t) {
		s.PutObject("data/"+filepath.Base(path), must.Get(os.ReadFile(path))(t))
	}
	url := func(key string) string { return s.URLAt(proxy.URL, key) }
	ufsStream(t, "plan", url("data/"), "-o", url("job.plan.json"))
	undisturbed, disturbed := url("undisturbed.ufs"), url("all.ufs")
	args := []string{"--plan", url("job.plan.json"), "--shards", "8", "--keep-parts"}
	if r := c.beam(t, append(args, "--parts", url("undisturbed/"), "--output", undisturbed)...); r.code != exit.Done {
		t.Fatalf("exit code %d:\n%s", r.code, r.err)
	}

	args = append(args, "--parts", url("parts/"), "--output", disturbed)
	var mu sync.Mutex
	killed := false
	puts := map[string]int{}
	proxy.OnRequest(func(r *http.Request) *http.Response {
		mu.Lock()
		defer mu.Unlock()
		if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/parts/statistics/part-") {
			return nil
		}
		if killed || len(puts) < before {
			puts[r.URL.Path]++
			return nil
		}
		killed = true
		if err := syscall.Kill(c.worker(t), syscall.SIGKILL); err != nil {
			t.Errorf("signalling the program: %v", err)
		}
		return storetest.NewAnswer(http.StatusServiceUnavailable, "")
	})
	r := c.beam(t, args...)
	for _, want := range []string{"worker disconnected", "the same command goes on from them"} {
		if r.code != exit.Fault || !strings.Contains(r.err, want) {
			t.Errorf("exit code %d, want %d and %q:\n%s", r.code, exit.Fault, want, r.err)
		}
	}
	if there := must.Get(filepath.Glob(filepath.Join(s.Dir, "parts", "statistics", "part-*")))(t); len(there) != before {
		t.Errorf("the parts that are there: %v, want %d", there, before)
	}
	r = c.beam(t, args...)
	if r.code != exit.Done || !strings.Contains(r.out, "8 shards; 5 parts scanned, 3 there already") {
		t.Fatalf("exit code %d:\n%s\n%s", r.code, r.out, r.err)
	}
	for key, n := range puts {
		if n != 1 {
			t.Errorf("%s was written %d times", key, n)
		}
	}
	if len(puts) != shards {
		t.Errorf("%d parts were written, want %d", len(puts), shards)
	}
	sameBits(t, disturbed, undisturbed)
}

// TestCorruptFile: the job names the file that cannot be read, with the exit code that says that
// no other try would help, and has the other shards' parts done by then.
func TestCorruptFile(t *testing.T) {
	c := startCluster(t)
	in, dir := plant(t, "data", 9000, 4), t.TempDir()
	plan, parts := filepath.Join(dir, "job.plan.json"), filepath.Join(dir, "parts")
	ufsStream(t, "plan", in, "-o", plan)
	path := filepath.Join(in, "part-2.parquet")
	good := must.Get(os.ReadFile(path))(t)
	bad := append([]byte(nil), good...)
	for i := 100; i < len(bad)/2; i += 7 {
		bad[i] ^= 0x55
	}
	must.Do(t, os.WriteFile(path, bad, 0o600))
	args := []string{"--plan", plan, "--shards", "8", "--parts", parts, "--output", filepath.Join(dir, "all.ufs"), "--keep-parts"}
	r := c.beam(t, args...)
	told := lastWords(r)
	for _, want := range []string{path, "statistics of shard 5 of 8", "the same command goes on from them"} {
		if r.code != exit.Data || !strings.Contains(told, want) {
			t.Errorf("exit code %d, want %d and %q:\n%s", r.code, exit.Data, want, told)
		}
	}
	there := len(must.Get(filepath.Glob(filepath.Join(parts, "statistics", "part-*")))(t))
	if there < 6 || there > 7 { // two shards are of the file, and one of them may be of its sound half
		t.Errorf("%d parts are there", there)
	}
	must.Do(t, os.WriteFile(path, good, 0o600))
	r = c.beam(t, args...)
	if r.code != exit.Done || !strings.Contains(r.out, fmt.Sprintf("%d parts scanned, %d there already", 8-there, there)) {
		t.Errorf("exit code %d:\n%s\n%s", r.code, r.out, r.err)
	}
}
