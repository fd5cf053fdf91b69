package eufs

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// The clusters of the start are computed from a sample of at most sampleRows rows and sampleBytes bytes, but at
	// least rowsPerCluster rows for each cluster. A start need not be optimal, and the papers' data sets are smaller.
	sampleRows, sampleBytes = 10_000, 64 << 20
	rowsPerCluster          = 20
)

func sampledRowCount(rowCount int64, features, clusters, anchors int) int {
	most := min(sampleRows, sampleBytes/wordBytes/features)
	return int(min(rowCount, int64(max(most, rowsPerCluster*clusters, anchors))))
}

// rowSample has m rows in the order of the table, m×d column-major, as k-means prefers. For any i, the rows with the
// numbers order[:i] are a random sample of i rows.
type rowSample struct {
	x     kernel.Matrix[float64]
	order []int
}

func (t *table) sampleRows(ctx context.Context, m int, seed uint64) (rowSample, error) {
	s := rowSample{kernel.ColMajor(make([]float64, m*t.d), m, t.d, m), make([]int, m)}
	place := drawPositions(t.n, m, seed)
	positions := make([]int64, 0, m)
	for p := range place {
		positions = append(positions, p)
	}
	slices.Sort(positions)
	for i, p := range positions {
		s.order[place[p]] = i
	}
	i := 0
	err := t.eachBlock(ctx, func(b int, x kernel.Matrix[float64], _ [][]byte) error {
		first := int64(b) * int64(t.block)
		for ; i < m && positions[i] < first+int64(x.Rows); i++ {
			for j := range t.d {
				s.x.Data[j*m+i] = x.Data[j*x.ColStride+int(positions[i]-first)]
			}
		}
		return nil
	})
	return s, err
}

func (s rowSample) firstRows(count int) kernel.Matrix[float64] {
	d := s.x.Cols
	out := kernel.RowMajor(make([]float64, count*d), count, d, d)
	for i, r := range s.order[:count] {
		for j := range d {
			out.Data[i*d+j] = s.x.Data[j*s.x.ColStride+r]
		}
	}
	return out
}

// drawPositions draws m of n row positions. It returns a map from each of them to its index in a random order of the m
// positions. It uses Floyd's algorithm and then a shuffle, in our own code, because the library's may change.
func drawPositions(n int64, m int, seed uint64) map[int64]int {
	random := rand.NewPCG(seed, 0x6575667364726177)
	place := make(map[int64]int, m)
	order := make([]int64, 0, m)
	for j := n - int64(m); j < n; j++ {
		p := int64(random.Uint64() % uint64(j+1))
		if _, ok := place[p]; ok {
			p = j
		}
		place[p] = 0
		order = append(order, p)
	}
	for i := m - 1; i > 0; i-- {
		j := int(random.Uint64() % uint64(i+1))
		order[i], order[j] = order[j], order[i]
	}
	for i, p := range order {
		place[p] = i
	}
	return place
}

// startSource provides the rows of the first U, see [Start].
type startSource struct {
	layout
	u           []float64          // Setup.U; if nil, labels select the rows
	labels      stream.ScratchFile // an int32 for each row
	clusterRows []float64          // k×k: the row of U of each cluster
}

// labelFile returns the file with the labels, or nil if U is given.
func (s *startSource) labelFile() stream.ScratchFile {
	if s == nil {
		return nil
	}
	return s.labels
}

func (s *startSource) makeFile(scratch stream.Scratch) (err error) {
	s.labels, err = scratch.Make("the labels of the start", s.n*singleBytes, s.block*singleBytes)
	return err
}

func (s *startSource) writeStartRows(dst []float64, block int, record []byte, from, count int) {
	k := s.k
	if s.u != nil {
		copy(dst[:count*k], s.u[(block*s.block+from)*k:])
		return
	}
	for i, label := range rows.ViewNumbers[int32](record)[from:][:count] {
		copy(dst[i*k:][:k], s.clusterRows[int(label)*k:])
	}
}

// newStartSource clusters the rows: it finds centres from the sample, and labels in a pass over X. The startSource owns
// a file, even after an error.
func newStartSource(ctx context.Context, t *table, s Setup, sample rowSample) (*startSource, error) {
	st := &startSource{layout: t.layout, u: s.U}
	if s.Start == StartGiven {
		return st, checkOrthonormal(s.U, t.k)
	}
	r, err := cluster.KMeans(ctx, cluster.Matrix(sample.x), cluster.Options{Clusters: t.k, Restarts: s.Restarts, Seed: s.Seed, Threads: s.Threads})
	if err != nil {
		return st, err
	}
	if err := st.makeFile(s.Scratch); err != nil {
		return st, err
	}
	pass := cluster.NewPass(s.Threads, r.Centers, false)
	err = t.eachBlock(ctx, func(_ int, x kernel.Matrix[float64], records [][]byte) error {
		return pass.Add(rows.ViewNumbers[int32](records[0]), cluster.Matrix(x))
	}, rows.WritePass(st.labels))
	if err == nil {
		st.clusterRows, err = rows.OrthonormalIndicator(pass.Sizes, s.Start == StartSoft)
	}
	return st, err
}

// checkOrthonormal refuses a U without orthonormal columns, which the iteration requires. The iteration would never
// leave U = 0, because N is then 0 and its polar factor is arbitrary.
func checkOrthonormal(u []float64, k int) error {
	g := make([]float64, k*k)
	for i := 0; i < len(u); i += k {
		for a, x := range u[i:][:k] {
			kernel.Axpy(x, u[i:][:k], g[a*k:][:k])
		}
	}
	for i, got := range g {
		want := 0.0
		if i%k == i/k {
			want = 1
		}
		// The matrix U may come from a file of numbers with seven digits.
		if !(math.Abs(got-want) <= 1e-6) {
			return stream.Usagef("the columns of the U to start from are not orthonormal: product %d,%d is %v", i/k+1, i%k+1, got)
		}
	}
	return nil
}
