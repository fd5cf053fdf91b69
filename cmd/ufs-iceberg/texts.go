package main

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/app/condition"
)

// mayMatch reports whether a file may have a row for which the condition is true, judged by its text partitions
// (pruner.texts). identity contains the file's values of identity partitions, by column id.
func (p *pruner) mayMatch(identity map[int]any) bool {
	if p == nil || len(p.texts) == 0 {
		return true
	}
	mayBeTrue, _ := p.possibleOutcomes(p.parsed.Root, identity)
	return mayBeTrue
}

// possibleOutcomes reports whether a node may be true, and whether it may be false, for rows of a file. Both are false
// if a null makes the node unknown for all rows.
func (p *pruner) possibleOutcomes(n *condition.Node, identity map[int]any) (mayBeTrue, mayBeFalse bool) {
	switch n.Op {
	case condition.IsLeaf:
		return p.leafOutcomes(&p.parsed.Leaves[n.Leaf], identity)
	case condition.Not:
		mayBeTrue, mayBeFalse = p.possibleOutcomes(n.Args[0], identity)
		return mayBeFalse, mayBeTrue
	case condition.And:
		mayBeTrue = true
		for _, arg := range n.Args {
			yes, no := p.possibleOutcomes(arg, identity)
			mayBeTrue, mayBeFalse = mayBeTrue && yes, mayBeFalse || no
		}
	case condition.Or:
		mayBeFalse = true
		for _, arg := range n.Args {
			yes, no := p.possibleOutcomes(arg, identity)
			mayBeTrue, mayBeFalse = mayBeTrue || yes, mayBeFalse && no
		}
	}
	return mayBeTrue, mayBeFalse
}

// leafOutcomes reports the same as possibleOutcomes, for a comparison.
func (p *pruner) leafOutcomes(l *condition.Leaf, identity map[int]any) (mayBeTrue, mayBeFalse bool) {
	value, known := identity[p.texts[l.Column]]
	text, isText := value.(string)
	switch {
	case !known || value != nil && !isText:
		return true, true
	case l.Test == condition.IsNull:
		return value == nil, value != nil
	case value == nil:
		return false, false
	case slices.ContainsFunc(l.Constants, func(c condition.Constant) bool { return c.Kind != condition.Text }):
		return true, true // ufs-stream reports the error
	}
	holds := slices.ContainsFunc(l.Constants, func(c condition.Constant) bool {
		switch l.Test {
		case condition.Less:
			return text < c.Text
		case condition.LessEqual:
			return text <= c.Text
		case condition.Greater:
			return text > c.Text
		case condition.GreaterEqual:
			return text >= c.Text
		}
		return text == c.Text
	})
	return holds, !holds
}
