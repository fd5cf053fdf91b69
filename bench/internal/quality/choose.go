package quality

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

func (r *run) selectFeatures(ctx context.Context, s dataset, v variant, path string, k int) (*stream.Selection, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	q := ufs.Request{
		Input:   ufs.Input{Paths: []string{path}},
		Choice:  ufs.Choice{Method: v.method, Scale: v.scale, Options: v.settings, K: k, Seed: r.seed},
		Columns: ufs.Columns{Missing: missingPolicy},
		Limits:  ufs.Limits{Threads: r.threads, Memory: int64(r.memory), TempDir: r.scratch},
	}
	if path == s.path {
		q.Columns.Label = s.label // the files with halves of the rows have no label column
		if s.rows > r.rows {
			q.SampleRows = r.rows
		}
	}
	sel, err := ufs.Select(ctx, q)
	if unconverged := (*stream.UnconvergedError)(nil); sel != nil && errors.As(err, &unconverged) {
		err = nil // the iteration did not converge, but there is a selection
	}
	if err == nil {
		err = v.checkSelection(sel)
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = context.DeadlineExceeded
	}
	return sel, err
}

// checkSelection returns an error if a selection was made by another method or scale than the name of the variant
// promises. Only the default variant may use any method.
func (v variant) checkSelection(sel *stream.Selection) error {
	if v.method != "" && sel.Method != v.method || v.scale != "" && sel.Options["scale"] != v.scale {
		return fmt.Errorf("%s ran in the place of %s", methodAndScale(sel), v.name)
	}
	return nil
}

func methodAndScale(sel *stream.Selection) string {
	return fmt.Sprintf("%s, %v", sel.Method, sel.Options["scale"])
}

// selectFromHalves selects from each half of the rows and returns the indices of the chosen features. It returns nil if
// a half is refused.
func (r *run) selectFromHalves(ctx context.Context, s dataset, v variant, k int, halves []string) ([][]int, error) {
	if k == 0 {
		return nil, nil
	}
	var orders [][]int
	number := make(map[string]int)
	for _, path := range halves {
		sel, err := r.selectFeatures(ctx, s, v, path, k)
		if err != nil {
			return nil, ctx.Err()
		}
		var order []int
		for _, f := range sel.Selected {
			if _, ok := number[f.Name]; !ok {
				number[f.Name] = len(number)
			}
			order = append(order, number[f.Name])
		}
		orders = append(orders, order)
	}
	return orders, nil
}

// findPerCountVariants finds, on a small table, the variants that need a run for every number of features.
func (r *run) findPerCountVariants(ctx context.Context) ([]bool, error) {
	s, err := probeKind().writeSet(ctx, r.scratch)
	if err != nil {
		return nil, err
	}
	if err := r.inspectSet(ctx, &s); err != nil {
		return nil, err
	}
	out := make([]bool, len(r.variants))
	for i, v := range r.variants {
		if out[i] = v.needsRunPerCount; out[i] || v.baseline != "" {
			continue
		}
		few, fewErr := r.selectFeatures(ctx, s, v, s.path, 5)
		many, manyErr := r.selectFeatures(ctx, s, v, s.path, 15)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out[i] = fewErr != nil || manyErr != nil || !isPrefix(many, few)
	}
	return out, nil
}

func isPrefix(many, few *stream.Selection) bool {
	return len(few.Selected) <= len(many.Selected) && slices.EqualFunc(few.Selected, many.Selected[:len(few.Selected)],
		func(a, b stream.Selected) bool { return a.Name == b.Name })
}
