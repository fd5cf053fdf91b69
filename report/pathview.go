package report

import (
	"fmt"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// curveRanking is the selection that a curve came from.
func curveRanking(c *stream.Curve) *stream.Selection {
	s := &stream.Selection{Method: c.Method, Version: c.Version, Seed: c.Seed, Rows: c.Rows, RowsUsed: c.RowsUsed, Features: c.Features,
		Passes: c.Passes, Options: c.Options, Warnings: c.Warnings, Inputs: c.Inputs, Timing: c.Timing, Memory: c.Memory, Size: c.Size, Transfer: c.Transfer}
	for _, p := range c.Points {
		s.Selected = append(s.Selected, stream.Selected{Rank: p.K, Name: p.Name, Score: p.Score, Error: p.Error})
	}
	return s
}

// settingsView is the grid as a table.
type settingsView struct {
	Alpha  bool
	Second string // the letter of the second weight
	Rows   []settingRow
	More   string
}

type settingRow struct {
	Alpha, Second, Objective, Iterations, Agreement string
	Converged, Recommended                          bool
	First                                           string
	Warnings                                        string
}

const mostSettings = 400

func settingsOf(g *stream.Grid) *settingsView {
	v := &settingsView{Second: letter(g)}
	for i, s := range g.Settings {
		v.Alpha = v.Alpha || finite(s.Alpha)
		if i >= mostSettings {
			continue
		}
		names := listOf(s.Selected, 4, func(name string) string { return cut(name, 40) })
		r := settingRow{
			Alpha: setting(float64(s.Alpha)), Second: setting(secondOf(s)), Objective: number(float64(s.Objective)),
			Iterations: count(int64(s.Iterations)), Agreement: fixed(float64(s.Agreement), 2), Converged: s.Converged,
			Recommended: i == g.Recommended, First: strings.Join(names.Shown, ", "), Warnings: cut(strings.Join(s.Warnings, "; "), 400),
		}
		if names.More != "" {
			r.First += " …"
		}
		v.Rows = append(v.Rows, r)
	}
	if n := len(g.Settings) - mostSettings; n > 0 {
		v.More = count(int64(n))
	}
	return v
}

// evalView is the table of an evaluation.
type evalView struct {
	Heads []headView
	Rows  []evalRow
	P     bool
	Note  string
}

type headView struct{ Name, About string }

type evalRow struct {
	Name, Method, K, P string
	Best               bool
	Cells              []estimateView
}

type estimateView struct{ Mean, Std string }

func (v *sectionView) evaluation(e *stream.Evaluation) (err error) {
	v.Lead = fmt.Sprintf("%s judged by clustering", plural(len(e.Results), "result"))
	if e.Protocol != "" {
		v.Lead += ", protocol " + cut(e.Protocol, 40)
	}
	v.Inputs = listOf(e.Inputs, mostInputs, input)
	for _, f := range []fact{
		{"Protocol", e.Protocol, ""}, {"Runs", count(int64(e.Runs)), ""}, {"Restarts", count(int64(e.Restarts)), "in each run"},
		{"Clusters", count(int64(e.Clusters)), ""}, {"Label", e.Label, ""}, {"Scale", e.Scale, ""}, {"Seed", fmt.Sprint(e.Seed), ""},
		{"Version", e.Version, ""}, {"Features", count(int64(e.Features)), "in all"},
	} {
		if f.Value != "" && f.Value != "0" {
			f.Value = cut(f.Value, 200)
			v.Run = append(v.Run, f)
		}
	}
	note := ""
	if e.Sampled {
		note = "a sample"
	}
	v.Run = append(v.Run, fact{"Rows used", rowsOf(e.Rows, e.RowsUsed), note})
	if e.Timing.Wall > 0 {
		v.Run = append(v.Run, fact{"Elapsed", seconds(e.Timing.Wall), ""})
	}
	if e.Memory.PeakRSS > 0 {
		v.Run = append(v.Run, fact{"Peak memory", bytesOf(e.Memory.PeakRSS), ""})
	}
	if e.Transfer != nil {
		v.Run = append(v.Run, transferFact(e.Transfer))
	}
	v.Warnings = listOf(e.Warnings, mostWarnings, same)
	taken := measured(e)
	if e.Label == "" && e.Protocol == "" {
		v.Lead = fmt.Sprintf("%s judged without labels", plural(len(e.Results), "result"))
	}
	t := &evalView{Note: "Means over the runs ± their standard deviation, as shares of 1. Best at its k, or not significantly worse, is marked."}
	for _, m := range taken {
		t.Heads = append(t.Heads, headView{m.name, m.about})
	}
	for i := range e.Results {
		r := &e.Results[i]
		row := evalRow{Name: r.Name, Method: cut(r.Method, 60), K: count(int64(r.K)), Best: r.Best != nil && *r.Best}
		if r.PBest != nil {
			row.P = number(float64(*r.PBest))
			t.P = true
		}
		for _, m := range taken {
			cell := estimateView{Mean: "–"}
			if x := m.value(r); x != nil {
				cell.Mean = fixed(float64(x.Mean), 3)
				if finite(x.Std) {
					cell.Std = fixed(float64(x.Std), 3)
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	v.Eval = t
	for _, m := range taken {
		if c := evaluationChart(e, m); c != nil {
			more, err := charts(&shown{Chart: *c, slug: m.slug, label: "Line chart: " + c.Title + ". The table above has the numbers."})
			if err != nil {
				return err
			}
			v.Curves = append(v.Curves, more...)
		}
	}
	return nil
}
