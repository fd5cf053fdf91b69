package gram

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// stripRows is the number of rows of a strip, which are added together. Each strip is packed for one product and has
// its own sums, so that rounding errors grow with stripRows plus the number of strips. With 256 rows, a product does 32
// flops for each byte of G that it moves, and packed rows of 1,000 columns fit a 2 MiB cache. The heights of blocks are
// multiples of stripRows, unless blocks are smaller.
const stripRows = 256

// strip is a range of consecutive rows of a dense chunk, with values that all columns share.
type strip struct {
	chunk      *stream.Chunk
	from, rows int
	root       []float64 // √w of each row
	weight     float64   // Σw
}

// nextStrip returns a strip of at most stripRows rows of c, the first with index `from`, and adds the weight of these
// rows to p. root is memory for stripRows numbers.
func (p *Profile) nextStrip(c *stream.Chunk, from int, root []float64) strip {
	s := strip{chunk: c, from: from, rows: min(stripRows, c.Rows-from)}
	for i := range s.rows {
		w := rowWeight(c, from+i)
		s.weight += w
		root = append(root, math.Sqrt(w))
	}
	s.root = root
	p.Weight += s.weight
	return s
}

func (s *strip) columnValues(j int) []float64 { return s.chunk.Col(j)[s.from : s.from+s.rows] }

// nextColumn returns the column that is likely to be read after j, for prefetching.
func (s *strip) nextColumn(j int) []float64 { return s.columnValues(min(j+1, s.chunk.Cols-1)) }

// addColumn adds the strip's entries of column j, and writes √w·x̃ to dst, x̃ being x minus the pilot, or 0 if x is
// missing. Several goroutines may add different columns.
//
// The sums are computed as products of the written numbers: Σw x̃ = Σ √w·(√w x̃). So they cost almost nothing more, and
// add up the same numbers as the Gram matrix.
func (p *Profile) addColumn(s *strip, j int, dst []float64) {
	c, col := &p.Columns[j], s.columnValues(j)
	first, n, weight := 0, s.rows, s.weight
	missing := mayHaveMissing(s.chunk, j)
	if missing {
		first, n, weight = s.countObserved(col)
		if n == 0 {
			c.Rising = false
			clear(dst)
			return
		}
	}
	if c.Observed == 0 {
		c.Pilot, c.Min, c.Max = col[first], col[first], col[first]
	}
	lo, hi := kernel.ShiftColumn(dst, col, c.Pilot, c.Min, c.Max, s.nextColumn(j))
	if missing {
		for i, x := range col {
			if math.IsNaN(x) {
				dst[i] = 0
			}
		}
	}
	if s.chunk.Weight != nil {
		for i, w := range s.root {
			dst[i] *= w
		}
	}
	c.Rising = c.Rising && isRising(col, c.Max, c.Observed > 0)
	c.addObservedSums(int64(n), weight, kernel.Dot(dst, s.root), kernel.Dot(dst, dst), lo, hi)
}

// writeMissing writes √w·m for column j, m being 1 for a missing entry and 0 otherwise.
func (s *strip) writeMissing(dst []float64, j int) {
	for i, x := range s.columnValues(j) {
		dst[i] = 0
		if math.IsNaN(x) {
			dst[i] = s.root[i]
		}
	}
}

func mayHaveMissing(c *stream.Chunk, column int) bool {
	return c.Missing != nil && c.Missing[column].Total() > 0
}

// countObserved returns the index of the first observed entry of col, and the number and the weight of all observed
// entries.
func (s *strip) countObserved(col []float64) (first, n int, weight float64) {
	for i, x := range col {
		if math.IsNaN(x) {
			continue
		}
		if n == 0 {
			first = i
		}
		n++
		weight += rowWeight(s.chunk, s.from+i)
	}
	return first, n, weight
}

// isRising reports whether col contains integers that rise strictly and, if hasLast is set, begin above last.
func isRising(col []float64, last float64, hasLast bool) bool {
	for _, x := range col {
		if !(x == math.Floor(x)) || hasLast && !(x > last) {
			return false
		}
		last, hasLast = x, true
	}
	return true
}

// addSparseRows adds sparse rows with pilot 0, so that absent entries add nothing. It sums the entries of a column in
// the order of the rows, and then adds the sums to the column's profile.
func (p *Profile) addSparseRows(c *stream.Chunk) {
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
		p.Columns[j].addObservedSums(int64(observed), weight-b.missingWeight, b.sum, b.squares, b.min, b.max)
		if b.entries > 0 || b.missing > 0 {
			p.Present[j] += int64(b.entries + b.missing)
			*b = sparseSums{}
		}
	}
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

func rowWeight(c *stream.Chunk, row int) float64 {
	if c.Weight == nil {
		return 1
	}
	return c.Weight[row]
}

// sparseSums contains the sums of the entries of one column over a block of sparse rows.
type sparseSums struct {
	sum, squares, min, max float64
	missingWeight          float64 // Σw of the missing entries
	entries, missing       int32   // numbers of observed and of missing entries
}
