package align

import (
	"context"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/spectral"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares diffusion alignment.
func Specs() []method.Spec {
	return []method.Spec{{
		Name: "align", About: "the features whose similarities follow long walks on the anchor graph (ours)",
		Guide: method.Guide{
			When:    "clusters that nobody has labelled: faces, objects, speech, genes, digits; the features go to k-means, a search for neighbours, a picture",
			Time:    "walks on the m×m graph, then a column of G for each feature",
			Caution: "where the loudest directions of all columns tell nothing it follows these; methods with a sparse regression on the graph find the classes there",
		},
		From: method.FromGraph, Scale: gram.ScalePareto,
		Takes: method.Takes{Factor: true, Sketch: true, Keep: true, Forbid: true, Turns: true, Nested: true, WhyNotVariance: stream.Textf("counts what is explained of the data, and this method follows their graph")},
		New:   func() method.Method { return new(declared) },
	}}
}

// declared is the method with its setting.
type declared struct{ diffusion int }

func (m *declared) Options(o *method.Options) {
	o.Int(&m.diffusion, "diffusion", spectral.DefaultDiffusion, "steps `T` of diffusion on the graph: more see coarser clusters").
		Bound(func() bool { return m.diffusion >= 1 && m.diffusion <= mostDiffusion }, stream.Textf("want 1 to %d", mostDiffusion).String())
}

func (m *declared) Cost(s method.Shape) (method.Cost, error) {
	d := len(s.Columns)
	return method.Cost{Bytes: Bytes(s.Anchors, d, s.K)}, nil
}

// Bytes is what the method holds beside the graph of m anchors and d features.
func Bytes(m, d, k int) int64 {
	return max(spectral.DiffusionBytes(m, d), ChooseBytes(d, k, false)) + 24*int64(d) // a, and the squares
}

func (m *declared) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	k, err := spectral.Diffuse(kernel.NewTeam(e.Threads), e.Graph, float64(m.diffusion))
	if err != nil {
		return nil, err
	}
	res, err := Choose(ctx, problem(k, e.Graph), Options{K: e.K, Keep: e.Keep, Forbid: e.Forbid, Threads: e.Threads})
	if err != nil {
		return nil, err
	}
	return &method.Ranking{
		Order: res.Order, Turns: res.Alignment, Used: map[string]any{"diffusion": m.diffusion},
		Warnings: append(k.Warnings, res.warnings(e.Columns)...),
	}, nil
}

// problem is the alignment of a graph's diffusion kernel with columns of its G.
func problem(k *spectral.Diffusion, g *anchor.Graph) Problem {
	room := make([]float64, g.D)
	return Problem{A: k.A, Norm: k.Norm, Squares: g.G.Diagonal(0), Column: func(j int) []float64 { return g.G.Row(0, room, j) }}
}

// mostTies are told one by one.
const mostTies = 5

// warnings are what a user should know of the choice.
func (r *Result) warnings(columns []stream.Column) (list []stream.Text) {
	warn := func(format string, args ...any) { list = append(list, stream.Textf(format, args...)) }
	for i, t := range r.Ties {
		if i == mostTies {
			warn("at %d further ranks the first in column order of equal features was taken", len(r.Ties)-mostTies)
			break
		}
		warn("rank %d: %s has the score of %d more, the first being %s: the first in column order wins",
			t.Turn+1, columns[r.Order[t.Turn]].Name, t.Others, columns[t.First].Name)
	}
	if r.Copies > 0 {
		warn("selected features that are multiples of others selected before: %d; nothing else was left", r.Copies)
	}
	if r.Faint > 0 {
		warn("selected features that are nothing next to the largest: %d; column order ranks them, and {scale} pareto or standard lets all count", r.Faint)
	}
	return list
}
