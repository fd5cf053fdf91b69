package socfs

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/stream"
)

// kmeansRestarts is the number of k-means runs. Clustering the anchors needs little time.
const kmeansRestarts = 10

// initialIndicators groups the m anchors of g by k-means into at most c groups; empty groups are omitted. The
// coordinates of an anchor are the means of the graph's eigenvectors over its rows: λv/√Δ for each eigenpair λ, v of
// the graph's matrix S, with the anchor's entry of v and its total weight Δ. The result has a row for each anchor and a
// column for each group. The row has √Δ in the column of its group and otherwise 0, and the columns are then scaled to
// length 1. This approximates B_gᵀE (see the package documentation) for an E that indicates the groups. The second
// result has warnings.
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
