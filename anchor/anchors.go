package anchor

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Anchors are m points in the frame of a table's D usable columns. They are read-only.
type Anchors struct {
	M, D   int
	Points []float64 // M×D row-major: (x - center)·factor, the center near the mean
	Digest Digest

	frame
	place placer
}

// Digest tells sets of points apart: SHA-256 of their number and exact coordinates.
type Digest [sha256.Size]byte

// Random makes anchors of the first m rows of s, the same m for any shards of the
// table. Fewer rows than m are a *stream.UsageError.
func Random(s *Sampler, m int, std *gram.Standardizer) (*Anchors, error) {
	if m > s.Len() {
		return nil, stream.Usagef("{anchors} %d: there are %d rows to draw them from", m, s.Len())
	}
	a := newAnchors(m, std)
	x := make([]float64, m*a.D)
	a.place.transform(1, x, m, s.Draw(m), 0, m)
	a.put(0, kernel.ColMajor(x, m, a.D, m))
	return a, a.seal(std)
}

// KMeansOptions says how centres are found; the zero value is ready for use.
type KMeansOptions struct {
	Seed    uint64
	Threads int // 0 means GOMAXPROCS
}

const (
	// The last moves of the centres are small, and anchors need not be optimal.
	kmeansTolerance = 1e-3
	kmeansMaxIter   = 50
)

// KMeans makes anchors of the centres of m clusters of the rows of s, by greedy k-means++ and
// Lloyd's iteration in the frame (SFUFS-K). It holds 16·D bytes a row of s beside s, and
// what cluster.Bytes says.
func KMeans(ctx context.Context, s *Sampler, m int, std *gram.Standardizer, opt KMeansOptions) (*Anchors, error) {
	n := s.Len()
	if m > n {
		return nil, stream.Usagef("{anchors} %d: there are %d rows to place them among", m, n)
	}
	a := newAnchors(m, std)
	x := make([]float64, n*a.D)
	c := s.Draw(n)
	a.place.transform(opt.Threads, x, n, c, 0, n)
	r, err := cluster.KMeans(ctx, cluster.Matrix(kernel.ColMajor(x, n, a.D, n)), cluster.Options{
		Clusters: m, MaxIter: kmeansMaxIter, Tol: kmeansTolerance, Seed: opt.Seed, Threads: opt.Threads,
	})
	if err != nil {
		return nil, err
	}
	a.put(0, kernel.Matrix[float64](r.Centers))
	return a, a.seal(std)
}

// Given makes anchors of the rows of src, which has the columns of the table, in
// their order. More than limit rows are a *stream.UsageError.
func Given(ctx context.Context, src stream.Source, limit int, std *gram.Standardizer) (*Anchors, error) {
	a := newAnchors(0, std)
	var x []float64
	for c, err := range src.Chunks(ctx, stream.Range{}) {
		if err != nil {
			return nil, err
		}
		if c.Rows > limit-a.M {
			return nil, stream.Usagef("{anchors-file}: more than %d rows", limit)
		}
		if need := c.Rows * a.D; len(x) < need {
			x = make([]float64, need)
		}
		a.place.transform(1, x, c.Rows, c, 0, c.Rows)
		at := a.M
		a.M += c.Rows
		a.Points = append(a.Points, make([]float64, c.Rows*a.D)...)
		a.put(at, kernel.ColMajor(x, c.Rows, a.D, c.Rows))
	}
	return a, a.seal(std)
}

func newAnchors(m int, std *gram.Standardizer) *Anchors {
	a := &Anchors{M: m, D: len(std.Columns), frame: newFrame(std)}
	a.place = newPlacer(std, &a.frame)
	a.Points = make([]float64, m*a.D)
	return a
}

// put copies the rows of x to the points from number at on.
func (a *Anchors) put(at int, x kernel.Matrix[float64]) {
	kernel.Copy(kernel.RowMajor(a.Points[at*a.D:], x.Rows, a.D, a.D), x)
}

// seal makes sure that distances cannot overflow, and takes the digest.
func (a *Anchors) seal(std *gram.Standardizer) error {
	// No row is longer than all of them, about a centre half a deviation off.
	longest := 0.0
	for k, sd := range std.Std {
		sd *= std.Factor[k]
		longest += 1.25 * float64(std.Rows) * sd * sd
	}
	for i := range a.M {
		row := a.Points[i*a.D:][:a.D]
		longest = max(longest, kernel.Dot(row, row)) // NaN stays
	}
	// ‖x−y‖² ≤ 2‖x‖² + 2‖y‖², and weights add up as many as there are anchors.
	if total := 4 * float64(a.M+1) * longest; !(total <= math.MaxFloat64) {
		return stream.Dataf("", "squared distances between rows and anchors overflow; scale the columns")
	}
	h := sha256.New()
	buf := binary.LittleEndian.AppendUint64(nil, uint64(a.M))
	for i := range a.M {
		for _, v := range a.Points[i*a.D:][:a.D] {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
		}
		h.Write(buf)
		buf = buf[:0]
	}
	h.Sum(a.Digest[:0])
	return nil
}
