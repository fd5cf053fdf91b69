package ufs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/faults"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
)

// job plans a planted table and scans its shards into a folder.
func job(t *testing.T, shards int, q ufs.Request, scan func(*ufs.ScanRequest)) (plan, folder string) {
	t.Helper()
	dir := t.TempDir()
	for i, rows := range []stream.Range{{From: 0, To: 700}, {From: 700, To: 1500}} {
		part := planted.Part{Source: planted.New(planted.Options{Rows: 1500, GroupRow: 30}), Range: rows}
		must.Do(t, os.MkdirAll(filepath.Join(dir, "data"), 0o755))
		must.Do(t, chunkio.WriteParquet(t.Context(), filepath.Join(dir, "data", fmt.Sprintf("%d.parquet", i)), part, chunkio.WriteOptions{RowGroupRows: 30}))
	}
	q.Input.Paths, q.Output = []string{filepath.Join(dir, "data")}, filepath.Join(dir, "job.plan.json")
	planned := must.Get(ufs.WritePlan(t.Context(), q))(t)
	return planned.Path, scanned(t, planned.Path, filepath.Join(dir, "parts")+"/", shards, scan)
}

// scanned scans the shards of a plan into a folder.
func scanned(t *testing.T, plan, folder string, shards int, scan func(*ufs.ScanRequest)) string {
	t.Helper()
	for i := range shards {
		s := ufs.ScanRequest{Request: ufs.Request{Input: ufs.Input{Plan: plan}, Output: folder}, Shard: fmt.Sprintf("%d/%d", i+1, shards)}
		if scan != nil {
			scan(&s)
		}
		must.Get(ufs.Scan(t.Context(), s))(t)
	}
	return folder
}

// merged merges files into one of a new folder.
func merged(t *testing.T, m ufs.MergeRequest, files ...string) string {
	t.Helper()
	m.Files, m.Output = files, filepath.Join(t.TempDir(), "all.ufs")
	must.Get(ufs.Merge(t.Context(), m))(t)
	return m.Output
}

func contents(t *testing.T, path string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(path))(t)
}

// headerOf is the header of a statistics file.
func headerOf(t *testing.T, path string) chunkio.StatsHeader {
	t.Helper()
	return must.Get(chunkio.ReadStatsHeader(t.Context(), path, chunkio.FetchOptions{}))(t)
}

// gramOf is the centred Gram matrix of a statistics file.
func gramOf(t *testing.T, path string) *gram.Gram {
	t.Helper()
	r := must.Get(chunkio.OpenStats(t.Context(), path, chunkio.FetchOptions{}))(t)
	defer r.Close()
	m := gram.NewMoments(len(r.Header.Columns), gram.Options{})
	must.Get(m.ReadFrom(must.Get(r.SectionReader("moments"))(t)))(t)
	return must.Get(m.Finish(r.Header.Columns, gram.FinishOptions{Scale: gram.ScaleCenter}))(t)
}

// near compares two Gram matrices, relative to the lengths of their columns.
func near(t *testing.T, what, got, want string) {
	t.Helper()
	a, b := gramOf(t, got), gramOf(t, want)
	if a.D != b.D || a.Rows != b.Rows {
		t.Fatalf("%s: %d columns of %d rows, want %d of %d", what, a.D, a.Rows, b.D, b.Rows)
	}
	const tolerance = 1e-12 // of sums of 1,500 products: some 1500·2⁻⁵³ at worst
	for i := range a.D {
		for j := range a.D {
			if length := math.Sqrt(b.Sym[i*b.D+i] * b.Sym[j*b.D+j]); math.Abs(a.Sym[i*a.D+j]-b.Sym[i*b.D+j]) > tolerance*length {
				t.Fatalf("%s: entry %d, %d is %v, want %v", what, i, j, a.Sym[i*a.D+j], b.Sym[i*b.D+j])
			}
		}
	}
}

// TestMergeParts: the parts of a plan merge to the result of one scan, whatever their number and the order in
// which they are named, bit for bit the same with any threads and memory; and in two levels too.
func TestMergeParts(t *testing.T) {
	for _, shards := range long.TakeCases(2, []int{1, 16, 17, 40}) {
		plan, folder := job(t, shards, ufs.Request{}, nil)
		one := filepath.Join(t.TempDir(), "one.ufs")
		must.Get(ufs.Scan(t.Context(), ufs.ScanRequest{Request: ufs.Request{Input: ufs.Input{Paths: []string{filepath.Join(filepath.Dir(plan), "data")}}, Output: one}}))(t)
		all := merged(t, ufs.MergeRequest{}, folder)
		near(t, fmt.Sprint(shards, " parts"), all, one)
		h, want := headerOf(t, all), headerOf(t, one)
		if !h.Part.Complete() || h.Part.Of != shards || !slices.Equal(h.Inputs, want.Inputs) || !slices.Equal(h.Ranges, want.Ranges) {
			t.Errorf("%d parts: %+v, inputs %v, ranges %v, want %v, %v", shards, h.Part, h.Inputs, h.Ranges, want.Inputs, want.Ranges)
		}
		files := must.Get(filepath.Glob(folder + "*.ufs"))(t)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		bits := contents(t, all)
		for _, m := range []ufs.MergeRequest{{}, {Limits: ufs.Limits{Threads: 1}}, {Limits: ufs.Limits{Threads: 8, Memory: 64 << 20}}} {
			if !bytes.Equal(contents(t, merged(t, m, files...)), bits) {
				t.Errorf("%d parts in another order, %+v: other bits", shards, m)
			}
		}
		if shards < 17 {
			continue
		}
		odd, even := files[:0:0], files[:0:0]
		for i, f := range files {
			if i%2 == 0 {
				even = append(even, f)
			} else {
				odd = append(odd, f)
			}
		}
		some := ufs.MergeRequest{Partial: true}
		levels := merged(t, ufs.MergeRequest{}, merged(t, some, odd...), merged(t, some, even...))
		near(t, "two levels", levels, all)
		if l := headerOf(t, levels); !l.Part.Complete() || !slices.Equal(l.Ranges, h.Ranges) {
			t.Errorf("two levels: %+v, ranges %v", l.Part, l.Ranges)
		}
		if s := must.Get(ufs.Select(t.Context(), ufs.Request{Stats: all, Choice: ufs.Choice{K: 5}}))(t); len(s.Warnings) > 0 {
			t.Errorf("the whole has warnings: %v", s.Warnings)
		}
		s := must.Get(ufs.Select(t.Context(), ufs.Request{Stats: merged(t, some, files[1:]...), Choice: ufs.Choice{K: 5}}))(t)
		if _, number, _ := strings.Cut(filepath.Base(files[0]), "-"); !slices.ContainsFunc(s.Warnings, func(w string) bool {
			return strings.Contains(w, strings.TrimLeft(number[:5], "0")+" is missing")
		}) {
			t.Errorf("without %s: warnings %q", files[0], s.Warnings)
		}
	}
}

// TestMergeRounds: profiles with samples of rows, and then the graphs of the second round, add up to
// those of one machine, to the bit of the sample; parts of the two rounds, or of rounds by two
// profiles, do not mix.
func TestMergeRounds(t *testing.T) {
	const shards = 20
	q := ufs.Request{Choice: ufs.Choice{Method: "laplacian", Options: method.Settings{"anchors": 40}}}
	plan, profiles := job(t, shards, q, func(s *ufs.ScanRequest) { s.ProfileOnly = true })
	profile := merged(t, ufs.MergeRequest{}, profiles)
	one := filepath.Join(t.TempDir(), "profile.ufs")
	q.Input.Paths, q.Output = []string{filepath.Join(filepath.Dir(plan), "data")}, one
	must.Get(ufs.Scan(t.Context(), ufs.ScanRequest{Request: q, ProfileOnly: true}))(t)
	if got, want := section(t, profile, "sample"), section(t, one, "sample"); !bytes.Equal(got, want) {
		t.Error("the sample of the parts is another one")
	}
	graphs := scanned(t, plan, filepath.Join(filepath.Dir(plan), "graphs")+"/", shards, func(s *ufs.ScanRequest) { s.Profile = profile })
	all := merged(t, ufs.MergeRequest{}, graphs)
	if h := headerOf(t, all); h.Kind != "graph" || !h.Part.Complete() || h.Part.Round == "" {
		t.Errorf("the merged file is of kind %s and part %+v, want a complete graph of a round", h.Kind, h.Part)
	}
	select1 := func(q ufs.Request) []stream.Selected {
		q.Choice.K, q.Choice.Method = 6, "laplacian"
		return must.Get(ufs.Select(t.Context(), q))(t).Selected
	}
	got, want := select1(ufs.Request{Stats: all}), select1(ufs.Request{Input: ufs.Input{Paths: q.Input.Paths}, Choice: ufs.Choice{Options: q.Choice.Options}})
	for i := range want {
		if got[i].Name != want[i].Name {
			t.Errorf("rank %d is %s, from one machine %s", i, got[i].Name, want[i].Name)
		}
	}
	part := func(folder string, i int) string {
		return filepath.Join(folder, fmt.Sprintf("part-%05d-of-%05d.ufs", i, shards))
	}
	refused(t, exit.Usage, "one kind", ufs.MergeRequest{}, part(profiles, 1), part(graphs, 2))
	other := rewritten(t, part(graphs, 2), func(h *chunkio.StatsHeader) { h.Part.Round = "another" })
	refused(t, exit.Usage, "two profiles", ufs.MergeRequest{Partial: true}, part(graphs, 1), other)
	without := rewritten(t, part(graphs, 2), func(h *chunkio.StatsHeader) { h.Part.Round = "" })
	refused(t, exit.Usage, "without: merge the parts of one round", ufs.MergeRequest{Partial: true}, part(graphs, 1), without)
	must.Do(t, os.Remove(part(graphs, 7)))
	refused(t, exit.Data, "ufs-stream scan plan JOB.plan.json shard 7/20 profile PROFILE.ufs o "+graphs, ufs.MergeRequest{}, graphs)
	must.Do(t, os.Remove(part(profiles, 7)))
	refused(t, exit.Data, "shard 7/20 profile-only o "+profiles, ufs.MergeRequest{}, profiles)
}

// section is the contents of a section of a statistics file.
func section(t *testing.T, path, name string) []byte {
	t.Helper()
	r := must.Get(chunkio.OpenStats(t.Context(), path, chunkio.FetchOptions{}))(t)
	defer r.Close()
	return must.Get(io.ReadAll(must.Get(r.SectionReader(name))(t)))(t)
}

// rewritten is a copy of a statistics file with another header.
func rewritten(t *testing.T, path string, edit func(*chunkio.StatsHeader)) string {
	t.Helper()
	h := headerOf(t, path)
	edit(&h)
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	must.Do(t, os.WriteFile(to, withHeader(t, contents(t, path), h), 0o600))
	return to
}

// refused merges files that cannot be merged, and wants an error with this text and no output.
func refused(t *testing.T, code int, says string, m ufs.MergeRequest, files ...string) {
	t.Helper()
	m.Files, m.Output = files, filepath.Join(t.TempDir(), "all.ufs")
	_, err := ufs.Merge(t.Context(), m)
	if exit.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
		t.Errorf("%v: exit code %d, want %d and %q", err, exit.CodeOf(err), code, says)
	}
	if left := must.Get(os.ReadDir(filepath.Dir(m.Output)))(t); len(left) > 0 {
		t.Errorf("%s: left behind: %v", says, left)
	}
}

// TestMergeCompleteness: a shard that is missing, duplicate or of another plan is named.
func TestMergeCompleteness(t *testing.T) {
	dir := t.TempDir()
	makeParts(t, dir, 40, 3)
	part := func(i int) string { return filepath.Join(dir, fmt.Sprintf("part-%05d-of-00040.ufs", i)) }
	all := merged(t, ufs.MergeRequest{}, dir)
	edited := func(i int, edit func(*chunkio.StatsHeader)) string { return rewritten(t, part(i), edit) }
	some := ufs.MergeRequest{Partial: true}
	plain := edited(9, func(h *chunkio.StatsHeader) { h.Part = nil })
	refused(t, exit.Data, "4 of 40 shards of the plan 0123456789abcdef are there, and 2-8, 10-30, 33-40 are missing", ufs.MergeRequest{}, part(1), part(9), part(31), part(32))
	refused(t, exit.Data, "shard 2/40 o "+dir+"/;", ufs.MergeRequest{}, part(1))
	refused(t, exit.Usage, part(5)+" and "+part(5)+" both hold shard 5", some, part(4), part(5), part(6), part(5))
	refused(t, exit.Usage, "both hold shard 1", ufs.MergeRequest{}, dir, all)
	refused(t, exit.Usage, "is a part of a plan and "+plain+" is not", some, part(1), plain)
	refused(t, exit.Usage, "two plans, 0123456789abcdef and abc", some, part(1), edited(2, func(h *chunkio.StatsHeader) { h.Part.Plan = "abc" }))
	refused(t, exit.Usage, "another number overlap", some, part(1), edited(2, func(h *chunkio.StatsHeader) { h.Part.Of = 41 }))
	refused(t, exit.Usage, "of days", ufs.MergeRequest{Window: 3}, dir)
	refused(t, exit.Usage, "of days", ufs.MergeRequest{Decay: 0.5}, dir)
	refused(t, exit.Usage, "both cover rows 0 to 255 of /lake/day=00000/part.parquet", some, part(1), edited(2, func(h *chunkio.StatsHeader) {
		*h = partHeader(0, 40, 3)
		h.Part.Shards[0] = stream.ShardRange{From: 2, To: 2}
	}))
	refused(t, exit.Usage, "their columns differ", some, part(1), edited(2, func(h *chunkio.StatsHeader) { h.Columns[2].Name = "stranger" }))
	refused(t, exit.Usage, "their options differ", some, part(1), edited(2, func(h *chunkio.StatsHeader) { h.Options["label"] = "y" }))
	short := func(h *chunkio.StatsHeader) { h.Part.Whole.Rows++ }
	var files []string
	for i := range 40 {
		files = append(files, edited(i+1, short))
	}
	refused(t, exit.Data, "cover 10,240 of 10,240 rows of 40 files, and the plan has 10,241", ufs.MergeRequest{}, files...)
	refused(t, exit.Data, "no statistics file", ufs.MergeRequest{}, t.TempDir())

	// A total is one file among others, and the output of an earlier merge is no part.
	sum := ufs.MergeRequest{Files: []string{dir + "/"}, Output: filepath.Join(dir, "all.ufs")}
	for range 2 {
		if got := must.Get(ufs.Merge(t.Context(), sum))(t); got.Merged != 40 {
			t.Errorf("%d files were merged", got.Merged)
		}
	}
	other := rewritten(t, all, func(h *chunkio.StatsHeader) {
		h.Part.Plan, h.Inputs = "abc", []stream.Input{{Path: "new.parquet", Rows: 10240, Fingerprint: "new"}}
	})
	h := headerOf(t, merged(t, ufs.MergeRequest{}, all, other, plainOther(t, plain)))
	if h.Part != nil || len(h.Inputs) != 42 || h.Ranges[0].To != 2*10240+rowsOfPart {
		t.Errorf("totals: %+v, %d inputs, %v", h.Part, len(h.Inputs), h.Ranges)
	}
}

// plainOther is a file of a plan no more, of other rows.
func plainOther(t *testing.T, path string) string {
	return rewritten(t, path, func(h *chunkio.StatsHeader) { h.Inputs[0].Fingerprint = "other" })
}

// smallest is the smallest memory limit that merges files.
func smallest(t *testing.T, files ...string) int64 {
	t.Helper()
	_, err := ufs.Merge(t.Context(), ufs.MergeRequest{Files: files, Output: filepath.Join(t.TempDir(), "x.ufs"), Limits: ufs.Limits{Memory: 1 << 20}})
	var short *stream.MemoryError
	if !errors.As(err, &short) {
		t.Fatalf("merging within 1 MiB: %v, want a memory error", err)
	}
	return short.Need
}

// TestMergeSpills: with the least memory sums wait in scratch files, and no bit of the result changes; without
// disk space for them there is an error, and nothing is left.
func TestMergeSpills(t *testing.T) {
	dir, scratch := t.TempDir(), t.TempDir()
	makeParts(t, dir, 300, 150)
	limit := smallest(t, dir)
	want := contents(t, merged(t, ufs.MergeRequest{}, dir))
	for _, m := range []ufs.MergeRequest{{Limits: ufs.Limits{Memory: limit, TempDir: scratch}}, {Limits: ufs.Limits{Memory: limit + 1<<20, Threads: 3}}, {Limits: ufs.Limits{Memory: limit + 3<<20}}} {
		if !bytes.Equal(contents(t, merged(t, m, dir)), want) {
			t.Errorf("%+v: other bits", m)
		}
	}
	refused(t, exit.Memory, "max-temp-size 1MiB", ufs.MergeRequest{Limits: ufs.Limits{Memory: limit, TempDir: scratch, MaxScratch: 1000}}, dir)
	refused(t, exit.Memory, fmt.Sprintf("memory-limit %dMiB", (limit+1<<20-1)>>20), ufs.MergeRequest{Limits: ufs.Limits{Memory: limit - 1}}, dir)
	refused(t, exit.Fault, "scratch files in "+filepath.Join(scratch, "absent"), ufs.MergeRequest{Limits: ufs.Limits{Memory: limit, TempDir: filepath.Join(scratch, "absent")}}, dir)
	if left := must.Get(os.ReadDir(scratch))(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	bad := filepath.Join(dir, "part-00200-of-00300.ufs")
	file := contents(t, bad)
	file[len(file)-300] ^= 4
	must.Do(t, os.WriteFile(bad, file, 0o600))
	refused(t, exit.Data, bad, ufs.MergeRequest{}, dir)
}

// inUse is the memory in use without garbage: exact, however busy the machine.
func inUse() int64 {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return int64(live[0].Value.Uint64())
}

// TestMergeManyInBoundedMemory: 300 parts, of three levels of the tree, are added up with no more in use than
// the limit has for them. That is asked for again and again while they are read.
//
// The whole heap tells less: it has garbage, as much as the limit and the pace of the collector leave, and
// what the tests before have left, which the limit of a run does not count.
func TestMergeManyInBoundedMemory(t *testing.T) {
	dir := t.TempDir()
	const parts = 300
	makeParts(t, dir, parts, 120)
	limit := smallest(t, dir)
	before := inUse()
	var reads, most atomic.Int64
	ctx := faults.WithDisk(t.Context(), &faults.Disk{Read: func(_ string, want int) (int, error) {
		if reads.Add(1)%200 == 0 {
			most.Store(max(most.Load(), inUse()))
		}
		return want, nil
	}})
	all := filepath.Join(t.TempDir(), "all.ufs")
	must.Get(ufs.Merge(ctx, ufs.MergeRequest{Files: []string{dir}, Output: all, Limits: ufs.Limits{Memory: limit}}))(t)
	if held := most.Load() - before; reads.Load() < 20*200 || held > limit-budget.ProgramBytes {
		t.Errorf("%d KiB in use, %d of the limit are for them, at most of %d reads", held>>10, (limit-budget.ProgramBytes)>>10, reads.Load())
	}
	if h := headerOf(t, all); !h.Part.Complete() || len(h.Inputs) != parts || len(h.Ranges) != 1 || h.Ranges[0].To != parts*rowsOfPart {
		t.Errorf("%+v, %d inputs, %v", h.Part, len(h.Inputs), h.Ranges)
	}
	if got := gramOf(t, all); got.Rows != parts*rowsOfPart {
		t.Errorf("%d rows", got.Rows)
	}
}
