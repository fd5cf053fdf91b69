package choice

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// Candidates lists the candidates that a run may choose. A candidate is a group of columns, a column of the input that
// became several features (stream.Column.Block), or a single feature. If every candidate is a single feature without a
// cost, Blocks is nil, because there may be millions of features.
type Candidates struct {
	method.Choice // its Blocks are the candidates
	Columns       []stream.Column
	BlockOf       []int    // index in Blocks of each feature's block; nil if Blocks is nil
	setNames      []string // names of Choice.Sets
	Keep          []int    // the candidates that option {keep} requires
	Choosable     int      // number of candidates that can be chosen together
	ReportsCosts  bool     // results report costs
	IsConstrained bool     // the choice is constrained by more than the number of features
}

// NewCandidates makes the candidates from columns, which do not contain the columns in leftOut. If strict is false, it
// ignores unknown names in options: for a part of the rows, more columns may be constant and therefore left out.
func NewCandidates(r *settled.Run, columns []stream.Column, leftOut []stream.LeftOut, strict bool) (*Candidates, error) {
	c := &Candidates{Columns: columns, ReportsCosts: r.Choice.Costs != "" || r.Choice.Budget > 0}
	if r.Choice.Groups != "" || c.ReportsCosts || slices.ContainsFunc(columns, isPartOfBlock) {
		c.makeBlocksByColumn()
		if err := applyGroups(r, c, leftOut, strict); err != nil {
			return nil, err
		}
		if err := applyCosts(r, c, leftOut, strict); err != nil {
			return nil, err
		}
		c.indexBlocks()
	}
	c.Budget = r.Choice.Budget
	var err error
	if c.Keep, err = c.matchPatterns("keep", r.Choice.Keep, leftOut, strict); err != nil {
		return nil, err
	}
	if c.Forbid, err = c.matchPatterns("forbid", r.Choice.Forbid, leftOut, strict); err != nil {
		return nil, err
	}
	if err = c.setExplained(r, leftOut, strict); err != nil {
		return nil, err
	}
	c.IsConstrained = c.Blocks != nil || c.Most > 0 || len(c.Forbid) > 0
	if c.Choosable = c.Open(len(columns)); strict {
		err = c.checkFeasible(r)
	}
	return c, err
}

func (c *Candidates) setExplained(r *settled.Run, leftOut []stream.LeftOut, strict bool) error {
	patterns := r.Choice.ExplainColumns
	explained, err := c.matchPatterns("explain-columns", patterns, leftOut, strict)
	if err != nil {
		return err
	}
	forbidden := c.Forbidden(len(c.Columns))
	for _, i := range explained {
		switch {
		case !strict:
		case slices.Contains(c.Keep, i):
			return stream.Usagef("{keep} and {explain-columns} both name %s", c.Name(i))
		case forbidden[i]:
			return stream.Usagef("{forbid} and {explain-columns} both name %s; an explained column is never chosen", c.Name(i))
		case len(explained) == c.Candidates(len(c.Columns)):
			return stream.Usagef("{explain-columns} %s names all columns, and leaves none to explain them by", request.JoinNames(patterns))
		}
		c.Explain = append(c.Explain, c.Members(i)...)
	}
	if len(patterns) > 0 && c.Explain == nil {
		return stream.Usagef("{explain-columns} %s: none of these columns varies in a part of the rows", request.JoinNames(patterns))
	}
	slices.Sort(c.Explain)
	c.Forbid = append(c.Forbid, explained...)
	return nil
}

func isPartOfBlock(c stream.Column) bool { return c.Block != "" }

func (c *Candidates) Name(candidate int) string {
	if c.Blocks == nil {
		return c.Columns[candidate].Name
	}
	return c.Blocks[candidate].Name
}

func (c *Candidates) Members(candidate int) []int {
	if c.Blocks == nil {
		return []int{candidate}
	}
	return c.Blocks[candidate].Members
}

// InputColumns yields the columns of the input from which the features in members were made. For each column it yields
// the index of the first of these features, and the column's name.
func (c *Candidates) InputColumns(members []int) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		var seen map[string]bool
		for _, j := range members {
			block := c.Columns[j].Block
			if seen[block] {
				continue
			}
			if block != "" && len(members) > 1 {
				if seen == nil {
					seen = make(map[string]bool)
				}
				seen[block] = true
			}
			if !yield(j, cmp.Or(block, c.Columns[j].Name)) {
				return
			}
		}
	}
}

// InputNames lists the columns of the input from which candidate i was made. It returns nil if the candidate's features
// are columns of the input themselves.
func (c *Candidates) InputNames(i int) (names []string) {
	members := c.Members(i)
	if !slices.ContainsFunc(members, func(j int) bool { return isPartOfBlock(c.Columns[j]) }) {
		return nil
	}
	for _, name := range c.InputColumns(members) {
		names = append(names, name)
	}
	return names
}

func (c *Candidates) Names() []string {
	names := make([]string, c.Candidates(len(c.Columns)))
	for i := range names {
		names[i] = c.Name(i)
	}
	return names
}

// matchPatterns lists the candidates that the patterns of an option match, in the order of the patterns. A pattern
// matches a candidate if it matches the name of the candidate or of one of the candidate's columns.
func (c *Candidates) matchPatterns(option string, patterns []string, leftOut []stream.LeftOut, strict bool) ([]int, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	names, blockOf := c.Columns, []int(nil)
	if c.Blocks != nil {
		names, blockOf = c.blockAliases()
	}
	var found []int
	taken := make([]bool, c.Candidates(len(c.Columns)))
	for _, p := range patterns {
		matched, err := MatchFeatures(option, []string{p}, names, leftOut)
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
// was made, and of its features. names[i] is a name of block number blockOf[i].
func (c *Candidates) blockAliases() (names []stream.Column, blockOf []int) {
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
		for _, part := range c.InputColumns(b.Members) {
			add(part)
		}
		for _, j := range b.Members {
			add(c.Columns[j].Name)
		}
	}
	return names, blockOf
}

func (c *Candidates) checkFeasible(r *settled.Run) error {
	if r.Bound.Takes.Turns && slices.ContainsFunc(c.Columns, isPartOfBlock) {
		i := 0
		for c.InputNames(i) == nil {
			i++
		}
		return stream.Usagef("%s stands for several features, which are chosen as one, and method %s has no score of every feature; {method greedy} serves it", c.Name(i), r.Bound.Name)
	}
	taken, forbidden := make(map[int]int), c.Forbidden(len(c.Columns))
	for _, i := range c.Keep {
		if forbidden[i] {
			return stream.Usagef("{keep} and {forbid} both name %s", c.Name(i))
		}
		if c.Most > 0 && c.Sets[i] >= 0 {
			if taken[c.Sets[i]]++; taken[c.Sets[i]] > c.Most {
				return stream.Usagef("{keep} has more of the group %s than {group-most} %d", c.setNames[c.Sets[i]], c.Most)
			}
		}
	}
	if r.Choice.K > 0 && len(c.Keep) > r.Choice.K {
		return stream.Usagef("{keep} names %s (%s), more than {k} %d", c.candidateCountText(len(c.Keep)), c.firstNamesText(c.Keep), r.Choice.K)
	}
	if c.Choosable == 0 {
		return stream.Usagef("{forbid} %s leaves nothing to choose", request.JoinNames(slices.Concat(r.Choice.Forbid, r.Choice.ExplainColumns)))
	}
	if r.Choice.Budget == 0 {
		return nil
	}
	cost := 0.0
	for _, i := range c.Keep {
		cost += c.Blocks[i].Cost
	}
	if cost > r.Choice.Budget {
		return stream.Usagef("{keep} %s costs %v, more than {budget} %v", c.firstNamesText(c.Keep), cost, r.Choice.Budget)
	}
	cheapest := -1
	for i, b := range c.Blocks {
		if !forbidden[i] && (cheapest < 0 || b.Cost < c.Blocks[cheapest].Cost) {
			cheapest = i
		}
	}
	if len(c.Keep) == 0 && c.Blocks[cheapest].Cost > r.Choice.Budget {
		return stream.Usagef("{budget} %v buys nothing: the cheapest, %s, costs %v", r.Choice.Budget, c.Name(cheapest), c.Blocks[cheapest].Cost)
	}
	return nil
}

// CheckCount returns a usage error if k is more than the number of candidates that can be chosen.
func (c *Candidates) CheckCount(k int, leftOut []stream.LeftOut) error {
	if !c.IsConstrained || k <= c.Choosable {
		return checkEnoughFeatures(k, c.Choosable, leftOut)
	}
	forbidden := ""
	if n := len(c.Forbid); n > 0 {
		forbidden = fmt.Sprintf(", not counting %d that {forbid} names", n)
		if len(c.Explain) > 0 {
			forbidden = fmt.Sprintf(", not counting %d that {forbid} or {explain-columns} names", n)
		}
	}
	return stream.Usagef("{k} %d is more than the %s that can be chosen"+forbidden, k, c.candidateCountText(c.Choosable))
}

func (c *Candidates) firstNamesText(candidates []int) string {
	names := convert.Each(candidates[:min(len(candidates), wording.MaxNamesInError)], c.Name)
	text := strings.Join(names, ", ")
	if n := len(candidates) - len(names); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

func (c *Candidates) candidateCountText(count int) string {
	if c.Blocks == nil {
		return wording.CountNoun(count, "feature")
	}
	return wording.CountNoun(count, "group")
}

// AddChoiceToShape adds a choice of up to k of the candidates to shape, which describes the input of a solver.
func AddChoiceToShape(k int, shape *method.Shape, candidates *Candidates) {
	shape.K = k
	if !candidates.IsConstrained {
		return
	}
	shape.Explain = len(candidates.Explain)
	shape.K = min(candidates.Features(min(k, candidates.Choosable)), len(shape.Columns))
	if !candidates.Single() {
		shape.Blocks = candidates.Largest()
	}
}

// FeatureNames lists the selected features, including every member of a group.
func FeatureNames(s *stream.Selection) (names []string) {
	for _, f := range s.Selected {
		names = append(names, f.Features()...)
	}
	return names
}

// MatchFeatures returns the indices in cols of the features that the patterns of an option match, in the order of the
// patterns. A pattern without a match is a usage error.
func MatchFeatures(option string, patterns []string, cols []stream.Column, leftOut []stream.LeftOut) ([]int, error) {
	var found []int
	taken := make([]bool, len(cols))
	for _, p := range patterns {
		matched, err := chunkio.MatchColumns(option, []string{p}, cols)
		if err != nil {
			for _, l := range leftOut {
				if l.Name == p {
					return nil, stream.Usagef("%v %s: it is no feature: %s", stream.Option(option), p, l.Why)
				}
			}
			return nil, err
		}
		for j, ok := range matched {
			if ok && !taken[j] {
				found, taken[j] = append(found, j), true
			}
		}
	}
	return found, nil
}

func checkEnoughFeatures(k, selectable int, leftOut []stream.LeftOut) error {
	if k <= selectable {
		return nil
	}
	why := ""
	if n := len(leftOut); n > 0 {
		why = fmt.Sprintf("; %s left out, the first %q: %s", wording.CountNoun(n, "column"), leftOut[0].Name, leftOut[0].Why)
	}
	return stream.Usagef("{k} %d is more than the %s that can be selected%s", k, wording.CountNoun(selectable, "feature"), why)
}
