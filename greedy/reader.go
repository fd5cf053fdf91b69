package greedy

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// reader supplies the n×d matrix A from which features are chosen, block by block: the rows of a source, standardized
// and multiplied by the root of their weight w. A itself is never stored.
type reader struct {
	rows.Source
	std     gram.Standardizer
	d       int
	unit    float64 // A is √unit times the standardized rows; unit is a power of 4
	workers int
	team    *kernel.Team

	featureOf []int32   // source column → feature + 1; 0 if left out
	shift     []float64 // shift of sparse rows: a row of A is √w·(x′ − shift) with x′ = factor·x
	// The next three fields are for sums over the sparse rows, of x′ before the shift is subtracted. They are the same
	// in every pass, so only the first pass computes them.
	hasSparseSums bool
	sum           []float64 // Σ w x′
	weight        float64   // Σ w

	strip      int       // features of a dense block that are standardized at a time; d for all
	dense      []float64 // all features of a block, or two strips
	sparse     sparseBlock
	blockLimit int  // largest number of entries plus rows of a sparse block; 0 means no limit
	inMemory   bool // sparse holds all rows, and passes read nothing

	checkpoint stream.Checkpoint // checkpoint of the passes; may be nil
}

// rowBlock is a block of rows of A. It is valid until the next block is read.
type rowBlock struct {
	rows   int
	chunk  *stream.Chunk
	dense  []float64    // d×rows: feature j is dense[j*rows : (j+1)*rows]; nil for sparse rows, and with strips
	sparse *sparseBlock // nil for dense rows
}

// denseFeatures returns the features [from, to) of a dense block, one feature in each row. If a block is standardized
// in strips, at most r.strip features may be asked for, and they are written to one of two buffers; the parameter
// place, 0 or 1, is the number of the buffer. The result is then valid until the next call with the same place.
func (r *reader) denseFeatures(b *rowBlock, from, to, place int) kernel.Matrix[float64] {
	if b.dense != nil {
		return kernel.RowMajor(b.dense[from*b.rows:], to-from, b.rows, b.rows)
	}
	return r.standardizeTo(r.dense[place*r.strip*b.rows:], b.chunk, from, to)
}

// featuresPerTask is the number of features that a worker standardizes at a time.
const featuresPerTask = 64

func (r *reader) standardizeTo(dst []float64, c *stream.Chunk, from, to int) kernel.Matrix[float64] {
	kernel.Each(r.workers, taskCount(to-from, featuresPerTask), func(task int) {
		lo, hi := taskRange(task, featuresPerTask, to-from)
		r.std.Some(dst[lo*c.Rows:], c.Rows, c, from+lo, from+hi)
	})
	return kernel.RowMajor(dst, to-from, c.Rows, c.Rows)
}

// eachStrip calls visit for the features of a dense block from feature `from` on, one strip at a time. A strip has at
// most r.strip features, and its first is the argument at.
func (r *reader) eachStrip(b *rowBlock, from int, visit func(at int, x kernel.Matrix[float64])) {
	for at := from; at < r.d; at += r.strip {
		visit(at, r.denseFeatures(b, at, min(at+r.strip, r.d), 1))
	}
}

func (b *rowBlock) rowPosition(i int) int64 {
	if b.sparse != nil {
		return b.sparse.position[i]
	}
	return b.chunk.Position(i)
}

// newReader multiplies the factors of std by a power of 2, which is exact, so that the largest Σw a² of a feature is
// near 1.
func newReader(src stream.Source, std *gram.Standardizer, opt *StreamOptions) *reader {
	d := len(std.Columns)
	r := &reader{Source: rows.Source{Source: src, Meter: opt.Meter, OnPass: opt.Pass}, std: *std, d: d,
		workers: opt.Threads, team: kernel.NewTeam(opt.Threads), checkpoint: opt.Checkpoint}
	norms := make([]float64, d)
	for k := range norms {
		mean := (std.Mean[k] - std.Shift[k]) * std.Factor[k]
		sd := std.Std[k] * std.Factor[k]
		norms[k] = math.Hypot(mean, sd) * math.Sqrt(std.Weight)
	}
	_, e := math.Frexp(slices.Max(norms))
	root := math.Ldexp(1, max(min(-e, 500), -500))
	r.unit = root * root
	r.std.Factor = make([]float64, d)
	r.shift = make([]float64, d)
	for k, f := range std.Factor {
		r.std.Factor[k] = f * root
		r.shift[k] = std.Shift[k] * r.std.Factor[k]
	}
	r.featureOf = make([]int32, len(src.Columns()))
	for k, j := range std.Columns {
		r.featureOf[j] = int32(k + 1)
	}
	r.strip = d
	r.sum = make([]float64, d)
	r.blockLimit = sparseBlockSize(d)
	r.sparse.d = d
	return r
}

func (r *reader) keepInMemory(entries int64) {
	r.blockLimit = 0
	r.sparse.reserveRows(entries, r.std.Rows)
}

func (r *reader) denseBlock(c *stream.Chunk) *rowBlock {
	if r.strip < r.d {
		r.dense = rows.Resize(r.dense, 2*r.strip*c.Rows)
		return &rowBlock{rows: c.Rows, chunk: c}
	}
	r.dense = rows.Resize(r.dense, r.d*c.Rows)
	r.standardizeTo(r.dense, c, 0, r.d)
	return &rowBlock{rows: c.Rows, chunk: c, dense: r.dense}
}

func (r *reader) addRow(c *stream.Chunk, i int) {
	s, w := &r.sparse, 1.0
	if c.Weight != nil {
		w = c.Weight[i]
	}
	if !r.hasSparseSums {
		r.weight += w
	}
	for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
		k := int(r.featureOf[c.Sparse.Index[e]]) - 1
		if k < 0 {
			continue
		}
		x := c.Sparse.Value[e]
		if x != x {
			x = r.std.Fill[k]
		}
		x *= r.std.Factor[k]
		s.addEntry(k, x)
		if !r.hasSparseSums {
			r.sum[k] += w * x
		}
	}
	s.endRow(w, c.Position(i))
}
