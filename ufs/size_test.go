package ufs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// plant writes a planted table in row groups of 100 rows.
func plant(t *testing.T, rows int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "planted.parquet")
	table := planted.New(planted.Options{Rows: rows, GroupRow: 100})
	must.Do(t, chunkio.WriteParquet(t.Context(), path, table, chunkio.WriteOptions{RowGroupRows: 100}))
	return path
}

// noiseFile is a table of d columns of noise, with means of their own.
func noiseFile(t *testing.T, n, d int, seed uint64) string {
	t.Helper()
	return noiseColumns(n, d, seed).write(t)
}

func noiseColumns(n, d int, seed uint64) columns {
	random := rand.New(rand.NewPCG(seed, 4))
	c := tableOf(nil, make([][]float64, d))
	for j := range d {
		c.Names = append(c.Names, fmt.Sprintf("px_%d_%d", j%2, j/2))
		mean := 10 * random.Float64()
		for range n {
			c.Cols[j] = append(c.Cols[j], mean+random.NormFloat64())
		}
	}
	return c
}

// TestAutoK: every method either chooses as many features as path's rules recommend in its scale, the same ones
// as with that number given, or gives the reason why it cannot.
func TestAutoK(t *testing.T) {
	path := plant(t, 900)
	each(t, func(t *testing.T, spec method.Spec, q Request) {
		q.Input.Paths, q.Choice.K, q.Choice.AutoK = []string{path}, 0, true
		if !spec.From.UsesGram() {
			if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), spec.Name) {
				t.Fatalf("error %v, want a usage error that names the method", err)
			}
			return
		}
		got := selected(t, q)
		if got.Size == nil || got.K != got.Size.Recommended || len(got.Selected) != got.K || got.Options["k"] != "auto" {
			t.Fatalf("%d of k %d, options %v, size %+v", len(got.Selected), got.K, got.Options, got.Size)
		}
		greedy := Request{Input: Input{Paths: q.Input.Paths}, Choice: Choice{Method: "greedy", Scale: got.Options["scale"].(string)}}
		size := must.Get(Path(t.Context(), greedy))(t).Curve.Size
		if spec.From == method.FromGram && (size == nil || size.Recommended != got.K || !slices.Equal(size.Rules, got.Size.Rules)) {
			t.Errorf("path says %+v, want %+v", size, got.Size)
		}
		q.Choice.K, q.Choice.AutoK = got.K, false
		want := selected(t, q) // of so few columns it has the rules too
		delete(got.Options, "k")
		same(t, answerOf(t, got), answerOf(t, want))
	})
}

// TestAutoKFindsFactors: k is the number of planted factors, whatever the threads, and the
// same from statistics of parts that were merged.
func TestAutoKFindsFactors(t *testing.T) {
	q := Request{Input: Input{Paths: []string{plant(t, 2048)}}, Choice: Choice{Method: "greedy", AutoK: true}}
	want := selected(t, q)
	if want.K != 6 {
		t.Errorf("k = %d for six factors: %+v", want.K, want.Size)
	}
	threads := q
	threads.Limits.Threads = 5
	same(t, answerOf(t, selected(t, threads)), answerOf(t, want))
	var parts []string
	dir := t.TempDir()
	for i := range 3 {
		s := ScanRequest{Request: Request{Input: Input{Paths: q.Input.Paths}}, Shard: fmt.Sprintf("%d/3", i+1)}
		s.Output = filepath.Join(dir, fmt.Sprintf("%d.ufs", i))
		must.Get(Scan(t.Context(), s))(t)
		parts = append(parts, s.Output)
	}
	all := filepath.Join(dir, "all.ufs")
	must.Get(Merge(t.Context(), MergeRequest{Files: parts, Output: all}))(t)
	for _, scale := range []string{"", "none", "minmax"} { // that are not centred, too
		fromData, fromStats := q, Request{Stats: all, Choice: Choice{Method: "greedy", AutoK: true}}
		fromData.Choice.Scale, fromStats.Choice.Scale = scale, scale
		a, b := selected(t, fromData), selected(t, fromStats)
		if a.K != b.K || a.Size.Why != b.Size.Why {
			t.Errorf("scale %q: %d from data, %d from merged statistics", scale, a.K, b.K)
		}
		for i, r := range a.Size.Rules {
			if r.K != b.Size.Rules[i].K {
				t.Errorf("scale %q: %+v from data, %+v from merged statistics", scale, r, b.Size.Rules[i])
			}
		}
	}
}

// TestAutoKRefused: with another number, and if the Gram matrix does not fit.
func TestAutoKRefused(t *testing.T) {
	path := plant(t, 300)
	for _, q := range []Request{{Choice: Choice{AutoK: true, K: 3}}, {Choice: Choice{AutoK: true, Variance: 0.5}}} {
		q.Input.Paths = []string{path}
		if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.UsageError)) {
			t.Errorf("%+v: error %v", q, err)
		}
	}
	wide := noiseFile(t, 1600, 1500, 1)
	q := Request{Input: Input{Paths: []string{wide}}, Choice: Choice{Method: "greedy", K: 3}}
	plan := must.Get(Plan(t.Context(), q))(t)
	q.Limits.Memory = plan.Memory.InMemory - 1
	must.Get(Select(t.Context(), q))(t) // out of core
	q.Choice.K, q.Choice.AutoK = 0, true
	if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("error %v, want a memory error with the limit that works", err)
	}
}

// TestTrustOfChoice: noise is warned of, at raw values with their means too; greedy's choice
// among planted factors is not. Only methods that reconstruct are compared.
func TestTrustOfChoice(t *testing.T) {
	noise, factors := noiseFile(t, 400, 80, 1), plant(t, 1000)
	trusted := func(q Request) bool {
		t.Helper()
		s := selected(t, q)
		if s.Trust == nil || s.Trust.Choice == nil {
			t.Fatalf("%+v: nothing tells of the choice", q)
		}
		warned := slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, "do not rely on") })
		if warned == s.Trust.Choice.Trusted {
			t.Errorf("%+v: %+v, warnings %q", q, *s.Trust.Choice, s.Warnings)
		}
		return s.Trust.Choice.Trusted
	}
	for _, method := range []string{"greedy", "partgreedy"} {
		for _, scale := range []string{"standard", "none", "unit"} {
			if trusted(Request{Input: Input{Paths: []string{noise}}, Choice: Choice{Method: method, Scale: scale, K: 6}}) {
				t.Errorf("%s %s: noise is trusted", method, scale)
			}
		}
	}
	for _, k := range []int{2, 4, 6} {
		if !trusted(Request{Input: Input{Paths: []string{factors}}, Choice: Choice{Method: "greedy", K: k}}) {
			t.Errorf("%d planted features are not trusted", k)
		}
	}
	if s := selected(t, Request{Input: Input{Paths: []string{factors}}, Choice: Choice{Method: "variance", K: 3}}); s.Trust != nil && s.Trust.Choice != nil {
		t.Errorf("variance: %+v", s.Trust.Choice)
	}
}
