package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
)

func (c *cli) renderEvaluation(w io.Writer, e *stream.Evaluation, format string) error {
	switch format {
	case "json":
		return e.Encode(w)
	case "csv":
		return c.writeEvaluationCSV(w, e)
	}
	return renderPage(w, func(w *screen.Page) { printEvaluation(w, e) })
}

// writeEvaluationCSV writes one line for each result, with all digits. Missing values are empty.
func (c *cli) writeEvaluationCSV(w io.Writer, e *stream.Evaluation) error {
	head := []string{"name", "method", "k"}
	for _, score := range new(stream.Evaluated).ClusterScores() {
		head = append(head, score.Field+"_mean", score.Field+"_std")
	}
	head = append(head, "p_nmi", "p_nmi_all", "best", "reconstruction_error", "redundancy", "stability_jaccard", "stability_nogueira")
	var rows [][]string
	for i := range e.Results {
		t := &e.Results[i]
		row := []string{t.Name, t.Method, strconv.Itoa(t.K)}
		for _, score := range t.ClusterScores() {
			if score.Spread == nil {
				row = append(row, "", "")
				continue
			}
			row = append(row, exactDecimal(score.Mean), exactDecimal(score.Std))
		}
		for _, p := range []*stream.Number{t.PBest, t.PAll} {
			cell := ""
			if p != nil {
				cell = exactDecimal(*p)
			}
			row = append(row, cell)
		}
		best := ""
		if t.Best != nil {
			best = strconv.FormatBool(*t.Best)
		}
		row = append(row, best, exactDecimal(t.Reconstruction), exactDecimal(t.Redundancy))
		if s := t.Stability; s != nil {
			row = append(row, exactDecimal(s.Jaccard), exactDecimal(s.Nogueira))
		} else {
			row = append(row, "", "")
		}
		rows = append(rows, row)
	}
	return c.writeCSV(w, head, rows)
}

// spreadPercent writes a spread as "60.1 ± 1.2".
func spreadPercent(s *stream.Spread) string {
	if s == nil {
		return "-"
	}
	text := strings.Replace(strconv.FormatFloat(100*float64(s.Mean), 'f', 1, 64), "-0.0", "0.0", 1)
	if std := float64(s.Std); !math.IsNaN(std) {
		text += fmt.Sprintf(" ± %4.1f", 100*std)
	}
	return text
}

func pValueText(p stream.Number) string {
	switch x := float64(p); {
	case math.IsNaN(x):
		return "-"
	case x < 0.0001:
		return "<0.0001"
	default:
		return strconv.FormatFloat(x, 'f', 4, 64)
	}
}

func shareText(n stream.Number) string {
	if math.IsNaN(float64(n)) {
		return "-"
	}
	return strconv.FormatFloat(float64(n), 'f', 4, 64)
}
