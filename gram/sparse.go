package gram

import (
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// addSparse adds sparse rows with the pilot 0, so that absent entries add nothing. It sums the entries of a column in
// the order of the rows, and then adds the sums to the column's profile.
func (p *Profile) addSparse(c *stream.Chunk) {
	if c.Rows == 0 {
		return
	}
	if p.block == nil {
		p.block = make([]sparseSums, c.Cols)
	}
	if p.Present == nil {
		p.Present = make([]int64, c.Cols)
	}
	var weight float64
	for i := range c.Rows {
		w := rowWeight(c, i)
		weight += w
		for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
			x, b := c.Sparse.Value[e], &p.block[c.Sparse.Index[e]]
			if x != x {
				b.missing++
				b.missingWeight += w
				continue
			}
			if b.entries == 0 {
				b.min, b.max = x, x
			}
			b.entries++
			b.sum += w * x
			b.squares += w * x * x
			b.min, b.max = min(b.min, x), max(b.max, x)
		}
	}
	p.Weight += weight
	p.Entries += int64(c.Sparse.RowPtr[c.Rows] - c.Sparse.RowPtr[0])
	for j := range p.block {
		b := &p.block[j]
		observed := c.Rows - int(b.missing)
		if int(b.entries) < observed { // some rows have an absent entry, which is 0
			b.min, b.max = min(b.min, 0), max(b.max, 0)
		}
		p.Columns[j].Rising = false
		p.Columns[j].addObserved(int64(observed), weight-b.missingWeight, b.sum, b.squares, b.min, b.max)
		if b.entries > 0 || b.missing > 0 {
			p.Present[j] += int64(b.entries + b.missing)
			*b = sparseSums{}
		}
	}
}

// sparseSums contains the sums of the entries of one column over a block of sparse rows.
type sparseSums struct {
	sum, squares, min, max float64
	missingWeight          float64 // Σw of the missing entries
	entries, missing       int32   // numbers of observed and of missing entries
}

func sparseMissingColumns(c *stream.Chunk) []int {
	if c.Missing == nil {
		return nil
	}
	var holes []int
	for e := c.Sparse.RowPtr[0]; e < c.Sparse.RowPtr[c.Rows]; e++ {
		if x := c.Sparse.Value[e]; x != x {
			holes = append(holes, int(c.Sparse.Index[e]))
		}
	}
	slices.Sort(holes)
	return slices.Compact(holes)
}

// addMissingEntries adds the missing entries of sparse rows to A and N of [Moments]. It returns the observed entries.
func (m *Moments) addMissingEntries(c *stream.Chunk) *stream.CSR {
	d := len(m.Columns)
	seen := &stream.CSR{RowPtr: make([]int, 1, c.Rows+1)}
	var holes []int // slots of the row's missing columns, ascending
	for i := range c.Rows {
		holes = holes[:0]
		first := len(seen.Index)
		for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
			j, x := c.Sparse.Index[e], c.Sparse.Value[e]
			if x != x {
				holes = append(holes, m.slot[j])
				continue
			}
			seen.Index, seen.Value = append(seen.Index, j), append(seen.Value, x)
		}
		seen.RowPtr = append(seen.RowPtr, len(seen.Index))
		w := rowWeight(c, i)
		for a, k := range holes {
			for e := first; e < len(seen.Index); e++ {
				m.cross[k*d+int(seen.Index[e])] += float64(w * seen.Value[e])
			}
			for _, l := range holes[a:] {
				m.bothMissing[k*len(m.missing)+l] += w
			}
		}
	}
	return seen
}

func rowWeight(c *stream.Chunk, i int) float64 {
	if c.Weight == nil {
		return 1
	}
	return c.Weight[i]
}

// addOuterProducts adds w·x·xᵀ for every row of c, given the rows' observed entries. A worker computes some rows of G,
// and adds the rows of the chunk in order, so every sum has a fixed order. The result is the workers' total busy time.
func (m *Moments) addOuterProducts(c *stream.Chunk, rows *stream.CSR) time.Duration {
	const block = 32
	d := len(m.Columns)
	return kernel.Each(m.opt.Threads, (d+block-1)/block, func(t int) {
		first, end := int32(t*block), int32(min(d, (t+1)*block))
		for i := range c.Rows {
			index := rows.Index[rows.RowPtr[i]:rows.RowPtr[i+1]]
			value := rows.Value[rows.RowPtr[i]:rows.RowPtr[i+1]]
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
