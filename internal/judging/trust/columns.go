package trust

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/judging/survey"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
)

// blockColumns is the number of columns in a parallel task. In a row they need 4 KiB, a page of memory.
const blockColumns = 512

func (p *points) eachColumnBlock(visit func(from, to int)) {
	kernel.Each(p.team.Threads(), (p.d+blockColumns-1)/blockColumns, func(b int) { visit(b*blockColumns, min((b+1)*blockColumns, p.d)) })
}

// centredProducts computes columns of XᵀX for the centred points X, a few at a time. It never stores the whole matrix.
type centredProducts struct {
	*points
	mean, squares          []float64              // d
	computed               []int                  // indices of the columns of XᵀX in products
	pointColumns, products kernel.Matrix[float64] // pointColumns has the computed columns of X, of length m, and products the same columns of XᵀX, of length d
}

// aheadColumns is the number of columns of XᵀX that are computed in one pass over the points: the requested column, and
// others, some of which are often requested later. For 500 points in 50,000 dimensions these passes need most of the
// time of a run.
const aheadColumns = 8

func (p *points) newCentredProducts() *centredProducts {
	c := &centredProducts{points: p}
	c.layOut(nil, p.m, p.d)
	c.mean, c.squares = survey.CentredSquares(p.team, p.x, p.m, p.d)
	return c
}

func (c *centredProducts) layOut(l *room.Layout, m, d int) {
	c.pointColumns, c.products = kernel.NewMatrix[float64](l, aheadColumns, m), kernel.NewMatrix[float64](l, aheadColumns, d)
	l.Add(16 * int64(d)) // mean and squares, by [survey.CentredSquares]
}

// productColumn returns column j of XᵀX, valid until the next call. Only column j of the points is centred before. As
// its entries then sum to 0, the means of the other columns have no effect on the products.
func (c *centredProducts) productColumn(j int) []float64 {
	c.computeAhead(j, nil)
	return c.products.Data[slices.Index(c.computed, j)*c.d:][:c.d]
}

// computeAhead computes column j of XᵀX, and with it some of the columns that are likely to be requested next. If
// column j is already computed, it does nothing.
func (c *centredProducts) computeAhead(j int, likely []int) {
	if slices.Contains(c.computed, j) {
		return
	}
	c.computed = append(append(c.computed[:0], j), likely[:min(len(likely), aheadColumns-1)]...)
	for k, j := range c.computed {
		for i := range c.m {
			c.pointColumns.Data[k*c.m+i] = c.x[i*c.d+j] - c.mean[j]
		}
	}
	clear(c.products.Data)
	n := len(c.computed)
	kernel.Gemm(c.team, 1, c.pointColumns.Sub(0, 0, n, c.m), kernel.RowMajor(c.x, c.m, c.d, c.d), c.products.Sub(0, 0, n, c.d))
}

func (p *points) permutedCopy() *points {
	q := *p
	q.x = room.MakeSlice[float64](len(p.x))
	seeds := p.columnSeeds()
	p.eachColumnBlock(func(from, to int) {
		rows := make([]int, p.m)
		for j := from; j < to; j++ {
			writePermutation(rows, seeds[j])
			for i, r := range rows {
				q.x[i*p.d+j] = p.x[r*p.d+j]
			}
		}
	})
	return &q
}

// permuteInPlace permutes the values of every column of the points, and returns a function that undoes this.
func (p *points) permuteInPlace() (undo func()) {
	seeds := p.columnSeeds()
	p.eachColumnBlock(func(from, to int) {
		rows, column := make([]int, p.m), make([]float64, p.m)
		for j := from; j < to; j++ {
			writePermutation(rows, seeds[j])
			for i := range column {
				column[i] = p.x[i*p.d+j]
			}
			for i, r := range rows {
				p.x[i*p.d+j] = column[r]
			}
		}
	})
	return func() {
		p.eachColumnBlock(func(from, to int) {
			rows, column := make([]int, p.m), make([]float64, p.m)
			for j := from; j < to; j++ {
				writePermutation(rows, seeds[j])
				for i, r := range rows {
					column[r] = p.x[i*p.d+j]
				}
				for i, v := range column {
					p.x[i*p.d+j] = v
				}
			}
		})
	}
}

// columnSeeds returns a seed for each column. It is a hash of the column's values, so that the order of the columns has
// no effect. Equal columns get different seeds, by including a count, because they must be permuted differently.
func (p *points) columnSeeds() []uint64 {
	seeds := make([]uint64, p.d)
	p.eachColumnBlock(func(from, to int) {
		for i := range p.m {
			for j, v := range p.x[i*p.d+from:][:to-from] {
				seeds[from+j] = splitmix.Mix(seeds[from+j] ^ math.Float64bits(v))
			}
		}
	})
	times := make(map[uint64]uint64, p.d)
	for j, s := range seeds {
		seeds[j] = splitmix.Hash(s, times[s])
		times[s]++
	}
	return seeds
}

func writePermutation(rows []int, seed uint64) {
	for i := range rows { // Fisher and Yates
		j := int(splitmix.Hash(seed, uint64(i)) % uint64(i+1)) // a bias of i/2⁶⁴
		rows[i] = rows[j]
		rows[j] = i
	}
}
