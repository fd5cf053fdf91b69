package paper

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/tuning"
	"github.com/ufs-stream/ufs-stream/stream"
)

// maxUnmarked is the largest difference, in points, that farMark does not mark.
const maxUnmarked = 3

// farMark marks a difference larger than maxUnmarked.
const farMark = "✗"

// maxSameData is the largest difference, in points, of the score of all columns from the printed one for which the data
// count as the paper's.
const maxSameData = 2

// testedField is the score that tests compare.
const testedField = "nmi_sqrt"

// section is a part of the results: a heading of the given level, paragraphs, a list, a table, and a last paragraph.
type section struct {
	level int
	title string
	texts []string
	notes []string
	table results.Table
	end   string
}

// writeFiles writes the results as Markdown, CSV and LaTeX: to the file of the output if it has the ending of one of
// these, otherwise to three files. Without an output it writes Markdown to out.
func (o *options) writeFiles(ctx context.Context, out io.Writer, r *tuning.Runner, outcomes []outcome) error {
	sections := o.makeSections(r, outcomes)
	base := o.output
	for _, form := range []struct {
		ending string
		write  func(io.Writer) error
	}{
		{".md", func(w io.Writer) error { writeMarkdown(w, sections); return nil }},
		{".csv", func(w io.Writer) error { return writeCSV(w, outcomes) }},
		{".tex", func(w io.Writer) error { writeLaTeX(w, sections); return nil }},
	} {
		path := base
		switch ending := outputEnding(base); {
		case base != "" && ending == "":
			path = base + form.ending
		case base != "" && ending != form.ending, base == "" && form.ending != ".md":
			continue
		}
		var text bytes.Buffer
		if err := form.write(&text); err != nil {
			return err
		}
		if err := results.WriteFile(ctx, path, out, text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func outputEnding(path string) string {
	for _, ending := range []string{".md", ".csv", ".tex"} {
		if strings.HasSuffix(strings.ToLower(path), ending) {
			return ending
		}
	}
	return ""
}

func writeMarkdown(w io.Writer, sections []section) {
	for i, s := range sections {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s %s\n", strings.Repeat("#", s.level), s.title)
		for _, text := range s.texts {
			fmt.Fprintf(w, "\n%s\n", text)
		}
		for j, note := range s.notes {
			if j == 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "- %s\n", note)
		}
		if s.table.Titles != nil {
			s.table.WriteMarkdown(w)
		}
		if s.end != "" {
			fmt.Fprintf(w, "\n%s\n", s.end)
		}
	}
}

func writeLaTeX(w io.Writer, sections []section) {
	fmt.Fprintln(w, `% Needs \usepackage[T1]{fontenc}, \usepackage{textcomp} and \usepackage{booktabs}.`)
	for _, s := range sections {
		fmt.Fprintf(w, "\n\\%ssection*{%s}\n", strings.Repeat("sub", s.level-1), results.FormatLaTeX(s.title))
		for _, text := range s.texts {
			fmt.Fprintf(w, "\n%s\n", results.FormatLaTeX(text))
		}
		if s.notes != nil {
			fmt.Fprintln(w, "\n\\begin{itemize}")
			for _, note := range s.notes {
				fmt.Fprintf(w, "\\item %s\n", results.FormatLaTeX(note))
			}
			fmt.Fprintln(w, `\end{itemize}`)
		}
		if s.table.Titles != nil {
			s.table.WriteLaTeX(w)
		}
		if s.end != "" {
			fmt.Fprintf(w, "\n%s\n", results.FormatLaTeX(s.end))
		}
	}
}

func (o *options) makeSections(r *tuning.Runner, outcomes []outcome) []section {
	head := section{level: 1, title: "The papers' tables", texts: []string{fmt.Sprintf("Made by `%s`, seed %d.", o.command, o.seed)}}
	if o.quick {
		head.texts = append(head.texts, "**--quick: 2 runs of one restart. These are no figures to compare.**")
	}
	commands, total := r.TotalCost()
	head.notes = []string{fmt.Sprintf("machine: %s", r.Shop.Machine), "program: " + r.Shop.Version,
		fmt.Sprintf("%s commands of ufs-stream, one at a time, also those kept by an earlier run: %s min; %s min of CPU time",
			humanize.Comma(int64(commands)), results.FormatSeconds(total.Wall.Minutes()), results.FormatSeconds(total.CPU.Minutes()))}
	head.end = fmt.Sprintf("\"Paper\" is the figure printed by the paper, on its machine and its data; %s means there is none. Scores are in\n"+
		"per cent: mean ± standard deviation over the runs, which start k-means from rows drawn at random, as the papers do.\n"+
		"Bold: the best at this number of selected features, or not significantly worse by Welch's two-tailed t-test of NMI at\n"+
		"5 %%. %s: more than %d points from the paper. The last column compares the score of %q columns, which selects nothing, with\n"+
		"the printed one: if these differ by more than %d points, the paper's data or clustering are others, and the row tells\n"+
		"nothing about the selection.", results.NoFigure, farMark, maxUnmarked, allFeatures, maxSameData)
	sections := []section{head}
	for _, t := range outcomes {
		sections = append(sections, t.scoreSection(), t.testSection())
		if t.tuned != nil {
			sections = append(sections, t.tunedSection(), t.tunedTestSection())
		}
		sections = append(sections, t.timeSection())
	}
	return sections
}

func (t outcome) scoreSection() section {
	s := section{level: 2, title: t.table.title, texts: []string{t.table.about}, notes: t.notes}
	s.table = results.Table{Titles: []string{"dataset", "features", "method"}, TextColumns: 3}
	for _, m := range t.table.measures {
		s.table.Titles = append(s.table.Titles, m.title+": paper", "ours", "difference")
	}
	s.table.Titles = append(s.table.Titles, "", "all columns")
	var farCount, compared int
	for _, r := range t.rows {
		cells, off, why := []string{r.set.title, r.featureShare(), r.method.title}, "", ""
		for _, m := range t.table.measures {
			c := t.compareWithPaper(r, m)
			ours := results.NoFigure
			if c.have {
				ours = formatScore(c.score)
				if isBest(r.result) && m.field == testedField && r.method.title != allFeatures {
					ours = "**" + ours + "**"
				}
			}
			cells = append(cells, c.formatPaper(), ours, c.formatDifference())
			if c.printed {
				compared++
			}
			if c.isFar() {
				off, farCount = farMark, farCount+1
				why = joinReasons(why, t.explainByAll(r.set, m))
			}
		}
		s.table.AddRow(append(cells, off, why)...)
	}
	if compared > 0 {
		s.end = fmt.Sprintf("%d of %d comparisons are within %d points.", compared-farCount, compared, maxUnmarked)
	}
	return s
}

func isBest(r stream.Evaluated) bool { return r.Best != nil && *r.Best }

// comparedScore is a score of ours with the printed one.
type comparedScore struct {
	score         stream.Spread
	have, printed bool // whether there is a score, and a printed one to compare it with
	paper         float64
	difference    float64 // in points
}

func (t outcome) compareWithPaper(r row, m measure) (c comparedScore) {
	c.score, c.have = tuning.ScoreOf(r.result, m.field)
	reference, printed := findFigure(t.table.references, r.set.title, r.method.title, m.title, r.count)
	if c.printed = printed && c.have; c.printed {
		c.paper, c.difference = reference.value, differenceOf(float64(c.score.Mean), reference)
	}
	return c
}

func (c comparedScore) isFar() bool { return c.printed && math.Abs(c.difference) > maxUnmarked+1e-9 }

func (c comparedScore) formatPaper() string {
	if !c.printed {
		return results.NoFigure
	}
	return fmt.Sprintf("%.1f", c.paper)
}

func (c comparedScore) formatDifference() string {
	if !c.printed {
		return results.NoFigure
	}
	return fmt.Sprintf("%+.1f", c.difference)
}

func differenceOf(share float64, reference figure) float64 {
	// Round the share first, so that the difference agrees with the figures as they are written.
	return math.Round(1000*share)/10 - reference.value
}

// explainByAll compares our score of all columns with the printed one. Without a printed one it returns "".
func (t outcome) explainByAll(set dataset, m measure) string {
	for _, r := range t.rows {
		if r.set.title != set.title || r.method.title != allFeatures {
			continue
		}
		switch c := t.compareWithPaper(r, m); {
		case !c.printed:
			return ""
		case math.Abs(c.difference) > maxSameData+1e-9:
			return fmt.Sprintf("other data: all columns %.1f here, %.1f printed", 100*float64(c.score.Mean), c.paper)
		default:
			return fmt.Sprintf("all columns agree: %.1f here, %.1f printed", 100*float64(c.score.Mean), c.paper)
		}
	}
	return ""
}

func joinReasons(before, reason string) string {
	if before == "" || reason == "" {
		return before + reason
	}
	return before + "; " + reason
}

func (t outcome) tunedSection() section {
	s := section{level: 3, title: "Tuned by the labels", texts: []string{fmt.Sprintf("Every setting of the paper's grid is judged by the labels, at each number of features, and the one of the highest %s is\n"+
		"chosen, as the papers do. \"Highest\" is the best that any setting and number has in this score alone. \"Again\" is the\n"+
		"chosen setting with fresh seeds of the method and of k-means. %q chooses likewise from as many\n"+
		"random selections as the grid has settings; their setting is a seed: what a choice by labels alone is worth. \"Default\" is the\n"+
		"program's default at this number of features, with the seeds of \"again\"; it sees no labels. Settings whose features all have\n"+
		"equal scores are left out.", t.table.measures[0].title, tuning.RandomAlike)}, notes: t.choiceNotes()}
	s.table = results.Table{Titles: []string{"dataset", "method", "setting", "settings", "features"}, TextColumns: 3}
	for _, m := range t.table.measures {
		s.table.Titles = append(s.table.Titles, m.title+": paper", "chosen", "highest", "again", "difference", "default")
	}
	s.table.Titles = append(s.table.Titles, "all columns")
	for _, pair := range t.tuned {
		for _, r := range []tuning.Result{pair.best, pair.alike} {
			cells, why := []string{r.Set, r.Method, "`" + strings.Join(r.Flags, " ") + "`", fmt.Sprint(r.Settings), fmt.Sprint(r.Count)}, ""
			for _, m := range t.table.measures {
				chosen, _ := tuning.ScoreOf(r.Chosen, m.field)
				again := t.compareTuned(r, m)
				ours := results.NoFigure
				if score, ok := tuning.ScoreOf(r.Default, m.field); ok {
					ours = results.FormatPoints(float64(score.Mean))
				}
				cells = append(cells, again.formatPaper(), formatScore(chosen), formatScore(r.Highest[m.field]), formatScore(again.score), again.formatDifference(), ours)
				if again.difference < 0 {
					why = joinReasons(why, t.explainByAll(dataset{title: r.Set}, m))
				}
			}
			s.table.AddRow(append(cells, why)...)
		}
	}
	return s
}

func (t outcome) choiceNotes() (notes []string) {
	for _, set := range t.table.sets {
		if set.choiceFlags != nil {
			notes = append(notes, fmt.Sprintf("%s: the settings are judged by `eval` with `%s`, and the chosen one again as in the table above", set.title, strings.Join(set.choiceFlags, " ")))
		}
	}
	return notes
}

func (t outcome) compareTuned(r tuning.Result, m measure) comparedScore {
	return t.compareWithPaper(row{set: dataset{title: r.Set}, method: contender{title: r.Method}, result: r.Again}, m)
}

func formatScore(s stream.Spread) string {
	return fmt.Sprintf("%.1f ± %.1f", 100*float64(s.Mean), 100*float64(s.Std))
}

func (t outcome) timeSection() section {
	s := section{level: 3, title: "Time of `select`", texts: []string{"One run each, the whole process. Read, accumulate and solve are busy times of overlapping threads."}}
	s.table = results.Table{Titles: []string{"dataset", "rows × features", "method", "wall s", "read s", "accumulate s", "solve s", "cpu s", "peak memory"}, TextColumns: 3}
	if len(t.table.referenceSeconds) > 0 {
		s.table.Titles = append(s.table.Titles, "paper s")
	}
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
		s.table.AddRow(cells...)
	}
	return s
}

func (r row) featureShare() string {
	return fmt.Sprintf("%.0f %% (%d)", 100*float64(r.count)/float64(r.set.features), r.count)
}
