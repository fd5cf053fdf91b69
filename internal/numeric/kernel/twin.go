package kernel

import (
	"math"
	"unsafe"
)

// plainGo is the instruction set of plain Go. It defines the results that assembly must give, and is used on processors
// without assembly. It rounds each product and each sum; assembly fuses the two.
var plainGo = isa{
	name: "go",
	f64:  micro[float64]{mr: 4, nr: 4, mul: mulGo[float64]},
	f32:  micro[float32]{mr: 4, nr: 4, mul: mulGo[float32]},

	integer: integerCode{mr: 4, nr: 4, mul: mulIntsGo, toInt16: toInt16Go},
	coarse:  coarseGo,

	dot: dotGo, axpy: axpyGo, gatherRows: gatherRowsGo, squaredDistances: squaredDistancesGo, firstNotAbove: firstNotAboveGo, lowestBounds: lowestBoundsGo, rotate: rotateGo,
}

// mulGo implements micro.mul for 4×4 tiles. The conversions prevent the compiler from fusing products and sums.
//
//nolint:unconvert // it takes conversions of a type parameter for idle ones
func mulGo[T Float](k int, alpha T, a, b, c *T, ldc int) {
	as, bs := unsafe.Slice(a, 4*k), unsafe.Slice(b, 4*k)
	cs := unsafe.Slice(c, 3*ldc+4)
	// The tile is computed in two halves, because eight sums and six factors fit into registers.
	for half := 0; half < 4; half += 2 {
		var s00, s01, s02, s03, s10, s11, s12, s13 T
		for l := 0; l+4 <= len(as) && l+4 <= len(bs); l += 4 {
			a0, a1 := as[l+half], as[l+half+1]
			b0, b1, b2, b3 := bs[l], bs[l+1], bs[l+2], bs[l+3]
			s00 += T(a0 * b0)
			s01 += T(a0 * b1)
			s02 += T(a0 * b2)
			s03 += T(a0 * b3)
			s10 += T(a1 * b0)
			s11 += T(a1 * b1)
			s12 += T(a1 * b2)
			s13 += T(a1 * b3)
		}
		for i, s := range [2][4]T{{s00, s01, s02, s03}, {s10, s11, s12, s13}} {
			row := cs[(half+i)*ldc:][:4]
			for j := range row {
				row[j] += T(alpha * s[j])
			}
		}
	}
}

func dotGo(x, y []float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	for len(x) >= 4 && len(y) >= 4 {
		s0 += float64(x[0] * y[0])
		s1 += float64(x[1] * y[1])
		s2 += float64(x[2] * y[2])
		s3 += float64(x[3] * y[3])
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		s0 += float64(v * y[i])
	}
	return (s0 + s2) + (s1 + s3)
}

func axpyGo(alpha float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += float64(alpha * v)
	}
}

func gatherRowsGo(columns int, starts, rows *int32, weights, x *float64, ldx, width int, c *float64, ldc int) {
	from := unsafe.Slice(starts, columns+1)
	first := from[0]
	row, weight := unsafe.Slice(rows, from[columns]-first), unsafe.Slice(weights, from[columns]-first)
	for j := range columns {
		to := unsafe.Slice((*float64)(unsafe.Add(unsafe.Pointer(c), 8*j*ldc)), width)
		for e := from[j] - first; e < from[j+1]-first; e++ {
			axpyGo(weight[e], unsafe.Slice((*float64)(unsafe.Add(unsafe.Pointer(x), 8*int(row[e])*ldx)), width), to)
		}
	}
}

func squaredDistancesGo(blocks int, x, y, z, _, _ []float64) (xy, xz float64) {
	return squaredDistanceGo(blocks, x, y), squaredDistanceGo(blocks, x, z)
}

func squaredDistanceGo(blocks int, x, y []float64) float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for range blocks {
		a, b := x[:8], y[:8]
		d0, d1, d2, d3 := a[0]-b[0], a[1]-b[1], a[2]-b[2], a[3]-b[3]
		s0 += float64(d0 * d0)
		s1 += float64(d1 * d1)
		s2 += float64(d2 * d2)
		s3 += float64(d3 * d3)
		d4, d5, d6, d7 := a[4]-b[4], a[5]-b[5], a[6]-b[6], a[7]-b[7]
		s4 += float64(d4 * d4)
		s5 += float64(d5 * d5)
		s6 += float64(d6 * d6)
		s7 += float64(d7 * d7)
		x, y = x[8:], y[8:]
	}
	return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))
}

func lowestBoundsGo(rows int, c *float32, ldc int, slack *float32, n int, loose *float32, uppers *[upperSets]float32, lowers *float32, groups int) {
	cs, slacks, rooms := unsafe.Slice(c, (rows-1)*ldc+n), unsafe.Slice(slack, n), unsafe.Slice(loose, rows)
	least, lowest := unsafe.Slice(uppers, rows), unsafe.Slice(lowers, (rows-1)*groups+1)
	for i, room := range rooms {
		low := float32(math.MaxFloat32)
		for j, v := range cs[i*ldc:][:n] {
			b := float32(room * slacks[j])
			upper := &least[i][j%upperSets]
			*upper, low = min(*upper, v+b), min(low, v-b)
		}
		lowest[i*groups] = low
	}
}

func firstNotAboveGo(c, slack []float32, norm, limit float32, from, n int) int {
	for j := from; j < n; j++ {
		if !(c[j]-float32(norm*slack[j]) > limit) {
			return j
		}
	}
	return n
}

func mulIntsGo(pairs int, a, b *int16, c *float64, ldc int) {
	as, bs := unsafe.Slice(a, 8*pairs), unsafe.Slice(b, 8*pairs)
	cs := unsafe.Slice(c, 3*ldc+4)
	for i := range 4 {
		var s0, s1, s2, s3 int32
		for l := 0; l+8 <= len(as) && l+8 <= len(bs); l += 8 {
			x, y := int32(as[l+2*i]), int32(as[l+2*i+1])
			b := bs[l : l+8]
			s0 += x*int32(b[0]) + y*int32(b[1])
			s1 += x*int32(b[2]) + y*int32(b[3])
			s2 += x*int32(b[4]) + y*int32(b[5])
			s3 += x*int32(b[6]) + y*int32(b[7])
		}
		row := cs[i*ldc:][:4]
		row[0] += float64(s0)
		row[1] += float64(s1)
		row[2] += float64(s2)
		row[3] += float64(s3)
	}
}

func toInt16Go(blocks int, src *float64, dst *int16) (least, most int16, ok bool) {
	to := unsafe.Slice(dst, 16*blocks)
	for i, x := range unsafe.Slice(src, 16*blocks) {
		whole := int16(max(-32768, min(x, 32767))) // NaN becomes some number, which then differs from NaN
		if float64(whole) != x {
			return 0, 0, false
		}
		to[i], least, most = whole, min(least, whole), max(most, whole)
	}
	return least, most, true
}
