package gram

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// stripRows is the number of rows that are added together. Each strip is packed for one product and has its own sums,
// so that rounding errors grow with stripRows plus the number of strips. With 256 rows, a product does 32 flops for
// each byte of G that it moves, and packed rows of 1,000 columns fit a 2 MiB cache. The heights of blocks are multiples
// of stripRows, unless blocks are smaller.
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
	c.addObserved(int64(n), weight, kernel.Dot(dst, s.root), kernel.Dot(dst, dst), lo, hi)
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

func mayHaveMissing(c *stream.Chunk, j int) bool { return c.Missing != nil && c.Missing[j].Total() > 0 }

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
