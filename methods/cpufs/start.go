package cpufs

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// startBytes bounds the sample of rows for the clusters of the start. The bound depends on the number of columns
	// alone, because the answer must not depend on memory.
	startBytes    = 16 << 20
	maxSampleRows = 10000
	// minRowsPerCluster is the least number of sampled rows for each cluster.
	minRowsPerCluster = 50
	// startRestarts is the number of restarts of k-means, each with at most startMoves moves of the centres.
	startRestarts = 5
	startMoves    = 100
)

func sampleRowCount(d, clusters, anchors int) int {
	return max(min(maxSampleRows, startBytes/8/d), minRowsPerCluster*clusters, anchors)
}

// scanRows makes the first pass. It computes G = XᵀX if planned, ‖X‖², the range of each cell, and a sample of the
// rows. It allocates the scratch for a block, whose height is then known.
func (s *solver) scanRows(ctx context.Context, sample *anchor.Sampler) error {
	d := s.d
	squares := make([]float64, d)
	err := s.rows.eachBlock(ctx, "scanning", func(b *rowBlock) error {
		if sample != nil {
			if err := sample.Add(b.chunk); err != nil {
				return err
			}
		}
		kernel.Each(s.opt.Threads, d, func(j int) {
			x := b.x.Data[j*b.x.ColStride:][:b.x.Rows]
			if b.number == 0 {
				s.low[j], s.high[j] = x[0], x[0]
			}
			for _, v := range x {
				s.low[j], s.high[j] = min(s.low[j], v), max(s.high[j], v)
			}
			squares[j] += kernel.Dot(x, x)
		})
		if s.g != nil {
			kernel.Syrk(s.team, 1, b.x.Trans(), kernel.RowMajor(s.g, d, d, d))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, v := range squares {
		s.squares += v
	}
	switch {
	case s.rows.source.N == 0:
		return stream.Dataf("", "no rows to select from")
	case s.squares == 0:
		return stream.Dataf("", "every feature is constant")
	case !(s.squares <= math.MaxFloat64/maxWeight):
		return stream.Dataf("", "the sum of squares overflows; choose {scale} minmax")
	}
	s.layOutBlock(nil, slices.Max(s.rows.source.Height))
	if s.g != nil {
		kernel.MirrorUpper(s.opt.Threads, kernel.RowMajor(s.g, d, d, d))
	}
	return nil
}

// scaledRows returns the rows of a chunk as rows of X: scaled, and with columns in the order of the cells.
func (s *solver) scaledRows(c *stream.Chunk) (kernel.Matrix[float64], error) {
	x := kernel.ColMajor(make([]float64, c.Rows*s.d), c.Rows, s.d, c.Rows)
	return x, s.rows.placeRows(x, c)
}

func (s *solver) findStartCenters(ctx context.Context, sample kernel.Matrix[float64]) (kernel.Matrix[float64], error) {
	r, err := cluster.KMeans(ctx, cluster.Matrix(sample), cluster.Options{
		Clusters: s.c, Restarts: startRestarts, MaxIter: startMoves, Seed: s.opt.Seed, Threads: s.opt.Threads,
	})
	if err != nil {
		return kernel.Matrix[float64]{}, err
	}
	return kernel.Matrix[float64](r.Centers), nil
}

// assignRows passes C, the indicator of the clusters, to the graph. It returns the factors that scale the columns of C:
// one divided by the root of each cluster's size. Afterwards XᵀC is known, and so is P = XᵀF, because F = C.
func (s *solver) assignRows(ctx context.Context, centers kernel.Matrix[float64]) (scale []float64, err error) {
	c, given := s.c, s.opt.givenStart
	scale = slices.Repeat([]float64{1}, c)
	var near *kernel.Nearest
	if given == nil {
		clear(scale)
		near = kernel.NewNearest(s.team, centers, 1)
	}
	var label []int32
	var distance []float64
	err = s.rows.eachBlock(ctx, "assigning rows to clusters", func(b *rowBlock) error {
		h := b.x.Rows
		own := s.z[:h*c]
		if given != nil {
			copy(own, given.c[b.first*c:])
		} else {
			label, distance = rows.ResizeSlice(label, h), rows.ResizeSlice(distance, h)
			near.SearchTo(label, distance, b.x)
			clear(own)
			for i, k := range label {
				own[i*c+int(k)] = 1
				scale[k]++
			}
		}
		s.addTransposed(b, own, s.xc, c)
		return s.graph.addClusterRows(b, own)
	}, s.graph.startClusterPass()...)
	if err != nil {
		return nil, err
	}
	for k, n := range scale {
		if n == 0 {
			return nil, stream.Usagef("{clusters} %d: there are fewer distinct rows", c)
		}
		scale[k] = 1 / math.Sqrt(n)
	}
	scaleColumns(s.xc, scale)
	copy(s.p, s.xc)
	return scale, nil
}

// initFactors sets A and U of all sides (see the package comment) to uniform random values. The U are scaled by the
// one factor for which XW is nearest to F. P = XᵀF must be known. GW = XᵀXW is computed, which may take a pass over the
// rows.
func (s *solver) initFactors(ctx context.Context) error {
	m := &s.model
	factors := slices.Concat(m.a, m.u)
	if given := s.opt.givenStart; given != nil {
		for i, x := range slices.Concat(given.a, given.u) {
			copy(factors[i].Data, x)
		}
		m.khatriRao(m.w, m.u)
		return s.multiplyByG(ctx, m.gw, m.w)
	}
	random := rand.New(rand.NewPCG(s.opt.Seed, startStream))
	for _, f := range factors {
		for i := range f.Data {
			f.Data[i] = random.Float64()
		}
	}
	m.khatriRao(m.w, m.u)
	if err := s.multiplyByG(ctx, m.gw, m.w); err != nil {
		return err
	}
	// Uniform factors are a hundred times too large. The first projected step would then move all of U₁ to 0, and U₁
	// could not leave 0 again.
	fit, square := kernel.Dot(m.w, m.p), kernel.Dot(m.w, m.gw)
	tau, scale := math.Pow(fit/square, 1/float64(len(m.u))), 1.0 // scale becomes fit/square, to rounding
	for _, u := range m.u {
		scale *= tau
		for i := range u.Data {
			u.Data[i] *= tau
		}
	}
	m.khatriRao(m.w, m.u)
	for i := range m.gw {
		m.gw[i] *= scale
	}
	return nil
}

// startStream separates the random numbers of the factors from the random numbers of k-means.
const startStream = 0x63707566
