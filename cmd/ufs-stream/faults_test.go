package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/faults"
	"github.com/ufs-stream/ufs-stream/internal/testing/leaktest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// workbench is what the verbs read, small, and a folder of outputs that stand there already.
type workbench struct {
	in, temp, out string
	verbs         []verbRun
}

// verbRun is a command without -o, and the name of its output.
type verbRun struct {
	args []string
	out  string
}

func (v verbRun) String() string { return v.args[0] + " to " + v.out }

const oldOutput = "what was there before"

// newWorkbench makes the inputs of every verb that writes.
func newWorkbench(t *testing.T) *workbench {
	t.Helper()
	file, sel := labelled(t, 120)
	b := &workbench{in: t.TempDir(), temp: t.TempDir(), out: t.TempDir()}
	at := func(name string) string { return filepath.Join(b.in, name) }
	data := at("data")
	if err := os.Mkdir(data, 0o777); err != nil {
		t.Fatalf("making a folder: %v", err)
	}
	whole := write(t, filepath.Join(data, "a.parquet"), read(t, file))
	write(t, filepath.Join(data, "b.parquet"), read(t, file))
	text := write(t, at("rows.csv"), "x,y,z\n"+strings.Repeat("1,2,3\n4,1,7\n2,9,4\n", 40))
	write(t, at("sel.json"), read(t, sel))
	for i := range 2 {
		must(t, "scan", data, "--label", "label", "--shard", fmt.Sprintf("%d/2", i+1), "-o", at(fmt.Sprintf("%d.ufs", i+1)))
	}
	must(t, "path", whole, "--label", "label", "-k", "3", "-o", at("path.json"))
	b.verbs = []verbRun{
		{[]string{"scan", data, "--label", "label", "--missing", "mean"}, "all.ufs"},
		{[]string{"select", data, "--label", "label", "-k", "3", "--method", "greedy"}, "sel.json"},
		{[]string{"select", data, "--label", "label", "-k", "3"}, "auto.csv"},
		{[]string{"select", text, "-k", "2"}, "text.json"},
		{[]string{"select", "--stats", at("1.ufs"), "-k", "3"}, "of-stats.json"},
		{[]string{"select", whole, "--label", "label", "-k", "3", "--method", "eufs", "--max-iter", "2"}, "eufs.json"},
		{[]string{"merge", at("1.ufs"), at("2.ufs")}, "merged.ufs"},
		{[]string{"apply", whole, "--selection", at("sel.json")}, "small.parquet"},
		{[]string{"apply", whole, "--selection", at("sel.json")}, "small.csv"},
		{[]string{"apply", data, "--selection", at("sel.json")}, "folder"},
		{[]string{"convert", text}, "converted.parquet"},
		{[]string{"eval", whole, "--selection", at("sel.json"), "--label", "label", "--runs", "1"}, "eval.json"},
		{[]string{"report", at("sel.json"), at("path.json")}, "page.html"},
		{[]string{"plan", data}, "job.plan.json"},
	}
	return b
}

// rereading is greedy where the Gram matrix does not fit, which reads again and again.
func rereading(t *testing.T) verbRun {
	t.Helper()
	_, large := plantSource(t, planted.New(planted.Options{Rows: 1000, Columns: 600}), 1)
	args := []string{large[0], "-k", "2", "--method", "greedy"}
	m := decoded[ufs.Forecast](t, "plan", args...).Memory
	if m.Smallest >= m.InMemory {
		t.Fatalf("it works in memory with as little as that: %+v", m)
	}
	return verbRun{append(append([]string{"select"}, args...), "--memory-limit", fmt.Sprint(m.Smallest)), "greedy.json"}
}

// command is the whole command of a verb, with all of its scratch in one folder.
func (b *workbench) command(v verbRun) []string {
	args := append(append([]string{}, v.args...), "-o", filepath.Join(b.out, v.out))
	switch v.args[0] {
	case "report":
	default:
		args = append(args, "--temp-dir", b.temp)
	}
	return args
}

// ready puts old outputs where the new ones go; a folder must be absent, or empty.
func (b *workbench) ready(t *testing.T, v verbRun) {
	t.Helper()
	path := filepath.Join(b.out, v.out)
	entries, err := os.ReadDir(b.out) // which may be a file system of its own
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(b.out, e.Name())))
	}
	if err != nil {
		t.Fatalf("emptying the output folder: %v", err)
	}
	if filepath.Ext(v.out) != "" {
		write(t, path, oldOutput)
	}
}

// untouched describes files that a failed run left or removed. It is empty if there are none.
func (b *workbench) untouched(v verbRun) (complaint string) {
	for _, dir := range []string{b.out, b.temp} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err.Error()
		}
		for _, e := range entries {
			if dir == b.temp && dir != b.out || e.Name() != v.out || filepath.Ext(v.out) == "" {
				return "left behind: " + filepath.Join(dir, e.Name())
			}
		}
	}
	if filepath.Ext(v.out) == "" {
		return ""
	}
	if got, err := os.ReadFile(filepath.Join(b.out, v.out)); err != nil || string(got) != oldOutput {
		return fmt.Sprintf("the old output is %.40q now, %v", got, err)
	}
	return ""
}

// faulty runs a verb on a disk.
func (b *workbench) faulty(ctx context.Context, d *faults.Disk, v verbRun) result {
	var errw bytes.Buffer
	code := run(faults.WithDisk(ctx, d), b.command(v), nil, io.Discard, &errw)
	return result{code, "", errw.String()}
}

// breakpoints are the calls of a run at which to break it: all of the first ones, then fewer and fewer.
// With -short, three of them.
func breakpoints(calls int64) (list []int64) {
	for n := int64(1); n <= calls; n += 1 + n {
		list = append(list, n)
	}
	if len(list) > 9 || !long.IsOn() && len(list) > 3 { // of a run that reads for long
		list = []int64{list[0], list[len(list)/2], list[len(list)-1]}
	}
	return list
}

// TestReadFaults: a file that can no longer be read from some moment on, or gives half of what it had, ends
// every verb as bad data, by name. A single read that fails may be made up for: what was read together is
// read again piece by piece.
func TestReadFaults(t *testing.T) {
	b := newWorkbench(t)
	for _, v := range append(b.verbs, rereading(t)) {
		t.Run(v.String(), func(t *testing.T) {
			defer leaktest.CheckGoroutines(t)()
			var calls atomic.Int64
			from := func(at int64, fault func(want int) (int, error)) *faults.Disk {
				calls.Store(0)
				return &faults.Disk{Read: func(_ string, want int) (int, error) {
					if calls.Add(1) >= at {
						return fault(want)
					}
					return want, nil
				}}
			}
			b.ready(t, v)
			fine := func(want int) (int, error) { return want, nil }
			if r := b.faulty(t.Context(), from(1, fine), v); r.code != exit.Done || calls.Load() == 0 {
				t.Fatalf("%d reads: %+v", calls.Load(), r)
			}
			for _, n := range breakpoints(calls.Load()) {
				for what, fault := range map[string]func(want int) (int, error){
					"input/output error": func(int) (int, error) { return 0, syscall.EIO },
					"EOF":                func(want int) (int, error) { return want / 2, nil },
				} {
					b.ready(t, v)
					r := b.faulty(t.Context(), from(n, fault), v)
					if calls.Load() < n || what == "EOF" && r.code == exit.Done {
						continue // it read less this time; what reads from front to back asks for the rest
					}
					if r.code != exit.Data || !strings.Contains(r.err, filepath.Dir(b.in)) || what != "EOF" && !strings.Contains(r.err, what) {
						t.Errorf("%s from read %d on: exit code %d: %s", what, n, r.code, r.err)
					}
					if left := b.untouched(v); left != "" {
						t.Errorf("%s from read %d on: %s", what, n, left)
					}
				}
			}
		})
	}
}

// TestWriteFaults: a write, sync or rename that fails ends every verb with exit code 1, the place and what
// to do; what stood there before stands there still.
func TestWriteFaults(t *testing.T) {
	b := newWorkbench(t)
	for _, v := range b.verbs {
		t.Run(v.String(), func(t *testing.T) {
			defer leaktest.CheckGoroutines(t)()
			var calls atomic.Int64
			at := func(n int64, err error) *faults.Disk {
				calls.Store(0)
				return &faults.Disk{Change: func(string, string) error {
					if calls.Add(1) == n {
						return err
					}
					return nil
				}}
			}
			b.ready(t, v)
			if r := b.faulty(t.Context(), at(0, nil), v); r.code != exit.Done || calls.Load() < 3 {
				t.Fatalf("%d changes: %+v", calls.Load(), r)
			}
			for n := range calls.Load() {
				if !long.TakesCase(int(n), 2) {
					continue
				}
				for fault, remedy := range map[syscall.Errno]string{syscall.ENOSPC: "free some space", syscall.EROFS: "choose a folder you may write to"} {
					b.ready(t, v)
					r := b.faulty(t.Context(), at(n+1, fault), v)
					if r.code != exit.Fault || !strings.Contains(r.err, "cannot write "+filepath.Join(b.out, v.out)) || !strings.Contains(r.err, remedy) {
						t.Errorf("%v at change %d: exit code %d: %s", fault, n, r.code, r.err)
					}
					if left := b.untouched(v); left != "" {
						t.Errorf("%v at change %d: %s", fault, n, left)
					}
				}
			}
		})
	}
}

// TestCancelAtEveryCheck: a run that is cancelled at any check of its context ends as interrupted. It leaves only the
// finished files of a folder, and names the place of these.
func TestCancelAtEveryCheck(t *testing.T) {
	b := newWorkbench(t)
	for _, v := range b.verbs {
		t.Run(v.String(), func(t *testing.T) {
			defer leaktest.CheckGoroutines(t)()
			for n := int64(1); ; n += 1 + n {
				b.ready(t, v)
				ctx := newCountdown(n)
				r := b.faulty(ctx, nil, v)
				interrupted := ctx.Context.Err() != nil
				ctx.cancel()
				if r.code == exit.Done {
					break
				}
				if r.code != exit.Interrupted || !interrupted {
					t.Errorf("cancelled at check %d: exit code %d: %s", n, r.code, r.err)
				}
				left := b.untouched(v)
				if place, waits := strings.CutPrefix(left, "left behind: "); left != "" && (!waits || !strings.Contains(r.err, place)) {
					t.Errorf("cancelled at check %d: %s; it says %s", n, left, r.err)
				}
			}
		})
	}
}
