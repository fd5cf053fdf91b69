package scale

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

const (
	// Each rate is measured in peakSlices slices of the time peakSlice, 0.2 s in total. The fastest slice counts,
	// because other programs slow down single slices. A slice is long enough for about five products, and so short that
	// some slices run undisturbed even on a busy machine.
	peakSlices, peakSlice = 40, 5 * time.Millisecond
	// A product has peakSide × peakSide entries, each of which is a sum of peakTerms terms. The operands, copies and
	// sums of a float64 product need 3.5 MB, which fits in caches. On a busy machine the rates for sides from 192 to
	// 960 differed only by noise, except that SyrkWhole was 15 % slower at 192 because of the blocks on the diagonal.
	peakSide, peakTerms = 384, 256
)

// peakRates has the rates of some threads together, in operations per second.
type peakRates struct {
	double, single float64 // multiplications and additions of float64 and float32
	whole          float64 // multiplications and additions of whole numbers; 0 if the kernel multiplies these as float64
}

func measurePeak(threads int) peakRates {
	const full = 2 * peakSide * peakSide * peakTerms
	p := peakRates{double: operationRate(threads, full, newFloatProduct[float64]), single: operationRate(threads, full, newFloatProduct[float32])}
	if newWholeProduct() != nil {
		p.whole = operationRate(threads, full/2, newWholeProduct)
	}
	return p
}

func newFloatProduct[T kernel.Float]() func() {
	team := kernel.NewTeam(1)
	x := make([]T, peakSide*peakTerms)
	for i := range x {
		x[i] = T(i%17) - 8
	}
	a := kernel.RowMajor(x, peakSide, peakTerms, peakTerms)
	c := kernel.RowMajor(make([]T, peakSide*peakSide), peakSide, peakSide, peakSide)
	return func() { kernel.Gemm(team, 1, a, a.Trans(), c) }
}

// newWholeProduct returns a function that multiplies matrices of whole numbers and computes only half of the symmetric
// result. It returns nil if the kernel does not support whole numbers.
func newWholeProduct() func() {
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
