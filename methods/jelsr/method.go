package jelsr

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares JELSR and NDFS.
func Specs() []method.Spec {
	spec := func(m Method, about, caution string) method.Spec {
		return method.Spec{
			Name: m.String(), About: about,
			Guide: method.Guide{
				When:    "clusters, from a tenth of the features on; a table of the paper",
				Time:    "some d³ operations in each iteration, or n³ of few rows",
				Caution: caution,
			}, From: method.FromGraph, Takes: method.Takes{Iterates: true, Factor: true, Sketch: true}, Scale: gram.ScaleStandard,
			New: func() method.Method { return &jelsrMethod{kind: m} },
		}
	}
	return []method.Spec{
		spec(JELSR, "the features that fit an embedding of the anchor graph, not of its paper's graph (Hou, Nie, Li, Yi, Wu 2014)",
			"slow where features are many, and at 2 % of them about as good as random ones on public sets"),
		spec(NDFS, "the features that fit cluster labels of the graph made with them (Li, Yang, Liu, Zhou, Lu 2012)",
			"middling where few features are chosen"),
	}
}

// jelsrMethod is JELSR or NDFS with its settings.
type jelsrMethod struct {
	kind        Method
	alpha, beta method.Weights
	gamma       method.Weights // NDFS
	clusters    int
	ends        method.Iteration
}

func (m *jelsrMethod) Options(o *method.Options) {
	weight := func(to *method.Weights, name, usage string) {
		o.PlainWeights(to, name, usage, m.kind.String()).Refuse(func(string) error {
			for _, w := range *to {
				if !(w.Value >= leastWeight && w.Value <= largestWeight) {
					return stream.Usagef("%v %v: want a number between %g and %g", stream.Option(name), w, leastWeight, largestWeight)
				}
			}
			return nil
		})
	}
	if m.kind == NDFS {
		weight(&m.alpha, "alpha", "weight of the regression onto the labels (default 1)")
		weight(&m.beta, "beta", "weight of the row sparsity (default 1)")
		weight(&m.gamma, "gamma", "weight of labels that do not overlap (default 1e8)")
	} else {
		weight(&m.alpha, "alpha", "weight of the row sparsity (default 1)")
		weight(&m.beta, "beta", "weight of the regression onto the embedding (default 1)")
	}
	o.Clusters(&m.clusters)
	tol := "1e-4"
	if m.kind == NDFS {
		tol = "1e-2"
	}
	m.ends.Declare(o, "100", tol, "falls")
}

func (m *jelsrMethod) selectOptions(seed uint64, threads int) Options {
	return Options{
		Method: m.kind, Alpha: m.alpha.First(), Beta: m.beta.First(), Gamma: m.gamma.First(), Clusters: m.clusters,
		Tol: m.ends.Tol, MaxIter: m.ends.Most, Seed: seed, Threads: threads,
	}
}

func (m *jelsrMethod) Cost(s method.Shape) (method.Cost, error) {
	opt := m.selectOptions(0, s.Threads).withDefaults()
	return method.Cost{Bytes: Bytes(len(s.Columns), s.Anchors, s.Rank, opt), Iterations: opt.MaxIter}, nil
}

func (m *jelsrMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	opt := m.selectOptions(e.Seed, e.Threads)
	opt.Progress = e.Iteration
	r, err := Select(ctx, e.Graph, opt)
	if err != nil {
		return nil, err
	}
	out := r.ToRanking()
	out.Warnings, out.Used = r.Warnings, m.usedSettings(opt)
	return out, nil
}

func (m *jelsrMethod) usedSettings(opt Options) map[string]any {
	opt = opt.withDefaults()
	used := map[string]any{
		"alpha": m.alpha.Or(method.Weight{Value: opt.Alpha}).Record(), "beta": m.beta.Or(method.Weight{Value: opt.Beta}).Record(),
		"clusters": opt.Clusters, "max-iter": opt.MaxIter, "tol": opt.Tol,
	}
	if m.kind == NDFS {
		used["gamma"] = m.gamma.Or(method.Weight{Value: opt.Gamma}).Record()
	}
	return used
}

// Settings implements method.Varied: it returns the number of pairs of weights α and β.
func (m *jelsrMethod) Settings() int {
	return max(len(m.alpha), 1) * max(len(m.beta), 1)
}

func distinctSortedWeights(w method.Weights, otherwise float64) []float64 {
	list := w.Or(method.Weight{Value: otherwise}).Values()
	slices.Sort(list)
	return slices.Compact(list)
}

// Path implements method.Varied: it ranks the features for every α with every β, and one γ.
func (m *jelsrMethod) Path(ctx context.Context, e *method.Evidence) (*method.Grid, error) {
	if len(m.gamma) > 1 {
		return nil, stream.Usagef("{gamma} has %d values; a path varies {alpha} and {beta}", len(m.gamma))
	}
	opt := m.selectOptions(e.Seed, e.Threads).withDefaults()
	opt.Progress = e.Iteration
	alphas, betas := distinctSortedWeights(m.alpha, opt.Alpha), distinctSortedWeights(m.beta, opt.Beta)
	g := &method.Grid{Used: m.usedSettings(opt), Width: len(betas)}
	for _, opt.Alpha = range alphas {
		for _, opt.Beta = range betas {
			r, err := Select(ctx, e.Graph, opt)
			if err != nil {
				return nil, err
			}
			ranking := r.ToRanking()
			ranking.Warnings = r.Warnings
			one := method.Setting{
				Alpha: opt.Alpha, Beta: opt.Beta, Gamma: math.NaN(), Ranking: ranking, Sound: r.Converged && r.Rose == nil,
				Name: stream.PlainText(fmt.Sprintf("alpha %v, beta %v", opt.Alpha, opt.Beta)),
			}
			g.Settings = append(g.Settings, one)
		}
	}
	return g, nil
}
