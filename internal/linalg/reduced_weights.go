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
	r.weights = slices.Repeat([]float64{1 / left}, r.d)
	r.made, r.wrong = r.weights, wrong{r.uuWrong.turn, r.uuWrong.ridge / left}
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
	if exact {
		r.weights, r.made, r.wrong = weights, weights, wrong{}
		clear(r.w.Data)
		r.addProducts(r.w, weights)
		r.wrong.ridge = exactRidge * largest(r.w)
		return true
	}
	if r.weights == nil || !r.mend(weights) {
		r.weights, r.made = weights, weights
		clear(r.w.Data)
		r.wrong = r.addRough(r.w, 1, r.all(), weights, r.size(weights))
	}
	return true
}

// mend makes those weights right that have changed much, or reports that W is better made anew. It does so in whole numbers
// where that may be wrong by as much again, twice.
func (r *reduced) mend(weights []float64) bool {
	more, less := r.changes(weights)
	now, made := slices.Clone(r.weights), slices.Clone(r.made)
	for _, j := range slices.Concat(more, less) {
		now[j] = weights[j]
		made[j] = max(made[j], now[j])
	}
	size, stale := r.size(now), r.stale()
	again := wrong{r.wrong.turn + 2*roughTurn, r.wrong.ridge + 2*roughTurn*size}
	rough := kernel.HasWholes() && again.turn <= stale && shrunk(made, now)*again.ridge <= stale*size
	if most := r.d / 4 * 3; len(more)+len(less) > most || !rough && (kernel.HasWholes() && len(more)+len(less) > r.d/2 || r.lost(now) > stale*size) {
		return false
	}
	for i, list := range [][]int{more, less} {
		sign, by := float64(1-2*i), make([]float64, r.d)
		for _, j := range list {
			by[j] = math.Abs(now[j] - r.weights[j])
		}
		if rough && len(list) > r.d/roughShare {
			w := r.addRough(r.w, sign, list, by, size)
			r.wrong.turn += w.turn
			r.wrong.ridge += w.ridge
			r.made = made
			continue
		}
		r.addSingles(r.w, sign, list, by)
	}
	r.weights = now
	r.wrong.ridge = max(r.wrong.ridge, singleRidge*largest(r.w))
	return true
}

// size is what W makes of the wanted z at least, but no more than its mean eigenvalue: zᵀWz ≥ 1/zᵀW⁻¹z ≥ 1/θ, for the θ
// of before.
func (r *reduced) size(weights []float64) float64 {
	return min(r.trace(weights)/float64(r.n), 1/r.last)
}

// lost is the ridge that makes W no less than what it stands for, but for turn. Where weights are lower than those of which W
// was made, or mended, Q ≤ κ·Q_now, what was wrong then is turn of Q_now too: it is turn/κ of Q, with κ times the ridge.
func (r *reduced) lost(weights []float64) float64 { return shrunk(r.made, weights) * r.wrong.ridge }

// shrunk is κ, by how much weights are lower than they were, at most, and 1 at least.
func shrunk(before, now []float64) float64 {
	most := 1.0
	for i, v := range now {
		most = max(most, before[i]/v)
	}
	return most
}

// stale is the share of W that may be wrong.
func (r *reduced) stale() float64 { return min(max(r.gap/8, leastStale), mostStale) }

// remember keeps (uᵀy)²/yᵀWy of the features, the mean of the pairs, by which W changes where it is wanted: w = W's
// weight times uᵀy.
func (r *reduced) remember(b pairs) {
	r.wanted = make([]float64, r.d)
	for i := range r.l {
		row, sum := b.w.Data[i*r.d:(i+1)*r.d], 0.0
		for j, v := range row {
			sum += v * v / r.weights[j]
		}
		for j, v := range row {
			v /= r.weights[j]
			r.wanted[j] += v * v / sum / float64(r.l)
		}
	}
}

// changes lists the features whose weights W should have, ascending: those of more weight than it has, and of less.
func (r *reduced) changes(weights []float64) (more, less []int) {
	stale, sum := r.stale(), r.trace(weights)
	by, order := make([]float64, r.d), make([]int, r.d)
	var left float64
	for i, v := range weights {
		order[i] = i
		by[i] = math.Abs(v-r.weights[i]) * (r.squares[i]/sum + wantedShare*r.wanted[i])
		left += by[i]
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(by[j], by[i]), i-j) })
	for _, i := range order {
		if left <= stale && weights[i] <= (1+stale)*r.weights[i] {
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

// wrong says how far a sum Q̃ may be from the Q = Σ w·uuᵀ that it stands for: (1 − turn)Q ≤ Q̃ + ridge·I.
type wrong struct{ turn, ridge float64 }

// roughTurn is what addRough may be wrong by, as a share of what it adds and of size, and lists shorter than a share of all
// features are not worth that.
const (
	roughTurn  = leastStale / 2
	roughShare = 8
)

// addRough adds sign·Σ w·uuᵀ over the features listed to the upper triangle of c, wrong by about roughTurn of that sum and
// of size.
//
// The rows a = √w·u of most features are rounded at random to multiples e of a unit, which makes A the sum A + E of
// independent errors, 0 on average. With A = VS, V orthonormal,
//
//	|xᵀAEᵀx| ≤ ‖Sx‖·‖VᵀE‖·‖x‖,  ‖VᵀE‖ ≤ ½unit·(2√n + 8)
//
// but once in e³² times (the norm of a random n×n matrix), so that (1 − turn)AᵀA ≤ (A + E)ᵀ(A + E) + ‖VᵀE‖²/turn. Taken away
// is (1 + turn)AᵀA + ‖VᵀE‖²/turn + EᵀE at most, the last as that of a random matrix of k rows. Whole numbers of
// 12 bits are multiplied in two thirds of the time of float32, and those of 11 in half. The features of larger entries are
// summed in float32.
func (a *LowRank) addRough(c kernel.Matrix[float64], sign float64, list []int, weights []float64, size float64) (r wrong) {
	r.turn = roughTurn
	unit := a.unit(r.turn, size)
	loss := unit * (math.Sqrt(float64(a.n)) + 4)
	r.ridge = loss * loss / r.turn
	if sign < 0 {
		loss = unit / 2 * (math.Sqrt(float64(len(list))) + math.Sqrt(float64(a.n)) + 8)
		r.ridge += loss * loss
	}
	wholes, singles := a.sizes(list, weights, unit)
	if !kernel.HasWholes() || len(singles) > len(list)/4*3 {
		wholes, singles, r = nil, list, wrong{}
	}
	if len(wholes) > 0 {
		a.scaleUpper(c, sign/unit/unit)
		for i, list := range wholes {
			a.addWholes(c, list, weights, unit, wholeBlocks[i])
		}
		a.scaleUpper(c, sign*unit*unit)
	}
	a.addSingles(c, sign, singles, weights)
	r.ridge += singleRidge * largest(c)
	return r
}

// scaleUpper multiplies the upper triangle of c.
func (a *LowRank) scaleUpper(c kernel.Matrix[float64], by float64) {
	kernel.Each(a.team.Threads(), a.n, func(i int) {
		for j := i; j < a.n; j++ {
			c.Data[i*a.n+j] *= by
		}
	})
}

// unit is that with which the ridge is turn·size.
func (a *LowRank) unit(turn, size float64) float64 {
	return turn * math.Sqrt(size) / (math.Sqrt(float64(a.n)) + 4)
}

// sizes are those of the features listed whose √w·u are whole numbers of units that fit each of wholeBlocks, and the others.
func (a *LowRank) sizes(list []int, weights []float64, unit float64) (wholes [][]int, singles []int) {
	wholes = make([][]int, len(wholeBlocks))
	peaks := a.peaks()
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

// trace is that of Σ w·uuᵀ.
func (a *LowRank) trace(weights []float64) (sum float64) {
	for i, v := range weights {
		sum += v * a.squares[i]
	}
	return sum
}

// addSingles adds sign·Σ w·uuᵀ over the features listed to the upper triangle of c, summed in float32.
func (a *LowRank) addSingles(c kernel.Matrix[float64], sign float64, list []int, weights []float64) {
	largest := 0.0
	for _, j := range list {
		largest = max(largest, weights[j]*a.squares[j])
	}
	if largest == 0 {
		return
	}
	_, exp := math.Frexp(largest)
	n, unit := a.n, math.Ldexp(1, exp&^1) // an even power of two: float32 has no room for any units
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
		a.some(some, func(at int, features []int) {
			room := make([]float64, n)
			for i, j := range features {
				by, row := a.scale*math.Sqrt(weights[j]/unit), rows[(at+i)*n:][:n]
				for t, x := range a.u.Some(room, j, 1) {
					row[t] = float32(by * x)
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

// addWholes adds Σ w·uuᵀ over unit², over the features listed, to the upper triangle of c, of entries that are rounded at
// random to multiples of a unit, and at most [kernel.MostWholeOf] so many less one of them, as are multiplied at a time.
func (a *LowRank) addWholes(c kernel.Matrix[float64], list []int, weights []float64, unit float64, together int) {
	n := a.n
	block := make([]int16, n*min(together, len(list)+1))
	for some := range slices.Chunk(list, together) {
		width := (len(some) + 1) &^ 1
		a.some(some, func(at int, features []int) {
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
	// singleBlock features are multiplied in float32 at a time.
	singleBlock = 1024
	// together are those of a task.
	together = 16
)

// wholeBlocks are how many features are multiplied in whole numbers at a time, of small entries and of larger ones.
var wholeBlocks = [...]int{kernel.DeepestWhole, kernel.DeepestWhole / 2, kernel.DeepestWhole / 4}

// some calls do for all of a list side by side, a few features at a time: those from place at on.
func (a *LowRank) some(list []int, do func(at int, features []int)) {
	kernel.Each(a.team.Threads(), (len(list)+together-1)/together, func(task int) {
		do(task*together, list[task*together:min((task+1)*together, len(list))])
	})
}

// peaks are the largest entries of the u.
func (a *LowRank) peaks() []float64 {
	if a.peak == nil {
		a.peak = make([]float64, a.d)
		a.some(a.all(), func(_ int, features []int) {
			room := make([]float64, a.n)
			for _, j := range features {
				a.peak[j] = a.scale * maxAbs(a.u.Some(room, j, 1))
			}
		})
	}
	return a.peak
}

// all are the features.
func (a *LowRank) all() []int {
	list := make([]int, a.d)
	for j := range list {
		list[j] = j
	}
	return list
}
