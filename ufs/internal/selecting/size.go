package selecting

import (
	"context"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/subset"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// recommendSize finds the number of features worth keeping, if it is requested or cheap to find. For option {k} auto
// this is the number of features to select. It runs before the method, because the method may use up its evidence.
func (t *Trial) recommendSize(ctx context.Context) error {
	switch {
	case t.run.Choice.AutoK || t.bundle.Plan.HasSizeRules:
	case t.run.ReportsSizes && t.bundle.Sketch == nil: // the rules do not apply to an estimate
		t.run.Notef("the rules for the number of features need more memory than there is; a higher {memory-limit} allows them")
		return nil
	default:
		return nil
	}
	g := t.CentredGram()
	if g != nil && len(t.Explain) > 0 {
		g.Explain, g.Forbid = t.Explain, t.ForbiddenFeatures(g.D)
	}
	if g == nil {
		return stream.Usagef("{k} auto rests on the Gram matrix of all features, which is not in memory here; give a number, or raise {memory-limit}")
	}
	var size *stream.Size
	choose := func(func(request.Progress)) (err error) {
		size, err = subset.RecommendSize(ctx, g)
		return err
	}
	if g.D <= planning.CheapColumnCount { // too short to show progress
		if err := choose(nil); err != nil {
			return err
		}
	} else if err := request.TrackProgress(&t.run.Request, request.Progress{What: "how many features are worth keeping", Pass: t.Gatherer.Passes, Passes: t.Gatherer.LeastPasses, Most: t.Gatherer.MostPasses, Rows: -1}, choose); err != nil {
		return err
	}
	if t.Selection.Size = size; t.run.Choice.AutoK {
		t.Selection.Options["k"] = "auto"
		t.K = t.maxAutoCandidates(size)
		if t.stopsAtShare() {
			t.Variance = float64(size.Explained)
		}
	}
	return nil
}

// stopsAtShare reports whether option {k} auto chooses groups until they explain as large a share as the recommended
// features. It chooses at most as many groups as features are recommended, because the rules count features, and a
// group has several.
func (t *Trial) stopsAtShare() bool {
	return t.Blocks != nil && t.run.Bound.Takes.Variance && t.ColumnOffsets() == nil
}

func (t *Trial) maxAutoCandidates(size *stream.Size) int {
	return min(max(size.Recommended, len(t.Keep)), t.candidates.Choosable)
}

// CentredGram returns the Gram matrix of the centred features in the method's scale. It returns the method's own
// matrix if that is centred, or else a centred copy, or nil if no matrix is in memory.
func (t *Trial) CentredGram() *subset.Gram {
	switch {
	case t.Graph != nil && t.Graph.G.Absent():
		return nil
	case t.Graph != nil:
		return &subset.Gram{Matrix: t.Graph.G, Rows: t.Graph.Rows, Threads: t.Threads}
	case t.Gram == nil || !t.run.Bound.From.UsesGramOnly():
		return nil
	}
	g := &subset.Gram{Matrix: &t.Gram.Matrix, Rows: t.Gram.Rows, Threads: t.Threads}
	if mean := t.ColumnOffsets(); mean != nil {
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

// ColumnOffsets returns the means to subtract from the columns from which the Gram matrix was made. It returns nil if
// they are all 0, because the columns are centred.
func (t *Trial) ColumnOffsets() []float64 {
	if slices.ContainsFunc(t.Gram.Offset, func(m float64) bool { return m != 0 }) {
		return t.Gram.Offset
	}
	return nil
}
