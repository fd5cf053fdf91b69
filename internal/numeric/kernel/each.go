package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Each calls fn(0) … fn(n-1) on up to `workers` goroutines (0 means GOMAXPROCS), and returns after all calls have
// returned. Calls start in ascending order, so the most expensive one should be fn(0). fn must not rely on the order.
// Each returns the sum of the goroutines' busy times.
func Each(workers, n int, fn func(i int)) (busy time.Duration) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, n)
	if workers <= 1 {
		start := time.Now()
		for i := range n {
			fn(i)
		}
		return time.Since(start)
	}
	var next, spent atomic.Int64
	work := func() {
		start := time.Now()
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			fn(i)
		}
		spent.Add(int64(time.Since(start)))
	}
	var wg sync.WaitGroup
	for range workers - 1 { // the caller is a worker too
		wg.Go(work)
	}
	work()
	wg.Wait()
	return time.Duration(spent.Load())
}
