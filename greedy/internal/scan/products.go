package scan

import (
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/method"
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

// AddTriangle adds rows [from, to) × columns [from, d) of AᵀA to acc, A being the standardized rows of block b. The
// rows of acc have d−from numbers, and entries below the diagonal are not written. The cost is 2n·(to−from)·(d−from)
// flops for a block of n rows.
func (r *Reader) AddTriangle(b *Block, acc []float64, from, to int) {
	ld := r.D - from
	if b.Sparse != nil {
		kernel.Each(r.Workers, to-from, func(i int) {
			b.Sparse.addColumnFrom(acc[i*ld:(i+1)*ld], from+i, from)
		})
		return
	}
	out := kernel.RowMajor(acc, to-from, ld, ld)
	for at := from; at < to; at += r.Strip {
		m, place := min(r.Strip, to-at), at-from
		a := r.denseFeatures(b, at, at+m, 0)
		kernel.Syrk(r.Team, 1, a, out.Sub(place, place, m, m))
		r.eachStrip(b, at+m, func(j int, x kernel.Matrix[float64]) {
			kernel.Gemm(r.Team, 1, a, x.Trans(), out.Sub(place, j-from, m, x.Rows))
		})
	}
}

// UnshiftTriangle removes the shift of sparse rows from the sums of AddTriangle.
func (r *Reader) UnshiftTriangle(acc []float64, from, to int) {
	ld := r.D - from
	r.unshiftRows(to-from, func(i int) (row []float64, first int, s, m float64) {
		return acc[i*ld : (i+1)*ld], from, r.Shift[from+i], r.Sum[from+i]
	})
}

// WriteTriangle writes the result of AddTriangle and UnshiftTriangle to acc, if all rows are in memory. It completes
// one row of acc at a time, while that row is in a cache.
func (r *Reader) WriteTriangle(acc []float64, from, to int) {
	ld := r.D - from
	kernel.Each(r.Workers, to-from, func(i int) {
		row := acc[i*ld : (i+1)*ld]
		clear(row)
		r.Sparse.addColumnFrom(row, from+i, from)
		r.unshiftRow(row, from, r.Shift[from+i], r.Sum[from+i])
	})
}

// AddColumns adds AᵀA₍:,p₎ to row i of acc for each feature p = features[i], A being the standardized rows of block b.
// The cost is 2·n·d flops for each feature and n rows. scratch has len(features)·n numbers, if rows are dense.
func (r *Reader) AddColumns(b *Block, acc []float64, features []int, scratch []float64) {
	if b.Sparse != nil {
		kernel.Each(r.Workers, len(features), func(i int) {
			b.Sparse.addColumn(acc[i*r.D:(i+1)*r.D], features[i])
		})
		return
	}
	n := b.Rows
	for i, p := range features {
		r.Std.Some(scratch[i*n:(i+1)*n], n, b.chunk, p, p+1)
	}
	r.addStripProducts(b, acc, scratch, len(features))
}

// UnshiftColumns removes the shift of sparse rows from the sums of AddColumns.
func (r *Reader) UnshiftColumns(acc []float64, features []int) {
	r.unshiftRows(len(features), func(i int) (row []float64, first int, s, m float64) {
		return acc[i*r.D : (i+1)*r.D], 0, r.Shift[features[i]], r.Sum[features[i]]
	})
}

// AddProducts adds Aᵀ(Avᵢ) to row i of acc for each of the count rows vᵢ of v, A being the standardized rows of block
// b. The cost is 4·n·d flops for each vᵢ and n rows. scratch has room for count·n numbers. If the rows are sparse,
// AddProducts adds Σ w·Avᵢ to sums[i], for UnshiftProducts.
func (r *Reader) AddProducts(b *Block, acc, v []float64, count int, scratch, sums []float64) {
	if b.Sparse != nil {
		kernel.Each(r.Workers, count, func(i int) {
			sums[i] = b.Sparse.addProduct(acc[i*r.D:(i+1)*r.D], v[i*r.D:(i+1)*r.D], r.Shift, sums[i])
		})
		return
	}
	n := b.Rows
	y := scratch[:count*n]
	clear(y)
	r.eachStrip(b, 0, func(at int, x kernel.Matrix[float64]) {
		kernel.Gemm(r.Team, 1, kernel.RowMajor(v, count, r.D, r.D).Sub(0, at, count, x.Rows), x, kernel.RowMajor(y, count, n, n))
	})
	r.addStripProducts(b, acc, y, count)
}

func (r *Reader) addStripProducts(b *Block, acc, y []float64, count int) {
	left, out := kernel.RowMajor(y, count, b.Rows, b.Rows), kernel.RowMajor(acc, count, r.D, r.D)
	r.eachStrip(b, 0, func(at int, x kernel.Matrix[float64]) {
		kernel.Gemm(r.Team, 1, left, x.Trans(), out.Sub(0, at, count, x.Rows))
	})
}

// UnshiftProducts removes the shift of sparse rows from acc. sums has Σ w·Avᵢ, see AddProducts.
func (r *Reader) UnshiftProducts(acc, sums []float64) {
	if r.Weight == 0 {
		return
	}
	kernel.Each(r.Workers, len(sums), func(i int) {
		kernel.Axpy(-sums[i], r.Shift, acc[i*r.D:(i+1)*r.D])
	})
}

// AddGroupProducts adds BᵀA to acc, A being the standardized rows of block b. Column j of B is the sum of the columns
// of A in group j, and row j of acc belongs to that group. groups has the group of each feature, or −1. The cost is
// 2·n·c·d flops for n rows and c = count groups. scratch has room for count·n numbers.
func (r *Reader) AddGroupProducts(b *Block, acc []float64, groups []int, count int, scratch []float64) {
	if b.Sparse != nil {
		b.Sparse.addGroupProducts(r.Workers, acc, groups, count)
		return
	}
	n := b.Rows
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

// UnshiftGroupProducts removes the shift of sparse rows from the sums of AddGroupProducts.
func (r *Reader) UnshiftGroupProducts(acc []float64, groups []int, count int) {
	shift, sum := make([]float64, count), make([]float64, count)
	for i, j := range groups {
		if j < 0 {
			continue
		}
		shift[j] += r.Shift[i]
		sum[j] += r.Sum[i]
	}
	r.unshiftRows(count, func(j int) (row []float64, first int, s, m float64) {
		return acc[j*r.D : (j+1)*r.D], 0, shift[j], sum[j]
	})
}

// unshiftRows removes the shift from count rows of an accumulator. accRow returns row i, the feature `first` of the
// row's first entry, and the shift s and the sum m = Σwx′ of the feature or group that the row belongs to.
func (r *Reader) unshiftRows(count int, accRow func(i int) (row []float64, first int, s, m float64)) {
	if r.Weight == 0 {
		return
	}
	kernel.Each(r.Workers, count, func(i int) {
		row, first, s, m := accRow(i)
		r.unshiftRow(row, first, s, m)
	})
}

func (r *Reader) unshiftRow(row []float64, first int, s, m float64) {
	sum, shift, t := r.Sum[first:][:len(row)], r.Shift[first:][:len(row)], m-r.Weight*s
	for j := range row {
		row[j] -= s*sum[j] + shift[j]*t
	}
}

// AddBlockGrams adds the contribution of a block of n rows to the entries of G_gg below its diagonal, for each block g
// of features in the list. It costs n·Σs² flops, s being the number of features in a block.
func (r *Reader) AddBlockGrams(b *Block, list []method.Block, to [][]float64) {
	kernel.Each(r.Workers, len(list), func(i int) {
		members := list[i].Members
		n := len(members)
		if b.Sparse != nil {
			for a, p := range members {
				for o, q := range members[:a] {
					to[i][a*n+o] += b.Sparse.columnProduct(p, q)
				}
			}
			return
		}
		x := make([]float64, n*b.Rows)
		for a, p := range members {
			r.Std.Some(x[a*b.Rows:(a+1)*b.Rows], b.Rows, b.chunk, p, p+1)
			for o := range members[:a] {
				to[i][a*n+o] += kernel.Dot(x[a*b.Rows:(a+1)*b.Rows], x[o*b.Rows:(o+1)*b.Rows])
			}
		}
	})
}

// UnshiftBlockGrams removes the shift of sparse rows from the sums of AddBlockGrams.
func (r *Reader) UnshiftBlockGrams(list []method.Block, to [][]float64) {
	if r.Weight == 0 {
		return
	}
	for i, block := range list {
		for a, p := range block.Members {
			for o, q := range block.Members[:a] {
				to[i][a*len(block.Members)+o] += r.Shift[p]*r.Shift[q]*r.Weight - r.Shift[p]*r.Sum[q] - r.Shift[q]*r.Sum[p]
			}
		}
	}
}

// AddSquares adds the diagonal of AᵀA to g, A being the standardized rows of block b.
func (r *Reader) AddSquares(b *Block, g []float64) {
	if b.Sparse == nil {
		r.eachStrip(b, 0, func(at int, x kernel.Matrix[float64]) {
			kernel.Each(r.Workers, x.Rows, func(j int) {
				col := x.Data[j*b.Rows : (j+1)*b.Rows]
				g[at+j] += kernel.Dot(col, col)
			})
		})
		return
	}
	kernel.Each(r.Workers, r.D, func(j int) {
		for k := b.Sparse.colPtr[j]; k < b.Sparse.colPtr[j+1]; k++ {
			x := b.Sparse.value[b.Sparse.entryAt[k]]
			g[j] += b.Sparse.weight[b.Sparse.entryRow[k]] * x * x
		}
	})
}

// UnshiftSquares removes the shift of sparse rows from the sums of AddSquares.
func (r *Reader) UnshiftSquares(g []float64) {
	if r.Weight == 0 {
		return
	}
	for j, s := range r.Shift {
		g[j] += s*s*r.Weight - 2*s*r.Sum[j]
	}
}
