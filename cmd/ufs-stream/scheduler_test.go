package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/slurmtest"
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
	t.Parallel() // much of it waits
	s := scheduler{"GNU parallel", "parallel/parallel.sh", []string{"JOBS=3", "RETRY_WAIT=0.1"}}
	s.check(t)
}

// TestSchedulerSlurm runs the example for Slurm on one that is started for it.
func TestSchedulerSlurm(t *testing.T) {
	long.SkipTest(t) // GNU parallel runs the same laws in TestSchedulerParallel
	needs(t, "bash")
	t.Parallel()                                             // much of it waits
	cluster := slurmtest.StartCluster(t, 4*shardsOfExamples) // of the tests side by side
	s := scheduler{"Slurm", "slurm/submit.sh", append(cluster.Env, "WAIT=yes", "POLL=0.2")}
	t.Run("all", func(t *testing.T) { // returns when its parallel tests have ended
		s.check(t)
		t.Run("elements", s.runsElementsAgain)
	})
}

func (s scheduler) check(t *testing.T) {
	if long.IsOn() { // else two rounds are enough
		t.Run("as written", s.runsAsWritten)
		t.Run("one round", s.selectsAsOneRun)
	}
	t.Run("a sample of rows", s.samples)
	t.Run("two rounds in a store, two shards fail once", s.triesAgain)
	t.Run("a corrupt file", s.stops)
	t.Run("no more tries", s.goesOn)
}

const shardsOfExamples = 8

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

// notedProgram notes each of its runs, as "merge" or "scan-ROUND-SHARD", and does what a test has
// left for the first one of that name, before it becomes the program.
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
		t.Fatalf("making the program executable: %v", err)
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
		t.Fatalf("opening the statistics: %v", err)
	}
	defer r.Close()
	moments := gram.NewMoments(len(r.Header.Columns), gram.Options{})
	section, err := r.SectionReader("moments")
	if err != nil {
		t.Fatalf("opening a section of the statistics: %v", err)
	}
	if _, err := moments.ReadFrom(section); err != nil {
		t.Fatalf("reading the statistics: %v", err)
	}
	g, err := moments.Finish(r.Header.Columns, gram.FinishOptions{Scale: gram.ScaleCenter})
	if err != nil {
		t.Fatalf("finishing the moments: %v", err)
	}
	return g
}
