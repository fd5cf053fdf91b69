package greedy

import (
	"context"
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

	dense  []float64
	sparse sparseBlock
}

// block is one block of A, lent until the next.
type block struct {
	rows   int
	chunk  *stream.Chunk
	dense  []float64    // d×rows: feature j is dense[j*rows : (j+1)*rows]; nil for sparse rows
	sparse *sparseBlock // nil for dense rows
}

// features views the features [from, to) of a dense block, each a row.
func (b *block) features(from, to int) kernel.Matrix[float64] {
	return kernel.RowMajor(b.dense[from*b.rows:], to-from, b.rows, b.rows)
}

// sparseBlock holds x′ of the entries present, by rows and by features.
type sparseBlock struct {
	rowPtr  []int
	feature []int32
	value   []float64
	colPtr  []int
	row     []int32
	colVal  []float64
	weight  []float64 // w of each row
}

// newReader scales std so that Σw a² of the largest feature is near 1: with powers of
// 2, and so exactly.
func newReader(src stream.Source, std *gram.Standardizer, opt *StreamOptions) *reader {
	d := len(std.Columns)
	r := &reader{Source: rows.Source{Source: src, Meter: opt.Meter, OnPass: opt.Pass}, std: *std, d: d,
		workers: opt.Threads, team: kernel.NewTeam(opt.Threads)}
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
	r.sum = make([]float64, d)
	return r
}

// pass goes through all blocks once.
func (r *reader) pass(ctx context.Context, what string, do func(*block)) error {
	err := r.Pass(ctx, what, func(_ int, c *stream.Chunk) error {
		do(r.block(c))
		return nil
	})
	r.counted = true
	return err
}

// block standardizes a chunk.
func (r *reader) block(c *stream.Chunk) *block {
	b := &block{rows: c.Rows, chunk: c}
	if c.Sparse != nil {
		b.sparse = r.sparsed(c)
		return b
	}
	r.dense = rows.Room(r.dense, r.d*c.Rows)
	b.dense = r.dense
	r.std.To(b.dense, c.Rows, c)
	return b
}

// sparsed takes the kept entries of sparse rows, times factor, by rows and by
// features.
func (r *reader) sparsed(c *stream.Chunk) *sparseBlock {
	s := &r.sparse
	s.rowPtr, s.feature, s.value = append(s.rowPtr[:0], 0), s.feature[:0], s.value[:0]
	s.colPtr = append(s.colPtr[:0], make([]int, r.d+1)...)
	s.weight = s.weight[:0]
	for i := range c.Rows {
		w := 1.0
		if c.Weight != nil {
			w = c.Weight[i]
		}
		s.weight = append(s.weight, w)
		if !r.counted {
			r.weight += w
		}
		for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
			k := int(r.kept[c.Sparse.Index[e]]) - 1
			if k < 0 {
				continue
			}
			x := c.Sparse.Value[e] * r.std.Factor[k]
			s.feature, s.value = append(s.feature, int32(k)), append(s.value, x)
			s.colPtr[k+1]++
			if !r.counted {
				r.sum[k] += w * x
			}
		}
		s.rowPtr = append(s.rowPtr, len(s.value))
	}
	for k := range r.d {
		s.colPtr[k+1] += s.colPtr[k]
	}
	s.row = append(s.row[:0], make([]int32, len(s.value))...)
	s.colVal = append(s.colVal[:0], make([]float64, len(s.value))...)
	next := slices.Clone(s.colPtr[:r.d])
	for i := range c.Rows {
		for e := s.rowPtr[i]; e < s.rowPtr[i+1]; e++ {
			at := next[s.feature[e]]
			next[s.feature[e]]++
			s.row[at], s.colVal[at] = int32(i), s.value[e]
		}
	}
	return s
}
