package socfs

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/spectral"
	"github.com/ufs-stream/ufs-stream/stream"
)

// kmeansRestarts is the number of k-means runs. Clustering the anchors needs little time.
const kmeansRestarts = 10

// initialIndicators groups the anchors by k-means. The coordinates of an anchor are the means of the graph's
// eigenvectors over the rows of the anchor: λv/√Δ for each eigenpair λ, v of S, with the anchor's entries of v and Δ.
// The result is an m×c matrix with columns of length 1, which has √Δ in the column of the anchor's group. It
// approximates B_gᵀE for an E that indicates these groups. Empty groups are omitted.
func initialIndicators(ctx context.Context, team *kernel.Team, g *anchor.Graph, c int) (kernel.Matrix[float64], []string, error) {
	none := kernel.Matrix[float64]{}
	e, err := spectral.Embed(team, g, c)
	if err != nil {
		return none, nil, err
	}
	var used []int // anchors used by rows
	for a, delta := range g.Delta {
		if delta > 0 {
			used = append(used, a)
		}
	}
	dims := len(e.Values)
	if dims == 0 || len(used) < 2 {
		return none, nil, stream.Dataf("", "the anchor graph has no eigenvector but the constant one: there are no clusters to find")
	}
	points := make([]float64, len(used)*dims)
	for i, a := range used {
		for k, value := range e.Values {
			points[i*dims+k] = math.Sqrt(value) * e.Vectors.Data[k*g.M+a] / math.Sqrt(g.Delta[a])
		}
	}
	groups, err := cluster.KMeans(ctx, cluster.Matrix{Data: points, Rows: len(used), Cols: dims, RowStride: dims, ColStride: 1},
		cluster.Options{Clusters: min(c, len(used)), Restarts: kmeansRestarts, Seed: 1, Threads: team.Threads()})
	if err != nil {
		return none, nil, fmt.Errorf("socfs: clusters of the anchors: %w", errors.Join(err, ctx.Err()))
	}
	place := make([]int, len(groups.Sizes))
	count := 0
	for k, size := range groups.Sizes {
		if place[k] = count; size > 0 {
			count++
		}
	}
	f := kernel.RowMajor(make([]float64, g.M*count), g.M, count, count)
	squares := make([]float64, count)
	for i, a := range used {
		k := place[groups.Labels[i]]
		f.Data[a*count+k] = math.Sqrt(g.Delta[a])
		squares[k] += g.Delta[a]
	}
	for i := range f.Data {
		f.Data[i] /= math.Sqrt(squares[i%count])
	}
	return f, e.Warnings, nil
}
