package main

import (
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
)

// secondWeightFlag returns the flag of the weight that g varies in addition to alpha, or "".
func secondWeightFlag(g *stream.Grid) string {
	for _, t := range g.Settings {
		if t.Beta != nil {
			return "beta"
		}
	}
	return "gamma"
}

func secondWeight(t stream.GridSetting) stream.Number {
	_, v := t.Second()
	return v
}

func hasCosts(g *stream.Grid) bool { return len(g.Settings) > 0 && g.Settings[0].Cost != nil }

func (c *cli) renderGrid(w io.Writer, g *stream.Grid, format string) error {
	n := len(g.Settings)
	second, priced := secondWeightFlag(g), hasCosts(g)
	switch format {
	case "json":
		return g.Encode(w)
	case "csv":
		rows := make([][]string, n)
		for i, t := range g.Settings {
			rows[i] = []string{exactDecimal(t.Alpha), exactDecimal(secondWeight(t)), exactDecimal(t.Objective), strconv.Itoa(t.Iterations), strconv.FormatBool(t.Converged),
				exactDecimal(t.Agreement), strconv.FormatBool(i == g.Recommended), strings.Join(t.Selected, " ")}
			if priced {
				rows[i] = append(rows[i], exactDecimal(*t.Cost))
			}
		}
		head := []string{"alpha", second, "objective", "iterations", "converged", "agreement", "recommended", "selected"}
		if priced {
			head = append(head, "cost")
		}
		return c.writeCSV(w, head, rows)
	case "parquet":
		return writeGridParquet(w, g)
	}
	return renderPage(w, func(w *screen.Page) { printGrid(w, g) })
}

func printGrid(w *screen.Page, g *stream.Grid) {
	n := len(g.Settings)
	second, priced := secondWeightFlag(g), hasCosts(g)
	w.Printf("%s: %s (scale %v, %s features, %s rows, seed %d)\n", g.Method, countNoun(n, "setting"), g.Options["scale"],
		humanize.Comma(int64(g.Features)), humanize.Comma(g.RowsUsed), g.Seed)
	what := "features"
	if g.Members != nil {
		what = "groups or features"
	}
	w.Printf("agreement: of the first %d %s with those of the neighbouring settings\n\n", g.K, what)
	rows := make([][]string, n)
	for i, t := range g.Settings {
		state := "yes"
		if !t.Converged {
			state = "no"
		}
		rows[i] = []string{roundedNumber(t.Alpha), roundedNumber(secondWeight(t)), roundedNumber(t.Objective), strconv.Itoa(t.Iterations), state, roundedNumber(t.Agreement), strings.Join(screen.QuoteNames(t.Selected[:min(3, len(t.Selected))]), " ") + " …"}
		if priced {
			rows[i] = append(rows[i], roundedNumber(*t.Cost))
		}
	}
	head := []string{">alpha", ">" + second, ">objective", ">iterations", "converged", ">agreement", "first " + what}
	if priced {
		head = append(head, ">cost")
	}
	w.Table(head, rows)
	if g.Recommended < 0 {
		w.Printf("\nno setting is recommended: %s\n", g.Why)
	} else {
		w.Printf("\nrecommended: %s: %s\n", settingFlags(g.Settings[g.Recommended]), g.Why)
	}
	printTransfer(w, g.Transfer)
}

// settingFlags returns the flags with which the verb select uses the setting t.
func settingFlags(t stream.GridSetting) string {
	if t.Flags != "" {
		return t.Flags
	}
	var at []string
	add := func(flag string, weight stream.Number) {
		if w := exactDecimal(weight); w != "" {
			at = append(at, flag, w)
		}
	}
	add("--alpha", t.Alpha)
	if t.Beta != nil {
		add("--beta", *t.Beta)
	}
	add("--gamma", t.Gamma)
	return strings.Join(at, " ")
}

// writeGridParquet writes g as a Parquet table with the same columns as the CSV.
func writeGridParquet(w io.Writer, g *stream.Grid) error {
	n := len(g.Settings)
	alpha, second, objective, agreement := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	iterations, converged, recommended, selected := make([]int64, n), make([]int64, n), make([]int64, n), make([]string, n)
	flag := map[bool]int64{true: 1}
	for i, t := range g.Settings {
		alpha[i], second[i], objective[i], agreement[i] = float64(t.Alpha), float64(secondWeight(t)), float64(t.Objective), float64(t.Agreement)
		iterations[i], converged[i], recommended[i] = int64(t.Iterations), flag[t.Converged], flag[i == g.Recommended]
		selected[i] = strings.Join(t.Selected, " ")
	}
	columns := []chunkio.TableColumn{
		{Name: "alpha", Values: alpha}, {Name: secondWeightFlag(g), Values: second}, {Name: "objective", Values: objective},
		{Name: "iterations", Values: iterations}, {Name: "converged", Values: converged}, {Name: "agreement", Values: agreement},
		{Name: "recommended", Values: recommended}, {Name: "selected", Values: selected},
	}
	if hasCosts(g) {
		cost := make([]float64, n)
		for i, t := range g.Settings {
			cost[i] = float64(*t.Cost)
		}
		columns = append(columns, chunkio.TableColumn{Name: "cost", Values: cost})
	}
	return chunkio.WriteTable(w, n, columns...)
}
