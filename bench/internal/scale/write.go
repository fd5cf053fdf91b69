package scale

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/paper"
	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
)

func (r *scaleRun) writeSummary(w io.Writer, plots []plot) {
	title := "Scaling"
	if len(r.data) > 0 {
		title = "Scaling on " + r.name
	}
	r.writeHeading(w, title)
	fmt.Fprintf(w, "- wall and cpu are of the whole process; read, accumulate and solve are busy times that overlap (medians).\n"+
		"  Cpu far below wall times threads means that other programs had the cores, or that the method waits\n")
	papersData := r.isEMNIST()
	head := []string{"rows", "columns", "method", "threads", "wall s", "× reading", "rows/s", "read s", "accumulate s", "solve s", "cpu s", "peak MiB"}
	if papersData {
		head = append(head, "the paper's s")
	}
	results.TableHead(w, head, 0)
	for _, m := range r.results {
		cells := []string{shortNumber(m.size.rows), shortNumber(int64(m.size.columns)), m.displayName(), fmt.Sprint(m.threads)}
		cells = append(cells, m.formatSummaryCells()...)
		if papersData {
			cell := results.NoFigure
			if s, ok := paper.EMNISTSeconds(m.method); ok {
				cell = humanize.Commaf(s)
			}
			cells = append(cells, cell)
		}
		results.TableRow(w, cells)
	}
	if papersData {
		fmt.Fprintf(w, "\nThe paper's times are those it prints, on its machine and its E-MNIST of the same size.\n")
	}
	r.writeSkipped(w)
	for _, p := range plots {
		fmt.Fprintf(w, "\n![%s](%s)\n", p.chart.Title, p.file)
	}
}

func (r *scaleRun) writeHeading(w io.Writer, title string) {
	fmt.Fprintf(w, "# %s\n\nMade by `%s`.\n\n- machine: %s\n- program: %s\n", title, r.command, r.shop.Machine, r.shop.Version)
	fmt.Fprintf(w, "- a row is %d processes, if nothing else is said below: median (least–most); the lines behind it are in [%s.txt](%[2]s.txt), for benchstat\n", r.count, r.name)
	fmt.Fprintf(w, "- the yardstick, bare reading, decodes every column through arrow v15's own column readers (`bench/_bareread`)\n"+
		"  and throws the values away; it runs in turn with the methods, on as many threads, and × reading is the ratio\n"+
		"  within a turn. The first reading is not counted, so files come from the page cache where memory allows\n")
}

func (r *scaleRun) writeSkipped(w io.Writer) {
	if len(r.skipped) > 0 {
		fmt.Fprintf(w, "\nLeft out:\n\n")
		for _, s := range r.skipped {
			fmt.Fprintf(w, "- %s\n", s)
		}
	}
}

func (m measuredPoint) formatSummaryCells() []string {
	wall := m.computeSpread(wallSeconds)
	median := func(value func(turnResult) float64) string {
		return results.FormatSeconds(m.computeSpread(value).median)
	}
	times, read, accumulate, solve := results.NoFigure, results.NoFigure, results.NoFigure, results.NoFigure
	if m.method != bareReading {
		if x := m.computeSpread(multipleOfReadTime).median; !math.IsInf(x, 1) {
			times = fmt.Sprintf("%.2f", x)
		}
		read = median(func(t turnResult) float64 { return t.timing.Read })
		accumulate = median(func(t turnResult) float64 { return t.timing.Accumulate })
		solve = median(func(t turnResult) float64 { return t.timing.Solve })
	}
	return []string{
		wall.formatCell(results.FormatSeconds),
		times,
		humanize.SIWithDigits(float64(m.size.rows)/wall.median, 1, ""),
		read, accumulate, solve,
		median(func(t turnResult) float64 { return t.cost.CPU.Seconds() }),
		m.computeSpread(peakMemory).formatCell(func(bytes float64) string { return fmt.Sprintf("%.0f", bytes/(1<<20)) }),
	}
}

func (r *scaleRun) isEMNIST() bool {
	return strings.EqualFold(strings.ReplaceAll(r.name, "-", ""), "emnist")
}

// writeConfig writes the head of a file in Go's benchmark format (golang.org/design/14313-benchmark-format). benchstat
// compares only results with equal keys. So only properties that must be equal are keys, and all others are remarks.
func writeConfig(w io.Writer, shop *workshop.Workshop, command string) {
	fmt.Fprintf(w, "# %s\n# %s\n# machine: %s\n", command, shop.Version, shop.Machine)
	fmt.Fprintf(w, "# Read is the yardstick: every column through arrow v15's own column readers (bench/_bareread),\n"+
		"# a process in the same turn. read-, accumulate- and solve-ns are busy times that overlap.\n")
	fmt.Fprintf(w, "goos: %s\ngoarch: %s\npkg: %s\ncpu: %s\n", runtime.GOOS, runtime.GOARCH, "github.com/ufs-stream/ufs-stream/bench", shop.Machine.CPU)
	fmt.Fprintf(w, "Unit rows/s better=higher\n")
}

// benchmarkName returns the name of the point in Go's benchmark format. The number after the last dash is GOMAXPROCS,
// which --threads sets.
func (p point) benchmarkName() string {
	var b strings.Builder
	switch p.method {
	case bareReading:
		b.WriteString("BenchmarkRead")
	case decoding:
		b.WriteString("BenchmarkDecode")
	case duckDBSum:
		b.WriteString("BenchmarkDuckDB")
	default:
		b.WriteString("BenchmarkSelect")
	}
	if p.data != "" {
		fmt.Fprintf(&b, "/data=%s", p.data)
	}
	if p.runsSelect() {
		fmt.Fprintf(&b, "/method=%s", p.method)
	}
	if p.older {
		b.WriteString("/program=older")
	}
	fmt.Fprintf(&b, "/rows=%s/cols=%s/threads=%d-%d", shortNumber(p.size.rows), shortNumber(int64(p.size.columns)), p.threads, p.threads)
	return b.String()
}

func writeTurn(w io.Writer, p point, t turnResult) {
	wall := t.cost.Wall
	fmt.Fprintf(w, "%s 1 %d ns/op %.6g rows/s %d peak-B %d cpu-ns/op", p.benchmarkName(),
		wall.Nanoseconds(), float64(p.size.rows)/wall.Seconds(), t.cost.Peak, t.cost.CPU.Nanoseconds())
	if p.method != bareReading && t.read > 0 { // 0 if bareread was given up
		fmt.Fprintf(w, " %.4g x-read", multipleOfReadTime(t))
	}
	if p.runsSelect() {
		fmt.Fprintf(w, " %.0f read-ns/op %.0f accumulate-ns/op %.0f solve-ns/op", 1e9*t.timing.Read, 1e9*t.timing.Accumulate, 1e9*t.timing.Solve)
	}
	fmt.Fprintln(w)
}
