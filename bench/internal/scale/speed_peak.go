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
	// Each rate is measured for 0.2 s in time slices. The fastest slice counts, because other programs slow single
	// slices down. A slice has about five products. It is so short that some slices run undisturbed even on a busy
	// machine.
	peakSlices, peakSlice = 40, 5 * time.Millisecond
	// A product has peakSide × peakSide entries, each a sum of peakTerms terms. Operands, panels and sum of a float64
	// product need 3.5 MB, which fits in caches. On a busy machine, rates for sides from 192 to 960 differed only by
	// noise, except that SyrkWhole was 15 % slower at 192 because of the tiles on the diagonal.
	peakSide, peakTerms = 384, 256
)

// peakRates has the joint rates of some threads, in operations per second.
type peakRates struct {
	double, single float64 // multiplications and additions of float64 and float32
	whole          float64 // multiplications and additions of whole numbers; 0 if the kernel uses float64 for them
}

// measurePeak lets every thread multiply its own blocks, so that threads do not wait for each other.
func measurePeak(threads int) peakRates {
	const full = 2 * peakSide * peakSide * peakTerms
	p := peakRates{double: operationRate(threads, full, floatProduct[float64]), single: operationRate(threads, full, floatProduct[float32])}
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

// wholeProduct returns a function that multiplies whole numbers, and computes only half of the symmetric result. It
// returns nil if the kernel does not support whole numbers.
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
		start := time.Now() // one start for all threads, so that waiting for a core counts too
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

func (p peakRates) writeLines(w io.Writer, threads int) {
	fmt.Fprintf(w, "BenchmarkPeak/type=float64/threads=%d-%[1]d 1 %.6g GFLOP/s\n", threads, p.double/1e9)
	fmt.Fprintf(w, "BenchmarkPeak/type=float32/threads=%d-%[1]d 1 %.6g GFLOP/s\n", threads, p.single/1e9)
	if p.whole > 0 {
		fmt.Fprintf(w, "BenchmarkPeak/type=whole/threads=%d-%[1]d 1 %.6g GFLOP/s\n", threads, p.whole/1e9)
	}
}
