package baseline

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares the baseline methods.
func Specs() []method.Spec {
	guides := map[string]method.Guide{
		"variance": {
			When: "a yardstick, and a first sieve of columns in one unit",
			Time: "d", Caution: "it chooses copies of one loud column, and for clusters on public sets was no better than random features",
		},
		"random": {
			When: "the baseline: a method that is not better than this is useless",
			Time: "d", Caution: "its reconstruction error is as low as that of many methods that choose for clusters",
		},
		"laplacian": {
			When: "a quick score of how smooth each feature is on the graph of the rows, by itself",
			Time: "m·d", Caution: "it scores features one by one, so that the first ones may be copies; on public sets random features did better",
		},
		"mcfs": {
			When: "clusters, by the features that explain the leading eigenvectors of the graph",
			Time: "the eigenvectors of an m×m matrix, and k²·d for each", Caution: "worse than align at every measured size",
		},
	}
	spec := func(name, about string, from method.From, scale gram.Scale, m method.Method) method.Spec {
		return method.Spec{Name: name, About: about, Guide: guides[name], From: from, Scale: scale, Takes: method.Takes{Factor: true}, New: func() method.Method { return m }}
	}
	list := []method.Spec{ // the yardsticks last
		spec("mcfs", "the features that explain the clusters of the graph (Cai, Zhang, He 2010)", method.FromGraph, gram.ScaleStandard, nil),
		spec("laplacian", "the features that vary least between neighbouring rows (He, Cai, Niyogi 2005)", method.FromGraph, gram.ScaleStandard,
			scoreMethod{score: func(e *method.Evidence) []float64 { return LaplacianScore(e.Graph) }, lowest: true}),
		spec("variance", "the features that vary most", method.FromProfile, gram.ScaleNone, scoreMethod{score: func(e *method.Evidence) []float64 { return Variance(e.Std) }}),
		spec("random", "features by chance, of the seed and their names", method.FromProfile, gram.ScaleNone, scoreMethod{score: func(e *method.Evidence) []float64 { return Random(e.Columns, e.Seed) }}),
	}
	list[0].Takes.Sketch = true
	list[0].New = func() method.Method { return &mcfsMethod{} }
	list[1].Takes.Sketch, list[1].Takes.Diagonal = true, true
	return list
}

// scoreMethod scores every feature by itself.
type scoreMethod struct {
	score  func(*method.Evidence) []float64
	lowest bool // the lowest score is best
}

func (scoreMethod) Options(*method.Options) {}

func (scoreMethod) Cost(s method.Shape) (method.Cost, error) {
	return method.Cost{Bytes: 8 * int64(len(s.Columns))}, nil
}

func (m scoreMethod) Select(_ context.Context, e *method.Evidence) (*method.Ranking, error) {
	rank := Rank
	if m.lowest {
		rank = RankLowest
	}
	scores := m.score(e)
	order, warnings := rank(scores, e.Columns, e.K)
	return &method.Ranking{Order: order, Scores: scores, LowerIsBetter: m.lowest, Warnings: stream.PlainTexts(warnings)}, nil
}

// mcfsMethod is MCFS with its setting.
type mcfsMethod struct{ clusters int }

func (m *mcfsMethod) Options(add *method.Options) { add.Clusters(&m.clusters) }

func (m *mcfsMethod) selectOptions(k, threads int) MCFSOptions {
	return MCFSOptions{K: k, Clusters: m.clusters, Threads: threads}
}

func (m *mcfsMethod) Cost(s method.Shape) (method.Cost, error) {
	return method.Cost{Bytes: MCFSBytes(s.Anchors, len(s.Columns), s.Rank, m.selectOptions(s.K, s.Threads))}, nil
}

func (m *mcfsMethod) Select(_ context.Context, e *method.Evidence) (*method.Ranking, error) {
	res, err := MCFS(e.Graph, m.selectOptions(e.K, e.Threads))
	if err != nil {
		return nil, err
	}
	order, warnings := Rank(res.Scores, e.Columns, e.K)
	return &method.Ranking{
		Order: order, Scores: res.Scores, Used: map[string]any{"clusters": m.clusters},
		Warnings: stream.PlainTexts(append(res.Warnings, warnings...)),
	}, nil
}
