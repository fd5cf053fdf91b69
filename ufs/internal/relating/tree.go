package relating

import (
	"context"
	"io"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/gathering"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

type FeatureTree struct {
	Features      []string
	Groups, Depth int
	Warnings      []string

	tree method.Tree
}

func (t *FeatureTree) Encode(w io.Writer) error { return t.tree.Encode(w, t.Features) }

// BuildTree implements ufs.Tree: it makes a tree of groups over the features of the input.
func BuildTree(ctx context.Context, q request.Request) (*FeatureTree, error) {
	if q.Choice.Method == "" {
		if q.Choice.Methods == nil {
			q.Choice.Methods = methods.All()
		}
		for _, spec := range q.Choice.Methods {
			if _, ok := spec.New().(method.Grouped); ok && spec.Declare().Options.Find("tree") != nil {
				q.Choice.Method = spec.Name
				break
			}
		}
	}
	if err := settled.RefuseStats(ctx, &q, "name the data itself"); err != nil {
		return nil, err
	}
	r, err := settled.NewRunFor(ctx, q, false)
	if err != nil {
		return nil, err
	}
	r.Bound.Sample = 0 // only the iterations of a method use a sample
	grouped, ok := r.Bound.Solver.(method.Grouped)
	if !ok {
		return nil, stream.Usagef("tree: method %s has no tree over features", r.Bound.Name)
	}
	if err := grouped.CheckTree(); err != nil {
		return nil, err
	}
	if err := atomicfile.CheckWritable(ctx, r.Output); err != nil {
		return nil, err
	}
	end, err := budget.ApplyLimits(ctx, &r.Request)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := settled.PrepareFeatures(ctx, r); err != nil {
		return nil, err
	}
	e := new(method.Evidence)
	var warnings []stream.Text
	if grouped.NeedsGram() {
		warnings, err = gatherTreeGram(ctx, r, e)
	} else {
		warnings, err = readFeatureNames(ctx, r, e)
	}
	if err != nil {
		return nil, err
	}
	tree, err := grouped.Tree(e)
	if err != nil {
		return nil, err
	}
	return &FeatureTree{e.Names(), tree.Nodes(), tree.Depth(), wording.SpellAll(warnings, r.Hooks.Spelling), tree}, nil
}

func readFeatureNames(ctx context.Context, r *settled.Run, evidence *method.Evidence) ([]stream.Text, error) {
	ds, err := settled.OpenDataset(ctx, r.Input.Paths, r.ReadOptions())
	if err != nil {
		return nil, budget.ErrForLimit(&r.Request, err)
	}
	defer ds.Close()
	if err := ds.NotInput(ctx, r.Output); err != nil {
		return nil, err
	}
	evidence.Columns, evidence.LeftOut = ds.Columns(), ds.LeftOut()
	return ds.Warnings(), nil
}

func gatherTreeGram(ctx context.Context, r *settled.Run, evidence *method.Evidence) ([]stream.Text, error) {
	plan := func(r *settled.Run, ds *chunkio.Dataset) (budget.Budget, error) {
		d := len(ds.Columns())
		// The distances between columns replace the Gram matrix; clustering needs a few numbers for each column.
		return planning.PlanPass(r, ds, gram.Bytes(d, planning.ExpectedMissing(r, ds)), budget.ProfileColumnBytes*int64(d))
	}
	found, err := (&gathering.Gatherer{Run: r, GatherKind: method.FromGram, Planner: plan}).Gather(ctx)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	settled.NoteFilled(r, settled.ListFilled(r, found))
	if evidence.Gram, err = found.Moments.Finish(found.Columns, gram.FinishOptions{Scale: gram.ScaleCenter, Fill: request.MissingFill(&r.Request), Plain: true}); err != nil {
		return nil, statistics.WithPlace(err, found)
	}
	for _, j := range evidence.Gram.Columns {
		evidence.Columns = append(evidence.Columns, found.Columns[j])
	}
	evidence.LeftOut = slices.Concat(found.LeftOut, evidence.Gram.LeftOut)
	return append(found.Warnings, stream.PlainTexts(evidence.Gram.Warnings)...), nil
}
