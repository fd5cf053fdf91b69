package quality

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
)

func (r *run) writeMarkdown(w io.Writer, host workshop.Machine, sets []dataset, tables []table) error {
	fmt.Fprintf(w, "# Quality of the choices\n\nMade by `%s`.\n\n- machine: %s\n", r.command, host)
	fmt.Fprintf(w, "- NMI × 100 (over the root of the entropies' product) of k-means on the chosen columns as they are in the file, of text with\n"+
		"  every row divided by its length, in as many clusters as classes: the mean of %d single starts of greedy k-means++, on %s\n"+
		"  rows at most; ACC and kNN, the accuracy of the nearest neighbour (leave-one-out), of the same; as they are and standardized:\n"+
		"  NMI of the columns of all sets as they are, and standardized\n", r.seeds, humanize.Comma(r.evalRows))
	fmt.Fprintf(w, "- no method sees a label; all run at their defaults but what a variant's name says, within %s and %s a selection,\n"+
		"  on %s rows at most. What is refused counts as last on its set\n", humanize.IBytes(uint64(r.memory)), r.timeout, humanize.Comma(r.rows))
	fmt.Fprintf(w, "- explained: the share of all columns, standardized, that the chosen ones explain; stability: Nogueira's index × 100 over %d\n"+
		"  half-samples in complementary pairs, up to %d %% of the features; found: share of the answer of generated sets, of as much as\n"+
		"  so many columns can show; s: of selecting, all sets together\n", r.halves, stableShare)
	fmt.Fprintf(w, "- public: all sets that are not generated, whose kinds are in the list of sets below; means are over the sets of a kind\n")
	if r.heldOut > 0 {
		fmt.Fprintf(w, "- a half of the public sets of every kind, drawn by --held-out %d, is held out: a default may be chosen by the tables \"chosen\n"+
			"  on\", and those \"not chosen on\" say what it is worth elsewhere\n", r.heldOut)
	}
	fmt.Fprintf(w, "- ranks are by NMI within each set; the tests are those of Demšar (JMLR 7, 2006): Friedman, Iman and Davenport, Nemenyi\n")
	for _, t := range tables {
		r.writeTable(w, t)
	}
	r.writeLakes(w, sets)
	r.writeSets(w, sets)
	fmt.Fprintf(w, "\nGenerated sets, made anew by every run:\n\n")
	for _, k := range slices.Concat(madeKinds(), lakeKinds()) {
		if slices.ContainsFunc(sets, func(s dataset) bool { return s.name == k.name }) {
			fmt.Fprintf(w, "- %s: %s\n", k.name, k.about)
		}
	}
	r.writeRefusals(w)
	return nil
}

func (r *run) writeSets(w io.Writer, sets []dataset) {
	fmt.Fprintf(w, "\n## The sets\n")
	results.TableHead(w, []string{"set", "rows", "features", "chosen", "kind", "held out", "default ran"}, 1)
	for _, s := range sets {
		heldOut := ""
		if s.heldOut {
			heldOut = "yes"
		}
		var ran []string
		for _, x := range r.cells {
			for _, c := range x.finding.Choices {
				if x.set.name == s.name && x.variant.name == defaultVariant && c.Ran != "" && !slices.Contains(ran, c.Ran) {
					ran = append(ran, c.Ran)
				}
			}
		}
		results.TableRow(w, []string{s.name, humanize.Comma(s.rows), humanize.Comma(int64(s.features)), strings.Trim(fmt.Sprint(s.featureCounts(r.percents)), "[]"),
			s.kind, heldOut, strings.Join(ran, "; ")})
	}
}

func (r *run) writeTable(w io.Writer, t table) {
	fmt.Fprintf(w, "\n## %s\n", t.title)
	writeList(w, t.listDemands())
	results.TableHead(w, append([]string{"variant", "mean rank", "NMI", "to the first", "public"}, t.kinds...), 1)
	for _, v := range t.rows {
		rank, gap := results.NoFigure, results.NoFigure
		if v.ranked {
			rank = fmt.Sprintf("%.2f", v.rank)
		}
		if !math.IsNaN(v.gap) && v.variant != t.rows[0].variant {
			gap = fmt.Sprintf("%+.1f ± %.1f", 100*v.gap, 100*v.gapError)
		}
		results.TableRow(w, append([]string{v.variant, rank, results.FormatPoints(t.meanOver(v, scoreNMI, anyKind)), gap}, t.formatKindMeans(v, scoreNMI)...))
	}
	t.writeOtherScores(w)
	for _, part := range []struct {
		title string
		score score
	}{{"NMI of k-means on the columns as they are, of text too", scoreFile}, {"NMI of k-means on the columns standardized", scoreStandard}, {"kNN", scoreKNN}, {"Share explained", scoreExplained}} {
		fmt.Fprintf(w, "\n%s, by kind:\n", part.title)
		results.TableHead(w, append([]string{"variant", "public"}, t.kinds...), 1)
		for _, v := range t.rows {
			results.TableRow(w, append([]string{v.variant}, t.formatKindMeans(v, part.score)...))
		}
	}
	if len(t.sets) > 1 {
		fmt.Fprintf(w, "\nFriedman over %d sets: χ² = %.2f, p = %.2g; Iman and Davenport: F = %.2f, p = %.2g. Nemenyi's critical difference of mean\n"+
			"ranks at 5 %% is %.2f: variants that are joined below, or nearer than that, are not told apart.\n",
			len(t.sets), t.ranks.Chi, t.ranks.P, t.ranks.F, t.ranks.FP, t.ranks.Critical)
	}
	if _, ok := t.rankPlot(); ok {
		fmt.Fprintf(w, "\n![mean ranks](%s)\n", r.plotLink(t))
	}
	t.writeScoresBySet(w)
}

func (t table) writeOtherScores(w io.Writer) {
	fmt.Fprintf(w, "\nOther scores:\n")
	results.TableHead(w, []string{"variant", "as they are", "standardized", "kNN", "ACC", "explained", "stability", "found", "s", "refused"}, 1)
	for _, v := range t.rows {
		cells := []string{v.variant}
		for kind := scoreFile; kind < scoreCount; kind++ {
			cells = append(cells, results.FormatPoints(t.meanOver(v, kind, anyKind)))
		}
		results.TableRow(w, append(cells, fmt.Sprintf("%.1f", v.seconds), fmt.Sprint(v.refused)))
	}
}

func (t table) formatKindMeans(row tableRow, of score) []string {
	cells := []string{results.FormatPoints(t.meanOver(row, of, isPublic))}
	for _, kind := range t.kinds {
		cells = append(cells, results.FormatPoints(t.meanOver(row, of, onlyKind(kind))))
	}
	return cells
}

func (t table) writeScoresBySet(w io.Writer) {
	fmt.Fprintf(w, "\nBy set: NMI × 100, and the difference to %s, the first:\n", t.rows[0].variant)
	head := []string{"variant"}
	for _, s := range t.sets {
		head = append(head, s.name)
	}
	results.TableHead(w, head, 1)
	for i, v := range t.rows {
		cells := []string{v.variant}
		for b, nmi := range v.scores[scoreNMI] {
			cell := results.FormatPoints(nmi)
			if gap := nmi - t.rows[0].scores[scoreNMI][b]; i > 0 && !math.IsNaN(gap) {
				cell += fmt.Sprintf(" (%+.1f)", 100*gap)
			}
			cells = append(cells, cell)
		}
		results.TableRow(w, cells)
	}
}

func writeList(w io.Writer, lines []string) {
	for i, line := range lines {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "- %s\n", line)
	}
}

func (r *run) writeRefusals(w io.Writer) {
	var lines []string
	for _, x := range r.cells {
		var shares, why []string // of this variant on this set
		for _, c := range x.finding.Choices {
			reason := c.Refusal
			if reason == "" && c.Chosen < c.K {
				reason = fmt.Sprintf("chose %d of %d", c.Chosen, c.K)
			}
			if reason == "" {
				continue
			}
			shares = append(shares, percentName(c.Percent)+" %")
			if !slices.Contains(why, reason) {
				why = append(why, reason)
			}
		}
		if shares != nil {
			lines = append(lines, fmt.Sprintf("%s on %s, %s: %s", x.variant.name, x.set.name, strings.Join(shares, ", "), strings.Join(why, "; ")))
		}
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "\n## Refused, or fewer than asked for\n")
	writeList(w, lines)
}
