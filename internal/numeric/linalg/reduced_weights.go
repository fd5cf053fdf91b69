package linalg

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// computeWForEqualD computes W = UUᵀ/(D − θρ) if all entries of D are equal, see [reducedPencil]. θ is lastTheta.
func (r *reducedPencil) computeWForEqualD() bool {
	left := r.pencil.diag[0] - r.lastTheta*r.pencil.rho
	if !(left > minRatio*r.lastTheta*r.pencil.rho) {
		return false
	}
	for i, v := range r.pencil.uu.Data {
		r.w.Data[i] = v / left
	}
	r.weights = slices.Repeat([]float64{1 / left}, r.d)
	r.roughWeights, r.wError = r.weights, sumError{r.pencil.uuError.relative, r.pencil.uuError.ridge / left}
	return true
}

// computeW computes W with weights near 1/(D − θρ), see [reducedPencil]. θ is lastTheta. If exact is set, the weights
// are exactly these numbers, and W is summed in float64. It returns false if an entry of D is too small.
func (r *reducedPencil) computeW(exact bool) bool {
	sigma := r.lastTheta * r.pencil.rho
	weights := make([]float64, r.d)
	for i, v := range r.pencil.diag {
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
