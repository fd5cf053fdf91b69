package report

import (
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

func hasLabels(e *stream.Evaluation) bool { return e.Label != "" || e.Protocol != "" }

func (v *sectionView) fillFromEvaluation(e *stream.Evaluation) (err error) {
	v.Lead = fmt.Sprintf("%s judged by clustering", countNoun(len(e.Results), "result"))
	if e.Protocol != "" {
		v.Lead += ", protocol " + drawing.TruncateText(e.Protocol, 40)
	}
	v.Inputs = newListView(e.Inputs, maxInputs, renderInput)
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
	v.Eval = renderResults(e, present)
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

func renderResults(e *stream.Evaluation, present []evaluationMeasure) markup {
	hasP := slices.ContainsFunc(e.Results, func(r stream.Evaluated) bool { return r.PBest != nil })
	heads := renderHeads("Features", "Method", "#k") + renderEach(present, func(m evaluationMeasure) markup {
		return formatHTML(`<th scope="col" class="n" title="%s">%s</th>`, m.about, m.name)
	}) + formatIf(hasP, `<th scope="col" class="n" title="Welch's t-test of NMI against the best at the same k">p</th>`)
	hasBest := false
	body := renderBody(e.Results, func(r stream.Evaluated) markup {
		isBest, p, key := r.Best != nil && *r.Best, "", ""
		hasBest = hasBest || isBest
		if r.PBest != nil {
			p, key = pValueText(float64(*r.PBest)), sortKey(float64(*r.PBest))
		}
		star := formatIf(isBest, ` <span class="star" title="best at its k, or not significantly worse">★<span class="hide"> best</span></span>`)
		return formatHTML(`<tr%s><th scope="row">%s%s</th><td><bdi>%s</bdi></td>%s`, formatIf(isBest, ` class="best"`), renderName(r.Name), star,
			drawing.TruncateText(r.Method, 60), renderNumbers(countText(int64(r.K)))) +
			renderEach(present, func(m evaluationMeasure) markup { return renderSpread(m.value(&r)) }) + formatIf(hasP, "%s", renderSorted(key, p)) + "</tr>\n"
	})
	notes := formatIf(hasLabels(e), "%s", renderNote("Scores of clusterings are means over the runs ± their standard deviation, as shares of 1.")) +
		renderEach(present, func(m evaluationMeasure) markup {
			return formatIf(!m.clustering, "%s", renderNote(m.name+": "+m.about+"."))
		}) +
		formatIf(hasBest, "%s", renderNote("★ is the best at its k, or not significantly worse."))
	return renderTable("scroll", "Results of the evaluation", "eval sortable", heads, body) + notes
}

func renderSpread(x *stream.Spread) markup {
	if x == nil {
		return renderNumbers("–")
	}
	return formatHTML(`<td class="n">%s%s</td>`, fixedText(float64(x.Mean), 3), formatIf(isFinite(x.Std), `<span class="sub">± %s</span>`, fixedText(float64(x.Std), 3)))
}
