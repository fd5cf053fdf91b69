package catalog

import (
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/delta"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/stream"
)

// addAbsentColumns adds the columns of a table's schema, and the fields of structs, that are in no file. They are always
// null. It adds no lists and maps.
func (b *catalogBuilder) addAbsentColumns() {
	if b.union && b.List.Schema != nil {
		b.addAbsentFields(nil, b.List.Schema.Root.Fields)
	}
}

func (b *catalogBuilder) addAbsentFields(path []string, fields []columns.Column) {
	for _, f := range fields {
		at := slices.Concat(path, []string{f.Name})
		name := naming.LeafName{Name: strings.Join(at, ".")}
		if _, there := b.index[name]; there || path == nil && slices.Contains(b.keys, f.Name) {
			continue
		}
		switch f.Type {
		case columns.Struct:
			b.addAbsentFields(at, f.Fields)
			continue
		case columns.List, columns.Map, "":
			continue
		}
		l := format.Leaf{Name: name.Name, Type: f.Type, Width: 1}
		if path != nil {
			l.Path = at
		}
		if _, isNumber := format.CommonType(f.Type, "double"); !isNumber {
			l.Width, l.Why = 0, map[string]string{"string": "text"}[f.Type]
			if l.Why == "" {
				l.Why = f.Type
			}
		}
		b.addLeaf("", l, name)
	}
}

// orderByTable puts the columns and partition keys of a table into the order of its schema, whichever file was read
// first. If there is a condition but no union, it keeps the files' order, because the condition is bound to that order.
func (b *catalogBuilder) orderByTable() {
	schema := b.List.Schema
	if schema == nil || b.Filter != nil && !b.union {
		return
	}
	places := convert.Each(b.Leaves, func(l format.Leaf) []int {
		if len(l.Path) == 0 {
			return schema.FieldIndexes([]string{l.Name})
		}
		return schema.FieldIndexes(l.Path)
	})
	order := make([]int, len(b.Leaves))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return slices.Compare(places[i], places[j]) })
	for i := range b.Parts {
		p := &b.Parts[i]
		p.LeafAfter = slices.IndexFunc(order, func(leaf int) bool { return places[leaf][0] > schema.ColumnIndex(p.Key) }) + 1
	}
	if slices.IsSorted(order) {
		return
	}
	for i := range b.Files {
		f := &b.Files[i]
		f.Order = b.internOrder(convert.Each(order, func(leaf int) int32 { return int32(f.LeafIndex(leaf)) }))
	}
	refusing := make(map[int]string, len(b.FirstRefusal))
	for at, leaf := range order {
		if path, ok := b.FirstRefusal[leaf]; ok {
			refusing[at] = path
		}
	}
	b.FirstRefusal = refusing
	if spreads := b.Spreads; spreads != nil {
		b.Spreads = convert.Each(order, func(leaf int) numberRange {
			if leaf < len(spreads) {
				return spreads[leaf]
			}
			return numberRange{}
		})
	}
	b.Leaves = convert.Each(order, func(leaf int) format.Leaf { return b.Leaves[leaf] })
}

// applySchema sets the types of the leaves to the types in the schema of the table. It marks the names of leaves that
// are not columns of the table with NoColumn: such leaves are row ids and versions that the writer of the table stores,
// or columns of other versions of the table. Partition columns are marked too, because their values are in the log.
func applySchema(l *listing.List, path string, leaves []format.Leaf, names []naming.LeafName) ([]format.Leaf, error) {
	if l.Schema == nil {
		return leaves, nil
	}
	leaves = slices.Clone(leaves)
	for i := range leaves {
		leaf := &leaves[i]
		at := leaf.ColumnPath()
		typ, ok := l.Schema.ColumnType(at)
		if !ok || slices.ContainsFunc(l.KeyTexts.Keys, func(key string) bool { return l.Schema.ColumnIndex(key) == l.Schema.ColumnIndex(at[0]) }) {
			names[i].Nth = naming.NoColumn
			continue
		}
		if !delta.Widens(leaf.Type, typ) {
			e := stream.Dataf(path, "its type is %s here, and %s in the schema of the table, which a table does not widen it to", leaf.Type, typ)
			e.Column, e.Remedy = leaf.Name, stream.Textf("write the file again with the table's writer, or read an older version of the table whose schema it has")
			return nil, e
		}
		if _, ok := format.CommonType(leaf.Type, typ); ok && format.IsNumber(typ) {
			leaf.Type = typ
		}
	}
	return leaves, nil
}
