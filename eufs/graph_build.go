package eufs

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// newNeighbours builds the kNN graph: w_ij = exp(−‖x_i − x_j‖²/2σ²) where one of the two
// is among the other's nearest, σ the mean distance of a row from its nearest. All rows
// are held, in the scale of X. Costs 2n²d flops in float32.
func newNeighbours(ctx context.Context, t *table, team *kernel.Team, count int) (*neighbours, error) {
	n := int(t.n)
	count = min(count, n-1)
	g := &neighbours{ptr: make([]int, n+1)}
	if count < 1 {
		return g, nil
	}
	x := make([]float64, n*t.d)
	if err := t.each(ctx, func(b int, block kernel.Matrix[float64]) error {
		copy(x[b*t.block*t.d:], block.Data[:block.Rows*t.d])
		return nil
	}); err != nil {
		return nil, err
	}
	near := kernel.NewNearest(team, kernel.RowMajor(x, n, t.d, t.d), count+1)
	index := make([]int32, n*(count+1))
	distance := make([]float64, n*(count+1))
	x = x[:min(n, t.block)*t.d] // near has a copy; the blocks come again, by columns
	if err := lockstep(ctx, t.blocks, []use{t.reading()}, func(b int, rec [][]byte) error {
		h, from := t.rows(b), b*t.block*(count+1)
		t.columnsTo(x, rec[0], h)
		near.To(index[from:], distance[from:], kernel.ColMajor(x, h, t.d, h))
		return nil
	}); err != nil {
		return nil, err
	}
	return g.join(n, count, index, distance)
}

// edge is an entry of W.
type edge struct {
	row, column int32
	square      float64
}

// join makes the graph of the count+1 nearest of each row, which are itself, unless it
// has more duplicates than that, and count others.
func (g *neighbours) join(n, count int, index []int32, distance []float64) (*neighbours, error) {
	edges := make([]edge, 0, 2*n*count)
	total := 0.0
	for i := range n {
		taken := 0
		for e := i * (count + 1); taken < count; e++ {
			j, square := index[e], distance[e]
			if int(j) == i {
				continue
			}
			if math.IsInf(square, 1) {
				return nil, stream.Dataf("", "the squared distance of two rows overflows; scale the columns")
			}
			edges = append(edges, edge{int32(i), j, square}, edge{j, int32(i), square})
			total += math.Sqrt(square)
			taken++
		}
	}
	sigma := total / float64(n*count)
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.column, b.column))
	})
	edges = slices.CompactFunc(edges, func(a, b edge) bool { return a.row == b.row && a.column == b.column })
	degree := make([]float64, n)
	for _, e := range edges {
		w := 1.0 // of duplicates, where all distances are 0
		if ratio := math.Sqrt(e.square) / sigma; ratio > 0 {
			w = math.Exp(-ratio * ratio / 2)
		}
		g.ptr[e.row+1]++
		g.column = append(g.column, e.column)
		g.value = append(g.value, w)
		degree[e.row] += w
	}
	for i := range n {
		g.ptr[i+1] += g.ptr[i]
		for e := g.ptr[i]; e < g.ptr[i+1]; e++ {
			if w := g.value[e]; w > 0 { // else a row may be far from all, without a degree
				g.value[e] = w / math.Sqrt(degree[i]*degree[g.column[e]])
			}
		}
	}
	return g, nil
}

// newAnchored builds the anchor graph: points are m rows of a seeded sample, or the
// centres of its clusters; B = ZΔ^(−1/2), Z by eq. (2.13) of SFUFS. It takes two passes
// over X, for Z, and over B, to divide by Δ.
func newAnchored(ctx context.Context, t *table, team *kernel.Team, s Setup, sample sampled, m int) (_ *anchored, err error) {
	points := sample.first(m)
	if s.AnchorKMeans {
		// As package anchor: the last moves of the centres are small.
		r, err := cluster.KMeans(ctx, cluster.Matrix(sample.x), cluster.Options{Clusters: m, MaxIter: 50, Tol: 1e-3, Seed: s.Seed, Threads: s.Threads})
		if err != nil {
			return nil, err
		}
		points = kernel.Matrix[float64](r.Centers)
	}
	g := &anchored{m: m, count: s.Neighbors}
	entry := g.count * (wordBytes + singleBytes)
	if g.records, err = s.Scratch.Make("the anchor graph", t.n*int64(entry), t.block*entry); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.records.Close())
		}
	}()
	near := kernel.NewNearest(team, points, g.count+1)
	index := make([]int32, t.block*(g.count+1))
	distance := make([]float64, t.block*(g.count+1))
	delta := make([]float64, m)
	x := make([]float64, t.block*t.d)
	err = lockstep(ctx, t.blocks, []use{t.reading(), writing(g.records)}, func(b int, rec [][]byte) error {
		h := t.rows(b)
		t.columnsTo(x, rec[0], h)
		near.To(index, distance, kernel.ColMajor(x, h, t.d, h))
		z := g.sparse(rec[1], h)
		for i := range h {
			copy(z.Index[i*g.count:][:g.count], index[i*(g.count+1):])
			if !anchor.Weights(z.Value[i*g.count:][:g.count], distance[i*(g.count+1):][:g.count+1]) {
				return stream.Dataf("", "the squared distance of a row from the anchors overflows; scale the columns")
			}
		}
		for e, j := range z.Index {
			delta[j] += z.Value[e]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = lockstep(ctx, t.blocks, []use{modifying(g.records)}, func(b int, rec [][]byte) error {
		z := g.sparse(rec[0], t.rows(b))
		for e, j := range z.Index {
			if v := z.Value[e]; v > 0 { // an anchor that no row uses has Δ = 0
				z.Value[e] = v / math.Sqrt(delta[j])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}
