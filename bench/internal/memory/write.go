package memory

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
)

func (o *options) writeResults(ctx context.Context, out io.Writer, points []runResult, shop *workshop.Workshop) error {
	var text bytes.Buffer
	o.writeMarkdown(&text, points, shop)
	path := filepath.Join(o.folder, "memory.md")
	if err := results.WriteFile(ctx, path, nil, text.Bytes()); err != nil {
		return err
	}
	if _, err := out.Write(text.Bytes()); err != nil {
		return err
	}
	over, failed := 0, 0
	for _, p := range points {
		if p.isOverLimit() {
			over++
		}
		if p.hasFailed() {
			failed++
		}
	}
	if over+failed > 0 {
		return fmt.Errorf("%d runs were above their limit and %d failed; %s has them", over, failed, path)
	}
	return nil
}

func (o *options) writeMarkdown(w io.Writer, points []runResult, shop *workshop.Workshop) {
	times := ""
	if o.times > 1 {
		times = fmt.Sprintf(", times %v", o.times)
	}
	fmt.Fprintf(w, "# Peak memory at the smallest limit\n\nMade by `%s`.\n\n- machine: %s\n- program: %s\n", o.command, shop.Machine, shop.Version)
	fmt.Fprint(w, "- every run is a process. Asked with a limit of 1 MiB it refuses and names the smallest that is enough; it runs with that"+times+"\n"+
		"- asked: how many limits it named before one was enough; planned: the peak that plan foretells at that limit; measured: the\n"+
		"  peak resident memory of the process (ru_maxrss)\n")
	for _, s := range listMadeShapes(o.share) {
		fmt.Fprintf(w, "- %s: %s, %d × %d\n", s.name, s.about, s.rows, s.columns)
	}
	for i, p := range points {
		if i == 0 || p.table != points[i-1].table {
			fmt.Fprintf(w, "\n## %s\n", p.table)
			results.TableHead(w, []string{"run", "limit MiB", "asked", "planned MiB", "measured MiB", "of limit %", "time"}, 1)
		}
		results.TableRow(w, p.tableCells())
	}
}

func (p runResult) tableCells() []string {
	if p.notDoneReason != "" {
		return []string{p.run + ": " + p.notDoneReason, results.NoFigure, fmt.Sprint(p.limitsNamed), results.NoFigure, results.NoFigure, results.NoFigure, results.NoFigure}
	}
	limit, share, planned := results.NoFigure, results.NoFigure, results.NoFigure
	if p.limit > 0 {
		limit, share = formatMebibytes(p.limit), results.FormatPoints(float64(p.peak)/float64(p.limit))
	}
	if p.plannedPeak > 0 {
		planned = formatMebibytes(p.plannedPeak)
	}
	title := p.run
	if p.isOverLimit() {
		title = "**" + title + ": above its limit**"
	}
	return []string{title, limit, fmt.Sprint(p.limitsNamed), planned, formatMebibytes(p.peak), share, p.wallTime.Round(time.Second / 10).String()}
}
