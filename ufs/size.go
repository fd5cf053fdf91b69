package ufs

import (
	"context"
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/subset"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
)

// settleSize settles how many features are selected where the request names no number: as many as
// {k} auto takes, as long as nothing is in the way of that.
func (r *run) settleSize() {
	if r.fallback != nil {
		r.fallback.settleSize()
	}
	switch named := r.K > 0 || r.AutoK || r.Variance > 0 || r.MinGain > 0 || r.Budget > 0; {
	case named:
	case r.From == method.FromProfile || r.From == method.FromRows:
		r.defaultSize(stream.Textf("that rests on the Gram matrix of all features, and method %s makes none; path with {method} greedy recommends a number", r.Name))
	case r.sketchRows > 0 || r.Reads > 0:
		r.defaultSize(sketchedSize())
	default:
		r.AutoK, r.autoSize = true, true
	}
}

func sketchedSize() stream.Text {
	return stream.Textf("that rests on the exact Gram matrix, and a {sketch} estimates it; path without {sketch} recommends a number")
}

// defaultSize settles for DefaultK, or all features if there are fewer, and says why.
func (r *run) defaultSize(why stream.Text) {
	r.AutoK, r.autoSize = false, false
	r.sizeReason = stream.Textf("the default, as nothing tells how many features are worth keeping: %v", why)
}

// planSelection plans selecting from ds. Where the number of features is open, and finding out how
// many are worth keeping takes more memory than there is, it becomes the default.
func (r *run) planSelection(ds *chunkio.Dataset) (Budget, error) {
	if r.autoSize && usesSampleGramOnly(r, ds) {
		r.withDefaultSize(stream.Textf("that rests on the Gram matrix, and of so many sparse columns method %s makes only that of a sample of the rows; path with {method} %s on fewer columns recommends a number", r.Name, methods.Fallback))
	}
	if !r.autoSize {
		return r.planMethod(ds)
	}
	auto, err := r.planMethod(ds)
	if err != nil && !errors.As(err, new(*stream.MemoryError)) {
		return auto, err
	}
	restore := r.withDefaultSize(shortOfMemory(auto.Smallest))
	b, without := r.planMethod(ds)
	if err == nil { // the limits that work are those of fewer features too
		restore()
		auto.AutoK = auto.Smallest
		auto.Smallest, auto.InMemory = min(auto.Smallest, b.Smallest), min(auto.InMemory, b.InMemory)
		return auto, nil
	}
	if without != nil {
		restore()
		return b, without
	}
	r.note("%d features: %v", DefaultK, r.sizeReason)
	b.AutoK = auto.Smallest
	return b, nil
}

// withDefaultSize is defaultSize for what replaces the run too; restore takes it back.
func (r *run) withDefaultSize(why stream.Text) (restore func()) {
	p := r.fallback
	r.defaultSize(why)
	if p == nil || !p.autoSize {
		return func() { r.AutoK, r.autoSize, r.sizeReason = true, true, stream.Text{} }
	}
	p.defaultSize(why)
	return func() {
		r.AutoK, r.autoSize, r.sizeReason = true, true, stream.Text{}
		p.AutoK, p.autoSize, p.sizeReason = true, true, stream.Text{}
	}
}

func shortOfMemory(need int64) stream.Text {
	return stream.Textf("that takes more memory than there is, and {memory-limit} %dMiB is enough", (need+1<<20-1)>>20)
}

// cheapSize is the number of columns up to which the rules of how many to keep are asked even where
// the number is given: on one core they take 0.03 s at 320 columns, where a dense solver finds the
// eigenvalues, and 0.3 s at 400, 0.9 s at 784, 9 s at 3,000.
const cheapSize = 320

// sizedAnyway says whether the plan in memory has room for the rules beside a number that is given, so that
// what the selection says of it does not depend on the limit.
func (r *run) sizedAnyway(d int) bool {
	return d <= cheapSize && !r.manySettings && !r.skipsTrust && r.sketchRows == 0
}

// sizeUp asks how many features are worth keeping, where that is wanted or takes no time, and makes
// that many the number of the selection for {k} auto. It comes before the method, which may use
// its evidence up.
func (t *trial) sizeUp(ctx context.Context) error {
	switch {
	case t.AutoK || t.bundle.plan.hasSizeRules:
	case t.reportsSizes && t.bundle.sketch == nil: // of an estimate there are no rules
		t.note("what the rules say of the number of features takes more memory than there is; {memory-limit} raises it")
		return nil
	default:
		return nil
	}
	g := t.centredGram()
	if g == nil {
		return stream.Usagef("{k} auto rests on the Gram matrix of all features, which is not in memory here; give a number, or raise {memory-limit}")
	}
	var size *stream.Size
	choose := func(func(Progress)) (err error) {
		size, err = subset.Choose(ctx, g)
		return err
	}
	if g.D <= cheapSize { // there is nothing to wait for
		if err := choose(nil); err != nil {
			return err
		}
	} else if err := t.trackProgress(Progress{What: "how many features are worth keeping", Pass: t.passes, Passes: t.leastPasses, Most: t.mostPasses, Rows: -1}, choose); err != nil {
		return err
	}
	if t.selection.Size = size; t.AutoK {
		t.selection.Options["k"] = "auto"
		t.K = t.autoMost(size)
		if t.untilExplained() {
			t.Variance = float64(size.Explained)
		}
	}
	return nil
}

// untilExplained says that {k} auto takes groups until they explain what the rules' features do, and at most as many:
// the rules count features, and groups have several.
func (t *trial) untilExplained() bool {
	return t.Blocks != nil && t.Takes.Variance && t.offset() == nil
}

// autoMost is how many candidates {k} auto takes at most.
func (t *trial) autoMost(size *stream.Size) int {
	return min(max(size.Recommended, len(t.Keep)), t.candidates.choosable)
}

// sizeGroups says how many groups {k} auto takes, for a path by what the groups on it explain.
func (t *trial) sizeGroups() {
	size, selected := t.selection.Size, t.selection.Selected
	if size == nil || t.Blocks == nil {
		return
	}
	switch most := t.autoMost(size); {
	case t.AutoK:
		size.Groups = len(selected)
	case !t.reportsSizes:
	case !t.untilExplained():
		size.Groups = most
	default:
		enough := func(f stream.Selected) bool {
			return f.Rank >= len(t.Keep) && (f.Rank == most || 1-f.Error >= size.Explained)
		}
		size.Groups = slices.IndexFunc(selected, enough) + 1 // 0 where the path ends before
	}
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
