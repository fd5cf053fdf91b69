package choice

import (
	"cmp"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func (c *Candidates) makeBlocksByColumn() {
	members := make([]int, len(c.Columns)) // blocks of one feature share this slice, to save memory
	made := make(map[string]int)
	c.Blocks = make([]method.Block, 0, len(c.Columns))
	for j, col := range c.Columns {
		members[j] = j
		i, known := made[col.Block]
		switch {
		case known:
			c.Blocks[i].Members = append(c.Blocks[i].Members, j)
			continue
		case col.Block != "":
			made[col.Block] = len(c.Blocks)
		}
		c.Blocks = append(c.Blocks, method.Block{Name: cmp.Or(col.Block, col.Name), Members: members[j : j+1 : j+1]})
	}
}

// indexBlocks removes the blocks (groups of features chosen together) if each is a single feature with the feature's
// name, and costs are not reported. Otherwise it records the block of each feature in blockOf.
func (c *Candidates) indexBlocks() {
	isNeeded := func(b method.Block) bool { return len(b.Members) > 1 || b.Name != c.Columns[b.Members[0]].Name }
	if !c.ReportsCosts && !slices.ContainsFunc(c.Blocks, isNeeded) {
		c.Blocks = nil
		return
	}
	c.BlockOf = make([]int, len(c.Columns))
	for i, b := range c.Blocks {
		for _, j := range b.Members {
			c.BlockOf[j] = i
		}
	}
}

// applyGroups joins the blocks of a group into one block. With GroupMost it makes a set of each group instead, from
// which only GroupMost candidates can be chosen.
func applyGroups(r *settled.Run, c *Candidates, leftOut []stream.LeftOut, strict bool) error {
	if r.Choice.Groups == "" {
		return nil
	}
	if strict {
		if err := checkGroupedColumnsExist(r, c, leftOut); err != nil {
			return err
		}
	}
	groupOf := r.Grouping.GroupName
	if r.Grouping.GroupByColumn != nil {
		groupOf = func(name string) string { return r.Grouping.GroupByColumn[name] }
	}
	var names []string             // names of the groups
	number := make(map[string]int) // index into names
	groups := make([]int, len(c.Blocks))
	hasGroups := r.Grouping.GroupByColumn != nil
	for i, b := range c.Blocks {
		name := groupOf(b.Name)
		if groups[i] = -1; name == "" {
			continue
		}
		hasGroups = hasGroups || name != b.Name
		n, known := number[name]
		if !known {
			n = len(names)
			number[name], names = n, append(names, name)
		}
		groups[i] = n
	}
	first := len(names) // index of the first group that has the name of a column outside the group
	for i, b := range c.Blocks {
		if n, clashes := number[b.Name]; clashes && groups[i] != n {
			first = min(first, n)
		}
	}
	if first < len(names) {
		return stream.Usagef("{groups}: a group is called %s, and so is a column that is not in it; call it otherwise", names[first])
	}
	if strict && (len(names) == 0 || !hasGroups) {
		return stream.Usagef("{groups} %s: no column is in any group", r.Choice.Groups)
	}
	if r.Choice.GroupMost > 0 {
		c.Most, c.Sets, c.setNames = r.Choice.GroupMost, groups, names
		return nil
	}
	c.joinGroups(groups, names)
	return nil
}

// joinGroups replaces the blocks of each group by one block. groups[i] is the group of block i, or -1 without a group.
func (c *Candidates) joinGroups(groups []int, names []string) {
	blockOf := slices.Repeat([]int{-1}, len(names)) // the block of a group
	joined := c.Blocks[:0]                          // overwrites c.Blocks, but never a block that is still to be read
	for i, b := range c.Blocks {
		if g := groups[i]; g >= 0 {
			if block := blockOf[g]; block >= 0 {
				joined[block].Members = append(joined[block].Members, b.Members...)
				continue
			}
			blockOf[g], b.Name = len(joined), names[g]
		}
		joined = append(joined, b)
	}
	c.Blocks = joined
	for _, b := range c.Blocks {
		slices.Sort(b.Members)
	}
}

func checkGroupedColumnsExist(r *settled.Run, c *Candidates, leftOut []stream.LeftOut) error {
	found := make(map[string]bool, len(r.Grouping.ColumnOrder))
	for _, b := range c.Blocks {
		if _, listed := r.Grouping.GroupByColumn[b.Name]; listed {
			found[b.Name] = true
		}
	}
	for _, name := range r.Grouping.ColumnOrder {
		if !found[name] && !IsLeftOut(name, leftOut) {
			return stream.Usagef("{groups}: group %s has the column %q, and the input has none%s", r.Grouping.GroupByColumn[name], name, suggest.DidYouMean(name, c.Names()))
		}
	}
	return nil
}

func IsLeftOut(name string, leftOut []stream.LeftOut) bool {
	return slices.ContainsFunc(leftOut, func(l stream.LeftOut) bool { return l.Name == name })
}

// applyCosts sets the cost of each block. If the costs option has a cost for the block's own name, that is the cost.
// Otherwise the cost is the sum of the costs of the block's columns. A column without a given cost costs 1.
func applyCosts(r *settled.Run, c *Candidates, leftOut []stream.LeftOut, strict bool) error {
	found := make(map[string]bool, len(r.Pricing.Costs))
	for i := range c.Blocks {
		b := &c.Blocks[i]
		for _, part := range c.InputColumns(b.Members) {
			cost, isGiven := r.Pricing.Costs[part]
			if isGiven {
				found[part] = true
			} else {
				cost = 1
			}
			b.Cost += cost
		}
		if cost, isGiven := r.Pricing.Costs[b.Name]; isGiven {
			b.Cost, found[b.Name] = cost, true
		}
	}
	if !strict {
		return nil
	}
	for _, name := range request.SortedKeys(r.Pricing.Costs) {
		if found[name] || IsLeftOut(name, leftOut) {
			continue
		}
		if j := slices.IndexFunc(c.Columns, func(col stream.Column) bool { return col.Name == name }); j >= 0 {
			return stream.Usagef("{costs}: %q is made of the column %s, whose features are chosen as one; give that a cost", name, c.Columns[j].Block)
		}
		known := c.Names()
		for _, col := range c.Columns {
			known = append(known, cmp.Or(col.Block, col.Name))
		}
		slices.Sort(known)
		return stream.Usagef("{costs}: %q is no column and no group%s", name, suggest.DidYouMean(name, slices.Compact(known)))
	}
	return nil
}
