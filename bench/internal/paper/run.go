package paper

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/bench/internal/tuning"
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
	tuned []tunedPair
	times []selectionTime
	notes []string // remarks about the datasets, for the reader
}

// tunedPair has the best setting of a method by the labels, and the best of as many random selections.
type tunedPair struct{ best, alike tuning.Result }

func (o *options) fillTable(ctx context.Context, r *tuning.Runner, t table) (outcome, error) {
	out := outcome{table: t}
	for _, set := range t.sets {
		if err := o.fillSet(ctx, r, t, set, &out); err != nil {
			return out, fmt.Errorf("table %s, %s: %w", t.name, set.title, err)
		}
	}
	return out, nil
}

// fillSet makes the selections of a dataset, and runs eval once for each number of features. So eval compares all
// methods on the same rows, with t-tests. The first eval also clusters the rows by all features.
func (o *options) fillSet(ctx context.Context, r *tuning.Runner, t table, set dataset, out *outcome) error {
	if set.scaledRows {
		path, err := scaledFile(ctx, r, o.inputPath(set))
		if err != nil {
			return err
		}
		set.path = path
	}
	files := make(map[string]string)
	for _, m := range t.methods {
		if err := o.selectAll(ctx, r, t, set, m, files, out); err != nil {
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
		e, err := r.JudgeSelections(ctx, o.tuningSet(t, set), k, o.seed, nil, selections, baselines)
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
	return o.tuneAll(ctx, r, t, set, out)
}

// selectAll makes the selections of one method on a dataset. Usually it makes one selection with the largest number of
// features. The smaller selections are the beginnings of this selection. If the ranking depends on the number, it makes
// several. It puts the files of the selections into files.
func (o *options) selectAll(ctx context.Context, r *tuning.Runner, t table, set dataset, m contender, files map[string]string, out *outcome) error {
	if m.baseline {
		return nil
	}
	for _, k := range set.counts {
		largest := k == slices.Max(set.counts)
		if !largest && !m.rankingPerCount {
			continue
		}
		o.printRemark("%s: %s, k = %d", set.title, m.title, k)
		file, sel, took, err := r.SelectFeatures(ctx, o.tuningSet(t, set), k, o.seed, m.flagsOn(set))
		if err != nil {
			return fmt.Errorf("%s: %w", m.title, err)
		}
		files[m.selectionKey(set, k)] = file
		if largest {
			out.times = append(out.times, selectionTime{set, m, sel.Rows, sel.Timing, took})
		}
	}
	return nil
}

func (m contender) selectionKey(set dataset, k int) string {
	if !m.rankingPerCount {
		k = slices.Max(set.counts)
	}
	return fmt.Sprintf("%s %d", m.title, k)
}

func (m contender) flagsOn(set dataset) []string {
	var classes []string
	if m.takesClasses {
		classes = []string{"--clusters", strconv.Itoa(set.classes)}
	}
	return slices.Concat(classes, m.flags, m.flagsOfSet[set.title])
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

func (o *options) inputPath(set dataset) string {
	if set.path != "" {
		return set.path
	}
	return filepath.Join(o.data, set.file)
}

// tuningSet returns the dataset with the flags of the table's protocol.
func (o *options) tuningSet(t table, set dataset) tuning.Set {
	s := tuning.Set{
		Title: set.title, Input: o.inputPath(set), Label: "label", Counts: set.counts, Flags: []string{"--scale", cmp.Or(set.scale, "none")}, Seed: o.seed, Threads: o.threads,
		JudgeFlags:  []string{"--protocol", t.protocol, "--starts", "random", "--clusters", strconv.Itoa(set.classes)},
		ChoiceFlags: set.choiceFlags,
	}
	s.JudgeFlags = append(s.JudgeFlags, t.judgeFlags...)
	if o.quick {
		s.JudgeFlags = append(s.JudgeFlags, "--runs", "2", "--restarts", "1")
	}
	return s
}

func (o *options) tuneAll(ctx context.Context, r *tuning.Runner, t table, set dataset, out *outcome) error {
	for _, m := range t.methods {
		if m.grids == nil {
			continue
		}
		best, alike, err := r.TuneMethod(ctx, o.tuningSet(t, set), tuning.Method{Title: m.title, Flags: m.flagsOn(set), Grids: m.grids}, t.measures[0].field,
			func(text string) { o.printRemark("%s: %s, %s", set.title, m.title, text) })
		if err != nil {
			return err
		}
		out.tuned = append(out.tuned, tunedPair{best, alike})
	}
	return nil
}

func fileNameFor(title string) string {
	return strings.NewReplacer(" ", "-", "(", "", ")", "").Replace(title)
}
