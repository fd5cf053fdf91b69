package copying

import (
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/schema"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// chooseColumns returns the output columns that the options name: first Columns, then Also, in their order.
func (a *applier) chooseColumns() ([]copier.Column, error) {
	entries, err := schema.FlattenColumns(a.catalog, settings.Options{Times: a.opt.Times, Indicators: a.opt.Indicators, Categories: a.opt.Categories}, a.sparse)
	if err != nil {
		return nil, err
	}
	entryOf := make(map[string]*schema.Entry)
	for _, name := range slices.Concat(a.opt.Columns, a.opt.Also) {
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
	if err := naming.RefuseShared("also", a.opt.Also, schema.SharedEntries(entries)); err != nil {
		return nil, err
	}
	for _, name := range a.opt.Columns {
		if e := entryOf[name]; e != nil && e.Why == naming.SharedName {
			return nil, naming.ErrAmbiguousSelection(a.catalog.InputName(), name)
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
	for _, name := range a.opt.Columns {
		c, ok, err := a.columnToCopy(sourceColumn(entries, entryOf[name], name), entryOf[name])
		if err != nil {
			return nil, err
		}
		if !ok && entryOf[name] != nil {
			return nil, stream.Usagef("the selected column %s is %s: only {also} can name it, as a whole", name, entryOf[name].Typ)
		}
		if !ok {
			return nil, a.errAbsentColumn(entries, name)
		}
		add(c)
	}
	for _, name := range a.opt.Also {
		c, ok, err := a.columnToCopy(name, entryOf[name])
		if err != nil {
			return nil, err
		}
		if !ok {
			if !a.hasColumnOrField(name) {
				return nil, stream.Usagef("{also} %s: no column has this name%s", name, suggest.DidYouMean(name, schema.FlatNames(entries)))
			}
			c = copier.Column{Name: name, Kind: copier.FromField, Element: -1}
		}
		add(c)
	}
	if len(columns) == 0 {
		return nil, stream.Usagef("no column to write: the selection is empty and {also} names none")
	}
	for _, c := range columns {
		a.report.Columns = append(a.report.Columns, c.Name)
	}
	return columns, nil
}

// errAbsentColumn returns the error for a selected name that is not a column of the input. If the name means an element
// of a list whose elements are not columns, the error contains the reason for this.
func (a *applier) errAbsentColumn(entries []schema.Entry, name string) error {
	e := stream.Dataf(a.catalog.InputName(), "the selected column is not in the input%s", suggest.DidYouMean(name, schema.FlatNames(entries)))
	if at := strings.LastIndexByte(name, '['); at > 0 {
		for _, list := range entries {
			if list.Flat == name[:at] && list.Why != "" {
				e = stream.Dataf(a.catalog.InputName(), "the selected column is an element of %s, which has none for every row here: %s", list.Flat, list.Why)
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

func (a *applier) columnToCopy(name string, e *schema.Entry) (c copier.Column, ok bool, err error) {
	c = copier.Column{Name: name, Element: -1}
	switch {
	case e == nil:
		return c, false, nil
	case e.Leaf < 0:
		c.Kind, c.Part = copier.FromPartition, e.Part
		return c, true, nil
	case e.IsRefused:
		return c, false, schema.ErrUndecodable(a.catalog, *e)
	}
	c.Leaf = e.Leaf
	if l := a.catalog.Leaves[e.Leaf]; isNested(l) {
		if e.List == "" {
			return c, false, nil
		}
		c.Element = e.Element
		if a.sparse != nil && e.Leaf == a.sparse.Values {
			c.Kind = copier.FromSparse
		}
	}
	return c, true, nil
}

// isNested reports whether one row of the leaf may have several values.
func isNested(l format.Leaf) bool {
	for _, t := range []string{"list", "map", "struct", "union", "variant"} {
		if strings.HasPrefix(l.Type, t) {
			return true
		}
	}
	return l.List
}

func (a *applier) hasColumnOrField(name string) bool {
	for _, l := range a.catalog.Leaves {
		if l.Name == name || strings.HasPrefix(l.Name, name+".") {
			return true
		}
	}
	return false
}
