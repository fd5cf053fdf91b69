package linalg

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// even makes W where all of D is the same: UUᵀ/(D − σρ).
func (r *reduced) even() bool {
	left := r.diag[0] - r.last*r.rho
	if !(left > reach*r.last*r.rho) {
		return false
	}
	for i, v := range r.uu.Data {
		r.w.Data[i] = v / left
	}
	r.weights, r.ridge = slices.Repeat([]float64{1 / left}, r.d), singleRidge
	return true
}

// weigh makes W of weights near 1/(D − σρ), or of these themselves without loss.
func (r *reduced) weigh(exact bool) bool {
	sigma := r.last * r.rho
	weights := make([]float64, r.d)
	for i, v := range r.diag {
		if !(v > reach*sigma) {
			return false
		}
		weights[i] = 1 / (v - sigma)
	}
	more, less := r.changes(weights)
	if r.weights == nil || len(more)+len(less) > r.d/4*3 {
		r.weights = weights
		clear(r.w.Data)
		if exact {
			r.ridge = exactRidge
			r.addProducts(r.w, weights)
			return true
		}
		r.ridge = singleRidge
		r.addSingles(r.w, 1, nil, weights)
		return true
	}
	for i, list := range [][]int{more, less} {
		by := make([]float64, r.d)
		for _, j := range list {
			by[j] = math.Abs(weights[j] - r.weights[j])
			r.weights[j] = weights[j]
		}
		r.addSingles(r.w, float64(1-2*i), list, by)
	}
	r.ridge = singleRidge
	return true
}

// changes lists the features whose weights W should have, ascending: those of more weight than it has, and of less.
func (r *reduced) changes(weights []float64) (more, less []int) {
	if r.weights == nil {
		return nil, nil
	}
	stale := min(max(r.gap/8, leastStale), mostStale)
	by, order := make([]float64, r.d), make([]int, r.d)
	var sum, left float64
	for i, v := range weights {
		order[i] = i
		by[i] = math.Abs(v-r.weights[i]) * r.squares[i]
		sum += v * r.squares[i]
		left += by[i]
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(by[j], by[i]), i-j) })
	for _, i := range order {
		if left <= stale*sum && weights[i] <= (1+stale)*r.weights[i] {
			continue
		}
		left -= by[i]
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

// addSingles adds sign·Σ w·uuᵀ over the features listed, or all for nil, to the upper triangle of c, summed in float32.
func (a *LowRank) addSingles(c kernel.Matrix[float64], sign float64, list []int, weights []float64) {
	largest := 0.0
	for i, v := range weights {
		largest = max(largest, v*a.squares[i])
	}
	if largest == 0 {
		return
	}
	_, exp := math.Frexp(largest)
	n, unit := a.n, math.Ldexp(1, exp&^1) // an even power of two: float32 has no room for any units
	sum, rows := kernel.RowMajor(make([]float32, n*n), n, n, n), make([]float32, lowRankBlock*n)
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
	add := func(h int, column func(i int) (int, []float64)) {
		block := kernel.RowMajor(rows, h, n, n)
		kernel.Each(a.team.Threads(), h, func(i int) {
			j, u := column(i)
			by, row := a.scale*math.Sqrt(weights[j]/unit), rows[i*n:(i+1)*n]
			for t, x := range u {
				row[t] = float32(by * x)
			}
		})
		kernel.Syrk(a.team, 1, block.Trans(), sum)
		if pending += h; pending >= singleSum {
			flush()
		}
	}
	if list == nil {
		a.panels(func(first int, u kernel.Matrix[float64]) {
			for from := 0; from < u.Rows; from += lowRankBlock {
				add(min(lowRankBlock, u.Rows-from), func(i int) (int, []float64) { return first + from + i, u.Data[(from+i)*n:][:n] })
			}
		})
	}
	for from := 0; from < len(list); from += lowRankBlock {
		some := list[from:min(from+lowRankBlock, len(list))]
		add(len(some), func(i int) (int, []float64) { return some[i], a.u.Feature(make([]float64, n), some[i]) })
	}
	flush()
}
