package sfufs

import (
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares SFUFS, FUFS and SFESA.
func Specs() []method.Spec {
	spec := func(m Method, about, caution string) method.Spec {
		return method.Spec{
			Name: m.String(), About: about,
			Guide: method.Guide{
				When:    "clusters that only a few of many columns show, while the others vary more; a table of the paper",
				Time:    "m·d² once, then eigenvectors of a d×d matrix in each iteration",
				Caution: caution,
			}, From: method.FromGraph, Takes: method.Takes{Iterates: true, Factor: true, Sketch: true, NoCross: true}, Scale: gram.ScaleStandard,
			New: func() method.Method { return &configuredMethod{kind: m} },
		}
	}
	return []method.Spec{
		spec(SFUFS, "a sparse projection that keeps neighbours together and fits a flexible embedding (Hu, Wang, Nie et al.)",
			"on public sets hardly better than random features"),
		spec(FUFS, "the same with the projection itself as embedding",
			"on public sets about as good as random features; behind sfufs"),
		subsetSpec(),
	}
}

// configuredMethod is SFUFS or FUFS with its settings.
type configuredMethod struct {
	kind         Method
	alpha, gamma method.Weights
	constraint   string
	clusters     int
	stopping     method.Iteration
}

func (m *configuredMethod) Options(o *method.Options) {
	weight := func(to *method.Weights, name, usage string, validate func(float64) error) {
		o.PlainWeights(to, name, usage, m.kind.String()).Refuse(func(string) error {
			for _, w := range *to {
				if err := validate(w.Value); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if m.kind == SFUFS {
		weight(&m.alpha, "alpha", "weight of the regression (default 1)", func(alpha float64) error {
			if alpha == 0 {
				return stream.Usagef("{alpha} 0: want a number above 0")
			}
			return Options{Alpha: alpha}.Validate(1)
		})
	}
	weight(&m.gamma, "gamma", "weight of the sparsity (default 0.1; 1 with the constraint identity)", func(gamma float64) error {
		return Options{Gamma: gamma}.Validate(1)
	})
	o.Choice(&m.constraint, "constraint", "scatter", "W in units of the scatter (scatter, ours), or WᵀW = I (identity, the papers)", "scatter", "identity")
	o.Clusters(&m.clusters)
	m.stopping.Declare(o, "50", "1e-4", "falls")
}

// newOptions returns the options for d features, with the first α and γ if there are several.
func (m *configuredMethod) newOptions(d, threads int) Options {
	opt := Options{
		Method: m.kind, Clusters: min(m.clusters, d), Tol: m.stopping.Tol, MaxIter: m.stopping.Most, Threads: threads,
		Alpha: m.alpha.First(), Gamma: m.gamma.First(),
	}
	if m.constraint == "identity" {
		opt.Constraint = Identity
	}
	opt.NoPenalty = len(m.gamma) > 0 && opt.Gamma == 0
	return opt
}

func (m *configuredMethod) Cost(s method.Shape) (method.Cost, error) {
	d := len(s.Columns)
	opt := m.newOptions(max(d, 1), s.Threads)
	return method.Cost{Bytes: Bytes(d, s.Anchors, s.Rank, opt), Iterations: opt.WithDefaults(max(d, 1)).MaxIter}, nil
}

func (m *configuredMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	opt := m.newOptions(e.Graph.D, e.Threads)
	opt.Names, opt.Progress = e.Names(), e.Iteration
	res, err := Select(ctx, e.Graph, opt)
	if err != nil {
		return nil, err
	}
	out := res.ToRanking()
	out.Used, out.Warnings = m.settingsForRecord(e, opt)
	out.Warnings = append(out.Warnings, stream.PlainTexts(res.Warnings)...)
	return out, nil
}

// settingsForRecord returns the settings for the report, and the warnings about them. Settings that are not given have
// their defaults.
func (m *configuredMethod) settingsForRecord(e *method.Evidence, opt Options) (map[string]any, []stream.Text) {
	d := e.Graph.D
	opt = opt.WithDefaults(d)
	used := map[string]any{
		"gamma": m.gamma.Or(method.Weight{Value: opt.Gamma}).Record(), "constraint": opt.Constraint.String(),
		"clusters": opt.Clusters, "max-iter": opt.MaxIter, "tol": opt.Tol,
	}
	if m.kind == SFUFS {
		used["alpha"] = m.alpha.Or(method.Weight{Value: opt.Alpha}).Record()
	}
	var warnings []stream.Text
	if m.clusters > d {
		warnings = append(warnings, stream.Textf("{clusters} %d is more than the %d features: there are as many dimensions as features", m.clusters, d))
	}
	if opt.Constraint == Identity && 2*e.K < d {
		warnings = append(warnings, stream.Textf("the constraint WᵀW = I of the papers prefers features that hardly vary, so that few features chosen by it are worse than random ones; {constraint} scatter mends that"))
	}
	return used, warnings
}

// ByPanels implements method.ByPanels: panels of the factor suffice unless WᵀW = I, when rows are rotated in place.
func (m *configuredMethod) ByPanels() bool { return m.constraint != "identity" }

// Settings implements method.Varied: it returns the number of pairs of weights α and γ.
func (m *configuredMethod) Settings() int { return max(len(m.alpha), 1) * max(len(m.gamma), 1) }

// Path implements method.Varied: it ranks the features for every pair of weights α and γ, from one graph.
func (m *configuredMethod) Path(ctx context.Context, e *method.Evidence) (*method.Grid, error) {
	rest := *m // the options that are the same for all settings
	rest.alpha, rest.gamma = nil, nil
	opt := rest.newOptions(e.Graph.D, e.Threads)
	opt.Names, opt.Progress = e.Names(), e.Iteration
	all, err := Path(ctx, e.Graph, Grid{Alpha: m.alpha.Values(), Gamma: m.gamma.Values()}, opt)
	if err != nil {
		return nil, err
	}
	g := new(method.Grid)
	g.Used, g.Warnings = m.settingsForRecord(e, opt)
	for _, set := range all {
		if set.Alpha == all[0].Alpha {
			g.Width++
		}
		r := set.Result
		ranking := r.ToRanking()
		ranking.Warnings = stream.PlainTexts(r.Warnings)
		one := method.Setting{
			Alpha: set.Alpha, Beta: math.NaN(), Gamma: set.Gamma, Ranking: ranking, Sound: r.Converged && r.Rose == nil && len(r.Warnings) == 0,
			Name: stream.PlainText(fmt.Sprintf("gamma %v", set.Gamma)),
		}
		if m.kind == FUFS {
			one.Alpha = math.NaN()
		} else {
			one.Name = stream.PlainText(fmt.Sprintf("alpha %v, gamma %v", set.Alpha, set.Gamma))
		}
		g.Settings = append(g.Settings, one)
	}
	return g, nil
}
