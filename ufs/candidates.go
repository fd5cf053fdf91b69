package ufs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// candidates are what a run may choose of some features, and what it calls them. A candidate is a group,
// a column of the input that stands for several features (stream.Column.Block), or a feature.
type candidates struct {
	method.Choice            // Blocks are nil where every candidate is a feature under its own name, and none has a cost
	names         []string   // of the candidates
	reads         [][]string // the columns of the input that a candidate is made of; nil where they are its features
	sets          []string   // names of Choice.Sets
	keep          []int
	open          int   // candidates that can be chosen
	of            []int // the candidate of each feature
	priced        bool  // costs are to be told
	bound         bool  // anything but the number of features binds the choice
}

// candidatesOf makes the candidates of columns, less those left out. Where they are not strict, as those of
// a part of the rows where more is constant, names that are not there are passed over.
func (r *run) candidatesOf(columns []stream.Column, leftOut []stream.LeftOut, strict bool) (*candidates, error) {
	c := &candidates{priced: r.Costs != "" || r.Budget > 0}
	list, err := r.group(c, columns, leftOut, strict)
	if err != nil {
		return nil, err
	}
	if err := r.price(list, columns, leftOut, strict); err != nil {
		return nil, err
	}
	c.of = make([]int, len(columns))
	alone := !c.priced
	for i := range list {
		for _, j := range list[i].Members {
			c.of[j] = i
		}
		c.names = append(c.names, list[i].Name)
		c.reads = append(c.reads, list[i].reads)
		alone = alone && len(list[i].Members) == 1 && list[i].Name == columns[list[i].Members[0]].Name
	}
	for i := range list {
		if !alone {
			c.Blocks = append(c.Blocks, list[i].Block)
		}
	}
	c.Budget = r.Budget
	if c.keep, err = c.match("keep", r.Keep, list, columns, leftOut, strict); err != nil {
		return nil, err
	}
	if c.Forbid, err = c.match("forbid", r.Forbid, list, columns, leftOut, strict); err != nil {
		return nil, err
	}
	c.bound = !alone || c.Most > 0 || len(c.Forbid) > 0
	if c.open = c.Open(len(columns)); strict {
		err = c.possible(r, list)
	}
	return c, err
}

// candidate is one of them while they are made.
type candidate struct {
	method.Block
	parts []string // the columns of the input that it has, or is one of
	reads []string
	group string // that bounds it, where not all of it is chosen
}

// group makes the candidates, and with GroupMost the sets of which so many may be chosen.
func (r *run) group(c *candidates, columns []stream.Column, leftOut []stream.LeftOut, strict bool) ([]*candidate, error) {
	var list []*candidate
	at := make(map[string]*candidate) // by the name of an input's column
	for j, col := range columns {
		name := cmp.Or(col.Block, col.Name)
		one := at[name]
		if one == nil {
			one = &candidate{Block: method.Block{Name: name}, parts: []string{name}}
			at[name], list = one, append(list, one)
		}
		if one.Members = append(one.Members, j); col.Block != "" {
			one.reads = one.parts
		}
	}
	if strict && r.groups.listed != nil {
		known := make([]string, 0, len(list))
		for _, one := range list {
			known = append(known, one.Name)
		}
		for _, name := range r.groups.order {
			if at[name] == nil && !isLeftOut(name, leftOut) {
				return nil, stream.Usagef("{groups}: group %s has the column %q, and the input has none%s", r.groups.listed[name], name, suggest.DidYouMean(name, known))
			}
		}
	}
	groupOf := func(name string) string {
		switch {
		case r.groups.listed != nil:
			return r.groups.listed[name]
		case r.groups.nameOf != nil:
			return r.groups.nameOf(name)
		}
		return ""
	}
	groups, merged := make(map[string]*candidate), list[:0:0]
	for _, one := range list {
		name := groupOf(one.Name)
		if name == "" {
			merged = append(merged, one)
			continue
		}
		g := groups[name]
		if other := at[name]; g == nil && other != nil && groupOf(name) != name {
			return nil, stream.Usagef("{groups}: a group is called %s, and so is a column that is not in it; call it otherwise", name)
		}
		if g == nil {
			g = &candidate{Block: method.Block{Name: name}}
			groups[name], merged = g, append(merged, g)
		}
		one.group = name
		g.Members, g.parts = append(g.Members, one.Members...), append(g.parts, one.parts...)
		if one.reads != nil {
			g.reads = one.reads
		}
	}
	named := r.groups.listed != nil
	for name, g := range groups {
		named = named || name != g.parts[0] || len(g.parts) > 1
	}
	if r.Groups != "" && strict && (len(groups) == 0 || !named) {
		return nil, stream.Usagef("{groups} %s: no column is in any group", r.Groups)
	}
	if r.GroupMost > 0 {
		c.Most = r.GroupMost
		number := make(map[string]int)
		for _, one := range list {
			set, known := number[one.group]
			switch {
			case one.group == "":
				set = -1
			case !known:
				set = len(number)
				number[one.group], c.sets = set, append(c.sets, one.group)
			}
			c.Sets = append(c.Sets, set)
		}
		return list, nil
	}
	for _, one := range merged {
		if slices.Sort(one.Members); one.reads != nil {
			one.reads = one.parts
		}
	}
	return merged, nil
}

func isLeftOut(name string, leftOut []stream.LeftOut) bool {
	return slices.ContainsFunc(leftOut, func(l stream.LeftOut) bool { return l.Name == name })
}

// price settles the costs: what is said of a group or column, else the sum of what its columns cost, 1 each
// where nothing is said.
func (r *run) price(list []*candidate, columns []stream.Column, leftOut []stream.LeftOut, strict bool) error {
	known := make(map[string]bool)
	for _, one := range list {
		if cost, said := r.prices.costs[one.Name]; said {
			one.Cost = cost
		} else {
			for _, part := range one.parts {
				cost, said := r.prices.costs[part]
				if !said {
					cost = 1
				}
				one.Cost += cost
			}
		}
		known[one.Name] = true
		for _, part := range one.parts {
			known[part] = true
		}
	}
	if !strict {
		return nil
	}
	for _, name := range sortedKeys(r.prices.costs) {
		if known[name] || isLeftOut(name, leftOut) {
			continue
		}
		if j := slices.IndexFunc(columns, func(c stream.Column) bool { return c.Name == name }); j >= 0 {
			return stream.Usagef("{costs}: %q is made of the column %s, whose features are chosen as one; give that a cost", name, columns[j].Block)
		}
		return stream.Usagef("{costs}: %q is no column and no group%s", name, suggest.DidYouMean(name, sortedKeys(known)))
	}
	return nil
}

// match are the candidates that the patterns of an option name, by their own names or those of a column of
// theirs, in the order of the patterns.
func (c *candidates) match(option string, patterns []string, list []*candidate, columns []stream.Column, leftOut []stream.LeftOut, strict bool) ([]int, error) {
	var names []stream.Column
	var of []int
	add := func(name string, i int) { names, of = append(names, stream.Column{Name: name}), append(of, i) }
	for i, one := range list {
		seen := map[string]bool{one.Name: true}
		add(one.Name, i)
		for _, part := range one.parts {
			if !seen[part] {
				seen[part] = true
				add(part, i)
			}
		}
		for _, j := range one.Members {
			if name := columns[j].Name; !seen[name] {
				seen[name] = true
				add(name, i)
			}
		}
	}
	var found []int
	taken := make([]bool, len(list))
	for _, p := range patterns {
		matched, err := matchFeatures(option, []string{p}, names, leftOut)
		if err != nil {
			if strict {
				return nil, err
			}
			continue
		}
		slices.SortFunc(matched, func(a, b int) int { return cmp.Compare(of[a], of[b]) })
		for _, n := range matched {
			if i := of[n]; !taken[i] {
				found, taken[i] = append(found, i), true
			}
		}
	}
	return found, nil
}

// possible refuses what cannot be met, by name.
func (c *candidates) possible(r *run, list []*candidate) error {
	if i := slices.IndexFunc(c.reads, func(reads []string) bool { return reads != nil }); i >= 0 && r.Takes.Turns {
		return stream.Usagef("%s stands for several features, which are chosen as one, and method %s has no score of every feature; {method} greedy serves it", c.names[i], r.Name)
	}
	taken, cost := make(map[int]int), 0.0
	for _, i := range c.keep {
		if slices.Contains(c.Forbid, i) {
			return stream.Usagef("{keep} and {forbid} both name %s", c.names[i])
		}
		cost += list[i].Cost
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
	if cost > r.Budget {
		return stream.Usagef("{keep} %s costs %v, more than {budget} %v", c.some(c.keep), cost, r.Budget)
	}
	cheapest := -1
	for i, one := range list {
		if !slices.Contains(c.Forbid, i) && (cheapest < 0 || one.Cost < list[cheapest].Cost) {
			cheapest = i
		}
	}
	if len(c.keep) == 0 && list[cheapest].Cost > r.Budget {
		return stream.Usagef("{budget} %v: nothing costs so little; the cheapest, %s, costs %v", r.Budget, c.names[cheapest], list[cheapest].Cost)
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
		names = append(names, c.names[i])
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

// wants puts into shape how many features are chosen of its columns, at most, and in what blocks.
func (r *run) wants(shape *method.Shape) {
	d := len(shape.Columns)
	shape.K = r.expectedK(d)
	c, err := r.candidatesOf(shape.Columns, shape.LeftOut, false)
	if err != nil || !c.bound {
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
