package paper

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

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
	tuned []tunedResult
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
	files := make(map[string]string)
	for _, m := range t.methods {
		if err := o.selectAll(ctx, w, set, m, files, out); err != nil {
			return err
		}
	}
	for i, k := range set.counts {
		o.printRemark("%s: clustering, k = %d", set.title, k)
		var selections, baselines []string
		for _, m := range t.methods {
			switch {
			case !m.baseline:
				selections = append(selections, fileNameFor(m.title)+"="+files[m.selectionKey(set, k)])
			case i == 0 || m.title != allFeatures:
				baselines = append(baselines, m.title)
			}
		}
		e, err := o.judgeSelections(ctx, w, t, set, k, o.seed, selections, baselines)
		if err != nil {
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
	return o.tuneAll(ctx, w, t, set, out)
}

// judgeSelections runs eval on the first k features of selections, each given as NAME=FILE, and on baselines.
func (o *options) judgeSelections(ctx context.Context, w *workshop.Workshop, t table, set dataset, k int, seed uint64, selections, baselines []string) (*stream.Evaluation, error) {
	if baselines == nil {
		baselines = []string{"none"}
	}
	args := append(o.commonFlags(set, k, seed), "--protocol", t.protocol, "--starts", "random", "--clusters", strconv.Itoa(set.classes), "--baselines", strings.Join(baselines, ","))
	for _, s := range selections {
		args = append(args, "--selection", s)
	}
	if o.quick {
		args = append(args, "--runs", "2", "--restarts", "1")
	}
	e, _, err := runOnce(ctx, o, w, "eval", args, func(e *stream.Evaluation) (workshop.Cost, error) { return w.RunJSON(ctx, e, "eval", args...) })
	return e, err
}

// selectAll makes the selections of one method on a dataset. Usually it makes one selection with the largest number of
// features. The smaller selections are the beginnings of this selection. If the ranking depends on the number, it makes
// several. It puts the files of the selections into files.
func (o *options) selectAll(ctx context.Context, w *workshop.Workshop, set dataset, m contender, files map[string]string, out *outcome) error {
	if m.baseline {
		return nil
	}
	for _, k := range set.counts {
		largest := k == slices.Max(set.counts)
		if !largest && !m.rankingPerCount {
			continue
		}
		o.printRemark("%s: %s, k = %d", set.title, m.title, k)
		sel, took, err := o.runSelect(ctx, w, set, k, o.seed, m.flagsOn(set))
		if err != nil {
			return fmt.Errorf("%s: %w", m.title, err)
		}
		if files[m.selectionKey(set, k)], err = writeSelection(ctx, o, w, sel); err != nil {
			return err
		}
		if largest {
			out.times = append(out.times, selectionTime{set, m, sel.Rows, sel.Timing, took})
		}
	}
	return nil
}

func (o *options) runSelect(ctx context.Context, w *workshop.Workshop, set dataset, k int, seed uint64, flags []string) (*stream.Selection, workshop.Cost, error) {
	args := append(o.commonFlags(set, k, seed), flags...)
	sel, took, err := runOnce(ctx, o, w, "select", args, func(sel *stream.Selection) (workshop.Cost, error) {
		made, took, err := w.RunSelect(ctx, args...)
		*sel = *made
		sel.Columns, sel.Scores, sel.Trace = nil, nil, nil // as long as the table is wide, and not needed
		return took, err
	})
	switch {
	case err != nil:
		return nil, took, err
	case len(sel.Selected) < k:
		return nil, took, fmt.Errorf("selected %d features of %d: %s", len(sel.Selected), k, strings.Join(sel.Warnings, "; "))
	case sel.IsDecidedByTies():
		return nil, took, fmt.Errorf("all %d selected features have equal scores, so column order decided: this is no result of the method", k)
	}
	return sel, took, nil
}

func (m contender) selectionKey(set dataset, k int) string {
	if !m.rankingPerCount {
		k = slices.Max(set.counts)
	}
	return fmt.Sprintf("%s %d", m.title, k)
}

func (m contender) flagsOn(set dataset) []string {
	if m.takesClasses {
		return append([]string{"--clusters", strconv.Itoa(set.classes)}, m.flags...)
	}
	return m.flags
}

func (m contender) featureCountOn(set dataset, k int) int {
	if m.title == allFeatures {
		return set.features
	}
	return k
}

func findResult(e *stream.Evaluation, m contender) (stream.Evaluated, error) {
	for _, r := range e.Results {
		if r.Name == fileNameFor(m.title) {
			return r, nil
		}
	}
	return stream.Evaluated{}, fmt.Errorf("eval gave no result for %s", m.title)
}

func describeClustering(e *stream.Evaluation, set dataset) string {
	rows := fmt.Sprintf("all %s rows", humanize.Comma(e.Rows))
	if e.Sampled {
		rows = fmt.Sprintf("a sample of %s of %s rows", humanize.Comma(e.RowsUsed), humanize.Comma(e.Rows))
	}
	return fmt.Sprintf("%s: %s in %d clusters; %d runs, each the best of %d", set.title, rows, e.Clusters, e.Runs, e.Restarts)
}

func scoreOf(r stream.Evaluated, field string) (stream.Spread, bool) {
	for _, s := range r.ClusterScores() {
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

func (o *options) commonFlags(set dataset, k int, seed uint64) []string {
	return []string{o.inputPath(set), "--label", "label", "-k", strconv.Itoa(k), "--scale", "none",
		"--seed", strconv.FormatUint(seed, 10), "--threads", strconv.Itoa(o.threads)}
}

func fileNameFor(title string) string {
	return strings.NewReplacer(" ", "-", "(", "", ")", "").Replace(title)
}
