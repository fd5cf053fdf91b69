package scale

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

const (
	// Each rate is measured for 0.2 s in slices, and the fastest counts, because other programs slow single
	// slices down. A slice has some five products, and is short enough for some to run undisturbed on a busy
	// machine.
	peakSlices, peakSlice = 40, 5 * time.Millisecond
	// A product is side × side with terms terms. Operands, panels and sum of a float64 product are 3.5 MB,
	// which caches hold. On a busy machine sides of 192 to 960 gave rates that differ by its noise only, except
	// that SyrkWhole loses 15 % at 192, to the tiles on the diagonal.
	peakSide, peakTerms = 384, 256
)

// peak is the joint rate of some threads, in operations per second.
type peak struct {
	double, single float64 // multiplications and additions of float64 and float32
	whole          float64 // of whole numbers; 0 if the kernel multiplies them as float64
}

// measurePeak lets every thread multiply its own blocks, so that none waits for another.
func measurePeak(threads int) peak {
	const full = 2 * peakSide * peakSide * peakTerms
	p := peak{double: operationRate(threads, full, floatProduct[float64]), single: operationRate(threads, full, floatProduct[float32])}
	if wholeProduct() != nil {
		p.whole = operationRate(threads, full/2, wholeProduct)
	}
	return p
}

func floatProduct[T kernel.Float]() func() {
	team := kernel.NewTeam(1)
	x := make([]T, peakSide*peakTerms)
	for i := range x {
		x[i] = T(i%17) - 8
	}
	a := kernel.RowMajor(x, peakSide, peakTerms, peakTerms)
	c := kernel.RowMajor(make([]T, peakSide*peakSide), peakSide, peakSide, peakSide)
	return func() { kernel.Gemm(team, 1, a, a.Trans(), c) }
}

// wholeProduct prepares a product of whole numbers, which computes only half, by symmetry; it is nil if the
// kernel has none.
func wholeProduct() func() {
	team := kernel.NewTeam(1)
	x, whole := make([]float64, peakSide*peakTerms), make([]int16, peakSide*peakTerms)
	for i := range x {
		x[i] = float64(i%17) - 8
	}
	if ok, _ := kernel.ToWholes(x, whole); !ok {
		return nil
	}
	c := kernel.RowMajor(make([]float64, peakSide*peakSide), peakSide, peakSide, peakSide)
	return func() { kernel.SyrkWhole(team, whole, peakSide, peakTerms, peakTerms, nil, c) }
}

// operationRate returns the operations per second of threads that each repeat a product made by prepare.
func operationRate(threads int, operations float64, prepare func() func()) (best float64) {
	products := make([]func(), threads)
	for i := range products {
		products[i] = prepare()
		products[i]() // allocates the scratch memory
	}
	for range peakSlices {
		var done atomic.Int64
		var running sync.WaitGroup
		start := time.Now() // for all: a thread that waits for a core does nothing meanwhile
		for _, product := range products {
			running.Go(func() {
				for time.Since(start) < peakSlice {
					product()
					done.Add(1)
				}
			})
		}
		running.Wait()
		best = max(best, operations*float64(done.Load())/time.Since(start).Seconds())
	}
	return best
}

func (p peak) writeLines(w io.Writer, threads int) {
	fmt.Fprintf(w, "BenchmarkPeak/type=float64/threads=%d-%[1]d 1 %.6g GFLOP/s\n", threads, p.double/1e9)
	fmt.Fprintf(w, "BenchmarkPeak/type=float32/threads=%d-%[1]d 1 %.6g GFLOP/s\n", threads, p.single/1e9)
	if p.whole > 0 {
		fmt.Fprintf(w, "BenchmarkPeak/type=whole/threads=%d-%[1]d 1 %.6g GFLOP/s\n", threads, p.whole/1e9)
	}
}
