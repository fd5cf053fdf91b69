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
	// outsideHeap is kept free for resident memory that the Go runtime does not count against its own limit: the
	// pages of the program itself. Measured on amd64 with mnist10k, sampled every 3 ms: the program's own pages
	// (RssFile) are up to 26 MiB, 5 more than before it had the clients of stores. The rest is a margin, because
	// the runtime may overrun its limit for a moment: peaks at the smallest limit stayed 7 MB below it in five
	// runs on a busy machine; with 24 MiB one of five was 3 MB above.
	outsideHeap = 30 << 20
	// programBytes is the memory that the plan keeps free for everything outside it: the program, the runtime,
	// and garbage between two collections.
	programBytes = 48 << 20 // 2 MiB for hygiene.Facts; profileColumnBytes has their bytes for each column
	// collectPercent makes the collector run at 1.5 times the live heap instead of twice: the live heap is few
	// large buffers, which are cheap to scan.
	collectPercent = 50
	// maxThreads is far above any use: the Go runtime takes minutes to set up a million.
	maxThreads = 1024
	// ownRuntime is the Go runtime's memory in a program that has just begun, its heap included, and is part of
	// programBytes: 10 MiB in ufs-stream before it reads a file.
	ownRuntime = 12 << 20
)

// process holds the Go runtime's settings changed by active runs, which the process has once: the first to
// begin saves the earlier settings, the last to end restores them.
var process struct {
	sync.Mutex
	runs, bounds  int // active
	threads, pace int
	memory, held  int64 // the limit to restore, and the result of memoryBeforeRun
	setUp         sync.Once
	linearAlgebra error

	collected  time.Time     // time of the last collection in memoryBeforeRun
	collecting time.Duration // and its duration
	last       int64         // and the memory after it
}

// Bound keeps the process within memory bytes from now on, like an active run, until restore is called. It is
// for a program that keeps its limit before and after the run too, while it reads selections and writes
// results: a selection from 20,000 columns is 4.6 MiB of JSON, and writing it took partgreedy 217 of 210 MiB.
//
// Memory that the process holds when Bound is called is not counted; memory that it takes from then on is, also
// before a run begins.
func Bound(memory int64) (restore func()) {
	process.Lock()
	defer process.Unlock()
	process.bounds++
	if process.bounds == 1 && process.runs == 0 {
		process.held = memoryBeforeRun()
	}
	limit, pace := debug.SetMemoryLimit(heapLimit(memory)+process.held), debug.SetGCPercent(collectPercent)
	return func() {
		process.Lock()
		defer process.Unlock()
		process.bounds--
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(pace)
	}
}

func heapLimit(memory int64) int64 { return max(memory-outsideHeap, 1<<20) }

// applyLimits hands the bounds of the request to the Go runtime until end is called, and makes gonum's LAPACK
// use our kernels.
func (q *Request) applyLimits(ctx context.Context) (end func(), err error) {
	if err := refuseInputAsOutput(ctx, q); err != nil {
		return nil, err
	}
	q.keepStdin()
	process.setUp.Do(func() { process.linearAlgebra = linalg.UseKernels(0) })
	if process.linearAlgebra != nil {
		return nil, process.linearAlgebra
	}
	process.Lock()
	defer process.Unlock()
	if process.runs == 0 && process.bounds == 0 {
		process.held = memoryBeforeRun()
	}
	threads := runtime.GOMAXPROCS(q.Threads)
	memory := debug.SetMemoryLimit(heapLimit(q.Memory) + process.held)
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

// memoryBeforeRun is the memory that the caller's process holds before a run, beyond the needs of a program
// that has just begun. The runtime has one limit for both. Without this addition a process that holds as much
// as the run may use would collect without end.
//
// Garbage is not held: it is collected first, but in no more than a fiftieth of the time. In a process that
// holds much and makes thousands of small runs, the command's tests, collecting took most of it. Between two
// collections the last one's figure stands.
func memoryBeforeRun() int64 {
	if room.UsedBytes() <= ownRuntime {
		return 0
	}
	if begin := time.Now(); begin.Sub(process.collected) >= 50*process.collecting {
		runtime.GC()
		process.collected = time.Now()
		process.collecting = process.collected.Sub(begin)
		process.last = room.UsedBytes() - ownRuntime
	}
	return max(process.last, 0)
}
