package eufs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

type jsonNode struct {
	Features []string    `json:"features"`
	Children []*jsonNode `json:"children"`
}

// Encode writes the tree as JSON, {"features": [names], "children": […]}, with one node in each line.
func (t *Tree) Encode(w io.Writer, names []string) error {
	var b strings.Builder
	if err := t.encodeNode(&b, names, ""); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Tree) encodeNode(b *strings.Builder, names []string, indent string) error {
	own := make([]string, len(t.Features))
	for i, j := range t.Features {
		own[i] = names[j]
	}
	var list strings.Builder
	e := json.NewEncoder(&list)
	e.SetEscapeHTML(false)
	if err := e.Encode(own); err != nil {
		return err
	}
	fmt.Fprintf(b, `%s{"features": %s, "children": [`, indent, strings.TrimSpace(list.String()))
	for i, c := range t.Children {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		if err := c.encodeNode(b, names, indent+"  "); err != nil {
			return err
		}
	}
	b.WriteString("]}")
	return nil
}

// ReadTree reads the output of Encode, or a user's file, for features of the given names. Features named in leftOut
// are in the input, but a run cannot use them. They are removed from nodes, and nodes without a feature are dropped.
// The error is a *stream.UsageError that names the node: "root.children[2].children[0]".
func ReadTree(r io.Reader, names, leftOut []string) (*Tree, error) {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	root := new(jsonNode)
	if err := dec.Decode(root); err != nil {
		return nil, stream.Usagef("{tree}: not a tree: %v; want {\"features\": [names], \"children\": […]}", stream.PlainJSON(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, stream.Usagef("{tree}: there is something after the root; want one tree")
	}
	v := &treeReader{number: make(map[string]int, len(names))}
	for j, name := range names {
		v.number[name] = j
	}
	for _, name := range leftOut {
		if _, ok := v.number[name]; !ok {
			v.number[name] = -1
		}
	}
	t, err := v.checkNode(root, nil, "root", 0)
	if err == nil && t == nil {
		return nil, stream.Usagef("{tree}: none of its features is used")
	}
	return t, err
}

type treeReader struct{ number map[string]int } // feature number of each name; -1: left out

// maxTreeDepth is the largest depth of a tree that is read. It is far beyond any use, and below the recursion limit.
const maxTreeDepth = 10_000

// checkNode checks a node and converts it to a Tree. within has the names of its parent's features, and is nil for the
// root. place describes the node in errors.
func (v *treeReader) checkNode(n *jsonNode, within map[string]bool, place string, depth int) (*Tree, error) {
	fail := func(format string, args ...any) (*Tree, error) {
		return nil, stream.Usagef("{tree}: %s: %s", place, fmt.Sprintf(format, args...))
	}
	if n == nil {
		return fail("null is not a node")
	}
	if depth == maxTreeDepth {
		return fail("the tree is deeper than %d nodes", maxTreeDepth)
	}
	if len(n.Features) == 0 {
		return fail("there are no features; a node lists all features below it")
	}
	t := &Tree{}
	own := make(map[string]bool, len(n.Features))
	for _, name := range n.Features {
		j, ok := v.number[name]
		switch {
		case !ok:
			return fail("%q is not a feature of the input", name)
		case own[name]:
			return fail("%q is listed twice", name)
		case within != nil && !within[name]:
			return fail("%q is not in the parent; a node lists all features below it", name)
		}
		own[name] = true
		if j >= 0 {
			t.Features = append(t.Features, j)
		}
	}
	owner := make(map[string]int)
	for i, c := range n.Children {
		child, err := v.checkNode(c, own, fmt.Sprintf("%s.children[%d]", place, i), depth+1)
		if err != nil {
			return nil, err
		}
		for _, name := range c.Features {
			if before, ok := owner[name]; ok {
				return fail("%q is in children[%d] and in children[%d]; children share no feature", name, before, i)
			}
			owner[name] = i
		}
		if child != nil {
			t.Children = append(t.Children, child)
		}
	}
	if len(t.Features) == 0 {
		return nil, nil
	}
	return t, nil
}
