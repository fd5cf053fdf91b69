package chunkio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// endingContext is a context that ends as soon as it is asked for its error and over is true.
type endingContext struct {
	context.Context
	over   func() bool
	cancel context.CancelFunc
}

func ending(t *testing.T, over func() bool) *endingContext {
	ctx, cancel := context.WithCancel(t.Context())
	return &endingContext{ctx, over, cancel}
}

func (c *endingContext) Err() error {
	if c.over() {
		c.cancel()
	}
	return c.Context.Err()
}

// everyTypeFolder writes files of two row groups below the folder at and returns theirs.
func everyTypeFolder(t *testing.T, at string, files int) string {
	t.Helper()
	dir := filepath.Join(at, "in")
	for i := range files {
		sub := filepath.Join(dir, fmt.Sprintf("part=%d", i%2))
		must.Do(t, os.MkdirAll(sub, 0o777))
		formattest.WriteEveryType(t, filepath.Join(sub, fmt.Sprintf("%d.parquet", i)), i, 30, 7+i)
	}
	return dir
}

// below are the bytes of the files below dir.
func below(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	must.Do(t, fs.WalkDir(os.DirFS(dir), ".", func(rel string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			got[rel] = string(must.Get(os.ReadFile(filepath.Join(dir, rel)))(t))
		}
		return err
	}))
	return got
}

var resumeCases = []struct {
	name string
	opt  ApplyOptions
}{
	{"parquet", ApplyOptions{}},
	{"rows", ApplyOptions{Where: "r_double > 10"}},
	{"csv", ApplyOptions{Form: FormCSVGzip}},
	{"arrow", ApplyOptions{Form: FormArrow}},
}

// TestApplyGoesOn: wherever a run is broken off, the next one takes the files that it has finished
// as they are, and the folder has the bytes of a run that was not broken off.
func TestApplyGoesOn(t *testing.T) {
	in := everyTypeFolder(t, t.TempDir(), 4)
	for _, c := range resumeCases {
		t.Run(c.name, func(t *testing.T) {
			opt := c.opt
			opt.Columns, opt.Also, opt.Threads = []string{"emb[2]", "r_double"}, []string{"part", "o_text"}, 2
			whole, out := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "out")
			want := mustApply(t, []string{in}, whole, opt)
			cut, taken := 0, 0
			for looks := 1; ; looks += 3 {
				finished := 0
				var looked atomic.Int64
				ctx := ending(t, func() bool { return looked.Add(1) > int64(looks) })
				opt.Meter = new(stream.Meter)
				report, err := Apply(ctx, []string{in}, out, opt)
				if err == nil {
					if finished = report.Resumed.Whole; finished > 0 {
						taken++
					}
					report.Resumed = Resumed{}
					if fmt.Sprint(report) != fmt.Sprint(want) || opt.Meter.Rows.Load() < want.Rows {
						t.Errorf("reported %+v, uninterrupted %+v", report, want)
					}
					if !maps.Equal(below(t, out), below(t, whole)) {
						t.Fatalf("interrupted at look %d: other bytes than uninterrupted", looks)
					}
					must.Do(t, os.RemoveAll(out))
					if cut == 0 || taken == 0 {
						t.Fatal("no run was broken off behind a file: the test does not test")
					}
					break
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				if u, ok := errors.AsType[*Unfinished](err); ok {
					cut++
					finished = u.Finished
				}
				if left := must.Get(os.ReadDir(filepath.Dir(out)))(t); len(left) != min(finished, 1) {
					t.Fatalf("%d files are finished, and %v is left", finished, left)
				}
			}
		})
	}
}

// TestApplyGoesOnAfterChanges: of what an interrupted run has left those files are written again
// whose input, whose columns or which themselves were changed, and what is not to be there goes.
func TestApplyGoesOnAfterChanges(t *testing.T) {
	const files, finished = 3, 2 // the files 0 and 2, of one folder, come first
	file := func(in string, i int) string {
		return filepath.Join(in, fmt.Sprintf("part=%d", i%2), fmt.Sprintf("%d.parquet", i))
	}
	at := t.TempDir() // of an interrupted run, which each case goes on with
	in := everyTypeFolder(t, at, files)
	var rows int64
	for i := range files {
		must.Do(t, os.Chtimes(file(in, i), time.Time{}, time.Unix(2e9, 0)))
		if i%2 == 0 {
			rows += int64(30 + 7 + i)
		}
	}
	opt := ApplyOptions{Columns: []string{"emb[2]", "r_double"}, Maker: "1", Meter: new(stream.Meter)}
	_, err := Apply(ending(t, func() bool { return opt.Meter.Rows.Load() >= rows }), []string{in}, filepath.Join(at, "out"), opt)
	u, ok := errors.AsType[*Unfinished](err)
	if !ok || u.Finished != finished || u.Files != files || filepath.Dir(u.Folder) != at {
		t.Fatalf("got %+v, want %d finished files", u, finished)
	}
	left := filepath.Base(u.Folder)
	for name, c := range map[string]struct {
		change func(t *testing.T, in, left string, opt *ApplyOptions)
		want   Resumed
	}{
		"nothing": {func(*testing.T, string, string, *ApplyOptions) {}, Resumed{Whole: finished}},
		"an input": {func(t *testing.T, in, _ string, _ *ApplyOptions) {
			formattest.WriteEveryType(t, file(in, 2), 99, 12)
		}, Resumed{Whole: finished - 1, Outdated: 1}},
		"the time of an input": {func(t *testing.T, in, _ string, _ *ApplyOptions) {
			must.Do(t, os.Chtimes(file(in, 2), time.Time{}, time.Unix(1e9, 0)))
		}, Resumed{Whole: finished - 1, Outdated: 1}},
		"an input is gone": {func(t *testing.T, in, _ string, _ *ApplyOptions) {
			must.Do(t, os.Remove(file(in, 2)))
		}, Resumed{Whole: finished - 1}},
		"an input more": {func(t *testing.T, in, _ string, _ *ApplyOptions) {
			formattest.WriteEveryType(t, file(in, files), 5, 12)
		}, Resumed{Whole: finished}},
		"the selection":      {func(_ *testing.T, _, _ string, opt *ApplyOptions) { opt.Columns = []string{"emb[1]"} }, Resumed{Outdated: finished}},
		"the order of it":    {func(_ *testing.T, _, _ string, opt *ApplyOptions) { opt.Columns = []string{"r_double", "emb[2]"} }, Resumed{Outdated: finished}},
		"another column":     {func(_ *testing.T, _, _ string, opt *ApplyOptions) { opt.Also = []string{"o_text"} }, Resumed{Outdated: finished}},
		"the condition":      {func(_ *testing.T, _, _ string, opt *ApplyOptions) { opt.Where = "r_double > 3" }, Resumed{Outdated: finished}},
		"the release":        {func(_ *testing.T, _, _ string, opt *ApplyOptions) { opt.Maker = "2" }, Resumed{Outdated: finished}},
		"the form":           {func(_ *testing.T, _, _ string, opt *ApplyOptions) { opt.Form = FormCSV }, Resumed{}},
		"threads and memory": {func(_ *testing.T, _, _ string, opt *ApplyOptions) { opt.Threads, opt.Memory = 1, 8<<20 }, Resumed{Whole: finished}},
		"a byte of an output": {func(t *testing.T, _, left string, _ *ApplyOptions) {
			text := must.Get(os.ReadFile(file(left, 0)))(t)
			text[len(text)/2] ^= 1
			must.Do(t, os.WriteFile(file(left, 0), text, 0o600))
		}, Resumed{Whole: finished - 1, Altered: 1}},
		"an output is gone": {func(t *testing.T, _, left string, _ *ApplyOptions) {
			must.Do(t, os.Remove(file(left, 2)))
		}, Resumed{Whole: finished - 1, Altered: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must.Do(t, os.CopyFS(dir, os.DirFS(at)))
			in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
			for i := range files {
				must.Do(t, os.Chtimes(file(in, i), time.Time{}, time.Unix(2e9, 0)))
			}
			opt := opt
			c.change(t, in, filepath.Join(dir, left), &opt)
			report := mustApply(t, []string{in}, out, opt)
			if report.Resumed != c.want {
				t.Errorf("%+v, want %+v", report.Resumed, c.want)
			}
			fresh := filepath.Join(t.TempDir(), "fresh")
			mustApply(t, []string{in}, fresh, opt)
			if !maps.Equal(below(t, out), below(t, fresh)) {
				t.Error("other bytes than those of a run that begins anew")
			}
			if left := must.Get(os.ReadDir(dir))(t); len(left) != 2 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
