package paper

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
)

// maxUnmarked is the largest difference, in points, that farMark does not mark.
const maxUnmarked = 3

// testedField is the score whose means eval compares by t-tests.
const testedField = "nmi_sqrt"

func (o *options) writeTables(w io.Writer, shop *workshop.Workshop, outcomes []outcome) {
	fmt.Fprintf(w, "# The papers' tables\n\n")
	fmt.Fprintf(w, "Made by `%s`, seed %d.\n\n", o.command, o.seed)
	if o.quick {
		fmt.Fprintf(w, "**--quick: 2 runs of one restart. These are no figures to compare.**\n\n")
	}
	fmt.Fprintf(w, "- machine: %s\n- program: %s\n\n", shop.Machine, shop.Version)
	fmt.Fprintf(w, "The papers' own tables could not be had here. \"Reference\" is the figure that could, with a letter for\n"+
		"where it is from; %s means there is none.\n", results.NoFigure)
	for _, s := range usedSources(outcomes) {
		fmt.Fprintf(w, "\n- (%s) %s", s, sourceNotes()[s])
	}
	fmt.Fprintf(w, "\n\nScores are in per cent: mean ± standard deviation over the runs. Bold: the best at this number of\n"+
		"selected features, or not significantly worse by eval's t-test, which is on NMI. %s: more than %d points from the reference.\n"+
		"Where %q, which selects nothing, is off as well, the difference is the clustering's, not the selection's.\n", farMark, maxUnmarked, allFeatures)
	for _, t := range outcomes {
		t.writeTable(w)
	}
}

// farMark marks a difference larger than maxUnmarked.
const farMark = "✗"

func (t outcome) writeTable(w io.Writer) {
	fmt.Fprintf(w, "\n## %s\n\n%s\n\n", t.table.title, t.table.about)
	for _, n := range t.notes {
		fmt.Fprintf(w, "- %s\n", n)
	}
	head := []string{"dataset", "features", "method"}
	for _, m := range t.table.measures {
		head = append(head, m.title+": reference", "ours", "difference")
	}
	results.TableHead(w, append(head, ""), 3)
	var farCount, compared int
	for _, r := range t.rows {
		cells := []string{r.set.title, r.featureShare(), r.method.title}
		off := ""
		for _, m := range t.table.measures {
			s, have := r.scoreOf(m.field)
			mean := float64(s.Mean)
			ours := fmt.Sprintf("%.1f ± %.1f", 100*mean, 100*float64(s.Std))
			if !have {
				ours = results.NoFigure
			} else if r.result.Best != nil && *r.result.Best && m.field == testedField && r.method.title != allFeatures {
				ours = "**" + ours + "**"
			}
			reference, ok := findFigure(t.table.references, r.set.title, r.method.title, m.title, r.count)
			if !ok || !have {
				cells = append(cells, results.NoFigure, ours, results.NoFigure)
				continue
			}
			compared++
			// Round our figure first, so that the difference agrees with the figures as they are written.
			difference := math.Round(1000*mean)/10 - reference.value
			if math.Abs(difference) > maxUnmarked+1e-9 {
				off, farCount = farMark, farCount+1
			}
			cells = append(cells, fmt.Sprintf("%.1f (%s)", reference.value, reference.source), ours, fmt.Sprintf("%+.1f", difference))
		}
		results.TableRow(w, append(cells, off))
	}
	if compared > 0 {
		fmt.Fprintf(w, "\n%d of %d comparisons are within %d points.\n", compared-farCount, compared, maxUnmarked)
	}
	t.writeTimes(w)
}

func (t outcome) writeTimes(w io.Writer) {
	fmt.Fprintf(w, "\n### Time of `select`\n\n"+
		"One run each, the whole process. Read, accumulate and solve are busy times of overlapping threads.\n")
	head := []string{"dataset", "rows × features", "method", "wall s", "read s", "accumulate s", "solve s", "cpu s", "peak memory"}
	if len(t.table.referenceSeconds) > 0 {
		head = append(head, "reference s")
	}
	results.TableHead(w, head, 3)
	for _, r := range t.times {
		cells := []string{
			r.set.title, fmt.Sprintf("%s × %d", humanize.Comma(r.rows), r.set.features), r.method.title,
			results.FormatSeconds(r.cost.Wall.Seconds()), results.FormatSeconds(r.timing.Read), results.FormatSeconds(r.timing.Accumulate), results.FormatSeconds(r.timing.Solve),
			results.FormatSeconds(r.cost.CPU.Seconds()), humanize.IBytes(uint64(r.cost.Peak)),
		}
		if len(t.table.referenceSeconds) > 0 {
			cell := results.NoFigure
			if f, ok := findFigure(t.table.referenceSeconds, r.set.title, r.method.title, "", 0); ok {
				cell = fmt.Sprintf("%s (%s)", humanize.Commaf(f.value), f.source)
			}
			cells = append(cells, cell)
		}
		results.TableRow(w, cells)
	}
}

func (r row) featureShare() string {
	return fmt.Sprintf("%.0f %% (%d)", 100*float64(r.count)/float64(r.set.features), r.count)
}

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
