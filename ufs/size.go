package ufs

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/subset"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// sizeUp asks how many features to keep, where the request wants to know, and makes that
// many the number of the selection for {k} auto. It comes before the method, which may use
// its evidence up.
func (t *trial) sizeUp(ctx context.Context) error {
	switch {
	case !t.AutoK && (!t.sizes || t.from.sketch != nil): // of an estimate there are no rules
		return nil
	case !t.AutoK && !t.from.plan.sizes:
		t.note("what the rules say of the number of features takes more memory than there is; {memory-limit} raises it")
		return nil
	}
	g := t.centredGram()
	if g == nil {
		return stream.Usagef("{k} auto rests on the Gram matrix of all features, which is not in memory here; give a number, or raise {memory-limit}")
	}
	size, err := subset.Choose(ctx, g)
	if err != nil {
		return err
	}
	if t.s.Size = size; t.AutoK {
		t.s.Options["k"] = "auto"
		t.K = min(max(size.Recommended, len(t.Keep)), len(t.Columns))
	}
	return nil
}

// centredGram is the Gram matrix of the centred features in the method's scale: its own
// where that is centred, else a copy; nil where there is none in memory.
func (t *trial) centredGram() *subset.Gram {
	switch {
	case t.Graph != nil && t.Graph.G.Absent():
		return nil
	case t.Graph != nil:
		return &subset.Gram{Matrix: t.Graph.G, Rows: t.Graph.Rows, Threads: t.Threads}
	case t.Gram == nil || t.From != method.FromGram:
		return nil
	}
	g := &subset.Gram{Matrix: &t.Gram.Matrix, Rows: t.Gram.Rows, Threads: t.Threads}
	if mean := t.offset(); mean != nil {
		// What is left of a column that is all but constant is rounding: it counts as constant.
		constant := make([]bool, g.D)
		for i, m := range mean {
			whole := g.At(i, i)
			constant[i] = whole-t.Gram.Weight*(m*m) <= 1e-10*whole
		}
		if g.IsFactor() {
			g.Matrix = t.Gram.Centred(t.Threads)
			for i, gone := range constant {
				if gone {
					g.Clear(i)
				}
			}
			return g
		}
		g.Matrix = gram.Full(slices.Clone(g.Sym), g.D)
		kernel.Each(t.Threads, g.D, func(i int) {
			row := g.Sym[i*g.D:][:g.D]
			for j := range row { // symmetric in i and j, to the last bit
				if row[j] -= t.Gram.Weight * (mean[i] * mean[j]); constant[i] || constant[j] {
					row[j] = 0
				}
			}
		})
	}
	return g
}

// offset is how far the columns of the Gram matrix are from centred; nil for not at all.
func (t *trial) offset() []float64 {
	if slices.ContainsFunc(t.Gram.Offset, func(m float64) bool { return m != 0 }) {
		return t.Gram.Offset
	}
	return nil
}

// sizeBytes is what sizeUp holds beside the Gram matrix, in full or a factor of so many rows.
func (r *run) sizeBytes(d, rank int) int64 {
	bytes := subset.SizeBytes(d, rank)
	if r.From == method.FromGram && slices.Contains([]gram.Scale{gram.ScaleNone, gram.ScaleMinMax, gram.ScaleUnit}, r.scale) { // a centred copy
		if rank > 0 {
			return bytes + 8*int64(rank)*int64(d)
		}
		bytes += 8 * int64(d) * int64(d)
	}
	return bytes
}
