package quality

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// chosenName is how ufs.Eval calls the choice.
const chosenName = "chosen"

// judge scores a choice at every count by ufs.Eval: k-means on the chosen columns as they are
// in the file, in as many clusters as there are classes; and, of all columns, the error of
// reconstructing them standardized, whatever scale the choice was made at.
func (r *run) judge(ctx context.Context, s dataset, v variant, sel *stream.Selection, choices []choiceMade) error {
	clustered := r.evaluation(s, v, sel, choices)
	clustered.Label, clustered.Runs, clustered.Restarts = s.label, r.seeds, 1
	scores, err := ufs.Eval(ctx, clustered)
	if err != nil {
		return err
	}
	var errors *stream.Evaluation // of all features nothing is left unexplained
	if v.baseline != judge.All {
		// Without a label all columns that the choice was made from are read, and none is clustered.
		if errors, err = ufs.Eval(ctx, r.evaluation(s, v, sel, choices)); err != nil {
			return err
		}
	}
	for i := range choices {
		c := &choices[i]
		c.Chosen = min(c.K, len(sel.Selected))
		if v.baseline == judge.All {
			c.Chosen, c.Error = s.features, 0
		}
		for _, x := range scores.Results {
			if x.Name == v.evaluated() && (x.K == c.Chosen || v.baseline == judge.All) {
				c.NMI, c.ACC = x.NMISqrt, x.ACC
			}
		}
		if errors == nil {
			continue
		}
		for _, x := range errors.Results {
			if x.Name == v.evaluated() && x.K == c.Chosen {
				c.Error = x.Reconstruction
			}
		}
	}
	return nil
}

// evaluated is the name of v's scores in an evaluation.
func (v variant) evaluated() string { return cmp.Or(v.baseline, chosenName) }

// evaluation is the request that both evaluations of a choice begin with.
func (r *run) evaluation(s dataset, v variant, sel *stream.Selection, choices []choiceMade) ufs.EvalRequest {
	judged := *sel
	judged.Options = maps.Clone(sel.Options)
	if judged.Options == nil {
		judged.Options = make(map[string]any)
	}
	judged.Options["scale"] = "standard" // which is what eval reconstructs
	e := ufs.EvalRequest{
		Inputs: []string{s.path}, Selections: []ufs.NamedSelection{{Name: chosenName, Selection: &judged}},
		Missing: missingPolicy, Sample: r.evalRows, Baselines: []string{cmp.Or(v.baseline, "none")}, Resamples: -1,
		Seed: r.seed, Threads: r.threads,
	}
	for _, c := range choices {
		e.K = append(e.K, min(c.K, len(sel.Selected)))
	}
	slices.Sort(e.K)
	e.K = slices.Compact(e.K)
	return e
}
