package atomicfile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// keys lists all files of the bucket, including unfinished uploads.
func keys(t *testing.T, s *storetest.Server) (list []string) {
	t.Helper()
	must.Do(t, filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, strings.TrimPrefix(path, s.Dir+"/"))
		}
		return err
	}))
	return list
}

// noisy is random bytes, which are the same for every call.
func noisy(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // never fails
	return b
}

// own sets a TMPDIR for the test, which shows the files that a run leaves there.
func own(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	return dir
}

func TestObjectCommit(t *testing.T) {
	s := storetest.S3(t)
	temp := own(t)
	for _, size := range []int{0, 1, 1 << 16, 1<<16 + 1, 40 << 20} { // the last in parts
		want := noisy(size)
		f := must.Get(Create(t.Context(), s.URL("a/out")))(t)
		must.Get(f.Write(want))(t)
		r := must.Get(f.Reopen())(t)
		if got := must.Get(io.ReadAll(r))(t); !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d can be read before the upload", size, len(got))
		}
		must.Do(t, r.Close())
		must.Do(t, f.Commit())
		must.Do(t, f.Close()) // does nothing now
		if got := must.Get(os.ReadFile(filepath.Join(s.Dir, "a/out")))(t); !bytes.Equal(got, want) {
			t.Errorf("%d bytes: the object has %d", size, len(got))
		}
		if err := f.Commit(); err == nil {
			t.Error("a second Commit succeeds")
		}
		if _, err := f.Write([]byte("x")); err == nil {
			t.Error("a write after Commit succeeds")
		}
	}
	if got := keys(t, s); !slices.Equal(got, []string{"a/out"}) {
		t.Errorf("the bucket has %q", got)
	}
	if left := must.Get(os.ReadDir(temp))(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestObjectAbort(t *testing.T) {
	s := storetest.S3(t)
	temp := own(t)
	f := must.Get(Create(t.Context(), s.URL("out")))(t)
	must.Get(f.Write(noisy(1 << 20)))(t)
	must.Do(t, f.Close())
	ctx, cancel := context.WithCancel(t.Context())
	f = must.Get(Create(ctx, s.URL("out")))(t)
	must.Get(f.Write(noisy(1 << 20)))(t)
	cancel()
	if err := f.Commit(); !errors.Is(err, context.Canceled) {
		t.Errorf("committing with a cancelled context: got %v", err)
	}
	if got := keys(t, s); len(got) > 0 {
		t.Errorf("the bucket has %q", got)
	}
	if left := must.Get(os.ReadDir(temp))(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestSpoolNowhere: if an upload has no place to wait, the error names TMPDIR.
func TestSpoolNowhere(t *testing.T) {
	s := storetest.S3(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "absent"))
	for _, err := range []error{CheckWritable(t.Context(), s.URL("out")), second(Create(t.Context(), s.URL("out")))} {
		var out *stream.OutputError
		if !errors.As(err, &out) || !strings.Contains(err.Error(), "s3://lake/out") || !strings.Contains(err.Error(), "set TMPDIR") {
			t.Errorf("got %v, want an OutputError that names s3://lake/out and TMPDIR", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestObjectPlaces(t *testing.T) {
	s := storetest.S3(t)
	must.Do(t, CheckWritable(t.Context(), s.URL("a/b.json")))
	if got := keys(t, s); len(got) > 0 {
		t.Errorf("looking whether it can be written leaves %q", got)
	}
	var usage *stream.UsageError
	for _, path := range []string{"https://host/x?sig=SECRET", "http://host/x", "s3://", "s3://b/k?regoin=r", "file://host/x"} {
		for _, err := range []error{CheckWritable(t.Context(), path), second(Create(t.Context(), path)), second(CreateDir(t.Context(), path))} {
			if !errors.As(err, &usage) || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%s: got %v, want a UsageError without the secret", path, err)
			}
		}
	}
	var output *stream.OutputError
	for _, path := range []string{s.URL(""), s.URL("a/"), strings.Replace(s.URL("a"), "lake", "absent", 1)} {
		if err := CheckWritable(t.Context(), path); !errors.As(err, &output) {
			t.Errorf("%s: got %v, want an OutputError", path, err)
		}
	}
	if err := CheckNotInput(t.Context(), s.URL("a"), "a", s.URL("b"), s.URL("a")); !errors.As(err, &usage) {
		t.Errorf("the input's place: %v", err)
	}
	must.Do(t, CheckNotInput(t.Context(), s.URL("a"), "a", s.URL("b"), "s3://other/a"))
	local := filepath.Join(t.TempDir(), "out")
	must.Do(t, os.WriteFile(local, nil, 0o600))
	for _, pair := range [][2]string{{local, "file://" + local}, {"file://" + local, local}} {
		if err := CheckNotInput(t.Context(), pair[0], s.URL("a"), pair[1]); !errors.As(err, &usage) {
			t.Errorf("%q: got %v, want a UsageError", pair, err)
		}
	}
	f := must.Get(Create(t.Context(), "file://"+local))(t)
	must.Get(f.Write([]byte("x")))(t)
	must.Do(t, f.Commit())
	if got := must.Get(os.ReadFile(local))(t); string(got) != "x" {
		t.Errorf("file:// wrote %q", got)
	}
	if IsDevice(s.URL("a")) || !IsDevice("file:///dev/null") {
		t.Error("devices")
	}
}

func TestObjectDir(t *testing.T) {
	s := storetest.S3(t)
	add := func(d *Dir, rel string) error {
		f, err := d.Create(t.Context(), rel)
		if err != nil {
			return err
		}
		defer f.Close()
		must.Get(f.Write([]byte(rel)))(t)
		return f.Commit()
	}
	// A marker that consoles make for an empty folder is no object in it.
	must.Do(t, os.Mkdir(filepath.Join(s.Dir, "out"), 0o755))
	d := must.Get(CreateDir(t.Context(), s.URL("out")))(t)
	must.Do(t, add(d, filepath.Join("a", "1")))
	must.Do(t, add(d, "2"))
	must.Do(t, d.Commit(t.Context()))
	must.Do(t, d.Abort(t.Context())) // does nothing now
	whole := []string{"out/2", "out/_SUCCESS", "out/a/1"}
	if got := keys(t, s); !slices.Equal(got, whole) {
		t.Errorf("the bucket has %q", got)
	}
	var output *stream.OutputError
	if _, err := CreateDir(t.Context(), s.URL("out/")); !errors.As(err, &output) || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a full folder: %v", err)
	}
	// A sibling whose name begins alike lies outside.
	d = must.Get(CreateDir(t.Context(), s.URL("ou")))(t)
	must.Do(t, add(d, "1"))
	must.Do(t, add(d, "2"))
	must.Do(t, d.Abort(t.Context()))
	must.Do(t, d.Abort(t.Context()))
	if got := keys(t, s); !slices.Equal(got, whole) {
		t.Errorf("after Abort the bucket has %q", got)
	}
	// Abort works after the run's context has ended.
	ctx, cancel := context.WithCancel(t.Context())
	d = must.Get(CreateDir(ctx, s.URL("new")))(t)
	must.Do(t, add(d, "1"))
	cancel()
	if err := d.Commit(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit after the end: %v", err)
	}
	must.Do(t, d.Abort(ctx))
	if got := keys(t, s); !slices.Equal(got, whole) {
		t.Errorf("after Abort the bucket has %q", got)
	}
}

// TestLostAnswer: an upload whose answer is lost may be there although it failed; a folder
// that is given up does not leave it.
func TestLostAnswer(t *testing.T) {
	s := storetest.S3(t)
	proxy := storetest.NewProxy(t, s.Endpoint)
	proxy.OnAnswer(func(r *http.Request, resp *http.Response) {
		if r.Method == http.MethodPut {
			resp.StatusCode = http.StatusForbidden // written, and refused
		}
	})
	d := must.Get(CreateDir(t.Context(), s.URLAt(proxy.URL, "out")))(t)
	f := must.Get(d.Create(t.Context(), "1"))(t)
	must.Get(f.Write([]byte("x")))(t)
	if err := f.Commit(); err == nil {
		t.Error("a refused upload succeeds")
	}
	if got := keys(t, s); !slices.Equal(got, []string{"out/1"}) {
		t.Fatalf("the bucket has %q: the test does not test", got)
	}
	must.Do(t, d.Abort(t.Context()))
	if got := keys(t, s); len(got) > 0 {
		t.Errorf("after Abort the bucket has %q", got)
	}
}
