//go:build unix

package localfile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	must.Do(t, unix.Mkfifo(path, 0o600))
	return path
}

// ends fails the test if do does not end with the context.
func ends(t *testing.T, do func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	time.Sleep(5 * time.Millisecond) // let it wait; too short would only make the test easier
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it still waits")
	}
}

// A pipe without another end, silent or full, is waited for as long as the context lasts.
func TestPipesEndWithTheContext(t *testing.T) {
	silent := fifo(t)
	ends(t, func(ctx context.Context) error { _, err := Open(ctx, silent); return err })
	ends(t, func(ctx context.Context) error { _, err := OpenDevice(ctx, silent); return err })
	both := must.Get(os.OpenFile(silent, os.O_RDWR, 0))(t)
	defer both.Close()
	ends(t, func(ctx context.Context) error {
		f := must.Get(Open(ctx, silent))(t)
		defer f.Close()
		_, err := io.ReadAll(f)
		return err
	})
	ends(t, func(ctx context.Context) error {
		f := must.Get(OpenDevice(ctx, silent))(t)
		defer f.Close()
		_, err := io.Copy(f, strings.NewReader(strings.Repeat("x", 1<<20)))
		return err
	})
}

// Bytes written to a pipe are read from it.
func TestPipe(t *testing.T) {
	path := fifo(t)
	const text = "one\ntwo\n"
	written := make(chan error, 1)
	go func() {
		f, err := OpenDevice(t.Context(), path)
		if err == nil {
			_, err = io.WriteString(f, text)
			err = errors.Join(err, f.Close())
		}
		written <- err
	}()
	f := must.Get(Open(t.Context(), path))(t)
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || string(got) != text {
		t.Errorf("reading the pipe: got %q, %v, want %q", got, err, text)
	}
	must.Do(t, <-written)
}

func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	loop := filepath.Join(dir, "loop")
	must.Do(t, os.Symlink("loop", loop))
	plain := filepath.Join(dir, "plain")
	must.Do(t, os.WriteFile(plain, []byte("text"), 0o600))
	for path, want := range map[string]string{
		dir: "is a directory", "/dev/zero": "is a device", "/dev/null": "is a device", loop: "symbolic links", plain + "x": "no such file", plain: "",
	} {
		f, err := Open(t.Context(), path)
		b, err2 := ReadAll(path)
		if want == "" {
			must.Do(t, errors.Join(err, err2, f.Close()))
			if string(b) != "text" {
				t.Errorf("read %q", b)
			}
			continue
		}
		for _, err := range []error{err, err2} {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), dir) {
				t.Errorf("%s: got %v, want %q without the path", path, err, want)
			}
		}
	}
	if _, err := ReadAll(fifo(t)); err == nil || !strings.Contains(err.Error(), "is a pipe") {
		t.Errorf("a pipe: %v", err)
	}
}
