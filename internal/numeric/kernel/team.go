package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
)

// Team computes products by several workers, which share its packing scratch. The scratch is kept from call to call, so
// that further calls of the same size do not allocate memory. No goroutine outlives a call. Only one goroutine may use
// a Team at a time. Results do not depend on the number of workers, not even in the last bit.
type Team struct {
	workers       int
	minSharedSize int // number of multiplications above which workers share a product
	isa           *isa
	f64           floatProduct[float64]
	f32           floatProduct[float32]
	sparse        sparseProduct
	whole         wholeProduct

	// These fields describe the current call. Every worker runs body, and does tasks of its steps, see stepPosition.
	body    func(worker int)
	ids     atomic.Int64 // number of helpers started so far
	tickets atomic.Int64 // number of tickets given out so far, over all steps
	done    atomic.Int64 // number of finished tasks, over all steps
	wait    sync.WaitGroup
	run     func() // t.runAsHelper as a value made once, so that `go t.run()` does not allocate

	busy atomic.Int64 // busy time of all workers in all calls, in nanoseconds
}

// NewTeam returns a team with the given number of workers; 0 means GOMAXPROCS. From its first product on it needs the
// memory given by [TeamBytes].
func NewTeam(workers int) *Team { return newTeam(workers, best) }

func newTeam(workers int, path *isa) *Team {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	t := &Team{workers: workers, minSharedSize: minSharedSize, isa: path}
	t.run = t.runAsHelper
	t.f64.initForTeam(t, &path.f64)
	t.f32.initForTeam(t, &path.f32)
	t.sparse.initForTeam(t)
	t.whole.initForTeam(t)
	return t
}

// Threads returns the number of workers the team was made with.
func (t *Team) Threads() int { return t.workers }

// BusyTime returns the sum of the times that the workers have been busy in all calls so far. It includes the time in
// which they wait for each other in a loop.
func (t *Team) BusyTime() time.Duration { return time.Duration(t.busy.Load()) }

// runTogether calls body(worker) on the given number of goroutines, numbered from 0, and returns after all calls have
// returned. The bodies share tasks through [Team.joinSteps].
func (t *Team) runTogether(workers int, body func(worker int)) {
	t.body = body
	t.ids.Store(0)
	t.tickets.Store(0)
	t.done.Store(0)
	t.wait.Add(workers - 1)
	for range workers - 1 {
		go t.run()
	}
	t.runBody(0) // the caller is a worker too
	t.wait.Wait()
	t.body = nil
}

func (t *Team) runAsHelper() {
	t.runBody(int(t.ids.Add(1)))
	t.wait.Done()
}

func (t *Team) runBody(worker int) {
	start := time.Now()
	t.body(worker)
	t.busy.Add(int64(time.Since(start)))
}

// stepPosition is a worker's position in a call. Every worker goes through the same steps, each with a number of tasks.
// The tasks of all steps have consecutive tickets, and a worker does the tasks whose tickets it drew. A step starts
// when all tasks of earlier steps are done. Nobody waits for a worker that has not drawn a ticket or has not started.
type stepPosition struct {
	team   *Team
	first  int64 // the step's first ticket
	ticket int64 // the worker's next ticket
	busy   bool  // the task of the last ticket is running
}

func (t *Team) joinSteps() stepPosition { return stepPosition{team: t, ticket: t.tickets.Add(1) - 1} }

// nextTask returns the worker's next task of the current step, which has n tasks. If no task is left, it returns false,
// and the next call belongs to the next step.
func (s *stepPosition) nextTask(n int) (int, bool) {
	t := s.team
	if s.busy {
		t.done.Add(1)
		s.ticket, s.busy = t.tickets.Add(1)-1, false
	}
	if s.ticket >= s.first+int64(n) {
		s.first += int64(n)
		return 0, false
	}
	// A step takes 0.1 to 10 ms. Starting and joining goroutines for each step took 5 % of the time of a float32 Gram
	// matrix of 896 columns. So workers wait in a loop, in which they yield to other goroutines, and sleep only later.
	const awake, yields = 64, 512
	for spins := 1; t.done.Load() < s.first; spins++ {
		switch {
		case spins > awake*yields:
			time.Sleep(20 * time.Microsecond)
		case spins%awake == 0:
			runtime.Gosched()
		}
	}
	s.busy = true
	return int(s.ticket - s.first), true
}

// cacheLine is the alignment of packed panels. A vector that crosses a cache line needs two loads.
const cacheLine = 64

func alignedSlice[T any](l *room.Layout, n int) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	buf := room.Slice[T](l, n+cacheLine/size)
	if l != nil {
		return nil
	}
	off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(buf)))%cacheLine) / size
	return buf[off : off+n : off+n]
}

// reserveSlice takes n elements from l for scratch, unless it has as many. It frees the old elements first.
func reserveSlice[T any](l *room.Layout, scratch *[]T, n int) {
	if cap(*scratch) < n {
		*scratch = nil
		*scratch = alignedSlice[T](l, n)
	}
}
