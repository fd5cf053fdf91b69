package align

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/survey"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares diffusion alignment.
func Specs() []method.Spec {
	return []method.Spec{{
		Name: "align", About: "the features whose similarities follow long walks on a graph of the rows (ours)",
		Guide: method.Guide{
			When:    "clusters that nobody has labelled: faces, objects, speech, genes, digits; the features go to k-means, a search for neighbours, a picture",
			Time:    "walks on the graph of the sample, m×m, then a column of G for each feature",
			Caution: "it does not see clusters of few rows, nor what columns tell only together (XOR), and a column like no other comes last; without clusters greedy explains more",
		},
		From: method.FromGram, Scale: gram.ScalePareto,
		Takes: method.Takes{Factor: true, Sample: true, Keep: true, Forbid: true, Turns: true, Nested: true, WhyNotVariance: stream.Textf("is a share of the explained variance, but this method follows the graph of the rows")},
		New:   func() method.Method { return new(alignMethod) },
	}}
}

// alignMethod is the method with its settings.
type alignMethod struct{ diffusion, neighbors int }

func (m *alignMethod) Options(add *method.Options) {
	add.Int(&m.neighbors, "neighbors", anchor.DefaultNeighbors, "`K` nearest rows of the sample that a row has weights on").
		Bound(func() bool { return m.neighbors >= 1 }, "want 1 or more")
	add.Int(&m.diffusion, "diffusion", spectral.DefaultDiffusion, "steps `T` of diffusion on the graph: more see coarser clusters").
		Bound(func() bool { return m.diffusion >= 1 && m.diffusion <= mostDiffusion }, stream.Textf("want 1 to %d", mostDiffusion).String())
}

// SurveyOptions implements [method.Surveyor].
func (m *alignMethod) SurveyOptions() method.SurveyOptions {
	return method.SurveyOptions{Diffusion: float64(m.diffusion), Neighbors: m.neighbors}
}

func (m *alignMethod) Cost(s method.Shape) (method.Cost, error) {
	d := len(s.Columns)
	entries := s.RowEntries * int64(s.Sample)
	choosing := ChooseBytes(d, s.K, true) + 24*int64(d) // for aᵢ and Gᵢᵢ of each feature
	looking := anchor.TableBytes(s.Sample, d) + survey.MemoryBytes(s.Sample, d, s.Sample, m.neighbors, s.Threads)
	if s.Sparse && survey.StaysThin(s.Sample, d) {
		looking = anchor.ThinTableBytes(s.Sample, entries) + survey.ThinBytes(s.Sample, d, s.Sample, m.neighbors, s.Threads, entries)
	}
	switch {
	case s.OutOfCore && s.Sparse:
		choosing += anchor.ThinTableBytes(s.Sample, entries) + survey.ThinColumnsBytes(d, entries)
	case s.OutOfCore:
		choosing = method.Unaffordable // without G, only a sample of sparse rows can give columns of G
	}
	bytes := max(looking, choosing)
	return method.Cost{Bytes: bytes, Least: bytes}, nil
}

func (m *alignMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	p := Problem{Norm: e.Survey.Norm}
	if e.Gram != nil {
		p.Squares, p.Column = perRowGram(e.Gram)
	} else {
		p.Squares, p.Column = e.Survey.Squares, e.Survey.Column
	}
	p.A = make([]float64, len(p.Squares))
	for j, square := range p.Squares {
		p.A[j] = e.Survey.Shares[j] * square
	}
	res, err := Choose(ctx, p, Options{K: e.K, Keep: e.Keep, Forbid: e.Forbid, Threads: e.Threads, Floor: e.Survey.Floor, Power: e.Survey.Power})
	if err != nil {
		return nil, err
	}
	return &method.Ranking{
		Chance: compareWithChance(e, p, res.Order),
		Order:  res.Order, Turns: res.Alignment, Used: map[string]any{"diffusion": m.diffusion, "neighbors": m.neighbors},
		Warnings: append(slices.Clone(e.Survey.Warnings), res.warningTexts(e.Columns)...),
	}, nil
}

// perRowGram returns the diagonal and the columns of G/n for n rows; the kernel of a sample has the same scale.
func perRowGram(g *gram.Gram) (squares []float64, column func(j int) []float64) {
	squares = g.Diagonal(0)
	for j := range squares {
		squares[j] /= g.Weight
	}
	room := make([]float64, g.D)
	return squares, func(j int) []float64 {
		for i, v := range g.Row(0, room, j) {
			room[i] = v / g.Weight
		}
		return room
	}
}

// mostTies is the largest number of ties that get a warning each.
const mostTies = 5

func (r *Result) warningTexts(columns []stream.Column) (list []stream.Text) {
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
		warn("selected features that are negligible next to the largest: %d; column order ranks them, and {scale} pareto or standard lets all count", r.Faint)
	}
	return list
}
