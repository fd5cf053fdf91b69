package copying

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

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

var resumeCases = []struct {
	name, out string
	opt       ApplyOptions
}{
	{"parquet", "out", ApplyOptions{}},
	{"rows", "out", ApplyOptions{Where: "r_double > 10"}},
	{"csv", "out", ApplyOptions{Form: FormCSVGzip}},
	{"arrow", "out", ApplyOptions{Form: FormArrow}},
	{"one file", "out.parquet", ApplyOptions{}},
	{"rows of one file", "out.parquet", ApplyOptions{Where: "r_double > 10"}},
	{"one csv", "out.csv", ApplyOptions{Form: FormCSV}},
	{"rows of one arrow", "out.arrow", ApplyOptions{Form: FormArrow, Where: "r_double > 10"}},
}

// TestApplyGoesOn: wherever a run is broken off, the next one reuses its finished part, and the output has the bytes
// of a run that was not broken off.
func TestApplyGoesOn(t *testing.T) {
	in := everyTypeFolder(t, t.TempDir(), 4)
	for _, c := range resumeCases {
		t.Run(c.name, func(t *testing.T) {
			opt := c.opt
			opt.Columns, opt.Also, opt.Threads = []string{"emb[2]", "r_double"}, []string{"part", "o_text"}, 2
			inputs := []string{in}
			if c.out != "out" {
				inputs[0] = filepath.Join(in, "*", "*.parquet")
			}
			whole, out := filepath.Join(t.TempDir(), c.out), filepath.Join(t.TempDir(), c.out)
			want := MustApply(t, inputs, whole, opt)
			opt.markInterval = 1
			for looks, cut := 1, 0; ; looks += 4 {
				var looked atomic.Int64
				ctx := chunkiotest.NewEndingContext(t, func() bool { return looked.Add(1) > int64(looks) })
				opt.Meter = new(stream.Meter)
				report, err := ApplyColumns(ctx, inputs, out, opt)
				if err == nil {
					if cut == 0 || report.Resumed.Whole == 0 && report.Resumed.Rows == 0 {
						t.Fatalf("%d runs were broken off behind a part, %+v: the test does not test", cut, report.Resumed)
					}
					report.Resumed = Resumed{}
					if fmt.Sprint(report) != fmt.Sprint(want) || opt.Meter.Rows.Load() < want.Rows {
						t.Errorf("reported %+v, uninterrupted %+v", report, want)
					}
					break
				}
				u, saved := errors.AsType[*Unfinished](err)
				if left := must.Get(os.ReadDir(filepath.Dir(out)))(t); !errors.Is(err, context.Canceled) || saved != (len(left) == 1) || saved && left[0].Name() != filepath.Base(u.Place) {
					t.Fatalf("%v, and %v is left", err, left)
				}
				if saved {
					cut++
				}
			}
			if !maps.Equal(must.Files(t, filepath.Dir(out)), must.Files(t, filepath.Dir(whole))) {
				t.Fatal("other bytes than uninterrupted")
			}
		})
	}
}

// TestApplyWaitsElsewhere: rows stored in the folder of --temp-dir leave nothing when a run is broken off.
func TestApplyWaitsElsewhere(t *testing.T) {
	in, dir, wait := everyTypeFolder(t, t.TempDir(), 2), t.TempDir(), t.TempDir()
	opt := ApplyOptions{Columns: []string{"r_double"}, Form: FormCSV, Meter: new(stream.Meter), markInterval: 1, Spool: scratch.Options{Dir: wait}}
	_, err := ApplyColumns(chunkiotest.NewEndingContext(t, func() bool { return opt.Meter.Rows.Load() > 30 }), []string{filepath.Join(in, "*", "*.parquet")}, filepath.Join(dir, "out.csv"), opt)
	if errors.As(err, new(*Unfinished)) || !errors.Is(err, context.Canceled) {
		t.Errorf("broken off with rows in another folder: %v, want %v and nothing unfinished", err, context.Canceled)
	}
	for _, at := range []string{dir, wait} {
		if left := must.Get(os.ReadDir(at))(t); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	}
}

// TestApplyGoesOnAfterChanges: files of an interrupted run are written again if their input, their columns or the
// files themselves were changed, and files that do not belong there are removed.
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
	_, err := ApplyColumns(chunkiotest.NewEndingContext(t, func() bool { return opt.Meter.Rows.Load() >= rows }), []string{in}, filepath.Join(at, "out"), opt)
	u, ok := errors.AsType[*Unfinished](err)
	if !ok || u.Finished != finished || u.Files != files || filepath.Dir(u.Place) != at {
		t.Fatalf("got %+v, want %d finished files", u, finished)
	}
	left := filepath.Base(u.Place)
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
			c.change(t, in, filepath.Join(dir, left, ".ufs-output"), &opt)
			report := MustApply(t, []string{in}, out, opt)
			if report.Resumed != c.want {
				t.Errorf("%+v, want %+v", report.Resumed, c.want)
			}
			fresh := filepath.Join(t.TempDir(), "fresh")
			MustApply(t, []string{in}, fresh, opt)
			if !maps.Equal(must.Files(t, out), must.Files(t, fresh)) {
				t.Error("other bytes than those of a run that begins anew")
			}
			if left := must.Get(os.ReadDir(dir))(t); len(left) != 2 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestApplyOneFileGoesOnAfterChanges: of one file that an interrupted run has left those rows are taken
// before which nothing was changed.
func TestApplyOneFileGoesOnAfterChanges(t *testing.T) {
	at := t.TempDir()
	in := everyTypeFolder(t, at, 3) // of 37, 39 and 38 rows, in row groups of 30 and the rest
	for i, name := range []string{"part=0/0", "part=0/2", "part=1/1"} {
		must.Do(t, os.Chtimes(filepath.Join(in, name+".parquet"), time.Time{}, time.Unix(int64(2e9+i), 0)))
	}
	files := func(in string) []string { return []string{filepath.Join(in, "*", "*.parquet")} }
	opt := ApplyOptions{Columns: []string{"emb[2]", "r_double"}, Meter: new(stream.Meter), markInterval: 1}
	_, err := ApplyColumns(chunkiotest.NewEndingContext(t, func() bool { return opt.Meter.Rows.Load() >= 37+39+30 }), files(in), filepath.Join(at, "out.parquet"), opt)
	u, ok := errors.AsType[*Unfinished](err)
	if !ok {
		t.Fatalf("broken off: %v, want Unfinished", err)
	}
	left := filepath.Base(u.Place)
	for name, c := range map[string]struct {
		change func(t *testing.T, in, left string, opt *ApplyOptions)
		rows   int64
	}{
		"nothing":       {func(*testing.T, string, string, *ApplyOptions) {}, 37 + 39 + 30},
		"the selection": {func(_ *testing.T, _, _ string, opt *ApplyOptions) { opt.Columns = opt.Columns[:1] }, 0},
		"the first input": {func(t *testing.T, in, _ string, _ *ApplyOptions) {
			formattest.WriteEveryType(t, filepath.Join(in, "part=0", "0.parquet"), 9, 20)
		}, 0},
		"the last input": {func(t *testing.T, in, _ string, _ *ApplyOptions) {
			formattest.WriteEveryType(t, filepath.Join(in, "part=1", "1.parquet"), 9, 20)
		}, 37 + 39},
		"an input between": {func(t *testing.T, in, _ string, _ *ApplyOptions) {
			formattest.WriteEveryType(t, filepath.Join(in, "part=0", "1.parquet"), 9, 20)
		}, 37},
		"a byte of the output": {func(t *testing.T, _, left string, _ *ApplyOptions) {
			path := filepath.Join(left, ".ufs-output")
			text := must.Get(os.ReadFile(path))(t)
			text[len(text)-1] ^= 1
			must.Do(t, os.WriteFile(path, text, 0o600))
		}, 37 + 39},
		"the output is torn": {func(t *testing.T, _, left string, _ *ApplyOptions) {
			must.Do(t, os.Truncate(filepath.Join(left, ".ufs-output"), 100))
		}, 0},
		"the form": {func(_ *testing.T, _, _ string, opt *ApplyOptions) { opt.Form = FormCSV }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir, opt := t.TempDir(), opt
			must.Do(t, os.CopyFS(dir, os.DirFS(at)))
			in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out.parquet")
			for i, name := range []string{"part=0/0", "part=0/2", "part=1/1"} {
				must.Do(t, os.Chtimes(filepath.Join(in, name+".parquet"), time.Time{}, time.Unix(int64(2e9+i), 0)))
			}
			c.change(t, in, filepath.Join(dir, left), &opt)
			report := MustApply(t, files(in), out, opt)
			if report.Resumed.Rows != c.rows {
				t.Errorf("gone on behind %d rows, want %d", report.Resumed.Rows, c.rows)
			}
			if r := report.Resumed; r.Outdated+r.Altered > 0 != (c.rows == 0) {
				t.Errorf("what is given up is told of as %+v", r)
			}
			fresh := filepath.Join(t.TempDir(), "out.parquet")
			MustApply(t, files(in), fresh, opt)
			if !maps.Equal(must.Files(t, filepath.Dir(fresh)), map[string]string{"out.parquet": string(must.Get(os.ReadFile(out))(t))}) {
				t.Error("other bytes than those of a run that begins anew")
			}
			if left := must.Get(os.ReadDir(dir))(t); len(left) != 2 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestApplyGoesOnInOtherMemory: rows that wait for another form are gone on with in another memory, unless their pages
// are too large to be read in it; the bytes of the output are the same in any.
func TestApplyGoesOnInOtherMemory(t *testing.T) {
	path, names := wideTable(t, 3000, 2500)
	const memory = 64 << 20
	run := func(out string, form Form, memory int64, broken bool) (ApplyReport, error) {
		opt := ApplyOptions{Columns: names, Form: form, Memory: memory, Meter: new(stream.Meter), markInterval: 1}
		return ApplyColumns(chunkiotest.NewEndingContext(t, func() bool { return broken && opt.Meter.Rows.Load() >= 2500 }), []string{path}, out, opt)
	}
	for form, name := range map[Form]string{FormCSV: "t.csv", FormArrow: "t.arrow"} {
		whole := filepath.Join(t.TempDir(), name)
		must.Get(run(whole, form, memory, false))(t)
		for limit, rows := range map[int64]int64{memory / 4 * 3: 0, memory: 2500, 2 * memory: 2500} {
			out := filepath.Join(t.TempDir(), name)
			if _, err := run(out, form, memory, true); !errors.As(err, new(*Unfinished)) {
				t.Fatalf("%s broken off: %v, want Unfinished", name, err)
			}
			report, err := run(out, form, limit, false)
			must.Do(t, err)
			if report.Resumed.Rows != rows || report.Rows != 3000 {
				t.Errorf("%s in %d bytes: %d rows were taken as they are, want %d", name, limit, report.Resumed.Rows, rows)
			}
			if !maps.Equal(must.Files(t, filepath.Dir(out)), must.Files(t, filepath.Dir(whole))) {
				t.Errorf("%s in %d bytes: other bytes than uninterrupted", name, limit)
			}
		}
	}
}

// TestApplyTakesNoMarkOfTwoRuns: a run begins anew, with marks elsewhere, as the pages of the run before are too large for
// it, and a third one may have those again: it takes the marks of the second one alone.
func TestApplyTakesNoMarkOfTwoRuns(t *testing.T) {
	path, names := wideTable(t, 600, 300) // in pages of either size the same bytes
	out := filepath.Join(t.TempDir(), "t.csv")
	for _, run := range []struct {
		memory int64
		marks  time.Duration
		broken bool
		taken  int64
	}{{64 << 20, 1, true, 0}, {48 << 20, time.Hour, true, 0}, {64 << 20, 1, false, 600}} {
		opt := ApplyOptions{Columns: names, Form: FormCSV, Memory: run.memory, Meter: new(stream.Meter), markInterval: run.marks}
		report, err := ApplyColumns(chunkiotest.NewEndingContext(t, func() bool { return run.broken && opt.Meter.Rows.Load() >= 600 }), []string{path}, out, opt)
		if run.broken != errors.As(err, new(*Unfinished)) || !run.broken && (err != nil || report.Rows != 600 || report.Resumed.Rows != run.taken) {
			t.Fatalf("in %d bytes: %d rows, %+v, %v", run.memory, report.Rows, report.Resumed, err)
		}
	}
	whole := filepath.Join(t.TempDir(), "t.csv")
	MustApply(t, []string{path}, whole, ApplyOptions{Columns: names, Form: FormCSV, Memory: 64 << 20})
	if !maps.Equal(must.Files(t, filepath.Dir(out)), must.Files(t, filepath.Dir(whole))) {
		t.Error("other bytes than uninterrupted")
	}
}

// TestApplyOfTextGoesOn: files that an interrupted run has finished are taken as they are only if their text was read
// in the same way, by guess or as it was told. Two of the readings give footers alike: the same number of nulls, of
// the same values but for one.
func TestApplyOfTextGoesOn(t *testing.T) {
	const files, finished = 3, 2
	in := filepath.Join(t.TempDir(), "in")
	must.Do(t, os.MkdirAll(in, 0o777))
	for i := range files {
		must.Do(t, os.WriteFile(filepath.Join(in, fmt.Sprintf("%d.csv", i)), []byte("2001,2002\n0,5\n1,5\n2,5\n9,5\n"), 0o666))
	}
	begun := ApplyOptions{Meter: new(stream.Meter), Maker: "1", Texts: settings.TextOptions{Nulls: []string{"1"}}}
	for name, c := range map[string]struct {
		texts settings.TextOptions
		want  Resumed
		rows  int64
	}{
		"as before":      {settings.TextOptions{Nulls: []string{"1"}}, Resumed{Whole: finished}, 4 * files},
		"as was guessed": {settings.TextOptions{Nulls: []string{"1"}, Header: "yes"}, Resumed{Whole: finished}, 4 * files},
		"header":         {settings.TextOptions{Nulls: []string{"1"}, Header: "no"}, Resumed{Outdated: finished}, 5 * files},
		"nulls":          {settings.TextOptions{Nulls: []string{"2"}}, Resumed{Outdated: finished}, 4 * files},
		"usual nulls":    {settings.TextOptions{}, Resumed{Outdated: finished}, 4 * files},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			opt := begun
			opt.Meter = new(stream.Meter)
			_, err := ConvertInputs(chunkiotest.NewEndingContext(t, func() bool { return opt.Meter.Rows.Load() >= 4*finished }), []string{in}, out, opt)
			if u, ok := errors.AsType[*Unfinished](err); !ok || u.Finished != finished {
				t.Fatalf("got %v, want %d finished files", err, finished)
			}
			opt.Texts, opt.Meter = c.texts, new(stream.Meter)
			report, err := ConvertInputs(t.Context(), []string{in}, out, opt)
			must.Do(t, err)
			if report.Resumed != c.want || report.Rows != c.rows {
				t.Errorf("%+v and %d rows, want %+v and %d", report.Resumed, report.Rows, c.want, c.rows)
			}
			whole := filepath.Join(t.TempDir(), "out")
			opt.Meter = new(stream.Meter)
			must.Get(ConvertInputs(t.Context(), []string{in}, whole, opt))(t)
			if !maps.Equal(must.Files(t, out), must.Files(t, whole)) {
				t.Error("other bytes than uninterrupted")
			}
		})
	}
}
