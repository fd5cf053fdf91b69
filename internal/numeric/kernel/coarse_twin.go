package kernel

import (
	"math"
	"unsafe"
)

var coarseGo = coarseCode{nr: 4, maxNumber: 127, offset: 128, mul: mulBytesGo, flipSigns: flipSignsGo, mixDimensions: mixDimensionsGo, largestMagnitudes: largestMagnitudesGo, quantise: quantiseGo, dotProducts: dotProductsGo}

func mulBytesGo(quads int, a, b *byte, step *[lanes]float32, shift *[lanes]int32, half, factor, c *float32, ldc int) {
	const nr = 4
	as, bs := unsafe.Slice((*int8)(unsafe.Pointer(a)), 4*lanes*quads), unsafe.Slice(b, 4*nr*quads)
	halves, factors := unsafe.Slice(half, nr), unsafe.Slice(factor, nr)
	cs := unsafe.Slice(c, (lanes-1)*ldc+nr)
	for i := range lanes {
		var sums [nr]int32
		for l := range quads {
			x := as[4*(lanes*l+i):][:4]
			y := bs[4*nr*l:][:4*nr]
			x0, x1, x2, x3 := int32(x[0]), int32(x[1]), int32(x[2]), int32(x[3])
			for j := range sums {
				sums[j] += x0*int32(y[4*j]) + x1*int32(y[4*j+1]) + x2*int32(y[4*j+2]) + x3*int32(y[4*j+3])
			}
		}
		for j, sum := range sums {
			cs[i*ldc+j] = halves[j] - float32(factors[j]*float32(step[i]*float32(sum-shift[i])))
		}
	}
}

func flipSignsGo(n int, x *float32, signs *uint32) {
	xs := unsafe.Slice((*uint32)(unsafe.Pointer(x)), lanes*n)
	for l, sign := range unsafe.Slice(signs, n) {
		for i := range lanes {
			xs[lanes*l+i] ^= sign
		}
	}
}

func mixDimensionsGo(n, h, radix int, x *float32, by float32) {
	xs := unsafe.Slice(x, lanes*n)
	for step := h; step < h*radix; step *= 2 {
		for l := range n {
			if l&step != 0 {
				continue
			}
			a, b := xs[lanes*l:][:lanes], xs[lanes*(l+step):][:lanes]
			for i, v := range a {
				a[i], b[i] = v+b[i], v-b[i]
			}
		}
	}
	for i := range xs {
		xs[i] *= by
	}
}

func largestMagnitudesGo(n int, x *float32, largest *[lanes]float32) {
	*largest = [lanes]float32{}
	for k, v := range unsafe.Slice(x, lanes*n) {
		if v = max(v, -v); v > largest[k%lanes] {
			largest[k%lanes] = v
		}
	}
}

func quantiseGo(quads int, x *float32, inverse, step *[lanes]float32, dst *byte, rest, squares *[lanes]float32, sums *[lanes]int32) {
	*rest, *squares, *sums = [lanes]float32{}, [lanes]float32{}, [lanes]int32{}
	to := unsafe.Slice(dst, 4*lanes*quads)
	for k, v := range unsafe.Slice(x, 4*lanes*quads) {
		l, i := k/lanes, k%lanes
		number := math.RoundToEven(float64(v * inverse[i]))
		if number != number {
			number = 0
		}
		v -= float32(step[i] * float32(number))
		rest[i] += float32(v * v)
		squares[i] += float32(number * number)
		sums[i] += int32(number)
		to[4*(lanes*(l/4)+i)+l%4] = byte(int8(number))
	}
}

func dotProductsGo(blocks int, x, y *byte, stride int, which *int32, count int, sums *int32) {
	size := dotsBlock * blocks
	xs, to := unsafe.Slice((*int8)(unsafe.Pointer(x)), size), unsafe.Slice(sums, count)
	for k, j := range unsafe.Slice(which, count) {
		sum := int32(0)
		for l, v := range unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(y), int(j)*stride)), size) {
			sum += int32(xs[l]) * int32(v)
		}
		to[k] = sum
	}
}
