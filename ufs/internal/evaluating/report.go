package evaluating

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// evalResult is the result of judging the first k features of a selection, or a baseline.
type evalResult struct {
	stream.Evaluated
	selection *NamedSelection
	runs      []float64 // NMI of each run
}

func newSpread(s judge.Summary) *stream.Spread {
	return &stream.Spread{Mean: stream.Number(s.Mean), Std: stream.Number(s.Std)}
}

func (r *evalResult) setClusterScores(runs []cluster.Scores) {
	g := judge.SummarizeScores(runs)
	r.ACC, r.NMISqrt, r.NMIMax, r.Purity, r.ARI = newSpread(g.ACC), newSpread(g.NMISqrt), newSpread(g.NMIMax), newSpread(g.Purity), newSpread(g.ARI)
	r.runs = judge.PickScore(runs, func(s cluster.Scores) float64 { return s.NMISqrt })
	for _, nmi := range r.runs {
		r.NMIRuns = append(r.NMIRuns, stream.Number(nmi))
	}
}

// maxCorrelatedPairwise is the largest number of features for which the redundancy of all features uses every pair.
// With more features, the pairs of a random 20,000 features are used. All pairs of a million features with 200 rows
// would need 200·10¹² operations, all pairs of 20,000 features need 0.08·10¹². The random features give the mean
// correlation |ρ| to about 0.001: half the spread of |ρ| over features, about 0.1, divided by √20,000.
const maxCorrelatedPairwise = 20_000

// assembleResults fills e.results, first with the result of all features and then with the results of the rankings for
// each k. The values in e.table are lost, because the redundancy of all features is computed in their place.
func assembleResults(e *evaluator, team *kernel.Team, rankings []*ranking, scores []labelScores) {
	next := func(r *evalResult) {
		if len(scores) > 0 {
			r.setClusterScores(scores[0].runs)
			for i, name := range e.Classify {
				accuracy := newSpread(judge.Summarize(scores[0].accuracies[i]))
				switch name {
				case judge.KNN:
					r.KNN = accuracy
				case judge.Ridge:
					r.Ridge = accuracy
				}
			}
			scores = scores[1:]
		}
	}
	var all *evalResult
	if slices.Contains(e.Baselines, judge.All) {
		redundancy, isSampled := judge.MeanCorrelation(team, e.table.Matrix(), maxCorrelatedPairwise, e.request.Choice.Seed)
		if isSampled {
			e.warnings = append(e.warnings, stream.Textf("the redundancy of all %s features is that of %s of them, drawn by {seed}", wording.WithCommas(int64(len(e.columns))), wording.WithCommas(maxCorrelatedPairwise)))
		}
		all = &evalResult{Evaluated: stream.Evaluated{Name: judge.All, Method: judge.All, K: len(e.columns), Redundancy: stream.Number(redundancy)}}
		next(all)
		e.results = append(e.results, *all)
	}
	for _, k := range e.counts {
		var block []evalResult
		var runs [][]float64
		for _, q := range rankings {
			r := evalResult{selection: q.selection, Evaluated: stream.Evaluated{
				Name: q.name, Method: q.method, K: k,
				Reconstruction: stream.Number(q.error[k-1]), Redundancy: stream.Number(q.redundancy[k-1]),
			}}
			if q.selection != nil {
				r.Path = q.selection.Path
			}
			next(&r)
			block, runs = append(block, r), append(runs, r.runs)
		}
		p, best := judge.MarkBest(runs)
		for i := range block {
			if r := &block[i]; e.Label != "" {
				against := stream.Number(p[i])
				r.PBest, r.Best = &against, &best[i]
				if all != nil {
					against := stream.Number(judge.WelchTest(r.runs, all.runs).P)
					r.PAll = &against
				}
			}
		}
		e.results = append(e.results, block...)
	}
}

func newEvaluation(e *evaluator) *stream.Evaluation {
	r := &stream.Evaluation{
		Label: e.Label, RowsScale: e.request.Columns.RowScale, Scale: e.clusterScale.String(), ReconstructionScale: e.errorScale.String(),
		Missing: e.policyName, Seed: e.request.Choice.Seed, Version: request.Release,
		Rows: e.rows, RowsUsed: int64(e.usedRows), Unlabelled: e.unlabelled, Sampled: e.Sample > 0 && e.rows > e.Sample,
		Features: len(e.columns), Inputs: e.inputs, Classes: e.classes, ClassRows: e.classRows,
		Warnings: append([]string{}, wording.SpellAll(e.warnings, e.Hooks.Spelling)...), Timing: e.timing,
	}
	if e.Label != "" {
		r.Protocol, r.Runs, r.Restarts, r.Starts, r.Clusters, r.Spherical = e.Protocol, e.Runs, e.Restarts, e.Starts, e.Clusters, e.Spherical
		if e.Clusterer == judge.Affinity {
			r.Clusterer, r.Damping, r.Protocol, r.Restarts, r.Starts = e.Clusterer, e.Damping, "", 0, ""
		}
	}
	if len(e.Classify) > 0 {
		r.Folds = e.Folds
	}
	for _, t := range e.results {
		r.Results = append(r.Results, t.Evaluated)
	}
	r.Timing.Read += float64(e.request.Hooks.Meter.Decode.Load()) / 1e9
	r.Timing.Accumulate += float64(e.request.Hooks.Meter.Accumulate.Load()) / 1e9
	r.Timing.Parts = e.request.Hooks.Meter.Busy.Parts()
	return r
}
