package ufs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
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

// choiceOf is what of a selection does not tell how its method was found.
func choiceOf(t *testing.T, s *stream.Selection) string {
	t.Helper()
	copied := *s
	copied.Why, copied.Trust, copied.Warnings, copied.Passes = "", nil, nil, 0
	return answerOf(t, &copied)
}

// TestMethodWithoutName: the selection is that of the method that it names, by that very name,
// and it says why it is this one.
func TestMethodWithoutName(t *testing.T) {
	clustered, noise, few := faces(300, 24, 1).write(t), chance(200, 40).write(t), faces(5, 12, 1).write(t)
	for name, c := range map[string]struct {
		q      Request
		method string
		why    string
	}{
		"clusters":     {Request{Inputs: []string{clustered}}, methods.Recommended, "recommended"},
		"scale":        {Request{Inputs: []string{clustered}, Scale: "none"}, methods.Recommended, "recommended"},
		"graph option": {Request{Inputs: []string{clustered}, Options: method.Settings{"anchors": 60}}, methods.Recommended, "recommended"},
		"keep":         {Request{Inputs: []string{clustered}, Keep: []string{"px_1_1"}}, methods.Recommended, "recommended"},
		"noise":        {Request{Inputs: []string{noise}}, methods.Fallback, "no structure"},
		"noise, scale": {Request{Inputs: []string{noise}, Scale: "none"}, methods.Fallback, "no structure"},
		"few rows":     {Request{Inputs: []string{few}}, methods.Fallback, "cannot be served"},
		"weight":       {Request{Inputs: []string{clustered}, Weight: "px_0_0"}, methods.Fallback, "weight"},
		"variance":     {Request{Inputs: []string{clustered}, Variance: 0.9}, methods.Fallback, "variance"},
		"memory":       {Request{Inputs: []string{clustered}, Memory: programBytes + 8<<20}, methods.Fallback, "memory-limit"},
		"pairwise":     {Request{Inputs: []string{clustered}, Missing: missingPairwise}, methods.Fallback, "pairwise"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.q.Variance == 0 {
				c.q.K = 3
			}
			s := selected(t, c.q)
			if s.Method != c.method || !strings.Contains(s.Why, c.why) {
				t.Fatalf("method %s: %q", s.Method, s.Why)
			}
			f := must.Get(Plan(t.Context(), c.q))(t)
			if name != "noise" && name != "noise, scale" && f.Method != c.method || f.Why == "" {
				t.Errorf("planned: method %s: %q", f.Method, f.Why)
			}
			if s.Method == methods.Fallback {
				c.q.Options = nil
			}
			c.q.Method = s.Method
			named := selected(t, c.q)
			if same(t, choiceOf(t, s), choiceOf(t, named)); named.Why != "" {
				t.Errorf("the method was named, and it says %q", named.Why)
			}
		})
	}
}

// TestTrustGoesWithStatistics: what is known of the graph is the same from the input and from
// its statistics, whether the graph is trusted or not; statistics without a graph serve the fallback.
func TestTrustGoesWithStatistics(t *testing.T) {
	for name, table := range map[string]columns{"clusters": faces(300, 24, 1), "noise": chance(200, 40)} {
		t.Run(name, func(t *testing.T) {
			in, dir := table.write(t), t.TempDir()
			for _, gathered := range []string{methods.Recommended, ""} {
				stats := filepath.Join(dir, "stats"+gathered+".ufs")
				must.Get(Scan(t.Context(), ScanRequest{Request: Request{Inputs: []string{in}, Method: gathered, Output: stats}}))(t)
				s := selected(t, Request{Stats: stats, K: 3})
				want := selected(t, Request{Inputs: []string{in}, K: 3})
				if gathered == "" {
					if s.Method != methods.Fallback || !strings.Contains(s.Why, "no anchor graph") {
						t.Errorf("without a graph: method %s: %q", s.Method, s.Why)
					}
					continue
				}
				if s.Method != want.Method || *s.Trust.Graph != *want.Trust.Graph || (s.Method == methods.Recommended) != (s.Why == want.Why) {
					t.Errorf("from statistics method %s, %q, %+v; from the input %s, %q, %+v", s.Method, s.Why, s.Trust.Graph, want.Method, want.Why, want.Trust.Graph)
				}
				// Another scale than that of the graph is not for the graph.
				if other := selected(t, Request{Stats: stats, K: 3, Scale: "none"}); other.Method != methods.Fallback || other.Options["scale"] != "none" {
					t.Errorf("another scale: method %s, %v", other.Method, other.Options)
				}
			}
			named := selected(t, Request{Inputs: []string{in}, K: 3, Method: methods.Recommended})
			if warned := strings.Contains(strings.Join(named.Warnings, "\n"), "permuted columns"); warned == named.Trust.Graph.Trusted || warned != (name == "noise") {
				t.Errorf("trusted %v, warnings %q", named.Trust.Graph.Trusted, named.Warnings)
			}
		})
	}
}

// TestFallbackForgets: where the recommended method runs out of memory on its way, because values turn
// out to be missing in later rows, the state that it saved does not stand in the way of the fallback.
func TestFallbackForgets(t *testing.T) {
	table := faces(304, 600, 1) // not so wide that its rows are the better form
	for _, c := range table.Cols {
		for i := 280; i < len(c); i += 7 {
			c[i] = math.Inf(1) // which the metadata do not tell of
		}
	}
	q := Request{Inputs: []string{table.write(t)}, K: 3, Missing: "mean", Checkpoint: t.TempDir(), CheckpointEvery: 1}
	// As little as the matrix in full is planned with: less, and its rows would stand in for it.
	for q.Memory = must.Get(Plan(t.Context(), q))(t).Memory.Smallest; must.Get(Plan(t.Context(), q))(t).Memory.Factor > 0; q.Memory += 1 << 16 {
	}
	if s := selected(t, q); s.Method != methods.Fallback || !strings.Contains(s.Why, "with missing values") || s.Passes != 3 {
		t.Errorf("method %s after %d passes: %q", s.Method, s.Passes, s.Why)
	}
}
