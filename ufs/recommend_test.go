package ufs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// chance is a table of noise.
func chance(n, d int) columns {
	rng := rand.New(rand.NewPCG(5, 5))
	c := columns{}
	for j := range d {
		c.Names = append(c.Names, fmt.Sprintf("n%02d", j))
		c.Cols = append(c.Cols, make([]float64, n))
		for i := range n {
			c.Cols[j][i] = rng.NormFloat64()
		}
	}
	return c
}

// choiceOf is a selection without the fields that depend on how its method was found.
func choiceOf(t *testing.T, s *stream.Selection) string {
	t.Helper()
	copied := *s
	copied.Why, copied.Trust, copied.Warnings, copied.Passes = "", nil, nil, 0
	return answerOf(t, &copied)
}

// TestMethodWithoutName: the selection equals one by the method that it names, and gives the reason for this
// method.
func TestMethodWithoutName(t *testing.T) {
	clustered, noise, few := faces(300, 64, 1).write(t), chance(200, 64).write(t), faces(5, 64, 1).write(t)
	for name, c := range map[string]struct {
		q      Request
		method string
		why    string
	}{
		"clusters":     {Request{Input: Input{Paths: []string{clustered}}}, methods.Recommended, "recommended"},
		"scale":        {Request{Input: Input{Paths: []string{clustered}}, Choice: Choice{Scale: "none"}}, methods.Recommended, "recommended"},
		"graph option": {Request{Input: Input{Paths: []string{clustered}}, Choice: Choice{Options: method.Settings{"neighbors": 4}}}, methods.Recommended, "recommended"},
		"keep":         {Request{Input: Input{Paths: []string{clustered}}, Choice: Choice{Keep: []string{"px_1_1"}}}, methods.Recommended, "recommended"},
		"noise":        {Request{Input: Input{Paths: []string{noise}}}, methods.Fallback, "no clusters"},
		"noise, scale": {Request{Input: Input{Paths: []string{noise}}, Choice: Choice{Scale: "none"}}, methods.Fallback, "no clusters"},
		"few rows":     {Request{Input: Input{Paths: []string{few}}}, methods.Fallback, "too few for a graph"},
		"weight":       {Request{Input: Input{Paths: []string{clustered}}, Columns: Columns{Weight: "px_0_0"}}, methods.Fallback, "weight"},
		"variance":     {Request{Input: Input{Paths: []string{clustered}}, Choice: Choice{Variance: 0.9}}, methods.Fallback, "variance"},
		"memory":       {Request{Input: Input{Paths: []string{clustered}}, Limits: Limits{Memory: budget.ProgramBytes + 8<<20}}, methods.Fallback, "memory-limit"},
		"pairwise":     {Request{Input: Input{Paths: []string{clustered}}, Columns: Columns{Missing: request.MissingPairwise}}, methods.Recommended, "recommended"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.q.Choice.Variance == 0 {
				c.q.Choice.K = 3
			}
			s := selected(t, c.q)
			if s.Method != c.method || !strings.Contains(s.Why, c.why) {
				t.Fatalf("method %s: %q", s.Method, s.Why)
			}
			f := must.Get(Plan(t.Context(), c.q))(t)
			if c.why != "no clusters" && c.why != "too few for a graph" && f.Method != c.method || f.Why == "" {
				t.Errorf("planned: method %s: %q", f.Method, f.Why)
			}
			if s.Method == methods.Fallback {
				c.q.Choice.Options = nil
			}
			c.q.Choice.Method = s.Method
			named := selected(t, c.q)
			if same(t, choiceOf(t, s), choiceOf(t, named)); named.Why != "" {
				t.Errorf("the method was named, and it says %q", named.Why)
			}
		})
	}
}

// TestTrustOfCounts: counts are not compared with rows without clusters, and the selection does not say that they were.
func TestTrustOfCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	words := columns{}
	for j := range 60 {
		words.Names = append(words.Names, fmt.Sprintf("w%02d", j))
		words.Cols = append(words.Cols, make([]float64, 300))
	}
	for i := range 300 {
		for range 4 { // of the 20 words of one of three subjects
			words.Cols[i%3*20+rng.IntN(20)][i]++
		}
	}
	s := selected(t, Request{Input: Input{Paths: []string{words.write(t)}}, Choice: Choice{K: 3}})
	if s.Method != methods.Recommended || !strings.Contains(s.Why, "counts") {
		t.Fatalf("method %s: %q, want %s for counts", s.Method, s.Why, methods.Recommended)
	}
	if s.Trust == nil || s.Trust.Choice == nil || s.Trust.Dependence != nil || s.Trust.Clusters != nil {
		t.Errorf("trust %+v, want that of the choice alone", s.Trust)
	}
}

// TestSampleGoesWithStatistics: the choice, its scale and its trust are the same from the input, from
// statistics and from the merged statistics of its shards, in the scale settled by the sample of rows and in
// another. Statistics without a sample, from scans for another method, serve the fallback.
func TestSampleGoesWithStatistics(t *testing.T) {
	for name, table := range map[string]columns{"clusters": faces(300, 64, 1), "noise": chance(200, 64)} {
		t.Run(name, func(t *testing.T) {
			in, dir := table.write(t), t.TempDir()
			scan := func(file, method, shard string) string {
				path := filepath.Join(dir, file)
				must.Get(Scan(t.Context(), ScanRequest{Request: Request{Input: Input{Paths: []string{in}}, Choice: Choice{Method: method}, Output: path}, Shard: shard}))(t)
				return path
			}
			merged := filepath.Join(dir, "merged.ufs")
			must.Get(Merge(t.Context(), MergeRequest{Files: []string{scan("1.ufs", "", "1/2"), scan("2.ufs", "", "2/2")}, Output: merged}))(t)
			alike := func(a, b *stream.Chance) bool { // merged moments differ by rounding
				return math.Abs(float64(a.Value-b.Value)) < 1e-12 && math.Abs(float64(a.Chance-b.Chance)) < 1e-12 && a.Trusted == b.Trusted
			}
			for _, scale := range []string{"", "none"} {
				want := selected(t, Request{Input: Input{Paths: []string{in}}, Choice: Choice{K: 3, Scale: scale}})
				for _, stats := range []string{scan("named.ufs", methods.Recommended, ""), scan("unnamed.ufs", "", ""), merged} {
					s := selected(t, Request{Stats: stats, Choice: Choice{K: 3, Scale: scale}})
					if s.Method != want.Method || s.Why != want.Why || !alike(s.Trust.Clusters, want.Trust.Clusters) || !alike(s.Trust.Dependence, want.Trust.Dependence) ||
						s.Options["scale"] != want.Options["scale"] || !slices.EqualFunc(s.Selected, want.Selected, func(a, b stream.Selected) bool { return a.Name == b.Name }) {
						t.Errorf("%s, scale %q: method %s, %q, %v, %v; from the input %s, %q, %v, %v", filepath.Base(stats), scale,
							s.Method, s.Why, *s.Trust.Clusters, s.Selected, want.Method, want.Why, *want.Trust.Clusters, want.Selected)
					}
				}
			}
			if s := selected(t, Request{Stats: scan("greedy.ufs", methods.Fallback, ""), Choice: Choice{K: 3}}); s.Method != methods.Fallback || !strings.Contains(s.Why, "no sample") {
				t.Errorf("without a sample: method %s: %q", s.Method, s.Why)
			}
			named := selected(t, Request{Input: Input{Paths: []string{in}}, Choice: Choice{K: 3, Method: methods.Recommended}})
			if warned := strings.Contains(strings.Join(named.Warnings, "\n"), "than independent ones"); warned == named.Trust.Dependence.Trusted || warned != (name == "noise") {
				t.Errorf("dependence trusted %v, warnings %q", named.Trust.Dependence.Trusted, named.Warnings)
			}
		})
	}
}

// TestFallbackForgets: if the recommended method runs out of memory during gathering, because later rows have
// missing values, its saved state does not hinder the fallback.
func TestFallbackForgets(t *testing.T) {
	table := faces(304, 600, 1) // not so wide that its rows are the better form
	for _, c := range table.Cols {
		for i := 280; i < len(c); i += 7 {
			c[i] = math.Inf(1) // which the metadata do not tell of
		}
	}
	q := Request{Input: Input{Paths: []string{table.write(t)}}, Choice: Choice{K: 3}, Columns: Columns{Missing: "mean"}, Checkpoint: Checkpoint{Folder: t.TempDir(), Every: 1}}
	// As little as the matrix in full is planned with: less, and its rows would stand in for it.
	for q.Limits.Memory = must.Get(Plan(t.Context(), q))(t).Memory.Smallest; must.Get(Plan(t.Context(), q))(t).Memory.Factor > 0; q.Limits.Memory += 1 << 16 {
	}
	if s := selected(t, q); s.Method != methods.Fallback || !strings.Contains(s.Why, "with missing values") || s.Passes != 2 {
		t.Errorf("method %s after %d passes: %q", s.Method, s.Passes, s.Why)
	}
}
