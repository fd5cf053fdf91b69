package cluster

import (
	"errors"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

var (
	// ErrNotFinite is wrapped by errors for a row that has a NaN or an infinity; their text has the row and the column.
	ErrNotFinite = errors.New("not a finite number")
	// ErrOverflow is wrapped by errors for a squared distance or a sum that overflows float64.
	ErrOverflow = errors.New("squared distances overflow; scale the columns")
	// ErrNoDirection is returned by spherical k-means if all rows are zero.
	ErrNoDirection = errors.New("no row has a direction: all are zero")
)

// Pass is one reading of all rows. It assigns each row to the nearest of c centres in k dimensions (of equally near
// ones, the first), and adds up the rows of each cluster. It holds O(c·k) numbers and a few MiB for each worker, for
// any number of rows. The bits of its results depend on the order of the rows, but not on the workers or on the
// division of the rows among calls of Add.
type Pass struct {
	Rows    int64
	Sizes   []int64 // number of rows of each cluster
	Inertia float64 // sum of the squared distances of the rows from their centres

	team    *kernel.Team
	centers matrix
	near    *kernel.Nearest
	unit    *rowNormalizer // nil unless spherical
	sums    []float64      // c×k: the sum of each cluster's rows
	zeros   int64          // number of rows without a direction, which belong to the first cluster
	far     farthestRows

	index    []int32
	distance []float64
	ones     []float64
}

const (
	// A worker first searches the nearest centres of a block of rows, and then adds up these rows. blockValues bounds the
	// number of values of a block. They fill half of a level-2 cache, so that adding does not read main memory again.
	blockValues  = 1 << 17
	minBlockRows = 64
	maxBlockRows = 1 << 12
)

// rowsPerBlock returns the number of rows of k values that a team of workers processes together. It does not affect results.
func rowsPerBlock(workers, k int) int {
	return workers * min(max(blockValues/max(k, 1), minBlockRows), maxBlockRows)
}

// NewPass starts a pass for the c×k centres, which it keeps but does not change. For spherical k-means the centres must
// have length 1. threads = 0 means GOMAXPROCS.
func NewPass(threads int, centers Matrix, spherical bool) *Pass {
	return newPass(kernel.NewTeam(threads), matrix(centers), spherical)
}

func newPass(team *kernel.Team, centers matrix, spherical bool) *Pass {
	c, k := centers.Rows, centers.Cols
	rows := rowsPerBlock(team.Threads(), k)
	p := &Pass{
		team: team, sums: make([]float64, c*k), Sizes: make([]int64, c),
		centers: centers, near: kernel.NewNearest(team, centers, 1), far: farthestRows{limit: min(c, maxSpares)},
		index: make([]int32, rows), distance: make([]float64, rows), ones: make([]float64, rows),
	}
	for i := range p.ones {
		p.ones[i] = 1
	}
	if spherical {
		p.unit = newRowNormalizer(team, rows, k)
	}
	return p
}

// passBytes bounds the memory of a Pass and, if it is spherical, of a search for the first centres without a store.
func passBytes(workers, c, k int, isSpherical bool) int64 {
	rows := int64(rowsPerBlock(workers, k))
	search := kernel.NearestBytes(workers, c, k)
	bytes := search + kernel.SparseBytes(workers, int(rows), c, 1) + 8*int64(c)*int64(k) + (4+8+8)*rows
	if isSpherical {
		bytes += search + 2*(8*int64(k)+1)*rows // both scale rows to length 1
	}
	return bytes
}

func (p *Pass) startPass(centers matrix) {
	p.Rows, p.Inertia, p.zeros, p.Sizes = 0, 0, 0, make([]int64, centers.Rows)
	p.centers = centers
	p.near = p.near.Rebuild(centers, 1)
	clear(p.sums)
	p.far.rows = p.far.rows[:0]
}

// Add assigns the rows of x, in any layout (column-major is fastest), to clusters. If labels is not nil, it writes the
// clusters to it. The cost is 2·rows·c·k flops in float32 and O(rows·k) in float64. The error wraps ErrNotFinite or
// ErrOverflow. After an error the pass must be abandoned.
func (p *Pass) Add(labels []int32, x Matrix) error {
	if x.Cols != p.centers.Cols || (labels != nil && len(labels) < x.Rows) {
		panic(fmt.Sprintf("cluster: %d columns for centres of %d, %d labels for %d rows",
			x.Cols, p.centers.Cols, len(labels), x.Rows))
	}
	for at := 0; at < x.Rows; at += len(p.ones) {
		rows := min(len(p.ones), x.Rows-at)
		index := p.index
		if labels != nil {
			index = labels[at:]
		}
		if err := p.addBlock(index[:rows], matrix(x).Sub(at, 0, rows, x.Cols)); err != nil {
			return err
		}
	}
	return nil
}

func (p *Pass) addBlock(index []int32, x matrix) error {
	raw := x
	if p.unit != nil {
		x = p.unit.normalizeRows(raw)
	}
	p.near.SearchTo(index, p.distance, x)
	for i, cluster := range index {
		d := p.distance[i]
		if math.IsInf(d, 1) { // NaN gives infinity too
			return errBadRow(raw, i, p.Rows)
		}
		if p.unit != nil && p.unit.isZero[i] {
			index[i] = 0
			p.Sizes[0]++
			p.Inertia++
			p.zeros++
			continue
		}
		p.Sizes[cluster]++
		p.Inertia += d
		p.far.offerFarRow(x, i, cluster, d)
	}
	c, k := p.centers.Rows, p.centers.Cols
	kernel.SparseGemm(p.team, kernel.Sparse{Rows: x.Rows, Cols: c, Count: 1, Index: index, Value: p.ones},
		x, kernel.RowMajor(p.sums, c, k, k))
	p.Rows += int64(x.Rows)
	return nil
}

// errBadRow describes the fault of row i of x, whose distance is infinite. offset is the number of rows before x.
func errBadRow(x matrix, i int, offset int64) error {
	for j := range x.Cols {
		if v := x.Data[i*x.RowStride+j*x.ColStride]; v-v != 0 {
			return fmt.Errorf("cluster: row %d, column %d: %w", offset+int64(i)+1, j+1, ErrNotFinite)
		}
	}
	return fmt.Errorf("cluster: row %d: %w", offset+int64(i)+1, ErrOverflow)
}

// nextCenters returns the means of the clusters of a finished pass as new centres. moved reports whether any centre has
// moved, and reseeded is the number of empty clusters that got a row.
//
// An empty cluster gets the row that is farthest from its own centre, which lowers the inertia by the row's squared
// distance. The centre of an empty cluster stays unchanged if every row is equal to its centre (there are fewer
// distinct rows than clusters), or if more than maxSpares clusters are empty at once.
func (p *Pass) nextCenters() (centers matrix, moved bool, reseeded int, err error) {
	c, k := p.centers.Rows, p.centers.Cols
	centers = kernel.RowMajor(make([]float64, c*k), c, k, k)
	size := make([]float64, c)
	for j, n := range p.Sizes {
		size[j] = float64(n)
	}
	size[0] -= float64(p.zeros)
	for j := range c {
		if size[j] > 0 {
			continue
		}
		if f, ok := p.far.takeFarthestRow(size); ok {
			kernel.Axpy(-1, f.row, p.sums[int(f.cluster)*k:][:k])
			size[f.cluster]--
			copy(p.sums[j*k:][:k], f.row)
			size[j] = 1
			reseeded++
		}
	}
	for j := range c {
		sum, to, old := p.sums[j*k:][:k], centers.Data[j*k:][:k], p.centers.Sub(j, 0, 1, k)
		divisor := size[j]
		if p.unit != nil && divisor > 0 {
			divisor = vectorLength(sum) // 0 if rows cancel: every direction is then equally good
		}
		for l := range to {
			to[l] = old.Data[l*old.ColStride]
			if divisor == 0 {
				continue
			}
			mean := sum[l] / divisor
			if mean-mean != 0 {
				return centers, false, 0, fmt.Errorf("cluster: centre of cluster %d: %w", j+1, ErrOverflow)
			}
			moved = moved || mean != to[l]
			to[l] = mean
		}
	}
	return centers, moved, reseeded, nil
}
