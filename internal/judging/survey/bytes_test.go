package survey

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
)

// Look holds no more than Bytes or ThinBytes promise: the live heap is looked at while it runs, with garbage collected often.
func TestBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	value := func(i, j int) float64 { return r.NormFloat64() + float64(i%4*(j%3)) }
	for name, table := range map[string]*Table{
		"tall": columnsOf(500, 200, value), "more than are judged": columnsOf(maxTestAnchors+400, 150, value), "square": columnsOf(300, 300, value), "wide": columnsOf(80, 6000, value), "wider": columnsOf(40, 20000, value),
		"words": makeThin(makeWords(600)),
	} {
		for _, threads := range []int{2, 1}[:long.CountCases(1, 2)] {
			bound := MemoryBytes(table.Rows, table.Cols, table.Rows, 0, threads)
			if table.Thin != nil {
				bound = ThinBytes(table.Rows, table.Cols, table.Rows, 0, threads, int64(len(table.Thin.Value)))
			}
			if peak := peakOf(bound, func() { lookAt(t, table, Options{Threads: threads, Anchors: table.Rows}) }); peak > bound {
				t.Errorf("%s, %d threads: %d KiB at the peak, of %d", name, threads, peak>>10, bound>>10)
			}
		}
	}
}

// peakOf is the most that do holds beside what is there before, under a memory limit of that bound.
func peakOf(bound int64, do func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(2))
	runtime.GC()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(room.UsedBytes() + bound))
	heap := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	var peak atomic.Int64
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				peak.Store(max(peak.Load(), heap()-before))
			}
		}
	}()
	do()
	close(stop)
	<-done
	return peak.Load()
}
