package paper

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/stream"
)

// randomAlike names the contender that has as many random selections to choose from as a method has settings.
const randomAlike = "random columns tuned alike"

// tunedResult is the best of a method's settings and numbers of features by the labels, as the papers choose it.
type tunedResult struct {
	set      dataset
	method   contender
	settings int // number of settings
	count    int
	flags    []string         // the setting: flags of select after the flags of the method
	chosen   stream.Evaluated // the scores by which it was chosen
	again    stream.Evaluated // the scores of the same setting with fresh seeds
}

// setting is a selection that labels judge. Its flags, after the flags of its method, have select make it.
type setting struct {
	flags []string
	file  string
}

func (o *options) tuneAll(ctx context.Context, w *workshop.Workshop, t table, set dataset, out *outcome) error {
	for _, m := range t.methods {
		if m.grids == nil {
			continue
		}
		best, alike := tunedResult{set: set, method: m}, tunedResult{set: set, method: contender{title: randomAlike, flags: []string{"--method", "random"}}}
		for i, g := range m.grids {
			o.printRemark("%s: %s, grid %d of %d: %s", set.title, m.title, i+1, len(m.grids), strings.Join(slices.Concat(g.flags, g.weights), " "))
			settings, err := o.runGrid(ctx, w, set, m, g)
			if err != nil {
				return fmt.Errorf("%s: %w", m.title, err)
			}
			if err := o.judgeSettings(ctx, w, t, settings, &best); err != nil {
				return err
			}
			draws, err := o.drawSettings(ctx, w, set, alike.method, alike.settings, len(settings))
			if err != nil {
				return err
			}
			if err := o.judgeSettings(ctx, w, t, draws, &alike); err != nil {
				return err
			}
		}
		for _, r := range []*tunedResult{&best, &alike} {
			if r.settings == 0 {
				return fmt.Errorf("%s: column order decided every setting of the grid: there is no result", m.title)
			}
			if err := o.repeatSetting(ctx, w, t, r); err != nil {
				return fmt.Errorf("%s again: %w", r.method.title, err)
			}
			out.tuned = append(out.tuned, *r)
		}
	}
	return nil
}

func (o *options) runGrid(ctx context.Context, w *workshop.Workshop, set dataset, m contender, g grid) ([]setting, error) {
	args := slices.Concat(o.commonFlags(set, slices.Max(set.counts), o.seed), m.flagsOn(set), g.flags, g.weights)
	solved, _, err := runOnce(ctx, o, w, "path", args, func(to *stream.Grid) (workshop.Cost, error) { return w.RunJSON(ctx, to, "path", args...) })
	if err != nil {
		return nil, err
	}
	var settings []setting
	for _, s := range solved.Settings {
		// If ties decided, the selection is no result of the method.
		if s.DecidedByTies || len(s.Selected) < solved.K {
			continue
		}
		sel := &stream.Selection{Method: solved.Method, K: solved.K, Features: solved.Features, Options: solved.Options}
		for i, name := range s.Selected {
			sel.Selected = append(sel.Selected, stream.Selected{Rank: i + 1, Name: name})
		}
		file, err := writeSelection(ctx, o, w, sel)
		if err != nil {
			return nil, err
		}
		flags := slices.Clone(g.flags)
		for _, weight := range s.WeightTexts() {
			flags = append(flags, "--"+weight[0], weight[1])
		}
		settings = append(settings, setting{flags, file})
	}
	return settings, nil
}

func (o *options) drawSettings(ctx context.Context, w *workshop.Workshop, set dataset, random contender, first, count int) ([]setting, error) {
	var settings []setting
	for i := range count {
		flags := []string{"--seed", strconv.Itoa(first + i + 1)}
		sel, _, err := o.runSelect(ctx, w, set, slices.Max(set.counts), o.seed, append(random.flagsOn(set), flags...))
		if err != nil {
			return nil, err
		}
		file, err := writeSelection(ctx, o, w, sel)
		if err != nil {
			return nil, err
		}
		settings = append(settings, setting{flags, file})
	}
	return settings, nil
}

// judgeSettings scores settings by the labels, for each number of features, and keeps the best in best: the one with
// the highest mean of the first measure of t.
func (o *options) judgeSettings(ctx context.Context, w *workshop.Workshop, t table, settings []setting, best *tunedResult) error {
	for _, k := range best.set.counts {
		var selections []string
		for i, s := range settings {
			selections = append(selections, fmt.Sprintf("%d=%s", i, s.file))
		}
		if selections == nil {
			break
		}
		e, err := o.judgeSelections(ctx, w, t, best.set, k, o.seed, selections, nil)
		if err != nil {
			return err
		}
		for i, s := range settings {
			most, _ := scoreOf(best.chosen, t.measures[0].field)
			if score, ok := scoreOf(e.Results[i], t.measures[0].field); ok && score.Mean > most.Mean {
				best.count, best.flags, best.chosen = k, s.flags, e.Results[i]
			}
		}
	}
	best.settings += len(settings)
	return nil
}

func (o *options) repeatSetting(ctx context.Context, w *workshop.Workshop, t table, r *tunedResult) error {
	seed := o.seed + 1
	sel, _, err := o.runSelect(ctx, w, r.set, slices.Max(r.set.counts), seed, slices.Concat(r.method.flagsOn(r.set), r.flags))
	if err != nil {
		return err
	}
	file, err := writeSelection(ctx, o, w, sel)
	if err != nil {
		return err
	}
	e, err := o.judgeSelections(ctx, w, t, r.set, r.count, seed, []string{"again=" + file}, nil)
	if err != nil {
		return err
	}
	r.again = e.Results[0]
	return nil
}
