package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Team is what a product runs on: a number of workers and the packing scratch they
// share, kept from call to call so that a steady state allocates nothing. No
// goroutine outlives a call. A Team serves one caller at a time; results do not
// depend on its number of workers, not even in the last bit.
type Team struct {
	workers int
	alone   int // multiplications below which one worker does a product
	isa     *isa
	f64     products[float64]
	f32     products[float32]
	sparse  sparseProduct

	// A call under way: every worker runs body, and the steps of body together.
	body    func(worker int)
	running int // workers of this call
	next    atomic.Int64
	arrived atomic.Int64
	step    atomic.Int64
	ids     atomic.Int64
	wait    sync.WaitGroup
	run     func() // t.help, bound once: `go t.run()` allocates nothing
}

// NewTeam returns a team of that many workers; 0 means GOMAXPROCS. It holds nothing
// until its first product, and at most [TeamBytes] after.
func NewTeam(workers int) *Team { return newTeam(workers, best) }

func newTeam(workers int, path *isa) *Team {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	t := &Team{workers: workers, alone: alone, isa: path}
	t.run = t.help
	t.f64.init(t, &path.f64)
	t.f32.init(t, &path.f32)
	t.sparse.init(t)
	return t
}

// Workers is the number of workers the team was made with.
func (t *Team) Workers() int { return t.workers }

// together calls body(worker) on that many goroutines with numbers from 0, and returns
// when all calls have.
func (t *Team) together(workers int, body func(worker int)) {
	t.body, t.running = body, workers
	t.ids.Store(0)
	t.wait.Add(workers - 1)
	for range workers - 1 {
		go t.run()
	}
	body(0) // the caller is a worker too
	t.wait.Wait()
	t.body = nil
}

func (t *Team) help() {
	t.body(int(t.ids.Add(1)))
	t.wait.Done()
}

// take hands out the tasks 0 … n-1 of a step, ascending, and then n or more.
func (t *Team) take() int { return int(t.next.Add(1)) - 1 }

// barrier ends a step: it returns once every worker has come here.
//
// The steps of a product last 0.1 to 10 ms, and end within a task of each other: to
// start and join goroutines for each cost 5 % of a float32 Gram matrix of 896 columns.
// So workers wait awake, giving way to other goroutines; who waits long sleeps.
func (t *Team) barrier() {
	step := t.step.Load()
	if int(t.arrived.Add(1)) == t.running {
		t.arrived.Store(0)
		t.next.Store(0)
		t.step.Add(1)
		return
	}
	const awake, yields = 64, 512
	for spins := 1; t.step.Load() == step; spins++ {
		switch {
		case spins > awake*yields:
			time.Sleep(20 * time.Microsecond)
		case spins%awake == 0:
			runtime.Gosched()
		}
	}
}

// cacheLine is what packed panels are aligned to: a vector that straddles two lines
// is loaded as two.
const cacheLine = 64

// aligned returns n values from the start of a cache line on.
func aligned[T Float](n int) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	buf := make([]T, n+cacheLine/size)
	off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(buf)))%cacheLine) / size
	return buf[off : off+n : off+n]
}
