package linalg

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Columns gives access to the d columns of a matrix with n rows. A column consists of n consecutive numbers.
type Columns interface {
	// Panels divides the columns into panels of consecutive columns and calls f for each panel in order. A panel has count
	// columns, the first with index `from`. columns contains them one after the other, and is valid until f returns.
	Panels(threads int, f func(from, count int, columns []float64))
	// Some returns `count` columns from column `from` on, one after the other, as a view of the matrix or a copy in room.
	Some(room []float64, from, count int) []float64
}

// memoryColumns stores the columns as the contiguous rows of a matrix.
type memoryColumns kernel.Matrix[float64]

func (m memoryColumns) Panels(_ int, visit func(from, count int, columns []float64)) {
	visit(0, m.Rows, m.Data)
}
func (m memoryColumns) Some(_ []float64, from, count int) []float64 {
	return m.Data[from*m.RowStride:][:count*m.Cols]
}

// scaledColumns is an n×d matrix U, given by its columns. Feature i has column i.
type scaledColumns struct {
	team      *kernel.Team
	d, n      int
	u         Columns // U is scale times the matrix of these columns
	scale     float64
	squares   []float64 // squared length of each column of U; nil without a metric
	peakCache []float64 // the largest entry of each column of U; nil until needed
}

// eachPanel calls f for panels of consecutive columns of U, which are not yet multiplied by scale. The rows of u are
// these columns, the first of which has the index `from`.
func (a *scaledColumns) eachPanel(f func(from int, u kernel.Matrix[float64])) {
	a.u.Panels(a.team.Threads(), func(from, count int, columns []float64) {
		f(from, kernel.RowMajor(columns, count, a.n, a.n))
	})
}

// TimesUTransposed returns the k×n matrix X·Uᵀ for a k×d matrix X.
func (a *scaledColumns) TimesUTransposed(x kernel.Matrix[float64]) kernel.Matrix[float64] {
	y := kernel.RowMajor(make([]float64, x.Rows*a.n), x.Rows, a.n, a.n)
	a.addTimesUTransposed(1, x, y)
	return y
}

func addProductInBlocks(team *kernel.Team, alpha float64, x, c, y kernel.Matrix[float64]) {
	for i := 0; i < x.Rows; i += thinRows {
		h := min(thinRows, x.Rows-i)
		kernel.Gemm(team, alpha, x.Sub(i, 0, h, x.Cols), c, y.Sub(i, 0, h, y.Cols))
	}
}

// thinRows is the number of vectors, rows of X or Y, that are multiplied by U at a time. It is so small that
// kernel.Gemm does not pack U. With 50,000 features, 500 rows and 28 vectors, X·Uᵀ took 54 ms for all vectors at once
// and 35 ms for two halves; Y·U took 35 and 21 ms.
const thinRows = 16

func (a *scaledColumns) addTimesUTransposed(factor float64, x, y kernel.Matrix[float64]) {
	a.eachPanel(func(from int, u kernel.Matrix[float64]) {
		addProductInBlocks(a.team, factor*a.scale, x.Sub(0, from, x.Rows, u.Rows), u, y)
	})
}

func (a *scaledColumns) addTimesU(factor float64, y, x kernel.Matrix[float64]) {
	a.eachPanel(func(from int, u kernel.Matrix[float64]) {
		addProductInBlocks(a.team, factor*a.scale, y, u.Trans(), x.Sub(0, from, x.Rows, u.Rows))
	})
}

// QuadraticForms returns uᵀCu for the column u of every feature and a symmetric n×n matrix C. It costs 2·n²·d flops.
func (a *scaledColumns) QuadraticForms(c kernel.Matrix[float64]) []float64 {
	out := make([]float64, a.d)
	times := make([]float64, lowRankBlock*a.n)
	a.eachPanel(func(first int, u kernel.Matrix[float64]) {
		for from := 0; from < u.Rows; from += lowRankBlock {
			h := min(lowRankBlock, u.Rows-from)
			rows, product := u.Sub(from, 0, h, a.n), kernel.RowMajor(times, h, a.n, a.n)
			clear(times)
			kernel.Gemm(a.team, a.scale*a.scale, rows, c, product)
			kernel.Each(a.team.Threads(), h, func(i int) {
				out[first+from+i] = kernel.Dot(rows.Data[i*a.n:][:a.n], times[i*a.n:(i+1)*a.n])
			})
		}
	})
	return out
}

// addOuterProducts adds the upper triangle of Σ w·uuᵀ to c, for weights w ≥ 0 of the features.
func (a *scaledColumns) addOuterProducts(c kernel.Matrix[float64], weights []float64) {
	rows := make([]float64, lowRankBlock*a.n)
	a.eachPanel(func(first int, u kernel.Matrix[float64]) {
		for from := 0; from < u.Rows; from += lowRankBlock {
			h := min(lowRankBlock, u.Rows-from)
			block := kernel.RowMajor(rows, h, a.n, a.n)
			kernel.Each(a.team.Threads(), h, func(i int) {
				factor := a.scale * math.Sqrt(weights[first+from+i])
				out := rows[i*a.n : (i+1)*a.n]
				for t, x := range u.Data[(from+i)*a.n:][:a.n] {
					out[t] = factor * x
				}
			})
			kernel.Syrk(a.team, 1, block.Trans(), c)
		}
	})
}

// sumError bounds the error of an approximate sum Q̃ for the exact sum Q = Σ w·uuᵀ: (1 − relative)Q ≤ Q̃ + ridge·I.
type sumError struct{ relative, ridge float64 }

// roughError is the relative error of a sum added by addRoughSum, and its ridge as a share of that function's argument
// size. For lists of less than 1/roughShare of all features, the time saved is not worth that error.
const (
	roughError = minError / 2
	roughShare = 8
)

// addRoughSum adds sign·Σ w·uuᵀ approximately to the upper triangle of the n×n matrix c. The sum is over the listed
// features, w being the weight of a feature and u its column of U. It returns a bound on the error, see [sumError]:
// relative is roughError, and ridge is about roughError·size.
//
// The vectors √w·u of most features are rounded at random to multiples of a unit. This changes the matrix A with these
// vectors as rows to A + E. The entries of E are independent errors of mean 0. Let A = VS, with orthonormal columns of
// V. For every vector x,
//
//	|xᵀAEᵀx| ≤ ‖Sx‖·‖VᵀE‖·‖x‖,  ‖VᵀE‖ ≤ ½unit·(2√n + 8)
//
// with a probability of 1 − e⁻³², as VᵀE is a random n×n matrix. Hence (1 − turn)AᵀA ≤ (A + E)ᵀ(A + E) + ‖VᵀE‖²/turn,
// turn being the relative error. A subtracted sum is at most (1 + turn)AᵀA + ‖VᵀE‖²/turn + EᵀE. The last term is
// bounded as the norm of a random matrix of k rows, k being the list's length. Integers of 12 bits are multiplied in
// two thirds of the time of float32, and of 11 bits in half of it. Larger entries are summed in float32.
func (a *scaledColumns) addRoughSum(c kernel.Matrix[float64], sign float64, list []int, weights []float64, size float64) (r sumError) {
	r.relative = roughError
	unit := a.roundingUnit(r.relative, size)
	loss := unit * (math.Sqrt(float64(a.n)) + 4)
	r.ridge = loss * loss / r.relative
	if sign < 0 {
		loss = unit / 2 * (math.Sqrt(float64(len(list))) + math.Sqrt(float64(a.n)) + 8)
		r.ridge += loss * loss
	}
	wholes, singles := a.groupFeaturesBySize(list, weights, unit)
	if !kernel.HasWholes() || len(singles) > len(list)/4*3 {
		wholes, singles, r = nil, list, sumError{}
	}
	if len(wholes) > 0 {
		a.scaleUpperTriangle(c, sign/unit/unit)
		for i, list := range wholes {
			a.addFeaturesInIntegers(c, list, weights, unit, integerBlockSizes[i])
		}
		a.scaleUpperTriangle(c, sign*unit*unit)
	}
	a.addFeaturesInFloat32(c, sign, singles, weights)
	r.ridge += float32Ridge * maxDiagonal(c)
	return r
}

func (a *scaledColumns) scaleUpperTriangle(c kernel.Matrix[float64], factor float64) {
	kernel.Each(a.team.Threads(), a.n, func(i int) {
		for j := i; j < a.n; j++ {
			c.Data[i*a.n+j] *= factor
		}
	})
}

// roundingUnit returns the unit for which addRoughSum has the relative error `turn` and the ridge turn·size.
func (a *scaledColumns) roundingUnit(turn, size float64) float64 {
	return turn * math.Sqrt(size) / (math.Sqrt(float64(a.n)) + 4)
}

// groupFeaturesBySize groups the listed features by the largest block size in integerBlockSizes for which the entries
// of √w·u, as multiples of unit, are small enough. singles lists the features whose entries are too large for every
// block size.
func (a *scaledColumns) groupFeaturesBySize(list []int, weights []float64, unit float64) (wholes [][]int, singles []int) {
	wholes = make([][]int, len(integerBlockSizes))
	peaks := a.peakEntries()
	for _, j := range list {
		at := 0
		for at < len(integerBlockSizes) && !(math.Sqrt(weights[j])*peaks[j] <= unit*float64(kernel.MostWholeOf(integerBlockSizes[at])-1)) {
			at++
		}
		if at == len(integerBlockSizes) {
			singles = append(singles, j)
			continue
		}
		wholes[at] = append(wholes[at], j)
	}
	return wholes, singles
}

func (a *scaledColumns) weightedTrace(weights []float64) (sum float64) {
	for i, v := range weights {
		sum += v * a.squares[i]
	}
	return sum
}

func (a *scaledColumns) addFeaturesInFloat32(c kernel.Matrix[float64], sign float64, list []int, weights []float64) {
	largest := 0.0
	for _, j := range list {
		largest = max(largest, weights[j]*a.squares[j])
	}
	if largest == 0 {
		return
	}
	_, exp := math.Frexp(largest)
	n, unit := a.n, math.Ldexp(1, exp&^1) // even power of 2 near largest; keeps numbers inside the range of float32
	sum, rows := kernel.RowMajor(make([]float32, n*n), n, n, n), make([]float32, min(float32Block, len(list))*n)
	pending := 0
	flush := func() {
		kernel.Each(a.team.Threads(), n, func(i int) {
			for j := i; j < n; j++ {
				c.Data[i*n+j] += sign * unit * float64(sum.Data[i*n+j])
				sum.Data[i*n+j] = 0
			}
		})
		pending = 0
	}
	for some := range slices.Chunk(list, float32Block) {
		a.eachFeatureGroup(some, func(at int, features []int) {
			room := make([]float64, n)
			for i, j := range features {
				factor, row := a.scale*math.Sqrt(weights[j]/unit), rows[(at+i)*n:][:n]
				for t, x := range a.u.Some(room, j, 1) {
					row[t] = float32(factor * x)
				}
			}
		})
		kernel.Syrk(a.team, 1, kernel.RowMajor(rows, len(some), n, n).Trans(), sum)
		if pending += len(some); pending >= float32SumFeatures {
			flush()
		}
	}
	flush()
}

// addFeaturesInIntegers adds Σ w·uuᵀ/unit² over the listed features to the upper triangle of c. It rounds √w·u at
// random to multiples of unit. It multiplies k features at a time, with k = together. The multiples must not exceed the
// result of kernel.MostWholeOf(k).
func (a *scaledColumns) addFeaturesInIntegers(c kernel.Matrix[float64], list []int, weights []float64, unit float64, together int) {
	n := a.n
	block := make([]int16, n*min(together, len(list)+1))
	for some := range slices.Chunk(list, together) {
		width := (len(some) + 1) &^ 1
		a.eachFeatureGroup(some, func(at int, features []int) {
			room, numbers := make([]float64, n), make([]int16, len(features)*n)
			for i, j := range features {
				roundAtRandom(numbers[i*n:][:n], a.u.Some(room, j, 1), a.scale*math.Sqrt(weights[j])/unit, uint64(j))
			}
			for t := range n {
				to := block[t*width+at:][:len(features)]
				for i := range to {
					to[i] = numbers[i*n+t]
				}
			}
		})
		if width > len(some) {
			for t := range n {
				block[t*width+len(some)] = 0
			}
		}
		kernel.SyrkWhole(a.team, block, n, len(some), width, nil, c)
	}
}

const (
	// float32Block is the number of features multiplied in float32 at a time.
	float32Block = 1024
	// groupFeatures is the number of features that a worker prepares at a time.
	groupFeatures = 16
)

// integerBlockSizes are the numbers of features whose products are summed at a time in integer arithmetic. Larger
// entries need smaller blocks, so that the sums fit into an int32.
var integerBlockSizes = [...]int{kernel.DeepestWhole, kernel.DeepestWhole / 2, kernel.DeepestWhole / 4}

// eachFeatureGroup calls visit in parallel for groups of a few listed features. list[at] is a group's first feature.
func (a *scaledColumns) eachFeatureGroup(list []int, visit func(at int, features []int)) {
	kernel.Each(a.team.Threads(), (len(list)+groupFeatures-1)/groupFeatures, func(task int) {
		visit(task*groupFeatures, list[task*groupFeatures:min((task+1)*groupFeatures, len(list))])
	})
}

func (a *scaledColumns) peakEntries() []float64 {
	if a.peakCache == nil {
		a.peakCache = make([]float64, a.d)
		a.eachFeatureGroup(a.allFeatures(), func(_ int, features []int) {
			room := make([]float64, a.n)
			for _, j := range features {
				a.peakCache[j] = a.scale * maxAbs(a.u.Some(room, j, 1))
			}
		})
	}
	return a.peakCache
}

func (a *scaledColumns) allFeatures() []int {
	list := make([]int, a.d)
	for j := range list {
		list[j] = j
	}
	return list
}
