package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
)

// farOff is the largest difference, in points, that is not marked.
const farOff = 3

// testedField is the measure that eval's t-test compares.
const testedField = "nmi_sqrt"

// write writes the tables as Markdown.
func (o *paperOptions) write(w io.Writer, host machine, version string, outcomes []outcome) {
	fmt.Fprintf(w, "# The papers' tables\n\n")
	fmt.Fprintf(w, "Made by `%s`, seed %d.\n\n", o.command, o.seed)
	if o.quick {
		fmt.Fprintf(w, "**--quick: 2 runs of one restart. These are no figures to compare.**\n\n")
	}
	fmt.Fprintf(w, "- machine: %s\n- program: %s\n\n", host, version)
	fmt.Fprintf(w, "The papers' own tables could not be had here. \"Reference\" is the figure that could, with a letter for\n"+
		"where it is from; %s means there is none.\n", noFigure)
	for _, s := range usedSources(outcomes) {
		fmt.Fprintf(w, "\n- (%s) %s", s, sources()[s])
	}
	fmt.Fprintf(w, "\n\nScores are in per cent: mean ± standard deviation over the runs. Bold: the best at this number of\n"+
		"selected features, or not significantly worse by eval's t-test, which is on NMI. %s: more than %d points from the reference.\n"+
		"Where %q, which selects nothing, is off as well, the difference is the clustering's, not the selection's.\n", farMark, farOff, allFeatures)
	for _, t := range outcomes {
		t.write(w)
	}
}

const (
	noFigure = "–" // stands in a cell without a figure
	farMark  = "✗" // stands behind a figure that is farOff
)

func (t outcome) write(w io.Writer) {
	fmt.Fprintf(w, "\n## %s\n\n%s\n\n", t.table.title, t.table.about)
	for _, n := range t.notes {
		fmt.Fprintf(w, "- %s\n", n)
	}
	head := []string{"dataset", "features", "method"}
	for _, m := range t.table.measures {
		head = append(head, m.title+": reference", "ours", "difference")
	}
	tableHead(w, append(head, ""), 3)
	var far, compared int
	for _, r := range t.rows {
		cells := []string{r.set.title, r.features(), r.method.title}
		off := ""
		for _, m := range t.table.measures {
			s, have := r.score(m.field)
			mean := float64(s.Mean)
			ours := fmt.Sprintf("%.1f ± %.1f", 100*mean, 100*float64(s.Std))
			if !have {
				ours = noFigure
			} else if r.result.Best != nil && *r.result.Best && m.field == testedField && r.method.title != allFeatures {
				ours = "**" + ours + "**"
			}
			reference, ok := findFigure(t.table.references, r.set.title, r.method.title, m.title, r.count)
			if !ok || !have {
				cells = append(cells, noFigure, ours, noFigure)
				continue
			}
			compared++
			// The figures are compared as printed, so that the reader finds the same difference.
			difference := math.Round(1000*mean)/10 - reference.value
			if math.Abs(difference) > farOff+1e-9 {
				off, far = farMark, far+1
			}
			cells = append(cells, fmt.Sprintf("%.1f (%s)", reference.value, reference.source), ours, fmt.Sprintf("%+.1f", difference))
		}
		tableRow(w, append(cells, off))
	}
	if compared > 0 {
		fmt.Fprintf(w, "\n%d of %d comparisons are within %d points.\n", compared-far, compared, farOff)
	}
	t.writeTimes(w)
}

// writeTimes writes the times and the memory of the selections.
func (t outcome) writeTimes(w io.Writer) {
	fmt.Fprintf(w, "\n### Time of `select`\n\n"+
		"One run each, the whole process. Read, accumulate and solve are busy times of overlapping threads.\n")
	head := []string{"dataset", "rows × features", "method", "wall s", "read s", "accumulate s", "solve s", "cpu s", "peak memory"}
	if len(t.table.referenceSeconds) > 0 {
		head = append(head, "reference s")
	}
	tableHead(w, head, 3)
	for _, r := range t.times {
		cells := []string{
			r.set.title, fmt.Sprintf("%s × %d", humanize.Comma(r.rows), r.set.features), r.method.title,
			seconds(r.cost.Wall.Seconds()), seconds(r.timing.Read), seconds(r.timing.Accumulate), seconds(r.timing.Solve),
			seconds(r.cost.CPU.Seconds()), humanize.IBytes(uint64(r.cost.Peak)),
		}
		if len(t.table.referenceSeconds) > 0 {
			cell := noFigure
			if f, ok := findFigure(t.table.referenceSeconds, r.set.title, r.method.title, "", 0); ok {
				cell = fmt.Sprintf("%s (%s)", humanize.Commaf(f.value), f.source)
			}
			cells = append(cells, cell)
		}
		tableRow(w, cells)
	}
}

// features says how many features are used, as a share and as a number.
func (r paperRow) features() string {
	return fmt.Sprintf("%.0f %% (%d)", 100*float64(r.count)/float64(r.set.features), r.count)
}

// usedSources are the sources of the figures that the tables show.
func usedSources(outcomes []outcome) []source {
	var used []source
	for _, t := range outcomes {
		for _, r := range t.rows {
			for _, f := range slices.Concat(t.table.references, t.table.referenceSeconds) {
				if f.set == r.set.title {
					used = append(used, f.source)
				}
			}
		}
	}
	slices.Sort(used)
	return slices.Compact(used)
}

// tableHead begins a table. The first columns are text and aligned to the left; the
// others are numbers.
func tableHead(w io.Writer, titles []string, textColumns int) {
	fmt.Fprintln(w)
	tableRow(w, titles)
	rule := slices.Repeat([]string{"---"}, len(titles))
	for i := textColumns; i < len(rule); i++ {
		rule[i] = "---:"
	}
	tableRow(w, rule)
}

func tableRow(w io.Writer, cells []string) {
	escaped := make([]string, len(cells))
	for i, c := range cells {
		escaped[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	fmt.Fprintf(w, "| %s |\n", strings.Join(escaped, " | "))
}

// seconds writes a time with about three significant digits and no exponent.
func seconds(s float64) string {
	switch {
	case s >= 100:
		return fmt.Sprintf("%.0f", s)
	case s >= 10:
		return fmt.Sprintf("%.1f", s)
	case s >= 1:
		return fmt.Sprintf("%.2f", s)
	}
	return fmt.Sprintf("%.3f", s)
}
