package report

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// addRun fills in the description of the run. Every document says as much of it as a
// selection.
func (v *sectionView) addRun(r *stream.Selection) {
	add := func(name, value, note string) { v.Run = append(v.Run, fact{name, value, note}) }
	add("Method", r.Method, cut(r.Why, 400))
	if r.Version != "" { // of older curves and grids
		add("Version", r.Version, "")
	}
	add("Seed", fmt.Sprint(r.Seed), "")
	add("Rows used", rowsOf(r.Rows, r.RowsUsed), "")
	add("Features", count(int64(r.Features)), "")
	add("Passes over the data", count(int64(r.Passes)), "")
	add("Reading", seconds(r.Timing.Read), "busy")
	add("Accumulating", seconds(r.Timing.Accumulate), "busy")
	add("Solving", seconds(r.Timing.Solve), "busy")
	add("Elapsed", seconds(r.Timing.Wall), "the others overlap")
	limit := ""
	if r.Memory.Limit > 0 {
		limit = "limit " + bytesOf(r.Memory.Limit)
	}
	add("Peak memory", bytesOf(r.Memory.PeakRSS), limit)
	if r.Transfer != nil {
		v.Run = append(v.Run, transferFact(r.Transfer))
	}
	if r.Memory.Scratch > 0 {
		add("Scratch space", bytesOf(r.Memory.Scratch), "")
	}
	for _, k := range slices.Sorted(maps.Keys(r.Options)) {
		name := k
		if v.spell != nil {
			name = v.spell(k)
		}
		v.Options = append(v.Options, fact{Name: name, Value: option(r.Options[k])})
	}
	v.Warnings, v.Inputs = listOf(stream.WarningsBySeverity(r.Warnings), mostWarnings, same), listOf(r.Inputs, mostInputs, input)
}

// transferFact is what was fetched from object stores.
func transferFact(t *stream.Transfer) fact {
	note := "in " + plural(int(t.Requests), "request")
	if t.Retries > 0 {
		note += fmt.Sprintf(", %s of them sent again", count(t.Retries))
	}
	return fact{"Fetched", bytesOf(t.Fetched), note}
}

func input(in stream.Input) inputView {
	return inputView{in.Path, count(in.Rows), bytesOf(in.Bytes), in.Fingerprint}
}

// option is the value of a flag for people.
func option(x any) string {
	switch x := x.(type) {
	case float64:
		return setting(x)
	case string:
		return cut(x, 400)
	}
	return cut(fmt.Sprint(x), 400)
}

func (v *sectionView) selection(s *stream.Selection, judged string) (err error) {
	v.addRun(s)
	state := "yes"
	if !s.Converged {
		state = "no"
	}
	v.Run = append(v.Run, fact{"Iterations", count(int64(s.Iterations)), "converged: " + state})
	v.LeftOut = listOf(stream.BySeverity(s.LeftOut), mostLeftOut, func(l stream.LeftOut) leftView { return leftView{l.Name, l.Why} })
	v.Lead = fmt.Sprintf("%s: %s from %s rows", s.Method, chosenCount(s), count(s.RowsUsed))
	v.Opening, v.Chosen = openingOf(s, judged), chosenOf(s)
	v.Facts = []fact{{"Method", cut(s.Method, 60), ""}, {"Rows", count(s.RowsUsed), ""}, {"Passes", count(int64(s.Passes)), ""}, {"Elapsed", seconds(s.Timing.Wall), ""}, {"Peak memory", bytesOf(s.Memory.PeakRSS), ""}}
	if v.Curves, err = charts(errorsOf(s), scoresOf(s)); err != nil {
		return err
	}
	if v.Progress, err = charts(convergence(s), residuals(s)); err != nil {
		return err
	}
	groups := groupsOf(s)
	v.Ranking, v.Groups = rankingOf(s, groups), groupsViewOf(groups)
	if v.Alike, err = alikeOf(s); err != nil {
		return err
	}
	v.Missing = missingOf(s)
	v.Mask, err = maskOf(s)
	return err
}

func (v *sectionView) curve(c *stream.Curve) (err error) {
	ranking := curveRanking(c)
	v.addRun(ranking)
	v.Lead = fmt.Sprintf("%s: error over 1 to %s from %s rows", c.Method, chosenCount(ranking), count(c.RowsUsed))
	v.Opening, v.Chosen = openingOf(ranking, ""), chosenOf(ranking)
	v.Facts = []fact{{"Method", cut(c.Method, 60), ""}, {"Rows", count(c.RowsUsed), ""}, {"Elapsed", seconds(c.Timing.Wall), ""}}
	v.Curves, err = charts(errorsOf(ranking))
	v.Ranking = rankingOf(ranking, nil)
	return err
}

func (v *sectionView) grid(g *stream.Grid) (err error) {
	v.addRun(&stream.Selection{Method: g.Method, Version: g.Version, Seed: g.Seed, Rows: g.Rows, RowsUsed: g.RowsUsed, Features: g.Features,
		Passes: g.Passes, Options: g.Options, Warnings: g.Warnings, Inputs: g.Inputs, Timing: g.Timing, Memory: g.Memory, Transfer: g.Transfer})
	what := gridUnit(g) + "s"
	each := fmt.Sprintf("%s of %s features each", count(int64(g.K)), count(int64(g.Features)))
	if g.Members != nil { // a budget may leave fewer
		each = fmt.Sprintf("up to %s of %s features each", plural(g.K, gridUnit(g)), count(int64(g.Features)))
	}
	v.Lead = fmt.Sprintf("%s: %s, %s", g.Method, plural(len(g.Settings), "setting"), each)
	v.Facts = []fact{{"Settings", count(int64(len(g.Settings))), ""}}
	v.Settings = settingsOf(g)
	if g.Recommended >= 0 {
		s := g.Settings[g.Recommended]
		if finite(s.Alpha) {
			v.Facts = append(v.Facts, fact{"Recommended α", setting(float64(s.Alpha)), ""})
		}
		v.Facts = append(v.Facts, fact{"Recommended " + letter(g), setting(secondOf(s)), ""}, fact{"Its agreement", fixed(float64(s.Agreement), 2), "with its neighbours"})
	}
	v.Facts = append(v.Facts, fact{"Rows", count(g.RowsUsed), ""}, fact{"Elapsed", seconds(g.Timing.Wall), ""})
	v.Heat = agreementHeat(g).view()
	why := "No setting is recommended: " + g.Why
	if g.Recommended >= 0 {
		why = "Recommended: " + g.Why
	}
	v.Heat.Notes = []string{
		fmt.Sprintf("Each cell: the mean Jaccard index of its first %s %s with those of the settings next to it. Where it is high, the weights hardly matter.", count(int64(g.K)), what),
		cut(why, 1000),
	}
	v.Curves, err = charts(agreementCurve(g))
	return err
}
