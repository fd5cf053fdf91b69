package copying

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writing"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestApplyToStoreGoesOn: wherever a run to a folder in a store is broken off or killed, the next one reuses its
// finished files, except files whose inputs were changed, and the folder has the bytes of a local one in the end.
func TestApplyToStoreGoesOn(t *testing.T) {
	const files = 4
	s := storetest.S3(t)
	proxy := storetest.NewProxy(t, s.Endpoint)
	in := everyTypeFolder(t, t.TempDir(), files) // of 37 rows, 39, 38 and 40
	opt := ApplyOptions{Columns: []string{"emb[2]", "r_double"}, Also: []string{"part", "o_text"}}
	ended := func(name string, report ApplyReport, want Resumed, opt ApplyOptions) {
		t.Helper()
		local, got := filepath.Join(t.TempDir(), "out"), must.Files(t, filepath.Join(s.Dir, name))
		MustApply(t, []string{in}, local, opt)
		if _, ok := got["_SUCCESS"]; !ok || report.Resumed != want || report.Files != files {
			t.Errorf("%s: %+v, want %+v, and there is %v", name, report, want, got["_SUCCESS"])
		}
		delete(got, "_SUCCESS")
		if !maps.Equal(got, must.Files(t, local)) {
			t.Errorf("%s: other bytes than in a local folder", name)
		}
	}
	for finished, rows := range []int64{0, 37, 37 + 39, 37 + 39 + 38} {
		for _, form := range []Form{FormParquet, FormCSV} {
			opt, name := opt, fmt.Sprint("left", finished, form)
			opt.Form, opt.Meter = form, new(stream.Meter)
			_, err := ApplyColumns(chunkiotest.NewEndingContext(t, func() bool { return opt.Meter.Rows.Load() > rows }), []string{in}, s.URL(name), opt)
			if u, ok := errors.AsType[*Unfinished](err); !errors.Is(err, context.Canceled) || ok != (finished > 0) ||
				ok && (u.Finished != finished || u.Files != files || !strings.Contains(u.Place, "s3://lake/"+name+"/")) {
				t.Fatalf("broken off: %v, %+v", err, u)
			}
			if left := must.Files(t, s.Dir); finished == 0 && len(left) > 0 {
				t.Errorf("without a finished file there is %v", left)
			}
			ended(name, MustApply(t, []string{in}, s.URL(name), opt), Resumed{Whole: finished}, opt)
			must.Do(t, os.RemoveAll(filepath.Join(s.Dir, name)))
		}
	}

	// A run that is killed has told the store of none of its files that it made in the last seconds, which all of
	// them are, unless the machine is busy.
	ctx, kill := context.WithCancel(t.Context())
	var puts atomic.Int64
	proxy.OnRequest(func(r *http.Request) *http.Response {
		if r.Method == http.MethodPut && !strings.HasSuffix(r.URL.Path, "/_ufs_finished") && puts.Add(1) == 3 {
			kill()
		}
		if ctx.Err() != nil {
			return storetest.NewAnswer(http.StatusForbidden, "")
		}
		return nil
	})
	if _, err := ApplyColumns(ctx, []string{in}, s.URLAt(proxy.URL, "killed"), opt); err == nil {
		t.Error("a killed run ends well")
	}
	left := must.Files(t, filepath.Join(s.Dir, "killed"))
	if len(left) != 3 { // the list and two files
		t.Errorf("a killed run leaves %d objects", len(left))
	}
	told := strings.Count(left["_ufs_finished"], "\n") - 1
	ended("killed", MustApply(t, []string{in}, s.URL("killed"), opt), Resumed{Whole: told}, opt)

	opt.Meter = new(stream.Meter)
	if _, err := ApplyColumns(chunkiotest.NewEndingContext(t, func() bool { return opt.Meter.Rows.Load() > 37+39 }), []string{in}, s.URL("changed"), opt); err == nil {
		t.Error("a run that is broken off ends well")
	}
	changed := filepath.Join(in, "part=0", "0.parquet")
	formattest.WriteEveryType(t, changed, 0, 30, 9)
	must.Do(t, os.Chtimes(changed, time.Time{}, time.Unix(1e9, 0)))
	ended("changed", MustApply(t, []string{in}, s.URL("changed"), opt), Resumed{Whole: 1, Outdated: 1}, opt)
}

// TestApplyCountsTheFolder: the memory of the names of a folder's files counts towards the memory limit, on disk and,
// including the stored list of them, in a store.
func TestApplyCountsTheFolder(t *testing.T) {
	const files = 60
	s, in := storetest.S3(t), linkedFolder(t, files)
	first := filepath.Join(in, "part-0000.parquet")
	need := func(input, out string) int64 {
		t.Helper()
		_, err := ApplyColumns(t.Context(), []string{input}, out, ApplyOptions{Columns: []string{"int32"}, Memory: 100 << 10})
		short, ok := errors.AsType[*stream.MemoryError](err)
		if !ok {
			t.Fatalf("applying to %s within 100 KiB: %v, want a MemoryError", out, err)
		}
		return short.Need
	}
	local := filepath.Join(t.TempDir(), "out")
	one, folder, inStore := need(first, local+".parquet"), need(in, local), need(in, s.URL("out"))
	if folder-one < files*500 || inStore-folder < files*300 {
		t.Errorf("one file needs %d bytes, a folder of %d %d, one in a store %d", one, files, folder, inStore)
	}
	MustApply(t, []string{in}, local, ApplyOptions{Columns: []string{"int32"}, Memory: folder})
}

// linkedFolder is a folder of identical files of three rows.
func linkedFolder(t *testing.T, files int) string {
	t.Helper()
	in := t.TempDir()
	first := filepath.Join(in, "part-0000.parquet")
	must.Do(t, writing.WriteParquet(t.Context(), first, chunkiotest.EveryNumber(3, 3, false), writing.WriteOptions{}))
	for i := 1; i < files; i++ {
		must.Do(t, os.Link(first, filepath.Join(in, fmt.Sprintf("part-%04d.parquet", i))))
	}
	return in
}

// TestApplyLimitLosesNothing: the memory that suffices for a whole run suffices for one that resumes, and a run that
// is refused for its limit leaves its finished part to the next one, on disk, in a store and in one Parquet file.
// Files of a folder are the same with any memory.
func TestApplyLimitLosesNothing(t *testing.T) {
	const files, rows = 8, 15
	s, in := storetest.S3(t), linkedFolder(t, files)
	for _, c := range []struct {
		name  string
		form  Form
		store bool
		opt   ApplyOptions
	}{{name: "of-parquet"}, {name: "of-csv", form: FormCSV}, {name: "of-parquet", store: true}, {name: "of-arrow", form: FormArrow, store: true}, {name: "one.parquet", opt: ApplyOptions{markInterval: 1}}} {
		dir := t.TempDir()
		inputs, at := []string{in}, func(folder string) string { return filepath.Join(dir, folder, c.name) }
		if c.store {
			dir, at = s.Dir, func(folder string) string { return s.URL(folder + "/" + c.name) }
		}
		for _, folder := range []string{"whole", "parts"} {
			must.Do(t, os.MkdirAll(filepath.Join(dir, folder), 0o777))
		}
		if c.opt.markInterval > 0 {
			inputs[0] = filepath.Join(in, "*.parquet")
		}
		opt := c.opt
		opt.Columns, opt.Form, opt.Memory = []string{"int32"}, c.form, 100<<10
		for { // until it is enough
			opt.Meter = new(stream.Meter)
			_, err := ApplyColumns(t.Context(), inputs, at("whole"), opt)
			short, ok := errors.AsType[*stream.MemoryError](err)
			if !ok {
				must.Do(t, err)
				break
			}
			if short.Need <= opt.Memory {
				t.Fatalf("%s: of %d bytes: %v", c.name, opt.Memory, err)
			}
			opt.Memory = short.Need
		}
		more := opt
		more.Memory, more.Meter = 2*opt.Memory, new(stream.Meter)
		_, err := ApplyColumns(chunkiotest.NewEndingContext(t, func() bool { return more.Meter.Rows.Load() >= rows }), inputs, at("parts"), more)
		first, ok := errors.AsType[*Unfinished](err)
		if !ok || c.opt.markInterval == 0 && first.Finished == 0 {
			t.Fatalf("%s: broken off: %v", c.name, err)
		}
		left, less := must.Files(t, filepath.Join(dir, "parts")), opt
		less.Memory, less.Meter = opt.Memory-1, new(stream.Meter)
		_, err = ApplyColumns(t.Context(), inputs, at("parts"), less)
		if u, ok := errors.AsType[*Unfinished](err); !ok || !errors.As(err, new(*stream.MemoryError)) || u.Finished != first.Finished {
			t.Fatalf("%s: with less memory: %v, %+v", c.name, err, u)
		}
		if now := must.Files(t, filepath.Join(dir, "parts")); len(now) != len(left) {
			t.Errorf("%s: a refused run leaves %d files of %d", c.name, len(now), len(left))
		}
		opt.Meter = new(stream.Meter)
		if r := MustApply(t, inputs, at("parts"), opt).Resumed; r.Whole != first.Finished || r.Outdated > 0 || c.opt.markInterval > 0 && r.Rows != rows {
			t.Errorf("%s: gone on with: %+v", c.name, r)
		}
		if !maps.Equal(must.Files(t, filepath.Join(dir, "whole")), must.Files(t, filepath.Join(dir, "parts"))) {
			t.Errorf("%s: other bytes than in one run", c.name)
		}
	}
}
