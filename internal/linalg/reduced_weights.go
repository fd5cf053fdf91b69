package linalg

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// weighEvenly computes W = UUᵀ/(D − σρ) if all entries of D are equal.
func (r *reducedPencil) weighEvenly() bool {
	left := r.diag[0] - r.lastTheta*r.rho
	if !(left > leastRatio*r.lastTheta*r.rho) {
		return false
	}
	for i, v := range r.uu.Data {
		r.w.Data[i] = v / left
	}
	r.weights = slices.Repeat([]float64{1 / left}, r.d)
	r.madeWeights, r.wError = r.weights, sumError{r.uuError.relative, r.uuError.ridge / left}
	return true
}

// makeWeights computes W with weights near 1/(D − σρ). If exact is set, it uses exactly these weights, without loss.
func (r *reducedPencil) makeWeights(exact bool) bool {
	sigma := r.lastTheta * r.rho
	weights := make([]float64, r.d)
	for i, v := range r.diag {
		if !(v > leastRatio*sigma) {
			return false
		}
		weights[i] = 1 / (v - sigma)
	}
	if exact {
		r.weights, r.madeWeights, r.wError = weights, weights, sumError{}
		clear(r.w.Data)
		r.addProducts(r.w, weights)
		r.wError.ridge = exactRidge * maxDiagonal(r.w)
		return true
	}
	if r.weights == nil || !r.updateWeights(weights) {
		r.weights, r.madeWeights = weights, weights
		clear(r.w.Data)
		r.wError = r.addRough(r.w, 1, r.allFeatures(), weights, r.wantedSize(weights))
	}
	return true
}

// updateWeights corrects W for the weights that have changed much. It returns false if W should be computed anew
// instead. It multiplies in whole numbers if the error of W may grow by two more errors of roughTurn.
func (r *reducedPencil) updateWeights(weights []float64) bool {
	more, less := r.changedFeatures(weights)
	now, made := slices.Clone(r.weights), slices.Clone(r.madeWeights)
	for _, j := range slices.Concat(more, less) {
		now[j] = weights[j]
		made[j] = max(made[j], now[j])
	}
	size, stale := r.wantedSize(now), r.allowedError()
	again := sumError{r.wError.relative + 2*roughTurn, r.wError.ridge + 2*roughTurn*size}
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
			w := r.addRough(r.w, sign, list, change, size)
			r.wError.relative += w.relative
			r.wError.ridge += w.ridge
			r.madeWeights = made
			continue
		}
		r.addSingles(r.w, sign, list, change)
	}
	r.weights = now
	r.wError.ridge = max(r.wError.ridge, singleRidge*maxDiagonal(r.w))
	return true
}

// wantedSize returns a lower bound on zᵀWz for the wanted z: zᵀWz ≥ 1/zᵀW⁻¹z ≥ 1/θ for the previous θ. The result is
// at most W's mean eigenvalue.
func (r *reducedPencil) wantedSize(weights []float64) float64 {
	return min(r.weightedTrace(weights)/float64(r.n), 1/r.lastTheta)
}

// ridgeFor returns the ridge that makes W an upper bound of its exact sum Q_now, up to the relative error. If the
// weights are lower than when W was computed or updated, the sum Q of that time is at most κ·Q_now. Its relative error
// then holds for Q_now too, because it is relative/κ of Q with κ times the ridge.
func (r *reducedPencil) ridgeFor(weights []float64) float64 {
	return largestShrink(r.madeWeights, weights) * r.wError.ridge
}

// largestShrink returns κ, the largest factor by which a weight fell, or 1 if none fell.
func largestShrink(before, now []float64) float64 {
	most := 1.0
	for i, v := range now {
		most = max(most, before[i]/v)
	}
	return most
}

// allowedError returns the error that W may have, as a share of W.
func (r *reducedPencil) allowedError() float64 { return min(max(r.gap/8, leastError), mostError) }

// recordInfluence stores the mean over the pairs of (uᵀy)²/yᵀWy for each feature u. This is a measure of how much the
// feature's weight changes W in the wanted directions. An entry of w is the feature's weight in W times uᵀy.
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

// changedFeatures returns two ascending lists of features whose weights in W should change: to a higher weight, and
// to a lower weight.
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

// sumError bounds the error of a computed sum Q̃ of the exact Q = Σ w·uuᵀ: (1 − relative)Q ≤ Q̃ + ridge·I.
type sumError struct{ relative, ridge float64 }

// roughTurn is the error of addRough, as a share of the added sum and of size. For a list shorter than 1/roughShare of
// all features, the time saved is not worth that error.
const (
	roughTurn  = leastError / 2
	roughShare = 8
)

// addRough adds sign·Σ w·uuᵀ over the listed features to the upper triangle of c. Its error is about roughTurn times
// that sum plus roughTurn times size.
//
// The rows a = √w·u of most features are rounded at random to multiples of a unit. This changes A to A + E, and the
// entries of E are independent errors of mean 0. With A = VS for an orthonormal V,
//
//	|xᵀAEᵀx| ≤ ‖Sx‖·‖VᵀE‖·‖x‖,  ‖VᵀE‖ ≤ ½unit·(2√n + 8)
//
// with a probability of 1 − e⁻³² (the norm of a random n×n matrix). Hence (1 − turn)AᵀA ≤ (A + E)ᵀ(A + E) +
// ‖VᵀE‖²/turn, turn being the relative error. A subtracted sum is at most (1 + turn)AᵀA + ‖VᵀE‖²/turn + EᵀE, with the
// bound of a random matrix of k rows for the last term. Whole numbers of 12 bits are multiplied in two thirds of the
// time of float32, and whole numbers of 11 bits in half of it. Features with larger entries are summed in float32.
func (a *LowRank) addRough(c kernel.Matrix[float64], sign float64, list []int, weights []float64, size float64) (r sumError) {
	r.relative = roughTurn
	unit := a.roundingUnit(r.relative, size)
	loss := unit * (math.Sqrt(float64(a.n)) + 4)
	r.ridge = loss * loss / r.relative
	if sign < 0 {
		loss = unit / 2 * (math.Sqrt(float64(len(list))) + math.Sqrt(float64(a.n)) + 8)
		r.ridge += loss * loss
	}
	wholes, singles := a.splitBySize(list, weights, unit)
	if !kernel.HasWholes() || len(singles) > len(list)/4*3 {
		wholes, singles, r = nil, list, sumError{}
	}
	if len(wholes) > 0 {
		a.scaleUpper(c, sign/unit/unit)
		for i, list := range wholes {
			a.addWholes(c, list, weights, unit, wholeBlocks[i])
		}
		a.scaleUpper(c, sign*unit*unit)
	}
	a.addSingles(c, sign, singles, weights)
	r.ridge += singleRidge * maxDiagonal(c)
	return r
}

func (a *LowRank) scaleUpper(c kernel.Matrix[float64], factor float64) {
	kernel.Each(a.team.Threads(), a.n, func(i int) {
		for j := i; j < a.n; j++ {
			c.Data[i*a.n+j] *= factor
		}
	})
}

// roundingUnit returns the unit of rounding for which the ridge is turn·size.
func (a *LowRank) roundingUnit(turn, size float64) float64 {
	return turn * math.Sqrt(size) / (math.Sqrt(float64(a.n)) + 4)
}

// splitBySize groups the listed features by the first entry of wholeBlocks whose limit their √w·u, in multiples of
// unit, do not exceed. singles are the features that exceed all limits.
func (a *LowRank) splitBySize(list []int, weights []float64, unit float64) (wholes [][]int, singles []int) {
	wholes = make([][]int, len(wholeBlocks))
	peaks := a.peakEntries()
	for _, j := range list {
		at := 0
		for at < len(wholeBlocks) && !(math.Sqrt(weights[j])*peaks[j] <= unit*float64(kernel.MostWholeOf(wholeBlocks[at])-1)) {
			at++
		}
		if at == len(wholeBlocks) {
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

func (a *LowRank) addSingles(c kernel.Matrix[float64], sign float64, list []int, weights []float64) {
	largest := 0.0
	for _, j := range list {
		largest = max(largest, weights[j]*a.squares[j])
	}
	if largest == 0 {
		return
	}
	_, exp := math.Frexp(largest)
	n, unit := a.n, math.Ldexp(1, exp&^1) // an even power of two near largest, because the range of float32 is small
	sum, rows := kernel.RowMajor(make([]float32, n*n), n, n, n), make([]float32, min(singleBlock, len(list))*n)
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
	for some := range slices.Chunk(list, singleBlock) {
		a.eachGroup(some, func(at int, features []int) {
			room := make([]float64, n)
			for i, j := range features {
				factor, row := a.scale*math.Sqrt(weights[j]/unit), rows[(at+i)*n:][:n]
				for t, x := range a.u.Some(room, j, 1) {
					row[t] = float32(factor * x)
				}
			}
		})
		kernel.Syrk(a.team, 1, kernel.RowMajor(rows, len(some), n, n).Trans(), sum)
		if pending += len(some); pending >= singleSum {
			flush()
		}
	}
	flush()
}

// addWholes adds Σ w·uuᵀ/unit² over the listed features to the upper triangle of c. It rounds entries at random to
// multiples of unit. It multiplies together features at a time, so the multiples must be below MostWholeOf(together).
func (a *LowRank) addWholes(c kernel.Matrix[float64], list []int, weights []float64, unit float64, together int) {
	n := a.n
	block := make([]int16, n*min(together, len(list)+1))
	for some := range slices.Chunk(list, together) {
		width := (len(some) + 1) &^ 1
		a.eachGroup(some, func(at int, features []int) {
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
	// singleBlock is the number of features multiplied in float32 at a time.
	singleBlock = 1024
	// groupFeatures is the number of features in a task.
	groupFeatures = 16
)

// wholeBlocks are the numbers of features whose products are summed at a time in integer arithmetic. Larger entries
// need smaller blocks, so that the sums fit into an int32.
var wholeBlocks = [...]int{kernel.DeepestWhole, kernel.DeepestWhole / 2, kernel.DeepestWhole / 4}

// eachGroup calls visit in parallel for groups of a few listed features. at is the index in list of a group's first.
func (a *LowRank) eachGroup(list []int, visit func(at int, features []int)) {
	kernel.Each(a.team.Threads(), (len(list)+groupFeatures-1)/groupFeatures, func(task int) {
		visit(task*groupFeatures, list[task*groupFeatures:min((task+1)*groupFeatures, len(list))])
	})
}

func (a *LowRank) peakEntries() []float64 {
	if a.peakCache == nil {
		a.peakCache = make([]float64, a.d)
		a.eachGroup(a.allFeatures(), func(_ int, features []int) {
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
