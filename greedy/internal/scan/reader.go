package scan

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/tasks"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Reader supplies the n×d matrix A from which features are chosen, block by block: the rows of a source, standardized
// and multiplied by the root of their weight w. A itself is never stored.
type Reader struct {
	Source  rows.Source
	Std     gram.Standardizer
	D       int
	Unit    float64 // A is √unit times the standardized rows; unit is a power of 4
	Workers int
	Team    *kernel.Team

	featureOf []int32   // source column → feature + 1; 0 if left out
	Shift     []float64 // shift of sparse rows: a row of A is √w·(x′ − shift) with x′ = factor·x
	// The next three fields are for sums over the sparse rows, of x′ before the shift is subtracted. They are the same
	// in every pass, so only the first pass computes them.
	hasSparseSums bool
	Sum           []float64 // Σ w x′
	Weight        float64   // Σ w

	Strip      int       // features of a dense block that are standardized at a time; d for all
	dense      []float64 // all features of a block, or two strips
	Sparse     sparseBlock
	BlockLimit int  // largest number of entries plus rows of a sparse block; 0 means no limit
	InMemory   bool // sparse holds all rows, and passes read nothing

	checkpoint stream.Checkpoint // checkpoint of the passes; may be nil
	blocks     int               // number of the source's blocks that the pass has read
}

// Block is a block of rows of A. It is valid until the next block is read.
type Block struct {
	Rows   int
	chunk  *stream.Chunk
	dense  []float64    // d×rows: feature j is dense[j*rows : (j+1)*rows]; nil for sparse rows, and with strips
	Sparse *sparseBlock // nil for dense rows
}

// denseFeatures returns the features [from, to) of a dense block, one feature in each row. If a block is standardized
// in strips, at most r.strip features may be asked for, and they are written to one of two buffers; the parameter
// place, 0 or 1, is the number of the buffer. The result is then valid until the next call with the same place.
func (r *Reader) denseFeatures(b *Block, from, to, place int) kernel.Matrix[float64] {
	if b.dense != nil {
		return kernel.RowMajor(b.dense[from*b.Rows:], to-from, b.Rows, b.Rows)
	}
	return r.standardizeTo(r.dense[place*r.Strip*b.Rows:], b.chunk, from, to)
}

// featuresPerTask is the number of features that a worker standardizes at a time.
const featuresPerTask = 64

func (r *Reader) standardizeTo(dst []float64, c *stream.Chunk, from, to int) kernel.Matrix[float64] {
	kernel.Each(r.Workers, tasks.TaskCount(to-from, featuresPerTask), func(task int) {
		lo, hi := tasks.TaskRange(task, featuresPerTask, to-from)
		r.Std.Some(dst[lo*c.Rows:], c.Rows, c, from+lo, from+hi)
	})
	return kernel.RowMajor(dst, to-from, c.Rows, c.Rows)
}

// eachStrip calls visit for the features of a dense block from feature `from` on, one strip at a time. A strip has at
// most r.strip features, and its first is the argument at.
func (r *Reader) eachStrip(b *Block, from int, visit func(at int, x kernel.Matrix[float64])) {
	for at := from; at < r.D; at += r.Strip {
		visit(at, r.denseFeatures(b, at, min(at+r.Strip, r.D), 1))
	}
}

func (b *Block) rowPosition(row int) int64 {
	if b.Sparse != nil {
		return b.Sparse.position[row]
	}
	return b.chunk.Position(row)
}

// NewReader multiplies the factors of std by a power of 2, which is exact, so that the largest Σw a² of a feature is
// near 1.
func NewReader(src stream.Source, std *gram.Standardizer, opt *selection.StreamOptions) *Reader {
	d := len(std.Columns)
	r := &Reader{Source: rows.Source{Source: src, Meter: opt.Meter, OnPass: opt.Pass}, Std: *std, D: d,
		Workers: opt.Threads, Team: kernel.NewTeam(opt.Threads), checkpoint: opt.Checkpoint}
	norms := make([]float64, d)
	for k := range norms {
		mean := (std.Mean[k] - std.Shift[k]) * std.Factor[k]
		sd := std.Std[k] * std.Factor[k]
		norms[k] = math.Hypot(mean, sd) * math.Sqrt(std.Weight)
	}
	_, e := math.Frexp(slices.Max(norms))
	root := math.Ldexp(1, max(min(-e, 500), -500))
	r.Unit = root * root
	r.Std.Factor = make([]float64, d)
	r.Shift = make([]float64, d)
	for k, f := range std.Factor {
		r.Std.Factor[k] = f * root
		r.Shift[k] = std.Shift[k] * r.Std.Factor[k]
	}
	r.featureOf = make([]int32, len(src.Columns()))
	for k, j := range std.Columns {
		r.featureOf[j] = int32(k + 1)
	}
	r.Strip = d
	r.Sum = make([]float64, d)
	r.BlockLimit = sparseBlockSize(d)
	r.Sparse.d = d
	return r
}

// KeepInMemory keeps all sparse rows, with at most the given number of entries, in memory from the first pass on.
func (r *Reader) KeepInMemory(entries int64) {
	r.BlockLimit = 0
	r.Sparse.layOut(nil, int(entries), int(r.Std.Rows), r.D)
}

func (r *Reader) standardizeBlock(c *stream.Chunk) *Block {
	if r.Strip < r.D {
		r.dense = rows.ResizeSlice(r.dense, 2*r.Strip*c.Rows)
		return &Block{Rows: c.Rows, chunk: c}
	}
	r.dense = rows.ResizeSlice(r.dense, r.D*c.Rows)
	r.standardizeTo(r.dense, c, 0, r.D)
	return &Block{Rows: c.Rows, chunk: c, dense: r.dense}
}

func (r *Reader) addSparseRow(c *stream.Chunk, row int) {
	s, w := &r.Sparse, 1.0
	if c.Weight != nil {
		w = c.Weight[row]
	}
	if !r.hasSparseSums {
		r.Weight += w
	}
	for e := c.Sparse.RowPtr[row]; e < c.Sparse.RowPtr[row+1]; e++ {
		k := int(r.featureOf[c.Sparse.Index[e]]) - 1
		if k < 0 {
			continue
		}
		x := c.Sparse.Value[e]
		if x != x {
			x = r.Std.Fill[k]
		}
		x *= r.Std.Factor[k]
		s.addEntry(k, x)
		if !r.hasSparseSums {
			r.Sum[k] += w * x
		}
	}
	s.endRow(w, c.Position(row))
}

// StripFeatures is the number of features of a dense block that are standardized at a time if memory is short. It is a
// multiple of the number of terms that products round together, so that strips do not change bits.
const StripFeatures = 512

// BlockBytes returns the memory of a standardized block in two strips, or of a sparse block with its index by features.
func BlockBytes(d int, sparse bool) int64 {
	if sparse {
		places := int64(sparseBlockSize(d))
		return SparseRowsBytes(places, places, d)
	}
	return 8 * int64(min(d, 2*StripFeatures)) * int64(stream.BlockRows(d))
}
