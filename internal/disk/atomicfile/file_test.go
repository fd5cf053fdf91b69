//go:build unix

package atomicfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/stream"
)

func tempsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatalf("listing the folder: %v", err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), tempSuffix) {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestAtomicFileCommit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	for _, want := range []string{"", "first", strings.Repeat("second", 1<<15)} {
		f, err := Create(t.Context(), path)
		if err != nil {
			t.Fatalf("creating the file: %v", err)
		}
		io.WriteString(f, strings.Repeat("given up", len(want)))
		if err := f.Restart(); err != nil {
			t.Fatalf("restarting the file: %v", err)
		}
		io.WriteString(f, want)
		if len(tempsIn(t, dir)) != 1 {
			t.Error("no temporary beside the output")
		}
		if err := f.Commit(); err != nil {
			t.Fatalf("committing the file: %v", err)
		}
		f.Close() // does nothing now
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("read %d bytes, %v; want %d", len(got), err, len(want))
		}
		if err := f.Commit(); err == nil {
			t.Error("a second Commit succeeds")
		}
		if _, err := f.Write([]byte("x")); err == nil {
			t.Error("a write after Commit succeeds")
		}
	}
	if n := tempsIn(t, dir); n != nil {
		t.Errorf("left behind: %v", n)
	}
	umask := syscall.Umask(0)
	syscall.Umask(umask)
	if fi, _ := os.Stat(path); fi.Mode().Perm() != 0o666&^os.FileMode(umask) {
		t.Errorf("mode %v under umask %o", fi.Mode(), umask)
	}
}

func TestAtomicFileAbort(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatalf("writing the old file: %v", err)
	}
	f, err := Create(t.Context(), path)
	if err != nil {
		t.Fatalf("creating the file: %v", err)
	}
	io.WriteString(f, "new")
	f.Close()
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("the old file holds %q", got)
	}
	if n := tempsIn(t, dir); n != nil {
		t.Errorf("left behind: %v", n)
	}
}

// A live run's temporary stays, a dead one's goes, and names that only look alike are left alone.
func TestAtomicSweep(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	live, err := Create(t.Context(), path)
	if err != nil {
		t.Fatalf("creating the live file: %v", err)
	}
	defer live.Close()
	liveDir, err := CreateDir(t.Context(), path)
	if err != nil {
		t.Fatalf("creating the live folder: %v", err)
	}
	defer liveDir.Abort(t.Context())
	stale := filepath.Join(dir, ".out.1-00000001.ufs-tmp")
	staleDir := filepath.Join(dir, ".out.1-00000002.ufs-tmp")
	others := []string{".out.b.1-00000001.ufs-tmp", ".out.1-1.ufs-tmp", ".other.1-00000001.ufs-tmp"}
	os.Mkdir(staleDir, 0o700)
	for _, n := range append(others, filepath.Base(stale), filepath.Base(staleDir)+"/part") {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
			t.Fatalf("writing %s: %v", n, err)
		}
	}
	f, err := Create(t.Context(), path)
	if err != nil {
		t.Fatalf("creating the file: %v", err)
	}
	f.Close()
	for _, gone := range []string{stale, staleDir} {
		if _, err := os.Stat(gone); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
	for _, kept := range append(others, live.temp, liveDir.temp) {
		if _, err := os.Stat(filepath.Join(dir, kept)); err != nil {
			t.Errorf("%s was removed: %v", kept, err)
		}
	}
}

func TestAtomicBadPlaces(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	os.WriteFile(file, nil, 0o600)
	for _, path := range []string{"", dir, dir + "/", dir + "/new/", file + "/x", dir + "/absent/x", "/dev/null"} {
		_, err := Create(t.Context(), path)
		var out *stream.OutputError
		if !errors.As(err, &out) || out.Remedy.Format == "" {
			t.Errorf("creating %q: got %v, want an OutputError with a remedy", path, err)
		}
	}
	for _, path := range []string{dir, file, dir + "/absent/x"} {
		_, err := CreateDir(t.Context(), path)
		var out *stream.OutputError
		if !errors.As(err, &out) || out.Remedy.Format == "" {
			t.Errorf("folder %q: %v", path, err)
		}
	}
	if _, err := Create(t.Context(), filepath.Join(dir, strings.Repeat("n", 255))); err != nil {
		t.Errorf("longest name: %v", err)
	}
}

func TestAtomicDiskFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full, so a full disk cannot be tested")
	}
	dir := t.TempDir()
	f, err := Create(t.Context(), filepath.Join(dir, "out"))
	if err != nil {
		t.Fatalf("creating the file: %v", err)
	}
	// The first 128 KiB pass the buffer and reach the file, then the disk is full.
	if _, err := f.Write(make([]byte, 1<<17)); err != nil {
		t.Fatalf("writing what still fits: %v", err)
	}
	f.file.Close()
	f.file = full
	io.WriteString(f, "x")
	err = f.Commit()
	var out *stream.OutputError
	if !errors.As(err, &out) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "after 131072 bytes") {
		t.Errorf("got %v", err)
	}
	if _, again := f.Write([]byte("x")); !errors.Is(again, err) {
		t.Errorf("the error is not sticky: %v", again)
	}
	if e, _ := os.ReadDir(dir); len(e) != 0 {
		t.Errorf("left behind: %v", e)
	}
}

func TestAtomicDir(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	for _, existing := range []bool{false, true} {
		os.RemoveAll(path)
		if existing {
			os.Mkdir(path, 0o700)
		}
		d, err := CreateDir(t.Context(), path+"/")
		if err != nil {
			t.Fatalf("creating the folder: %v", err)
		}
		os.Mkdir(filepath.Join(d.Path(), "a"), 0o700)
		os.WriteFile(filepath.Join(d.Path(), "a", "b"), []byte("x"), 0o600)
		if err := d.Commit(t.Context()); err != nil {
			t.Fatalf("committing the folder: %v", err)
		}
		d.Abort(t.Context()) // does nothing now
		if got, err := os.ReadFile(filepath.Join(path, "a", "b")); err != nil || string(got) != "x" {
			t.Errorf("the committed file has %q (%v), want x", got, err)
		}
	}
	if _, err := CreateDir(t.Context(), path); err == nil {
		t.Error("a full folder is accepted")
	}
	os.RemoveAll(path)
	d, err := CreateDir(t.Context(), path)
	if err != nil {
		t.Fatalf("creating the folder: %v", err)
	}
	os.MkdirAll(filepath.Join(path, "appeared"), 0o700) // while we were building
	if err := d.Commit(t.Context()); err == nil {
		t.Error("Commit replaces a full folder")
	}
	if n := tempsIn(t, dir); n != nil {
		t.Errorf("left behind: %v", n)
	}
}

// killPattern is the text that the killed child writes; any torn copy of it is shorter.
func killPattern() []byte { return bytes.Repeat([]byte("0123456789abcdef"), 1<<14) }

const killEnv = "UFS_TEST_ATOMIC_OUT"

// TestAtomicKillChild is the process that TestAtomicKill kills: it writes for ever.
func TestAtomicKillChild(t *testing.T) {
	path := os.Getenv(killEnv)
	if path == "" {
		return
	}
	p := killPattern()
	for n := 0; ; n++ {
		f, err := Create(t.Context(), path)
		if err != nil {
			t.Fatalf("creating the file: %v", err)
		}
		if n == 0 {
			os.Stdout.WriteString("started\n")
		}
		for i := 0; i < len(p); i += 4096 {
			f.Write(p[i : i+4096])
		}
		if err := f.Commit(); err != nil {
			t.Fatalf("committing the file: %v", err)
		}
	}
}

func TestAtomicKill(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	torn := 0
	for range 12 {
		os.Remove(path)
		cmd := exec.Command(os.Args[0], "-test.run=^TestAtomicKillChild$")
		cmd.Env = append(os.Environ(), killEnv+"="+path)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatalf("opening the child's output: %v", err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatalf("starting the child: %v", err)
		}
		line, err := bufio.NewReader(stdout).ReadString('\n')
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
		cmd.Process.Kill()
		cmd.Wait()
		if err != nil || line != "started\n" {
			t.Fatalf("child said %q, %v", line, err)
		}
		if got, err := os.ReadFile(path); err == nil && !bytes.Equal(got, killPattern()) {
			t.Fatalf("the output is torn: %d bytes", len(got))
		}
		torn += len(tempsIn(t, dir))
		f, err := Create(t.Context(), path)
		if err != nil {
			t.Fatalf("creating the file after the kills: %v", err)
		}
		f.Close()
		if n := tempsIn(t, dir); n != nil {
			t.Fatalf("the next run leaves %v", n)
		}
	}
	t.Logf("%d of 12 kills left a temporary to remove", torn)
}
