package cluster

import (
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

func mustKMeans(t *testing.T, x matrix, opt Options) *Result {
	t.Helper()
	return falling(t, x, must.Get(KMeans(t.Context(), Matrix(x), opt))(t))
}

func mustRefine(t *testing.T, x matrix, rows int, centers matrix, opt Options) *Result {
	t.Helper()
	return falling(t, x, must.Get(Refine(t.Context(), chunks(x, rows), Matrix(centers), opt))(t))
}

// falling checks that the trace of r never rises by more than the rounding of its sums: n
// terms, each of k squares.
func falling(t *testing.T, x matrix, r *Result) *Result {
	t.Helper()
	for i := 1; i < len(r.Trace); i++ {
		if !(r.Trace[i] <= r.Trace[i-1]*(1+float64(x.Rows+x.Cols)*0x1p-52)) {
			t.Errorf("the inertia rises: %v", r.Trace)
		}
	}
	return r
}

// TestWorkersAndCutsChangeNoBit: workers, layout and chunks change nothing, and KMeans is Refine from its seeds.
func TestWorkersAndCutsChangeNoBit(t *testing.T) {
	x, _ := blobs(3, 1500, 7, 6, 0.7)
	for kind := range 4 {
		spherical := kind%2 == 1
		opt := Options{Clusters: 8, Restarts: 3, Seed: 4, Spherical: spherical, RandomStarts: kind >= 2, Threads: 1}
		want := mustKMeans(t, x, opt)
		for _, workers := range []int{2, 3, 8} {
			opt.Threads = workers
			if !same(mustKMeans(t, x, opt), want, 0) {
				t.Errorf("spherical %v: other bits from %d workers", spherical, workers)
			}
		}
		if !same(mustKMeans(t, rowMajor(x), opt), want, 0) {
			t.Errorf("spherical %v: other bits from another layout", spherical)
		}
		opt.Restarts = 1
		want = mustKMeans(t, x, opt)
		team := kernel.NewTeam(1)
		var unit *rowNormalizer
		if spherical {
			unit = newRowNormalizer(team, rowsPerBlock(team.Threads(), x.Cols), x.Cols)
		}
		start := must.Get(firstCenters(t.Context(), team, x, unit, nil, nil, opt, 0))(t)
		r, err := runLloyd(t.Context(), team, start, opt.withDefaults(), func(p *Pass) error {
			for chunk := range chunks(x, 77) {
				if err := p.Add(nil, chunk); err != nil {
					return err
				}
			}
			return nil
		})
		must.Do(t, err)
		if !same(r, want, 1e-12) {
			t.Errorf("spherical %v: other bits from chunks", spherical)
		}
		if !spherical { // Refine normalizes its centres once more
			for _, rows := range []int{1, 100, 5000} {
				if !same(mustRefine(t, x, rows, start, opt), want, 1e-12) {
					t.Errorf("other bits from Refine in chunks of %d rows", rows)
				}
			}
		}
	}
}

func TestFindsBlobs(t *testing.T) {
	x, labels := blobs(7, 2000, 6, 9, 30)
	r := mustKMeans(t, x, Options{Clusters: 9, Restarts: 10})
	s := must.Get(Compare(r.Labels, labels))(t)
	if s.ACC != 1 {
		t.Errorf("accuracy %v of blobs that are far apart", s.ACC)
	}
	one := mustKMeans(t, x, Options{Clusters: 9})
	if one.Inertia < r.Inertia {
		t.Errorf("one restart has inertia %v, ten have %v", one.Inertia, r.Inertia)
	}
}

func TestEdgeSizes(t *testing.T) {
	x, _ := blobs(8, 40, 3, 2, 1)
	one := mustKMeans(t, x, Options{Clusters: 1})
	for j := range 3 {
		mean := 0.0
		for i := range 40 {
			mean += row(x, i)[j] / 40
		}
		if math.Abs(one.Centers.Data[j]-mean) > 80*0x1p-52 { // two sums of 40 terms about 1
			t.Errorf("centre %v, want the mean %v", one.Centers.Data[j], mean)
		}
	}
	if all := mustKMeans(t, x, Options{Clusters: 40}); all.Inertia != 0 || slices.Max(all.Sizes) != 1 || !all.Converged {
		t.Errorf("as many clusters as rows: inertia %v, sizes %v", all.Inertia, all.Sizes)
	}
	if r := mustKMeans(t, x.Sub(0, 0, 1, 3), Options{Clusters: 1}); r.Inertia != 0 {
		t.Errorf("one row: inertia %v", r.Inertia)
	}
	// Three distinct rows, five clusters.
	few := take(x, []int{0, 1, 2, 0, 1, 2, 0, 0, 0})
	r := mustKMeans(t, few, Options{Clusters: 5, Restarts: 3})
	used := 0
	for _, n := range r.Sizes {
		if n > 0 {
			used++
		}
	}
	if r.Inertia != 0 || used != 3 || !r.Converged {
		t.Errorf("three distinct rows: inertia %v, sizes %v", r.Inertia, r.Sizes)
	}
	constant := kernel.ColMajor([]float64{2, 2, 2, 2, 5, 5, 5, 5}, 4, 2, 4)
	if r := mustKMeans(t, constant, Options{Clusters: 2}); r.Inertia != 0 || r.Sizes[0] != 4 {
		t.Errorf("constant rows: inertia %v, sizes %v", r.Inertia, r.Sizes)
	}
	bounded := mustKMeans(t, x, Options{Clusters: 10, MaxIter: 1})
	if len(bounded.Trace) != 2 || bounded.Converged {
		t.Errorf("one move: %d passes, converged %v", len(bounded.Trace), bounded.Converged)
	}
}
