package catalog

import (
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/delta"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/naming"
	"github.com/ufs-stream/ufs-stream/stream"
)

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
		at := leaf.Path
		if at == nil {
			at = []string{leaf.Name}
		}
		typ, ok := l.Schema.ColumnType(at)
		if !ok || slices.ContainsFunc(l.KeyTexts.Keys, func(key string) bool { return strings.EqualFold(key, at[0]) }) {
			names[i].Nth = naming.NoColumn
			continue
		}
		if !delta.Widens(leaf.Type, typ) {
			e := stream.Dataf(path, "its type is %s here, and %s in the schema of the table, which the Delta protocol does not widen it to", leaf.Type, typ)
			e.Column, e.Remedy = leaf.Name, stream.Textf("write the file again with the table's writer, or read a {version} of the table whose schema it has")
			return nil, e
		}
		if _, ok := format.CommonType(leaf.Type, typ); ok && format.IsNumber(typ) {
			leaf.Type = typ
		}
	}
	return leaves, nil
}
