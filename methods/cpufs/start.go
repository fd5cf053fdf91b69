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
		return stream.Dataf("", "the sum of squares overflows; choose {scale minmax}")
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

func (o *Options) kmeansOfStart() cluster.Options {
	return cluster.Options{Clusters: o.Clusters, Restarts: startRestarts, MaxIter: startMoves, Seed: o.Seed, Threads: o.Threads}
}

func (o *Options) kmeansOfAnchors(count int) cluster.Options {
	return anchor.KMeansOptions{Balanced: o.AnchorsBalanced, Seed: o.Seed, Threads: o.Threads}.ClusterOptions(count)
}

func (s *solver) findStartCenters(ctx context.Context, sample kernel.Matrix[float64]) (kernel.Matrix[float64], error) {
	r, err := cluster.KMeans(ctx, cluster.Matrix(sample), s.opt.kmeansOfStart())
	if err != nil {
		return kernel.Matrix[float64]{}, err
	}
	return kernel.Matrix[float64](r.Centers), nil
}

// formStart passes the rows of an n×c matrix H to the graph, and returns a c×c matrix M: the first C is HM. If C comes from
// clusters, H is their indicator, and M depends on their sizes, which are known after the pass. Otherwise H is C. F starts
// as C with its negative entries set to 0. Afterwards XᵀC and P = XᵀF are known.
func (s *solver) formStart(ctx context.Context, centers kernel.Matrix[float64]) (mix []float64, err error) {
	c := s.c
	var fillRows func(own []float64, b *rowBlock)
	sizes := slices.Repeat([]int64{1}, c) // of the clusters; with 1 M is the identity
	switch given := s.opt.givenStart; {
	case given != nil:
		fillRows = func(own []float64, b *rowBlock) { copy(own, given.c[b.first*c:]) }
	case s.opt.Start == StartRandom:
		if fillRows, err = s.drawRowsOfC(); err != nil {
			return nil, err
		}
	default:
		clear(sizes)
		near := kernel.NewNearest(s.team, centers, 1)
		var label []int32
		var distance []float64
		fillRows = func(own []float64, b *rowBlock) {
			label, distance = rows.ResizeSlice(label, b.x.Rows), rows.ResizeSlice(distance, b.x.Rows)
			near.SearchTo(label, distance, b.x)
			clear(own)
			for i, k := range label {
				own[i*c+int(k)] = 1
				sizes[k]++
			}
		}
	}
	err = s.rows.eachBlock(ctx, "assigning rows to clusters", func(b *rowBlock) error {
		own, positive := s.z[:b.x.Rows*c], s.z[b.x.Rows*c:][:b.x.Rows*c]
		fillRows(own, b)
		cutNegative(positive, own)
		s.addTransposed(b, own, s.xc, c)
		if s.opt.Start == StartRandom {
			s.addTransposed(b, positive, s.p, c)
		}
		return s.graph.addClusterRows(b, own)
	}, s.graph.startClusterPass()...)
	if err != nil {
		return nil, err
	}
	if mix, err = rows.OrthonormalIndicator(sizes, s.opt.Start == StartSoft); err != nil {
		return nil, err
	}
	if s.opt.Start != StartRandom {
		copy(s.p, s.xc) // the rows are not negative
	}
	// If H is an indicator or M the identity, max(0, HM) is max(0, H)·max(0, M).
	positive := make([]float64, c*c)
	cutNegative(positive, mix)
	multiplyInPlace(s.team, s.xc, s.c, mix, s.ab)
	multiplyInPlace(s.team, s.p, s.c, positive, s.ab)
	return mix, nil
}

// drawRowsOfC draws an n×c matrix of normal numbers, whose polar factor is the first C. The function that it returns
// writes the rows of a block of C; it must be called for all blocks in turn.
func (s *solver) drawRowsOfC() (fillRows func(own []float64, b *rowBlock), err error) {
	draw := func(random *rand.Rand, h int) []float64 {
		x := s.lc[:h*s.c]
		for i := range x {
			x[i] = random.NormFloat64()
		}
		return x
	}
	newRandom := func() *rand.Rand { return rand.New(rand.NewPCG(s.opt.Seed, startStream+1)) }
	polar, random := newProcrustes(s), newRandom()
	for _, h := range s.rows.source.Height {
		if err := polar.addBlock(draw(random, h)); err != nil {
			return nil, err
		}
	}
	if err := polar.factorizeQ(); err != nil {
		return nil, err
	}
	random = newRandom()
	root := make([]float64, s.c*s.c) // writeRowsOfC fills it, but it is not used
	return func(own []float64, b *rowBlock) { polar.writeRowsOfC(b.number, own, draw(random, b.x.Rows), root) }, nil
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

// startStream separates the random numbers of the factors from the random numbers of k-means and of C.
const startStream = 0x63707566
