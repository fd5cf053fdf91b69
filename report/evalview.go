package report

import (
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

func hasLabels(e *stream.Evaluation) bool { return e.Label != "" || e.Protocol != "" }

type evalView struct {
	Heads []measureHeadView
	Rows  []evalRow
	P     bool // some rows have a p-value
	Notes []string
}

type measureHeadView struct{ Name, About string }

type evalRow struct {
	Name, Method, K, P string
	SortP              string
	Best               bool
	Cells              []estimateView
}

type estimateView struct{ Mean, Std string }

func (v *sectionView) fillFromEvaluation(e *stream.Evaluation) (err error) {
	v.Lead = fmt.Sprintf("%s judged by clustering", countNoun(len(e.Results), "result"))
	if e.Protocol != "" {
		v.Lead += ", protocol " + drawing.TruncateText(e.Protocol, 40)
	}
	v.Inputs = newListView(e.Inputs, maxInputs, newInputView)
	scale := e.Scale
	if !hasLabels(e) { // then the rows were not clustered
		scale = ""
	}
	for _, f := range []fact{
		{"Protocol", e.Protocol, ""}, {"Runs", countText(int64(e.Runs)), ""}, {"Restarts", countText(int64(e.Restarts)), "in each run"},
		{"Clusters", countText(int64(e.Clusters)), ""}, {"Folds", countText(int64(e.Folds)), "of classifiers"}, {"Label", e.Label, ""}, {"Scale", scale, "of what is clustered"},
		{"Scale", e.ReconstructionScale, "of what is reconstructed"}, {"Seed", fmt.Sprint(e.Seed), ""},
		{"Version", e.Version, ""}, {"Features", countText(int64(e.Features)), "in all"},
	} {
		if f.Value != "" && f.Value != "0" {
			f.Value = drawing.TruncateText(f.Value, 200)
			v.Run = append(v.Run, f)
		}
	}
	note := ""
	if e.Sampled {
		note = "a sample"
	}
	v.Run = append(v.Run, fact{"Rows used", usedRowsText(e.Rows, e.RowsUsed), note})
	if e.Timing.Wall > 0 {
		v.Run = append(v.Run, fact{"Elapsed", durationText(e.Timing.Wall), ""})
	}
	if e.Memory.PeakRSS > 0 {
		v.Run = append(v.Run, fact{"Peak memory", bytesText(e.Memory.PeakRSS), ""})
	}
	if e.Transfer != nil {
		v.Run = append(v.Run, transferFact(e.Transfer))
	}
	v.Warnings = newListView(stream.WarningsBySeverity(e.Warnings), maxWarnings, sameValue)
	present := presentMeasures(e)
	if !hasLabels(e) {
		v.Lead = fmt.Sprintf("%s judged without labels", countNoun(len(e.Results), "result"))
	}
	t := new(evalView)
	if hasLabels(e) {
		t.Notes = append(t.Notes, "Scores of clusterings are means over the runs ± their standard deviation, as shares of 1.")
	}
	for _, m := range present {
		if !m.clustering {
			t.Notes = append(t.Notes, m.name+": "+m.about+".")
		}
	}
	if slices.ContainsFunc(e.Results, func(r stream.Evaluated) bool { return r.Best != nil && *r.Best }) {
		t.Notes = append(t.Notes, "★ is the best at its k, or not significantly worse.")
	}
	for _, m := range present {
		t.Heads = append(t.Heads, measureHeadView{m.name, m.about})
	}
	for i := range e.Results {
		r := &e.Results[i]
		row := evalRow{Name: r.Name, Method: drawing.TruncateText(r.Method, 60), K: countText(int64(r.K)), Best: r.Best != nil && *r.Best}
		if r.PBest != nil {
			row.P = pValueText(float64(*r.PBest))
			row.SortP = sortKey(float64(*r.PBest))
			t.P = true
		}
		for _, m := range present {
			cell := estimateView{Mean: "–"}
			if x := m.value(r); x != nil {
				cell.Mean = fixedText(float64(x.Mean), 3)
				if isFinite(x.Std) {
					cell.Std = fixedText(float64(x.Std), 3)
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	v.Eval = t
	for _, m := range present {
		if c := evaluationChart(e, m); c != nil {
			more, err := drawChartViews(&describedChart{Chart: *c, slug: m.slug, label: "Line chart: " + c.Title + ". The table above has the numbers."})
			if err != nil {
				return err
			}
			v.Curves = append(v.Curves, more...)
		}
	}
	return nil
}
