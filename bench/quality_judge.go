package main

import (
	"context"
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// judge scores a choice at every count by ufs.Eval: k-means on the chosen columns as they are
// in the file, in as many clusters as there are classes, and the error of reconstructing the
// standardized columns, whatever scale the choice was made at.
func (r *qualityRun) judge(ctx context.Context, s qualitySet, v variant, sel *stream.Selection, choices []choiceMade) error {
	judged := *sel
	judged.Options = maps.Clone(sel.Options)
	if judged.Options == nil {
		judged.Options = make(map[string]any)
	}
	judged.Options["scale"] = "standard"
	const chosen = "chosen"
	e := ufs.EvalRequest{
		Inputs: []string{s.path}, Selections: []ufs.NamedSelection{{Name: chosen, Selection: &judged}},
		Label: s.label, Missing: missingPolicy, Sample: r.evalRows, Runs: r.seeds, Restarts: 1,
		Baselines: []string{"none"}, Resamples: -1, Seed: r.seed, Threads: r.threads,
	}
	name := chosen
	if v.baseline != "" {
		e.Baselines, name = []string{v.baseline}, v.baseline
	}
	for _, c := range choices {
		e.K = append(e.K, min(c.K, len(sel.Selected)))
	}
	slices.Sort(e.K)
	e.K = slices.Compact(e.K)
	result, err := ufs.Eval(ctx, e)
	if err != nil {
		return err
	}
	for i := range choices {
		c := &choices[i]
		c.Chosen = min(c.K, len(sel.Selected))
		if v.baseline == judge.All {
			c.Chosen = s.features
		}
		for _, x := range result.Results {
			if x.Name == name && (x.K == c.Chosen || v.baseline == judge.All) {
				c.NMI, c.ACC, c.Error = x.NMISqrt, x.ACC, x.Reconstruction
			}
		}
	}
	return nil
}
