package chunkio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/store/storetest"
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
	opt := FetchOptions{Meter: &meter}
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

// TestIsStatsAsksSeldom: the name of an object tells where it can, without a request.
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
		if is := IsStats(t.Context(), s.URL(c.key), FetchOptions{Meter: &meter}); is != c.is || (meter.Requests.Load() > 0) != c.asks {
			t.Errorf("%q: %v after %d requests", c.key, is, meter.Requests.Load())
		}
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
		"p/_*.ufs": "p/_x.ufs", "p[1].ufs": "p[1].ufs", "p/b.ufs": "p/b.ufs", "absent.ufs": "absent.ufs", "p/*.parquet": "", "*/none/*": "",
	} {
		for _, in := range []func(string) string{func(name string) string { return filepath.Join(dir, name) }, s.URL} {
			got, err := ExpandStats(t.Context(), []string{in(pattern)}, FetchOptions{})
			if want == "" {
				var data *stream.DataError
				if !errors.As(err, &data) || !strings.HasSuffix(err.Error(), " matches") {
					t.Errorf("%s: %v", in(pattern), err)
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
	for _, bad := range []string{filepath.Join(dir, "[*"), s.URL("[*")} {
		var usage *stream.UsageError
		if _, err := ExpandStats(t.Context(), []string{bad}, FetchOptions{}); !errors.As(err, &usage) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestLayoutOfObjects: files keep the parts of their keys below the prefix that was given,
// and no key leads out of the output.
func TestLayoutOfObjects(t *testing.T) {
	const q = "?region=r"
	for _, c := range []struct{ inputs, paths, out, want string }{
		{"s3://b/d/", "s3://b/d/1.parquet s3://b/d/x/2.parquet", "out", "1.parquet x/2.parquet"},
		{"s3://b/d" + q, "s3://b/d/1.parquet" + q + " s3://b/d/k=v/2.arrow" + q, "s3://c/out", "1.parquet k=v/2.parquet"},
		{"s3://b", "s3://b/1.parquet s3://b/d/2.parquet", "out", "1.parquet d/2.parquet"},
		{"s3://b/d/1.parquet" + q, "s3://b/d/1.parquet" + q, "s3://c/out" + q, "one"},
		{"s3://b/d/1.parquet s3://b/d/2.parquet", "s3://b/d/1.parquet s3://b/d/2.parquet", "s3://c/out.parquet" + q, "one"},
		{"s3://b/*/1.parquet", "s3://b/d/1.parquet s3://b/e/1.parquet", "s3://c/out", "d/1.parquet e/1.parquet"},
		{"s3://b/d/1.parquet s3://c/d/1.parquet", "s3://b/d/1.parquet s3://c/d/1.parquet", "out", "b/d/1.parquet c/d/1.parquet"},
		{"s3://b/d s3://c/e/", "s3://b/d/1.parquet s3://c/e/2.parquet", "out", "1.parquet 2.parquet"},
		{"s3://b/d s3://c/e/", "s3://b/d/1.parquet s3://c/e/1.parquet", "out", "would both become"},
		{"s3://b/d", "s3://b/d/a//1.parquet s3://b/d/a/1.parquet", "out", "would both become"},
		{"s3://b/d", "s3://b/d/../../etc/1.parquet s3://b/d/2.parquet", "out", "no place below a folder"},
		{"s3://b/d", "s3://b/d/1.parquet s3://b/d/2.parquet", "s3://b/d/2.parquet", "would replace the input"},
	} {
		paths := strings.Fields(c.paths)
		l, err := newAccess(Options{}).arrange(t.Context(), strings.Fields(c.inputs), paths, c.out)
		var got []string
		for _, p := range paths {
			got = append(got, filepath.ToSlash(l.place[p]))
		}
		text := strings.Join(got, " ")
		switch {
		case err != nil:
			text = err.Error()
		case l.single:
			text = "one"
		}
		if text != c.want && (err == nil || !strings.Contains(text, c.want)) {
			t.Errorf("%s to %s: %s; want %s", c.inputs, c.out, text, c.want)
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
			must.Do(t, ReadWhole(t.Context(), path, FetchOptions{}, stream.Text{}, func(r io.Reader) error {
				if got := must.Get(io.ReadAll(r))(t); !slices.Equal(got, want) {
					t.Errorf("%s: %d bytes of %d", path, len(got), size)
				}
				return nil
			}))
		}
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "absent"), s.URL("absent")} {
		err := ReadWhole(t.Context(), path, FetchOptions{}, stream.PlainText("a remedy"), func(io.Reader) error { return nil })
		wantDataError(t, err, "absent")
	}
}
