package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
)

// TestBusy: workers are busy for some time, and none for longer than the calls last.
func TestBusy(t *testing.T) {
	const d, rows = 300, 256
	x := newGuarded[float64](rand.New(rand.NewPCG(1, 2)), d, rows, false)
	for _, workers := range []int{1, 3} {
		team, c := NewTeam(workers), RowMajor(make([]float64, d*d), d, d, d)
		start := time.Now()
		Syrk(team, 1, x.Matrix, c)
		first := team.BusyTime()
		Syrk(team, 1, x.Matrix, c)
		if most := time.Duration(workers) * time.Since(start); first <= 0 || team.BusyTime() <= first || team.BusyTime() > most {
			t.Errorf("%d workers: busy for %v, then %v of %v", workers, first, team.BusyTime(), most)
		}
		start = time.Now()
		busy := Each(workers, 8, func(int) { time.Sleep(time.Millisecond) })
		if most := time.Duration(workers) * time.Since(start); busy < 8*time.Millisecond || busy > most {
			t.Errorf("%d goroutines: busy for %v of %v", workers, busy, most)
		}
	}
}

// TestLayout: searches and sparse products take the memory of their layouts, and no more.
func TestLayout(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	const rows, count, workers = 3000, 5, 2
	for _, shape := range [][2]int{{1000, 60}, {1300, 40}, {2000, 20}} {
		m, d := shape[0], shape[1]
		x, points := newGuarded[float64](r, rows, d, true), newGuarded[float64](r, m, d, false)
		index, distance := make([]int32, rows*count), make([]float64, rows*count)
		roomtest.CheckLayout(t, fmt.Sprintf("nearest of %d×%d", m, d), NearestBytes(1, m, d), func() {
			NewNearest(NewTeam(1), points.Matrix, count).SearchTo(index, distance, x.Matrix)
		})
		for i := range index {
			index[i] %= int32(m)
		}
		c := NewMatrix[float64](nil, m, d)
		threads := min(workers, panelCount(d, stripColumns))
		roomtest.CheckLayout(t, fmt.Sprintf("sparse product of %d×%d", m, d), SparseBytes(threads, rows, m, count), func() {
			team := NewTeam(workers)
			team.minSharedSize = 0
			SparseGemm(team, Sparse{rows, m, count, index, distance}, x.Matrix, c)
		})
	}
}

// TestTeamBytes: the scratch of products stays within its bounds, on every instruction set.
func TestTeamBytes(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		for _, shape := range [][2]int{{1, 1}, {49, 3}, {16, 500}, {700, 1100}, {3000, 8}} {
			m, n := shape[0], shape[1]
			team := newTeam(2, p)
			Gemm(team, 1, NewMatrix[float64](nil, m, 300), NewMatrix[float64](nil, 300, n), NewMatrix[float64](nil, m, n))
			if held := int64(8 * (cap(team.f64.packedA) + cap(team.f64.packedB) + cap(team.f64.edges))); held > TeamBytes(m, n) {
				t.Errorf("product of %d×%d: %d bytes, TeamBytes says %d", m, n, held, TeamBytes(m, n))
			}
			if p.integer.mul == nil {
				continue
			}
			SyrkWhole(team, make([]int16, n*depth), n, depth, depth, nil, NewMatrix[float64](nil, n, n))
			if held := int64(4*(cap(team.whole.packedA)+cap(team.whole.packedB)) + 8*cap(team.whole.edges)); held > WholeBytes(n) {
				t.Errorf("squares of %d: %d bytes, WholeBytes says %d", n, held, WholeBytes(n))
			}
		}
	})
}
