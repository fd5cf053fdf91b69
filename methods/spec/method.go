package spec

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares SPEC.
func Specs() []method.Spec {
	return []method.Spec{{
		Name: "spec", About: "the features that follow the smooth eigenvectors of the graph (Zhao, Liu 2007)",
		Guide: method.Guide{
			When:    "a score of how smooth each feature is on the graph, as laplacian, with the eigenvectors weighed",
			Time:    "the eigenvectors of an m×m matrix, and m²·d",
			Caution: "by default it chooses as laplacian does; on public sets random features did better",
		},
		From: method.FromGraph, Scale: gram.ScaleStandard, Takes: method.Takes{Factor: true, Sketch: true, Diagonal: true},
		New: func() method.Method { return &specMethod{} },
	}}
}

// specMethod is SPEC with its settings.
type specMethod struct {
	score    string
	power    int
	clusters int
}

func (m *specMethod) Options(add *method.Options) {
	add.Choice(&m.score, "score", "phi2", "the paper's ranking function: of all eigenvectors of the graph (phi1), without the constant one (phi2; the same, as features are centred), or of the first C, as many as clusters (phi3)",
		"phi1", "phi2", "phi3")
	add.Int(&m.power, "power", defaultPower, "`R`: an eigenvalue of the graph counts by its R-th power").
		Bound(func() bool { return m.power >= 1 && m.power <= largestPower }, "want 1 to 32")
	add.Clusters(&m.clusters)
	add.Check(func(isSet func(string) bool) error {
		if m.score == "phi3" && m.clusters == 1 {
			return stream.Usagef("{clusters} 1 leaves {score} phi3 no eigenvector: the first is constant; want 2 or more")
		}
		return nil
	})
}

func (m *specMethod) selectOptions(threads int) Options {
	return Options{Score: Score(slices.Index(scoreNames[:], m.score)), Power: m.power, Clusters: m.clusters, Threads: threads}
}

func (m *specMethod) Cost(s method.Shape) (method.Cost, error) {
	return method.Cost{Bytes: Bytes(len(s.Columns), s.Anchors, m.selectOptions(s.Threads))}, nil
}

func (m *specMethod) Select(_ context.Context, e *method.Evidence) (*method.Ranking, error) {
	r, err := Select(e.Graph, m.selectOptions(e.Threads))
	if err != nil {
		return nil, err
	}
	used := map[string]any{"score": m.score, "power": m.power}
	if m.score == "phi3" {
		used["clusters"] = m.clusters
	}
	return &method.Ranking{
		Order: r.Order, Scores: r.Scores, LowerIsBetter: r.LowerIsBetter, Ties: r.Ties, Used: used,
		Warnings: stream.PlainTexts(r.Warnings),
	}, nil
}
