package budget

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

const (
	// nonHeapBytes is kept free for the pages of the program itself, which the Go runtime does not count against its
	// memory limit. On amd64 with mnist10k, sampled every 3 ms, these pages (RssFile) used up to 26 MiB, of which 5 MiB
	// are for clients of object stores. The rest is a margin, because the runtime may exceed its limit for a moment. In
	// five runs with the smallest possible limit on a busy machine, the peaks stayed 7 MB below the limit. With 24 MiB
	// in place of 30 MiB, the peak of one run in five was 3 MB above the limit.
	nonHeapBytes = 30 << 20
	// ProgramBytes is the memory that is kept free for everything that is not planned: the program, the runtime, and
	// garbage between two collections.
	ProgramBytes = 48 << 20 // 2 MiB are for hygiene.Facts, whose memory per column is in ProfileColumnBytes
	// collectPercent makes the collector run when the heap reaches 1.5 times the live heap instead of twice. The
	// live heap consists of few large buffers, which are cheap to scan. A number in GOGC overrides it.
	collectPercent = 50
	// runtimeBytes is the memory of the Go runtime, including its heap, in a program that has just started (10 MiB in
	// the command ufs-stream). It is a part of ProgramBytes.
	runtimeBytes = 12 << 20
)

// process holds the settings of the Go runtime that active runs change. The whole process shares them. The first
// run to begin saves the earlier settings, and the last run to end restores them.
var process struct {
	sync.Mutex
	runs, bounds  int             // numbers of active runs and of active calls of BoundMemory
	before        runtimeSettings // the settings to restore
	held          int64           // the result of memoryBeforeRun
	setUp         sync.Once       // calls linalg.UseKernels
	linearAlgebra error           // the error of linalg.UseKernels

	collected  time.Time     // time of the last collection in memoryBeforeRun
	collecting time.Duration // duration of that collection
	last       int64         // result of that call of memoryBeforeRun
}

// runtimeSettings are the settings of the Go runtime that depend on the limits of a run.
type runtimeSettings struct {
	threads int   // GOMAXPROCS; 0 leaves it as it is
	memory  int64 // the soft limit of the heap (GOMEMLIMIT), in bytes
	pace    int   // growth of the heap, in percent, after which the garbage collector runs (GOGC)
}

// applyAll sets the settings in the Go runtime; only this function does. It returns the former settings.
func (s runtimeSettings) applyAll() (before runtimeSettings) {
	return runtimeSettings{runtime.GOMAXPROCS(s.threads), debug.SetMemoryLimit(s.memory), debug.SetGCPercent(s.pace)}
}

func newRuntimeSettings(memory int64, threads int) runtimeSettings {
	pace, err := strconv.Atoi(os.Getenv("GOGC"))
	if err != nil {
		pace = collectPercent
	}
	return runtimeSettings{threads: threads, memory: max(memory-nonHeapBytes, 1<<20) + process.held, pace: pace}
}

// BoundMemory implements ufs.Bound: it keeps the process within the given bytes of memory until restore is called.
func BoundMemory(memory int64) (restore func()) {
	process.Lock()
	defer process.Unlock()
	process.bounds++
	if process.bounds == 1 && process.runs == 0 {
		process.held = memoryBeforeRun()
	}
	before := newRuntimeSettings(memory, 0).applyAll()
	before.threads = 0
	return func() {
		process.Lock()
		defer process.Unlock()
		process.bounds--
		before.applyAll()
	}
}

// ApplyLimits fills in the limits of the request (request.FillLimits), and sets them in the Go runtime until end is
// called. It also makes gonum's LAPACK use the kernels of this module.
func ApplyLimits(ctx context.Context, q *request.Request) (end func(), err error) {
	if err := request.FillLimits(q); err != nil {
		return nil, err
	}
	if err := request.RefuseInputAsOutput(ctx, q); err != nil {
		return nil, err
	}
	request.KeepStdin(q)
	process.setUp.Do(func() { process.linearAlgebra = linalg.UseKernels(0) })
	if process.linearAlgebra != nil {
		return nil, process.linearAlgebra
	}
	process.Lock()
	defer process.Unlock()
	if process.runs == 0 && process.bounds == 0 {
		process.held = memoryBeforeRun()
	}
	before := newRuntimeSettings(q.Limits.Memory, q.Limits.Threads).applyAll()
	if process.runs == 0 {
		process.before = before
	}
	process.runs++
	return sync.OnceFunc(func() {
		request.ReleaseStdin(q)
		process.Lock()
		defer process.Unlock()
		if process.runs--; process.runs == 0 {
			process.before.applyAll()
		}
	}), nil
}

func memoryBeforeRun() int64 {
	// The memory that the caller's process holds before a run, beyond the needs of a program that has just started, is
	// added to the limit of the run, because the runtime has one limit for both. Otherwise the collector would run
	// permanently in a process that holds as much memory as the run may use.
	if room.UsedBytes() <= runtimeBytes {
		return 0
	}
	// Garbage is not counted, because it is collected first. These collections use at most a fiftieth of the time: soon
	// after the last one, its result is returned again. Without this rule, collections used most of the time in a
	// process that held much memory and made thousands of small runs.
	if begin := time.Now(); begin.Sub(process.collected) >= 50*process.collecting {
		runtime.GC()
		process.collected = time.Now()
		process.collecting = process.collected.Sub(begin)
		process.last = room.UsedBytes() - runtimeBytes
	}
	return max(process.last, 0)
}
