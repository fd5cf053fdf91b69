package copying

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
	instant "github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/stream"
)

func (p *plan) outputFields(ctx context.Context, i int, chosen []copier.Column) ([]copier.Field, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	src, err := p.openSource(ctx, i)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	fields := make([]copier.Field, len(chosen))
	for k, c := range widenColumns(p.catalog, src, i, chosen) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch c.Kind {
		case copier.FromSparse:
			fields[k] = copier.Field{Node: p.sparseNumberType().Node(c.Name, false), Dict: []bool{true}} // most values are 0
		case copier.FromPartition:
			fields[k] = copier.Field{Node: newColumnNode(c.Name, describePartitionType(p.catalog.Parts[c.Part])), Dict: []bool{true}}
		case copier.FromDates:
			fields[k] = copier.Field{Node: newColumnNode(c.Name, "timestamp_ntz"), Dict: []bool{true}}
		case copier.Absent, copier.FromNumbers: // the field comes from another file or the catalog
		default:
			if fields[k], err = src.Field(c); err != nil {
				err = format.PlaceError(p.catalog.FileName(i), -1, c.Name, err)
				if data, ok := errors.AsType[*stream.DataError](err); ok && data.Remedy.String() == "" {
					data.Remedy = adviceToOmitColumn(p.opt.allColumns)
				}
				return nil, err
			}
		}
	}
	return fields, checkSharedNames(p.catalog.FileName(i), fields)
}

// adviceToOmitColumn returns the remedy if a column cannot be written: to write only the other columns.
func adviceToOmitColumn(allColumns bool) stream.Text {
	if allColumns {
		return stream.Textf("write the other columns with apply: {selection} SEL.json {also} COL,…")
	}
	return stream.Textf("leave the column out")
}

// checkSharedNames refuses fields of a file that share a name if one of them has an annotation, i.e. a logical type
// that is stored by name: all fields of this name would get this type.
func checkSharedNames(path string, fields []copier.Field) error {
	var nodes schema.FieldList
	for _, f := range fields {
		if f.Node != nil {
			nodes = append(nodes, f.Node)
		}
	}
	if at, shared := mergeAnnotations(fields).SharedPath(nodes); shared {
		return stream.Usagef("%s: column %s shares its name with another, and its logical type cannot be copied then; rename one of them",
			path, strings.Join(at, "."))
	}
	return nil
}

// mergeAnnotations collects the logical types of the fields that their nodes in the Parquet schema cannot express.
func mergeAnnotations(fields []copier.Field) footer.Annotations {
	all := footer.Annotations{}
	for _, f := range fields {
		maps.Copy(all, f.Annotations)
	}
	return all
}

// mergeFields merges added, the fields of file i, into fields, the merged fields of the files before it. The types of a
// column must be equal. A column is OPTIONAL if it is OPTIONAL in any file or absent from any file.
func mergeFields(c *catalog.Catalog, i int, fields, added []copier.Field) ([]copier.Field, error) {
	if fields == nil {
		fields = make([]copier.Field, len(added))
	}
	for k, m := range added {
		var err error
		switch f := &fields[k]; {
		case m.Node == nil && f.Node == nil:
		case m.Node == nil:
			f.Node, err = makeNodeNullable(c.FileName(i), f.Node)
		case f.Node == nil:
			if *f = m; i > 0 { // the files before file i lack the column
				f.Node, err = makeNodeNullable(c.FileName(i-1), f.Node)
			}
		default:
			merged, err := mergeEqualSchemaNodes(f.Node, m.Node)
			if err == nil && !maps.EqualFunc(f.Annotations, m.Annotations, bytes.Equal) {
				err = errors.New("its logical type in the file differs from that of the other")
			}
			if err != nil {
				e := catalog.ErrMismatch(c.FileName(i), m.Node.Name(), "%w, the column of %s", err, c.FileName(0))
				e.Remedy = stream.Textf("write the files to a folder, {o} DIR, where each keeps its types")
				return nil, e
			}
			f.Node = merged
		}
		if err != nil {
			return nil, err
		}
	}
	return fields, nil
}

func mergeEqualSchemaNodes(into, b schema.Node) (schema.Node, error) {
	x, okX := into.(*schema.PrimitiveNode)
	y, okY := b.(*schema.PrimitiveNode)
	if okX && okY { // some writers annotate integers with their physical type
		x, y = withoutIdleAnnotation(x), withoutIdleAnnotation(y)
		into, b = x, y
	}
	if okX && okY && x.RepetitionType() == parquet.Repetitions.Required && y.RepetitionType() == parquet.Repetitions.Optional {
		x, y = y, x
	}
	if okX && okY && x.RepetitionType() == parquet.Repetitions.Optional && y.RepetitionType() == parquet.Repetitions.Required {
		required := y
		optional, err := copier.FlatNode(required, required.Name(), false)
		if err != nil {
			return nil, err
		}
		into, b = x, optional
	}
	if !into.Equals(b) {
		return nil, errNodesDiffer(into, b)
	}
	return into, nil
}

func errNodesDiffer(into, b schema.Node) error {
	path := into.Name()
	for {
		x, okX := into.(*schema.GroupNode)
		y, okY := b.(*schema.GroupNode)
		if !okX || !okY || x.RepetitionType() != y.RepetitionType() {
			break
		}
		at := 0
		for at < min(x.NumFields(), y.NumFields()) && x.Field(at).Name() == y.Field(at).Name() && x.Field(at).Equals(y.Field(at)) {
			at++
		}
		if at == x.NumFields() || at == y.NumFields() || x.Field(at).Name() != y.Field(at).Name() {
			return fmt.Errorf("the fields of %s in the file, %s, differ from %s", path, listFields(y), listFields(x))
		}
		into, b = x.Field(at), y.Field(at)
		path += "." + into.Name()
	}
	if path != into.Name() {
		return fmt.Errorf("the type of its field %s in the file, %s, differs from %s", path, describeNodeType(b), describeNodeType(into))
	}
	return fmt.Errorf("its type in the file, %s, differs from %s", describeNodeType(b), describeNodeType(into))
}

func listFields(g *schema.GroupNode) string {
	var names []string
	for i := range g.NumFields() {
		names = append(names, g.Field(i).Name())
	}
	return "(" + strings.Join(names, ", ") + ")"
}

func withoutIdleAnnotation(n *schema.PrimitiveNode) *schema.PrimitiveNode {
	t, is := n.LogicalType().(*schema.IntLogicalType)
	if !is || !t.IsSigned() || n.PhysicalType() == parquet.Types.Int32 && t.BitWidth() != 32 {
		return n
	}
	return schema.MustPrimitive(schema.NewPrimitiveNode(n.Name(), n.RepetitionType(), n.PhysicalType(), n.FieldID(), -1))
}

func describeNodeType(n schema.Node) string {
	if p, ok := n.(*schema.PrimitiveNode); ok {
		return fmt.Sprintf("%v %v %v", p.RepetitionType(), p.PhysicalType(), p.LogicalType())
	}
	return fmt.Sprintf("%v group", n.RepetitionType())
}

// partitionNumberType returns the type of a partition key whose values are numbers: its type in the schema of a table,
// or else the narrowest of boolean, int64 and double that holds its values in all files.
func partitionNumberType(p catalog.Partition) writer.Number {
	switch _, integer := strings.CutPrefix(p.Typ, "int"); {
	case p.IsBool:
		return writer.NumberOf("bool")
	case integer || p.Typ == "float" || p.Typ == "double": // from the schema of a table
		return writer.NumberOf(p.Typ)
	}
	for _, v := range p.Values {
		if !format.IsNull(v) && (v != math.Trunc(v) || math.Abs(v) >= 1<<53) {
			return writer.NumberOf("double")
		}
	}
	return writer.NumberOf("int64")
}

func describePartitionType(p catalog.Partition) string {
	switch {
	case p.Values != nil:
		return partitionNumberType(p).Name
	case p.Typ == "date":
		return p.Typ
	}
	return "string"
}

func writePartitionColumn(catalog *catalog.Catalog, fileIndex int, c copier.Target) error {
	chunk := c.Chunks[0]
	rows, part := int(chunk.Rows), catalog.Parts[c.Part]
	if values := part.Values; values != nil {
		return partitionNumberType(part).Encode(chunk, slices.Repeat(values[fileIndex:fileIndex+1], rows), math.IsNaN)
	}
	text, err := catalog.PartitionText(fileIndex, c.Part)
	if err != nil {
		return err
	}
	if text == listing.HiveNull {
		return writeNullColumn(c)
	}
	def := slices.Repeat([]int16{1}, rows)
	if describePartitionType(part) == "date" {
		at, ok := instant.ParseInstant([]byte(text), 0)
		if !ok || at.Second%86400 != 0 {
			return stream.Dataf(catalog.FileName(fileIndex), "its partition value %q is no date, as %s is in the schema of the table", text, c.Name)
		}
		days := slices.Repeat([]int32{int32(at.Second / 86400)}, rows)
		return format.Guard(func() error { return writer.Put(chunk, days, def, nil) })
	}
	values := slices.Repeat([]parquet.ByteArray{parquet.ByteArray(text)}, rows)
	return format.Guard(func() error { return writer.Put(chunk, values, def, nil) })
}

// writeDatesAsTimes writes a leaf that shows dates as times, in microseconds.
func (c *fileCopy) writeDatesAsTimes(ctx context.Context, groupIndex int, target copier.Target) error {
	leaf := c.run.catalog.Files[c.file].LeafIndex(target.Leaf)
	group, err := c.src.Open(ctx, groupIndex, []int{leaf})
	if err != nil {
		return err
	}
	defer group.Close()
	from := int64(0)
	return group.DecodeTexts(ctx, leaf, 0, c.src.GroupRows()[groupIndex], func(ids []int32, values *instant.List) error {
		seconds := make([]float64, len(ids)) // exact for all dates
		for i, id := range ids {
			if seconds[i] = format.Null; id >= 0 {
				at, _ := instant.ParseInstant(values.Value(int(id)), 1)
				seconds[i] = float64(at.Second)
			}
		}
		var micros []int64
		kept := target.KeepRows(seconds, from)
		levels := make([]int16, len(kept))
		for i, x := range kept {
			switch {
			case format.IsNull(x):
				continue
			case math.Abs(x) > math.MaxInt64/1e6:
				return fmt.Errorf("a date, %.0f days after 1970, is outside of the range of times", x/86400)
			}
			levels[i], micros = 1, append(micros, 1e6*int64(x))
		}
		from += int64(len(ids))
		return format.Guard(func() error { return writer.Put(target.Chunks[0], micros, levels, nil) })
	})
}
