package linalg

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// computeWForEqualD computes W = UUᵀ/(D − θρ) if all entries of D are equal, see [reducedPencil]. θ is lastTheta.
func (r *reducedPencil) computeWForEqualD() bool {
	left := r.diag[0] - r.lastTheta*r.rho
	if !(left > minRatio*r.lastTheta*r.rho) {
		return false
	}
	for i, v := range r.uu.Data {
		r.w.Data[i] = v / left
	}
	r.weights = slices.Repeat([]float64{1 / left}, r.d)
	r.roughWeights, r.wError = r.weights, sumError{r.uuError.relative, r.uuError.ridge / left}
	return true
}

// computeW computes W with weights near 1/(D − θρ), see [reducedPencil]. θ is lastTheta. If exact is set, the weights
// are exactly these numbers, and W is summed in float64. It returns false if an entry of D is too small.
func (r *reducedPencil) computeW(exact bool) bool {
	sigma := r.lastTheta * r.rho
	weights := make([]float64, r.d)
	for i, v := range r.diag {
		if !(v > minRatio*sigma) {
			return false
		}
		weights[i] = 1 / (v - sigma)
	}
	if exact {
		r.weights, r.roughWeights, r.wError = weights, weights, sumError{}
		clear(r.w.Data)
		r.addOuterProducts(r.w, weights)
		r.wError.ridge = exactRidge * maxDiagonal(r.w)
		return true
	}
	if r.weights == nil || !r.updateW(weights) {
		r.weights, r.roughWeights = weights, weights
		clear(r.w.Data)
		r.wError = r.addRoughSum(r.w, 1, r.allFeatures(), weights, r.minWantedValue(weights))
	}
	return true
}

// updateW corrects W for the features whose weights have changed much. It returns false if W should be computed anew
// instead. For a long list of such features it adds the corrections by addRoughSum, provided that the allowed error of
// W has room for the errors of two calls.
func (r *reducedPencil) updateW(weights []float64) bool {
	more, less := r.changedFeatures(weights)
	now, made := slices.Clone(r.weights), slices.Clone(r.roughWeights)
	for _, j := range slices.Concat(more, less) {
		now[j] = weights[j]
		made[j] = max(made[j], now[j])
	}
	size, stale := r.minWantedValue(now), r.allowedError()
	again := sumError{r.wError.relative + 2*roughError, r.wError.ridge + 2*roughError*size}
	rough := kernel.HasWholes() && again.relative <= stale && largestShrink(made, now)*again.ridge <= stale*size
	if most := r.d / 4 * 3; len(more)+len(less) > most || !rough && (kernel.HasWholes() && len(more)+len(less) > r.d/2 || r.ridgeFor(now) > stale*size) {
		return false
	}
	for i, list := range [][]int{more, less} {
		sign, change := float64(1-2*i), make([]float64, r.d)
		for _, j := range list {
			change[j] = math.Abs(now[j] - r.weights[j])
		}
		if rough && len(list) > r.d/roughShare {
			w := r.addRoughSum(r.w, sign, list, change, size)
			r.wError.relative += w.relative
			r.wError.ridge += w.ridge
			r.roughWeights = made
			continue
		}
		r.addFeaturesInFloat32(r.w, sign, list, change)
	}
	r.weights = now
	r.wError.ridge = max(r.wError.ridge, float32Ridge*maxDiagonal(r.w))
	return true
}

// minWantedValue returns a lower bound on zᵀWz for the unit vectors z of the wanted pairs. For such a z with the
// eigenvalue θ, zᵀWz ≥ 1/zᵀW⁻¹z ≥ 1/θ. The largest wanted θ of the previous matrix is used for θ. The result is at most
// W's mean eigenvalue.
func (r *reducedPencil) minWantedValue(weights []float64) float64 {
	return min(r.weightedTrace(weights)/float64(r.n), 1/r.lastTheta)
}

// ridgeFor returns the ridge for which W, with these weights, satisfies the inequality of sumError. Since a feature was
// added to W, its weight may have fallen by a factor of at most κ. The exact sum Q at that time is then at most κ times
// the present one. The relative error of W therefore holds for the present sum too, if the ridge is multiplied by κ.
func (r *reducedPencil) ridgeFor(weights []float64) float64 {
	return largestShrink(r.roughWeights, weights) * r.wError.ridge
}

// largestShrink returns the largest factor by which a weight fell, or 1 if none fell.
func largestShrink(before, now []float64) float64 {
	most := 1.0
	for i, v := range now {
		most = max(most, before[i]/v)
	}
	return most
}

// allowedError returns the error that W may have, as a share of W's trace.
func (r *reducedPencil) allowedError() float64 { return min(max(r.gap/8, minError), maxError) }

// recordInfluence stores, for each feature u, the mean of (uᵀy)²/yᵀWy over the y of the wanted pairs, see
// [reducedPencil]. It measures how much the feature's weight changes W in the wanted directions. The entries of b.w are
// the feature's weight in W times uᵀy.
func (r *reducedPencil) recordInfluence(b pencilRitz) {
	r.influence = make([]float64, r.d)
	for i := range r.l {
		row, sum := b.w.Data[i*r.d:(i+1)*r.d], 0.0
		for j, v := range row {
			sum += v * v / r.weights[j]
		}
		for j, v := range row {
			v /= r.weights[j]
			r.influence[j] += v * v / sum / float64(r.l)
		}
	}
}

// changedFeatures returns two ascending lists of features whose weights in W should change. The result `more` has the
// features whose weight should rise, and `less` the features whose weight should fall.
func (r *reducedPencil) changedFeatures(weights []float64) (more, less []int) {
	stale, sum := r.allowedError(), r.weightedTrace(weights)
	change, order := make([]float64, r.d), make([]int, r.d)
	var left float64
	for i, v := range weights {
		order[i] = i
		change[i] = math.Abs(v-r.weights[i]) * (r.squares[i]/sum + influenceFactor*r.influence[i])
		left += change[i]
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(change[j], change[i]), i-j) })
	for _, i := range order {
		if left <= stale && weights[i] <= (1+stale)*r.weights[i] {
			continue
		}
		left -= change[i]
		if weights[i] > r.weights[i] {
			more = append(more, i)
		} else {
			less = append(less, i)
		}
	}
	slices.Sort(more)
	slices.Sort(less)
	return more, less
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
func (a *LowRank) addRoughSum(c kernel.Matrix[float64], sign float64, list []int, weights []float64, size float64) (r sumError) {
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

func (a *LowRank) scaleUpperTriangle(c kernel.Matrix[float64], factor float64) {
	kernel.Each(a.team.Threads(), a.n, func(i int) {
		for j := i; j < a.n; j++ {
			c.Data[i*a.n+j] *= factor
		}
	})
}

// roundingUnit returns the unit for which addRoughSum has the relative error `turn` and the ridge turn·size.
func (a *LowRank) roundingUnit(turn, size float64) float64 {
	return turn * math.Sqrt(size) / (math.Sqrt(float64(a.n)) + 4)
}

// groupFeaturesBySize groups the listed features by the largest block size in integerBlockSizes for which the entries
// of √w·u, as multiples of unit, are small enough. singles lists the features whose entries are too large for every
// block size.
func (a *LowRank) groupFeaturesBySize(list []int, weights []float64, unit float64) (wholes [][]int, singles []int) {
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

func (a *LowRank) weightedTrace(weights []float64) (sum float64) {
	for i, v := range weights {
		sum += v * a.squares[i]
	}
	return sum
}

func (a *LowRank) addFeaturesInFloat32(c kernel.Matrix[float64], sign float64, list []int, weights []float64) {
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
func (a *LowRank) addFeaturesInIntegers(c kernel.Matrix[float64], list []int, weights []float64, unit float64, together int) {
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
func (a *LowRank) eachFeatureGroup(list []int, visit func(at int, features []int)) {
	kernel.Each(a.team.Threads(), (len(list)+groupFeatures-1)/groupFeatures, func(task int) {
		visit(task*groupFeatures, list[task*groupFeatures:min((task+1)*groupFeatures, len(list))])
	})
}

func (a *LowRank) peakEntries() []float64 {
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

func (a *LowRank) allFeatures() []int {
	list := make([]int, a.d)
	for j := range list {
		list[j] = j
	}
	return list
}
