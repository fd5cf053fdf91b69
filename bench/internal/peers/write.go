package peers

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
)

func (r *run) writeResults(ctx context.Context, out io.Writer) error {
	var text, figures bytes.Buffer
	r.writeMarkdown(&text)
	if err := r.writeCSV(&figures); err != nil {
		return err
	}
	for end, b := range map[string][]byte{".md": text.Bytes(), ".csv": figures.Bytes()} {
		if err := results.WriteFile(ctx, filepath.Join(r.folder, r.name+end), nil, b); err != nil {
			return err
		}
	}
	r.printRemark("wrote %s.md and .csv", filepath.Join(r.folder, r.name))
	_, err := out.Write(text.Bytes())
	return err
}

func (r *run) writeMarkdown(w io.Writer) {
	fmt.Fprintf(w, "# Beside the tools that people use today\n\nMade by `%s`.\n\n- machine: %s\n- program: %s\n- peers: %s\n",
		r.command, r.shop.Machine, r.shop.Version, r.versions)
	fmt.Fprintf(w, "- each row is a process, in turn with the others, on %d threads, within %s and %s of memory; turns: %d, of\n"+
		"  which the median counts. Wall and cpu are of the whole process, start and reading included; peak is its resident memory\n",
		r.threads, r.giveUp, r.memory.String(), r.count)
	fmt.Fprintf(w, "- all select from the same rows, drawn by the seed: ufs-stream from Parquet at its defaults, Python from .npy of %s,\n"+
		"  in scale %s there (--peer-scale), but for variance, which is of the values as they are\n", r.peerType, r.peerScale)
	judged := "the same rows"
	if r.judgeRows > 0 {
		judged = humanize.Comma(r.judgeRows) + " of the rows"
	}
	fmt.Fprintf(w, "- NMI × 100 and ACC × 100: k-means on the chosen columns as they are in the file, in as many clusters as classes, the mean\n"+
		"  (± standard deviation) of %d single starts on %s; explained: share of the sum of squares of all standardized columns in %%. Both\n"+
		"  by `ufs-stream eval` for all\n\n", r.runs, judged)
	for _, p := range allPeers() {
		if slices.ContainsFunc(r.points, func(x peerResult) bool { return x.peer.fullName() == p.fullName() }) {
			fmt.Fprintf(w, "- %s %s: %s\n", p.library, p.method, p.about)
		}
	}
	for i, p := range r.points {
		if i == 0 || p.table != r.points[i-1].table {
			fmt.Fprintf(w, "\n## %s: %d of %d features\n\n", p.table, p.k, p.features)
			for _, sentence := range r.summarySentences(p.table) {
				fmt.Fprintf(w, "%s\n", sentence)
			}
			results.TableHead(w, []string{"library", "method", "rows", "rows/s", "wall s", "cpu s", "peak MiB", "NMI", "ACC", "explained"}, 2)
		}
		results.TableRow(w, p.formatTableCells())
	}
}

func (p peerResult) formatTableCells() []string {
	cells := []string{p.peer.library, p.peer.method, humanize.Comma(p.rows)}
	if p.noChoiceReason != "" {
		return append(cells, results.NoFigure, p.noChoiceReason, results.NoFigure, results.NoFigure, results.NoFigure, results.NoFigure, results.NoFigure)
	}
	took := p.medianTurn()
	nmi := results.FormatPoints(p.nmi)
	if !math.IsNaN(p.nmiStd) {
		nmi += " ± " + results.FormatPoints(p.nmiStd)
	}
	return append(cells, humanize.Comma(int64(float64(p.rows)/took.Wall.Seconds())), results.FormatSeconds(took.Wall.Seconds()), results.FormatSeconds(took.CPU.Seconds()), fmt.Sprintf("%.0f", toMebibytes(took.Peak)),
		nmi, results.FormatPoints(p.acc), results.FormatPoints(p.explained))
}

func toMebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// medianTurn returns the cost of the turn with the median wall time, but with the largest peak of all turns. If the
// number of turns is even, it uses the shorter of the two turns in the middle.
func (p peerResult) medianTurn() workshop.Cost {
	turns := slices.SortedFunc(slices.Values(p.turns), func(a, b workshop.Cost) int { return int(a.Wall - b.Wall) })
	took := turns[(len(turns)-1)/2]
	for _, t := range turns {
		took.Peak = max(took.Peak, t.Peak)
	}
	return took
}

// summarySentences returns two sentences about the largest sample of a table: one about the costs, and one about the
// best choices. It returns nothing if only ufs-stream or only Python was measured.
func (r *run) summarySentences(table string) []string {
	maxRows, all := int64(0), math.NaN()
	for _, p := range r.points {
		if p.table == table && p.rows >= maxRows {
			maxRows, all = p.rows, p.allNMI
		}
	}
	var sentences, costs, best []string
	for _, library := range []string{sklearnLibrary, denseLibrary, ourLibrary} { // the libraries with several methods
		var done []peerResult
		tried := 0
		for _, p := range r.points {
			if p.table == table && p.rows == maxRows && p.peer.library == library {
				tried++
				if p.noChoiceReason == "" {
					done = append(done, p)
				}
			}
		}
		if tried == 0 {
			continue
		}
		if len(done) == 0 {
			costs = append(costs, fmt.Sprintf("%s finished none of its %d", library, tried))
			continue
		}
		var wall []time.Duration
		var peaks []int64
		for _, p := range done {
			wall, peaks = append(wall, p.medianTurn().Wall), append(peaks, p.medianTurn().Peak)
		}
		costs = append(costs, fmt.Sprintf("%s finished %d of %d in %s–%s s and %.0f–%.0f MiB", library, len(done), tried,
			results.FormatSeconds(slices.Min(wall).Seconds()), results.FormatSeconds(slices.Max(wall).Seconds()), toMebibytes(slices.Min(peaks)), toMebibytes(slices.Max(peaks))))
		top := func(value func(peerResult) float64) peerResult {
			return slices.MaxFunc(done, func(a, b peerResult) int { return int(math.Copysign(1, value(a)-value(b))) })
		}
		nmi, explained := top(func(p peerResult) float64 { return p.nmi }), top(func(p peerResult) float64 { return p.explained })
		best = append(best, fmt.Sprintf("%s's best NMI × 100 is %s (%s) and best share explained %s %% (%s)",
			library, results.FormatPoints(nmi.nmi), nmi.peer.method, results.FormatPoints(explained.explained), explained.peer.method))
	}
	if len(best) > 1 {
		best = append(best, "on all features k-means has "+results.FormatPoints(all))
	}
	for _, list := range [][]string{costs, best} {
		if len(list) > 1 {
			sentences = append(sentences, fmt.Sprintf("At %s rows %s.", humanize.Comma(maxRows), strings.Join(list, "; ")))
		}
	}
	return sentences
}

func (r *run) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	lines := [][]string{{"table", "features", "k", "library", "method", "rows", "turns", "wall_seconds", "cpu_seconds", "peak_bytes",
		"nmi", "nmi_std", "acc", "explained", "ended"}}
	cell := func(v float64) string {
		if math.IsNaN(v) {
			return ""
		}
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	for _, p := range r.points {
		line := []string{p.table, strconv.Itoa(p.features), strconv.Itoa(p.k), p.peer.library, p.peer.method, strconv.FormatInt(p.rows, 10), strconv.Itoa(len(p.turns))}
		if p.noChoiceReason == "" {
			took := p.medianTurn()
			line = append(line, cell(took.Wall.Seconds()), cell(took.CPU.Seconds()), strconv.FormatInt(took.Peak, 10))
		} else {
			line = append(line, "", "", "")
		}
		lines = append(lines, append(line, cell(p.nmi), cell(p.nmiStd), cell(p.acc), cell(p.explained), p.noChoiceReason))
	}
	return c.WriteAll(lines)
}
