package u2fs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Specs declares U2FS.
func Specs() []method.Spec {
	return []method.Spec{{
		Name: "u2fs", About: "the features whose removal most increases the error of regressing the clusters of the graph (Villa et al. 2021)",
		Guide: method.Guide{
			When:    "clusters, with few features",
			Time:    "the eigenvectors of an m×m matrix, and 4·d³ or n·d² operations",
			Caution: "it falls behind as more features are chosen",
		},
		From: method.FromGraph, Scale: gram.ScaleStandard, Takes: method.Takes{Turns: true, Factor: true, Sketch: true}, New: func() method.Method { return new(u2fsMethod) },
	}}
}

// u2fsMethod is U2FS with its setting.
type u2fsMethod struct{ clusters int }

func (m *u2fsMethod) Options(add *method.Options) { add.Clusters(&m.clusters) }

func (m *u2fsMethod) Cost(s method.Shape) (method.Cost, error) {
	return method.Cost{Bytes: Bytes(s.Anchors, len(s.Columns), s.Rank, Options{Clusters: m.clusters, Threads: s.Threads})}, nil
}

func (m *u2fsMethod) Select(ctx context.Context, e *method.Evidence) (*method.Ranking, error) {
	res, err := Select(ctx, e.Graph, Options{Clusters: m.clusters, Threads: e.Threads})
	if err != nil {
		return nil, err
	}
	return &method.Ranking{
		Order: res.Order, Turns: res.Utilities, Used: map[string]any{"clusters": m.clusters}, Warnings: stream.PlainTexts(res.Warnings),
	}, nil
}
