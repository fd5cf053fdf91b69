package ufs

import (
	"context"
	"io"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// FeatureTree is a tree of groups over features.
type FeatureTree struct {
	Features      []string
	Groups, Depth int
	Warnings      []string

	tree method.Tree
}

// Encode writes the tree as JSON.
func (t *FeatureTree) Encode(w io.Writer) error { return t.tree.Encode(w, t.Features) }

// Tree makes a tree of groups over the features of the input. Option "tree" in Request.Options describes the tree. The
// method is Request.Method or, if that is empty, the first method with such an option. For a tree by the names of
// features, Tree reads only footers; for a tree by their correlations it makes a pass.
func Tree(ctx context.Context, q Request) (*FeatureTree, error) {
	if q.Method == "" {
		if q.Methods == nil {
			q.Methods = methods.All()
		}
		for _, spec := range q.Methods {
			if _, ok := spec.New().(method.Grouped); ok && spec.Declare().Options.Find("tree") != nil {
				q.Method = spec.Name
				break
			}
		}
	}
	if err := q.refuseStats(ctx, "name the data itself"); err != nil {
		return nil, err
	}
	r, err := q.newRunFor(ctx, false)
	if err != nil {
		return nil, err
	}
	r.Sample = 0 // only the iterations of a method use a sample
	grouped, ok := r.Solver.(method.Grouped)
	if !ok {
		return nil, stream.Usagef("tree: method %s has no tree over features", r.Name)
	}
	if err := grouped.CheckTree(); err != nil {
		return nil, err
	}
	if err := atomicfile.CheckWritable(ctx, r.Output); err != nil {
		return nil, err
	}
	end, err := r.applyLimits(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := r.findCategories(ctx); err != nil {
		return nil, err
	}
	e := new(method.Evidence)
	var warnings []stream.Text
	if grouped.NeedsGram() {
		warnings, err = r.gatherTreeGram(ctx, e)
	} else {
		warnings, err = r.readFeatureNames(ctx, e)
	}
	if err != nil {
		return nil, err
	}
	tree, err := grouped.Tree(e)
	if err != nil {
		return nil, err
	}
	return &FeatureTree{e.Names(), tree.Nodes(), tree.Depth(), spellAll(warnings, r.Spelling), tree}, nil
}

func (r *run) readFeatureNames(ctx context.Context, e *method.Evidence) ([]stream.Text, error) {
	ds, err := openDataset(ctx, r.Inputs, r.readOptions())
	if err != nil {
		return nil, r.errForLimit(err)
	}
	defer ds.Close()
	if err := ds.NotInput(ctx, r.Output); err != nil {
		return nil, err
	}
	e.Columns, e.LeftOut = ds.Columns(), ds.LeftOut()
	return ds.Warnings(), nil
}

func (r *run) gatherTreeGram(ctx context.Context, e *method.Evidence) ([]stream.Text, error) {
	plan := func(ds *chunkio.Dataset) (Budget, error) {
		d := len(ds.Columns())
		// The distances between columns replace the Gram matrix; clustering needs a few numbers for each column.
		return r.planPass(ds, gram.Bytes(d, r.expectedMissing(ds)), profileColumnBytes*int64(d))
	}
	found, err := (&gatherer{run: r, gatherKind: method.FromGram, plan: plan}).gather(ctx)
	if err != nil {
		return nil, err
	}
	defer found.close()
	noteFilled(r, listFilled(r, found))
	if e.Gram, err = found.moments.Finish(found.columns, gram.FinishOptions{Scale: gram.ScaleCenter, Fill: r.missingFill(), Plain: true}); err != nil {
		return nil, withPlace(err, found)
	}
	for _, j := range e.Gram.Columns {
		e.Columns = append(e.Columns, found.columns[j])
	}
	e.LeftOut = slices.Concat(found.leftOut, e.Gram.LeftOut)
	return append(found.warnings, stream.PlainTexts(e.Gram.Warnings)...), nil
}
