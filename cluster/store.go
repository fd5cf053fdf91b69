package cluster

import (
	"math"
	"math/bits"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// store holds the data that all restarts of KMeans share: the rows, and a narrow copy of them in float32 for screening
// distances. In addition to the rows it needs 4 bytes for each value and 8 for each row.
type store struct {
	x    matrix
	n, k int

	narrow []float32 // n×stride: (x − shift)·scale, rounded
	stride int
	norm   []float64 // n: ‖(x − shift)·scale‖²
	shift  []float64 // k: zeros, unless the rows are far from 0 compared with their spread
	scale  float64   // a power of 2 with which no value of the copy is far above 1

	// isLossless reports that the copy is exact, as for files of float32 or small integers. Reading the copy instead of
	// x then saves half of the memory traffic, and the values of a row need not be collected from columns.
	isLossless bool
	// hasExactSums reports that sums of rows never round, in any order, because all values of a column are multiples of
	// a number that is not too small. This is so for integers, and for float32 values of similar magnitude. Sums are
	// then updated only by the rows that changed their cluster.
	hasExactSums bool

	mean  []float64 // k
	total float64   // Σ ‖x − mean‖²
}

const (
	// If the largest magnitude is outside these limits, there is no store, because squares could overflow or vanish.
	largestValue, smallestValue = 0x1p400, 0x1p-400
	// farOut: if the squared length of the rows' mean is more than this multiple of their variance, the mean is subtracted
	// from the rows for screening, because the bounds on rounding grow with the lengths of rows.
	farOut = 32
	// storeCols is the number of columns in a task, so that row-major rows are read by whole cache lines.
	storeCols = 16
)

// isDescentFaster reports whether a descent needs less CPU time than passes for c centres in k columns. We measured the
// ratio of both times. On noise, the worst case, it was 0.3 to 0.95 for up to 60 centres. For 200 to 500 centres it was
// 0.9 to 1.3 in 16 or 100 columns, and 0.7 to 0.9 in 800. For a move of 500 centres of mnist10k it was 0.4.
func isDescentFaster(centers, columns int) bool { return centers <= maxGroups || columns >= 256 }

// layOutStore takes the memory of a store of n×k rows from l, which first collects garbage if memory is short. Without
// this, garbage of an earlier search for neighbours was still in memory, and a run used 219 MiB although only 206 MiB
// were allowed.
func layOutStore(l *room.Layout, n, k int) *store {
	t := &store{n: n, k: k, stride: (k + 15) / 16 * 16}
	t.narrow, t.norm = room.Slice[float32](l, n*t.stride), room.Slice[float64](l, n)
	t.shift, t.mean = room.Slice[float64](l, k), room.Slice[float64](l, k)
	return t
}

// newStore returns a store of x. It returns nil if screening in float32 is impossible, because the largest magnitude of
// the values is 0, below smallestValue or above largestValue. All values must be finite. newStore reads x three times.
func newStore(workers int, x matrix) *store {
	n, k := x.Rows, x.Cols
	t := layOutStore(nil, n, k)
	t.x = x
	largest, squares := make([]float64, k), make([]float64, k)
	kernel.Each(workers, (k+storeCols-1)/storeCols, func(task int) {
		t.measureColumns(task*storeCols, largest, squares)
	})
	greatest, meanSquare, spread := 0.0, 0.0, 0.0
	for j, v := range largest {
		greatest = max(greatest, v)
		meanSquare += t.mean[j] * t.mean[j]
		spread += squares[j]/float64(n) - t.mean[j]*t.mean[j] // imprecise for large means; meanSquare decides then
	}
	if !(greatest >= smallestValue && greatest <= largestValue) {
		return nil
	}
	_, e := math.Frexp(greatest)
	t.scale = math.Ldexp(1, -e)
	if t.isLossless = meanSquare <= farOut*spread; !t.isLossless {
		copy(t.shift, t.mean)
	}
	// magic has a number m for each column: (v + m) − m rounds v to a multiple of 2⁻⁵³ of the largest sum of n values.
	magic := make([]float64, k)
	for j, v := range largest {
		_, e := math.Frexp(max(v, 0x1p-900))
		magic[j] = math.Ldexp(1.5, e+max(bits.Len(uint(n)), 2)-1)
	}
	tasks := (n + stripe - 1) / stripe
	lossy, rounded := make([]bool, tasks), make([]bool, tasks)
	kernel.Each(workers, tasks, func(task int) {
		lossy[task], rounded[task] = t.fillNarrowCopy(task*stripe, magic)
	})
	t.hasExactSums = true
	for task := range tasks {
		t.isLossless = t.isLossless && !lossy[task]
		t.hasExactSums = t.hasExactSums && !rounded[task]
	}
	for _, v := range t.norm {
		t.total += v / t.scale / t.scale
	}
	for j, v := range t.mean {
		t.total -= float64(n) * (v - t.shift[j]) * (v - t.shift[j])
	}
	t.total = max(t.total, 0)
	return t
}

func (t *store) measureColumns(from int, largest, sumsOfSquares []float64) {
	to := min(from+storeCols, t.k)
	var sum, square, top [storeCols]float64
	if t.x.RowStride == 1 {
		for j := from; j < to; j++ {
			var s, q, m float64
			for _, v := range t.x.Data[j*t.x.ColStride:][:t.n] {
				s += v
				q += v * v
				m = max(m, math.Abs(v))
			}
			sum[j-from], square[j-from], top[j-from] = s, q, m
		}
	} else {
		for i := range t.n {
			for j := from; j < to; j++ {
				v := t.x.Data[i*t.x.RowStride+j*t.x.ColStride]
				sum[j-from] += v
				square[j-from] += v * v
				top[j-from] = max(top[j-from], math.Abs(v))
			}
		}
	}
	for j := from; j < to; j++ {
		t.mean[j], sumsOfSquares[j], largest[j] = sum[j-from]/float64(t.n), square[j-from], top[j-from]
	}
}

// fillNarrowCopy copies up to [stripe] rows, beginning with row `from`, to the narrow copy. It reports whether the copy
// lost any digits, and whether sums may round. magic contains a number m for each column: if (v + m) − m is not v for a
// value v, sums of the column may round.
func (t *store) fillNarrowCopy(from int, magic []float64) (lossy, rounded bool) {
	rows := min(stripe, t.n-from)
	back := 1 / t.scale
	norm := t.norm[from:][:rows]
	var lost, off float64 // sums of absolute rounding errors, 0 if nothing was rounded
	for j0 := 0; j0 < t.k; j0 += storeCols {
		for j := j0; j < min(j0+storeCols, t.k); j++ {
			m, shift, scale := magic[j], t.shift[j], t.scale
			data, step := t.x.Data[from*t.x.RowStride+j*t.x.ColStride:], t.x.RowStride
			to, at, wide := t.narrow[from*t.stride+j:], 0, t.stride
			for i := range norm {
				v := data[i*step]
				off += math.Abs((v + m) - m - v)
				w := (v - shift) * scale
				norm[i] += w * w
				f := float32(w)
				to[at] = f
				at += wide
				lost += math.Abs(float64(f)*back - v)
			}
		}
	}
	return lost != 0, off != 0
}

func (t *store) copyRow(row int, dst []float64) {
	if t.isLossless {
		back := 1 / t.scale
		for l, v := range t.narrow[row*t.stride:][:t.k] {
			dst[l] = float64(v) * back
		}
		return
	}
	from := t.x.Data[row*t.x.RowStride:]
	for l := range t.k {
		dst[l] = from[l*t.x.ColStride]
	}
}

func (t *store) paddedRowLength() int {
	return (t.k + kernel.SquaresBlock - 1) / kernel.SquaresBlock * kernel.SquaresBlock
}

func (t *store) copyPaddedRows(from, count int, dst []float64) {
	long := t.paddedRowLength()
	if t.isLossless || t.x.ColStride == 1 {
		for i := range count {
			t.copyRow(from+i, dst[i*long:])
		}
		return
	}
	// Copy column by column, which is the order of the values in memory.
	kernel.Copy(kernel.RowMajor(dst, count, t.k, long).Trans(), t.x.Sub(from, 0, count, t.k).Trans())
}

func (t *store) hasContiguousRows() bool { return t.isLossless || t.x.ColStride == 1 }
