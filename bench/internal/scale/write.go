package scale

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/paper"
	"github.com/ufs-stream/ufs-stream/bench/internal/results"
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
	fmt.Fprintf(w, "# %s\n\nMade by `%s`.\n\n- machine: %s\n- program: %s\n", title, r.command, r.host, r.shop.Version)
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
