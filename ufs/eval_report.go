package ufs

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// evalResult is a set of features at one k, and what it was made of.
type evalResult struct {
	stream.Evaluated
	set  *NamedSelection
	runs []float64 // NMI of each
}

// scored puts the scores of the runs into r.
func (r *evalResult) scored(runs []cluster.Scores) {
	g := judge.Grade(runs)
	of := func(s judge.Summary) *stream.Spread {
		return &stream.Spread{Mean: stream.Number(s.Mean), Std: stream.Number(s.Std)}
	}
	r.ACC, r.NMISqrt, r.NMIMax, r.Purity, r.ARI = of(g.ACC), of(g.NMISqrt), of(g.NMIMax), of(g.Purity), of(g.ARI)
	r.runs = judge.Each(runs, func(s cluster.Scores) float64 { return s.NMISqrt })
}

// mostPaired is the number of features up to which the redundancy of all of them takes every pair. Pairs of a
// million features and 200 rows are 200 TFLOP; those of 20,000 are 0.08, and their mean |ρ| is known to
// some 0.001: half the spread of |ρ| from feature to feature, some 0.1, over the root of 20,000.
const mostPaired = 20_000

// assemble makes the results: all features first, then k by k. It uses the table up.
func (e *evaluator) assemble(team *kernel.Team, rankings []*ranking, scores [][]cluster.Scores) {
	next := func(r *evalResult) {
		if len(scores) > 0 {
			r.scored(scores[0])
			scores = scores[1:]
		}
	}
	var all *evalResult
	if slices.Contains(e.Baselines, judge.All) {
		redundancy, drawn := judge.Overall(team, e.table.Matrix(), mostPaired, e.q.Seed)
		if drawn {
			e.warnings = append(e.warnings, stream.Textf("the redundancy of all %s features is that of %s of them, drawn by {seed}", comma(int64(len(e.columns))), comma(mostPaired)))
		}
		all = &evalResult{Evaluated: stream.Evaluated{Name: judge.All, Method: judge.All, K: len(e.columns), Redundancy: stream.Number(redundancy)}}
		next(all)
		e.results = append(e.results, *all)
	}
	for _, k := range e.counts {
		var block []evalResult
		var runs [][]float64
		for _, q := range rankings {
			r := evalResult{set: q.set, Evaluated: stream.Evaluated{
				Name: q.name, Method: q.method, K: k,
				Reconstruction: stream.Number(q.error[k-1]), Redundancy: stream.Number(q.redundancy[k-1]),
			}}
			if q.set != nil {
				r.Path = q.set.Path
			}
			next(&r)
			block, runs = append(block, r), append(runs, r.runs)
		}
		p, best := judge.Mark(runs)
		for i := range block {
			if r := &block[i]; e.Label != "" {
				against := stream.Number(p[i])
				r.PBest, r.Best = &against, &best[i]
				if all != nil {
					against := stream.Number(judge.Welch(r.runs, all.runs).P)
					r.PAll = &against
				}
			}
		}
		e.results = append(e.results, block...)
	}
}

// report is what is written.
func (e *evaluator) report() *stream.Evaluation {
	r := &stream.Evaluation{
		Label: e.Label, Scale: e.cluster.String(), ReconstructionScale: e.rebuilt.String(),
		Missing: e.policyName, Seed: e.q.Seed, Version: Release,
		Rows: e.rows, RowsUsed: int64(e.used), Unlabelled: e.unlabelled, Sampled: e.Sample > 0 && e.rows > e.Sample,
		Features: len(e.columns), Inputs: e.inputs, Classes: e.classes, ClassRows: e.sizes,
		Warnings: append([]string{}, spelled(e.warnings, e.Spelling)...), Timing: e.timing,
	}
	if e.Label != "" {
		r.Protocol, r.Runs, r.Restarts, r.Clusters, r.Spherical = e.Protocol, e.Runs, e.Restarts, e.Clusters, e.Spherical
	}
	for _, t := range e.results {
		r.Results = append(r.Results, t.Evaluated)
	}
	r.Timing.Read += float64(e.q.Meter.Decode.Load()) / 1e9
	r.Timing.Accumulate += float64(e.q.Meter.Accumulate.Load()) / 1e9
	r.Timing.Parts = e.q.Meter.Busy.Parts()
	return r
}
