package greedy

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// reader delivers the n×d matrix A of the selection, block by block: the rows of a
// source, standardized and multiplied by √w. A itself is never stored.
type reader struct {
	rows.Source
	std     gram.Standardizer
	d       int
	unit    float64 // A is √unit times the standardized rows, unit a power of 4
	workers int
	team    *kernel.Team

	kept  []int32   // source column → feature + 1; 0: left out
	shift []float64 // of sparse rows: a = x′ − shift, x′ = factor·x
	// Sums over the sparse rows, which are accumulated as x′ and shifted afterwards.
	// They are the same in every pass and counted in the first.
	counted bool
	sum     []float64 // Σ w x′
	weight  float64   // Σ w

	strip  int       // features of a dense block that are standardized at a time; d is all
	dense  []float64 // all of them, or two strips
	sparse sparseBlock
	blocks int  // entries and rows of a sparse block at most; 0: all that there are
	whole  bool // sparse holds all rows: passes read nothing any more

	checkpoint stream.Checkpoint // of the passes; nil for none
}

// block is one block of A, lent until the next.
type block struct {
	rows   int
	chunk  *stream.Chunk
	dense  []float64    // d×rows: feature j is dense[j*rows : (j+1)*rows]; nil for sparse rows, and in strips
	sparse *sparseBlock // nil for dense rows
}

// features are the features [from, to) of a dense block, each a row. In strips they are no more than strip, and stay
// until others are asked for in the same place, 0 or 1.
func (r *reader) features(b *block, from, to, place int) kernel.Matrix[float64] {
	if b.dense != nil {
		return kernel.RowMajor(b.dense[from*b.rows:], to-from, b.rows, b.rows)
	}
	return r.standardize(r.dense[place*r.strip*b.rows:], b.chunk, from, to)
}

// featuresPerTask is the number of features that a worker standardizes at a time.
const featuresPerTask = 64

// standardize writes the features [from, to) of a dense chunk to dst.
func (r *reader) standardize(dst []float64, c *stream.Chunk, from, to int) kernel.Matrix[float64] {
	kernel.Each(r.workers, tasks(to-from, featuresPerTask), func(task int) {
		lo, hi := span(task, featuresPerTask, to-from)
		r.std.Some(dst[lo*c.Rows:], c.Rows, c, from+lo, from+hi)
	})
	return kernel.RowMajor(dst, to-from, c.Rows, c.Rows)
}

// strips calls do for the features of a dense block, a strip at a time, from one on.
func (r *reader) strips(b *block, from int, do func(at int, x kernel.Matrix[float64])) {
	for at := from; at < r.d; at += r.strip {
		do(at, r.features(b, at, min(at+r.strip, r.d), 1))
	}
}

// position is the global position of row i.
func (b *block) position(i int) int64 {
	if b.sparse != nil {
		return b.sparse.position[i]
	}
	return b.chunk.Position(i)
}

// newReader scales std so that Σw a² of the largest feature is near 1: with powers of
// 2, and so exactly.
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
	r.kept = make([]int32, len(src.Columns()))
	for k, j := range std.Columns {
		r.kept[j] = int32(k + 1)
	}
	r.strip = d
	r.sum = make([]float64, d)
	r.blocks = sparseBlockSize(d)
	r.sparse.d = d
	return r
}

// hold makes the first pass over sparse rows of so many entries the last: they stay in memory.
func (r *reader) hold(entries int64) {
	r.blocks = 0
	r.sparse.reserve(entries, r.std.Rows)
}

// block standardizes a dense chunk, or leaves that to features.
func (r *reader) block(c *stream.Chunk) *block {
	if r.strip < r.d {
		r.dense = rows.Room(r.dense, 2*r.strip*c.Rows)
		return &block{rows: c.Rows, chunk: c}
	}
	r.dense = rows.Room(r.dense, r.d*c.Rows)
	r.standardize(r.dense, c, 0, r.d)
	return &block{rows: c.Rows, chunk: c, dense: r.dense}
}

// addRow adds the kept entries of a sparse row, times factor, to the block at work.
func (r *reader) addRow(c *stream.Chunk, i int) {
	s, w := &r.sparse, 1.0
	if c.Weight != nil {
		w = c.Weight[i]
	}
	if !r.counted {
		r.weight += w
	}
	for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
		k := int(r.kept[c.Sparse.Index[e]]) - 1
		if k < 0 {
			continue
		}
		x := c.Sparse.Value[e]
		if x != x {
			x = r.std.Fill[k]
		}
		x *= r.std.Factor[k]
		s.add(k, x)
		if !r.counted {
			r.sum[k] += w * x
		}
	}
	s.end(w, c.Position(i))
}
