package ufs_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// TestEvalAffinity: affinity propagation finds classes that lie far apart, with no deviation between the runs of fixed
// features; options of k-means, and too little memory for pairs of rows, are refused.
func TestEvalAffinity(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 4))
	table := tabletest.Table{Names: []string{"a", "b", "noise", "class"}, Cols: make([][]float64, 4)}
	for i := range 240 {
		class := float64(i % 3)
		for j, x := range []float64{20*class + rng.NormFloat64(), rng.NormFloat64() - 20*class*class, rng.NormFloat64(), class} {
			table.Cols[j] = append(table.Cols[j], x)
		}
	}
	q := ufs.EvalRequest{
		Input: ufs.Input{Paths: []string{writeTable(t, table)}}, Label: "class", Clusterer: "affinity", Baselines: []string{"random"},
		Selections: []ufs.NamedSelection{{Selection: &stream.Selection{Selected: []stream.Selected{{Rank: 1, Name: "a"}, {Rank: 2, Name: "b"}}}}},
	}
	r := must.Get(ufs.Eval(t.Context(), q))(t)
	if s := r.Results[0]; s.ACC.Mean != 1 || s.NMISqrt.Std != 0 || r.Runs != 5 || r.Clusterer != "affinity" || r.Damping != 0.9 {
		t.Errorf("3 classes far apart: got accuracy %v, deviation %v of NMI, %d runs of %q, damping %v; want 1, 0, 5, affinity, 0.9", s.ACC.Mean, s.NMISqrt.Std, r.Runs, r.Clusterer, r.Damping)
	}
	for want, change := range map[string]func(q *ufs.EvalRequest){
		"restarts": func(q *ufs.EvalRequest) { q.Restarts = 3 }, "spherical": func(q *ufs.EvalRequest) { q.Spherical = true },
		"damping": func(q *ufs.EvalRequest) { q.Damping = 0.3 }, "is for affinity": func(q *ufs.EvalRequest) { q.Clusterer, q.Damping = "", 0.7 },
		"want kmeans, affinity": func(q *ufs.EvalRequest) { q.Clusterer = "ward" },
	} {
		other := q
		change(&other)
		if _, err := ufs.Eval(t.Context(), other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
	wide := tabletest.Table{Names: table.Names}
	for _, col := range table.Cols {
		long := []float64(nil)
		for range 40 {
			long = append(long, col...)
		}
		wide.Cols = append(wide.Cols, long)
	}
	q.Input.Paths, q.Sample, q.Limits.Memory = []string{writeTable(t, wide)}, -1, 512<<20
	var short *stream.MemoryError
	if _, err := ufs.Eval(t.Context(), q); !errors.As(err, &short) || short.Need < 24*9600*9600 {
		t.Errorf("9,600 rows in 512 MiB: got error %v, want one about 24 bytes for each pair of rows", err)
	}
}
