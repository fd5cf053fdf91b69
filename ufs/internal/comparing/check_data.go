package comparing

import (
	"context"
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/relating"
	"github.com/ufs-stream/ufs-stream/ufs/internal/selecting"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// checkedData holds the statistics of the old or of the new data, and the errors of the selections on these data.
type checkedData struct {
	trial  *selecting.Trial
	bundle *statistics.Bundle
	matrix *gram.Matrix   // Gram matrix of the features; centred if the selection records errors of centred columns
	names  []string       // names of the features
	index  map[string]int // index into names

	selectionError, freshError float64  // errors of the checked selection and of a fresh selection
	freshNames                 []string // features of the fresh selection

	weights     *judge.Weights // reconstruct all features from the features in weightNames
	weightNames []string       // selected features that other selected features do not determine
}

func (d *checkedData) lostShareAgainstFresh() float64 {
	if d.freshError >= 1 {
		return 0
	}
	return (d.selectionError - d.freshError) / (1 - d.freshError)
}

// loadStats reads the statistics file at path like a greedy selection with the settings of the checked selection.
func (c *checker) loadStats(ctx context.Context, path string) (*checkedData, error) {
	file, err := statistics.OpenStats(ctx, &c.request, path) // opened once for everything that is read from it
	if err != nil {
		return nil, err
	}
	defer file.Close()
	head, err := statistics.ReadStats(file, method.FromProfile, gram.Options{}, 0)
	if err != nil {
		return nil, err
	}
	if c.Baseline != "" && (head.Kind == statistics.KindSketch || head.Kind == statistics.KindSketchedGraph) {
		return nil, stream.Usagef("%s holds a sketch of the rows, and only Gram statistics show changes since {baseline}; leave {-baseline} out, or make them: ufs-stream scan INPUT… {o} FILE.ufs", file.Path())
	}
	q := c.request
	q.Stats, q.Choice.Keep = path, nil
	relating.FitToStats(&q, head)
	names := wording.ColumnNames(head.Columns)
	c.mostColumns = max(c.mostColumns, len(names))
	reserved := 2*gram.HistogramsBytes(len(names)) + judge.WeightsBytes(c.mostColumns, len(choice.FeatureNames(c.Selection)))
	uncentred := c.isCentred && slices.Contains([]string{"none", "minmax", "unit"}, q.Choice.Scale)
	if uncentred { // measuring errors of uncentred columns makes a centred copy of the matrix
		reserved += 8 * int64(len(names)) * int64(len(names))
	}
	limit := q.Limits.Memory
	q.Limits.Memory = max(limit-reserved, 1)
	r, err := settled.NewRun(ctx, q)
	if err != nil {
		return nil, err
	}
	g := &gathering.Gatherer{Run: r, GatherKind: method.FromGram, Planner: planning.SelectionPlanner(nil)}
	e, err := gathering.GatherFromFile(g, file)
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) {
		return nil, &stream.MemoryError{What: "this check", Need: m.Need + reserved, Limit: limit}
	}
	if err != nil {
		return nil, err
	}
	if err := statistics.ReadState(e, file, statistics.HistogramsSection, statistics.StateOptions{Threads: r.Limits.Threads}); err != nil {
		return nil, err
	}
	s := &stream.Selection{Options: map[string]any{}, LeftOut: e.LeftOut}
	if err := c.excludeSuspectColumns(g, e, s); err != nil {
		return nil, err
	}
	t, err := selecting.NewTrial(g, e, s)
	if err != nil {
		return nil, statistics.WithPlace(err, e)
	}
	for _, w := range wording.SpellAll(e.Warnings, c.Hooks.Spelling) {
		if !slices.Contains(c.verdict.Warnings, w) {
			c.verdict.Warnings = append(c.verdict.Warnings, w)
		}
	}
	d := &checkedData{trial: t, bundle: e, matrix: &t.Gram.Matrix, names: wording.ColumnNames(t.Columns), index: make(map[string]int)}
	for k, name := range d.names {
		d.index[name] = k
	}
	if uncentred {
		d.matrix = t.CentredGram().Matrix
	}
	return d, nil
}

// excludeSuspectColumns leaves out suspicious columns if the checked selection was made without suspicious columns. It
// never leaves out features of the selection.
func (c *checker) excludeSuspectColumns(g *gathering.Gatherer, e *statistics.Bundle, s *stream.Selection) error {
	if !request.ExcludesSuspects(&g.Run.Request) {
		return nil
	}
	if err := selecting.HandleSuspects(g.Run, e, s); err != nil {
		return err
	}
	for _, name := range choice.FeatureNames(c.Selection) {
		j := slices.IndexFunc(e.Columns, func(col stream.Column) bool { return col.Name == name })
		if j >= 0 && e.TakesPart != nil {
			e.TakesPart[j] = true
		}
	}
	return nil
}

// measureErrors computes the errors of the checked selection and of a fresh selection on the data of d. If withWeights
// is true, it also computes d.weights.
func (c *checker) measureErrors(ctx context.Context, d *checkedData, withWeights bool) error {
	g := d.matrix
	var own []int
	for _, name := range choice.FeatureNames(c.Selection) {
		if k, there := d.index[name]; there {
			own = append(own, k)
		}
	}
	d.selectionError = 1
	if len(own) > 0 {
		explained, err := judge.ExplainChoice(ctx, g, own, c.request.Limits.Threads)
		if err != nil {
			return statistics.WithPlace(err, d.bundle)
		}
		d.selectionError = explained.Error[len(explained.Error)-1]
		if own = explained.Order; withWeights {
			own = slices.DeleteFunc(slices.Clone(own), func(k int) bool { return slices.Contains(explained.Redundant, k) })
			if d.weights, err = judge.NewWeights(kernel.NewTeam(c.request.Limits.Threads), g.Sym, g.D, own); err != nil {
				return stream.Errorf("the selected features of %s: %w", place.DisplayName(c.Baseline), err)
			}
			for _, k := range own {
				d.weightNames = append(d.weightNames, d.names[k])
			}
		}
	}
	var keep []int
	for _, pattern := range c.request.Choice.Keep {
		// A feature that the data no longer have cannot be kept. Its absence is a reason to select again in any
		// case.
		if found, err := choice.MatchFeatures("keep", []string{pattern}, d.trial.Columns, nil); err == nil {
			keep = append(keep, slices.DeleteFunc(found, func(k int) bool { return slices.Contains(keep, k) })...)
		}
	}
	k := min(len(choice.FeatureNames(c.Selection)), g.D)
	fresh, err := judge.ChooseGreedily(ctx, g, k, keep[:min(len(keep), k)], c.request.Limits.Threads)
	if err != nil {
		return statistics.WithPlace(err, d.bundle)
	}
	d.freshError = fresh.Error[len(fresh.Error)-1]
	for _, k := range fresh.Order {
		d.freshNames = append(d.freshNames, d.names[k])
	}
	return nil
}

func (c *checker) measureErrorByOldWeights(before, now *checkedData) {
	if before.weights == nil {
		c.verdict.ByOldWeights = 1
		return
	}
	placeOf := func(at map[string]int, name string) int {
		if k, there := at[name]; there {
			return k
		}
		return -1
	}
	chosen, from := make([]int, len(before.weightNames)), make([]int, len(now.names))
	for r, name := range before.weightNames {
		chosen[r] = placeOf(now.index, name)
	}
	for k, name := range now.names {
		from[k] = placeOf(before.index, name)
	}
	g := now.matrix
	c.verdict.ByOldWeights = stream.Number(before.weights.UnexplainedShare(kernel.NewTeam(c.request.Limits.Threads), g.Sym, g.D, chosen, from))
}
