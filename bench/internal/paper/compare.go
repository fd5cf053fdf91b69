package paper

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/tuning"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/stream"
)

// comparison tests the NMI of one result against another one.
type comparison struct {
	set, method, other string
	count              int
	difference         float64 // of the mean NMI, in points
	tests              tuning.Tests
	holm               float64 // the P of Wilcoxon's test with Holm's correction
}

func newComparison(set string, count int, method, other string, a, b stream.Evaluated) comparison {
	c := comparison{set: set, method: method, other: other, count: count, tests: tuning.CompareRuns(a, b), difference: math.NaN()}
	x, haveX := tuning.ScoreOf(a, testedField)
	y, haveY := tuning.ScoreOf(b, testedField)
	if haveX && haveY {
		c.difference = 100 * float64(x.Mean-y.Mean)
	}
	return c
}

func correctByHolm(family []comparison) []comparison {
	p := make([]float64, len(family))
	for i, c := range family {
		p[i] = c.tests.Wilcoxon
	}
	for i, adjusted := range judge.AdjustHolm(p) {
		family[i].holm = adjusted
	}
	return family
}

// compareWithBest compares, for each set and number of features, the method of the highest NMI with every other one.
// All features are no selection, and are left out. Holm's correction is over the methods of a set and number.
func (t outcome) compareWithBest() (list []comparison) {
	for _, set := range t.table.sets {
		for _, k := range set.counts {
			var rows []row
			best := -1
			for _, r := range t.rows {
				score, ok := tuning.ScoreOf(r.result, testedField)
				if !ok || r.set.title != set.title || r.count != k || r.method.title == allFeatures {
					continue
				}
				if rows = append(rows, r); best < 0 || score.Mean > meanOf(rows[best]) {
					best = len(rows) - 1
				}
			}
			var family []comparison
			for i, r := range rows {
				if i != best {
					family = append(family, newComparison(set.title, k, rows[best].method.title, r.method.title, rows[best].result, r.result))
				}
			}
			list = append(list, correctByHolm(family)...)
		}
	}
	return list
}

func meanOf(r row) stream.Number {
	score, _ := tuning.ScoreOf(r.result, testedField)
	return score.Mean
}

func (t outcome) compareTunedMethods() (list []comparison) {
	for _, pair := range t.tuned {
		list = append(list,
			newComparison(pair.best.Set, pair.best.Count, pair.best.Method, pair.alike.Method, pair.best.Again, pair.alike.Again),
			newComparison(pair.best.Set, pair.best.Count, pair.best.Method, "its default", pair.best.Again, pair.best.Default))
	}
	return correctByHolm(list)
}

func (t outcome) testSection() section {
	return section{level: 3, title: "Tests", texts: []string{"The method of the highest NMI at this number of features, beside each other one, over the runs: Welch's t-test, two-tailed\n" +
		"and one-tailed (that the method is better), and Wilcoxon's signed-rank test of runs that start alike, two-sided, with Holm's\n" +
		"correction over the methods of the set and number."}, table: tabulateTests(t.compareWithBest())}
}

func (t outcome) tunedTestSection() section {
	return section{level: 3, title: "Tests of the tuned settings", texts: []string{"The runs of \"again\" beside those of the best random selection and those of the default, tested likewise. Holm's correction is\n" +
		"over the rows."}, table: tabulateTests(t.compareTunedMethods())}
}

func tabulateTests(list []comparison) results.Table {
	t := results.Table{Titles: []string{"dataset", "method", "beside", "features", "NMI: difference", "p, two-tailed t", "p, one-tailed t", "p, Wilcoxon and Holm"}, TextColumns: 3}
	for _, c := range list {
		t.AddRow(c.set, c.method, c.other, fmt.Sprint(c.count), fmt.Sprintf("%+.1f", c.difference), results.FormatChance(c.tests.TwoTailed), results.FormatChance(c.tests.OneTailed), results.FormatChance(c.holm))
	}
	return t
}

func writeCSV(w io.Writer, outcomes []outcome) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"table", "kind", "dataset", "features", "method", "setting", "measure", "paper", "ours", "std", "difference", "best", "all_columns",
		"beside", "p_two_tailed", "p_one_tailed", "p_wilcoxon_holm"}}
	number := func(x float64) string {
		if math.IsNaN(x) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	for _, t := range outcomes {
		score := func(kind string, set dataset, count int, method, setting string, m measure, x comparedScore, best string, isMiss bool) {
			if !x.have {
				return
			}
			paper, difference, why := "", "", ""
			if isMiss {
				why = t.explainByAll(set, m)
			}
			if x.printed {
				paper, difference = number(x.paper), number(math.Round(10*x.difference)/10)
			}
			rows = append(rows, []string{t.table.name, kind, set.title, fmt.Sprint(count), method, setting, m.title, paper,
				number(100 * float64(x.score.Mean)), number(100 * float64(x.score.Std)), difference, best, why, "", "", "", ""})
		}
		for _, r := range t.rows {
			for _, m := range t.table.measures {
				best := ""
				if m.field == testedField && r.result.Best != nil {
					best = strconv.FormatBool(*r.result.Best)
				}
				x := t.compareWithPaper(r, m)
				score("default", r.set, r.count, r.method.title, "", m, x, best, x.isFar())
			}
		}
		for _, pair := range t.tuned {
			for _, r := range []tuning.Result{pair.best, pair.alike} {
				for _, m := range t.table.measures {
					chosen, again, set, setting := comparedScore{}, t.compareTuned(r, m), dataset{title: r.Set}, strings.Join(r.Flags, " ")
					chosen.score, chosen.have = tuning.ScoreOf(r.Chosen, m.field)
					score("chosen", set, r.Count, r.Method, setting, m, chosen, "", false)
					score("highest", set, 0, r.Method, "", m, comparedScore{score: r.Highest[m.field], have: chosen.have}, "", false)
					score("again", set, r.Count, r.Method, setting, m, again, "", again.difference < 0)
				}
			}
		}
		for _, list := range [][]comparison{t.compareWithBest(), t.compareTunedMethods()} {
			for _, x := range list {
				rows = append(rows, []string{t.table.name, "test", x.set, fmt.Sprint(x.count), x.method, "", "NMI", "", "", "", number(x.difference), "", "",
					x.other, number(x.tests.TwoTailed), number(x.tests.OneTailed), number(x.holm)})
			}
		}
	}
	return c.WriteAll(rows)
}
