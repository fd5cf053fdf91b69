package scale

import (
	"fmt"
	"io"
	"math"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
)

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

func formatGiga(operations float64) string {
	if operations == 0 {
		return results.NoFigure
	}
	return results.FormatSeconds(operations / 1e9)
}

func formatShare(part, whole float64) string {
	if part == 0 || whole == 0 {
		return results.NoFigure
	}
	return fmt.Sprintf("%.1f %%", 100*part/whole)
}
