package report

import (
	"strings"

	"github.com/ufs-stream/ufs-stream/report/internal/drawing"
	"github.com/ufs-stream/ufs-stream/stream"
)

func selectionOfCurve(c *stream.Curve) *stream.Selection {
	s := &stream.Selection{Method: c.Method, Version: c.Version, Seed: c.Seed, Rows: c.Rows, RowsUsed: c.RowsUsed, Features: c.Features,
		Passes: c.Passes, Options: c.Options, Warnings: c.Warnings, Inputs: c.Inputs, Timing: c.Timing, Memory: c.Memory, Size: c.Size, Transfer: c.Transfer}
	for _, p := range c.Points {
		s.Selected = append(s.Selected, stream.Selected{Rank: p.K, Name: p.Name, Members: p.Members, Cost: p.Cost, Score: p.Score, Error: p.Error})
	}
	return s
}

// settingsView is the table of the settings of a grid.
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

const maxSettings = 400

func newSettingsView(g *stream.Grid) *settingsView {
	v := &settingsView{Second: secondWeightLetter(g)}
	for i, s := range g.Settings {
		v.Alpha = v.Alpha || isFinite(s.Alpha)
		if i >= maxSettings {
			continue
		}
		names := newListView(s.Selected, 4, func(name string) string { return drawing.TruncateText(name, 40) })
		r := settingRow{
			Alpha: weightText(float64(s.Alpha)), Second: weightText(secondWeight(s)), Objective: numberText(float64(s.Objective)),
			Iterations: countText(int64(s.Iterations)), Agreement: fixedText(float64(s.Agreement), 2), Converged: s.Converged,
			Recommended: i == g.Recommended, First: strings.Join(names.Shown, ", "), Warnings: drawing.TruncateText(strings.Join(s.Warnings, "; "), 400),
		}
		if names.More != "" {
			r.First += " …"
		}
		v.Rows = append(v.Rows, r)
	}
	if n := len(g.Settings) - maxSettings; n > 0 {
		v.More = countText(int64(n))
	}
	return v
}
