package main

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

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
		printEvaluationBlock(w, r, block)
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
	rows := humanize.Comma(r.RowsUsed) + " rows"
	if r.Sampled {
		rows = fmt.Sprintf("%s of %s rows, a seeded sample (--sample)", humanize.Comma(r.RowsUsed), humanize.Comma(r.Rows))
	} else if r.RowsUsed < r.Rows {
		rows = fmt.Sprintf("%s of %s rows", humanize.Comma(r.RowsUsed), humanize.Comma(r.Rows))
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
		kind := "k-means"
		if r.Spherical {
			kind = "spherical k-means"
		}
		restarts := ""
		if r.Restarts > 1 {
			restarts = fmt.Sprintf(", each the best of %d restarts", r.Restarts)
		}
		w.Printf("; %d classes of %s\nprotocol %s: %s%s; %s, %s, %s; seed %d\nin per cent, mean ± standard deviation of the runs",
			len(r.Classes), r.Label, r.Protocol, countNoun(r.Runs, "run"), restarts, kind, countNoun(r.Clusters, "cluster"), values, r.Seed)
		for i := range r.Results {
			if r.Results[i].Name == ufs.RandomBaseline {
				w.Printf("; random: other features in every run")
				break
			}
		}
	}
	w.Printf("\nreconstruction error in scale %s\n", r.ReconstructionScale)
}

func printEvaluationBlock(w *screen.Page, r *stream.Evaluation, block []*stream.Evaluated) {
	stability := false
	for _, t := range block {
		stability = stability || t.Stability != nil
	}
	head := []string{fmt.Sprintf("k = %d", block[0].K)}
	if r.Label != "" {
		head = append([]string{""}, head...)
		for _, score := range block[0].ClusterScores() {
			head = append(head, ">"+score.Title)
		}
		head = append(head, ">p")
	}
	head = append(head, ">error", ">redundancy")
	if stability {
		head = append(head, ">stability", ">Jaccard")
	}
	var rows [][]string
	for _, t := range block {
		name := t.Name
		switch {
		case t.Name == "all":
			name = fmt.Sprintf("all %s features", humanize.Comma(int64(t.K)))
		case t.Name != t.Method:
			name += " (" + t.Method + ")"
		}
		row := []string{name}
		if r.Label != "" {
			star := ""
			if t.Best != nil && *t.Best {
				star = "*"
			}
			row = []string{star, name}
			for _, score := range t.ClusterScores() {
				row = append(row, spreadPercent(score.Spread))
			}
			p := ""
			if t.PBest != nil && (star == "" || *t.PBest < 1) { // PBest is 1 for the best result, which is not compared with itself
				p = pValueText(*t.PBest)
			}
			row = append(row, p)
		}
		row = append(row, shareText(t.Reconstruction), shareText(t.Redundancy))
		if s := t.Stability; s != nil {
			row = append(row, shareText(s.Nogueira), shareText(s.Jaccard))
		} else if stability {
			row = append(row, "", "")
		}
		rows = append(rows, row)
	}
	w.Table(head, rows)
}
