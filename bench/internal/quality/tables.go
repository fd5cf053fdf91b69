package quality

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/stream"
)

// score identifies one of the scores of a choice on a set. Larger scores are better.
type score int

const (
	scoreNMI       score = iota // NMI of k-means on the columns in the file; for text on rows divided by their length
	scoreFile                   // NMI of k-means on the columns in the file, also for text
	scoreStandard               // NMI of k-means on the standardized columns
	scoreKNN                    // accuracy of the nearest neighbour, on the same columns as scoreNMI
	scoreACC                    // clustering accuracy of k-means, on the same columns as scoreNMI
	scoreExplained              // explained share of all standardized columns
	scoreStability
	scoreFound
	scoreCount
)

// table compares the variants for one share of the features, or over all shares.
type table struct {
	title   string      // such as "5 % of the features"
	file    string      // part of file names, such as "5" or "all"
	sets    []dataset   // the sets on which variants are ranked
	kinds   []string    // kinds of the sets
	rows    []tableRow  // sorted by mean rank; the baseline of all features comes last and has no rank
	ranks   judge.Ranks // ranks of the ranked variants, in the order of rows
	refused int
}

// tableRow is the row of a variant in a table. For each kind of score it has one score for each set of the table, in
// order. NaN represents a missing score.
type tableRow struct {
	variant       string
	ranked        bool
	rank          float64 // mean rank
	scores        [scoreCount][]float64
	seconds       float64 // total time over the sets
	refused       int
	gap, gapError float64 // mean difference of its NMI from the NMI of the first row, and the standard error of this mean
	p             float64 // P of Wilcoxon's test of these differences, with Holm's correction over the ranked rows
}

func (r *run) makeTables(sets []dataset) (list []table) {
	all := make([]int, len(r.percents))
	for i := range all {
		all[i] = i
	}
	for _, heldOut := range []bool{false, true} {
		var ofSplit []dataset
		for _, s := range sets {
			if !s.unranked && s.heldOut == heldOut {
				ofSplit = append(ofSplit, s)
			}
		}
		title, file := " of the features", ""
		switch {
		case heldOut:
			title, file = title+", not chosen on", "-held-out"
		case r.heldOut > 0:
			title += ", chosen on"
		}
		if len(ofSplit) == 0 {
			continue
		}
		for i, p := range r.percents {
			list = append(list, r.tabulateShares(percentName(p)+" %"+title, percentName(p)+file, ofSplit, all[i:i+1]))
		}
		if len(all) > 1 {
			list = append(list, r.tabulateShares("All shares"+title, "all"+file, ofSplit, all))
		}
	}
	return list
}

// tabulateShares compares the variants by their mean scores over some shares of the features. The shares are given as
// indices in options.percents. The scores of a set for several shares are averaged, because Friedman's test requires
// independent blocks, and these scores are not independent.
func (r *run) tabulateShares(title, file string, sets []dataset, shares []int) table {
	t := table{title: title, file: file, sets: sets, kinds: listKinds(sets)}
	for _, v := range r.variants {
		row := tableRow{variant: v.name, ranked: v.baseline != judge.All}
		for _, s := range sets {
			c := r.lookUpFinding(s, v)
			addScore := func(to score, x float64) { row.scores[to] = append(row.scores[to], x) }
			nmi := c.meanScore(shares, func(c choiceMade) float64 { return meanOrNaN(c.rankedScores(s.kind).NMI) })
			if math.IsNaN(nmi) {
				row.refused++
			}
			addScore(scoreNMI, nmi)
			addScore(scoreFile, c.meanScore(shares, func(c choiceMade) float64 { return meanOrNaN(c.NMI) }))
			addScore(scoreStandard, c.meanScore(shares, func(c choiceMade) float64 {
				if c.Standard == nil {
					return math.NaN()
				}
				return meanOrNaN(c.Standard.NMI)
			}))
			addScore(scoreKNN, c.meanScore(shares, func(c choiceMade) float64 { return numberOrNaN(c.rankedScores(s.kind).KNN) }))
			addScore(scoreACC, c.meanScore(shares, func(c choiceMade) float64 { return meanOrNaN(c.rankedScores(s.kind).ACC) }))
			addScore(scoreExplained, c.meanScore(shares, func(c choiceMade) float64 { return 1 - float64(c.Error) }))
			addScore(scoreStability, c.meanOfKnown(shares, func(c choiceMade) float64 { return numberOrNaN(c.Stability) }))
			addScore(scoreFound, c.meanOfKnown(shares, func(c choiceMade) float64 { return c.shareFound(s) }))
			row.seconds += c.meanScore(shares, func(c choiceMade) float64 { return c.Seconds })
		}
		t.refused += row.refused
		t.rows = append(t.rows, row)
	}
	t.rankRows()
	return t
}

func (t *table) rankRows() {
	blocks := make([][]float64, len(t.sets))
	for _, row := range t.rows {
		if row.ranked {
			for b := range blocks {
				blocks[b] = append(blocks[b], row.scores[scoreNMI][b])
			}
		}
	}
	ranks := judge.FriedmanTest(blocks)
	next := 0
	for i := range t.rows {
		if t.rows[i].rank = math.Inf(1); t.rows[i].ranked && next < len(ranks.Mean) {
			t.rows[i].rank = ranks.Mean[next]
			next++
		}
	}
	slices.SortStableFunc(t.rows, func(a, b tableRow) int { return cmp.Compare(a.rank, b.rank) })
	slices.Sort(ranks.Mean)
	t.ranks = ranks
	var p []float64
	for i := range t.rows {
		row := &t.rows[i]
		var gaps []float64
		for b := range t.sets {
			if gap := row.scores[scoreNMI][b] - t.rows[0].scores[scoreNMI][b]; !math.IsNaN(gap) {
				gaps = append(gaps, gap)
			}
		}
		s := judge.Summarize(gaps)
		row.gap, row.gapError = s.Mean, s.Std/math.Sqrt(float64(s.Runs))
		if row.p = math.NaN(); i > 0 && row.ranked {
			row.p = judge.WilcoxonTest(t.rows[0].scores[scoreNMI], row.scores[scoreNMI]).P
		}
		p = append(p, row.p)
	}
	for i, adjusted := range judge.AdjustHolm(p) {
		t.rows[i].p = adjusted
	}
}

func (t table) meanOver(row tableRow, kindOfScore score, wantsKind func(kind string) bool) float64 {
	var list []float64
	for i, x := range row.scores[kindOfScore] {
		if wantsKind(t.sets[i].kind) && !math.IsNaN(x) {
			list = append(list, x)
		}
	}
	return judge.Summarize(list).Mean
}

func acceptsAnyKind(string) bool                 { return true }
func acceptsOnlyKind(k string) func(string) bool { return func(kind string) bool { return kind == k } }

func (t table) findRow(variant string) (tableRow, bool) {
	i := slices.IndexFunc(t.rows, func(row tableRow) bool { return row.variant == variant })
	if i < 0 {
		return tableRow{}, false
	}
	return t.rows[i], true
}

func (r *run) lookUpFinding(s dataset, v variant) finding {
	i := slices.IndexFunc(r.cells, func(c cell) bool { return c.set.name == s.name && c.variant.name == v.name })
	return r.cells[i].finding
}

// meanOfKnown returns the mean of a score over the given shares for which it is known. Stability and covered groups are
// not known for all shares.
func (f finding) meanOfKnown(shares []int, score func(choiceMade) float64) float64 {
	var list []float64
	for _, i := range shares {
		if x := score(f.Choices[i]); !math.IsNaN(x) {
			list = append(list, x)
		}
	}
	return judge.Summarize(list).Mean
}

func (f finding) meanScore(shares []int, score func(choiceMade) float64) float64 {
	sum := 0.0
	for _, i := range shares {
		sum += score(f.Choices[i])
	}
	return sum / float64(len(shares))
}

func meanOrNaN(s *stream.Spread) float64 {
	if s == nil {
		return math.NaN()
	}
	return float64(s.Mean)
}

func numberOrNaN(n *stream.Number) float64 {
	if n == nil {
		return math.NaN()
	}
	return float64(*n)
}

// Demands on the default variant. All are in points of NMI except the last, which is a share.
const (
	marginOfKind     = 1    // how far it may be below the best variant on the sets of a kind
	marginOfRandom   = 2    // how far it may be below random features on any set
	leadOverGreedy   = 3    // how far it must be above greedy on average over all public sets
	minAmongNoise    = 80   // its least score on the sets made-noise and made-nuisance
	shareOfExplained = 0.98 // its least explained variance on a lake, as a share of greedy's
)

func (t table) listDemands() (lines []string) {
	defaultRow, ok := t.findRow(defaultVariant)
	if !ok {
		return nil
	}
	add := func(met bool, format string, args ...any) {
		lines = append(lines, wordForDemand(met)+": "+fmt.Sprintf(format, args...))
	}
	for _, kind := range t.kinds {
		if best, mean := t.bestOfKind(kind); best != "" && isPublicKind(kind) {
			gap := 100 * (t.meanOver(defaultRow, scoreNMI, acceptsOnlyKind(kind)) - mean)
			add(gap >= -marginOfKind, "%s: %+.1f to %s, the best variant (want −%d)", kind, gap, best, marginOfKind)
		}
	}
	if greedy, ok := t.findRow("greedy"); ok {
		if gap := 100 * (t.meanOver(defaultRow, scoreNMI, isPublicKind) - t.meanOver(greedy, scoreNMI, isPublicKind)); !math.IsNaN(gap) {
			add(gap >= leadOverGreedy, "all public sets: %+.1f to greedy (want %+d)", gap, leadOverGreedy)
		}
	}
	if random, ok := t.findRow(judge.Random); ok {
		misses := t.setsBelow(defaultRow, random, marginOfRandom)
		add(len(misses) == 0, "sets more than %d below random: %s", marginOfRandom, joinOrNone(misses))
	}
	for i, s := range t.sets {
		if s.name == "made-noise" || s.name == "made-nuisance" {
			nmi := 100 * defaultRow.scores[scoreNMI][i]
			add(nmi >= minAmongNoise, "%s: %.1f (want %d)", s.name, nmi, minAmongNoise)
		}
	}
	return lines
}

func (t table) bestOfKind(kind string) (variant string, mean float64) {
	mean = math.Inf(-1)
	for _, row := range t.rows {
		if !row.ranked || row.variant == defaultVariant || row.variant == judge.Random {
			continue
		}
		if m := t.meanOver(row, scoreNMI, acceptsOnlyKind(kind)); m > mean {
			variant, mean = row.variant, m
		}
	}
	return variant, mean
}

// setsBelow names the sets on which row has no score, or a score that is more than `margin` points of NMI below the
// score of the row `other`.
func (t table) setsBelow(row, other tableRow, margin float64) (list []string) {
	for i, s := range t.sets {
		switch gap := 100 * (row.scores[scoreNMI][i] - other.scores[scoreNMI][i]); {
		case math.IsNaN(row.scores[scoreNMI][i]):
			list = append(list, s.name+" (refused)")
		case gap < -margin:
			list = append(list, fmt.Sprintf("%s (%+.1f)", s.name, gap))
		}
	}
	return list
}

func wordForDemand(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}

func joinOrNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
