//go:build unix

package atomicfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

var outside = []string{"../x", "../../x", "a/../../x", "/x", "..", ".", "", "a//x", "./x", `a\..\..\x`, "a\x00"}

// TestSinkRefusesNames: no file of a folder is made outside of it, whoever chose its name.
func TestSinkRefusesNames(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, "top"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, "x"), []byte("kept"), 0o600))
	s := storetest.S3(t)
	s.PutObject("x", []byte("kept"))
	for _, folder := range []string{filepath.Join(dir, "top", "out"), s.URL("top/out")} {
		d := must.Get(ResumeDir(t.Context(), folder, all))(t)
		build(t, d, "a/y", "text")
		for _, name := range outside {
			f, err := d.Create(t.Context(), name)
			if out, ok := errors.AsType[*stream.OutputError](err); !ok || out.Remedy.Format == "" || !strings.Contains(err.Error(), "cannot name a file in a folder") {
				t.Errorf("%q in %s: error %v, want that it is no name below a folder", name, folder, err)
			}
			if f != nil {
				f.Abort()
			}
		}
		must.Do(t, d.Commit(t.Context()))
	}
	if got, want := must.Files(t, dir), map[string]string{"x": "kept", "top/out/a/y": "text"}; !maps.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
	wantBucket(t, s, map[string]string{"x": "kept", "top/out/a/y": "text", "top/out/" + wholeMark: ""})
}

// hostileLines are of a list with right checksums, of files outside of the folder that have these bytes.
func hostileLines(t *testing.T, text string) (lines string) {
	for _, name := range outside {
		for _, recipe := range []string{"recipe of " + name, "recipe"} {
			line := must.Get(json.Marshal(FinishedFile{Place: name, Recipe: recipe, Bytes: int64(len(text)), Rows: 1, Sum: xxhash.Sum64String(text), Version: "v"}))(t)
			lines += fmt.Sprintf("%016x %s\n", xxhash.Sum64(line), line)
		}
	}
	return lines
}

// TestListNamesNothingOutside: of the list of an interrupted run no place outside of the folder is adopted, and nothing
// there is removed.
func TestListNamesNothingOutside(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must.Do(t, os.Mkdir(at("top"), 0o700))
	d := must.Get(ResumeDir(t.Context(), at("top/out"), all))(t)
	build(t, d, "a/y", "text")
	temp := leave(t, d)
	for _, name := range []string{"x", "top/x"} {
		must.Do(t, os.WriteFile(at(name), []byte("kept"), 0o600))
	}
	list := must.Get(os.OpenFile(filepath.Join(temp, finishedName), os.O_APPEND|os.O_WRONLY, 0))(t)
	must.Get(list.WriteString(hostileLines(t, "kept")))(t)
	must.Do(t, list.Close())

	s := storetest.S3(t)
	for _, key := range []string{"x", "top/x"} {
		s.PutObject(key, []byte("kept"))
	}
	far := must.Get(ResumeDir(t.Context(), s.URL("top/out"), all))(t)
	build(t, far, "a/y", "text")
	leave(t, far)
	key := "top/out/" + listName
	s.PutObject(key, []byte(inBucket(t, s)[key]+hostileLines(t, "kept")))

	for _, folder := range []string{at("top/out"), s.URL("top/out")} {
		for _, wanted := range []bool{false, true} {
			d := must.Get(ResumeDir(t.Context(), folder, func(rel string) bool { return wanted || rel == "a/y" }))(t)
			for _, name := range outside {
				if _, fate, err := d.CheckFinished(t.Context(), name, "recipe"); fate != Unfinished || err != nil {
					t.Errorf("%q in %s: fate %v, %v", name, folder, fate, err)
				}
			}
			if got := fates(t, d, "a/y"); got[0] != Whole {
				t.Errorf("a/y in %s: fate %v", folder, got)
			}
			if wanted {
				must.Do(t, d.Commit(t.Context()))
			} else {
				leave(t, d)
			}
		}
	}
	if got, want := must.Files(t, dir), map[string]string{"x": "kept", "top/x": "kept", "top/out/a/y": "text"}; !maps.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
	wantBucket(t, s, map[string]string{"x": "kept", "top/x": "kept", "top/out/a/y": "text", "top/out/" + wholeMark: ""})
}

// TestNamesThatAreOne: if the file system treats the names of two outputs as one, the second is refused. A link
// made in the meantime simulates such a file system.
func TestNamesThatAreOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	d := must.Get(ResumeDir(t.Context(), path, all))(t)
	build(t, d, "X", "text")
	must.Do(t, os.Link(filepath.Join(d.Path(), "X"), filepath.Join(d.Path(), "x")))
	if _, err := d.Create(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "that of another file of the folder") {
		t.Errorf("a second name: %v", err)
	}
	build(t, d, "X", "again") // an altered file is made again
	must.Do(t, d.Abort(t.Context()))
}
