package judge

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// groups is n rows in 3 overlapping groups.
func groups(n int) (kernel.Matrix[float64], []int32) {
	x, class := noise(n, 4, 8), make([]int32, n)
	for i := range n {
		class[i] = int32(i % 3)
		x.Data[i] += 2 * float64(class[i])
		x.Data[n+i] += float64(class[i] % 2)
	}
	return x, class
}

// TestTrials: only the seed distinguishes runs: workers change no bit, fewer runs are a
// beginning of more, and each run equals KMeans'.
func TestTrials(t *testing.T) {
	x, class := groups(120)
	var calls atomic.Int64
	opt := TrialOptions{Runs: 7, Restarts: 2, Clusters: 3, Seed: 5, Threads: 1, Done: func() { calls.Add(1) }}
	same := func(int) kernel.Matrix[float64] { return x }
	want := must.Get(RunTrials(t.Context(), class, same, opt))(t)
	if calls.Load() != 7 {
		t.Errorf("%d runs reported", calls.Load())
	}
	for _, workers := range []int{2, 8} {
		opt.Threads = workers
		if got, err := RunTrials(t.Context(), class, same, opt); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d workers: %v, %v, want %v", workers, got, err, want)
		}
	}
	opt.Runs = 3
	if got, err := RunTrials(t.Context(), class, same, opt); err != nil || !slices.Equal(got, want[:3]) {
		t.Errorf("3 runs: %v, %v", got, err)
	}
	for r, s := range want {
		made := must.Get(cluster.KMeans(t.Context(), cluster.Matrix(x), cluster.Options{Clusters: 3, Restarts: 2, Seed: RunSeed(5, r)}))(t)
		if twin, err := cluster.Compare(made.Labels, class); err != nil || twin != s {
			t.Errorf("run %d: %v, want %v (%v)", r, s, twin, err)
		}
	}
	g := SummarizeScores(want)
	nmi := PickScore(want, func(s cluster.Scores) float64 { return s.NMISqrt })
	if g.NMISqrt != Summarize(nmi) || g.ACC.Mean < 0.5 || g.ACC.Runs != 7 {
		t.Errorf("grades %+v", g)
	}
	if slices.Max(nmi) == slices.Min(nmi) && g.NMISqrt.Std != 0 {
		t.Errorf("equal runs spread by %v", g.NMISqrt.Std)
	}
}

// TestTrialsColumns: each run clusters its own columns.
func TestTrialsColumns(t *testing.T) {
	x, class := groups(60)
	scores := must.Get(RunTrials(t.Context(), class, func(run int) kernel.Matrix[float64] {
		return x.Sub(0, 3*(run%2), 60, 1) // the telling column, or noise
	}, TrialOptions{Runs: 4, Restarts: 3, Clusters: 3, Seed: 1}))(t)
	for r := 0; r < 4; r += 2 {
		if scores[r].NMISqrt <= scores[r+1].NMISqrt {
			t.Errorf("runs %d: telling column %v, noise %v", r, scores[r].NMISqrt, scores[r+1].NMISqrt)
		}
	}
}

func TestTrialsErrors(t *testing.T) {
	x, class := groups(30)
	columns := func(int) kernel.Matrix[float64] { return x }
	if _, err := RunTrials(t.Context(), class, columns, TrialOptions{Clusters: 31}); err == nil {
		t.Error("more clusters than rows")
	}
	x.Data[3] = math.Inf(1)
	if _, err := RunTrials(t.Context(), class, columns, TrialOptions{Clusters: 3}); !errors.Is(err, cluster.ErrNotFinite) {
		t.Errorf("infinity: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := RunTrials(ctx, class, columns, TrialOptions{Clusters: 3, Runs: 5}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestAffinityTrials: a run by affinity propagation equals Affinity's, with any workers, and reports its clusters.
func TestAffinityTrials(t *testing.T) {
	x, class := groups(90)
	found := []int(nil)
	opt := TrialOptions{Runs: 2, Clusters: 3, Affinity: true, Damping: 0.8, Seed: 5, Threads: 1, Found: func(clusters int) { found = append(found, clusters) }}
	same := func(int) kernel.Matrix[float64] { return x }
	want := must.Get(RunTrials(t.Context(), class, same, opt))(t)
	if !slices.Equal(found, []int{3, 3}) {
		t.Errorf("2 runs in 3 clusters: got numbers of clusters %v", found)
	}
	opt.Threads = 4
	if got := must.Get(RunTrials(t.Context(), class, same, opt))(t); !slices.Equal(got, want) {
		t.Errorf("4 workers: got %v, want %v", got, want)
	}
	for r, s := range want {
		made := must.Get(cluster.Affinity(t.Context(), cluster.Matrix(x), cluster.AffinityOptions{Clusters: 3, Damping: 0.8, Seed: RunSeed(5, r)}))(t)
		if twin := must.Get(cluster.Compare(made.Labels, class))(t); twin != s {
			t.Errorf("run %d: got %v, want %v", r, s, twin)
		}
	}
}
