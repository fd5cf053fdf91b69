package scale

import (
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
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

func operationRate(threads int, operationsPerCall float64, prepare func() func()) (best float64) {
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
		best = max(best, operationsPerCall*float64(done.Load())/time.Since(start).Seconds())
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

func (r *speedRun) writeSpeedSummary(w io.Writer) {
	r.writeHeading(w, "Speed")
	fmt.Fprintf(w, "- our decoding reads the same files as ufs-stream does (`bench/_decode`): every column of numbers as float64, in\n"+
		"  chunks of rows, checked for values that are not finite, and throws them away\n")
	if r.duckDBVersion != "" {
		fmt.Fprintf(w, "- DuckDB's sum is SELECT sum(COLUMNS(*)) of all columns but the label by DuckDB %s, its start included\n", r.duckDBVersion)
	}
	fmt.Fprintf(w, "- the peak is measured in the same run, before the turns: each thread multiplies blocks of its own that\n"+
		"  caches hold, for 0.2 s a type in short slices, of which the fastest counts. Other programs that\n"+
		"  have cores all that time lower it, and the load above tells of them\n")
	fmt.Fprintf(w, "- GFLOP counts the large products in full, for n rows, d features, m = %d anchors, s = min(n, %d) sampled\n"+
		"  rows and c = %d clusters: greedy n·d², sfufs and graphgreedy 2·n·m·d + n·d², eufs 2·s²·d + %d·8·s·d·c; variance\n"+
		"  has none\n", r.anchors, eufsSample, eufsClusters, eufsIterations)
	fmt.Fprintf(w, "- GFLOP/s divides them by the wall time of the whole process, reading and solving included; the shares divide\n"+
		"  this by the peak on as many threads. A share above 100 %% means that products were done in a faster type, or\n"+
		"  in part spared\n")
	results.TableHead(w, []string{"threads", "peak of float64, GFLOP/s", "of float32", "of whole numbers"}, 0)
	for _, threads := range r.threadCounts {
		p := r.peaks[int(threads)]
		results.TableRow(w, []string{fmt.Sprint(threads), formatGiga(p.double), formatGiga(p.single), formatGiga(p.whole)})
	}
	head := []string{"data", "rows", "columns", "method", "threads", "wall s", "× reading", "cpu s", "GFLOP", "GFLOP/s", "of float64", "of float32", "of whole"}
	results.TableHead(w, head, 1)
	for _, m := range r.results {
		results.TableRow(w, m.formatSpeedCells(r.peaks[m.threads], countOperations(m.method, m.size, r.anchors)))
	}
	r.writeSkipped(w)
}

func (m measuredPoint) formatSpeedCells(p peakRates, operations float64) []string {
	perSecond := m.computeSpread(func(t turnResult) float64 { return operations / t.cost.Wall.Seconds() }).median
	times := results.NoFigure
	if x := m.computeSpread(multipleOfReadTime); m.method != bareReading && !math.IsInf(x.high, 1) {
		times = x.formatCell(func(v float64) string { return fmt.Sprintf("%.2f", v) })
	}
	return []string{
		m.data, shortNumber(m.size.rows), shortNumber(int64(m.size.columns)), m.displayName(), fmt.Sprint(m.threads),
		m.computeSpread(wallSeconds).formatCell(results.FormatSeconds), times,
		results.FormatSeconds(m.computeSpread(func(t turnResult) float64 { return t.cost.CPU.Seconds() }).median),
		formatGiga(operations), formatGiga(perSecond), formatShare(perSecond, p.double), formatShare(perSecond, p.single), formatShare(perSecond, p.whole),
	}
}

func formatGiga(operationsPerSecond float64) string {
	if operationsPerSecond == 0 {
		return results.NoFigure
	}
	return results.FormatSeconds(operationsPerSecond / 1e9)
}

func formatShare(part, whole float64) string {
	if part == 0 || whole == 0 {
		return results.NoFigure
	}
	return fmt.Sprintf("%.1f %%", 100*part/whole)
}
