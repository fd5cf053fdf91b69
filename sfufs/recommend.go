package sfufs

import (
	"fmt"
	"math"
)

// stableLink is the agreement from which two neighbours count as the same selection: at
// k = 50 five or six features differ.
const stableLink = 0.8

// jaccard is |A∩B|/|A∪B| of the first k features of two rankings of d.
func jaccard(a, b []int, k int) float64 {
	in := make([]bool, len(a))
	for _, i := range a[:k] {
		in[i] = true
	}
	both := 0
	for _, i := range b[:k] {
		if in[i] {
			both++
		}
	}
	return float64(both) / float64(2*k-both)
}

// neighbours returns the indices one step of the grid away, width being its number of γ.
func (p *Settings) neighbours(at, width int) []int {
	var list []int
	if at >= width {
		list = append(list, at-width)
	}
	if at%width > 0 {
		list = append(list, at-1)
	}
	if at%width < width-1 {
		list = append(list, at+1)
	}
	if at+width < len(p.All) {
		list = append(list, at+width)
	}
	return list
}

// compare fills in the agreement of each setting with its neighbours.
func (p *Settings) compare(width int) {
	for at := range p.All {
		s := &p.All[at]
		near := p.neighbours(at, width)
		s.Agreement = make([]float64, len(p.K))
		for n, k := range p.K {
			for _, other := range near {
				s.Agreement[n] += jaccard(s.Result.Order, p.All[other].Result.Order, k)
			}
			s.Agreement[n] /= float64(len(near)) // NaN without any
		}
	}
}

// link is how far two settings agree: the mean Jaccard index over all K.
func (p *Settings) link(a, b int) float64 {
	var sum float64
	for _, k := range p.K {
		sum += jaccard(p.All[a].Result.Order, p.All[b].Result.Order, k)
	}
	return sum / float64(len(p.K))
}

// sound reports whether a setting may be recommended: it has converged, its objective
// fell, it warns of nothing, and no K cuts a group of equal norms in two.
func (p *Settings) sound(at int) bool {
	r := p.All[at].Result
	if !r.Converged || r.Rose != nil || len(r.Warnings) > 0 {
		return false
	}
	for _, k := range p.K {
		if from, to := r.TiedAt(k); from < to {
			return false
		}
	}
	return true
}

// recommend names the setting in the middle of the stable region:
//
//  1. only sound settings take part (see sound);
//  2. neighbours are linked if they agree to 0.8 (see link), or, where no two do, to as
//     much as the best two;
//  3. a region is a set of settings connected by links; the stable one is the largest,
//     of equally large ones that with the highest mean link, then the first;
//  4. its middle is the member with the least sum of squared distances, in steps of the
//     grid, to all members; of several the one of the lowest α, then γ.
//
// Stable is not the same as good: where γ hardly matters yet, or decides everything,
// neighbours agree as well.
func (p *Settings) recommend(width int) {
	p.Recommended = -1
	sound := make([]bool, len(p.All))
	count := 0
	for at := range p.All {
		if sound[at] = p.sound(at); sound[at] {
			count++
		}
	}
	if count == 0 {
		p.Why = "no setting converges without a warning"
		return
	}
	least := 0.0 // of a link
	for at := range p.All {
		for _, other := range p.neighbours(at, width) {
			if sound[at] && sound[other] {
				least = max(least, p.link(at, other))
			}
		}
	}
	least = min(least, stableLink)

	var best []int
	var bestLink float64
	seen := make([]bool, len(p.All))
	for at := range p.All {
		if !sound[at] || seen[at] {
			continue
		}
		region, mean := p.region(at, width, least, sound, seen)
		if len(region) > len(best) || len(region) == len(best) && mean > bestLink {
			best, bestLink = region, mean
		}
	}
	p.Recommended = middle(best, width)
	switch {
	case len(p.All) == 1:
		p.Why = "the only setting"
	case len(best) == 1:
		p.Why = fmt.Sprintf("of %d sound settings no two neighbours can be compared: the first", count)
	default:
		p.Why = fmt.Sprintf("the middle of the largest region (%d of %d sound settings) in which neighbours agree to %.2f or better, %.2f on average",
			len(best), count, least, bestLink)
	}
}

// region collects the settings connected with at, and the mean of their links.
func (p *Settings) region(at, width int, least float64, sound, seen []bool) (members []int, mean float64) {
	members = []int{at}
	seen[at] = true
	var sum float64
	links := 0
	for n := 0; n < len(members); n++ {
		for _, other := range p.neighbours(members[n], width) {
			if !sound[other] {
				continue
			}
			link := p.link(members[n], other)
			if link < least || link == 0 {
				continue
			}
			sum += link // every link twice
			links++
			if !seen[other] {
				seen[other] = true
				members = append(members, other)
			}
		}
	}
	return members, sum / float64(max(links, 1))
}

// middle returns the member nearest to all others.
func middle(members []int, width int) int {
	best, least := -1, math.MaxInt
	for _, a := range members {
		sum := 0
		for _, b := range members {
			di, dj := a/width-b/width, a%width-b%width
			sum += di*di + dj*dj
		}
		if sum < least || sum == least && a < best {
			best, least = a, sum
		}
	}
	return best
}
