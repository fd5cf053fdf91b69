package corpora

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/duckdbtest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// pinnedFiles are the files of the project's own selection, by suite and name.
func pinnedFiles(t *testing.T) map[string]file {
	t.Helper()
	files := make(map[string]file)
	for _, dir := range must.Get(filepath.Glob(pinned("*/")))(t) {
		if info := must.Get(os.Stat(dir))(t); !info.IsDir() {
			continue
		}
		for _, f := range must.Get(listFiles(dir))(t) {
			files[path.Join(f.suite, f.name)] = f
		}
	}
	return files
}

func expected(t *testing.T) (list []expectation) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(must.Get(os.ReadFile(pinned("expected.jsonl")))(t)))
	d.DisallowUnknownFields()
	for d.More() {
		var e expectation
		must.Do(t, d.Decode(&e))
		list = append(list, e)
	}
	return list
}

// TestPinned: every file of the selection is read, or refused, as it was when DuckDB judged it, each value to
// the bit.
func TestPinned(t *testing.T) {
	files := pinnedFiles(t)
	list := expected(t)
	if len(list) != len(files) || len(list) < 100 {
		t.Errorf("%d expectations of %d files", len(list), len(files))
	}
	judged := 0
	for _, want := range list {
		f, ok := files[want.File]
		if !ok {
			t.Errorf("%s is expected, and not there", want.File)
			continue
		}
		for i := range want.Leaves {
			if want.Leaves[i].Judge != "" {
				judged++
			}
			want.Leaves[i].Judge = ""
		}
		if got := makeExpectation(t.Context(), f); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %s\nwant %s\n(see testdata/corpora/README.md)", want.File, must.Get(json.Marshal(got))(t), must.Get(json.Marshal(want))(t))
		}
	}
	if judged < 150 {
		t.Errorf("DuckDB has judged %d leaves", judged)
	}
}

// TestPinnedOrigins: the README names the repository, commit and licence of every suite, and every file; the
// selection stays small.
func TestPinnedOrigins(t *testing.T) {
	readme := benchtest.ReadText(t, pinned("README.md"))
	for name := range pinnedFiles(t) {
		suite, file, _ := strings.Cut(name, "/")
		if !strings.Contains(readme, "| "+suite+" | `"+file+"` |") {
			t.Errorf("README.md does not name %s", name)
		}
		if !strings.Contains(readme, "| "+suite+" | https://github.com/") {
			t.Errorf("README.md does not say where %s is from", suite)
		}
	}
	size := int64(0)
	must.Do(t, fs.WalkDir(os.DirFS(pinned("")), ".", func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			size += must.Get(d.Info())(t).Size()
		}
		return err
	}))
	if size > 400<<10 {
		t.Errorf("the selection has %d bytes", size)
	}
}

// TestPinnedByDuckDB: DuckDB reads the same values today, in Parquet files and in the copies of others.
func TestPinnedByDuckDB(t *testing.T) {
	o := &duckReader{module: duckdbtest.ModuleFolder(t), giveUp: time.Minute}
	defer o.endSession()
	files, copied := pinnedFiles(t), filepath.Join(t.TempDir(), "copy.parquet")
	for _, e := range expected(t) {
		f := files[e.File]
		parquet, judge := f.path, judgeFile
		if !must.Get(isParquet(f.path))(t) {
			if _, err := chunkio.Convert(t.Context(), []string{f.path}, copied, chunkio.ApplyOptions{}); err != nil {
				continue
			}
			parquet, judge = copied, judgeCopy
		}
		r, err := readFile(t.Context(), f.path)
		if err != nil {
			continue
		}
		c := must.Get(o.compareLeaves(t.Context(), f.path, parquet, r))(t)
		if reasonToDistrust(f.name) != "" {
			if len(c.differences) == 0 {
				t.Errorf("%s: DuckDB reads it right now, and can be its judge", e.File)
			}
			continue
		}
		if len(c.differences) > 0 {
			t.Errorf("%s differs from DuckDB: %s", e.File, strings.Join(c.differences, "; "))
		}
		var want []string
		for _, l := range e.Leaves {
			if l.Judge == judge {
				want = append(want, l.Name)
			}
		}
		if !reflect.DeepEqual(c.comparedLeaves, want) {
			t.Errorf("%s: DuckDB judges %q, and is said to have judged %q", e.File, c.comparedLeaves, want)
		}
	}
}

// TestExpect: --expect writes the expectations of TestPinned, and nothing while a file is not read as it should
// be.
func TestExpect(t *testing.T) {
	to := filepath.Join(t.TempDir(), "expected.jsonl")
	dir := suite(t, "arrow-testing", map[string]string{strings.TrimPrefix(ipcStream, "arrow-testing/"): ipcStream})
	runs(t, exit.Done, dir, "--expect", to)
	if line := benchtest.ReadText(t, to); !strings.Contains(benchtest.ReadText(t, pinned("expected.jsonl")), line) {
		t.Errorf("it writes %s", line)
	}
	must.Do(t, os.Remove(to))
	runs(t, exit.Fault, suite(t, "bad", map[string]string{"fault.parquet": plain}), "--expect", to)
	if _, err := os.Stat(to); err == nil {
		t.Error("it expects what is an error")
	}
}
