package print

import (
	"io"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/stream"
)

// secondWeightFlag returns the flag of the method's weight that g varies in addition to alpha, or "".
func secondWeightFlag(g *stream.Grid) string {
	for _, t := range g.Settings {
		if t.Beta != nil {
			return "beta"
		}
	}
	return "gamma"
}

// WriteGrid writes g, a selection for each setting of the method, as a table, JSON, CSV or Parquet.
func WriteGrid(w io.Writer, g *stream.Grid, o Options) error {
	return output{g.Encode, func(w *screen.Page) { printGrid(w, g) }, gridColumns(g), len(g.Settings)}.writeTo(w, o)
}

func gridColumns(g *stream.Grid) []column {
	at := func(i int) *stream.GridSetting { return &g.Settings[i] }
	second := secondWeightFlag(g)
	columns := []column{
		{name: "alpha", title: ">alpha", value: func(i int) stream.Number { return at(i).Alpha }},
		{name: second, title: ">" + second, value: func(i int) stream.Number { _, weight := at(i).Second(); return weight }},
		{name: "objective", title: ">objective", value: func(i int) stream.Number { return at(i).Objective }},
		{name: "iterations", title: ">iterations", value: func(i int) int { return at(i).Iterations }},
		{name: "converged", title: "converged", value: func(i int) bool { return at(i).Converged }},
		{name: "agreement", title: ">agreement", value: func(i int) stream.Number { return at(i).Agreement }},
		{name: "recommended", value: func(i int) bool { return i == g.Recommended }},
		{
			name: "selected", title: "first " + groupsOrFeatures(g),
			value: func(i int) string { return strings.Join(at(i).Selected, " ") },
			text: func(i int) string {
				return strings.Join(screen.QuoteNames(at(i).Selected[:min(3, len(at(i).Selected))]), " ") + " …"
			},
		},
	}
	if len(g.Settings) > 0 && at(0).Cost != nil {
		columns = append(columns, column{name: "cost", title: ">cost", value: func(i int) stream.Number { return *at(i).Cost }})
	}
	return columns
}

func groupsOrFeatures(g *stream.Grid) string {
	if g.Members != nil {
		return "groups or features"
	}
	return "features"
}

func printGrid(w *screen.Page, g *stream.Grid) {
	n := len(g.Settings)
	w.Printf("%s: %s (scale %s, %s features, %s rows, seed %d)\n", g.Method, CountNoun(n, "setting"), scaleText(g.Options),
		humanize.Comma(int64(g.Features)), humanize.Comma(g.RowsUsed), g.Seed)
	w.Printf("agreement: of the first %d %s with those of the neighbouring settings\n\n", g.K, groupsOrFeatures(g))
	printColumns(w, gridColumns(g), n)
	if g.Recommended < 0 {
		w.Printf("\nno setting is recommended: %s\n", g.Why)
	} else {
		var flags []string
		for _, weight := range g.Settings[g.Recommended].WeightTexts() {
			flags = append(flags, "--"+weight[0], weight[1])
		}
		w.Printf("\nrecommended: %s: %s\n", strings.Join(flags, " "), g.Why)
	}
	printTransfer(w, g.Transfer)
}
