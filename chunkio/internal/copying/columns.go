package copying

import (
	"context"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/schema"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// chooseColumns returns the output columns that the options name: first Columns, then Also, in their order.
func (p *plan) chooseColumns() ([]copier.Column, error) {
	entries, err := schema.FlattenColumns(p.catalog, settings.Options{Times: p.opt.Times, Indicators: p.opt.Indicators, Categories: p.opt.Categories}, p.sparse)
	if err != nil {
		return nil, err
	}
	entryOf := make(map[string]*schema.Entry)
	for _, name := range slices.Concat(p.opt.Columns, p.opt.Also) {
		entryOf[name] = nil
	}
	for i, e := range entries {
		if _, wanted := entryOf[e.Flat]; wanted {
			entryOf[e.Flat] = &entries[i]
		}
	}
	for i, e := range entries { // a derived feature is replaced by its column
		if entry, wanted := entryOf[e.Block]; wanted && entry == nil {
			entryOf[e.Block] = &entries[i]
		}
	}
	if err := naming.RefuseShared("also", p.opt.Also, schema.SharedEntries(entries)); err != nil {
		return nil, err
	}
	for _, name := range p.opt.Columns {
		if e := entryOf[name]; e != nil && e.Why == naming.SharedName {
			return nil, naming.ErrAmbiguousSelection(p.catalog.InputName(), name)
		}
	}
	var columns []copier.Column
	chosen := map[string]bool{}
	add := func(c copier.Column) {
		if !chosen[c.Name] {
			chosen[c.Name] = true
			columns = append(columns, c)
		}
	}
	for _, name := range p.opt.Columns {
		c, ok, err := p.columnToCopy(sourceColumn(entries, entryOf[name], name), entryOf[name])
		if err != nil {
			return nil, err
		}
		if !ok && entryOf[name] != nil {
			return nil, stream.Usagef("the selected column %s is %s: only {also} can name it, as a whole", name, entryOf[name].Typ)
		}
		if !ok {
			return nil, errAbsentColumn(p.catalog.InputName(), entries, name)
		}
		add(c)
	}
	for _, name := range p.opt.Also {
		c, ok, err := p.columnToCopy(name, entryOf[name])
		if err != nil {
			return nil, err
		}
		if !ok {
			if !isLeafOrTopLevelField(p.catalog.Leaves, name) {
				return nil, stream.Usagef("{also} %s: no column has this name%s", name, suggest.DidYouMean(name, schema.FlatNames(entries)))
			}
			c = copier.Column{Name: name, Kind: copier.FromField, Element: -1}
		}
		add(c)
	}
	if len(columns) == 0 {
		return nil, stream.Usagef("no column to write: the selection is empty and {also} names none")
	}
	return columns, nil
}

func (p *plan) chooseAllColumns(ctx context.Context) (columns []copier.Column, err error) {
	src, err := p.openSource(ctx, max(slices.IndexFunc(p.catalog.Files, func(f catalog.File) bool { return f.CountRows() > 0 }), 0))
	if err != nil {
		return nil, err
	}
	defer src.Close()
	whole := map[string]bool{} // fields that are copied with all their leaves
	for i, l := range p.catalog.Leaves {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := copier.Column{Name: l.Name, Kind: copier.FromLeaf, Leaf: i, Element: -1}
		top, within := l.Name, l.Path != nil
		if within {
			top = l.Path[0]
		}
		field := copier.Column{Name: top, Kind: copier.FromField, Element: -1}
		switch {
		case whole[top]:
			continue
		case isNested(l) || within:
			if _, err := src.Field(field); err == nil {
				whole[top], c = true, field
			} else if isNested(l) {
				return nil, stream.Usagef("column %s: %v; %v", l.Name, err, adviceToOmitColumn(true))
			}
		}
		columns = append(columns, c)
	}
	for i, part := range p.catalog.Parts {
		if slices.ContainsFunc(columns, func(c copier.Column) bool { return c.Name == part.Key }) {
			return nil, schema.ErrNameClash(p.catalog, schema.Entry{Origin: &schema.Origin{Leaf: -1}, Flat: part.Key})
		}
		columns = append(columns, copier.Column{Name: part.Key, Kind: copier.FromPartition, Part: i, Element: -1})
	}
	return columns, nil
}

// errAbsentColumn returns the error for a selected name that is not a column of the input. If the name means an element
// of a list whose elements are not columns, the error contains the reason for this.
func errAbsentColumn(path string, entries []schema.Entry, name string) error {
	e := stream.Dataf(path, "the selected column is not in the input%s", suggest.DidYouMean(name, schema.FlatNames(entries)))
	if at := strings.LastIndexByte(name, '['); at > 0 {
		for _, list := range entries {
			if list.Flat == name[:at] && list.Why != "" {
				e = stream.Dataf(path, "the selected column is an element of %s, which has none for every row here: %s", list.Flat, list.Why)
			}
		}
	}
	e.Column = name
	return e
}

// sourceColumn returns the name of the column to copy for the entry e with the given name: for a derived feature or an
// indicator, the column from which it is made.
func sourceColumn(entries []schema.Entry, e *schema.Entry, name string) string {
	if e != nil && e.Subject > 0 {
		e = &entries[e.Subject-1]
		name = e.Flat
	}
	if e != nil && e.Block != "" {
		return e.Block
	}
	return name
}

func (p *plan) columnToCopy(name string, e *schema.Entry) (c copier.Column, ok bool, err error) {
	c = copier.Column{Name: name, Element: -1}
	switch {
	case e == nil:
		return c, false, nil
	case e.Leaf < 0:
		c.Kind, c.Part = copier.FromPartition, e.Part
		return c, true, nil
	case e.IsRefused:
		return c, false, schema.ErrUndecodable(p.catalog, *e)
	}
	c.Leaf = e.Leaf
	if l := p.catalog.Leaves[e.Leaf]; isNested(l) {
		if e.List == "" {
			return c, false, nil
		}
		c.Element = e.Element
		if p.sparse != nil && e.Leaf == p.sparse.Values {
			c.Kind = copier.FromSparse
		}
	}
	return c, true, nil
}

func isNested(l format.Leaf) bool {
	nested := []string{"list", "map", "struct", "union", "variant"}
	return l.List || slices.ContainsFunc(nested, func(t string) bool { return strings.HasPrefix(l.Type, t) })
}

func isLeafOrTopLevelField(leaves []format.Leaf, name string) bool {
	return slices.ContainsFunc(leaves, func(l format.Leaf) bool { return l.Name == name || strings.HasPrefix(l.Name, name+".") })
}
