package ufs

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// findGone lists the features of the selection that are none of the new data.
func (c *checker) findGone(now *checked) {
	why := make(map[string]string)
	for _, l := range now.t.s.LeftOut {
		why[l.Name] = l.Why
	}
	for _, name := range featureNames(c.Selection) {
		if _, there := now.at[name]; !there {
			c.v.Gone = append(c.v.Gone, stream.LeftOut{Name: name, Why: cmp.Or(why[name], "no column of this name")})
		}
	}
}

// decide settles the verdict.
func (c *checker) decide() error {
	v := c.v
	again := func(format string, args ...any) {
		v.Again = true
		v.Why = append(v.Why, stream.Textf(format, args...).Spell(c.Spelling))
	}
	if n := len(v.Gone); n > 0 {
		var names []string
		for _, g := range v.Gone[:min(n, 3)] {
			names = append(names, fmt.Sprintf("%s (%s)", g.Name, g.Why))
		}
		more := ""
		if n > 3 {
			more = fmt.Sprintf(" and %d more", n-3)
		}
		again("%s of the selection: %s%s", map[bool]string{true: "gone is a feature", false: "gone are features"}[n == 1], strings.Join(names, ", "), more)
	}
	allowed := c.Tolerance
	switch before := float64(v.LostBefore); {
	case c.greedy:
	case before == before:
		allowed += max(before, 0)
	default:
		allowed = math.Inf(1)
		why := stream.Textf("method %s does not aim at the least error", v.Method)
		if c.bound {
			why = stream.Textf("the selection was bound to groups, columns of several features, costs or what may be chosen, and a fresh one is not")
		}
		v.Warnings = append(v.Warnings, stream.Textf("%v, so that its selection cannot be measured by it alone: give {baseline}, statistics of the data that it was made from", why).Spell(c.Spelling))
	}
	if lost := float64(v.Lost); lost > allowed {
		again("the selection explains %.2f %% of the new data and a fresh one of as many features %.2f %%: %.2f %% of that are lost, and {tolerance} allows %.2f %%",
			100*(1-v.Error), 100*(1-v.Fresh), 100*lost, 100*allowed)
	}
	if c.PSILimit > 0 {
		var names []string
		for i := range v.Columns {
			if col := &v.Columns[i]; col.Index() >= c.PSILimit {
				names = append(names, col.Name)
			}
		}
		if n := len(names); n > 0 {
			again("%s moved by {psi-limit} %v or more: %s", plural(n, "column"), c.PSILimit, joinNames(names[:min(n, 10)]))
		}
	}
	if !v.Again {
		return nil
	}
	texts := make([]any, len(v.Why))
	for i, why := range v.Why {
		texts[i] = why
	}
	return &stream.StaleError{Text: stream.Textf("select again: "+strings.Repeat("; %s", len(texts))[2:], texts...)}
}
