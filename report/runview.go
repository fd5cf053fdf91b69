package report

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

func (v *sectionView) addRunFacts(selection *stream.Selection) {
	add := func(name, value, note string) { v.Run = append(v.Run, fact{name, value, note}) }
	add("Method", selection.Method, drawing.TruncateText(selection.Why, 400))
	if selection.Version != "" { // older curves and grids have no version
		add("Version", selection.Version, "")
	}
	add("Seed", fmt.Sprint(selection.Seed), "")
	add("Rows used", usedRowsText(selection.Rows, selection.RowsUsed), "")
	add("Features", countText(int64(selection.Features)), "")
	add("Passes over the data", countText(int64(selection.Passes)), "")
	add("Reading", durationText(selection.Timing.Read), "busy")
	add("Accumulating", durationText(selection.Timing.Accumulate), "busy")
	add("Solving", durationText(selection.Timing.Solve), "busy")
	add("Elapsed", durationText(selection.Timing.Wall), "the others overlap")
	limit := ""
	if selection.Memory.Limit > 0 {
		limit = "limit " + bytesText(selection.Memory.Limit)
	}
	add("Peak memory", bytesText(selection.Memory.PeakRSS), limit)
	if selection.Transfer != nil {
		v.Run = append(v.Run, transferFact(selection.Transfer))
	}
	if selection.Memory.Scratch > 0 {
		add("Scratch space", bytesText(selection.Memory.Scratch), "")
	}
	for _, k := range slices.Sorted(maps.Keys(selection.Options)) {
		name := k
		if v.spell != nil {
			name = v.spell(k)
		}
		v.Options = append(v.Options, fact{Name: name, Value: optionValueText(selection.Options[k])})
	}
	v.Warnings, v.Inputs = newListView(stream.WarningsBySeverity(selection.Warnings), maxWarnings, sameValue), newListView(selection.Inputs, maxInputs, renderInput)
}

func transferFact(t *stream.Transfer) fact {
	note := "in " + countNoun(int(t.Requests), "request")
	if t.Retries > 0 {
		note += fmt.Sprintf(", %s of them sent again", countText(t.Retries))
	}
	return fact{"Fetched", bytesText(t.Fetched), note}
}

func renderInput(in stream.Input) markup {
	return formatHTML(`<tr><th scope="row"><bdi class="path">%s</bdi></th>%s<td class="path">%s</td></tr>`+"\n", in.Path, renderNumbers(countText(in.Rows), bytesText(in.Bytes)), in.Fingerprint)
}

func optionValueText(x any) string {
	switch x := x.(type) {
	case float64:
		return weightText(x)
	case string:
		return drawing.TruncateText(x, 400)
	}
	return drawing.TruncateText(fmt.Sprint(x), 400)
}

func (v *sectionView) fillFromSelection(s *stream.Selection, judged string, columnRows int) (err error) {
	v.addRunFacts(s)
	state := "yes"
	if !s.Converged {
		state = "no"
	}
	v.Run = append(v.Run, fact{"Iterations", countText(int64(s.Iterations)), "converged: " + state})
	v.Lead = fmt.Sprintf("%s: %s from %s rows", s.Method, chosenCountText(s), countText(s.RowsUsed))
	groups := featureGroups(s)
	v.Opening, v.Chosen = newOpening(s, judged), newChosenView(s, groups)
	v.Facts = []fact{{"Method", drawing.TruncateText(s.Method, 60), ""}, {"Rows", countText(s.RowsUsed), ""}, {"Passes", countText(int64(s.Passes)), ""}, {"Elapsed", durationText(s.Timing.Wall), ""}, {"Peak memory", bytesText(s.Memory.PeakRSS), ""}}
	if v.Curves, err = drawChartViews(explainedChart(s), scoreChart(s)); err != nil {
		return err
	}
	if v.Progress, err = drawChartViews(convergenceChart(s), residualChart(s)); err != nil {
		return err
	}
	v.Ranking, v.Columns = newRankingView(s, groups), newColumnsView(s, columnRows)
	if v.Alike, err = newCorrelationsView(s); err != nil {
		return err
	}
	if v.Map, err = newMapView(s); err != nil {
		return err
	}
	v.NoMap = missingMapText(s)
	v.Mask, err = newMaskView(s)
	return err
}

func (v *sectionView) fillFromCurve(c *stream.Curve) (err error) {
	ranking := selectionOfCurve(c)
	v.addRunFacts(ranking)
	v.Lead = fmt.Sprintf("%s: error over 1 to %s from %s rows", c.Method, chosenCountText(ranking), countText(c.RowsUsed))
	v.Opening, v.Chosen = newOpening(ranking, ""), newChosenView(ranking, nil)
	v.Facts = []fact{{"Method", drawing.TruncateText(c.Method, 60), ""}, {"Rows", countText(c.RowsUsed), ""}, {"Elapsed", durationText(c.Timing.Wall), ""}}
	v.Curves, err = drawChartViews(explainedChart(ranking))
	v.Ranking = newRankingView(ranking, nil)
	return err
}

func (v *sectionView) fillFromGrid(g *stream.Grid) (err error) {
	v.addRunFacts(&stream.Selection{Method: g.Method, Version: g.Version, Seed: g.Seed, Rows: g.Rows, RowsUsed: g.RowsUsed, Features: g.Features,
		Passes: g.Passes, Options: g.Options, Warnings: g.Warnings, Inputs: g.Inputs, Timing: g.Timing, Memory: g.Memory, Transfer: g.Transfer})
	what := groupOrFeatureOfGrid(g) + "s"
	each := fmt.Sprintf("%s of %s features each", countText(int64(g.K)), countText(int64(g.Features)))
	if g.Members != nil { // a budget may permit fewer
		each = fmt.Sprintf("up to %s of %s features each", countNoun(g.K, groupOrFeatureOfGrid(g)), countText(int64(g.Features)))
	}
	v.Lead = fmt.Sprintf("%s: %s, %s", g.Method, countNoun(len(g.Settings), "setting"), each)
	v.Facts = []fact{{"Settings", countText(int64(len(g.Settings))), ""}}
	v.Settings = renderSettings(g)
	if g.Recommended >= 0 {
		s := g.Settings[g.Recommended]
		if isFinite(s.Alpha) {
			v.Facts = append(v.Facts, fact{"Recommended α", weightText(float64(s.Alpha)), ""})
		}
		v.Facts = append(v.Facts, fact{"Recommended " + secondWeightLetter(g), weightText(secondWeight(s)), ""}, fact{"Its agreement", fixedText(float64(s.Agreement), 2), "with its neighbours"})
	}
	v.Facts = append(v.Facts, fact{"Rows", countText(g.RowsUsed), ""}, fact{"Elapsed", durationText(g.Timing.Wall), ""})
	v.Heat = agreementHeat(g).tableView()
	why := "No setting is recommended: " + g.Why
	if g.Recommended >= 0 {
		why = "Recommended: " + g.Why
	}
	v.Heat.Notes = []string{
		fmt.Sprintf("Each cell: the mean Jaccard index of its first %s %s with those of the settings next to it. Where it is high, the weights hardly matter.", countText(int64(g.K)), what),
		drawing.TruncateText(why, 1000),
	}
	v.Curves, err = drawChartViews(agreementCurve(g))
	return err
}

// chosenView lists at most maxRows chosen features.
type chosenView struct {
	First, Rest []chosenItem // features shown at first, and features shown after unfolding
	Button      string       // caption of the button that copies the names
	RestFrom    int          // rank of the first of Rest
}

// chosenItem is a chosen feature with the features that it represents. Verb is empty if these are unknown, and Near has
// the most correlated of them.
type chosenItem struct {
	Name, Verb string
	Near       []nearFeature
}

type nearFeature struct{ Name, R string } // R is empty if the correlation is unknown

const (
	maxChosenShown = 60  // features shown before the list is unfolded
	maxNear        = 3   // features shown that a chosen feature represents
	alikeFrom      = 0.5 // correlation from which a feature stands for another
)

func newChosenView(s *stream.Selection, groups []featureGroup) *chosenView {
	v := &chosenView{Button: "Copy " + countNoun(len(s.Selected), "name"), RestFrom: maxChosenShown + 1}
	if len(s.Selected) > maxRows {
		v.Button = fmt.Sprintf("Copy the first %s names", countText(maxRows))
	}
	for i, f := range s.Selected[:min(len(s.Selected), maxRows)] {
		item := chosenItem{Name: f.Name}
		if groups != nil {
			members := groups[i].members
			switch n := countText(int64(len(members))); {
			case len(members) == 0:
				item.Verb = "stands for itself alone"
			case members[0].Correlation != nil && math.Abs(float64(*members[0].Correlation)) < alikeFrom:
				item.Verb = "is like none; nearest to " + n + ":"
			default:
				item.Verb = "stands for " + n + ":"
			}
			for _, c := range members[:min(len(members), maxNear)] {
				near := nearFeature{Name: c.Name}
				if c.Correlation != nil {
					near.R = fixedText(float64(*c.Correlation), 2)
				}
				item.Near = append(item.Near, near)
			}
		}
		if i < maxChosenShown {
			v.First = append(v.First, item)
		} else {
			v.Rest = append(v.Rest, item)
		}
	}
	return v
}

// maxTagRunes bounds the number of runes of a name in the list of chosen features.
const maxTagRunes = 40

func truncateTag(name string) string { return drawing.TruncateText(name, maxTagRunes) }
