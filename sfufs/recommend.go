package sfufs

import "github.com/ufs-stream/ufs-stream/internal/agree"

// grid prepares the settings for comparison; width is the number of γ.
func (p *Settings) grid(width int) *agree.Grid {
	g := &agree.Grid{Width: width, K: p.K}
	for at := range p.All {
		g.Settings = append(g.Settings, agree.Setting{Order: p.All[at].Result.Order, Sound: p.sound(at)})
	}
	return g
}

// compare fills in the agreement of each setting with its neighbours.
func (p *Settings) compare(width int) {
	for at, agreement := range p.grid(width).Agreement() {
		p.All[at].Agreement = agreement
	}
}

// sound reports whether a setting may be recommended: it has converged, its objective
// fell, it warns of nothing, and no K cuts a group of equal norms in two.
func (p *Settings) sound(at int) bool {
	r := p.All[at].Result
	if !r.Converged || r.Rose != nil || len(r.Warnings) > 0 {
		return false
	}
	for _, k := range p.K {
		if from, to := r.Ties.At(k); from < to {
			return false
		}
	}
	return true
}

// recommend names the setting in the middle of the stable region; see [agree.Grid].
func (p *Settings) recommend(width int) {
	if p.Recommended, p.Why = p.grid(width).Recommend(); p.Recommended < 0 {
		p.Why = "no setting converges without a warning"
	}
}
