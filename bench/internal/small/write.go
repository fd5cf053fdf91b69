package small

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
)

func medianOf(x []time.Duration) time.Duration {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

func (m measured) perThing(start time.Duration) time.Duration {
	return max(medianOf(m.ours)-start-2*medianOf(m.bare), 0) / time.Duration(m.things)
}

func (r *smallRun) writeResults(ctx context.Context, out io.Writer, start measured, cases []measured) error {
	var text bytes.Buffer
	r.writeMarkdown(&text, start, cases)
	if err := results.WriteFile(ctx, filepath.Join(r.folder, "small.md"), nil, text.Bytes()); err != nil {
		return err
	}
	_, err := out.Write(text.Bytes())
	return err
}

func (r *smallRun) writeMarkdown(w io.Writer, start measured, cases []measured) {
	fmt.Fprintf(w, "# Costs of small things\n\nMade by `%s`.\n\n- machine: %s\n- program: %s\n", r.command, r.shop.Machine, r.shop.Version)
	fmt.Fprintf(w, "- every figure is the median cpu time of %d processes on one thread; `select --method %s` and bare reading\n"+
		"  (`bench/_bareread`) take turns. Bare reading decodes Parquet through arrow v15's column readers, CSV through\n"+
		"  encoding/csv and strconv, and .npy.gz through compress/gzip\n", r.count, r.method)
	fmt.Fprintf(w, "- where a condition keeps 1 %% of the row groups, bare reading has a table of these alone\n")
	fmt.Fprintf(w, "- beyond: the cpu time of a thing after the start, %s s, and two bare readings are subtracted\n", results.FormatSeconds(medianOf(start.ours).Seconds()))
	results.TableHead(w, []string{"case", "things", "rows", "columns", "bare reading s", "select s", "× reading", "µs a thing beyond", "peak MiB"}, 1)
	for _, m := range cases {
		ours, bare := medianOf(m.ours).Seconds(), medianOf(m.bare).Seconds()
		results.TableRow(w, []string{
			m.name, humanize.Comma(m.things), humanize.Comma(m.table.files * m.table.rows), humanize.Comma(m.table.columns),
			results.FormatSeconds(bare), results.FormatSeconds(ours), fmt.Sprintf("%.2f", ours/bare),
			fmt.Sprintf("%.1f", float64(m.perThing(medianOf(start.ours)).Nanoseconds())/1e3), fmt.Sprintf("%.0f", float64(m.peak)/(1<<20)),
		})
	}
}
