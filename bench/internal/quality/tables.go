package quality

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/stream"
)

// table compares the variants at one share of the features, or over all shares.
type table struct {
	title   string      // "5 %", "all shares"
	file    string      // "5", "all"
	sets    []string    // that are ranked
	rows    []tableRow  // by mean rank; all features, which are not ranked, come last
	ranks   judge.Ranks // of the ranked variants, in the order of rows
	refused int
}

// tableRow is a variant in a table: its scores by set, in the order of the table's sets, and
// their means. NaN stands for none.
type tableRow struct {
	variant       string
	ranked        bool
	rank          float64 // mean
	nmi           []float64
	sets          float64 // mean of nmi over all ranked sets that have one
	public        float64
	made          float64
	acc           float64
	error         float64
	stability     float64
	found         float64
	seconds       float64 // sum over sets
	refused       int
	gap, gapError float64 // mean difference of nmi to the first row, and its standard error
}

// tables compares at every share, and over all.
func (r *run) tables(sets []dataset) []table {
	var list []table
	for i, p := range r.percents {
		list = append(list, r.tabulate(percentName(p)+" %", percentName(p), sets, []int{i}))
	}
	if len(r.percents) > 1 {
		all := make([]int, len(r.percents))
		for i := range all {
			all[i] = i
		}
		list = append(list, r.tabulate("all shares", "all", sets, all))
	}
	return list
}

// tabulate compares the means over some shares, as positions in percents. Several shares of one
// set are one block: they are not independent, as Friedman's test wants blocks to be.
func (r *run) tabulate(title, file string, sets []dataset, shares []int) table {
	t := table{title: title, file: file}
	var ranked []dataset
	for _, s := range sets {
		if !s.unranked {
			ranked = append(ranked, s)
			t.sets = append(t.sets, s.name)
		}
	}
	for _, v := range r.variants {
		row := tableRow{variant: v.name, ranked: v.baseline != judge.All}
		scores := make(map[string][]float64)
		for _, s := range ranked {
			c := r.cell(s, v)
			nmi := c.mean(shares, func(c choiceMade) float64 { return spreadMean(c.NMI) })
			row.nmi = append(row.nmi, nmi)
			if math.IsNaN(nmi) {
				row.refused++
			}
			add := func(name string, x float64) {
				if !math.IsNaN(x) {
					scores[name] = append(scores[name], x)
				}
			}
			add("sets", nmi)
			if s.made {
				add("made", nmi)
			} else {
				add("public", nmi)
			}
			add("acc", c.mean(shares, func(c choiceMade) float64 { return spreadMean(c.ACC) }))
			add("error", c.mean(shares, func(c choiceMade) float64 { return float64(c.Error) }))
			add("stability", c.known(shares, func(c choiceMade) *stream.Number { return c.Stability }))
			add("found", c.known(shares, func(c choiceMade) *stream.Number { return c.Found }))
			row.seconds += c.mean(shares, func(c choiceMade) float64 { return c.Seconds })
		}
		mean := func(name string) float64 { return judge.Summarize(scores[name]).Mean }
		row.sets, row.public, row.made, row.acc = mean("sets"), mean("public"), mean("made"), mean("acc")
		row.error, row.stability, row.found = mean("error"), mean("stability"), mean("found")
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
				blocks[b] = append(blocks[b], row.nmi[b])
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
			if gap := row.nmi[b] - t.rows[0].nmi[b]; !math.IsNaN(gap) {
				gaps = append(gaps, gap)
			}
		}
		s := judge.Summarize(gaps)
		row.gap, row.gapError = s.Mean, s.Std/math.Sqrt(float64(s.Runs))
	}
}

// cell is what was found about a variant on a set.
func (r *run) cell(s dataset, v variant) finding {
	i := slices.IndexFunc(r.table, func(c cell) bool { return c.set.name == s.name && c.variant.name == v.name })
	return r.table[i].finding
}

// known is the mean of a score over those of the shares that have it: stability, and the share
// of an answer, which not all have.
func (f finding) known(shares []int, score func(choiceMade) *stream.Number) float64 {
	var list []float64
	for _, i := range shares {
		if n := score(f.Choices[i]); n != nil {
			list = append(list, float64(*n))
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
