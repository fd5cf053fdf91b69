package quality

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/stream"
)

// score is one of the figures that a choice on a set is given. Of all the larger is the better.
type score int

const (
	scoreNMI       score = iota // of k-means on the columns as they are; of text by the directions of rows
	scoreFile                   // NMI of k-means on the columns as they are, of text too
	scoreStandard               // NMI of k-means on the columns standardized
	scoreKNN                    // accuracy of the nearest neighbour, as NMI
	scoreACC                    // of k-means, as NMI
	scoreExplained              // share of all columns, standardized
	scoreStability
	scoreFound
	scoreCount
)

// table compares the variants at one share of the features, or over all shares.
type table struct {
	title   string      // "5 % of the features"
	file    string      // "5", "all"
	sets    []dataset   // that are ranked
	kinds   []string    // of the sets
	rows    []tableRow  // by mean rank; all features, which are not ranked, come last
	ranks   judge.Ranks // of the ranked variants, in the order of rows
	refused int
}

// tableRow is a variant in a table: its scores by set, in the order of the table's sets. NaN stands
// for none.
type tableRow struct {
	variant       string
	ranked        bool
	rank          float64 // mean
	scores        [scoreCount][]float64
	seconds       float64 // sum over sets
	refused       int
	gap, gapError float64 // mean difference of NMI to the first row, and its standard error
}

// tables compares at every share, and over all: on the sets that are not held out and then, if there
// are any, on those that are.
func (r *run) tables(sets []dataset) (list []table) {
	all := make([]int, len(r.percents))
	for i := range all {
		all[i] = i
	}
	for _, heldOut := range []bool{false, true} {
		var of []dataset
		for _, s := range sets {
			if !s.unranked && s.heldOut == heldOut {
				of = append(of, s)
			}
		}
		title, file := " of the features", ""
		switch {
		case heldOut:
			title, file = title+", not chosen on", "-held-out"
		case r.heldOut > 0:
			title += ", chosen on"
		}
		if len(of) == 0 {
			continue
		}
		for i, p := range r.percents {
			list = append(list, r.tabulate(percentName(p)+" %"+title, percentName(p)+file, of, all[i:i+1]))
		}
		if len(all) > 1 {
			list = append(list, r.tabulate("All shares"+title, "all"+file, of, all))
		}
	}
	return list
}

// tabulate compares the means over some shares, as positions in percents. Several shares of one
// set are one block: they are not independent, as Friedman's test wants blocks to be.
func (r *run) tabulate(title, file string, sets []dataset, shares []int) table {
	t := table{title: title, file: file, sets: sets, kinds: kindsOf(sets)}
	for _, v := range r.variants {
		row := tableRow{variant: v.name, ranked: v.baseline != judge.All}
		for _, s := range sets {
			c := r.cell(s, v)
			add := func(to score, x float64) { row.scores[to] = append(row.scores[to], x) }
			nmi := c.mean(shares, func(c choiceMade) float64 { return spreadMean(c.rankedScores(s.kind).NMI) })
			if math.IsNaN(nmi) {
				row.refused++
			}
			add(scoreNMI, nmi)
			add(scoreFile, c.mean(shares, func(c choiceMade) float64 { return spreadMean(c.NMI) }))
			add(scoreStandard, c.mean(shares, func(c choiceMade) float64 {
				if c.Standard == nil {
					return math.NaN()
				}
				return spreadMean(c.Standard.NMI)
			}))
			add(scoreKNN, c.mean(shares, func(c choiceMade) float64 { return number(c.rankedScores(s.kind).KNN) }))
			add(scoreACC, c.mean(shares, func(c choiceMade) float64 { return spreadMean(c.rankedScores(s.kind).ACC) }))
			add(scoreExplained, c.mean(shares, func(c choiceMade) float64 { return 1 - float64(c.Error) }))
			add(scoreStability, c.known(shares, func(c choiceMade) float64 { return number(c.Stability) }))
			add(scoreFound, c.known(shares, func(c choiceMade) float64 { return c.shareFound(s) }))
			row.seconds += c.mean(shares, func(c choiceMade) float64 { return c.Seconds })
		}
		t.refused += row.refused
		t.rows = append(t.rows, row)
	}
	t.order()
	return t
}

// order ranks the variants and sorts them.
func (t *table) order() {
	blocks := make([][]float64, len(t.sets))
	for _, row := range t.rows {
		if row.ranked {
			for b := range blocks {
				blocks[b] = append(blocks[b], row.scores[scoreNMI][b])
			}
		}
	}
	ranks := judge.Friedman(blocks)
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

// meanOver is the mean of a row's score over the sets of the kinds that are wanted, those without one
// left out.
func (t table) meanOver(row tableRow, of score, wanted func(kind string) bool) float64 {
	var list []float64
	for i, x := range row.scores[of] {
		if wanted(t.sets[i].kind) && !math.IsNaN(x) {
			list = append(list, x)
		}
	}
	return judge.Summarize(list).Mean
}

// Kinds that a mean is over.
func anyKind(string) bool                 { return true }
func onlyKind(k string) func(string) bool { return func(kind string) bool { return kind == k } }

// rowOf is that of a variant, if it ran.
func (t table) rowOf(variant string) (tableRow, bool) {
	i := slices.IndexFunc(t.rows, func(row tableRow) bool { return row.variant == variant })
	if i < 0 {
		return tableRow{}, false
	}
	return t.rows[i], true
}

// cell is what was found about a variant on a set.
func (r *run) cell(s dataset, v variant) finding {
	i := slices.IndexFunc(r.table, func(c cell) bool { return c.set.name == s.name && c.variant.name == v.name })
	return r.table[i].finding
}

// known is the mean of a score over those of the shares that have it: stability, and the share
// of an answer, which not all have.
func (f finding) known(shares []int, score func(choiceMade) float64) float64 {
	var list []float64
	for _, i := range shares {
		if x := score(f.Choices[i]); !math.IsNaN(x) {
			list = append(list, x)
		}
	}
	return judge.Summarize(list).Mean
}

// mean is the mean of a score over some of the shares, NaN where one has none.
func (f finding) mean(shares []int, score func(choiceMade) float64) float64 {
	sum := 0.0
	for _, i := range shares {
		sum += score(f.Choices[i])
	}
	return sum / float64(len(shares))
}

func spreadMean(s *stream.Spread) float64 {
	if s == nil {
		return math.NaN()
	}
	return float64(s.Mean)
}

func number(n *stream.Number) float64 {
	if n == nil {
		return math.NaN()
	}
	return float64(*n)
}
