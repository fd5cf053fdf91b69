package print

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// WriteEvaluation writes e, the quality of judged selections, as tables, JSON or CSV.
func WriteEvaluation(w io.Writer, e *stream.Evaluation, o Options) error {
	all := make([]*stream.Evaluated, len(e.Results))
	for i := range all {
		all[i] = &e.Results[i]
	}
	return output{e.Encode, func(w *screen.Page) { printEvaluation(w, e) }, evaluationColumns(all, true), len(all)}.writeTo(w, o)
}

// printEvaluation prints a block for each number of features k. The last line of each block is for all features.
func printEvaluation(w *screen.Page, r *stream.Evaluation) {
	printEvaluationHeader(w, r)
	var all *stream.Evaluated
	var blocks [][]*stream.Evaluated
	for i := range r.Results {
		t := &r.Results[i]
		switch last := len(blocks) - 1; {
		case t.Name == "all":
			all = t
		case last < 0 || blocks[last][0].K != t.K:
			blocks = append(blocks, []*stream.Evaluated{t})
		default:
			blocks[last] = append(blocks[last], t)
		}
	}
	for _, block := range blocks {
		w.Printf("\n")
		if all != nil {
			block = append(block, all)
		}
		printColumns(w, evaluationColumns(block, r.Label != ""), len(block))
	}
	if r.Label != "" {
		w.Printf("\n* the best NMI sqrt of its k, or not significantly worse (Welch's t-test at 5 %%); p: the test against the best")
		if all != nil {
			w.Printf("; all features are outside the comparison")
		}
		w.Printf("\n")
	}
	w.Printf("error: share of the data's sum of squares that is not reconstructed; redundancy: mean |correlation| of the pairs\n")
	printTransfer(w, r.Transfer)
}

func printEvaluationHeader(w *screen.Page, r *stream.Evaluation) {
	rows := rowsText(r.RowsUsed, max(r.Rows, r.RowsUsed))
	if r.Sampled {
		rows = fmt.Sprintf("%s of %s rows, a seeded sample (--sample)", humanize.Comma(r.RowsUsed), humanize.Comma(r.Rows))
	}
	w.Printf("judged by %s", rows)
	if n := r.Unlabelled; n > 0 {
		w.Printf(" (%s without a label left out)", humanize.Comma(n))
	}
	if r.Label != "" {
		values := "values as in the file"
		if r.Scale != "none" {
			values = "scale " + r.Scale
		}
		if r.RowsScale != "" {
			values = "scale " + scaleText(map[string]any{"scale": r.Scale, "rows-scale": r.RowsScale})
		}
		kind := "k-means"
		if r.Spherical {
			kind = "spherical k-means"
		}
		if r.Starts != ufs.EvalStarts()[0] {
			kind += " from random rows"
		}
		restarts := ""
		if r.Restarts > 1 {
			restarts = fmt.Sprintf(", each the best of %d restarts", r.Restarts)
		}
		protocol := "protocol " + r.Protocol + ": "
		if r.Clusterer != "" {
			protocol, kind = "", fmt.Sprintf("affinity propagation (damping %v)", r.Damping)
		}
		w.Printf("; %d classes of %s\n%s%s%s; %s, %s, %s; seed %d\nin per cent, mean ± standard deviation of the runs",
			len(r.Classes), r.Label, protocol, CountNoun(r.Runs, "run"), restarts, kind, CountNoun(r.Clusters, "cluster"), values, r.Seed)
		if slices.ContainsFunc(r.Results, func(t stream.Evaluated) bool { return t.Name == ufs.RandomBaseline }) {
			w.Printf("; random: other features in every run")
		}
		if r.Folds > 0 {
			w.Printf("\nclassifiers: accuracy in the same %d stratified folds for all, mean ± standard deviation of the folds", r.Folds)
		}
	}
	w.Printf("\nreconstruction error in scale %s\n", r.ReconstructionScale)
}

// evaluationColumns returns the columns of results, and only if there are labels, of the comparison with classes.
// Results that share a k make a table, all results the CSV.
func evaluationColumns(results []*stream.Evaluated, labelled bool) []column {
	var columns []column
	if labelled {
		columns = append(columns, column{title: ">", text: func(i int) string { return map[bool]string{true: "*"}[isBest(results[i])] }})
	}
	columns = append(columns,
		column{name: "name", value: func(i int) string { return results[i].Name }},
		column{name: "method", value: func(i int) string { return results[i].Method }},
		column{name: "k", value: func(i int) int { return results[i].K }})
	if len(results) > 0 {
		columns = append(columns, column{title: fmt.Sprintf("k = %d", results[0].K), text: func(i int) string { return resultTitle(results[i]) }})
	}
	if labelled {
		columns = append(columns, scoreColumns(results)...)
	}
	columns = append(columns,
		column{name: "reconstruction_error", title: ">error", value: func(i int) stream.Number { return results[i].Reconstruction }, text: func(i int) string { return shareText(results[i].Reconstruction) }},
		column{name: "redundancy", title: ">redundancy", value: func(i int) stream.Number { return results[i].Redundancy }, text: func(i int) string { return shareText(results[i].Redundancy) }})
	jaccard := stabilityColumn(results, func(s *stream.Stability) stream.Number { return s.Jaccard })
	nogueira := stabilityColumn(results, func(s *stream.Stability) stream.Number { return s.Nogueira })
	columns = append(columns, column{name: "stability_jaccard", value: jaccard.value}, column{name: "stability_nogueira", value: nogueira.value})
	if slices.ContainsFunc(results, func(t *stream.Evaluated) bool { return t.Stability != nil }) {
		columns = append(columns, column{title: ">stability", text: nogueira.text}, column{title: ">Jaccard", text: jaccard.text})
	}
	if labelled {
		columns = append(columns, spreadColumns(results, (*stream.Evaluated).ClassifierScores)...)
	}
	return columns
}

func spreadColumns(results []*stream.Evaluated, scores func(*stream.Evaluated) []stream.ClusterScore) (columns []column) {
	for j, score := range scores(new(stream.Evaluated)) {
		spread := func(i int) stream.Spread {
			if s := scores(results[i])[j].Spread; s != nil {
				return *s
			}
			return stream.Spread{Mean: unknownNumber(), Std: unknownNumber()}
		}
		columns = append(columns,
			column{name: score.Field + "_mean", value: func(i int) stream.Number { return spread(i).Mean }},
			column{name: score.Field + "_std", value: func(i int) stream.Number { return spread(i).Std }})
		if slices.ContainsFunc(results, func(t *stream.Evaluated) bool { return scores(t)[j].Spread != nil }) { // else no table has it
			columns = append(columns, column{title: ">" + score.Title, text: func(i int) string { return spreadPercent(scores(results[i])[j].Spread) }})
		}
	}
	return columns
}

func scoreColumns(results []*stream.Evaluated) []column {
	return append(spreadColumns(results, (*stream.Evaluated).ClusterScores),
		column{
			name: "p_nmi", title: ">p",
			value: func(i int) stream.Number { return numberOrUnknown(results[i].PBest) },
			text: func(i int) string {
				t := results[i]
				if t.PBest == nil || isBest(t) && !(*t.PBest < 1) { // the best result is not compared with itself
					return ""
				}
				return pValueText(*t.PBest)
			},
		},
		column{name: "p_nmi_all", value: func(i int) stream.Number { return numberOrUnknown(results[i].PAll) }},
		column{name: "best", value: func(i int) string {
			if results[i].Best == nil {
				return ""
			}
			return strconv.FormatBool(*results[i].Best)
		}})
}

// stabilityColumn returns a column that is empty for results without stability.
func stabilityColumn(results []*stream.Evaluated, index func(*stream.Stability) stream.Number) column {
	value := func(i int) stream.Number {
		if results[i].Stability == nil {
			return unknownNumber()
		}
		return index(results[i].Stability)
	}
	return column{value: value, text: func(i int) string {
		if results[i].Stability == nil {
			return ""
		}
		return shareText(value(i))
	}}
}

func isBest(t *stream.Evaluated) bool { return t.Best != nil && *t.Best }

func resultTitle(t *stream.Evaluated) string {
	switch {
	case t.Name == "all":
		return fmt.Sprintf("all %s features", humanize.Comma(int64(t.K)))
	case t.Method != "" && t.Name != t.Method:
		return t.Name + " (" + t.Method + ")"
	}
	return t.Name
}

// spreadPercent writes the mean and the standard deviation of a spread in percent, as "60.1 ± 1.2".
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
