package scale

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/report"
)

// plot is a chart and its file name.
type plot struct {
	file  string
	chart report.Chart
}

// plots makes the charts that have lines.
func (r *scaleRun) plots() []plot {
	threads := int(slices.Max(r.threadCounts))
	results := slices.DeleteFunc(slices.Clone(r.results), func(m measured) bool { return m.threads != threads })
	rowsOf := func(m measured) float64 { return float64(m.size.rows) }
	columnsOf := func(m measured) float64 { return float64(m.size.columns) }
	columnsLabel := func(m measured) string { return fmt.Sprintf("%s, %s columns", m.title(), short(int64(m.size.columns))) }
	rowsLabel := func(m measured) string { return fmt.Sprintf("%s, %s rows", m.title(), short(m.size.rows)) }
	wall := func(m measured) spread { return m.spread(wallSeconds) }
	memory := func(m measured) spread {
		s := m.spread(peakMemory)
		return spread{s.median / (1 << 20), s.low / (1 << 20), s.high / (1 << 20)}
	}
	onThreads := fmt.Sprintf("%d threads", threads)
	all := []plot{
		{"time-rows", report.Chart{Title: "Time over rows, " + onThreads, XLabel: "rows", YLabel: "seconds", Series: lines(results, columnsLabel, rowsOf, wall)}},
		{"memory-rows", report.Chart{Title: "Peak memory over rows, " + onThreads, XLabel: "rows", YLabel: "MiB", Series: lines(results, columnsLabel, rowsOf, memory)}},
		{"time-columns", report.Chart{Title: "Time over columns, " + onThreads, XLabel: "columns", YLabel: "seconds", Series: lines(results, rowsLabel, columnsOf, wall)}},
		{"memory-columns", report.Chart{Title: "Peak memory over columns, " + onThreads, XLabel: "columns", YLabel: "MiB", Series: lines(results, rowsLabel, columnsOf, memory)}},
		r.speedUp(),
	}
	all = slices.DeleteFunc(all, func(p plot) bool { return len(p.chart.Series) == 0 })
	for i := range all {
		all[i].file = r.name + "-" + all[i].file + ".svg"
		all[i].chart.LogX, all[i].chart.LogY, all[i].chart.WholeX = true, true, true
	}
	return all
}

// speedUp plots the time on one thread divided by the time on several, at the largest size.
func (r *scaleRun) speedUp() plot {
	p := plot{file: "speedup-threads"}
	if len(r.results) == 0 {
		return p
	}
	largest := r.results[len(r.results)-1].size
	onOneThread := map[string]float64{}
	var points []measured
	for _, m := range r.results {
		if m.size != largest {
			continue
		}
		points = append(points, m)
		if m.threads == 1 {
			onOneThread[m.method] = m.spread(wallSeconds).median
		}
	}
	points = slices.DeleteFunc(points, func(m measured) bool { return onOneThread[m.method] == 0 })
	p.chart = report.Chart{
		Title: "Speed-up over threads, " + largest.String(), XLabel: "threads", YLabel: "times as fast as one",
		Series: lines(points, measured.title,
			func(m measured) float64 { return float64(m.threads) },
			func(m measured) spread {
				s := m.spread(wallSeconds)
				return spread{onOneThread[m.method] / s.median, onOneThread[m.method] / s.high, onOneThread[m.method] / s.low}
			}),
	}
	return p
}

func (m measured) title() string {
	title := m.method
	switch m.method {
	case bareReading:
		title = "bare reading"
	case decoding:
		title = "our decoding"
	case duckDBSum:
		title = "DuckDB's sum"
	}
	if m.data == sparseName {
		title += " (sparse)"
	}
	return title
}

// lines makes a line of the points with the same label, in the order of x. Lines of one
// point are left out.
func lines(points []measured, label func(measured) string, x func(measured) float64, y func(measured) spread) []report.Series {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b measured) int { return int(x(a) - x(b)) })
	var all []report.Series
	for _, m := range sorted {
		name := label(m)
		i := slices.IndexFunc(all, func(s report.Series) bool { return s.Name == name })
		if i < 0 {
			i = len(all)
			all = append(all, report.Series{Name: name})
		}
		s := y(m)
		l := &all[i]
		l.X, l.Y, l.Low, l.High = append(l.X, x(m)), append(l.Y, s.median), append(l.Low, s.low), append(l.High, s.high)
	}
	return slices.DeleteFunc(all, func(s report.Series) bool { return len(s.X) < 2 })
}

// write writes the results: the benchmark lines, the summary and the plots.
func (r *scaleRun) write(ctx context.Context) error {
	plots := r.plots()
	for _, p := range plots {
		var svg bytes.Buffer
		if err := p.chart.WriteSVG(&svg); err != nil {
			return fmt.Errorf("%s: %w", p.file, err)
		}
		if err := results.Write(ctx, filepath.Join(r.folder, p.file), nil, svg.Bytes()); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	r.summary(&text, plots)
	return r.writeLinesAnd(ctx, text.Bytes())
}

// writeLinesAnd writes the benchmark lines and the summary of them.
func (r *scaleRun) writeLinesAnd(ctx context.Context, summary []byte) error {
	if err := results.Write(ctx, filepath.Join(r.folder, r.name+".txt"), nil, r.lines.Bytes()); err != nil {
		return err
	}
	return results.Write(ctx, filepath.Join(r.folder, r.name+".md"), nil, summary)
}
