package quality

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
)

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

func (r *run) findLakeChoice(s dataset, v variant, auto bool) choiceMade {
	choices := r.lookUpFinding(s, v).Choices
	if auto {
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
		metOrMissed(len(uncovered) == 0) + ": lakes of which the default by -k auto misses a factor: " + joinOrNone(uncovered),
		fmt.Sprintf("%s: lakes of which it explains less than %g of greedy's share: %s", metOrMissed(len(unexplained) == 0), shareOfExplained, joinOrNone(unexplained)),
	}
}
