package report

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/elbow"
	"github.com/ufs-stream/ufs-stream/stream"
)

// addRun fills in the description of the run. Every document says as much of it as a
// selection.
func (v *sectionView) addRun(r *stream.Selection) {
	add := func(name, value, note string) { v.Run = append(v.Run, fact{name, value, note}) }
	add("Method", r.Method, "")
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
	v.Warnings, v.Inputs = listOf(r.Warnings, mostWarnings, same), listOf(r.Inputs, mostInputs, input)
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

func (v *sectionView) selection(s *stream.Selection) (err error) {
	v.addRun(s)
	state := "yes"
	if !s.Converged {
		state = "no"
	}
	v.Run = append(v.Run, fact{"Iterations", count(int64(s.Iterations)), "converged: " + state})
	v.LeftOut = listOf(s.LeftOut, mostLeftOut, func(l stream.LeftOut) leftView { return leftView{l.Name, l.Why} })
	k := len(s.Selected)
	v.Lead = fmt.Sprintf("%s: %s of %s features from %s rows", s.Method, count(int64(k)), count(int64(s.Features)), count(s.RowsUsed))
	v.Facts = []fact{{"Selected", count(int64(k)), "of " + plural(s.Features, "feature")}}
	if last := s.Selected[k-1]; finite(last.Error) {
		v.Facts = append(v.Facts, fact{"Explained", share(1 - float64(last.Error)), "of the sum of squares"})
	}
	errors, scores := errorsOf(s), scoresOf(s)
	switch {
	case s.Size != nil:
		v.sizeFact(s.Size)
	case errors != nil:
		v.elbowFact(errors)
	case scores != nil:
		v.elbowFact(scores)
	}
	v.Facts = append(v.Facts, fact{"Rows", count(s.RowsUsed), ""}, fact{"Elapsed", seconds(s.Timing.Wall), ""}, fact{"Peak memory", bytesOf(s.Memory.PeakRSS), ""})
	if v.Curves, err = charts(errors, scores); err != nil {
		return err
	}
	if v.Progress, err = charts(convergence(s), residuals(s)); err != nil {
		return err
	}
	groups := groupsOf(s)
	v.Ranking, v.Groups = rankingOf(s, groups), groupsViewOf(groups)
	v.Mask, err = maskOf(s)
	return err
}

// sizeFact says how many features are worth keeping, as select and path do.
func (v *sectionView) sizeFact(z *stream.Size) {
	v.Facts = append(v.Facts, fact{"Worth keeping", count(int64(z.Recommended)), z.Why})
}

// elbowFact puts the elbow among the facts.
func (v *sectionView) elbowFact(c *shown) {
	s := c.Series[0]
	if e := elbow.Of(s.X, s.Y); e >= 0 {
		v.Facts = append(v.Facts, fact{"Elbow", number(s.X[e]), "features, of the range shown"})
	}
}

func (v *sectionView) curve(c *stream.Curve) (err error) {
	ranking := curveRanking(c)
	v.addRun(ranking)
	last := c.Points[len(c.Points)-1]
	v.Lead = fmt.Sprintf("%s: error over 1 to %s of %s features from %s rows", c.Method, count(int64(last.K)), count(int64(c.Features)), count(c.RowsUsed))
	curve := errorsOf(ranking)
	v.Facts = []fact{{"Features", count(int64(last.K)), "of " + count(int64(c.Features))}}
	if finite(last.Error) {
		v.Facts = append(v.Facts, fact{"Explained", share(1 - float64(last.Error)), "by all of them"})
	}
	switch {
	case c.Size != nil:
		v.sizeFact(c.Size)
	case curve != nil:
		v.elbowFact(curve)
	}
	v.Facts = append(v.Facts, fact{"Rows", count(c.RowsUsed), ""}, fact{"Elapsed", seconds(c.Timing.Wall), ""})
	v.Curves, err = charts(curve)
	v.Ranking = rankingOf(ranking, nil)
	return err
}

func (v *sectionView) grid(g *stream.Grid) (err error) {
	v.addRun(&stream.Selection{Method: g.Method, Version: g.Version, Seed: g.Seed, Rows: g.Rows, RowsUsed: g.RowsUsed, Features: g.Features,
		Passes: g.Passes, Options: g.Options, Warnings: g.Warnings, Inputs: g.Inputs, Timing: g.Timing, Memory: g.Memory, Transfer: g.Transfer})
	v.Lead = fmt.Sprintf("%s: %s, %s of %s features each", g.Method, plural(len(g.Settings), "setting"), count(int64(g.K)), count(int64(g.Features)))
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
		fmt.Sprintf("Each cell: the mean Jaccard index of its first %s features with those of the settings next to it. Where it is high, the weights hardly matter.", count(int64(g.K))),
		cut(why, 1000),
	}
	v.Curves, err = charts(agreementCurve(g))
	return err
}
