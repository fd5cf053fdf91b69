package greedy

import (
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// This file computes the matrix products of a pass. Each add function adds the contribution of one block of rows to an
// accumulator, a row-major matrix. Sparse rows are added without subtracting their shift. So the unshift function with
// the same name removes it once, after the pass. Let x be the values of a row and w its weight, and let factor and
// shift be numbers of each feature. With x′ = factor·x, s = factor·shift, and the sums m = Σwx′ and W = Σw over the
// rows,
//
//	Σ w (x′ₐ − sₐ)(x′ᵦ − sᵦ) = Σ w x′ₐx′ᵦ − sₐmᵦ − sᵦmₐ + W sₐsᵦ.
//
// One worker adds all terms of a row of the accumulator, in the order of the rows of the data A and independently of
// other rows of the accumulator. So G₍:,p₎ has the same bits in any batch.

// addTriangle adds rows [from, to) × columns [from, d) of AᵀA to acc, A being the standardized rows of block b. The
// rows of acc have d−from numbers, and entries below the diagonal are not written. The cost is 2n·(to−from)·(d−from)
// flops for a block of n rows.
func (r *reader) addTriangle(b *rowBlock, acc []float64, from, to int) {
	ld := r.d - from
	if b.sparse != nil {
		kernel.Each(r.workers, to-from, func(i int) {
			b.sparse.addColumnFrom(acc[i*ld:(i+1)*ld], from+i, from)
		})
		return
	}
	out := kernel.RowMajor(acc, to-from, ld, ld)
	for at := from; at < to; at += r.strip {
		m, place := min(r.strip, to-at), at-from
		a := r.denseFeatures(b, at, at+m, 0)
		kernel.Syrk(r.team, 1, a, out.Sub(place, place, m, m))
		r.eachStrip(b, at+m, func(j int, x kernel.Matrix[float64]) {
			kernel.Gemm(r.team, 1, a, x.Trans(), out.Sub(place, j-from, m, x.Rows))
		})
	}
}

func (r *reader) unshiftTriangle(acc []float64, from, to int) {
	ld := r.d - from
	r.unshiftRows(to-from, func(i int) (row []float64, first int, s, m float64) {
		return acc[i*ld : (i+1)*ld], from, r.shift[from+i], r.sum[from+i]
	})
}

// writeTriangle writes the result of addTriangle and unshiftTriangle to acc, if all rows are in memory. It completes
// one row of acc at a time, while that row is in a cache.
func (r *reader) writeTriangle(acc []float64, from, to int) {
	ld := r.d - from
	kernel.Each(r.workers, to-from, func(i int) {
		row := acc[i*ld : (i+1)*ld]
		clear(row)
		r.sparse.addColumnFrom(row, from+i, from)
		r.unshiftRow(row, from, r.shift[from+i], r.sum[from+i])
	})
}

// addColumns adds AᵀA₍:,p₎ to row i of acc for each feature p = features[i], A being the standardized rows of block b.
// The cost is 2·n·d flops for each feature and n rows. scratch has len(features)·n numbers, if rows are dense.
func (r *reader) addColumns(b *rowBlock, acc []float64, features []int, scratch []float64) {
	if b.sparse != nil {
		kernel.Each(r.workers, len(features), func(i int) {
			b.sparse.addColumn(acc[i*r.d:(i+1)*r.d], features[i])
		})
		return
	}
	n := b.rows
	for i, p := range features {
		r.std.Some(scratch[i*n:(i+1)*n], n, b.chunk, p, p+1)
	}
	r.addStripProducts(b, acc, scratch, len(features))
}

func (r *reader) unshiftColumns(acc []float64, features []int) {
	r.unshiftRows(len(features), func(i int) (row []float64, first int, s, m float64) {
		return acc[i*r.d : (i+1)*r.d], 0, r.shift[features[i]], r.sum[features[i]]
	})
}

// addProducts adds Aᵀ(Avᵢ) to row i of acc for each of the count rows vᵢ of v, A being the standardized rows of block
// b. The cost is 4·n·d flops for each vᵢ and n rows. scratch has room for count·n numbers. If the rows are sparse,
// addProducts adds Σ w·Avᵢ to sums[i], for unshiftProducts.
func (r *reader) addProducts(b *rowBlock, acc, v []float64, count int, scratch, sums []float64) {
	if b.sparse != nil {
		kernel.Each(r.workers, count, func(i int) {
			sums[i] = b.sparse.addProduct(acc[i*r.d:(i+1)*r.d], v[i*r.d:(i+1)*r.d], r.shift, sums[i])
		})
		return
	}
	n := b.rows
	y := scratch[:count*n]
	clear(y)
	r.eachStrip(b, 0, func(at int, x kernel.Matrix[float64]) {
		kernel.Gemm(r.team, 1, kernel.RowMajor(v, count, r.d, r.d).Sub(0, at, count, x.Rows), x, kernel.RowMajor(y, count, n, n))
	})
	r.addStripProducts(b, acc, y, count)
}

func (r *reader) addStripProducts(b *rowBlock, acc, y []float64, count int) {
	left, out := kernel.RowMajor(y, count, b.rows, b.rows), kernel.RowMajor(acc, count, r.d, r.d)
	r.eachStrip(b, 0, func(at int, x kernel.Matrix[float64]) {
		kernel.Gemm(r.team, 1, left, x.Trans(), out.Sub(0, at, count, x.Rows))
	})
}

func (r *reader) unshiftProducts(acc, sums []float64) {
	if r.weight == 0 {
		return
	}
	kernel.Each(r.workers, len(sums), func(i int) {
		kernel.Axpy(-sums[i], r.shift, acc[i*r.d:(i+1)*r.d])
	})
}

// addGroupProducts adds BᵀA to acc, A being the standardized rows of block b. Column j of B is the sum of the columns
// of A in group j, and row j of acc belongs to that group. groups has the group of each feature, or −1. The cost is
// 2·n·c·d flops for n rows and c = count groups. scratch has room for count·n numbers.
func (r *reader) addGroupProducts(b *rowBlock, acc []float64, groups []int, count int, scratch []float64) {
	if b.sparse != nil {
		b.sparse.addGroupProducts(r.workers, acc, groups, count)
		return
	}
	n := b.rows
	sums := scratch[:count*n]
	clear(sums)
	r.eachStrip(b, 0, func(at int, x kernel.Matrix[float64]) {
		for i, j := range groups[at:][:x.Rows] {
			if j >= 0 { // not chosen by an earlier layer
				kernel.Axpy(1, x.Data[i*n:(i+1)*n], sums[j*n:(j+1)*n])
			}
		}
	})
	r.addStripProducts(b, acc, sums, count)
}

func (r *reader) unshiftGroupProducts(acc []float64, groups []int, count int) {
	shift, sum := make([]float64, count), make([]float64, count)
	for i, j := range groups {
		if j < 0 {
			continue
		}
		shift[j] += r.shift[i]
		sum[j] += r.sum[i]
	}
	r.unshiftRows(count, func(j int) (row []float64, first int, s, m float64) {
		return acc[j*r.d : (j+1)*r.d], 0, shift[j], sum[j]
	})
}

// unshiftRows removes the shift from count rows of an accumulator. accRow returns row i, the feature `first` of the
// row's first entry, and the shift s and the sum m = Σwx′ of the feature or group that the row belongs to.
func (r *reader) unshiftRows(count int, accRow func(i int) (row []float64, first int, s, m float64)) {
	if r.weight == 0 {
		return
	}
	kernel.Each(r.workers, count, func(i int) {
		row, first, s, m := accRow(i)
		r.unshiftRow(row, first, s, m)
	})
}

func (r *reader) unshiftRow(row []float64, first int, s, m float64) {
	sum, shift, t := r.sum[first:][:len(row)], r.shift[first:][:len(row)], m-r.weight*s
	for j := range row {
		row[j] -= s*sum[j] + shift[j]*t
	}
}
