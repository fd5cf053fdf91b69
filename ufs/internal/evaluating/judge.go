package evaluating

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// ranking is a selection or a baseline, which is judged at every number k of features.
type ranking struct {
	name, method string
	orders       [][]int         // orders of the table's columns, best first: one order for all runs, or one for each run
	selection    *NamedSelection // nil for a baseline
	error        []float64       // reconstruction error of the first 1, 2, … features
	redundancy   []float64       // redundancy of the first 1, 2, … features
}

// maxRandomSets is the largest number of random feature sets over which errors and redundancies are averaged. The sets
// differ little, and each set needs as much time to judge as a selection.
const maxRandomSets = 5

// judgeRankings computes the results of all rankings. It scales the values of the table in place, first for clustering,
// then for reconstruction, and then for correlation.
func (e *evaluator) judgeRankings(ctx context.Context) error {
	begin := time.Now()
	defer func() {
		e.timing.Solve += time.Since(begin).Seconds()
		e.table = nil // selecting again needs the memory of the table
		debug.FreeOSMemory()
	}()
	rankings, err := e.makeRankings(ctx)
	if err != nil {
		return err
	}
	if e.clusterScale != gram.ScaleNone { // without a scale, the table stays unchanged
		if _, err := e.table.ScaleColumns(e.clusterScale, e.columns); err != nil {
			return e.nameInputInError(err)
		}
	}
	var scores []labelScores // one for each result
	if e.Label != "" {
		if scores, err = e.clusterAndClassify(ctx, rankings); err != nil {
			return e.nameInputInError(err)
		}
	}
	team := kernel.NewTeam(e.request.Limits.Threads)
	err = request.TrackProgress(&e.request, request.Progress{What: "reconstruction", Pass: 1, Passes: 1, Rows: int64(e.usedRows)}, func(func(request.Progress)) error {
		return e.measureErrorsAndRedundancies(ctx, team, rankings)
	})
	if err != nil {
		return e.nameInputInError(err)
	}
	assembleResults(e, team, rankings, scores)
	return ctx.Err()
}

// makeRankings lists the rankings to judge. The set of all features is not a ranking, so the list does not contain it.
func (e *evaluator) makeRankings(ctx context.Context) ([]*ranking, error) {
	most := slices.Max(e.counts)
	var out []*ranking
	for i := range e.Selections {
		s := &e.Selections[i]
		order := make([]int, most)
		for k, f := range s.Selected[:most] {
			order[k] = e.index[f.Name]
		}
		out = append(out, &ranking{name: s.Name, method: s.Method, orders: [][]int{order}, selection: s})
	}
	if slices.Contains(e.Baselines, judge.Random) {
		r := &ranking{name: judge.Random, method: judge.Random}
		runs := e.Runs
		if e.Label == "" {
			runs = maxRandomSets
		}
		for run := range runs {
			scores, err := baselineScores(ctx, &method.Evidence{Columns: e.columns, K: most, Seed: judge.RunSeed(e.request.Choice.Seed, run)}, judge.Random)
			if err != nil {
				return nil, err
			}
			r.orders = append(r.orders, topIndices(scores, most))
		}
		out = append(out, r)
	}
	if slices.Contains(e.Baselines, judge.Variance) {
		std, err := gram.NewStandardizer(e.table.Profile(), e.columns, gram.ScaleNone, gram.FillMean)
		if err != nil {
			return nil, e.nameInputInError(err)
		}
		v := &method.Evidence{Std: std, K: most}
		for _, j := range std.Columns {
			v.Columns = append(v.Columns, e.columns[j])
		}
		found, err := baselineScores(ctx, v, judge.Variance)
		if err != nil {
			return nil, err
		}
		scores := make([]float64, len(e.columns))
		for k, s := range found {
			scores[std.Columns[k]] = s
		}
		out = append(out, &ranking{name: judge.Variance, method: judge.Variance, orders: [][]int{topIndices(scores, most)}})
	}
	return out, nil
}

func baselineScores(ctx context.Context, evidence *method.Evidence, name string) ([]float64, error) {
	spec, err := methods.Find(methods.All(), name)
	if err != nil {
		return nil, err
	}
	r, err := spec.New().Select(ctx, evidence)
	if err != nil {
		return nil, err
	}
	return r.Scores, nil
}

// topIndices lists the indices of the k largest scores in descending order. Equal scores are in column order.
func topIndices(scores []float64, k int) []int {
	order := make([]int, len(scores))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order[:k]
}

// labelScores compares a set of features with the classes of the rows.
type labelScores struct {
	runs       []cluster.Scores // scores of each run of k-means
	accuracies [][]float64      // of each classifier on each fold, a mean over the first sets if features are random
}

func (e *evaluator) clusterAndClassify(ctx context.Context, rankings []*ranking) (scores []labelScores, err error) {
	opt := judge.TrialOptions{
		Runs: e.Runs, Restarts: e.Restarts, Clusters: e.Clusters, Spherical: e.Spherical, RandomStarts: e.Starts == judge.RandomRows,
		Affinity: e.Clusterer == judge.Affinity, Damping: e.Damping,
		Seed: e.request.Choice.Seed, Threads: e.workers,
		Done: func() { e.request.Hooks.Meter.Rows.Add(int64(e.usedRows)) },
	}
	clusterer := "k-means"
	if opt.Affinity {
		clusterer = "affinity propagation"
	}
	p := request.Progress{What: clusterer + ", all features", Pass: 1, Passes: len(rankings) * len(e.counts), Rows: int64(e.usedRows * e.Runs)}
	all := slices.Contains(e.Baselines, judge.All)
	if all {
		p.Passes++
	} else {
		p.What = clusterer + ", " + rankings[0].name
	}
	err = request.TrackProgress(&e.request, p, func(next func(request.Progress)) error {
		team := kernel.NewTeam(e.workers)
		var folds *judge.Folds
		if len(e.Classify) > 0 {
			folds = judge.NewFolds(e.table.Classes, e.Folds, e.request.Choice.Seed)
		}
		run := func(sets int, matrixOf func(int) kernel.Matrix[float64]) error {
			trials, others := opt, []int(nil)
			trials.Found = func(clusters int) {
				if clusters != e.Clusters && !slices.Contains(others, clusters) {
					others = append(others, clusters)
				}
			}
			if opt.Affinity && sets == 1 {
				trials.Runs = 1 // all runs give the same result
			}
			runs, err := judge.RunTrials(ctx, e.table.Classes, matrixOf, trials)
			if err != nil {
				return err
			}
			runs = slices.Repeat(runs, e.Runs/len(runs))
			if others != nil {
				e.warnings = append(e.warnings, stream.Textf("%s: no preference gives %d clusters; the nearest numbers found are %v", p.What, e.Clusters, others))
			}
			s := labelScores{runs, make([][]float64, len(e.Classify))}
			for i, name := range e.Classify {
				s.accuracies[i] = make([]float64, e.Folds)
				for set := range sets {
					accuracies, err := folds.CrossValidate(ctx, team, matrixOf(set), name)
					if err != nil {
						return err
					}
					addDivided(s.accuracies[i], accuracies, sets)
				}
			}
			scores = append(scores, s)
			p.Pass++
			return nil
		}
		if all {
			x := e.table.Matrix()
			if err := run(1, func(int) kernel.Matrix[float64] { return x }); err != nil {
				return err
			}
		}
		for _, k := range e.counts {
			for _, r := range rankings {
				p.What = clusterer + ", " + r.name
				next(p)
				matrixOf := func(run int) kernel.Matrix[float64] { return e.table.GatherColumns(r.orders[run][:k]) }
				if len(r.orders) == 1 {
					x := e.table.GatherColumns(r.orders[0][:k])
					matrixOf = func(int) kernel.Matrix[float64] { return x }
				}
				if err := run(min(len(r.orders), maxRandomSets), matrixOf); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return scores, err
}

func (e *evaluator) measureErrorsAndRedundancies(ctx context.Context, team *kernel.Team, rankings []*ranking) error {
	if e.Scale == "" || e.clusterScale == gram.ScaleNone {
		if _, err := e.table.ScaleColumns(e.errorScale, e.columns); err != nil {
			return err
		}
	}
	for _, r := range rankings {
		sets := r.orders[:min(len(r.orders), maxRandomSets)]
		r.error, r.redundancy = make([]float64, len(sets[0])), make([]float64, len(sets[0]))
		for _, order := range sets {
			if err := ctx.Err(); err != nil {
				return err
			}
			if e.hasAllFeatures {
				addDivided(r.error, judge.ReconstructionError(team, e.table.Matrix(), order), len(sets))
			} else {
				addDivided(r.error, []float64{math.NaN()}, 1)
			}
			addDivided(r.redundancy, judge.RedundancyCurve(team, e.table.GatherColumns(order)), len(sets))
		}
	}
	return nil
}

// addDivided adds x/n to sum. If x is shorter than sum, the last value of x is repeated.
func addDivided(sum, x []float64, n int) {
	for i := range sum {
		sum[i] += x[min(i, len(x)-1)] / float64(n)
	}
}

func (e *evaluator) nameInputInError(err error) error {
	path := wording.InputPaths(e.inputs)[0]
	if errors.Is(err, cluster.ErrNotFinite) || errors.Is(err, cluster.ErrOverflow) || errors.Is(err, cluster.ErrNoDirection) {
		bad := stream.Dataf(path, "k-means on these values: %w", err)
		if e.Scale == "" && !errors.Is(err, cluster.ErrNoDirection) {
			bad.Remedy = stream.Textf("scale them: {scale} standard")
		}
		return bad
	}
	return statistics.WithPlace(err, &statistics.Bundle{Inputs: e.inputs})
}
