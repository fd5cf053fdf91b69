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

type plot struct {
	file  string
	chart report.Chart
}

func (r *scaleRun) makePlots() []plot {
	threads := int(slices.Max(r.threadCounts))
	results := slices.DeleteFunc(slices.Clone(r.results), func(m measuredPoint) bool { return m.threads != threads })
	rowsOf := func(m measuredPoint) float64 { return float64(m.size.rows) }
	columnsOf := func(m measuredPoint) float64 { return float64(m.size.columns) }
	columnsLabel := func(m measuredPoint) string {
		return fmt.Sprintf("%s, %s columns", m.displayName(), shortNumber(int64(m.size.columns)))
	}
	rowsLabel := func(m measuredPoint) string {
		return fmt.Sprintf("%s, %s rows", m.displayName(), shortNumber(m.size.rows))
	}
	wall := func(m measuredPoint) spread { return m.computeSpread(wallSeconds) }
	memory := func(m measuredPoint) spread {
		s := m.computeSpread(peakMemory)
		return spread{s.median / (1 << 20), s.low / (1 << 20), s.high / (1 << 20)}
	}
	onThreads := fmt.Sprintf("%d threads", threads)
	all := []plot{
		{"time-rows", report.Chart{Title: "Time over rows, " + onThreads, XLabel: "rows", YLabel: "seconds", Series: chartLines(results, columnsLabel, rowsOf, wall)}},
		{"memory-rows", report.Chart{Title: "Peak memory over rows, " + onThreads, XLabel: "rows", YLabel: "MiB", Series: chartLines(results, columnsLabel, rowsOf, memory)}},
		{"time-columns", report.Chart{Title: "Time over columns, " + onThreads, XLabel: "columns", YLabel: "seconds", Series: chartLines(results, rowsLabel, columnsOf, wall)}},
		{"memory-columns", report.Chart{Title: "Peak memory over columns, " + onThreads, XLabel: "columns", YLabel: "MiB", Series: chartLines(results, rowsLabel, columnsOf, memory)}},
		r.makeSpeedUpPlot(),
	}
	all = slices.DeleteFunc(all, func(p plot) bool { return len(p.chart.Series) == 0 })
	for i := range all {
		all[i].file = r.name + "-" + all[i].file + ".svg"
		all[i].chart.LogX, all[i].chart.LogY, all[i].chart.WholeX = true, true, true
	}
	return all
}

func (r *scaleRun) makeSpeedUpPlot() plot {
	p := plot{file: "speedup-threads"}
	if len(r.results) == 0 {
		return p
	}
	largest := r.results[len(r.results)-1].size
	onOneThread := map[string]float64{}
	var points []measuredPoint
	for _, m := range r.results {
		if m.size != largest {
			continue
		}
		points = append(points, m)
		if m.threads == 1 {
			onOneThread[m.method] = m.computeSpread(wallSeconds).median
		}
	}
	points = slices.DeleteFunc(points, func(m measuredPoint) bool { return onOneThread[m.method] == 0 })
	p.chart = report.Chart{
		Title: "Speed-up over threads, " + largest.String(), XLabel: "threads", YLabel: "times as fast as one",
		Series: chartLines(points, measuredPoint.displayName,
			func(m measuredPoint) float64 { return float64(m.threads) },
			func(m measuredPoint) spread {
				s := m.computeSpread(wallSeconds)
				return spread{onOneThread[m.method] / s.median, onOneThread[m.method] / s.high, onOneThread[m.method] / s.low}
			}),
	}
	return p
}

func (m measuredPoint) displayName() string {
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
	if m.older {
		title += " (older)"
	}
	return title
}

func chartLines(points []measuredPoint, label func(measuredPoint) string, x func(measuredPoint) float64, y func(measuredPoint) spread) []report.Series {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b measuredPoint) int { return int(x(a) - x(b)) })
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

func (r *scaleRun) writeResults(ctx context.Context) error {
	plots := r.makePlots()
	for _, p := range plots {
		var svg bytes.Buffer
		if err := p.chart.WriteSVG(&svg); err != nil {
			return fmt.Errorf("%s: %w", p.file, err)
		}
		if err := results.WriteFile(ctx, filepath.Join(r.folder, p.file), nil, svg.Bytes()); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	r.writeSummary(&text, plots)
	return r.writeLinesAndSummary(ctx, text.Bytes())
}

func (r *scaleRun) writeLinesAndSummary(ctx context.Context, summary []byte) error {
	if err := results.WriteFile(ctx, filepath.Join(r.folder, r.name+".txt"), nil, r.lines.Bytes()); err != nil {
		return err
	}
	return results.WriteFile(ctx, filepath.Join(r.folder, r.name+".md"), nil, summary)
}
