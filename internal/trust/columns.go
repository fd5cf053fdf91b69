package trust

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/room"
	"github.com/ufs-stream/ufs-stream/internal/splitmix"
	"github.com/ufs-stream/ufs-stream/internal/survey"
)

// block is the number of columns that have one owner: a row of them is a page.
const block = 512

// blocks calls do for every block of columns [from, to).
func (p *points) blocks(do func(from, to int)) {
	kernel.Each(p.team.Threads(), (p.d+block-1)/block, func(b int) { do(b*block, min((b+1)*block, p.d)) })
}

// centred is XᵀX of the centred points, a few columns at a time: it is never all there.
type centred struct {
	*points
	mean, squares []float64              // d
	there         []int                  // columns of XᵀX that are there
	own, with     kernel.Matrix[float64] // of each, m: the points' column; d: that of XᵀX
}

// aheadColumns are made at a time, as the next that are asked for are often among them and the points pass by
// once for all: of 500 points in 50,000 dimensions that is most of the time.
const aheadColumns = 8

func (p *points) centred() *centred {
	c := &centred{
		points: p,
		own:    kernel.RowMajor(make([]float64, aheadColumns*p.m), aheadColumns, p.m, p.m),
		with:   kernel.RowMajor(make([]float64, aheadColumns*p.d), aheadColumns, p.d, p.d),
	}
	c.mean, c.squares = survey.CentredSquares(p.team, p.x, p.m, p.d)
	return c
}

// column is column j of XᵀX, until the next call. What is left of the mean in the other columns
// meets a column that sums to 0.
func (c *centred) column(j int) []float64 {
	c.ahead(j, nil)
	return c.with.Data[slices.Index(c.there, j)*c.d:][:c.d]
}

// ahead makes column j, if it is not there, and some of those that are likely to be asked for after it.
func (c *centred) ahead(j int, likely []int) {
	if slices.Contains(c.there, j) {
		return
	}
	c.there = append(append(c.there[:0], j), likely[:min(len(likely), aheadColumns-1)]...)
	for k, j := range c.there {
		for i := range c.m {
			c.own.Data[k*c.m+i] = c.x[i*c.d+j] - c.mean[j]
		}
	}
	clear(c.with.Data)
	n := len(c.there)
	kernel.Gemm(c.team, 1, c.own.Sub(0, 0, n, c.m), kernel.RowMajor(c.x, c.m, c.d, c.d), c.with.Sub(0, 0, n, c.d))
}

// permuted is a copy of the points whose columns are permuted each by itself.
func (p *points) permuted() *points {
	q := *p
	q.x = room.Make[float64](len(p.x))
	seeds := p.seeds()
	p.blocks(func(from, to int) {
		rows := make([]int, p.m)
		for j := from; j < to; j++ {
			shuffle(rows, seeds[j])
			for i, r := range rows {
				q.x[i*p.d+j] = p.x[r*p.d+j]
			}
		}
	})
	return &q
}

// permute permutes the columns of the points themselves, and returns what puts them back.
func (p *points) permute() (undo func()) {
	seeds := p.seeds()
	p.blocks(func(from, to int) {
		rows, column := make([]int, p.m), make([]float64, p.m)
		for j := from; j < to; j++ {
			shuffle(rows, seeds[j])
			for i := range column {
				column[i] = p.x[i*p.d+j]
			}
			for i, r := range rows {
				p.x[i*p.d+j] = column[r]
			}
		}
	})
	return func() {
		p.blocks(func(from, to int) {
			rows, column := make([]int, p.m), make([]float64, p.m)
			for j := from; j < to; j++ {
				shuffle(rows, seeds[j])
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

// seeds has one seed a column, a hash of its values, so that the columns' order changes nothing.
// Equal columns are told apart by a count: their permutations must differ.
func (p *points) seeds() []uint64 {
	seeds := make([]uint64, p.d)
	p.blocks(func(from, to int) {
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

// shuffle writes a permutation of 0 … n−1 (Fisher and Yates).
func shuffle(rows []int, seed uint64) {
	for i := range rows {
		j := int(splitmix.Hash(seed, uint64(i)) % uint64(i+1)) // a bias of i/2⁶⁴
		rows[i] = rows[j]
		rows[j] = i
	}
}
