package quality

import (
	"cmp"
	"math"
	"slices"

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
	t := table{title: title, file: file, sets: sets, kinds: kindsOf(sets)}
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
	}
}

func (t table) meanOver(row tableRow, of score, wanted func(kind string) bool) float64 {
	var list []float64
	for i, x := range row.scores[of] {
		if wanted(t.sets[i].kind) && !math.IsNaN(x) {
			list = append(list, x)
		}
	}
	return judge.Summarize(list).Mean
}

func anyKind(string) bool                 { return true }
func onlyKind(k string) func(string) bool { return func(kind string) bool { return kind == k } }

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
