//go:build unix

package atomicfile

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestNotInputByWhateverName: a local file has many names.
func TestNotInputByWhateverName(t *testing.T) {
	t.Chdir(t.TempDir())
	full := must.Get(os.Getwd())(t)
	must.Do(t, os.Mkdir("d", 0o700))
	for _, name := range []string{"d/in", "other"} {
		must.Do(t, os.WriteFile(name, []byte("x"), 0o600))
	}
	must.Do(t, os.Symlink("d/in", "soft"))
	must.Do(t, os.Symlink("d", "folder"))
	must.Do(t, os.Link("d/in", "hard"))
	names := []string{"d/in", "./d/../d/in", filepath.Join(full, "d", "in"), "file://" + full + "/d/in", "soft", "folder/in", "hard", "folder/../d//in"}
	for _, out := range names {
		for _, in := range names {
			if err := CheckNotInput(t.Context(), out, "absent", "s3://b/d/in", "other", in); !errors.As(err, new(*stream.UsageError)) {
				t.Errorf("%s from %s: %v", out, in, err)
			}
		}
		must.Do(t, CheckNotInput(t.Context(), out, "absent", "other", "d", "s3://b/d/in"))
	}
	for _, out := range []string{"", "-", "d/new", "new/in", "d", os.DevNull} {
		must.Do(t, CheckNotInput(t.Context(), out, slices.Concat(names, []string{"", "-", out})...))
	}
	if err := CheckNoneIsInput(t.Context(), "d", slices.Values([]string{"a", "in"}), []string{"other", "hard"}); !errors.As(err, new(*stream.UsageError)) {
		t.Errorf("a file of a folder: %v", err)
	}
	must.Do(t, CheckNoneIsInput(t.Context(), "d", slices.Values([]string{"a", "b"}), names))
	must.Do(t, CheckNoneIsInput(t.Context(), "absent", slices.Values([]string{"in"}), names))
}

// TestNotInputByAnotherWay: the names of two servers may lead to one object, which its version reveals.
func TestNotInputByAnotherWay(t *testing.T) {
	s := storetest.S3(t)
	s.PutObject("d/other", []byte("texts"))
	f := must.Get(Create(t.Context(), s.URL("d/in")))(t) // with a tag, which files that were put there lack
	must.Get(f.Write([]byte("text")))(t)
	must.Do(t, f.Commit())
	tag := must.Get(store.New(store.Options{}).Stat(t.Context(), must.Get(store.Parse(s.URL("d/in")))(t)))(t).Version
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", tag)
		w.Header().Set("Content-Length", "4")
	}))
	defer web.Close()
	alias := strings.Replace(s.Endpoint, "127.0.0.1", "localhost", 1)
	same := []string{
		s.URL("d/in"), s.URLAt(alias, "d/in"), s.URLAt(s.Endpoint+"/", "d/in"), web.URL + "/lake/d/in", web.URL + "/any/lake/d%2Fin?sig=SECRET",
	}
	for _, in := range same {
		for _, out := range []string{s.URL("d/in"), s.URLAt(alias, "d/in")} {
			err := CheckNotInput(t.Context(), out, "d/in", s.URL("d/other"), in)
			if !errors.As(err, new(*stream.UsageError)) || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%s from %s: %v", out, in, err)
			}
		}
		for _, folder := range []string{s.URL("d"), s.URLAt(alias, "d/")} {
			if err := CheckNoneIsInput(t.Context(), folder, slices.Values([]string{"a", "in"}), []string{in}); !errors.As(err, new(*stream.UsageError)) {
				t.Errorf("in in %s from %s: %v", folder, in, err)
			}
		}
		must.Do(t, CheckNotInput(t.Context(), s.URL("d/new"), in))
		must.Do(t, CheckNotInput(t.Context(), s.URL("in"), in))
		must.Do(t, CheckNoneIsInput(t.Context(), s.URL("new"), slices.Values([]string{"in"}), []string{in}))
	}
	// Another object with the key is none of them.
	must.Do(t, CheckNotInput(t.Context(), s.URL("d/other"), web.URL+"/lake/d/other"))
	must.Do(t, CheckNotInput(t.Context(), s.URL("d/other"), s.URL("d/in"), "gs://lake/d/other"))
}
