package anchor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Anchors are m points in the frame of a table's D usable columns. They are read-only.
type Anchors struct {
	M, D   int
	Points []float64 // M×D row-major: (x - center)·factor for a value x; the center of a column is near its mean
	// Thin replaces Points for anchors drawn from sparse rows (see [SamplerOptions]). It holds the nonzero coordinates.
	Thin   *stream.CSR
	Digest Digest

	frame
	mapper frameMapper
}

// Digest identifies a set of points: SHA-256 of their number and exact coordinates.
type Digest [sha256.Size]byte

// Drawn is a random sample of rows from which anchors can be made. The rows are in the order in which they were drawn:
// a larger sample has the same rows at its start.
type Drawn interface {
	Len() int
	// columnReader returns a function that writes the entries of column j of the first m rows to dst.
	columnReader(m int) func(dst []float64, j int)
}

// drawnRows is a sample of the rows that a Gram matrix in factored form has kept.
type drawnRows struct {
	rows  *gram.Rows
	order []int
}

// DrawnOf returns the sample of the factor's rows that a [Sampler] of `limit` rows would keep. It stores row numbers.
func DrawnOf(rows *gram.Rows, limit int, seed uint64) Drawn {
	k := drawnRows{rows: rows, order: make([]int, rows.Len())}
	key := func(i int) uint64 { return splitmix.Hash(seed, uint64(rows.Position(i))) }
	for i := range k.order {
		k.order[i] = i
	}
	slices.SortFunc(k.order, func(a, b int) int { return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a, b)) })
	k.order = k.order[:min(limit, len(k.order))]
	return k
}

func (k drawnRows) Len() int { return len(k.order) }

func (k drawnRows) columnReader(m int) func([]float64, int) {
	return func(dst []float64, j int) { k.rows.Entries(dst, j, k.order[:m]) }
}

// Random makes anchors of the first m rows of the sample s. The result does not depend on the division of the table
// into shards, or on threads (0 means GOMAXPROCS). If there are fewer than m rows, the error is a *stream.UsageError.
func Random(s Drawn, m int, std *gram.Standardizer, threads int) (*Anchors, error) {
	if m > s.Len() {
		return nil, stream.Usagef("{anchors} %d: there are %d rows to draw them from", m, s.Len())
	}
	if sampled, ok := s.(*Sampler); ok && sampled.opt.Entries {
		return randomThin(sampled.sortedRows()[:m], std)
	}
	a := newAnchors(m, std)
	a.eachColumn(threads, s.columnReader(m), m, func(k int, column []float64) {
		for i, v := range column {
			a.Points[i*a.D+k] = v
		}
	})
	return a, a.checkAndDigest(std)
}

// randomThin makes thin anchors of sparse rows, in O(entries + D) for D columns.
func randomThin(rows []sampledRow, std *gram.Standardizer) (*Anchors, error) {
	a := newAnchors(0, std)
	points := kernel.Compressed{Cols: a.D}
	f := newThinFrame(&a.frame, &a.mapper)
	for i := range rows {
		f.appendMappedRow(&points, rows[i].entries.index, rows[i].entries.value)
	}
	a.M, a.Points, a.Thin = len(rows), nil, &stream.CSR{RowPtr: make([]int, len(rows)+1), Index: points.Index, Value: points.Value}
	for i, start := range points.Starts {
		a.Thin.RowPtr[i] = int(start)
	}
	return a, a.checkAndDigest(std)
}

func (a *Anchors) isThin() bool { return a.Thin != nil }

func (a *Anchors) thinRow(row int) ([]int32, []float64) {
	from, to := a.Thin.RowPtr[row], a.Thin.RowPtr[row+1]
	return a.Thin.Index[from:to], a.Thin.Value[from:to]
}

// eachColumn calls visit for each column k of the frame, with the m values of the column. The function `entries` writes
// the m unscaled values of column j of the data to dst. The slice `column` is valid until visit returns.
func (a *Anchors) eachColumn(workers int, entries func(dst []float64, j int), m int, visit func(k int, column []float64)) {
	const run = 64 // columns per task; neighbouring columns of a row share cache lines
	kernel.Each(workers, (a.D+run-1)/run, func(t int) {
		column := make([]float64, m)
		for k := t * run; k < min(a.D, (t+1)*run); k++ {
			entries(column, a.columns[k])
			kernel.Standardize(column, column, a.center[k], a.factor[k], (a.fill[k]-a.center[k])*a.factor[k], column)
			visit(k, column)
		}
	})
}

// KMeansOptions controls the k-means iteration that finds the anchors. The zero value is ready for use.
type KMeansOptions struct {
	Balanced bool // clusters of equal size, see cluster.Options
	Seed     uint64
	Threads  int // 0 means GOMAXPROCS
}

// ClusterOptions returns the options of package cluster for m anchors.
func (o KMeansOptions) ClusterOptions(m int) cluster.Options {
	return cluster.Options{Clusters: m, Balanced: o.Balanced, MaxIter: kmeansMaxIter, Tol: kmeansTolerance, Seed: o.Seed, Threads: o.Threads}
}

const (
	// The iteration stops early: its last steps move the centres very little, and anchors need not be optimal.
	kmeansTolerance = 1e-3
	kmeansMaxIter   = 50
)

// KMeans makes m anchors, the centres of m clusters of the rows of s. It clusters the rows as points of the frame, by
// greedy k-means++ and Lloyd's iteration, or into clusters of equal size. In addition to s it needs 8 bytes for each value
// of s, and the memory given by cluster.Options.Bytes.
func KMeans(ctx context.Context, s Drawn, m int, std *gram.Standardizer, opt KMeansOptions) (*Anchors, error) {
	n := s.Len()
	if m > n {
		return nil, stream.Usagef("{anchors} %d: there are %d rows to place them among", m, n)
	}
	a := newAnchors(m, std)
	x := make([]float64, n*a.D)
	a.eachColumn(opt.Threads, s.columnReader(n), n, func(k int, column []float64) { copy(x[k*n:], column) })
	r, err := cluster.KMeans(ctx, cluster.Matrix(kernel.ColMajor(x, n, a.D, n)), opt.ClusterOptions(m))
	if err != nil {
		return nil, err
	}
	a.setPoints(0, kernel.Matrix[float64](r.Centers))
	return a, a.checkAndDigest(std)
}

// FromSource makes one anchor of each row of src, in the order of the rows. src must have the columns of the table. If
// it has more than `limit` rows, the error is a *stream.UsageError.
func FromSource(ctx context.Context, src stream.Source, limit int, std *gram.Standardizer) (*Anchors, error) {
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
		a.mapper.mapRows(1, x, c.Rows, c, 0, c.Rows)
		at := a.M
		a.M += c.Rows
		a.Points = append(a.Points, make([]float64, c.Rows*a.D)...)
		a.setPoints(at, kernel.ColMajor(x, c.Rows, a.D, c.Rows))
	}
	return a, a.checkAndDigest(std)
}

func newAnchors(count int, std *gram.Standardizer) *Anchors {
	a := &Anchors{M: count, D: len(std.Columns), frame: newFrame(std)}
	a.mapper = newFrameMapper(std, &a.frame)
	a.Points = room.MakeSlice[float64](count * a.D)
	return a
}

func (a *Anchors) setPoints(first int, points kernel.Matrix[float64]) {
	kernel.Copy(kernel.RowMajor(a.Points[first*a.D:], points.Rows, a.D, a.D), points)
}

// checkAndDigest computes the digest. It fails if squared distances from rows to the anchors may overflow.
func (a *Anchors) checkAndDigest(std *gram.Standardizer) error {
	// longest bounds ‖x‖² for all rows x: it is the sum of the squares of all rows. The centre is at most half a
	// deviation from the mean, which adds at most a quarter of the variance.
	longest := 0.0
	for k, sd := range std.Std {
		sd *= std.Factor[k]
		longest += 1.25 * float64(std.Rows) * sd * sd
	}
	for i := range a.M {
		row := a.pointCoordinates(i)
		longest = max(longest, kernel.Dot(row, row)) // max returns NaN if one of them is NaN
	}
	// ‖x−y‖² ≤ 2‖x‖² + 2‖y‖² for a row x and an anchor y. A row's distances are added up over at most M anchors.
	if total := 4 * float64(a.M+1) * longest; !(total <= math.MaxFloat64) {
		return stream.Dataf("", "squared distances between rows and anchors overflow; scale the columns")
	}
	h := sha256.New()
	buf := binary.LittleEndian.AppendUint64(nil, uint64(a.M))
	for i := range a.M {
		if a.isThin() {
			at, _ := a.thinRow(i)
			for _, k := range at {
				buf = binary.LittleEndian.AppendUint32(buf, uint32(k))
			}
		}
		for _, v := range a.pointCoordinates(i) {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
		}
		h.Write(buf)
		buf = buf[:0]
	}
	h.Sum(a.Digest[:0])
	return nil
}

// pointCoordinates returns the coordinates of point i, or only the nonzero ones if the point is thin.
func (a *Anchors) pointCoordinates(i int) []float64 {
	if a.isThin() {
		_, value := a.thinRow(i)
		return value
	}
	return a.Points[i*a.D:][:a.D]
}
