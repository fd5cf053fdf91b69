package kernel

import "math"

// leadingDirections returns at most maxCount − spareCoordinates orthonormal directions that contain leadShare of the
// anchors' variance. Each contains about the same part of it. If they contain less than the share minShare of the
// variance, the result is an empty matrix. Block power iteration is exact enough, because the bounds hold for any
// directions. norms are the anchors' squared lengths.
func (n *Nearest) leadingDirections(norms []float64, maxCount int, minShare float64) Matrix[float64] {
	none := Matrix[float64]{}
	if maxCount -= spareCoordinates; maxCount <= 0 {
		return none
	}
	m, d := n.m, n.d
	points := RowMajor(n.points, m, d, n.padded)
	z := RowMajor(make([]float64, maxCount*d), maxCount, d, d)
	y := RowMajor(make([]float64, m*maxCount), m, maxCount, maxCount)
	random := bitSource(1)
	signs := func(to []float64) {
		for i := range to {
			to[i] = 2*float64(random.nextBit()) - 1
		}
	}
	off := make([]float64, maxCount)
	var count int
	along := func() { // Y = (points − center)·Zᵀ
		clear(y.Data)
		Gemm(n.team, 1, points, z.Trans(), y)
		for k := range off {
			off[k] = Dot(n.center, z.Data[k*d:][:d])
		}
		for i := range m {
			Axpy(-1, off, y.Data[i*maxCount:][:maxCount])
		}
	}
	signs(z.Data)
	for range 2 {
		along()
		clear(off)
		for i := range m {
			Axpy(1, y.Data[i*maxCount:][:maxCount], off)
		}
		clear(z.Data)
		Gemm(n.team, 1, y.Trans(), points, z)
		for k, sum := range off {
			Axpy(-sum, n.center, z.Data[k*d:][:d])
		}
		count = n.orthonormalizeRows(z)
		clear(z.Data[count*d:])
	}
	along()
	total, captured := 0.0, 0.0
	for _, sq := range norms {
		total += sq
	}
	for k := range count {
		for i := range m {
			captured += y.Data[i*maxCount+k] * y.Data[i*maxCount+k]
		}
		if captured >= leadShare*total && (k+1+spareCoordinates)%coordinateStep == 0 {
			count = k + 1
			break
		}
	}
	if !(captured >= minShare*total) { // also if it is NaN
		return none
	}
	// The first directions contain most of the variance. Mixing them makes coordinates similar in size, as bytes need.
	mixed := RowMajor(make([]float64, count*d), count, d, d)
	rotation := RowMajor(make([]float64, count*count), count, count, count)
	signs(rotation.Data)
	Gemm(n.team, 1, rotation, z.Sub(0, 0, count, d), mixed)
	return mixed.Sub(0, 0, n.orthonormalizeRows(mixed), d)
}

// orthonormalizeRows makes the rows of z orthonormal by the Gram-Schmidt process, one block of rows at a time. It drops
// rows that depend linearly on others, and returns the number of rows left.
func (n *Nearest) orthonormalizeRows(z Matrix[float64]) int {
	const block = 32
	// dependent is the share of a row's length below which its remainder after projection counts as rounding.
	const dependent = 1e-8
	row := func(k int) []float64 { return z.Data[k*z.RowStride:][:z.Cols] }
	lengths := make([]float64, z.Rows)
	for k := range lengths {
		lengths[k] = math.Sqrt(Dot(row(k), row(k)))
	}
	count := 0
	for from := 0; from < z.Rows; from += block {
		rows, before := min(block, z.Rows-from), count
		if count > 0 {
			part, others := z.Sub(from, 0, rows, z.Cols), z.Sub(0, 0, count, z.Cols)
			on := RowMajor(make([]float64, rows*count), rows, count, count)
			Gemm(n.team, 1, part, others.Trans(), on)
			Gemm(n.team, -1, on, others, part)
		}
		for k := from; k < from+rows; k++ {
			for j := before; j < count; j++ {
				Axpy(-Dot(row(j), row(k)), row(j), row(k))
			}
			if length := math.Sqrt(Dot(row(k), row(k))); length > dependent*lengths[k] {
				for l, v := range row(k) {
					row(count)[l] = v / length
				}
				count++
			}
		}
	}
	return count
}
