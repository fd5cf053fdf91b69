package kernel

import "math"

// leadRowsNeeded is the number of rows to search before directions are looked for.
func (n *Nearest) leadRowsNeeded() int {
	from, p, d := float64(min(n.m, axesFrom)), float64(n.mostAxes()), float64(n.d)
	cost := gemmCost*axesRounds*2*from*p*d + dotCost*(axesRounds+1)*2*p*p*d + dotCost*from*p*d + plainCost*leadSample*from*p
	return int(leadShare * cost / (float64(n.m) * d))
}

func (n *Nearest) mostAxes() int { return min(mostAxes, n.d/2, n.m/4) }

// consider looks for leading directions and keeps them where they make a search cheaper, by
// what they exclude for some of the rows of the search before, whose distances are known. With
// too few of these it waits for another search.
func (n *Nearest) consider() {
	rows := n.sampleRows()
	if len(rows) < leastSample {
		return
	}
	n.undecided = false
	v := n.directions(n.mostAxes())
	if p := n.cheapest(v, rows); p > 0 {
		v = v[:p*n.d]
		y, lengths := n.coordinates(v, n.m)
		n.lead = n.leadBy(p, v, y, lengths)
	}
}

// sampleRows are some rows of the search before that are neither too long to screen nor NaN.
func (n *Nearest) sampleRows() (rows []int) {
	x := make([]float64, n.d)
	for k := range min(leadSample, n.x.Rows) {
		i := k * n.x.Rows / min(leadSample, n.x.Rows)
		n.centre(x, n.x.Sub(i, 0, 1, n.d))
		if Dot(x, x) < 1<<60 && n.reachOf(i) < 1<<60 {
			rows = append(rows, i)
		}
	}
	return rows
}

// reachOf is the squared distance of row i to the last of its nearest anchors, scaled.
func (n *Nearest) reachOf(i int) float64 { return n.distance[(i+1)*n.count-1] * n.scale * n.scale }

// coordinates are those of count anchors, of all at even steps, in the directions v, and the squares
// of their lengths.
func (n *Nearest) coordinates(v []float64, count int) (y, lengths []float64) {
	p := len(v) / n.d
	y, lengths = make([]float64, count*p), make([]float64, count)
	part := panels(count, n.team.workers)
	Each(n.team.workers, n.team.workers, func(w int) {
		centred := make([]float64, n.d)
		for i := w * part; i < min((w+1)*part, count); i++ {
			n.centre(centred, RowMajor(n.points[i*n.m/count*n.padded:], 1, n.d, n.d))
			lengths[i] = Dot(centred, centred)
			project(y[i*p:][:p], v, centred)
		}
	})
	return y, lengths
}

// centre writes a point, centred and scaled.
func (n *Nearest) centre(to []float64, point Matrix[float64]) {
	for l := range to {
		to[l] = (point.Data[l*point.ColStride] - n.center[l]) * n.scale
	}
}

// project writes the products of x with the rows of v.
func project(to, v, x []float64) {
	for k := range to {
		to[k] = Dot(v[k*len(x):][:len(x)], x)
	}
}

// directions returns up to p leading directions of the anchors, one a row, leading ones first, by
// subspace iteration on some anchors from some of them. As float32 numbers, which they are, they are
// a contraction.
func (n *Nearest) directions(p int) []float64 {
	from := min(n.m, axesFrom)
	p = min(p, from)
	a := make([]float64, from*n.d)
	for i := range from {
		n.centre(a[i*n.d:][:n.d], RowMajor(n.points[i*n.m/from*n.padded:], 1, n.d, n.d))
	}
	some, v, b := RowMajor(a, from, n.d, n.d), make([]float64, p*n.d), make([]float64, from*p)
	for k := range p {
		copy(v[k*n.d:][:n.d], a[k*from/p*n.d:][:n.d])
	}
	for range axesRounds {
		if p = orthonormal(v, p, n.d); p == 0 {
			return nil
		}
		v = v[:p*n.d]
		axes, along := RowMajor(v, p, n.d, n.d), RowMajor(b, from, p, p)
		clear(b)
		Gemm(n.team, 1, some, axes.Trans(), along)
		clear(v)
		Gemm(n.team, 1, along.Trans(), some, axes)
	}
	v = v[:orthonormal(v, p, n.d)*n.d]
	for i, x := range v {
		v[i] = float64(float32(x * (1 - 0x1p-12)))
	}
	// ‖QQᵀ‖ is at most its largest sum of absolute values in a row (Gershgorin).
	for i := 0; i < len(v); i += n.d {
		sum := 0.0
		for j := 0; j < len(v); j += n.d {
			sum += math.Abs(Dot(v[i:][:n.d], v[j:][:n.d]))
		}
		if !(sum <= 1-0x1p-20) {
			return nil
		}
	}
	return v
}

// orthonormal makes the p rows of v, of length d, orthonormal one after the other, leaves out those
// that depend on others before them, and returns how many are left, in front.
func orthonormal(v []float64, p, d int) (left int) {
	for k := range p {
		x := v[left*d:][:d]
		copy(x, v[k*d:][:d])
		before := Dot(x, x)
		for range 2 { // what the first time leaves, of size rounding, goes the second time
			for j := range left {
				y := v[j*d:][:d]
				Axpy(-Dot(x, y), y, x)
			}
		}
		after := Dot(x, x)
		if !(after > 1e-20*before) || !(after > 0x1p-900) {
			continue
		}
		root := 1 / math.Sqrt(after)
		for l := range x {
			x[l] *= root
		}
		left++
	}
	return left
}

// cheapest returns the number of the directions v with which a search costs least, 0 for none, by
// how many of some anchors they leave for some rows of the search before.
func (n *Nearest) cheapest(v []float64, rows []int) int {
	held := len(v) / n.d
	some := min(n.m, axesFrom)
	y, lengths := n.coordinates(v, some)
	step := n.team.isa.f32.nr
	steps := panels(held, step)
	left := make([][]int, len(rows)) // anchors left for a row, by the number of steps
	part := panels(len(rows), n.team.workers)
	Each(n.team.workers, n.team.workers, func(w int) {
		x, z := make([]float64, n.d), make([]float64, held)
		for k := w * part; k < min((w+1)*part, len(rows)); k++ {
			left[k] = make([]int, steps)
			n.centre(x, n.x.Sub(rows[k], 0, 1, n.d))
			project(z, v, x)
			length, reach := Dot(x, x), n.reachOf(rows[k])
			for j := range some {
				other := y[j*held:][:held]
				apart, restX, restY := 0.0, length, lengths[j]
				for s := range steps {
					for l := s * step; l < min((s+1)*step, held); l++ {
						apart += (z[l] - other[l]) * (z[l] - other[l])
						restX -= z[l] * z[l]
						restY -= other[l] * other[l]
					}
					rest := math.Sqrt(max(restX, 0)) - math.Sqrt(max(restY, 0))
					if apart+rest*rest <= reach {
						left[k][s]++
					}
				}
			}
		}
	})
	d, m := float64(n.d), float64(n.m)
	// Directions that hardly pay are not worth their memory.
	least, p := 0.75*(m*d+1.5*float64(n.count)*squaresCost*d), 0
	for s := range steps {
		stay := 0.0
		for _, l := range left {
			stay += float64(l[s])
		}
		stay *= m / float64(some) / float64(len(rows))
		axes := min((s+1)*step, held)
		if cost := d*float64(axes) + m*float64(axes+1) + (stay+float64(n.count))*squaresCost*d; cost < least {
			least, p = cost, axes
		}
	}
	return p
}
