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

// settleSize settles the number of features if the request does not: it sets AutoK, or uses the default number if the
// method has no exact Gram matrix.
func (r *run) settleSize() {
	if r.fallback != nil {
		r.fallback.settleSize()
	}
	switch isGiven := r.K > 0 || r.AutoK || r.Variance > 0 || r.MinGain > 0 || r.Budget > 0; {
	case isGiven:
	case r.From == method.FromProfile || r.From == method.FromRows:
		r.setDefaultSize(stream.Textf("that rests on the Gram matrix of all features, and method %s makes none; path with {method} greedy recommends a number", r.Name))
	case r.sketchRows > 0 || r.Reads > 0:
		r.setDefaultSize(sketchSizeReason())
	default:
		r.AutoK, r.autoSize = true, true
	}
}

func sketchSizeReason() stream.Text {
	return stream.Textf("that rests on the exact Gram matrix, and a {sketch} estimates it; path without {sketch} recommends a number")
}

func (r *run) setDefaultSize(why stream.Text) {
	r.AutoK, r.autoSize = false, false
	r.sizeReason = stream.Textf("the default, because the number of features worth keeping is unknown: %v", why)
}

// planSelection plans the memory of selecting from ds. If the number of features is open, and finding the number worth
// keeping needs more memory than the limit, the default number is used.
func (r *run) planSelection(ds *chunkio.Dataset) (Budget, error) {
	if r.autoSize && usesSampleGramOnly(r, ds) {
		r.useDefaultSize(stream.Textf("that needs the Gram matrix, and for this many sparse columns method %s makes it only from a sample of the rows; path with {method} %s on fewer columns recommends a number", r.Name, methods.Fallback))
	}
	if !r.autoSize {
		return r.planMethod(ds)
	}
	auto, err := r.planMethod(ds)
	if err != nil && !errors.As(err, new(*stream.MemoryError)) {
		return auto, err
	}
	restore := r.useDefaultSize(memorySizeReason(auto.Smallest))
	b, defaultErr := r.planMethod(ds)
	if err == nil { // a limit that suffices only for the default number works too
		restore()
		auto.AutoK = auto.Smallest
		auto.Smallest, auto.InMemory = min(auto.Smallest, b.Smallest), min(auto.InMemory, b.InMemory)
		return auto, nil
	}
	if defaultErr != nil {
		restore()
		return b, defaultErr
	}
	r.note("%d features: %v", DefaultK, r.sizeReason)
	b.AutoK = auto.Smallest
	return b, nil
}

// useDefaultSize calls setDefaultSize for the run and its fallback. The function restore undoes this.
func (r *run) useDefaultSize(why stream.Text) (restore func()) {
	p := r.fallback
	r.setDefaultSize(why)
	if p == nil || !p.autoSize {
		return func() { r.AutoK, r.autoSize, r.sizeReason = true, true, stream.Text{} }
	}
	p.setDefaultSize(why)
	return func() {
		r.AutoK, r.autoSize, r.sizeReason = true, true, stream.Text{}
		p.AutoK, p.autoSize, p.sizeReason = true, true, stream.Text{}
	}
}

func memorySizeReason(need int64) stream.Text {
	return stream.Textf("that takes more memory than there is, and {memory-limit} %dMiB is enough", (need+1<<20-1)>>20)
}

// cheapColumnCount is the number of columns up to which the rules for the number of features run even if the request
// gives this number. On one core they take 0.03 s for 320 columns (with a dense solver for the eigenvalues), 0.3 s for
// 400, 0.9 s for 784 and 9 s for 3,000 columns.
const cheapColumnCount = 320

// alwaysRunsSizeRules reports whether the rules for the number of features run for d columns even if the request gives
// this number. The plan always includes their memory then, so that the report does not depend on the memory limit.
func (r *run) alwaysRunsSizeRules(d int) bool {
	return d <= cheapColumnCount && !r.manySettings && !r.skipsTrust && r.sketchRows == 0
}

// recommendSize finds the number of features worth keeping, if it is requested or cheap to find. For {k} auto this is
// the number of features to select. It runs before the method, because the method may use up its evidence.
func (t *trial) recommendSize(ctx context.Context) error {
	switch {
	case t.AutoK || t.bundle.plan.hasSizeRules:
	case t.reportsSizes && t.bundle.sketch == nil: // the rules do not apply to an estimate
		t.note("the rules for the number of features need more memory than there is; a higher {memory-limit} allows them")
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
		size, err = subset.RecommendSize(ctx, g)
		return err
	}
	if g.D <= cheapColumnCount { // too short to show progress
		if err := choose(nil); err != nil {
			return err
		}
	} else if err := t.trackProgress(Progress{What: "how many features are worth keeping", Pass: t.passes, Passes: t.leastPasses, Most: t.mostPasses, Rows: -1}, choose); err != nil {
		return err
	}
	if t.selection.Size = size; t.AutoK {
		t.selection.Options["k"] = "auto"
		t.K = t.maxAutoCandidates(size)
		if t.stopsAtShare() {
			t.Variance = float64(size.Explained)
		}
	}
	return nil
}

// stopsAtShare reports whether {k} auto chooses groups until they explain as large a share as the recommended features.
// It chooses at most as many groups as features are recommended, because the rules count features, and a group has
// several.
func (t *trial) stopsAtShare() bool {
	return t.Blocks != nil && t.Takes.Variance && t.columnOffsets() == nil
}

func (t *trial) maxAutoCandidates(size *stream.Size) int {
	return min(max(size.Recommended, len(t.Keep)), t.candidates.choosable)
}

// recordGroupCount records the number of groups that {k} auto chooses. For a path it derives this number from the
// shares that the groups of the path explain.
func (t *trial) recordGroupCount() {
	size, selected := t.selection.Size, t.selection.Selected
	if size == nil || t.Blocks == nil {
		return
	}
	switch most := t.maxAutoCandidates(size); {
	case t.AutoK:
		size.Groups = len(selected)
	case !t.reportsSizes:
	case !t.stopsAtShare():
		size.Groups = most
	default:
		enough := func(f stream.Selected) bool {
			return f.Rank >= len(t.Keep) && (f.Rank == most || 1-f.Error >= size.Explained)
		}
		size.Groups = slices.IndexFunc(selected, enough) + 1 // 0 if the path ends earlier
	}
}

// centredGram returns the Gram matrix of the centred features in the method's scale. It returns the method's own
// matrix if that is centred, or else a centred copy, or nil if no matrix is in memory.
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
	if mean := t.columnOffsets(); mean != nil {
		// Centring a nearly constant column leaves only rounding errors: the column counts as constant.
		constant := make([]bool, g.D)
		for i, m := range mean {
			diagonal := g.At(i, i)
			constant[i] = diagonal-t.Gram.Weight*(m*m) <= 1e-10*diagonal
		}
		if g.IsFactor() {
			g.Matrix = t.Gram.CentredMatrix(t.Threads)
			for i, isConstant := range constant {
				if isConstant {
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

// columnOffsets returns the means of the columns from which the Gram matrix was made. It returns nil if they are all 0,
// because the columns are centred.
func (t *trial) columnOffsets() []float64 {
	if slices.ContainsFunc(t.Gram.Offset, func(m float64) bool { return m != 0 }) {
		return t.Gram.Offset
	}
	return nil
}

// sizeBytes returns the memory of recommendSize for d columns in addition to the Gram matrix. The matrix is full if
// rank is 0, or else a factor of rank rows.
func (r *run) sizeBytes(d, rank int) int64 {
	bytes := subset.SizeBytes(d, rank)
	// These scales need a centred copy.
	if r.From == method.FromGram && slices.Contains([]gram.Scale{gram.ScaleNone, gram.ScaleMinMax, gram.ScaleUnit}, r.scale) {
		if rank > 0 {
			return bytes + 8*int64(rank)*int64(d)
		}
		bytes += 8 * int64(d) * int64(d)
	}
	return bytes
}
