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

// markdown writes the tables for people.
func (r *run) markdown(w io.Writer, host workshop.Machine, sets []dataset, tables []table) error {
	fmt.Fprintf(w, "# Quality of the choices\n\nMade by `%s`.\n\n- machine: %s\n", r.command, host)
	fmt.Fprintf(w, "- NMI × 100 (over the root of the entropies' product) of k-means on the chosen columns as they are in the file, in as many\n"+
		"  clusters as classes: the mean of %d single starts of greedy k-means++, on %s rows at most\n", r.seeds, humanize.Comma(r.evalRows))
	fmt.Fprintf(w, "- no method sees a label; all run at their defaults but what a variant's name says, within %s and %s a selection,\n"+
		"  on %s rows at most. What is refused counts as last on its set\n", humanize.IBytes(uint64(r.memory)), r.timeout, humanize.Comma(r.rows))
	fmt.Fprintf(w, "- error: what the chosen columns leave unexplained of all standardized ones; stability: Nogueira's index × 100 over %d\n"+
		"  half-samples in complementary pairs, up to %d %% of the features; found: share of the answer of generated sets; s: of\n"+
		"  selecting, all sets together\n", r.halves, stableShare)
	fmt.Fprintf(w, "- ranks are by NMI within each set; the tests are those of Demšar (JMLR 7, 2006): Friedman, Iman and Davenport, Nemenyi\n")
	for _, t := range tables {
		r.section(w, t)
	}
	fmt.Fprintf(w, "\n## The sets\n")
	results.TableHead(w, []string{"set", "rows", "features", "chosen"}, 1)
	for _, s := range sets {
		counts := fmt.Sprint(s.counts(r.percents))
		results.TableRow(w, []string{s.name, humanize.Comma(s.rows), humanize.Comma(int64(s.features)), strings.Trim(counts, "[]")})
	}
	fmt.Fprintf(w, "\nGenerated sets, made anew by every run:\n\n")
	for _, k := range madeKinds() {
		if slices.ContainsFunc(sets, func(s dataset) bool { return s.name == k.name }) {
			fmt.Fprintf(w, "- %s: %s\n", k.name, k.about)
		}
	}
	r.refusals(w)
	return nil
}

// section writes one table: means, ranks, tests, plot, and the scores by set.
func (r *run) section(w io.Writer, t table) {
	fmt.Fprintf(w, "\n## %s%s\n", strings.ToUpper(t.title[:1]), t.title[1:]+" of the features")
	results.TableHead(w, []string{"variant", "mean rank", "NMI", "to the first", "public", "generated", "ACC", "error", "stability", "found", "s", "refused"}, 1)
	for _, v := range t.rows {
		rank, gap := results.NoFigure, results.NoFigure
		if v.ranked {
			rank = fmt.Sprintf("%.2f", v.rank)
		}
		if !math.IsNaN(v.gap) && v.variant != t.rows[0].variant {
			gap = fmt.Sprintf("%+.1f ± %.1f", 100*v.gap, 100*v.gapError)
		}
		results.TableRow(w, []string{v.variant, rank, results.Points(v.sets), gap, results.Points(v.public), results.Points(v.made), results.Points(v.acc), results.Points(v.error),
			results.Points(v.stability), results.Points(v.found), fmt.Sprintf("%.1f", v.seconds), fmt.Sprint(v.refused)})
	}
	if len(t.sets) > 1 {
		fmt.Fprintf(w, "\nFriedman over %d sets: χ² = %.2f, p = %.2g; Iman and Davenport: F = %.2f, p = %.2g. Nemenyi's critical difference of mean\n"+
			"ranks at 5 %% is %.2f: variants that are joined below, or nearer than that, are not told apart.\n",
			len(t.sets), t.ranks.Chi, t.ranks.P, t.ranks.F, t.ranks.FP, t.ranks.Critical)
	}
	if _, ok := t.plot(); ok {
		fmt.Fprintf(w, "\n![mean ranks](%s)\n", r.plotLink(t))
	}
	fmt.Fprintf(w, "\nBy set: NMI × 100, and the difference to %s, the first:\n", t.rows[0].variant)
	results.TableHead(w, append([]string{"variant"}, t.sets...), 1)
	for i, v := range t.rows {
		cells := []string{v.variant}
		for b, nmi := range v.nmi {
			cell := results.Points(nmi)
			if gap := nmi - t.rows[0].nmi[b]; i > 0 && !math.IsNaN(gap) {
				cell += fmt.Sprintf(" (%+.1f)", 100*gap)
			}
			cells = append(cells, cell)
		}
		results.TableRow(w, cells)
	}
}

// refusals lists what was not chosen, or fewer than asked for, and why.
func (r *run) refusals(w io.Writer) {
	var lines []string
	for _, x := range r.table {
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
	fmt.Fprintf(w, "\n## Refused, or fewer than asked for\n\n")
	for _, line := range lines {
		fmt.Fprintf(w, "- %s\n", line)
	}
}
