package paper

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/stream"
)

// row is the result of one method on one set with one number of features.
type row struct {
	set    dataset
	method contender
	count  int
	result stream.Evaluated
}

// selectionTime is the time and memory of one selection.
type selectionTime struct {
	set    dataset
	method contender
	rows   int64
	timing stream.Timing
	cost   workshop.Cost
}

// outcome has the results for a table.
type outcome struct {
	table table
	rows  []row
	times []selectionTime
	notes []string // remarks about the datasets, for the reader
}

func (o *options) fillTable(ctx context.Context, w *workshop.Workshop, t table) (outcome, error) {
	out := outcome{table: t}
	for _, set := range t.sets {
		if err := o.fillSet(ctx, w, t, set, &out); err != nil {
			return out, fmt.Errorf("table %s, %s: %w", t.name, set.title, err)
		}
	}
	return out, nil
}

// fillSet makes the selections of a dataset, and runs eval once for each number of features. So eval compares all
// methods on the same rows, with t-tests. The first eval also clusters the rows by all features.
func (o *options) fillSet(ctx context.Context, w *workshop.Workshop, t table, set dataset, out *outcome) error {
	for _, m := range t.methods {
		if err := o.selectAll(ctx, w, set, m, out); err != nil {
			return err
		}
	}
	for i, k := range set.counts {
		o.printRemark("%s: clustering, k = %d", set.title, k)
		args := []string{o.inputPath(set), "--label", "label", "-k", strconv.Itoa(k), "--protocol", t.protocol, "--scale", "none", "--clusters", strconv.Itoa(set.classes)}
		var baselines []string
		for _, m := range t.methods {
			switch {
			case !m.baseline:
				args = append(args, "--selection", fileNameFor(m.title)+"="+w.Path(m.selectionFile(set, k)))
			case i == 0 || m.title != allFeatures:
				baselines = append(baselines, m.title)
			}
		}
		if baselines == nil {
			baselines = []string{"none"}
		}
		args = append(args, "--baselines", strings.Join(baselines, ","))
		if o.quick {
			args = append(args, "--runs", "2", "--restarts", "1")
		}
		var e stream.Evaluation
		if _, err := w.RunJSON(ctx, &e, "eval", append(args, o.commonFlags()...)...); err != nil {
			return err
		}
		if i == 0 {
			out.notes = append(out.notes, describeClustering(e, set))
		}
		for _, m := range t.methods {
			if m.title == allFeatures && i > 0 {
				continue
			}
			r, err := findResult(e, m)
			if err != nil {
				return err
			}
			out.rows = append(out.rows, row{set, m, m.featureCountOn(set, k), r})
		}
	}
	return nil
}

// selectAll makes the selections of one method on a dataset. Usually it makes one selection with the largest number of
// features. The smaller selections are the beginnings of this selection. If the ranking depends on the number, it makes
// several.
func (o *options) selectAll(ctx context.Context, w *workshop.Workshop, set dataset, m contender, out *outcome) error {
	if m.baseline {
		return nil
	}
	for _, k := range set.counts {
		largest := k == slices.Max(set.counts)
		if !largest && !m.rankingPerCount {
			continue
		}
		o.printRemark("%s: %s, k = %d", set.title, m.title, k)
		args := []string{o.inputPath(set), "--label", "label", "--scale", "none", "-k", strconv.Itoa(k)}
		if m.takesClasses {
			args = append(args, "--clusters", strconv.Itoa(set.classes))
		}
		sel, took, err := w.RunSelect(ctx, slices.Concat(args, m.flags, o.commonFlags())...)
		if err != nil {
			return err
		}
		if len(sel.Selected) < k {
			return fmt.Errorf("%s selected %d features of %d: %s", m.title, len(sel.Selected), k, strings.Join(sel.Warnings, "; "))
		}
		if sel.IsDecidedByTies() {
			return fmt.Errorf("%s: all %d selected features have equal scores, so column order decided: this is no result of the method", m.title, k)
		}
		if err := writeSelection(ctx, w.Path(m.selectionFile(set, k)), sel); err != nil {
			return err
		}
		if largest {
			out.times = append(out.times, selectionTime{set, m, sel.Rows, sel.Timing, took})
		}
	}
	return nil
}

func (m contender) selectionFile(set dataset, k int) string {
	if !m.rankingPerCount {
		k = slices.Max(set.counts)
	}
	return fmt.Sprintf("%s-%s-%d.json", fileNameFor(set.title), fileNameFor(m.title), k)
}

func (m contender) featureCountOn(set dataset, k int) int {
	if m.title == allFeatures {
		return set.features
	}
	return k
}

func findResult(e stream.Evaluation, m contender) (stream.Evaluated, error) {
	for _, r := range e.Results {
		if r.Name == fileNameFor(m.title) {
			return r, nil
		}
	}
	return stream.Evaluated{}, fmt.Errorf("eval gave no result for %s", m.title)
}

func describeClustering(e stream.Evaluation, set dataset) string {
	rows := fmt.Sprintf("all %s rows", humanize.Comma(e.Rows))
	if e.Sampled {
		rows = fmt.Sprintf("a sample of %s of %s rows", humanize.Comma(e.RowsUsed), humanize.Comma(e.Rows))
	}
	return fmt.Sprintf("%s: %s in %d clusters; %d runs, each the best of %d", set.title, rows, e.Clusters, e.Runs, e.Restarts)
}

func (r row) scoreOf(field string) (stream.Spread, bool) {
	for _, s := range r.result.ClusterScores() {
		if s.Field == field && s.Spread != nil {
			return *s.Spread, true
		}
	}
	return stream.Spread{}, false
}

func (o *options) inputPath(set dataset) string {
	if set.title == emnistName {
		return o.emnist
	}
	return filepath.Join(o.data, set.file)
}

func (o *options) commonFlags() []string {
	return []string{"--seed", strconv.FormatUint(o.seed, 10), "--threads", strconv.Itoa(o.threads)}
}

func fileNameFor(title string) string {
	return strings.NewReplacer(" ", "-", "(", "", ")", "").Replace(title)
}

func writeSelection(ctx context.Context, path string, sel *stream.Selection) error {
	var text bytes.Buffer
	if err := sel.Encode(&text); err != nil {
		return err
	}
	return results.WriteFile(ctx, path, nil, text.Bytes())
}
