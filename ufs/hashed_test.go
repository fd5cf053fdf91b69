package ufs

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/halves"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
)

// shardsOfFile reads a statistics file with its hash shards.
func shardsOfFile(t *testing.T, path string, from method.From) *statistics.Bundle {
	t.Helper()
	file := must.Get(chunkio.OpenStats(t.Context(), path, chunkio.FetchOptions{}))(t)
	defer file.Close()
	return must.Get(statistics.ReadStats(file, from, gram.Options{Limit: 1 << 30}, must.Get(statistics.HashShardCount(file))(t)))(t)
}

// scanInTwo scans the first 400 rows of a planted table, and the others, each into a file with 4 hash shards.
func scanInTwo(t *testing.T) (dir string, files []string) {
	t.Helper()
	dir = t.TempDir()
	for i, at := range []func(int64) bool{func(i int64) bool { return i < 400 }, func(i int64) bool { return i >= 400 }} {
		s := ScanRequest{Request: Request{Input: Input{Paths: []string{stored(t, someRows{at: at})}}, Choice: Choice{Stability: 4}, Output: filepath.Join(dir, string(rune('a'+i))+".ufs")}}
		must.Get(Scan(t.Context(), s))(t)
		files = append(files, s.Output)
	}
	return dir, files
}

// TestHashedLost: a file that an earlier version merged records hash shards and has none. It can still be
// selected from; a whole merged with it has none either, and warns about that.
func TestHashedLost(t *testing.T) {
	dir, files := scanInTwo(t)
	lost := shardsOfFile(t, files[0], method.FromGram)
	lost.ShardStats = nil
	must.Do(t, lost.WriteStats(t.Context(), files[0], nil))
	for _, order := range [][]string{{files[0], files[1]}, {files[1], files[0]}} {
		all := filepath.Join(dir, "all.ufs")
		done := must.Get(Merge(t.Context(), MergeRequest{Files: order, Output: all}))(t)
		if !strings.Contains(strings.Join(done.Warnings, ""), "hash shards") {
			t.Errorf("warnings %v", done.Warnings)
		}
		if s := selected(t, Request{Stats: all, Choice: Choice{K: 3}}); len(s.Selected) != 3 {
			t.Errorf("selected %v", s.Selected)
		}
		if _, err := Select(t.Context(), Request{Stats: all, Choice: Choice{K: 3, Stability: AnyShards}}); err == nil {
			t.Error("stability without hash shards")
		}
	}
}

// TestHashedDecay: days that weigh less the older they are do so in every shard.
func TestHashedDecay(t *testing.T) {
	dir, files := scanInTwo(t)
	all := filepath.Join(dir, "all.ufs")
	must.Get(Merge(t.Context(), MergeRequest{Files: files, Output: all, Decay: 0.5}))(t)
	e := shardsOfFile(t, all, method.FromGram)
	sum, _, err := e.ShardStats.SumShards([]int{0, 1, 2, 3})
	must.Do(t, err)
	if got, want := sum.Profile.Weight, 400*0.5+500; got != want || e.Moments.Profile.Weight != want {
		t.Errorf("weight %v, of the whole %v, want %v", got, e.Moments.Profile.Weight, want)
	}
}

// TestEvalByShards: the stability that eval judges by hash shards is that of plain selections
// from files of the rows of each sample; and it reads the input as often as one selection does.
func TestEvalByShards(t *testing.T) {
	path := stored(t, someRows{at: everyRow})
	q := Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", K: 4, Seed: 1}, Columns: Columns{Missing: "mean"}}
	s := selected(t, q)
	const resamples = 6
	meter := new(stream.Meter)
	eval := func(o EvalRequest) *stream.Stability {
		o.Input.Paths, o.Selections, o.Baselines, o.Resamples = []string{path}, []NamedSelection{{Selection: s}}, []string{"none"}, resamples
		return must.Get(Eval(t.Context(), o))(t).Results[0].Stability
	}
	got := eval(EvalRequest{Hooks: Hooks{Meter: meter}})
	if n := meter.Rows.Load(); n != 2*900 { // to judge by, and to gather
		t.Errorf("%d rows were read", n)
	}
	fit, _ := halves.FitSamples(resamples, 450, 900)
	seed := judge.RunSeed(1, 0)
	var sets [][]int
	for _, set := range fit.DrawShards(resamples, seed) {
		part := q
		part.Input.Paths = []string{stored(t, someRows{at: func(i int64) bool {
			for _, h := range set {
				if halves.ShardOf(seed, i, fit.Shards) == h {
					return true
				}
			}
			return false
		}})}
		var order []int
		for _, f := range selected(t, part).Selected {
			for j, col := range s.Columns {
				if col.Name == f.Name {
					order = append(order, j)
				}
			}
		}
		sets = append(sets, order)
	}
	want := judge.MeasureStability(sets, len(s.Columns))
	if float64(got.Nogueira) != want.Nogueira || float64(got.Jaccard) != want.Jaccard || got.Resamples != resamples {
		t.Errorf("%+v, want %+v", got, want)
	}
}
