package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/faults"
	"github.com/ufs-stream/ufs-stream/internal/testing/leaktest"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// outOfCoreRows is eufs where the state of the rows does not fit, and goes to scratch files.
func outOfCoreRows(t *testing.T) (*workbench, verbRun) {
	t.Helper()
	in := wideOf(t, planted.New(planted.Options{Rows: 30_000, Columns: 8}))
	args := strings.Fields("--method eufs --sample 0 --clusters 2 --max-iter 1 --graph none --state float32 --threads 1 -k 2 " + in)
	m := decoded[ufs.Forecast](t, "plan", args...).Memory
	if m.Smallest >= m.InMemory {
		t.Fatalf("it works in memory with as little as that: %+v", m)
	}
	args = append([]string{"select"}, append(args, "--memory-limit", fmt.Sprint(m.Smallest))...)
	return &workbench{in: filepath.Dir(in), temp: t.TempDir(), out: t.TempDir()}, verbRun{args, "rows.json"}
}

// TestScratchFaults: scratch files that cannot be made, written or read any more, or give less than was written,
// end a run out of core with the folder and what to do; an interruption ends it too. Nothing is left.
func TestScratchFaults(t *testing.T) {
	b, v := outOfCoreRows(t)
	defer leaktest.CheckFiles(t)()
	defer leaktest.CheckGoroutines(t)()
	// A fault comes with the call of this number, of all that are made to scratch files, and with all behind it.
	type fault struct {
		read, write, made int64
		err               error // none: half of what was there is read
		interrupts        bool  // and nothing else
	}
	var reads, writes, makes atomic.Int64
	run := func(f fault) result {
		b.ready(t, v)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for _, calls := range []*atomic.Int64{&reads, &writes, &makes} {
			calls.Store(0)
		}
		fails := func(path string, calls *atomic.Int64, at int64) bool {
			if path != b.temp || calls.Add(1) < at || at == 0 {
				return false
			}
			if f.interrupts {
				cancel()
			}
			return !f.interrupts
		}
		return b.faulty(ctx, &faults.Disk{
			Read: func(path string, want int) (int, error) {
				if !fails(path, &reads, f.read) {
					return want, nil
				}
				return want / 2, f.err
			},
			Change: func(path, what string) error {
				if what == "make" && fails(path, &makes, f.made) || what == "write" && fails(path, &writes, f.write) {
					return f.err
				}
				return nil
			},
		}, v)
	}
	if r := run(fault{}); r.code != exit.Done || reads.Load() < 4 || writes.Load() < 4 || makes.Load() < 2 {
		t.Fatalf("%d reads, %d writes of %d files: %+v", reads.Load(), writes.Load(), makes.Load(), r)
	}
	lastRead, lastWrite := reads.Load(), writes.Load()
	folder := "scratch files in " + b.temp
	for _, c := range []struct {
		fault
		code int
		says []string
	}{
		{fault{made: 1, err: syscall.ENOSPC}, exit.Fault, []string{folder, "free some space, choose another --temp-dir"}},
		{fault{made: 2, err: syscall.EACCES}, exit.Fault, []string{folder, "choose a folder you may write to"}},
		{fault{write: 1, err: syscall.EIO}, exit.Fault, []string{folder, "record 0", "input/output error"}},
		{fault{write: lastWrite, err: syscall.ENOSPC}, exit.Fault, []string{folder, "free some space"}},
		{fault{read: 1, err: syscall.EIO}, exit.Fault, []string{"scratch file in " + b.temp, "input/output error", "choose another --temp-dir"}},
		{fault{read: lastRead}, exit.Fault, []string{"scratch file in " + b.temp, "EOF", "choose another --temp-dir"}},
		{fault{write: 2, interrupts: true}, exit.Interrupted, nil},
		{fault{read: lastRead, interrupts: true}, exit.Interrupted, nil},
	} {
		r := run(c.fault)
		if r.code != c.code {
			t.Errorf("%+v: exit code %d: %s", c.fault, r.code, r.err)
		}
		for _, want := range c.says {
			if !strings.Contains(r.err, want) {
				t.Errorf("%+v: no %q in %s", c.fault, want, r.err)
			}
		}
		if left := b.untouched(v); left != "" {
			t.Errorf("fault %+v left something: %s", c.fault, left)
		}
	}
}
