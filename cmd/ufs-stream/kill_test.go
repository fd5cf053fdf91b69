package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// ownProcess is the program in a process of its own: the test binary stands in for it.
func ownProcess(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("finding this program: %v", err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// temporaries lists the temporary files that unfinished runs have left in dir.
func temporaries(t *testing.T, dir string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, ".*.ufs-tmp"))
	if err != nil {
		t.Fatalf("looking for temporary files: %v", err)
	}
	return left
}

// TestKill: however early or late a run is killed, its output is complete or does not
// exist, and the next run removes the temporary files that the killed run has left.
func TestKill(t *testing.T) {
	in, paths := plant(t, 900, 2)
	sel := filepath.Join(t.TempDir(), "sel.json")
	must(t, "select", in, "-k", "20", "-o", sel)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name, out string
		args      []string
		whole     func(path string) error
	}{
		{"scan", "s.ufs", []string{"scan", in}, func(path string) error {
			r, err := chunkio.OpenStats(t.Context(), path, chunkio.FetchOptions{})
			if err == nil {
				err = r.Close()
			}
			return err
		}},
		{"select", "sel.json", []string{"select", in, "-k", "20"}, func(path string) error {
			_, err := ufs.ReadSelection(t.Context(), path, chunkio.FetchOptions{})
			return err
		}},
		{"apply", "a.parquet", []string{"apply", paths[0], "--selection", sel}, wholeParquet},
		{"apply folder", "a", []string{"apply", in, "--selection", sel}, wholeParquet},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, c.out)
			args := slices.Concat(c.args, []string{"-o", out})
			begin := time.Now()
			if b, err := ownProcess(t, args...).CombinedOutput(); err != nil {
				t.Fatalf("the run that nobody kills: %v\n%s", err, b)
			}
			takes := time.Since(begin)
			for range 4 {
				if err := os.RemoveAll(out); err != nil {
					t.Fatalf("removing the output: %v", err)
				}
				cmd := ownProcess(t, args...)
				if err := cmd.Start(); err != nil {
					t.Fatalf("starting the program: %v", err)
				}
				time.Sleep(time.Duration(rng.Float64() * float64(takes)))
				_ = cmd.Process.Kill() // it may have ended
				_ = cmd.Wait()
				if _, err := os.Stat(out); err == nil {
					if err := c.whole(out); err != nil {
						t.Errorf("killed, it left a partial output: %v", err)
					}
				}
			}
			if err := os.RemoveAll(out); err != nil {
				t.Fatalf("removing the output: %v", err)
			}
			must(t, args...)
			if err := c.whole(out); err != nil {
				t.Errorf("the output is not whole: %v", err)
			}
			if left := temporaries(t, dir); len(left) > 0 {
				t.Errorf("the run after the killed ones has not removed %q", left)
			}
		})
	}
}

func wholeParquet(path string) error {
	ds, err := chunkio.Open(context.Background(), []string{path}, chunkio.Options{})
	if err != nil {
		return err
	}
	defer ds.Close()
	for _, err := range ds.Chunks(context.Background(), stream.Range{}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// countdown is a context that is cancelled after n calls of Err.
type countdown struct {
	context.Context
	left   atomic.Int64
	cancel context.CancelFunc
}

func newCountdown(n int64) *countdown {
	c := new(countdown)
	c.Context, c.cancel = context.WithCancel(context.Background())
	c.left.Store(n)
	return c
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// TestResume: a run that is interrupted again and again, later and later, and goes on from
// its checkpoint gives the same statistics, to the last bit, as a run without interruption.
func TestResume(t *testing.T) {
	for i, c := range []struct {
		shape       string
		first, step int64 // an interruption comes after first, first + step, … looks at the context
	}{
		{"--missing error", 3, 5}, {"--missing mean", 3, 5}, {"--missing drop-row", 3, 5},
		{"--scale rank --method greedy --missing mean", 20, 9}, {"--scale rank --method sfufs --anchors 50 --missing error", 60, 25},
		{"--method greedy --sketch 40 --missing error", 3, 5}, {"--method greedy --sketch 40 --missing mean", 3, 5},
		{"--method sfufs --anchors 50 --sketch 40 --missing error", 20, 25},
		{"--profile-only --method sfufs --anchor-method kmeans --missing mean", 3, 9}, {"--profile-only --method greedy --sample-rows 300 --missing drop-row", 3, 9},
		{"--profile-only --scale rank --method greedy --missing mean", 3, 9},
		{"--method sfufs --anchors 50 --missing error", 20, 15}, {"--method sfufs --anchors 50 --missing mean", 20, 15},
		{"--method sfufs --anchors 50 --missing drop-row --shard 2/2", 20, 15}, // with a profile of all shards
	} {
		t.Run(c.shape, func(t *testing.T) {
			if !long.TakesCase(i, 3) {
				long.SkipTest(t)
			}
			makeTable := plantHoled
			if strings.Contains(c.shape, "error") {
				makeTable = plant
			}
			in, _ := makeTable(t, 2400, 3)
			at := folder(t)
			scan := append([]string{"scan", in}, strings.Fields(c.shape)...)
			if shape, isShard := strings.CutSuffix(c.shape, " --shard 2/2"); isShard {
				must(t, append(strings.Fields(shape), "scan", in, "--profile-only", "-o", at("profile.ufs"))...)
				scan = append(scan, "--profile", at("profile.ufs"))
			}
			must(t, append(scan, "-o", at("want.ufs"))...)
			args := slices.Concat(scan, []string{"-o", at("got.ufs"), "--checkpoint", at("state"), "--checkpoint-every", "1ms"})
			midway := 0
			for n, done := c.first, false; !done; n += c.step + n/16 {
				r := invokeWith(newCountdown(n), nil, args...)
				if done = r.code == exit.Done; !done && r.code != exit.Interrupted {
					t.Fatalf("exit code %d: %s", r.code, r.err)
				}
				if strings.Contains(r.err, "continue with") {
					midway++
				}
			}
			if midway == 0 {
				t.Fatal("no run was interrupted in the middle")
			}
			if left, _ := os.ReadDir(at("state")); len(left) > 0 {
				t.Errorf("the checkpoint is still there: %v", left)
			}
			sameFile(t, at("got.ufs"), at("want.ufs"))
		})
	}
}

// awaitCheckpoint waits until something is saved, but no longer than some milliseconds.
func awaitCheckpoint(state string, most int) {
	for range most {
		if saved, _ := filepath.Glob(filepath.Join(state, "gathering.statistics.*")); len(saved) > 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// TestResumeAfterKill is TestResume with kill -9 instead of interruptions, a while after the program has saved its state:
// of files, and of a Delta table with deleted rows and renamed columns.
func TestResumeAfterKill(t *testing.T) {
	for i, c := range []struct {
		shape string
		rows  int64
		kills int
		later time.Duration
		files int // of a table
	}{
		{"--missing error", 20000, 5, 5 * time.Millisecond, 0}, {"--method graphgreedy --anchors 100", 12000, 2, 20 * time.Millisecond, 0},
		{"--missing error", 24000, 5, 5 * time.Millisecond, 3}, {"--method graphgreedy --anchors 100", 12000, 2, 20 * time.Millisecond, 3},
	} {
		if !long.TakesCase(i, 3) {
			continue
		}
		in, paths := plant(t, c.rows, max(c.files, 1))
		if c.files > 0 {
			plantWhole(t, in, paths, int(c.rows)/c.files)
		}
		at := folder(t)
		scan := append([]string{"scan", in}, strings.Fields(c.shape)...)
		must(t, append(scan, "-o", at("want.ufs"))...)
		args := slices.Concat(scan, []string{"-o", at("got.ufs"), "--checkpoint", at("state"), "--checkpoint-every", "1ns"})
		for range c.kills {
			cmd := ownProcess(t, args...)
			if err := cmd.Start(); err != nil {
				t.Fatalf("starting the program: %v", err)
			}
			awaitCheckpoint(at("state"), 200)
			time.Sleep(c.later)
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()
		}
		must(t, args...)
		sameFile(t, at("got.ufs"), at("want.ufs"))
		if left := temporaries(t, at("state")); len(left) > 0 {
			t.Errorf("the last run has left %q", left)
		}
	}
}

// TestInterrupt: SIGINT and SIGTERM end the program with code 130, and it prints the command that goes on.
func TestInterrupt(t *testing.T) {
	in, _ := plant(t, 20000, 1)
	for _, signal := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		state := filepath.Join(t.TempDir(), "state")
		var errw strings.Builder
		cmd := ownProcess(t, "select", in, "-k", "5", "--method", "greedy", "--checkpoint", state, "--checkpoint-every", "1ns")
		cmd.Stderr = &errw
		if err := cmd.Start(); err != nil {
			t.Fatalf("starting the program: %v", err)
		}
		awaitCheckpoint(state, 2000)
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatalf("signalling the program: %v", err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != exit.Interrupted {
			t.Errorf("%v: exit code %d, want %d\n%s", signal, code, exit.Interrupted, errw.String())
		}
		if s := errw.String(); !strings.Contains(s, "select "+in+" -k 5 --method greedy --checkpoint "+state) {
			t.Errorf("%v: no command to continue with:\n%s", signal, s)
		}
	}
}

// interruptMidway runs a command, interrupted later and later (after first, first + step, …
// looks at its context), until it has saved its state.
func interruptMidway(t *testing.T, first, step int64, args ...string) {
	t.Helper()
	for n := first; ; n += step {
		r := invokeWith(newCountdown(n), nil, args...)
		if r.code == exit.Done {
			t.Fatal("no run was interrupted in the middle")
		}
		if strings.Contains(r.err, "continue with") {
			return
		}
	}
}

// TestApplyGoesOn: an interrupted apply to a folder names where its finished files wait, and the
// same command goes on with them.
func TestApplyGoesOn(t *testing.T) {
	in, _ := plant(t, 400, 4)
	sel := filepath.Join(t.TempDir(), "sel.json")
	must(t, "select", in, "-k", "3", "-o", sel)
	out, whole := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
	args := []string{"apply", in, "--selection", sel, "-o", out}
	interruptMidway(t, 3, 1, args...)
	left := temporaries(t, filepath.Dir(out))
	if len(left) != 1 {
		t.Fatalf("an interrupted run leaves %q", left)
	}
	r := invoke(args...)
	if r.code != exit.Done || !strings.Contains(r.err, "continued an interrupted run that had finished ") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	must(t, "apply", in, "--selection", sel, "-o", whole)
	for i := range 4 {
		name := fmt.Sprintf("part-%03d.parquet", i)
		sameFile(t, filepath.Join(out, name), filepath.Join(whole, name))
	}
	if left := temporaries(t, filepath.Dir(out)); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}

// TestShortLimitGoesOn: if the memory limit is too low for a later file, the error names the place of the finished
// files. The same command with a higher limit continues from them.
func TestShortLimitGoesOn(t *testing.T) {
	in, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	for i, groups := range []int{1, 1500} { // each of which is in the footer, which is held
		src := memory{columns: []stream.Column{{Name: "x", Type: "double"}}, rows: groups, data: make([]float64, groups)}
		writeSource(t, filepath.Join(in, fmt.Sprint(i, ".parquet")), src, chunkio.WriteOptions{RowGroupRows: 1})
	}
	for limit := 50; ; limit++ {
		r := invoke("convert", in, "-o", out, "--memory-limit", fmt.Sprint(limit, "MiB"))
		if r.code == exit.Done {
			t.Fatal("no limit suffices for the first file alone")
		}
		left := temporaries(t, filepath.Dir(out))
		if r.code != exit.Memory || strings.Contains(r.err, "is kept in") != (len(left) > 0) {
			t.Fatalf("exit code %d, and %q is left: %s", r.code, left, r.err)
		}
		if len(left) == 1 && strings.Contains(r.err, "raise it: --memory-limit") && strings.Contains(r.err, left[0]) {
			break
		}
	}
	if r := invoke("convert", in, "-o", out); r.code != exit.Done || !strings.Contains(r.err, "continued an interrupted run that had finished 1 of 2 files") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
}

// TestResumeProfile: a method on a profile alone goes on as well, and its state is another run's than that of moments.
func TestResumeProfile(t *testing.T) {
	in, _ := plantHoled(t, 6000, 3)
	state := t.TempDir()
	args := []string{in, "--method", "variance", "-k", "7", "--missing", "mean"}
	interruptMidway(t, 3, 2, append([]string{"select", "--checkpoint", state}, args...)...)
	ends(t, exit.Usage, "checkpoint of another run", "select", in, "--method", "greedy", "--missing", "mean", "--checkpoint", state)
	want, got := selection(t, args...), selection(t, append(args, "--checkpoint", state)...)
	if fmt.Sprint(got.Selected, got.Scores, got.Warnings) != fmt.Sprint(want.Selected, want.Scores, want.Warnings) {
		t.Errorf("resumed %v, %v, want %v, %v", got.Selected, got.Warnings, want.Selected, want.Warnings)
	}
}

// TestForeignCheckpoint: the state of another run is neither used nor overwritten, and two runs do not share a folder.
func TestForeignCheckpoint(t *testing.T) {
	in, _ := plant(t, 6000, 3)
	state := t.TempDir()
	interruptMidway(t, 10, 5, "select", in, "--method", "greedy", "--checkpoint", state)
	ends(t, exit.Usage, "checkpoint of another run: feature 1 is x001, and was x000;", "select", in, "--checkpoint", state, "--method", "greedy", "--exclude", "x000")
	folder, err := resume.Open(state, resume.Options{})
	if err != nil {
		t.Fatalf("opening the checkpoint: %v", err)
	}
	ends(t, exit.Usage, "another run (process", "select", in, "--method", "greedy", "--checkpoint", state)
	if err := folder.Close(); err != nil {
		t.Fatalf("closing the checkpoint: %v", err)
	}
	must(t, "select", in, "--method", "greedy", "--checkpoint", state, "--scale", "none", "-k", "3") // other flags, same statistics
}

func sameFile(t *testing.T, a, b string) {
	t.Helper()
	if read(t, a) != read(t, b) {
		t.Errorf("%s and %s differ", a, b)
	}
}

// TestGraphForeignCheckpoint: a run neither uses nor overwrites the state of a run with
// another graph; the state of a run with the same graph serves any method.
func TestGraphForeignCheckpoint(t *testing.T) {
	in, _ := plant(t, 6000, 3)
	_, points := plant(t, 600, 3)
	file := copied(t, points[0])
	state := t.TempDir()
	interruptMidway(t, 60, 6, "select", in, "--method", "sfufs", "--anchors-file", file, "--checkpoint", state)
	for _, args := range []string{
		"--method sfufs --anchors 300", "--method greedy", "--method fufs --neighbors 4 --anchors-file " + file,
		"--method fufs --scale unit --anchors-file " + file, "--method mcfs --exclude x000 --anchors-file " + file,
	} {
		ends(t, exit.Usage, "checkpoint of another run", append(strings.Fields(args), "select", in, "--checkpoint", state)...)
	}
	again := []string{"select", in, "--method", "mcfs", "--anchors-file", file, "--checkpoint", state, "-k", "3"}
	write(t, file, read(t, points[1])) // other rows under the same name
	ends(t, exit.Usage, "input "+file+" has changed", again...)
	write(t, file, read(t, points[0]))
	must(t, again...)
}

// copied copies a file of rows, so that they serve as anchors.
func copied(t *testing.T, file string) string {
	t.Helper()
	return write(t, filepath.Join(t.TempDir(), "anchors.parquet"), read(t, file))
}
