package paper

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/stream"
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
	fmt.Fprintf(w, "\"Paper\" is the figure printed by the paper, on its machine and its data; %s means there is none. Scores are in\n"+
		"per cent: mean ± standard deviation over the runs, which start k-means from rows drawn at random, as the papers do.\n"+
		"Bold: the best at this number of selected features, or not significantly worse by eval's t-test, which is on NMI. %s: more\n"+
		"than %d points from the paper. Where %q, which selects nothing, is off as well, the difference is the data's or the\n"+
		"clustering's, not the selection's.\n", results.NoFigure, farMark, maxUnmarked, allFeatures)
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
		head = append(head, m.title+": paper", "ours", "difference")
	}
	results.TableHead(w, append(head, ""), 3)
	var farCount, compared int
	for _, r := range t.rows {
		cells := []string{r.set.title, r.featureShare(), r.method.title}
		off := ""
		for _, m := range t.table.measures {
			s, have := scoreOf(r.result, m.field)
			mean := float64(s.Mean)
			ours := formatScore(s)
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
			difference := differenceOf(mean, reference)
			if math.Abs(difference) > maxUnmarked+1e-9 {
				off, farCount = farMark, farCount+1
			}
			cells = append(cells, fmt.Sprintf("%.1f", reference.value), ours, fmt.Sprintf("%+.1f", difference))
		}
		results.TableRow(w, append(cells, off))
	}
	if compared > 0 {
		fmt.Fprintf(w, "\n%d of %d comparisons are within %d points.\n", compared-farCount, compared, maxUnmarked)
	}
	t.writeTuned(w)
	t.writeTimes(w)
}

func differenceOf(share float64, reference figure) float64 {
	// Round the share first, so that the difference agrees with the figures as they are written.
	return math.Round(1000*share)/10 - reference.value
}

func (t outcome) writeTuned(w io.Writer) {
	if t.tuned == nil {
		return
	}
	fmt.Fprintf(w, "\n### Tuned by the labels\n\n"+
		"Every setting of the paper's grid is judged by the labels, at each number of features, and the one of the highest %s is\n"+
		"chosen, as the papers do. \"Again\" is this setting with fresh seeds of the method and of k-means. %q chooses\n"+
		"likewise from as many random selections, whose setting is their seed: what a choice by labels alone is worth.\n"+
		"\"Default\" is the program's default at this number of features, which sees no labels. Settings whose features all have\n"+
		"equal scores are left out.\n", t.table.measures[0].title, randomAlike)
	head := []string{"dataset", "method", "setting", "settings", "features"}
	for _, m := range t.table.measures {
		head = append(head, m.title+": paper", "chosen", "again", "difference", "default")
	}
	results.TableHead(w, head, 3)
	for _, r := range t.tuned {
		cells := []string{r.set.title, r.method.title, "`" + strings.Join(r.flags, " ") + "`", fmt.Sprint(r.settings), fmt.Sprint(r.count)}
		for _, m := range t.table.measures {
			chosen, _ := scoreOf(r.chosen, m.field)
			again, _ := scoreOf(r.again, m.field)
			paper, difference, ours := results.NoFigure, results.NoFigure, results.NoFigure
			if f, ok := findFigure(t.table.references, r.set.title, r.method.title, m.title, 0); ok {
				paper, difference = fmt.Sprintf("%.1f", f.value), fmt.Sprintf("%+.1f", differenceOf(float64(again.Mean), f))
			}
			for _, d := range t.rows {
				if s, ok := scoreOf(d.result, m.field); ok && d.set.title == r.set.title && d.method.title == r.method.title && d.count == r.count {
					ours = results.FormatPoints(float64(s.Mean))
				}
			}
			cells = append(cells, paper, formatScore(chosen), formatScore(again), difference, ours)
		}
		results.TableRow(w, cells)
	}
}

func formatScore(s stream.Spread) string {
	return fmt.Sprintf("%.1f ± %.1f", 100*float64(s.Mean), 100*float64(s.Std))
}

func (t outcome) writeTimes(w io.Writer) {
	fmt.Fprintf(w, "\n### Time of `select`\n\n"+
		"One run each, the whole process. Read, accumulate and solve are busy times of overlapping threads.\n")
	head := []string{"dataset", "rows × features", "method", "wall s", "read s", "accumulate s", "solve s", "cpu s", "peak memory"}
	if len(t.table.referenceSeconds) > 0 {
		head = append(head, "paper s")
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
				cell = humanize.Commaf(f.value)
			}
			cells = append(cells, cell)
		}
		results.TableRow(w, cells)
	}
}

func (r row) featureShare() string {
	return fmt.Sprintf("%.0f %% (%d)", 100*float64(r.count)/float64(r.set.features), r.count)
}
