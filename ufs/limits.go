package ufs

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/internal/room"
)

const (
	// outsideHeap is kept free for resident memory that the Go runtime does not count
	// against its own limit: the pages of the program itself. Measured on amd64 with
	// mnist10k, sampled every 3 ms: the program's own pages (RssFile) are up to 26 MiB, 5
	// more than before it had the clients of stores. The rest is a margin, because the
	// runtime may overrun its limit for a moment: peaks at the smallest limit stayed 7 MB
	// below it in five runs on a busy machine; with 24 MiB one of five was 3 MB above.
	outsideHeap = 30 << 20
	// programBytes is what the plan keeps free for everything that is not in it: the
	// program, the runtime, and garbage between two collections.
	programBytes = 48 << 20 // 2 MiB of it for hygiene.Facts beyond what they take for each column, which profileColumn has
	// collectPercent makes the collector run at 1.5 times the live heap instead of
	// twice: what lives is few large buffers, which cost it nothing to pass over.
	collectPercent = 50
	// maxThreads is far above any use: the Go runtime takes minutes to set up a million.
	maxThreads = 1024
	// ownRuntime is what the Go runtime takes of a program that has just begun, its heap
	// included, and is part of programBytes: 10 MiB in ufs-stream before it reads a file.
	ownRuntime = 12 << 20
)

// process is what runs under way have set of the Go runtime, which the process has once:
// the first to begin saves what was there, the last to end restores it.
var process struct {
	sync.Mutex
	runs, bounds  int // under way
	threads, pace int
	memory, held  int64 // held is what heldBefore says
	setUp         sync.Once
	linearAlgebra error

	collected  time.Time     // when heldBefore collected last
	collecting time.Duration // and how long that took
	last       int64         // what was held then
}

// Bound keeps the process within memory bytes from now on, as a run does while it is under way, until
// restore is called. It is for a program that holds its limit before and after the run too, where it
// reads selections and writes what was found: a selection from 20,000 columns is 4.6 MiB of JSON, and
// writing it took partgreedy 217 of 210 MiB.
//
// What the process holds as Bound is called is not counted, and what it takes from then on is, also
// before a run begins.
func Bound(memory int64) (restore func()) {
	process.Lock()
	defer process.Unlock()
	process.bounds++
	if process.bounds == 1 && process.runs == 0 {
		process.held = heldBefore()
	}
	limit, pace := debug.SetMemoryLimit(heapWithin(memory)+process.held), debug.SetGCPercent(collectPercent)
	return func() {
		process.Lock()
		defer process.Unlock()
		process.bounds--
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(pace)
	}
}

// heapWithin is what the Go runtime may take of so many bytes of resident memory.
func heapWithin(memory int64) int64 { return max(memory-outsideHeap, 1<<20) }

// begin hands the bounds of the request to the Go runtime until end is called, and makes
// gonum's LAPACK ride on our kernels.
func (q *Request) begin(ctx context.Context) (end func(), err error) {
	if err := refuseInputAsOutput(ctx, q); err != nil {
		return nil, err
	}
	q.keepStdin()
	process.setUp.Do(func() { process.linearAlgebra = linalg.Use(0) })
	if process.linearAlgebra != nil {
		return nil, process.linearAlgebra
	}
	process.Lock()
	defer process.Unlock()
	if process.runs == 0 && process.bounds == 0 {
		process.held = heldBefore()
	}
	threads := runtime.GOMAXPROCS(q.Threads)
	memory := debug.SetMemoryLimit(heapWithin(q.Memory) + process.held)
	pace := debug.SetGCPercent(collectPercent)
	if process.runs == 0 {
		process.threads, process.memory, process.pace = threads, memory, pace
	}
	process.runs++
	return sync.OnceFunc(func() {
		if q.stdin != nil {
			q.stdin.Close() // scratch that is given up: nothing is lost if that fails
		}
		process.Lock()
		defer process.Unlock()
		if process.runs--; process.runs == 0 {
			runtime.GOMAXPROCS(process.threads)
			debug.SetMemoryLimit(process.memory)
			debug.SetGCPercent(process.pace)
		}
	}), nil
}

// heldBefore is the memory that the caller's process holds before a run, beyond what a
// program needs that has just begun. The runtime has one limit for both. Without this part
// in it a process that holds as much as the run may use would collect without end.
//
// Garbage is not held: it is collected first, but in no more than a fiftieth of the time. In a process that
// holds much and makes thousands of small runs, the command's tests, collecting took most of it. Between
// two collections the last one's figure stands.
func heldBefore() int64 {
	if room.Used() <= ownRuntime {
		return 0
	}
	if begin := time.Now(); begin.Sub(process.collected) >= 50*process.collecting {
		runtime.GC()
		process.collected = time.Now()
		process.collecting = process.collected.Sub(begin)
		process.last = room.Used() - ownRuntime
	}
	return max(process.last, 0)
}
