package quality

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/report"
	"github.com/ufs-stream/ufs-stream/stream"
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
	fmt.Fprintf(w, "- ranks are by NMI within each set; the tests are those of Demšar (JMLR 7, 2006): Friedman, Iman and Davenport, Nemenyi;\n"+
		"  p is Wilcoxon's signed-rank test of the first and a variant over the sets, two-sided, with Holm's correction over the variants\n")
	for _, t := range tables {
		r.writeTable(w, t)
	}
	r.writeTuned(w)
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
	results.TableHead(w, append([]string{"variant", "mean rank", "NMI", "to the first", "p", "public"}, t.kinds...), 1)
	for _, v := range t.rows {
		rank, gap := results.NoFigure, results.NoFigure
		if v.ranked {
			rank = fmt.Sprintf("%.2f", v.rank)
		}
		if !math.IsNaN(v.gap) && v.variant != t.rows[0].variant {
			gap = fmt.Sprintf("%+.1f ± %.1f", 100*v.gap, 100*v.gapError)
		}
		results.TableRow(w, append([]string{v.variant, rank, results.FormatPoints(t.meanOver(v, scoreNMI, acceptsAnyKind)), gap, results.FormatChance(v.p)}, t.formatKindMeans(v, scoreNMI)...))
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
			cells = append(cells, results.FormatPoints(t.meanOver(v, kind, acceptsAnyKind)))
		}
		results.TableRow(w, append(cells, fmt.Sprintf("%.1f", v.seconds), fmt.Sprint(v.refused)))
	}
}

func (t table) formatKindMeans(row tableRow, kindOfScore score) []string {
	cells := []string{results.FormatPoints(t.meanOver(row, kindOfScore, isPublicKind))}
	for _, kind := range t.kinds {
		cells = append(cells, results.FormatPoints(t.meanOver(row, kindOfScore, acceptsOnlyKind(kind))))
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

// writeLakes writes how many factors of the lakes are covered, and the explained share. It does so for as many columns
// as there are factors, and for as many columns as a variant decides itself.
func (r *run) writeLakes(w io.Writer, sets []dataset) {
	lakes := slices.DeleteFunc(slices.Clone(sets), func(s dataset) bool { return !s.lake })
	if len(lakes) == 0 {
		return
	}
	for _, auto := range []bool{false, true} {
		title := "as many columns as factors"
		if auto {
			title = "as many columns as the variant takes (-k auto)"
		}
		fmt.Fprintf(w, "\n## Lakes: %s\n\nFactors covered, of how many, with the columns chosen where that is another number; and the share explained × 100\n", title)
		head := []string{"variant", "covered", "explained"}
		for _, s := range lakes {
			head = append(head, s.name)
		}
		results.TableHead(w, head, 1)
		for _, v := range r.variants {
			if v.baseline == judge.All || auto && v.baseline != "" {
				continue
			}
			var cells []string
			var covered, explained []float64
			for _, s := range lakes {
				c := r.findLakeChoice(s, v, auto)
				cells = append(cells, c.formatLakeCell(s))
				covered, explained = append(covered, numberOrNaN(c.Covered)/float64(len(s.answer))), append(explained, 1-float64(c.Error))
			}
			results.TableRow(w, append([]string{v.name, results.FormatPoints(judge.Summarize(covered).Mean), results.FormatPoints(judge.Summarize(explained).Mean)}, cells...))
		}
	}
	writeList(w, r.listLakeDemands(lakes))
}

func (r *run) findLakeChoice(s dataset, v variant, methodDecides bool) choiceMade {
	choices := r.lookUpFinding(s, v).Choices
	if methodDecides {
		return choices[len(choices)-1]
	}
	return choices[0]
}

func (c choiceMade) formatLakeCell(s dataset) string {
	if c.Covered == nil {
		return results.NoFigure
	}
	count := ""
	if c.Chosen != len(s.answer) {
		count = fmt.Sprintf(" by %d", c.Chosen)
	}
	return fmt.Sprintf("%.3g/%d%s, %s", numberOrNaN(c.Covered), len(s.answer), count, results.FormatPoints(1-float64(c.Error)))
}

// listLakeDemands returns sentences about the two demands on the default for lakes. If the default decides the number
// of columns, its columns must cover every factor, and must explain nearly as much as greedy with one column for each
// factor.
func (r *run) listLakeDemands(lakes []dataset) (lines []string) {
	defaultIndex := slices.IndexFunc(r.variants, func(v variant) bool { return v.name == defaultVariant })
	greedy := slices.IndexFunc(r.variants, func(v variant) bool { return v.name == "greedy" })
	if defaultIndex < 0 || greedy < 0 {
		return nil
	}
	var uncovered, unexplained []string
	for _, s := range lakes {
		c := r.findLakeChoice(s, r.variants[defaultIndex], true)
		if covered := numberOrNaN(c.Covered); !(covered == float64(len(s.answer))) {
			uncovered = append(uncovered, fmt.Sprintf("%s (%s)", s.name, c.formatLakeCell(s)))
		}
		share, best := 1-float64(c.Error), 1-float64(r.findLakeChoice(s, r.variants[greedy], false).Error)
		if !(share >= shareOfExplained*best) && !math.IsNaN(best) {
			unexplained = append(unexplained, fmt.Sprintf("%s (%s, greedy %s)", s.name, results.FormatPoints(share), results.FormatPoints(best)))
		}
	}
	return []string{
		wordForDemand(len(uncovered) == 0) + ": lakes of which the default by -k auto misses a factor: " + joinOrNone(uncovered),
		fmt.Sprintf("%s: lakes of which it explains less than %g of greedy's share: %s", wordForDemand(len(unexplained) == 0), shareOfExplained, joinOrNone(unexplained)),
	}
}

func (r *run) writeResults(ctx context.Context, host workshop.Machine, sets []dataset) error {
	tables := r.makeTables(sets)
	for _, t := range tables {
		plot, ok := t.rankPlot()
		if !ok {
			continue
		}
		var svg bytes.Buffer
		if err := plot.WriteSVG(&svg); err != nil {
			return err
		}
		if err := results.WriteFile(ctx, r.output+t.plotName(), nil, svg.Bytes()); err != nil {
			return err
		}
	}
	for end, write := range map[string]func(io.Writer) error{
		".md":   func(w io.Writer) error { return r.writeMarkdown(w, host, sets, tables) },
		".csv":  r.writeCSV,
		".json": func(w io.Writer) error { return r.writeJSON(w, host, sets, tables) },
	} {
		var text bytes.Buffer
		if err := write(&text); err != nil {
			return err
		}
		if err := results.WriteFile(ctx, r.output+end, nil, text.Bytes()); err != nil {
			return err
		}
	}
	r.printRemark("wrote %s.md, .csv, .json and plots; the findings are in %[1]s.jsonl", r.output)
	return nil
}

func (t table) rankPlot() (report.RankPlot, bool) {
	p := report.RankPlot{Title: fmt.Sprintf("Mean rank by NMI over %d sets, %s", len(t.sets), t.title), Critical: t.ranks.Critical, Alike: t.ranks.IndistinguishableSets()}
	for _, row := range t.rows {
		if row.ranked {
			p.Names, p.Ranks = append(p.Names, row.variant), append(p.Ranks, row.rank)
		}
	}
	return p, len(p.Ranks) > 1 && !math.IsNaN(t.ranks.Critical)
}

func (t table) plotName() string { return "-ranks-" + t.file + ".svg" }

func (r *run) plotLink(t table) string { return filepath.Base(r.output) + t.plotName() }

func (r *run) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"set", "generated", "rows", "features", "variant", "percent", "k", "chosen", "nmi", "nmi_std", "acc", "acc_std",
		"reconstruction_error", "stability", "found", "seconds", "refusal",
		"kind", "held_out", "ran", "knn", "nmi_standardized", "knn_standardized", "nmi_cosine", "knn_cosine", "covered"}}
	cell := func(v float64) string {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return ""
		}
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	spread := func(s *stream.Spread) (mean, std string) {
		if s == nil {
			return "", ""
		}
		return cell(float64(s.Mean)), cell(float64(s.Std))
	}
	for _, x := range r.cells {
		for _, f := range x.finding.Choices {
			nmi, nmiStd := spread(f.NMI)
			acc, accStd := spread(f.ACC)
			line := []string{x.set.name, strconv.FormatBool(x.set.made), fmt.Sprint(x.set.rows), fmt.Sprint(x.set.features), x.variant.name,
				percentName(f.Percent), fmt.Sprint(f.K), fmt.Sprint(f.Chosen), nmi, nmiStd, acc, accStd, cell(float64(f.Error)),
				cell(numberOrNaN(f.Stability)), cell(f.shareFound(x.set)), cell(f.Seconds), f.Refusal,
				x.set.kind, strconv.FormatBool(x.set.heldOut), f.Ran, cell(numberOrNaN(f.KNN))}
			for _, other := range []*scores{f.Standard, f.Cosine} {
				if other == nil {
					other = new(scores)
				}
				line = append(line, cell(meanOrNaN(other.NMI)), cell(numberOrNaN(other.KNN)))
			}
			rows = append(rows, append(line, cell(numberOrNaN(f.Covered))))
		}
	}
	return c.WriteAll(rows)
}

func (r *run) writeJSON(w io.Writer, host workshop.Machine, sets []dataset, tables []table) error {
	type row struct {
		Variant       string                   `json:"variant"`
		Rank          stream.Number            `json:"mean_rank"`
		NMI           stream.Number            `json:"nmi"`
		Public        stream.Number            `json:"nmi_public"`
		Kinds         map[string]stream.Number `json:"nmi_of_kinds"`
		Standard      stream.Number            `json:"nmi_standardized"`
		KNN           stream.Number            `json:"knn"`
		ACC           stream.Number            `json:"acc"`
		Error         stream.Number            `json:"reconstruction_error"`
		Stability     stream.Number            `json:"stability"`
		Found         stream.Number            `json:"found"`
		Seconds       stream.Number            `json:"seconds"`
		Refused       int                      `json:"refused"`
		Gap, GapError stream.Number
		P             stream.Number `json:"p_wilcoxon_holm"` // of a comparison with the first
	}
	type ranking struct {
		Shares      string        `json:"shares"`
		Sets        []string      `json:"sets"`
		Demands     []string      `json:"demands,omitempty"` // on the default
		Rows        []row         `json:"variants"`
		ChiSquare   stream.Number `json:"friedman_chi_square"`
		P           stream.Number `json:"friedman_p"`
		F           stream.Number `json:"iman_davenport_f"`
		FP          stream.Number `json:"iman_davenport_p"`
		Critical    stream.Number `json:"nemenyi_critical_difference"`
		SameAsFirst []string      `json:"not_worse_than_the_first,omitempty"`
	}
	out := struct {
		Schema  string        `json:"schema"`
		Command string        `json:"command"`
		Machine string        `json:"machine"`
		Tables  []ranking     `json:"tables"`
		Tuned   []tunedRecord `json:"tuned_by_labels,omitempty"`
		Results []finding     `json:"findings"`
	}{Schema: "ufs-stream/quality/v2", Command: r.command, Machine: host.String()}
	n := func(v float64) stream.Number { return stream.Number(v) }
	for _, t := range tables {
		x := ranking{Shares: t.title, Demands: t.listDemands(), ChiSquare: n(t.ranks.Chi), P: n(t.ranks.P), F: n(t.ranks.F), FP: n(t.ranks.FP), Critical: n(t.ranks.Critical)}
		for _, s := range t.sets {
			x.Sets = append(x.Sets, s.name)
		}
		for i, v := range t.rows {
			mean := func(of score) stream.Number { return n(t.meanOver(v, of, acceptsAnyKind)) }
			kinds := make(map[string]stream.Number)
			for _, kind := range t.kinds {
				kinds[kind] = n(t.meanOver(v, scoreNMI, acceptsOnlyKind(kind)))
			}
			x.Rows = append(x.Rows, row{v.variant, n(v.rank), mean(scoreNMI), n(t.meanOver(v, scoreNMI, isPublicKind)), kinds, mean(scoreStandard), mean(scoreKNN), mean(scoreACC),
				1 - mean(scoreExplained), mean(scoreStability), mean(scoreFound), n(v.seconds), v.refused, n(v.gap), n(v.gapError), n(v.p)})
			if i > 0 && v.ranked && v.rank-t.rows[0].rank < t.ranks.Critical {
				x.SameAsFirst = append(x.SameAsFirst, v.variant)
			}
		}
		out.Tables = append(out.Tables, x)
	}
	for _, x := range r.tuned {
		out.Tuned = append(out.Tuned, x.record())
	}
	for _, x := range r.cells {
		out.Results = append(out.Results, x.finding)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func percentName(percent float64) string { return strconv.FormatFloat(percent, 'f', -1, 64) }
