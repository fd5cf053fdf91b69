package chunkio

import (
	"context"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Located says where the columns of a selection lie in their input.
type Located struct {
	Columns []Place
	Files   []string      // that the inputs expand to
	Lists   []string      // of inputs, that named some of them
	Table   *stream.Table // that they are the live files of; nil for bare files
}

// Place is where a flattened column lies.
type Place struct {
	Name string
	// Path is the column, and behind it the fields inside its structs.
	Path    []string
	Element int  // of the list there, from 0; -1 for the value itself
	Sparse  bool // Element is a feature of sparse rows, which no column holds by itself
}

// Locate finds the columns that [Apply] would write, with the same errors. It reads footers only.
func Locate(ctx context.Context, inputs []string, opt ApplyOptions) (*Located, error) {
	opt = opt.withDefaults()
	access := opt.access()
	defer access.close()
	a, err := access.prepare(ctx, inputs, opt)
	if err != nil {
		return nil, err
	}
	list := a.catalog.list
	out := &Located{Files: list.paths(), Lists: list.lists, Table: list.table}
	for _, c := range a.columns {
		p := Place{Name: c.Name, Path: []string{c.Name}, Element: c.Element}
		if c.Kind == copier.FromLeaf || c.Kind == copier.FromSparse {
			leaf := a.catalog.leaves[c.Leaf]
			if p.Path = leaf.Path; p.Path == nil {
				p.Path = []string{leaf.Name}
			}
		}
		p.Sparse = c.Kind == copier.FromSparse
		out.Columns = append(out.Columns, p)
	}
	return out, nil
}
