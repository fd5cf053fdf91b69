package main

import (
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/internal/slurmtest"
	"github.com/ufs-stream/ufs-stream/internal/store/storetest"
)

// scheduler is an example that hands shards to a scheduler: its section of examples/README.md,
// its script, and the environment of the script beside what the tests set for all.
type scheduler struct {
	section, script string
	env             []string
}

// TestSchedulerParallel runs the example for GNU parallel.
func TestSchedulerParallel(t *testing.T) {
	needs(t, "bash", "flock", "parallel")
	if version, err := exec.CommandContext(t.Context(), "parallel", "--version").Output(); err != nil || !strings.HasPrefix(string(version), "GNU parallel") {
		t.Skip("the parallel of this machine is not GNU's")
	}
	s := scheduler{"GNU parallel", "parallel/parallel.sh", []string{"JOBS=3", "RETRY_WAIT=0.1"}}
	s.check(t)
}

// TestSchedulerSlurm runs the example for Slurm on one that is started for it.
func TestSchedulerSlurm(t *testing.T) {
	needs(t, "bash")
	cluster := slurmtest.Start(t, 4*shardsOfExamples) // of the tests side by side
	s := scheduler{"Slurm", "slurm/submit.sh", append(cluster.Env, "WAIT=yes", "POLL=0.2")}
	t.Run("all", func(t *testing.T) { // returns when its parallel tests have ended
		s.check(t)
		t.Run("elements", s.runsElementsAgain)
	})
}

func (s scheduler) check(t *testing.T) {
	t.Run("as written", s.runsAsWritten)
	t.Run("one round", s.selectsAsOneRun)
	t.Run("two rounds in a store, two shards fail once", s.triesAgain)
	t.Run("a corrupt file", s.stops)
}

const shardsOfExamples = 8

// runsAsWritten runs the commands of the README, in order, with its folders in another place.
func (s scheduler) runsAsWritten(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(read(t, filepath.Join(root, "examples", "README.md")), "\n## "+s.section+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	in, _ := plant(t, 900, 2)
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

// job is one use of an example.
type job struct {
	scheduler
	t        *testing.T
	bin      string
	in       string // its data
	state    func(string) string
	notes    func(string) string
	settings []string
}

// notedProgram notes each of its runs as "VERB ROUND SHARD", and does what a test has left for the
// first one, before it becomes the program. The shard of a scan is the last of the numbers, and
// its round the second last.
const notedProgram = `#!/usr/bin/env bash
round=stats shard=
for a; do
	case $a in
	--profile-only) round=profile ;;
	auto/*) shard=$SLURM_ARRAY_TASK_ID ;;
	[0-9]*/[0-9]*) shard=${a%/*} ;;
	esac
done
what=$1
[ "$1" != scan ] || what="scan-$round-$shard"
echo "$what" >>"$NOTES/runs"
if mv "$NOTES/first-$what" "$NOTES/done-$what" 2>"$NOTES/none"; then . "$NOTES/done-$what"; fi
exec "$PROGRAM" "$@"
`

func (s scheduler) job(t *testing.T, in string, settings ...string) *job {
	t.Helper()
	j := &job{scheduler: s, t: t, bin: programFolder(t), in: in, state: folder(t), notes: folder(t)}
	write(t, j.notes("runs"), "")
	ufs := write(t, j.notes("ufs"), notedProgram)
	if err := os.Chmod(ufs, 0o755); err != nil {
		t.Fatal(err)
	}
	j.settings = append(slices.Clone(s.env), "INPUT="+in, "STATE="+j.state(""), "N="+strconv.Itoa(shardsOfExamples), "K=9", "UFS="+ufs, "NOTES="+j.notes(""), "PROGRAM="+filepath.Join(j.bin, "ufs-stream"))
	j.settings = append(j.settings, settings...)
	return j
}

// run runs the example and wants an exit code.
func (j *job) run(code int, settings ...string) string {
	j.t.Helper()
	script, err := filepath.Abs(filepath.Join("..", "..", "examples", filepath.FromSlash(j.script)))
	if err != nil {
		j.t.Fatal(err)
	}
	got, out := outside(j.t, j.bin, append(slices.Clone(j.settings), settings...), "bash", script)
	if got != code {
		logs, _ := filepath.Glob(j.state("log/*"))
		for _, path := range logs {
			j.t.Logf("%s:\n%s", path, read(j.t, path))
		}
		j.t.Fatalf("exit code %d, want %d\n%s", got, code, out)
	}
	return out
}

// first has the first run of a kind do something before it becomes the program.
func (j *job) first(what, does string) { write(j.t, j.notes("first-"+what), does) }

// runs tells how often the program ran for something.
func (j *job) runs(what string) (n int) {
	for line := range strings.Lines(read(j.t, j.notes("runs"))) {
		if line == what+"\n" {
			n++
		}
	}
	return n
}

// ranOnce wants each shard of a round to have been scanned once, but those that failed twice.
func (j *job) ranOnce(round string, twice ...int) {
	j.t.Helper()
	for shard := 1; shard <= shardsOfExamples; shard++ {
		want := 1
		if slices.Contains(twice, shard) {
			want = 2
		}
		if n := j.runs("scan-" + round + "-" + strconv.Itoa(shard)); n != want {
			j.t.Errorf("shard %d of round %s was scanned %d times, want %d", shard, round, n, want)
		}
	}
}

// answers wants the selection and the statistics of one run on the same input.
func (j *job) answers(method string) {
	j.t.Helper()
	want := selection(j.t, j.in, "--method", method, "-k", "9")
	got := readSelection(j.t, j.state("selection.json"))
	if a, b := names(got), names(want); !slices.Equal(a, b) || got.Rows != want.Rows || got.RowsUsed != want.RowsUsed {
		j.t.Errorf("%v of %d rows, want %v of %d", a, got.Rows, b, want.Rows)
	}
	one := filepath.Join(j.t.TempDir(), "one.ufs")
	must(j.t, "scan", j.in, "--method", method, "-o", one)
	if method == "greedy" {
		sameGram(j.t, j.state("stats.ufs"), one)
	} else {
		sameGraph(j.t, j.state("stats.ufs"), one)
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
			t.Fatal(err)
		}
	}
	j.run(exit.Done)
	j.ranOnce("stats")
	for _, path := range []string{parts[4], j.state("stats.ufs")} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	j.run(exit.Done)
	j.answers("greedy")
	for _, path := range parts {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if kept := os.SameFile(info, before[path]) && info.ModTime().Equal(before[path].ModTime()); kept != (path != parts[4]) {
			t.Errorf("%s: the same file is %v", path, kept)
		}
	}
	if out := j.run(exit.Usage, "PLAN_FLAGS=--exclude x001"); !strings.Contains(out, "is of another job") {
		t.Errorf("other options with the same plan: %s", out)
	}
}

// triesAgain: a process is killed while it waits for the data of its shard, another one finds
// the store busy. Both are scanned again, and no other; nothing counts twice.
func (s scheduler) triesAgain(t *testing.T) {
	t.Parallel()
	in, paths := plant(t, 800, shardsOfExamples) // one row group in each file, and one file in each shard
	store, env := storetest.S3Apart(t)
	proxy := storetest.NewProxy(t, store.Endpoint)
	for _, path := range paths {
		store.Put("data/"+filepath.Base(path), []byte(read(t, path)))
	}
	j := s.job(t, in, "METHOD=sfufs", "INPUT="+store.URLAt(proxy.URL, "data/"), "PARTS="+store.URL("parts"))
	j.settings = append(env, j.settings...)
	j.first("scan-stats-3", `echo $$ >"$NOTES/pid.new"; mv "$NOTES/pid.new" "$NOTES/pid"`+"\n")
	j.first("scan-stats-6", "echo busy; exit 75\n")
	var killed atomic.Int32
	proxy.Before(func(r *http.Request) *http.Response {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, filepath.Base(paths[2])) {
			if pid, err := os.ReadFile(j.notes("pid")); err == nil && killed.CompareAndSwap(0, 1) {
				n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
				if err == nil {
					err = syscall.Kill(n, syscall.SIGKILL)
				}
				if err != nil {
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

// sameGram wants the moments in two files to agree: an entry of a centred Gram matrix to 1e-12
// of the product of its columns' lengths. Sums of at most 2,000 rows in another order differ by
// 2,000 roundings of 2⁻⁵³, which is 2.2e-13.
func sameGram(t *testing.T, a, b string) {
	t.Helper()
	x, y := gramOfFile(t, a), gramOfFile(t, b)
	if x.Rows != y.Rows || x.D != y.D || x.Weight != y.Weight {
		t.Fatalf("%d rows, %d features; want %d, %d", x.Rows, x.D, y.Rows, y.D)
	}
	for i := range x.D {
		if !(math.Abs(x.Mean[i]-y.Mean[i]) <= 1e-12*max(math.Abs(y.Mean[i]), y.Std[i])) {
			t.Errorf("mean %d is %v, want %v", i, x.Mean[i], y.Mean[i])
		}
		for j := range x.D {
			length := math.Sqrt(y.Sym[i*y.D+i] * y.Sym[j*y.D+j])
			if off := math.Abs(x.Sym[i*x.D+j] - y.Sym[i*y.D+j]); !(off <= 1e-12*length) {
				t.Errorf("entry %d, %d is off by %g of %g", i, j, off, length)
			}
		}
	}
}

func gramOfFile(t *testing.T, path string) *gram.Gram {
	t.Helper()
	r, err := chunkio.OpenStats(t.Context(), path, chunkio.FetchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	moments := gram.NewMoments(len(r.Header.Columns), gram.Options{})
	section, err := r.SectionReader("moments")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := moments.ReadFrom(section); err != nil {
		t.Fatal(err)
	}
	g, err := moments.Finish(r.Header.Columns, gram.FinishOptions{Scale: gram.ScaleCenter})
	if err != nil {
		t.Fatal(err)
	}
	return g
}
