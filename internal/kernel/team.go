package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Team computes products. It has a number of workers and packing scratch that they share. The scratch is kept from call
// to call, so that further calls of the same size do not allocate memory. No goroutine outlives a call. A Team serves
// one caller at a time. Results do not depend on the number of workers, not even in the last bit.
type Team struct {
	workers     int
	leastShared int // number of multiplications from which on workers share a product
	isa         *isa
	f64         products[float64]
	f32         products[float32]
	sparse      sparseProduct
	whole       wholeProduct

	// These fields describe the current call. Every worker runs body, and does tasks of its steps.
	body    func(worker int)
	ids     atomic.Int64
	tickets atomic.Int64 // number of tickets given out so far, over all steps
	done    atomic.Int64 // number of finished tasks, over all steps
	wait    sync.WaitGroup
	run     func() // t.helpRun, bound once: `go t.run()` allocates nothing

	busy atomic.Int64 // nanoseconds of all workers in all calls
}

// NewTeam returns a team with the given number of workers; 0 means GOMAXPROCS. From its first product on it uses
// [TeamBytes] of memory.
func NewTeam(workers int) *Team { return newTeam(workers, best) }

func newTeam(workers int, path *isa) *Team {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	t := &Team{workers: workers, leastShared: leastShared, isa: path}
	t.run = t.helpRun
	t.f64.initFor(t, &path.f64)
	t.f32.initFor(t, &path.f32)
	t.sparse.initFor(t)
	t.whole.initFor(t)
	return t
}

// Threads returns the number of workers the team was made with.
func (t *Team) Threads() int { return t.workers }

// BusyTime returns the sum of the times that the workers have been busy in all calls so far. Busy waiting for each
// other is included.
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

func (t *Team) helpRun() {
	t.runBody(int(t.ids.Add(1)))
	t.wait.Done()
}

func (t *Team) runBody(worker int) {
	start := time.Now()
	t.body(worker)
	t.busy.Add(int64(time.Since(start)))
}

// steps is the position of a worker in a call. Every worker goes through the same steps, each with a number of tasks,
// and does the tasks for which it has tickets. A step starts when all tasks of earlier steps are done. Workers do not
// wait for a worker that has no ticket or has not started.
type steps struct {
	team   *Team
	first  int64 // the step's first ticket
	ticket int64 // the worker's next ticket
	busy   bool  // the ticket's task is running
}

func (t *Team) joinSteps() steps { return steps{team: t, ticket: t.tickets.Add(1) - 1} }

// nextTask returns the worker's next task of the current step, which has n tasks. It returns false if no task is left;
// the next call is then for the next step.
func (s *steps) nextTask(n int) (int, bool) {
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

func alignedSlice[T Float](n int) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	buf := make([]T, n+cacheLine/size)
	off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(buf)))%cacheLine) / size
	return buf[off : off+n : off+n]
}
