package eufs

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

func allFeatures(count int) []int {
	out := make([]int, count)
	for j := range out {
		out[j] = j
	}
	return out
}

// addChild adds a node below t. If the node has all features of t, its children become t's children instead.
func (t *Tree) addChild(c *Tree) {
	switch {
	case c == nil:
	case len(c.Features) == len(t.Features):
		t.Children = append(t.Children, c.Children...)
	default:
		t.Children = append(t.Children, c)
	}
}

// PrefixTree groups features by the parts of their names between separators: a_x_1 and a_x_2 are in the groups a and
// a_x. Names that begin with the same parts are a group if there are two or more of them. Children are in the order of
// their first features.
func PrefixTree(names []string, separator string) (*Tree, error) {
	if separator == "" {
		return nil, stream.Usagef("{tree} prefix: there is no separator; want prefix:SEP, as prefix:_")
	}
	parts := make([][]string, len(names))
	for j, name := range names {
		parts[j] = strings.Split(name, separator)
	}
	t := groupByPrefix(parts, allFeatures(len(names)), 0)
	if len(t.Children) == 0 {
		return nil, stream.Usagef("{tree} prefix:%s: no two of the %d names share a part before the separator", separator, len(names))
	}
	return t, nil
}

func groupByPrefix(parts [][]string, features []int, depth int) *Tree {
	t := &Tree{Features: features}
	var order []string
	members := make(map[string][]int)
	for _, j := range features {
		if len(parts[j]) < depth+2 { // the last part names the feature itself
			continue
		}
		part := parts[j][depth]
		if members[part] == nil {
			order = append(order, part)
		}
		members[part] = append(members[part], j)
	}
	for _, part := range order {
		if g := members[part]; len(g) > 1 {
			t.addChild(groupByPrefix(parts, g, depth+1))
		}
	}
	return t
}

// ImageTree returns the quad-tree over pixels, whose names end in px_R_C with row R and column C. A rectangle is a
// group, and its quarters are its children, down to pixels. Pixels that are not among the names leave gaps.
func ImageTree(names []string) (*Tree, error) {
	at := make(map[[2]int]int, len(names))
	var rows, cols int
	for j, name := range names {
		r, c, ok := parsePixel(name)
		if !ok {
			return nil, stream.Usagef("{tree} image: %q is not a pixel's name; want px_R_C, row and column from 0", name)
		}
		if other, ok := at[[2]int{r, c}]; ok {
			return nil, stream.Usagef("{tree} image: %q and %q are the same pixel", names[other], name)
		}
		at[[2]int{r, c}] = j
		rows, cols = max(rows, r+1), max(cols, c+1)
	}
	pixels := make([][3]int, 0, len(names))
	for place, j := range at {
		pixels = append(pixels, [3]int{place[0], place[1], j})
	}
	if len(pixels) == 0 {
		return nil, stream.Usagef("{tree} image: there are no features")
	}
	return quadrantNode(pixels, 0, rows, 0, cols), nil
}

func parsePixel(name string) (pixelRow, pixelColumn int, ok bool) {
	rest, found := strings.CutPrefix(name, "px_")
	if !found {
		return 0, 0, false
	}
	row, col, found := strings.Cut(rest, "_")
	pixelRow, err1 := strconv.Atoi(row)
	pixelColumn, err2 := strconv.Atoi(col)
	return pixelRow, pixelColumn, found && err1 == nil && err2 == nil && pixelRow >= 0 && pixelColumn >= 0
}

// quadrantNode returns the node of the pixels in a rectangle of rows [r0, r1) and columns [c0, c1), or nil if there
// are no pixels. Odd sides are divided with the smaller half first.
func quadrantNode(pixels [][3]int, r0, r1, c0, c1 int) *Tree {
	if len(pixels) == 0 {
		return nil
	}
	t := &Tree{}
	for _, p := range pixels {
		t.Features = append(t.Features, p[2])
	}
	slices.Sort(t.Features)
	if len(pixels) == 1 {
		return t
	}
	midR, midC := (r0+r1)/2, (c0+c1)/2
	var parts [4][][3]int
	for _, p := range pixels {
		part := 0
		if p[0] >= midR {
			part += 2
		}
		if p[1] >= midC {
			part++
		}
		parts[part] = append(parts[part], p)
	}
	t.addChild(quadrantNode(parts[0], r0, midR, c0, midC))
	t.addChild(quadrantNode(parts[1], r0, midR, midC, c1))
	t.addChild(quadrantNode(parts[2], midR, r1, c0, midC))
	t.addChild(quadrantNode(parts[3], midR, r1, midC, c1))
	return t
}
