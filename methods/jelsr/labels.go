package jelsr

import (
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
)

// startShare: in NDFS's start, the label of an anchor has one entry for each cluster. This is 1 + startShare for the
// anchor's own cluster, and startShare for every other cluster. No entry may be 0, because updates multiply them.
const startShare = 0.2

// startRestarts is the number of k-means runs for the start. The best run is used.
const startRestarts = 10

// initialLabels returns the m×c matrix Q of NDFS's start F = BQ. It clusters the anchors by k-means, so that each
// anchor gets a label: 1 + startShare for its own cluster, and startShare for every other cluster. For each eigenpair
// λ, v of S, an anchor has the coordinate v/√(Δλ), with its entries of v and Δ. This is the entry that the eigenvector
// u = Bv/√λ of the affinity would have for a row that uses only this anchor. F has the weighted means of the labels of
// each row's anchors. If the rows use fewer than opt.Clusters anchors, there are fewer clusters, with a warning.
func initialLabels(ctx context.Context, team *kernel.Team, g *anchor.Graph, opt Options) (q kernel.Matrix[float64], warnings []string, err error) {
	var used []int
	for a, weight := range g.Delta {
		if weight > 0 {
			used = append(used, a)
		}
	}
	c := min(opt.Clusters, len(used))
	if c < opt.Clusters {
		warnings = append(warnings, fmt.Sprintf("%d clusters of %d anchors: there are as many clusters as anchors", opt.Clusters, c))
	}
	labels := make([]int32, len(used))
	if c > 1 {
		e, err := spectral.Embed(team, g, c-1)
		if err != nil {
			return q, nil, fmt.Errorf("ndfs: start: %w", err)
		}
		warnings = append(warnings, e.Warnings...)
		if k := len(e.Values); k > 0 {
			places := make([]float64, len(used)*k)
			for i, lambda := range e.Values {
				v := e.Vectors.Data[i*g.M:][:g.M]
				for at, a := range used {
					places[at*k+i] = v[a] / math.Sqrt(g.Delta[a]*lambda)
				}
			}
			found, err := cluster.KMeans(ctx, cluster.Matrix{Data: places, Rows: len(used), Cols: k, RowStride: k, ColStride: 1},
				cluster.Options{Clusters: c, Restarts: startRestarts, Seed: opt.Seed, Threads: opt.Threads})
			if err != nil {
				return q, nil, fmt.Errorf("ndfs: start: %w", err)
			}
			labels = found.Labels
		}
	}
	q = kernel.RowMajor(make([]float64, g.M*c), g.M, c, c)
	for at, a := range used {
		root := math.Sqrt(g.Delta[a]) // with the anchors' labels P, F = Z·P = B·Δ^(1/2)·P
		row := q.Data[a*c:][:c]
		for j := range row {
			row[j] = startShare * root
		}
		row[labels[at]] += root
	}
	return q, warnings, nil
}
