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
	// (RssFile) need up to 26 MiB, 5 MiB more than before the program contained clients of object stores. The rest
	// is a margin, because the runtime may exceed its limit for a moment. In five runs on a busy machine the peaks
	// at the smallest limit stayed 7 MB below it. With 24 MiB the peak of one run in five was 3 MB above the limit.
	outsideHeap = 30 << 20
	// programBytes is the memory that the plan keeps free for everything outside it: the program, the runtime,
	// and garbage between two collections.
	programBytes = 48 << 20 // 2 MiB for hygiene.Facts; profileColumnBytes has their bytes for each column
	// collectPercent makes the collector run when the heap reaches 1.5 times the live heap instead of twice. The
	// live heap consists of few large buffers, which are cheap to scan.
	collectPercent = 50
	// maxThreads is far above any real use. The Go runtime would need minutes to set up a million threads.
	maxThreads = 1024
	// ownRuntime is the memory of the Go runtime, including its heap, in a program that has just started. It is a
	// part of programBytes. ufs-stream needs 10 MiB before it reads a file.
	ownRuntime = 12 << 20
)

// process holds the settings of the Go runtime that active runs change. The whole process shares them. The first
// run to begin saves the earlier settings, and the last run to end restores them.
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

// Bound keeps the process within memory bytes from now on, like an active run, until restore is called. It is for a
// program that must also keep its limit before and after the run, when it reads selections and writes results. A
// selection from 20,000 columns has 4.6 MiB of JSON; when partgreedy wrote it, the process reached 217 MiB with a
// limit of 210 MiB.
//
// Memory that the process already holds when Bound is called is not counted. Memory that it allocates later is
// counted, also before a run begins.
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

// applyLimits sets the limits of the request in the Go runtime until end is called, and makes gonum's LAPACK use
// our kernels.
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
			q.stdin.Close() // the scratch file is not needed any more, so an error does no harm
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

// memoryBeforeRun returns the memory that the caller's process holds before a run, beyond the needs of a program
// that has just started. This memory is added to the limit of the run, because the runtime has one limit for both.
// Otherwise the collector would run permanently in a process that holds as much memory as the run may use.
//
// Garbage is not counted, because memoryBeforeRun first runs a collection. Collections use at most a fiftieth of
// the time: in the command's tests, a process that holds much memory and makes thousands of small runs, they had
// used most of it. Between two collections the result of the last one is used.
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
