package eufs

import "github.com/ufs-stream/ufs-stream/stream"

// Tree is HUFS's index tree. A node is a group of features, and its children divide some or all of them further. Every
// node counts as a group, including the root. Features are numbers of the columns to select from.
type Tree struct {
	Features []int
	Children []*Tree
}

func (t *Tree) nodeGroups() [][]int {
	if t == nil {
		return nil
	}
	out := [][]int{t.Features}
	for _, c := range t.Children {
		out = append(out, c.nodeGroups()...)
	}
	return out
}

// Entries returns the total number of features over all nodes; a run holds 2·8·k bytes for each of these entries.
func (t *Tree) Entries() (n int64) {
	for _, g := range t.nodeGroups() {
		n += int64(len(g))
	}
	return n
}

// Nodes returns the number of groups.
func (t *Tree) Nodes() int { return len(t.nodeGroups()) }

// Depth returns the number of nodes from the root to the farthest leaf, or 0 if there is no tree.
func (t *Tree) Depth() (depth int) {
	if t == nil {
		return 0
	}
	for _, c := range t.Children {
		depth = max(depth, c.Depth())
	}
	return depth + 1
}

func (t *Tree) checkFeatures(d int) error {
	for _, g := range t.nodeGroups() {
		for _, j := range g {
			if j < 0 || j >= d {
				return stream.Usagef("the tree has feature %d of %d", j, d)
			}
		}
	}
	return nil
}
