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

// candidates lists the candidates that a run may choose. A candidate is a group of columns, a column of the input that
// became several features (stream.Column.Block), or a single feature. If every candidate is a single feature without a
// cost, Blocks is nil, because there may be millions of features.
type candidates struct {
	method.Choice // its Blocks are the candidates
	columns       []stream.Column
	blockOf       []int    // index in Blocks of each feature's block; nil if Blocks is nil
	setNames      []string // names of Choice.Sets
	keep          []int    // the candidates that {keep} requires
	choosable     int      // number of candidates that can be chosen together
	reportsCosts  bool     // results report costs
	isConstrained bool     // the choice is constrained by more than the number of features
}

// newCandidates makes the candidates from columns, which do not contain the columns in leftOut. If strict is false, it
// ignores unknown names in options: for a part of the rows, more columns may be constant and therefore left out.
func (r *run) newCandidates(columns []stream.Column, leftOut []stream.LeftOut, strict bool) (*candidates, error) {
	c := &candidates{columns: columns, reportsCosts: r.Costs != "" || r.Budget > 0}
	if r.Groups != "" || c.reportsCosts || slices.ContainsFunc(columns, isInBlock) {
		c.makeBlocks()
		if err := r.applyGroups(c, leftOut, strict); err != nil {
			return nil, err
		}
		if err := r.applyCosts(c, leftOut, strict); err != nil {
			return nil, err
		}
		c.indexBlocks()
	}
	c.Budget = r.Budget
	var err error
	if c.keep, err = c.matchPatterns("keep", r.Keep, leftOut, strict); err != nil {
		return nil, err
	}
	if c.Forbid, err = c.matchPatterns("forbid", r.Forbid, leftOut, strict); err != nil {
		return nil, err
	}
	c.isConstrained = c.Blocks != nil || c.Most > 0 || len(c.Forbid) > 0
	if c.choosable = c.Open(len(columns)); strict {
		err = c.checkFeasible(r)
	}
	return c, err
}

func isInBlock(c stream.Column) bool { return c.Block != "" }

func (c *candidates) name(i int) string {
	if c.Blocks == nil {
		return c.columns[i].Name
	}
	return c.Blocks[i].Name
}

func (c *candidates) members(i int) []int {
	if c.Blocks == nil {
		return []int{i}
	}
	return c.Blocks[i].Members
}

// inputColumns yields the columns of the input from which the features in members were made. For each column it yields
// the index of the first of these features, and the column's name.
func (c *candidates) inputColumns(members []int) iter.Seq2[int, string] {
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

// inputNames lists the columns of the input from which candidate i was made. It returns nil if the candidate's features
// are columns of the input themselves.
func (c *candidates) inputNames(i int) (names []string) {
	members := c.members(i)
	if !slices.ContainsFunc(members, func(j int) bool { return isInBlock(c.columns[j]) }) {
		return nil
	}
	for _, name := range c.inputColumns(members) {
		names = append(names, name)
	}
	return names
}

func (c *candidates) names() []string {
	names := make([]string, c.Candidates(len(c.columns)))
	for i := range names {
		names[i] = c.name(i)
	}
	return names
}

// matchPatterns lists the candidates that the patterns of an option match, in the order of the patterns. A pattern
// matches a candidate if it matches the name of the candidate or of one of the candidate's columns.
func (c *candidates) matchPatterns(option string, patterns []string, leftOut []stream.LeftOut, strict bool) ([]int, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	names, blockOf := c.columns, []int(nil)
	if c.Blocks != nil {
		names, blockOf = c.blockAliases()
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
		for _, i := range matched { // ascending
			if blockOf != nil {
				i = blockOf[i]
			}
			if !taken[i] {
				found, taken[i] = append(found, i), true
			}
		}
	}
	return found, nil
}

// blockAliases lists all names by which options may name a block: the name of the block, of the columns from which it
// was made, and of its features. Name names[i] means block number blockOf[i].
func (c *candidates) blockAliases() (names []stream.Column, blockOf []int) {
	seen := make(map[string]bool)
	for i, b := range c.Blocks {
		clear(seen)
		add := func(name string) {
			if !seen[name] {
				seen[name] = true
				names, blockOf = append(names, stream.Column{Name: name}), append(blockOf, i)
			}
		}
		add(b.Name)
		for _, part := range c.inputColumns(b.Members) {
			add(part)
		}
		for _, j := range b.Members {
			add(c.columns[j].Name)
		}
	}
	return names, blockOf
}

// checkFeasible returns an error that names the contradiction if {keep}, {forbid}, {k} and {budget} cannot all be met.
func (c *candidates) checkFeasible(r *run) error {
	if r.Takes.Turns && slices.ContainsFunc(c.columns, isInBlock) {
		i := 0
		for c.inputNames(i) == nil {
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
				return stream.Usagef("{keep} has more of the group %s than {group-most} %d", c.setNames[c.Sets[i]], c.Most)
			}
		}
	}
	if r.K > 0 && len(c.keep) > r.K {
		return stream.Usagef("{keep} names %s (%s), more than {k} %d", c.countCandidates(len(c.keep)), c.firstNamesText(c.keep), r.K)
	}
	if c.choosable == 0 {
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
		return stream.Usagef("{keep} %s costs %v, more than {budget} %v", c.firstNamesText(c.keep), cost, r.Budget)
	}
	cheapest := -1
	for i, b := range c.Blocks {
		if !forbidden[i] && (cheapest < 0 || b.Cost < c.Blocks[cheapest].Cost) {
			cheapest = i
		}
	}
	if len(c.keep) == 0 && c.Blocks[cheapest].Cost > r.Budget {
		return stream.Usagef("{budget} %v buys nothing: the cheapest, %s, costs %v", r.Budget, c.name(cheapest), c.Blocks[cheapest].Cost)
	}
	return nil
}

func (c *candidates) checkCount(k int, leftOut []stream.LeftOut) error {
	if !c.isConstrained || k <= c.choosable {
		return checkAtMost(k, c.choosable, leftOut)
	}
	forbidden := ""
	if n := len(c.Forbid); n > 0 {
		forbidden = fmt.Sprintf(", not counting %d that {forbid} names", n)
	}
	return stream.Usagef("{k} %d is more than the %s that can be chosen"+forbidden, k, c.countCandidates(c.choosable))
}

func (c *candidates) firstNamesText(list []int) string {
	var names []string
	for _, i := range list[:min(len(list), maxNamesInError)] {
		names = append(names, c.name(i))
	}
	text := strings.Join(names, ", ")
	if n := len(list) - len(names); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

func (c *candidates) countCandidates(n int) string {
	if c.Blocks == nil {
		return plural(n, "feature")
	}
	return plural(n, "group")
}

func (r *run) addChoiceToShape(shape *method.Shape, c *candidates) {
	d := len(shape.Columns)
	shape.K = r.expectedK(d)
	if !c.isConstrained {
		return
	}
	shape.K = min(c.Features(min(shape.K, c.choosable)), d)
	if !c.Single() {
		shape.Blocks = c.Largest()
	}
}

// featureNames lists the selected features, including every member of a group.
func featureNames(s *stream.Selection) (names []string) {
	for _, f := range s.Selected {
		names = append(names, f.Features()...)
	}
	return names
}
