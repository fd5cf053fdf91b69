package statsfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestStatsInAStore: a container in a bucket is downloaded once, whatever is read of it, and
// the copy has no name.
func TestStatsInAStore(t *testing.T) {
	s := storetest.S3(t)
	proxy := storetest.NewProxy(t, s.Endpoint)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	must.Do(t, WriteStats(t.Context(), s.URL("dir/all.ufs"), testStatsHeader(), Section{"a", pieces{[]byte("numbers"), 3}}, Section{"b", pieces{[]byte("more"), 1 << 18}}))
	var meter stream.Meter
	opt := storage.FetchOptions{Meter: &meter}
	r := must.Get(OpenStats(t.Context(), s.URLAt(proxy.URL, "dir/all.ufs"), opt))(t)
	requests := meter.Requests.Load()
	for _, name := range []string{"b", "a", "b"} {
		must.Get(io.Copy(io.Discard, must.Get(r.SectionReader(name))(t)))(t)
	}
	size := must.Get(os.Stat(filepath.Join(s.Dir, "dir/all.ufs")))(t).Size()
	if n := meter.Requests.Load(); n != requests || n > 3 || meter.Fetched.Load() < size || meter.Fetched.Load() > size+1000 {
		t.Errorf("%d requests to open and %d in all, %d bytes of %d", requests, n, meter.Fetched.Load(), size)
	}
	if left := must.Get(os.ReadDir(temp))(t); len(left) > 0 {
		t.Errorf("a copy with a name: %v", left)
	}
	if r.Path() != s.URLAt(proxy.URL, "dir/all.ufs") && !strings.HasPrefix(r.Path(), "s3://lake/dir/all.ufs?") {
		t.Errorf("it is called %s", r.Path())
	}
	must.Do(t, r.Close())

	must.Do(t, os.WriteFile(filepath.Join(s.Dir, "cut.ufs"), must.Get(os.ReadFile(filepath.Join(s.Dir, "dir/all.ufs")))(t)[:size/2], 0o600))
	wantDataError(t, second(OpenStats(t.Context(), s.URL("cut.ufs"), opt)), "the file ends early")
	wantDataError(t, second(OpenStats(t.Context(), s.URL("absent.ufs"), opt)), "no such object")
	proxy.CutEach.Store(2) // every other answer ends halfway
	must.Do(t, must.Get(OpenStats(t.Context(), s.URLAt(proxy.URL, "dir/all.ufs"), opt))(t).Close())
	if meter.Retries.Load() == 0 {
		t.Error("nothing was fetched again")
	}
	t.Setenv("TMPDIR", filepath.Join(temp, "absent"))
	var out *stream.OutputError
	if _, err := OpenStats(t.Context(), s.URL("dir/all.ufs"), opt); !errors.As(err, &out) || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("without a place for the copy: %v", err)
	}
}

// TestStatsHeaderAlone: the header is that of the whole container, from a file or an object, however
// long it is; of an object not much more than it is fetched.
func TestStatsHeaderAlone(t *testing.T) {
	s := storetest.S3(t)
	const block = 64 << 10 // the first read
	for _, columns := range []int{0, 1, 100, 5000} {
		h := testStatsHeader()
		h.Columns = nil
		for j := range columns {
			h.Columns = append(h.Columns, stream.Column{Name: fmt.Sprintf("column %d of a long name", j), Type: "double"})
		}
		length := int64(len(must.Get(json.Marshal(h))(t)))
		local := filepath.Join(s.Dir, "all.ufs")
		must.Do(t, WriteStats(t.Context(), local, h, Section{"a", pieces{[]byte("numbers"), 3}}, Section{"b", noise(1 << 20)}))
		want := must.Get(OpenStats(t.Context(), local, storage.FetchOptions{}))(t)
		must.Do(t, want.Close())
		for _, path := range []string{local, "file://" + local, s.URL("all.ufs")} {
			var meter stream.Meter
			got, err := ReadStatsHeader(t.Context(), path, storage.FetchOptions{Meter: &meter})
			if err != nil || !reflect.DeepEqual(got, want.Header) {
				t.Errorf("%s, %d columns: %v, or another header", path, columns, err)
			}
			if n := meter.Fetched.Load(); n > length+2*block || meter.Requests.Load() > 4 {
				t.Errorf("%s: %d bytes in %d requests for a header of %d bytes", path, n, meter.Requests.Load(), length)
			}
		}
		whole := must.Get(os.ReadFile(local))(t)
		for _, cut := range []int64{0, 7, 8, 15, 16, 16 + length - 1, 16 + length, 16 + length + 7} {
			must.Do(t, os.WriteFile(filepath.Join(s.Dir, "cut.ufs"), whole[:cut], 0o600))
			for _, path := range []string{filepath.Join(s.Dir, "cut.ufs"), s.URL("cut.ufs")} {
				wantDataError(t, second(ReadStatsHeader(t.Context(), path, storage.FetchOptions{})), "cut.ufs")
			}
		}
	}
	wantDataError(t, second(ReadStatsHeader(t.Context(), s.URL("absent.ufs"), storage.FetchOptions{})), "no such object")
	wantDataError(t, second(ReadStatsHeader(t.Context(), filepath.Join(s.Dir, "absent.ufs"), storage.FetchOptions{})), "cannot be opened")
}

// noise is a number of bytes that do not shrink.
type noise int

func (n noise) WriteTo(w io.Writer) (int64, error) {
	return io.CopyN(w, rand.NewChaCha8([32]byte{1}), int64(n))
}

// TestIsStatsAsksSeldom: if the name of an object is enough, no request is sent.
func TestIsStatsAsksSeldom(t *testing.T) {
	s := storetest.S3(t)
	must.Do(t, WriteStats(t.Context(), s.URL("stats"), testStatsHeader()))
	must.Do(t, os.WriteFile(filepath.Join(s.Dir, "text"), []byte("some text"), 0o600))
	for _, c := range []struct {
		key      string
		is, asks bool
	}{
		{"x.ufs", true, false}, {"x.parquet", false, false}, {"x.ARROW", false, false}, {"dir/", false, false},
		{"", false, false}, {"*", false, false}, {"stats", true, true}, {"text", false, true}, {"absent", false, true},
	} {
		var meter stream.Meter
		if is := IsStats(t.Context(), s.URL(c.key), storage.FetchOptions{Meter: &meter}); is != c.is || (meter.Requests.Load() > 0) != c.asks {
			t.Errorf("%q: %v after %d requests", c.key, is, meter.Requests.Load())
		}
	}
}

// wantPlaced wants a DataError with its place and the words says.
func wantPlaced(t *testing.T, err error, says string) {
	t.Helper()
	var d *stream.DataError
	if !errors.As(err, &d) || d.Path == "" || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want a DataError with %q", err, says)
	}
}

func TestExpandStats(t *testing.T) {
	s := storetest.S3(t)
	dir := t.TempDir()
	for _, root := range []string{dir, s.Dir} {
		for _, name := range []string{"p/b.ufs", "p/a.ufs", "p/c.txt", "p/_x.ufs", "p/.h.ufs", "p/q/d.ufs", "p[1].ufs"} {
			path := filepath.Join(root, name)
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must.Do(t, os.WriteFile(path, nil, 0o600))
		}
	}
	for pattern, want := range map[string]string{
		"p/*.ufs": "p/a.ufs p/b.ufs", "p/{b,a}.ufs": "p/a.ufs p/b.ufs", "p/**/*.ufs": "p/a.ufs p/b.ufs p/q/d.ufs",
		"p/_*.ufs": "p/_x.ufs", "p[1].ufs": "p[1].ufs", "p/b.ufs": "p/b.ufs", "absent.ufs": "absent.ufs",
		"p/": "p/a.ufs p/b.ufs", "p/q/": "p/q/d.ufs", "p/*.parquet": "", "*/none/*": "",
	} {
		for _, in := range []func(string) string{func(name string) string { return dir + "/" + name }, s.URL} {
			got, err := ExpandStats(t.Context(), []string{in(pattern)}, storage.FetchOptions{})
			if want == "" {
				var data *stream.DataError
				if !errors.As(err, &data) || !strings.HasSuffix(err.Error(), " matches") {
					t.Errorf("expanding %s: %v, want a DataError that nothing matches", in(pattern), err)
				}
				continue
			}
			for i := range got {
				got[i] = strings.TrimPrefix(strings.TrimPrefix(got[i], dir+"/"), "s3://lake/")
				got[i], _, _ = strings.Cut(got[i], "?")
			}
			if text := strings.Join(got, " "); err != nil || text != want {
				t.Errorf("%s: %s, %v; want %s", in(pattern), text, err, want)
			}
		}
	}
	// A folder means all statistics files in it, also without a slash at the end of its name.
	must.Do(t, os.Mkdir(filepath.Join(dir, "none"), 0o755))
	for _, folder := range []string{filepath.Join(dir, "p"), "file://" + filepath.Join(dir, "p") + "/", s.URL("p")} {
		if got, err := ExpandStats(t.Context(), []string{folder}, storage.FetchOptions{}); err != nil || len(got) != 2 || place.Base(got[1]) != "b.ufs" {
			t.Errorf("expanding %s: %v, %v, want 2 files, the last one b.ufs", folder, got, err)
		}
	}
	for empty, says := range map[string]string{
		filepath.Join(dir, "none"): "no statistics file", filepath.Join(dir, "absent") + "/": "cannot be listed", s.URL("none/"): "no statistics file",
		s.URL("none"): "neither an object nor a folder",
	} {
		wantPlaced(t, second(ExpandStats(t.Context(), []string{empty}, storage.FetchOptions{})), says)
	}
	for _, bad := range []string{filepath.Join(dir, "[*"), s.URL("[*")} {
		var usage *stream.UsageError
		if _, err := ExpandStats(t.Context(), []string{bad}, storage.FetchOptions{}); !errors.As(err, &usage) {
			t.Errorf("expanding %s: %v, want a UsageError", bad, err)
		}
	}
}

// TestFetchIsWhole: a file here and an object there are read alike.
func TestFetchIsWhole(t *testing.T) {
	s := storetest.S3(t)
	for _, size := range []int{0, 1, 1<<20 + 1} {
		want := []byte(strings.Repeat("x", size))
		local := filepath.Join(t.TempDir(), fmt.Sprint(size))
		must.Do(t, os.WriteFile(local, want, 0o600))
		must.Do(t, os.WriteFile(filepath.Join(s.Dir, "k"), want, 0o600))
		for _, path := range []string{local, "file://" + local, s.URL("k")} {
			must.Do(t, storage.ReadWhole(t.Context(), path, storage.FetchOptions{}, stream.Text{}, func(r io.Reader) error {
				if got := must.Get(io.ReadAll(r))(t); !slices.Equal(got, want) {
					t.Errorf("%s: %d bytes of %d", path, len(got), size)
				}
				return nil
			}))
		}
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "absent"), s.URL("absent")} {
		err := storage.ReadWhole(t.Context(), path, storage.FetchOptions{}, stream.PlainText("a remedy"), func(io.Reader) error { return nil })
		wantDataError(t, err, "absent")
	}
}
