package kernel

import (
	"math/rand/v2"
	"testing"
	"time"
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
