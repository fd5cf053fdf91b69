package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/program"
)

// farOff is the difference, in points, from which on a figure is marked.
const farOff = 3

// testedField is the measure of eval's t-test.
const testedField = "nmi_sqrt"

// write writes the tables as Markdown.
func (o *paperOptions) write(w io.Writer, host machine, version string, filled []outcome) {
	fmt.Fprintf(w, "# The papers' tables\n\n")
	fmt.Fprintf(w, "Made by `%s`, seed %d.\n\n", o.command(), o.seed)
	if o.quick {
		fmt.Fprintf(w, "**--quick: 2 runs of one restart. These are no figures to compare.**\n\n")
	}
	fmt.Fprintf(w, "- machine: %s\n- program: %s\n\n", host, version)
	fmt.Fprintf(w, "The papers' own tables could not be had here. \"Reference\" is the figure that could, with a letter for\n"+
		"where it is from; %s means there is none.\n", none)
	for _, s := range usedSources(filled) {
		fmt.Fprintf(w, "\n- (%s) %s", s, sources()[s])
	}
	fmt.Fprintf(w, "\n\nScores are in per cent: mean ± standard deviation over the runs. Bold: the best at this number of\n"+
		"selected features, or not significantly worse by eval's t-test, which is on NMI. %s: more than %d points from the reference.\n"+
		"Where %q, which selects nothing, is off as well, the difference is the clustering's, not the selection's.\n", mark, farOff, allFeatures)
	for _, t := range filled {
		t.write(w)
	}
}

const (
	none = "–"
	mark = "✗"
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
	header(w, append(head, ""), 3)
	var far, compared int
	for _, r := range t.rows {
		cells := []string{r.set.title, r.features(), r.method.title}
		off := ""
		for _, m := range t.table.measures {
			s, have := r.score(m.field)
			mean := float64(s.Mean)
			ours := fmt.Sprintf("%.1f ± %.1f", 100*mean, 100*float64(s.Std))
			if !have {
				ours = none
			} else if r.result.Best != nil && *r.result.Best && m.field == testedField && r.method.title != allFeatures {
				ours = "**" + ours + "**"
			}
			known, ok := find(t.table.known, r.set.title, r.method.title, m.title, r.count)
			if !ok || !have {
				cells = append(cells, none, ours, none)
				continue
			}
			compared++
			// As printed: what the reader subtracts is what is judged.
			difference := math.Round(1000*mean)/10 - known.value
			if math.Abs(difference) > farOff+1e-9 {
				off, far = mark, far+1
			}
			cells = append(cells, fmt.Sprintf("%.1f (%s)", known.value, known.source), ours, fmt.Sprintf("%+.1f", difference))
		}
		line(w, append(cells, off))
	}
	if compared > 0 {
		fmt.Fprintf(w, "\n%d of %d comparisons are within %d points.\n", compared-far, compared, farOff)
	}
	t.writeTimes(w)
}

// writeTimes writes what the selections took.
func (t outcome) writeTimes(w io.Writer) {
	fmt.Fprintf(w, "\n### Time of `select`\n\n"+
		"One run each, the whole process. Read, accumulate and solve are busy times of overlapping threads.\n")
	head := []string{"dataset", "rows × features", "method", "wall s", "read s", "accumulate s", "solve s", "cpu s", "peak memory"}
	if len(t.table.seconds) > 0 {
		head = append(head, "reference s")
	}
	header(w, head, 3)
	for _, r := range t.times {
		cells := []string{
			r.set.title, fmt.Sprintf("%s × %d", thousands(r.rows), r.set.features), r.method.title,
			seconds(r.cost.Wall.Seconds()), seconds(r.timing.Read), seconds(r.timing.Accumulate), seconds(r.timing.Solve),
			seconds(r.cost.CPU.Seconds()), humanize.IBytes(uint64(r.cost.Peak)),
		}
		if len(t.table.seconds) > 0 {
			cell := none
			if f, ok := find(t.table.seconds, r.set.title, r.method.title, "", 0); ok {
				cell = fmt.Sprintf("%s (%s)", humanize.Commaf(f.value), f.source)
			}
			cells = append(cells, cell)
		}
		line(w, cells)
	}
}

// features says how many there are of how many.
func (r paperRow) features() string {
	return fmt.Sprintf("%.0f %% (%d)", 100*float64(r.count)/float64(r.set.features), r.count)
}

// usedSources are the sources of the figures that the tables show.
func usedSources(filled []outcome) []source {
	var used []source
	for _, t := range filled {
		for _, r := range t.rows {
			for _, f := range slices.Concat(t.table.known, t.table.seconds) {
				if f.set == r.set.title {
					used = append(used, f.source)
				}
			}
		}
	}
	slices.Sort(used)
	return slices.Compact(used)
}

// command is the command that makes the file again.
func (o *paperOptions) command() string {
	args := []string{"run", "./bench", "paper", "--data", o.data, "--tables", strings.Join(o.tables, ",")}
	if len(o.datasets) > 0 {
		args = append(args, "--datasets", strings.Join(o.datasets, ","))
	}
	if o.emnist != "" {
		args = append(args, "--emnist", o.emnist)
	}
	if o.quick {
		args = append(args, "--quick")
	}
	return program.ShellQuote("go", append(args, "--seed", fmt.Sprint(o.seed), "--threads", fmt.Sprint(o.threads)))
}

// header begins a table; its columns from the text-th on are numbers.
func header(w io.Writer, titles []string, text int) {
	fmt.Fprintln(w)
	line(w, titles)
	rule := slices.Repeat([]string{"---"}, len(titles))
	for i := text; i < len(rule); i++ {
		rule[i] = "---:"
	}
	line(w, rule)
}

func line(w io.Writer, cells []string) {
	escaped := make([]string, len(cells))
	for i, c := range cells {
		escaped[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	fmt.Fprintf(w, "| %s |\n", strings.Join(escaped, " | "))
}

// seconds has about three digits that mean something, and no exponent.
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

func thousands(n int64) string { return humanize.Comma(n) }
