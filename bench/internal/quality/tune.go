package quality

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/bench/internal/results"
	"github.com/ufs-stream/ufs-stream/bench/internal/tuning"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// byLabels is the value of --tune.
const byLabels = "labels"

// defaultWeights are the values of a weight in the grid of a method that does not name others, as in most papers.
const defaultWeights = "1e-3..1e3"

// tunedField is the score by which labels choose a setting.
const tunedField = "nmi_sqrt"

// tunedVariant is the best setting of a variant on a set by the labels.
type tunedVariant struct {
	set         dataset
	variant     variant
	best, alike tuning.Result
	refusal     string
}

// tuneVariants chooses, on each labelled set, the settings of the variants that path can vary. It uses ufs-stream itself,
// as bench paper does, and keeps the output of every command in a folder.
func (r *run) tuneVariants(ctx context.Context, sets []dataset) error {
	shop, err := workshop.New(ctx, r.binary)
	if err != nil {
		return err
	}
	defer shop.Close()
	folder := r.output + ".tuned"
	if r.fresh {
		if err := os.RemoveAll(folder); err != nil {
			return &stream.OutputError{Path: folder, Err: err}
		}
	}
	runner, err := tuning.NewRunner(shop, folder)
	if err != nil {
		return err
	}
	for _, v := range r.variants {
		grid, settings, err := v.grid()
		if err != nil {
			return err
		}
		for _, s := range sets {
			if grid.Weights == nil || s.label == "" || s.unranked {
				continue
			}
			x := tunedVariant{set: s, variant: v}
			m := tuning.Method{Title: v.name, Flags: v.selectFlags(), Grids: []tuning.Grid{grid}}
			limit, cancel := context.WithTimeout(ctx, time.Duration(settings)*r.timeout)
			x.best, x.alike, err = runner.TuneMethod(limit, r.tuningSet(s), m, tunedField, func(text string) { r.printRemark("%s, %s: %s", s.name, v.name, text) })
			cancel()
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(limit.Err(), context.DeadlineExceeded):
				x.refusal = fmt.Sprintf("takes more than %s for %d settings", time.Duration(settings)*r.timeout, settings)
			case err != nil:
				x.refusal = shortRefusal(err)
			}
			r.tuned = append(r.tuned, x)
		}
	}
	return nil
}

func refuseUntunable(variants []variant) error {
	tunes := false
	for _, v := range variants {
		grid, _, err := v.grid()
		if err != nil {
			return err
		}
		tunes = tunes || grid.Weights != nil
	}
	if !tunes {
		return stream.Usagef("quality: --tune %s: none of the variants has weights that path varies; take sfufs, fufs, eufs, hufs, jelsr or ndfs", byLabels)
	}
	return nil
}

func shortRefusal(err error) string {
	text := err.Error()
	if child := (*workshop.ChildError)(nil); errors.As(err, &child) && child.Stderr != "" {
		text = strings.TrimSpace(child.Stderr)
	}
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// tuningSet returns a set with the flags that make ufs-stream read and judge it as the other tables do.
func (r *run) tuningSet(s dataset) tuning.Set {
	t := tuning.Set{
		Title: s.name, Input: s.path, Label: s.label, Counts: slices.Compact(s.featureCounts(r.percents)), Seed: r.seed, Threads: r.threads,
		Flags:      []string{"--missing", missingPolicy, "--memory-limit", strconv.FormatInt(int64(r.memory), 10)},
		JudgeFlags: []string{"--runs", strconv.Itoa(r.seeds), "--restarts", "1", "--sample", strconv.FormatInt(r.evalRows, 10)},
	}
	if s.sparse != "" {
		t.Flags = append(t.Flags, "--sparse", s.sparse)
	}
	if s.rows > r.rows {
		t.SelectFlags = []string{"--rows", strconv.FormatInt(r.rows, 10)}
	}
	if s.kind == kindText {
		t.JudgeFlags = append(t.JudgeFlags, "--spherical")
	}
	return t
}

func (v variant) selectFlags() []string {
	flags := []string{"--method", v.method}
	if v.scale != "" {
		flags = append(flags, "--scale", v.scale)
	}
	for _, name := range slices.Sorted(maps.Keys(v.settings)) {
		flags = append(flags, "--"+name, v.settings.Text(name))
	}
	return flags
}

// grid returns the weights that path varies for a variant, and the number of settings. Its name may have weights
// with several values; otherwise every weight without a value gets several. There are none if path cannot vary them.
func (v variant) grid() (grid tuning.Grid, settings int, err error) {
	if v.baseline != "" || v.lists != nil || v.method == "" {
		return grid, 0, nil
	}
	spec, err := methods.Find(methods.All(), v.method)
	if err != nil {
		return grid, 0, err
	}
	if _, ok := spec.New().(method.Varied); !ok {
		return grid, 0, nil
	}
	weights := maps.Clone(v.ranges)
	if weights == nil {
		weights = make(map[string]string)
		options := slices.DeleteFunc(slices.Clone(spec.Declare().Options.All()), func(o *method.Option) bool { return o.Type != "NUMBERS" })
		for _, option := range options[:min(2, len(options))] { // path varies the first two
			if v.settings[option.Name] == nil {
				weights[option.Name] = defaultWeights
			}
		}
	}
	settings = 1
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		var values method.Weights
		if err := values.Set(weights[name]); err != nil {
			return grid, 0, stream.Usagef("quality: --methods %s: %s: %w", v.name, name, err)
		}
		settings *= len(values)
		grid.Weights = append(grid.Weights, "--"+name, weights[name])
	}
	return grid, settings, nil
}

func (x tunedVariant) scores() (chosen, again, random, byDefault float64) {
	mean := func(e stream.Evaluated) float64 {
		score, ok := tuning.ScoreOf(e, tunedField)
		if !ok || x.refusal != "" {
			return math.NaN()
		}
		return float64(score.Mean)
	}
	return mean(x.best.Chosen), mean(x.best.Again), mean(x.alike.Again), mean(x.best.Default)
}

// tunedRecord is a tunedVariant in the JSON of the results.
type tunedRecord struct {
	Set      string        `json:"set"`
	Variant  string        `json:"variant"`
	Setting  string        `json:"setting"` // flags of select
	Settings int           `json:"settings"`
	K        int           `json:"k"`
	Chosen   stream.Number `json:"nmi_chosen"`
	Again    stream.Number `json:"nmi_again"`
	Random   stream.Number `json:"nmi_random"`
	Default  stream.Number `json:"nmi_default"`
	Refusal  string        `json:"refusal,omitempty"`
}

func (x tunedVariant) record() tunedRecord {
	chosen, again, random, byDefault := x.scores()
	return tunedRecord{x.set.name, x.variant.name, strings.Join(x.best.Flags, " "), x.best.Settings, x.best.Count,
		stream.Number(chosen), stream.Number(again), stream.Number(random), stream.Number(byDefault), x.refusal}
}

// writeTuned writes a table of the variants over all sets, and a table with the chosen settings.
func (r *run) writeTuned(w io.Writer) {
	if r.tuned == nil {
		return
	}
	fmt.Fprintf(w, "\n## Tuned by the labels\n\n"+
		"Every setting of a grid of `path` is judged by the labels, at each number of features, and the one of the highest NMI is chosen,\n"+
		"as papers do: \"chosen\". \"Again\" is this setting with fresh seeds of the method and of k-means. \"Random\" is the best of as many\n"+
		"random selections, chosen likewise and judged again: what a choice by labels alone is worth. \"Default\" is the method\n"+
		"at its default at this number of features, which sees no labels, with the seeds of \"again\". Settings that ties decide are left\n"+
		"out. p: Wilcoxon's signed-rank test of \"again\" over the sets, two-sided, with Holm's correction over the rows.\n")
	variants := results.Table{Titles: []string{"variant", "sets", "chosen", "again", "random", "default", "again − random", "p", "again − default", "p"}, TextColumns: 1}
	var rows [][6]float64 // chosen, again, random, default, and both p
	var names []string
	var counts []int
	for i := 0; i < len(r.tuned); {
		name := r.tuned[i].variant.name
		var columns [4][]float64
		for ; i < len(r.tuned) && r.tuned[i].variant.name == name; i++ {
			if chosen, again, random, byDefault := r.tuned[i].scores(); !math.IsNaN(again) {
				for c, x := range []float64{chosen, again, random, byDefault} {
					columns[c] = append(columns[c], x)
				}
			}
		}
		var row [6]float64
		for c := range columns {
			row[c] = judge.Summarize(columns[c]).Mean
		}
		row[4], row[5] = judge.WilcoxonTest(columns[1], columns[2]).P, judge.WilcoxonTest(columns[1], columns[3]).P
		rows, names, counts = append(rows, row), append(names, name), append(counts, len(columns[0]))
	}
	for _, c := range []int{4, 5} {
		var p []float64
		for _, row := range rows {
			p = append(p, row[c])
		}
		for i, adjusted := range judge.AdjustHolm(p) {
			rows[i][c] = adjusted
		}
	}
	for i, row := range rows {
		variants.AddRow(names[i], fmt.Sprint(counts[i]), results.FormatPoints(row[0]), results.FormatPoints(row[1]), results.FormatPoints(row[2]), results.FormatPoints(row[3]),
			formatGap(row[1]-row[2]), results.FormatChance(row[4]), formatGap(row[1]-row[3]), results.FormatChance(row[5]))
	}
	variants.WriteMarkdown(w)
	sets := results.Table{Titles: []string{"variant", "set", "setting", "settings", "features", "chosen", "again", "random", "default"}, TextColumns: 3}
	for _, x := range r.tuned {
		chosen, again, random, byDefault := x.scores()
		setting := cmp.Or(x.refusal, "`"+strings.Join(x.best.Flags, " ")+"`")
		sets.AddRow(x.variant.name, x.set.name, setting, fmt.Sprint(x.best.Settings), fmt.Sprint(x.best.Count),
			results.FormatPoints(chosen), results.FormatPoints(again), results.FormatPoints(random), results.FormatPoints(byDefault))
	}
	sets.WriteMarkdown(w)
}

func formatGap(gap float64) string {
	if math.IsNaN(gap) {
		return results.NoFigure
	}
	return fmt.Sprintf("%+.1f", 100*gap)
}
