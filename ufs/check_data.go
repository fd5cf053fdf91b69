package ufs

import (
	"context"
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// checked is what is known of one of the two files.
type checked struct {
	t      *trial
	e      *gathered
	matrix *gram.Matrix   // of the features, centred where the errors that the selection records are so
	names  []string       // of the features
	at     map[string]int // their places

	left, fresh float64  // errors of the selection, and of a fresh one
	chosen      []string // by the fresh one

	weights *judge.Weights // of the columns kept, which no other one explains
	kept    []string
}

// lost is Verdict.Lost.
func (d *checked) lost() float64 {
	if d.fresh >= 1 {
		return 0
	}
	return (d.left - d.fresh) / (1 - d.fresh)
}

// release gives the matrices back.
func (d *checked) release() { d.t.Gram, d.t.whole, d.e.moments, d.matrix = nil, nil, nil, nil }

// load reads the statistics at path as a greedy selection with the selection's settings would.
func (c *checker) load(ctx context.Context, path string) (*checked, error) {
	file, err := c.q.openStats(ctx, path) // once for all that is read of it
	if err != nil {
		return nil, err
	}
	defer file.Close()
	head, err := readStats(file, method.FromProfile, gram.Options{}, 0)
	if err != nil {
		return nil, err
	}
	if c.Baseline != "" && (head.kind == kindSketch || head.kind == kindSketchedGraph) {
		return nil, stream.Usagef("%s holds a sketch of the rows, and what moved since {baseline} is told from Gram statistics; leave {baseline} out, or make them: ufs-stream scan INPUT… {o} FILE.ufs", file.Path())
	}
	q := c.q
	q.Stats, q.Keep = path, nil
	q.fitTo(head)
	names := columnNames(head.columns)
	beside := 2*gram.HistogramsBytes(len(names)) + judge.WeightsBytes(len(names), len(featureNames(c.Selection)))
	uncentred := c.centred && slices.Contains([]string{"none", "minmax", "unit"}, q.Scale)
	if uncentred { // a centred copy
		beside += 8 * int64(len(names)) * int64(len(names))
	}
	limit := q.Memory
	q.Memory = max(limit-beside, 1)
	r, err := q.settle(ctx)
	if err != nil {
		return nil, err
	}
	g := &gatherer{run: r, from: method.FromGram, plan: r.planSelection}
	e, err := g.fromFile(file)
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) {
		return nil, &stream.MemoryError{What: "this check", Need: m.Need + beside, Limit: limit}
	}
	if err != nil {
		return nil, err
	}
	if err := e.readSpread(file, r.Threads); err != nil {
		return nil, err
	}
	s := &stream.Selection{Options: map[string]any{}, LeftOut: e.leftOut}
	if err := c.tidy(g, e, s); err != nil {
		return nil, err
	}
	t, err := g.evidence(e, s)
	if err != nil {
		return nil, placed(err, e)
	}
	for _, w := range spelled(e.warnings, c.Spelling) {
		if !slices.Contains(c.v.Warnings, w) {
			c.v.Warnings = append(c.v.Warnings, w)
		}
	}
	d := &checked{t: t, e: e, matrix: &t.Gram.Matrix, names: columnNames(t.Columns), at: make(map[string]int)}
	for k, name := range d.names {
		d.at[name] = k
	}
	if uncentred {
		d.matrix = t.centredGram().Matrix
	}
	return d, nil
}

// tidy leaves out the suspicious columns where the selection was made without such, but for what it has.
func (c *checker) tidy(g *gatherer, e *gathered, s *stream.Selection) error {
	if !g.excludes() {
		return nil
	}
	if err := g.tidy(e, s); err != nil {
		return err
	}
	for _, name := range featureNames(c.Selection) {
		j := slices.IndexFunc(e.columns, func(col stream.Column) bool { return col.Name == name })
		if j >= 0 && e.wanted != nil {
			e.wanted[j] = true
		}
	}
	return nil
}

// fitTo leaves out of a recorded request what statistics with that header do not know or have done.
func (q *Request) fitTo(head *gathered) {
	names := columnNames(head.columns)
	known := func(option string, patterns []string) []string {
		return slices.DeleteFunc(slices.Clone(patterns), func(p string) bool {
			_, err := chunkio.Match(option, []string{p}, names)
			return err != nil
		})
	}
	q.Columns, q.Exclude = known("columns", q.Columns), known("exclude", q.Exclude)
	if !slices.Contains(names, q.Label) {
		q.Label = ""
	}
	// What statistics keep can be settled afterwards; what else a scan did is done.
	if kept := keptMissing(); !slices.Contains(kept, q.Missing) || !slices.Contains(kept, head.options["missing"]) {
		q.Missing = ""
	}
}

// measure finds the errors of the selection and of a fresh one, and with weights those of the
// selection.
func (c *checker) measure(ctx context.Context, d *checked, weights bool) error {
	g := d.matrix
	var own []int
	for _, name := range featureNames(c.Selection) {
		if k, there := d.at[name]; there {
			own = append(own, k)
		}
	}
	d.left = 1
	if len(own) > 0 {
		explained, err := judge.Explain(ctx, g, own, c.q.Threads)
		if err != nil {
			return placed(err, d.e)
		}
		d.left = explained.Error[len(explained.Error)-1]
		if own = explained.Order; weights {
			own = slices.DeleteFunc(slices.Clone(own), func(k int) bool { return slices.Contains(explained.Redundant, k) })
			if d.weights, err = judge.NewWeights(kernel.NewTeam(c.q.Threads), g.Sym, g.D, own); err != nil {
				return stream.Errorf("the selected features of %s: %w", place.Name(c.Baseline), err)
			}
			for _, k := range own {
				d.kept = append(d.kept, d.names[k])
			}
		}
	}
	var keep []int
	for _, pattern := range c.q.Keep {
		// A feature that is gone cannot be kept; it is a reason to select again anyway.
		if found, err := matchFeatures("keep", []string{pattern}, d.t.Columns, nil); err == nil {
			keep = append(keep, slices.DeleteFunc(found, func(k int) bool { return slices.Contains(keep, k) })...)
		}
	}
	k := min(len(featureNames(c.Selection)), g.D)
	fresh, err := judge.Choose(ctx, g, k, keep[:min(len(keep), k)], c.q.Threads)
	if err != nil {
		return placed(err, d.e)
	}
	d.fresh = fresh.Error[len(fresh.Error)-1]
	for _, k := range fresh.Order {
		d.chosen = append(d.chosen, d.names[k])
	}
	return nil
}

// applyWeights finds what the weights of the data before leave of the new data.
func (c *checker) applyWeights(before, now *checked) {
	if before.weights == nil {
		c.v.ByOldWeights = 1
		return
	}
	placeOf := func(at map[string]int, name string) int {
		if k, there := at[name]; there {
			return k
		}
		return -1
	}
	chosen, from := make([]int, len(before.kept)), make([]int, len(now.names))
	for r, name := range before.kept {
		chosen[r] = placeOf(now.at, name)
	}
	for k, name := range now.names {
		from[k] = placeOf(before.at, name)
	}
	g := now.matrix
	c.v.ByOldWeights = stream.Number(before.weights.Left(kernel.NewTeam(c.q.Threads), g.Sym, g.D, chosen, from))
}
