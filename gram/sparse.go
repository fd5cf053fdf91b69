package gram

import (
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// addSparse adds sparse rows about the pilot 0, for which absent entries cost nothing.
func (p *Profile) addSparse(c *stream.Chunk) {
	if c.Rows == 0 {
		return
	}
	block := make([]ColumnProfile, c.Cols)
	var weight float64
	for i := range c.Rows {
		w := rowWeight(c, i)
		weight += w
		for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
			x := c.Sparse.Value[e]
			block[c.Sparse.Index[e]].observe(1, w, w*x, w*x*x, x, x)
		}
	}
	p.Weight += weight
	for j := range block {
		b := &block[j]
		if b.Observed < int64(c.Rows) { // some entry is an absent 0
			b.observe(1, 0, 0, 0, 0, 0)
		}
		p.Columns[j].Rising = false
		p.Columns[j].observe(int64(c.Rows), weight, b.Sum, b.Squares, b.Min, b.Max)
	}
}

func rowWeight(c *stream.Chunk, i int) float64 {
	if c.Weight == nil {
		return 1
	}
	return c.Weight[i]
}

// addOuter adds w·x·xᵀ for every sparse row. Tasks are blocks of rows of G; within
// one, rows of the chunk come in order, so every sum has one order. It returns how long
// the workers were busy together.
func (m *Moments) addOuter(c *stream.Chunk) time.Duration {
	const block = 32
	d := len(m.Columns)
	return kernel.Each(m.opt.Threads, (d+block-1)/block, func(t int) {
		first, end := int32(t*block), int32(min(d, (t+1)*block))
		for i := range c.Rows {
			index := c.Sparse.Index[c.Sparse.RowPtr[i]:c.Sparse.RowPtr[i+1]]
			value := c.Sparse.Value[c.Sparse.RowPtr[i]:c.Sparse.RowPtr[i+1]]
			w := rowWeight(c, i)
			e, _ := slices.BinarySearch(index, first)
			for ; e < len(index) && index[e] < end; e++ {
				g, x := m.g[int(index[e])*d:][:d], w*value[e]
				for f := e; f < len(index); f++ {
					g[index[f]] += x * value[f]
				}
			}
		}
	})
}
