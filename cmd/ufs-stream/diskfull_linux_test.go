package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/leaktest"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
)

// TestDiskFull: on a disk of 1, 2, 3 … pages every verb ends with exit code 1 and what to do, or succeeds;
// a read-only one is refused. Nothing stays but what was there.
func TestDiskFull(t *testing.T) {
	b := newWorkbench(t)
	mount := func(flags uintptr, pages int) error {
		return syscall.Mount("tmpfs", b.out, "tmpfs", flags, fmt.Sprintf("size=%d", pages*os.Getpagesize()))
	}
	if err := mount(0, 1); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skipf("no file system may be mounted here: %v", err)
	} else if err != nil {
		t.Fatalf("mounting a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(b.out, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmounting the file system: %v", err)
		}
	})
	b.temp = b.out
	for _, v := range b.verbs {
		t.Run(v.String(), func(t *testing.T) {
			defer leaktest.CheckGoroutines(t)()
			tried := 0
			for pages := 2; ; pages += 1 + pages/2 { // the old output takes one
				if err := mount(syscall.MS_REMOUNT, pages); err != nil {
					t.Fatalf("remounting the file system: %v", err)
				}
				b.ready(t, v)
				r := b.faulty(t.Context(), nil, v)
				if r.code == exit.Done {
					break
				}
				tried++
				if r.code != exit.Fault || !strings.Contains(r.err, "cannot write") || !strings.Contains(r.err, "space") {
					t.Errorf("%d pages: exit code %d: %s", pages, r.code, r.err)
				}
				if left := b.untouched(v); left != "" {
					t.Errorf("%d pages: %s", pages, left)
				}
			}
			b.ready(t, v)
			if err := mount(syscall.MS_REMOUNT|syscall.MS_RDONLY, 1000); err != nil { // as a file that is still open for writing would have it
				t.Fatalf("remounting it read-only: %v", err)
			}
			r := b.faulty(t.Context(), nil, v)
			left := b.untouched(v)
			if err := mount(syscall.MS_REMOUNT, 1000); err != nil {
				t.Fatalf("remounting the file system: %v", err)
			}
			if r.code != exit.Fault || !strings.Contains(r.err, "read-only") || !strings.Contains(r.err, "you may write to") || left != "" {
				t.Errorf("read-only: exit code %d, %s: %s", r.code, left, r.err)
			}
		})
	}
}

// TestScratchDiskFull: if the scratch files of a run find no room, the remedy names only flags that the verb and the
// method have (invoke checks this): only methods that iterate over rows can take fewer rows.
func TestScratchDiskFull(t *testing.T) {
	at := folder(t)
	table := tabletest.NewFactors("groups", 1, 2, 3000, 40, 4)
	must(t, "select", columnsFile(t, at("a.parquet"), table.Names, table.Cols...), "-k", "3", "-o", at("s.json"))
	var text strings.Builder
	fmt.Fprintln(&text, strings.Join(table.Names, ","))
	for i := range table.N() {
		for j := range table.Cols {
			fmt.Fprintf(&text, "%s%g", map[bool]string{true: ","}[j > 0], table.Cols[j][i])
		}
		fmt.Fprintln(&text)
	}
	rows, small := write(t, at("a.csv"), text.String()), at("small")
	if err := os.Mkdir(small, 0o700); err != nil {
		t.Fatalf("the folder: %v", err)
	}
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, fmt.Sprintf("size=%d", 2*os.Getpagesize())); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skipf("no file system may be mounted here: %v", err)
	} else if err != nil {
		t.Fatalf("mount: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(small, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	full := 0
	for _, args := range [][]string{
		{"select", rows, "-k", "3", "--method", "greedy"}, {"select", rows, "-k", "3", "--method", "eufs", "--sample", "0"}, {"select", rows, "-k", "3"},
		{"scan", rows, "-o", at("a.ufs")}, {"path", rows, "-k", "3", "--method", "sfufs"},
		{"convert", rows, "-o", at("b.parquet")}, {"apply", rows, "--selection", at("s.json"), "-o", at("c.csv")}, {"eval", rows, "--selection", at("s.json"), "--resamples", "2"},
	} {
		r := invoke(append(args, "--temp-dir", small)...)
		if r.code == exit.Done {
			continue
		}
		full++
		if r.code != exit.Fault || !strings.Contains(r.err, "free some space") || !strings.Contains(r.err, "--temp-dir") {
			t.Errorf("%q: exit code %d: %s", args, r.code, r.err)
		}
	}
	if full < 3 {
		t.Errorf("only %d runs found the disk full", full)
	}
}
