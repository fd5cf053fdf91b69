package eufs

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

// newNeighbourGraph builds the paper's kNN graph, L = D − S with D the diagonal matrix of the row sums of S: eq. (12) and
// the line after it. Two rows have the weight s_ij = exp(−‖x_i − x_j‖²/σ²) if one of the two is among the nearest rows
// of the other. The paper leaves σ open: if sigma is 0, σ² is the mean squared distance of a row from its nearest rows.
// All rows are held in memory, scaled as in X. The cost is 2n²d flops in float32.
func newNeighbourGraph(ctx context.Context, t *table, team *kernel.Team, count int, sigma float64) (*graph, error) {
	n := int(t.n)
	near, err := rows.FindNearest(ctx, team, n, t.d, min(count, n-1), rows.PartBytes(t.n, t.d),
		func(ctx context.Context, _ string, visit func(int, kernel.Matrix[float64]) error) error {
			return t.eachBlock(ctx, func(b int, x kernel.Matrix[float64], _ [][]byte) error { return visit(b*t.block, x) })
		})
	if err != nil {
		return nil, err
	}
	if sigma == 0 {
		var squares float64
		for _, o := range near {
			squares += o.Square / float64(len(near))
		}
		sigma = math.Sqrt(squares)
	}
	g := rows.JoinNeighbours(near, n)
	g.MapValues(func(_, _ int, square float64) float64 {
		if square == 0 {
			return 1 // for duplicates, even if all distances are 0
		}
		ratio := math.Sqrt(square) / sigma
		return math.Exp(-ratio * ratio)
	})
	g.SetDegrees()
	return &graph{neighbours: g}, nil
}

func (s Setup) clusterOptions(anchors int) cluster.Options {
	return anchor.KMeansOptions{Balanced: s.AnchorsBalanced, Seed: s.Seed, Threads: s.Threads}.ClusterOptions(anchors)
}

// newAnchorGraph builds the anchor graph. The m anchors are rows of a seeded sample, or the centres of its clusters. A
// pass over X computes Z, the weights of each row on its nearest anchors, and a pass over Z divides each column by the
// root of the column's sum, which is an entry of Δ. The graph owns a file, even after an error.
func newAnchorGraph(ctx context.Context, t *table, team *kernel.Team, s Setup, sample rowSample, m int) (*graph, error) {
	points := sample.firstRows(m)
	if s.AnchorKMeans {
		r, err := cluster.KMeans(ctx, cluster.Matrix(sample.x), s.clusterOptions(m))
		if err != nil {
			return nil, err
		}
		points = kernel.Matrix[float64](r.Centers)
	}
	g, err := rows.NewAnchored(s.Scratch, m, s.Neighbors, t.n, t.block)
	if err != nil {
		return nil, err
	}
	g.SetAnchors(team, points, anchor.Weights)
	err = t.eachBlock(ctx, func(_ int, x kernel.Matrix[float64], records [][]byte) error {
		return g.WeighRows(g.ViewRows(records[0], x.Rows), x)
	}, rows.WritePass(g.File))
	if err != nil {
		return &graph{anchored: g}, err
	}
	return &graph{anchored: g}, rows.EachBlock(ctx, t.blocks, func(b int, records [][]byte) error {
		z := g.ViewRows(records[0], t.rowsOfBlock(b))
		for e, j := range z.Index {
			if v := z.Value[e]; v > 0 { // an anchor that no row uses has Δ = 0
				z.Value[e] = v / math.Sqrt(g.Delta[j])
			}
		}
		return nil
	}, rows.ModifyPass(g.File))
}
