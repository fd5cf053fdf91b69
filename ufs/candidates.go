package ufs

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// candidates are what a run may choose of some features, and what it calls them. A candidate is a group,
// a column of the input that stands for several features (stream.Column.Block), or a feature. Where each is a
// feature under its own name, and nothing has a cost, nothing is held for it: there may be millions.
type candidates struct {
	method.Choice // Blocks are nil where every candidate is a feature under its own name, and none has a cost
	columns       []stream.Column
	of            []int    // the block of each feature; nil without Blocks
	sets          []string // names of Choice.Sets
	keep          []int
	open          int  // candidates that can be chosen
	priced        bool // costs are to be told
	bound         bool // anything but the number of features binds the choice
}

// candidatesOf makes the candidates of columns, less those left out. Where they are not strict, as those of
// a part of the rows where more is constant, names that are not there are passed over.
func (r *run) candidatesOf(columns []stream.Column, leftOut []stream.LeftOut, strict bool) (*candidates, error) {
	c := &candidates{columns: columns, priced: r.Costs != "" || r.Budget > 0}
	if r.Groups != "" || c.priced || slices.ContainsFunc(columns, inBlock) {
		c.block()
		if err := r.group(c, leftOut, strict); err != nil {
			return nil, err
		}
		if err := r.price(c, leftOut, strict); err != nil {
			return nil, err
		}
		c.settleBlocks()
	}
	c.Budget = r.Budget
	var err error
	if c.keep, err = c.match("keep", r.Keep, leftOut, strict); err != nil {
		return nil, err
	}
	if c.Forbid, err = c.match("forbid", r.Forbid, leftOut, strict); err != nil {
		return nil, err
	}
	c.bound = c.Blocks != nil || c.Most > 0 || len(c.Forbid) > 0
	if c.open = c.Open(len(columns)); strict {
		err = c.possible(r)
	}
	return c, err
}

func inBlock(c stream.Column) bool { return c.Block != "" }

// name is what candidate i is called.
func (c *candidates) name(i int) string {
	if c.Blocks == nil {
		return c.columns[i].Name
	}
	return c.Blocks[i].Name
}

// members are the features of candidate i.
func (c *candidates) members(i int) []int {
	if c.Blocks == nil {
		return []int{i}
	}
	return c.Blocks[i].Members
}

// parts yields the columns of the input that features are, or are made of: the first such feature, and the name.
func (c *candidates) parts(members []int) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		var seen map[string]bool
		for _, j := range members {
			block := c.columns[j].Block
			if seen[block] {
				continue
			}
			if block != "" && len(members) > 1 {
				if seen == nil {
					seen = make(map[string]bool)
				}
				seen[block] = true
			}
			if !yield(j, cmp.Or(block, c.columns[j].Name)) {
				return
			}
		}
	}
}

// reads are the columns of the input that candidate i is made of; nil where they are its features.
func (c *candidates) reads(i int) (names []string) {
	members := c.members(i)
	if !slices.ContainsFunc(members, func(j int) bool { return inBlock(c.columns[j]) }) {
		return nil
	}
	for _, name := range c.parts(members) {
		names = append(names, name)
	}
	return names
}

// names are those of all candidates.
func (c *candidates) names() []string {
	names := make([]string, c.Candidates(len(c.columns)))
	for i := range names {
		names[i] = c.name(i)
	}
	return names
}

// match are the candidates that the patterns of an option name, by their own names or those of a column of
// theirs, in the order of the patterns.
func (c *candidates) match(option string, patterns []string, leftOut []stream.LeftOut, strict bool) ([]int, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	names, of := c.columns, []int(nil)
	if c.Blocks != nil {
		names, of = c.aliases()
	}
	var found []int
	taken := make([]bool, c.Candidates(len(c.columns)))
	for _, p := range patterns {
		matched, err := matchFeatures(option, []string{p}, names, leftOut)
		if err != nil {
			if strict {
				return nil, err
			}
			continue
		}
		for _, i := range matched { // in the order of candidates
			if of != nil {
				i = of[i]
			}
			if !taken[i] {
				found, taken[i] = append(found, i), true
			}
		}
	}
	return found, nil
}

// aliases are the names that blocks go by, and the block of each: their own, and those of what they have.
func (c *candidates) aliases() (names []stream.Column, of []int) {
	seen := make(map[string]bool)
	for i, b := range c.Blocks {
		clear(seen)
		add := func(name string) {
			if !seen[name] {
				seen[name] = true
				names, of = append(names, stream.Column{Name: name}), append(of, i)
			}
		}
		add(b.Name)
		for _, part := range c.parts(b.Members) {
			add(part)
		}
		for _, j := range b.Members {
			add(c.columns[j].Name)
		}
	}
	return names, of
}

// possible refuses what cannot be met, by name.
func (c *candidates) possible(r *run) error {
	if r.Takes.Turns && slices.ContainsFunc(c.columns, inBlock) {
		i := 0
		for c.reads(i) == nil {
			i++
		}
		return stream.Usagef("%s stands for several features, which are chosen as one, and method %s has no score of every feature; {method} greedy serves it", c.name(i), r.Name)
	}
	taken, forbidden := make(map[int]int), c.Forbidden(len(c.columns))
	for _, i := range c.keep {
		if forbidden[i] {
			return stream.Usagef("{keep} and {forbid} both name %s", c.name(i))
		}
		if c.Most > 0 && c.Sets[i] >= 0 {
			if taken[c.Sets[i]]++; taken[c.Sets[i]] > c.Most {
				return stream.Usagef("{keep} has more of the group %s than {group-most} %d", c.sets[c.Sets[i]], c.Most)
			}
		}
	}
	if r.K > 0 && len(c.keep) > r.K {
		return stream.Usagef("{keep} names %s (%s), more than {k} %d", c.count(len(c.keep)), c.some(c.keep), r.K)
	}
	if c.open == 0 {
		return stream.Usagef("{forbid} %s leaves nothing to choose", joinNames(r.Forbid))
	}
	if r.Budget == 0 {
		return nil
	}
	cost := 0.0
	for _, i := range c.keep {
		cost += c.Blocks[i].Cost
	}
	if cost > r.Budget {
		return stream.Usagef("{keep} %s costs %v, more than {budget} %v", c.some(c.keep), cost, r.Budget)
	}
	cheapest := -1
	for i, b := range c.Blocks {
		if !forbidden[i] && (cheapest < 0 || b.Cost < c.Blocks[cheapest].Cost) {
			cheapest = i
		}
	}
	if len(c.keep) == 0 && c.Blocks[cheapest].Cost > r.Budget {
		return stream.Usagef("{budget} %v: nothing costs so little; the cheapest, %s, costs %v", r.Budget, c.name(cheapest), c.Blocks[cheapest].Cost)
	}
	return nil
}

// atMost makes sure that k candidates can be chosen.
func (c *candidates) atMost(k int, leftOut []stream.LeftOut) error {
	if !c.bound || k <= c.open {
		return atMost(k, c.open, leftOut)
	}
	forbidden := ""
	if n := len(c.Forbid); n > 0 {
		forbidden = fmt.Sprintf(", beside %d that {forbid} names", n)
	}
	return stream.Usagef("{k} %d is more than the %s that can be chosen"+forbidden, k, c.count(c.open))
}

// some names a few of the candidates.
func (c *candidates) some(list []int) string {
	var names []string
	for _, i := range list[:min(len(list), fewNames)] {
		names = append(names, c.name(i))
	}
	text := strings.Join(names, ", ")
	if n := len(list) - len(names); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// count is so many candidates in words.
func (c *candidates) count(n int) string {
	if c.Blocks == nil {
		return plural(n, "feature")
	}
	return plural(n, "group")
}

// wants puts into shape how many features are chosen of its columns, at most, and in what blocks, where c are
// the candidates.
func (r *run) wants(shape *method.Shape, c *candidates) {
	d := len(shape.Columns)
	shape.K = r.expectedK(d)
	if !c.bound {
		return
	}
	shape.K = min(c.Features(min(shape.K, c.open)), d)
	if !c.Single() {
		shape.Blocks = c.Largest()
	}
}

// featureNames are the names of the features that were selected, each by itself or with its group.
func featureNames(s *stream.Selection) (names []string) {
	for _, f := range s.Selected {
		names = append(names, f.Features()...)
	}
	return names
}
