package udfs

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/rowsparse"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestFormsRankAlike: M in full and as a product of rows give the same norms and objectives.
func TestFormsRankAlike(t *testing.T) {
	for _, shape := range [][2]int{{30, 130}, {40, 300}, {50, 60}, {3, 6}} {
		n, d := shape[0], shape[1]
		for _, opt := range []Options{{Clusters: 3, Lambda: 10}, {Clusters: 4, Gamma: 2, Lambda: 100}, {Clusters: 2, Neighbors: 2, Lambda: 1}} {
			opt.MaxIter, opt.Tol = 5, -1
			solve := func(wide bool, threads int) *Result {
				o := opt
				o.Threads = threads
				o = o.WithDefaults(int64(n), d)
				x := kernel.RowMajor(slices.Concat(clusters(n, d, 4)...), n, d, d)
				f := must.Get(newScatterForm(t.Context(), kernel.NewTeam(threads), x, o, wide))(t)
				return must.Get(runUpdates(t.Context(), rowsparse.NewSolver(f, d, o.Clusters, o.Gamma), d, o))(t)
			}
			name := fmt.Sprintf("%v %+v", shape, opt)
			want, got := solve(false, 2), solve(true, 2)
			if got.Rose != nil || want.Rose != nil || fmt.Sprint(got.Warnings) != fmt.Sprint(want.Warnings) {
				t.Errorf("%s: %v %q, want %v %q", name, got.Rose, got.Warnings, want.Rose, want.Warnings)
			}
			// The start from costless directions is known to M's 1e-14 over nullShare, 1e-6, in either form:
			// permuted columns move the first objective by up to 7e-7. Updates forget it.
			for i, v := range got.Objective {
				if math.Abs(v-want.Objective[i]) > 4e-6*math.Abs(want.Objective[i]) {
					t.Errorf("%s: objective %d is %v, want %v", name, i, v, want.Objective[i])
				}
			}
			for i, v := range got.Scores {
				if math.Abs(v-want.Scores[i]) > 1e-6*(1+want.Scores[i]) {
					t.Errorf("%s: norm %d is %v, want %v", name, i, v, want.Scores[i])
				}
			}
			if again := solve(true, 5); !slices.Equal(again.Scores, got.Scores) {
				t.Errorf("%s: workers change bits", name)
			}
		}
	}
}

// TestBytesOfFewRows: a run on few rows stays within Bytes, which has no d² then.
func TestBytesOfFewRows(t *testing.T) {
	const n, d = 60, 4000
	x := slices.Concat(clusters(n, d, 1)...)
	opt := Options{Clusters: 5, MaxIter: 3, Threads: 2}
	before, most := rowstest.HeapBytes(), int64(0)
	opt.Progress = func(int, float64) { most = max(most, rowstest.HeapBytes()-before) }
	must.Get(Select(t.Context(), x, n, d, opt))(t)
	if says := Bytes(n, d, opt); most == 0 || most > says || says > 8*d*d {
		t.Errorf("%d bytes held, %d said", most, says)
	}
}

// TestLayout: patches take the memory of their layout and of the scratch space for each run of rows, and no more.
func TestLayout(t *testing.T) {
	const n, d, k = 250, 20, 150
	x := kernel.RowMajor(slices.Concat(clusters(n, d, 2)...), n, d, d)
	near := must.Get(rows.FindNearest(t.Context(), kernel.NewTeam(1), n, d, k, 1<<20, rows.PassInMemory(x)))(t)
	roomtest.CheckLayout(t, "patches", room.Measure(func(l *room.Layout) {
		layOutPatches(l, n, k+1)
		for range (n + rows.RunRows - 1) / rows.RunRows {
			layOutPatchScratch(l, k+1, d)
		}
	}), func() { must.Get(newPatches(t.Context(), 1, x, near, k, 1000))(t) })
}
