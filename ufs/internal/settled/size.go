package settled

import (
	"github.com/ufs-stream/ufs-stream/internal/subset"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func (r *Run) ExpectedK(d int) int {
	switch {
	case r.Choice.K > 0:
		return min(r.Choice.K, d)
	case r.Choice.AutoK:
		return max(subset.MaxFeatures(d), min(len(r.Choice.Keep), d))
	case r.Choice.Variance > 0 || r.Choice.Budget > 0:
		return d
	case r.Choice.MinGain > 0 && r.Bound.Takes.MinGain:
		return method.MostGaining(d, len(r.Choice.Keep), r.Choice.MinGain)
	}
	return min(max(request.DefaultK, len(r.Choice.Keep)), d)
}

// SettleSize settles the number of features if the request does not: it sets AutoK, or uses the default number if the
// method has no exact Gram matrix.
func (r *Run) SettleSize() {
	if r.Fallback != nil {
		r.Fallback.SettleSize()
	}
	switch isGiven := r.Choice.K > 0 || r.Choice.AutoK || r.Choice.Variance > 0 || r.Choice.MinGain > 0 || r.Choice.Budget > 0; {
	case isGiven:
	case r.Bound.From == method.FromProfile || r.Bound.From == method.FromRows:
		r.SetDefaultSize(stream.Textf("that rests on the Gram matrix of all features, and method %s makes none; path with {method} greedy recommends a number", r.Bound.Name))
	case r.SketchRows > 0 || r.Choice.Reads > 0:
		r.SetDefaultSize(SketchSizeReason())
	default:
		r.Choice.AutoK, r.AutoSize = true, true
	}
}

func SketchSizeReason() stream.Text {
	return stream.Textf("that rests on the exact Gram matrix, and a {sketch} estimates it; path without {sketch} recommends a number")
}

func (r *Run) SetDefaultSize(why stream.Text) {
	r.Choice.AutoK, r.AutoSize = false, false
	r.SizeReason = stream.Textf("the default, because the number of features worth keeping is unknown: %v", why)
}

// UseDefaultSize calls SetDefaultSize for the run and its fallback. The function restore undoes this.
func (r *Run) UseDefaultSize(why stream.Text) (restore func()) {
	p := r.Fallback
	r.SetDefaultSize(why)
	if p == nil || !p.AutoSize {
		return func() { r.Choice.AutoK, r.AutoSize, r.SizeReason = true, true, stream.Text{} }
	}
	p.SetDefaultSize(why)
	return func() {
		r.Choice.AutoK, r.AutoSize, r.SizeReason = true, true, stream.Text{}
		p.Choice.AutoK, p.AutoSize, p.SizeReason = true, true, stream.Text{}
	}
}

func MemorySizeReason(need int64) stream.Text {
	return stream.Textf("that takes more memory than there is, and {memory-limit} %dMiB is enough", (need+1<<20-1)>>20)
}
