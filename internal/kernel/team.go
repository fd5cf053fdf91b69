package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Team runs products: it has a number of workers and the packing scratch they share, kept from call to call so that a
// steady state allocates nothing. No goroutine outlives a call. A Team serves one caller at a time; results do not
// depend on its number of workers, not even in the last bit.
type Team struct {
	workers     int
	leastShared int // multiplications from which on workers share a product
	isa         *isa
	f64         products[float64]
	f32         products[float32]
	sparse      sparseProduct
	whole       wholeProduct

	// The current call: every worker runs body, and takes tasks of its steps.
	body    func(worker int)
	ids     atomic.Int64
	tickets atomic.Int64 // tickets handed out so far, over all steps
	done    atomic.Int64 // finished tasks, over all steps
	wait    sync.WaitGroup
	run     func() // t.helpRun, bound once: `go t.run()` allocates nothing

	busy atomic.Int64 // nanoseconds of all workers in all calls
}

// NewTeam returns a team of the given workers; 0 means GOMAXPROCS. From its first product on it holds [TeamBytes].
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

// BusyTime returns the time that the workers have been busy with all calls so far, added up; waiting awake for each other
// counts.
func (t *Team) BusyTime() time.Duration { return time.Duration(t.busy.Load()) }

// runTogether calls body(worker) on the given number of goroutines with numbers from 0, and returns when all calls
// have. The bodies share tasks through [Team.joinSteps].
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

// steps tracks a worker through a call: every worker goes through the same steps, each with a number of tasks, and
// does the tasks it has tickets for. A step starts when all tasks of earlier steps are done; nobody waits for a
// worker without a ticket, or for one that has not started.
type steps struct {
	team   *Team
	first  int64 // the step's first ticket
	ticket int64 // the worker's next ticket
	busy   bool  // the ticket's task is running
}

func (t *Team) joinSteps() steps { return steps{team: t, ticket: t.tickets.Add(1) - 1} }

// nextTask returns the worker's next task of the current step, which has n tasks, or false if none is left: then the
// next call is for the next step.
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
	// Steps last 0.1 to 10 ms: starting and joining goroutines for each cost 5 % of a float32 Gram matrix of 896
	// columns. So workers wait awake, giving way to other goroutines, and sleep only after long.
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

// cacheLine aligns packed panels: a vector that straddles two lines is loaded as two.
const cacheLine = 64

func alignedSlice[T Float](n int) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	buf := make([]T, n+cacheLine/size)
	off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(buf)))%cacheLine) / size
	return buf[off : off+n : off+n]
}
