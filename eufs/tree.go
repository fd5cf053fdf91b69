package eufs

import "github.com/ufs-stream/ufs-stream/stream"

// Tree is HUFS's index tree: a node is a group of features, and its children divide some
// or all of them further. Every node counts as a group, the root too; features are the
// numbers of the columns that are selected from.
type Tree struct {
	Features []int
	Children []*Tree
}

// groups lists the features of every node, the root first.
func (t *Tree) groups() [][]int {
	if t == nil {
		return nil
	}
	out := [][]int{t.Features}
	for _, c := range t.Children {
		out = append(out, c.groups()...)
	}
	return out
}

// Entries is the number of features of all nodes together, what a run holds 2·8·k bytes for.
func (t *Tree) Entries() (n int64) {
	for _, g := range t.groups() {
		n += int64(len(g))
	}
	return n
}

// Nodes counts the groups, and Depth the nodes from the root to the farthest leaf.
func (t *Tree) Nodes() int { return len(t.groups()) }

// Depth is 0 for no tree.
func (t *Tree) Depth() (depth int) {
	if t == nil {
		return 0
	}
	for _, c := range t.Children {
		depth = max(depth, c.Depth())
	}
	return depth + 1
}

// check makes sure that the features are columns.
func (t *Tree) check(d int) error {
	for _, g := range t.groups() {
		for _, j := range g {
			if j < 0 || j >= d {
				return stream.Usagef("the tree has feature %d of %d", j, d)
			}
		}
	}
	return nil
}
