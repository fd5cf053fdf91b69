package method

import (
	"cmp"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Block is a set of features that is chosen as a whole.
type Block struct {
	Name    string
	Members []int   // features, ascending
	Cost    float64 // greater than 0
}

// Choice restricts which of d features can be chosen. The zero value has no restriction.
type Choice struct {
	// Blocks are the candidates, sorted by their first members. Every feature is in exactly one block. If Blocks is
	// nil, every feature is a candidate of its own, at a cost of 1. If Blocks is set, all indices and numbers of
	// candidates here and in Evidence.K and Evidence.Keep refer to blocks instead of features.
	Blocks []Block
	// Budget bounds the total cost of the choice, including kept candidates; 0 means no bound.
	Budget float64
	Forbid []int // candidates that must not be chosen, but must be explained like all other candidates
	// Explain lists the features to be explained, ascending, none of which may be chosen: their candidates are in Forbid.
	// If it is empty, all features are explained. Only methods with Takes.Explain support it.
	Explain []int
	// Most is the largest number of candidates that can be chosen from the same set of candidates; 0 means no bound.
	// Candidate i is in the set with number Sets[i], or in no set if Sets[i] is -1.
	Most int
	Sets []int
}

// Candidates returns the number of candidates: the number of blocks or, without blocks, d.
func (c *Choice) Candidates(d int) int {
	if c.Blocks != nil {
		return len(c.Blocks)
	}
	return d
}

// Forbidden returns, for each candidate among d features, whether it must not be chosen.
func (c *Choice) Forbidden(d int) []bool {
	forbidden := make([]bool, c.Candidates(d))
	for _, i := range c.Forbid {
		forbidden[i] = true
	}
	return forbidden
}

// Open returns how many of the candidates of d features can be chosen together, if the budget is ignored.
func (c *Choice) Open(d int) int {
	forbidden := c.Forbidden(d)
	open, perSet := 0, make(map[int]int)
	for i := range c.Candidates(d) {
		if forbidden[i] {
			continue
		}
		if c.Most > 0 && c.Sets[i] >= 0 {
			if perSet[c.Sets[i]]++; perSet[c.Sets[i]] > c.Most {
				continue
			}
		}
		open++
	}
	return open
}

// Single reports whether single features are chosen: every candidate is one feature, all costs are equal, and there is
// no budget.
func (c *Choice) Single() bool {
	return c.Budget == 0 && !slices.ContainsFunc(c.Blocks, func(b Block) bool { return len(b.Members) != 1 || b.Cost != c.Blocks[0].Cost })
}

// HasCosts reports whether candidates differ in cost.
func (c *Choice) HasCosts() bool {
	return slices.ContainsFunc(c.Blocks, func(b Block) bool { return b.Cost != c.Blocks[0].Cost })
}

// Largest returns the number of features of the largest block, or 0 without blocks.
func (c *Choice) Largest() (n int) {
	for _, b := range c.Blocks {
		n = max(n, len(b.Members))
	}
	return n
}

// Features returns the largest number of features that any k candidates have together.
func (c *Choice) Features(k int) (n int) {
	if c.Blocks == nil {
		return k
	}
	sizes := make([]int, len(c.Blocks))
	for i, b := range c.Blocks {
		sizes[i] = len(b.Members)
	}
	slices.SortFunc(sizes, func(a, b int) int { return cmp.Compare(b, a) })
	for _, size := range sizes[:min(k, len(sizes))] {
		n += size
	}
	return n
}

// Refuse checks c for a run with d features, and adds a fault for each error that it finds.
func (c *Choice) Refuse(faults *stream.Faults, d int) {
	n := c.Candidates(d)
	if c.Blocks != nil {
		seen := make([]int, d)
		for i, b := range c.Blocks {
			if len(b.Members) == 0 || !(b.Cost > 0) {
				faults.Addf("block %d has %d members and costs %v", i, len(b.Members), b.Cost)
			}
			for _, j := range b.Members {
				if j < 0 || j >= d {
					faults.Addf("member %d of block %d is not one of the %d features", j, i, d)
					return
				}
				seen[j]++
			}
		}
		if j := slices.IndexFunc(seen, func(times int) bool { return times != 1 }); j >= 0 {
			faults.Addf("column %d is in %d blocks, want 1", j, seen[j])
		}
	}
	if !(c.Budget >= 0) {
		faults.Addf("{budget} = %v is negative", c.Budget)
	}
	for _, i := range c.Forbid {
		if i < 0 || i >= n {
			faults.Addf("{forbid}: %d is not one of the %d candidates", i, n)
		}
	}
	forbidden := c.ForbiddenFeatures(d)
	for n, j := range c.Explain {
		if _, isForbidden := slices.BinarySearch(forbidden, j); j < 0 || j >= d || !isForbidden || n > 0 && j <= c.Explain[n-1] {
			faults.Addf("{explain-columns}: %d is not one of the %d features, may be chosen, or is not in ascending order", j, d)
		}
	}
	RefuseNegative(faults, "{group-most}", c.Most)
	if c.Most > 0 && len(c.Sets) != n {
		faults.Addf("sets name %d candidates, want %d", len(c.Sets), n)
	}
}

// ForbiddenFeatures lists the members of the forbidden candidates of d features, ascending.
func (c *Choice) ForbiddenFeatures(d int) (list []int) {
	for _, i := range c.Forbid {
		switch {
		case i < 0 || i >= c.Candidates(d): // refused elsewhere
		case c.Blocks == nil:
			list = append(list, i)
		default:
			list = append(list, c.Blocks[i].Members...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
