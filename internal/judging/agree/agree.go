// Package agree compares the rankings of neighbouring settings of a grid, and recommends a setting in the middle of the
// region in which they hardly change.
package agree

import (
	"fmt"
	"math"
)

// Setting is a point of the grid: one choice of a method's parameters, with the ranking of the features that this
// choice gives.
type Setting struct {
	Order []int // indices of features or of groups of features, best first; it may have only the chosen ones
	Sound bool  // the setting may be recommended
	Apart bool  // the setting is neither compared nor recommended
}

// Grid is a grid of settings, row by row. Each of the two parameters ascends along one direction of the grid.
type Grid struct {
	Width    int   // number of settings in a row
	K        []int // numbers of leading features by which two rankings are compared
	Settings []Setting
}

// stableLink is the agreement above which the selections of two neighbours are considered the same. Selections of 50
// features with this agreement differ in five or six features.
const stableLink = 0.8

// Jaccard returns |A∩B|/|A∪B| for the first k features of two rankings. If a ranking has fewer than k features, all of
// its features are used.
func Jaccard(a, b []int, k int) float64 {
	a, b = a[:min(k, len(a))], b[:min(k, len(b))]
	in := make(map[int]bool, len(a))
	for _, i := range a {
		in[i] = true
	}
	both := 0
	for _, i := range b {
		if in[i] {
			both++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// neighbours returns the indices of the settings that are one step away, in the grid, from the setting with the index
// `at`, and are compared with it.
func (g *Grid) neighbours(at int) []int {
	var list []int
	add := func(other int) {
		if !g.Settings[at].Apart && !g.Settings[other].Apart {
			list = append(list, other)
		}
	}
	if at >= g.Width {
		add(at - g.Width)
	}
	if at%g.Width > 0 {
		add(at - 1)
	}
	if at%g.Width < g.Width-1 {
		add(at + 1)
	}
	if at+g.Width < len(g.Settings) {
		add(at + g.Width)
	}
	return list
}

// AgreementByK returns, for each setting and each number of Grid.K, the mean Jaccard index of the setting with its
// neighbours. It is NaN if the setting has no neighbours.
func (g *Grid) AgreementByK() [][]float64 {
	out := make([][]float64, len(g.Settings))
	for at := range out {
		near := g.neighbours(at)
		out[at] = make([]float64, len(g.K))
		for n, k := range g.K {
			for _, other := range near {
				out[at][n] += Jaccard(g.Settings[at].Order, g.Settings[other].Order, k)
			}
			out[at][n] /= float64(len(near)) // NaN if there are no neighbours
		}
	}
	return out
}

// linkStrength returns the agreement of the settings a and b: their mean Jaccard index over all numbers of Grid.K.
func (g *Grid) linkStrength(a, b int) float64 {
	var sum float64
	for _, k := range g.K {
		sum += Jaccard(g.Settings[a].Order, g.Settings[b].Order, k)
	}
	return sum / float64(len(g.K))
}

// RecommendSetting returns the index of the setting in the middle of the stable region, or -1 if there is no such
// setting. why is the reason, for people. The setting is determined as follows:
//
//  1. Only sound settings are considered.
//  2. Two neighbours are linked if their agreement is at least 0.8 (see linkStrength). If no two neighbours agree as
//     well as this, the neighbours with the best agreement are linked.
//  3. A region is a set of settings connected by links. The stable region is the largest region. If several regions are
//     equally large, it is the region with the highest mean agreement, then the first.
//  4. Its middle is the first member with the least sum of squared distances to all members, in steps of the grid.
//
// A stable region need not be good. Neighbours also agree well if a weight is so small that it has hardly any effect,
// or so large that it determines the whole selection.
func (g *Grid) RecommendSetting() (at int, why string) {
	count := 0
	for i := range g.Settings {
		if g.mayRecommend(i) {
			count++
		}
	}
	if count == 0 {
		return -1, ""
	}
	least := 0.0 // the least strength of a link
	for at := range g.Settings {
		for _, other := range g.neighbours(at) {
			if g.mayRecommend(at) && g.mayRecommend(other) {
				least = max(least, g.linkStrength(at, other))
			}
		}
	}
	least = min(least, stableLink)

	var best []int
	var bestLink float64
	seen := make([]bool, len(g.Settings))
	for at := range g.Settings {
		if !g.mayRecommend(at) || seen[at] {
			continue
		}
		region, mean := g.collectRegion(at, least, seen)
		if len(region) > len(best) || len(region) == len(best) && mean > bestLink {
			best, bestLink = region, mean
		}
	}
	switch {
	case len(g.Settings) == 1:
		why = "the only setting"
	case len(best) == 1:
		why = fmt.Sprintf("of %d sound settings no two neighbours can be compared: the first", count)
	default:
		why = fmt.Sprintf("the middle of the largest region (%d of %d sound settings) in which neighbours agree to %.2f or better, %.2f on average",
			len(best), count, least, bestLink)
	}
	return g.findMiddleMember(best), why
}

func (g *Grid) mayRecommend(at int) bool { return g.Settings[at].Sound && !g.Settings[at].Apart }

// collectRegion returns the region of the setting with the index `at`, and the mean strength of the links in it. A link
// needs at least the strength `least`. The members of the region are marked in the list seen.
func (g *Grid) collectRegion(at int, least float64, seen []bool) (members []int, mean float64) {
	members = []int{at}
	seen[at] = true
	var sum float64
	links := 0
	for n := 0; n < len(members); n++ {
		for _, other := range g.neighbours(members[n]) {
			if !g.mayRecommend(other) {
				continue
			}
			link := g.linkStrength(members[n], other)
			if link < least || link == 0 {
				continue
			}
			sum += link // every link is counted twice
			links++
			if !seen[other] {
				seen[other] = true
				members = append(members, other)
			}
		}
	}
	return members, sum / float64(max(links, 1))
}

func (g *Grid) findMiddleMember(region []int) int {
	best, least := -1, math.MaxInt
	for _, a := range region {
		sum := 0
		for _, b := range region {
			di, dj := a/g.Width-b/g.Width, a%g.Width-b%g.Width
			sum += di*di + dj*dj
		}
		if sum < least || sum == least && a < best {
			best, least = a, sum
		}
	}
	return best
}
