package chunkio

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// fieldsOf makes the output fields of the given columns as file i has them.
func (a *applier) fieldsOf(ctx context.Context, i int, columns []outColumn) ([]outField, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	src, err := a.open(i)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	fields := make([]outField, len(columns))
	for k, c := range columns {
		switch c.kind {
		case fromSparse:
			fields[k] = outField{a.sparseNumber().node(c.name, false), []bool{true}} // mostly zeros
		case fromPartition:
			fields[k] = a.partitionField(c)
		default:
			if fields[k], err = src.field(c); err != nil {
				return nil, copyError(ctx, a.catalog.files[i].path, -1, c.name, err)
			}
		}
	}
	return fields, nil
}

// mergeFields makes one schema of that of the files so far and that of file i: types
// must be equal, and a column is OPTIONAL if it is in any.
func (a *applier) mergeFields(i int, fields, more []outField) ([]outField, error) {
	if fields == nil {
		return more, nil
	}
	for k, m := range more {
		merged, err := mergeNodes(fields[k].node, m.node)
		if err != nil {
			return nil, mismatch(a.catalog.files[i].path, m.node.Name(), "%w, the column of %s", err, a.catalog.files[0].path)
		}
		fields[k].node = merged
	}
	return fields, nil
}

// mergeNodes returns a node that holds values of both.
func mergeNodes(a, b schema.Node) (schema.Node, error) {
	x, okX := a.(*schema.PrimitiveNode)
	y, okY := b.(*schema.PrimitiveNode)
	if okX && okY && x.RepetitionType() == parquet.Repetitions.Required && y.RepetitionType() == parquet.Repetitions.Optional {
		x, y = y, x
	}
	if okX && okY && x.RepetitionType() == parquet.Repetitions.Optional && y.RepetitionType() == parquet.Repetitions.Required {
		required := y
		optional, err := flatNode(required, required.Name(), false)
		if err != nil {
			return nil, err
		}
		a, b = x, optional
	}
	if !a.Equals(b) {
		return nil, fmt.Errorf("its type in the file, %s, is not that of %s", nodeText(b), nodeText(a))
	}
	return a, nil
}

func nodeText(n schema.Node) string {
	if p, ok := n.(*schema.PrimitiveNode); ok {
		return fmt.Sprintf("%v %v %v", p.RepetitionType(), p.PhysicalType(), p.LogicalType())
	}
	return fmt.Sprintf("%v group", n.RepetitionType())
}

// flatNode is a column of n's type at the top level.
func flatNode(n *schema.PrimitiveNode, name string, required bool) (*schema.PrimitiveNode, error) {
	rep := parquet.Repetitions.Optional
	if required {
		rep = parquet.Repetitions.Required
	}
	return schema.NewPrimitiveNodeLogical(name, rep, n.LogicalType(), n.PhysicalType(), n.TypeLength(), -1)
}

// cloneNode copies a node with all below it: a node knows its parent, so that it can
// be in one schema only.
func cloneNode(n schema.Node) (schema.Node, error) {
	if p, ok := n.(*schema.PrimitiveNode); ok {
		return schema.NewPrimitiveNodeLogical(p.Name(), p.RepetitionType(), p.LogicalType(), p.PhysicalType(), p.TypeLength(), p.FieldID())
	}
	group := n.(*schema.GroupNode)
	var fields schema.FieldList
	for i := range group.NumFields() {
		f, err := cloneNode(group.Field(i))
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	logical := group.LogicalType()
	if logical != nil && logical.IsNone() {
		logical = nil
	}
	return schema.NewGroupNodeLogical(group.Name(), group.RepetitionType(), fields, logical, group.FieldID())
}

// partitionField is the field of a partition key: boolean, int64, double or string, as
// its values in all files allow.
func (a *applier) partitionField(c outColumn) outField {
	p := a.catalog.parts[c.part]
	n := numberOf("int64")
	if p.truth {
		n = numberOf("bool")
	}
	for _, v := range p.values {
		if !format.IsNull(v) && (v != math.Trunc(v) || math.Abs(v) >= 1<<53) {
			n = numberOf("double")
		}
	}
	if p.values == nil {
		text := schema.MustPrimitive(schema.NewPrimitiveNodeLogical(c.name, parquet.Repetitions.Optional, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1))
		return outField{text, []bool{true}}
	}
	return outField{n.node(c.name, false), []bool{true}}
}

// writePartition writes a partition key of file i to every row of the group.
func (a *applier) writePartition(i int, c openColumn) error {
	chunk := c.chunks[0]
	rows := int(chunk.rows)
	if values := a.catalog.parts[c.part].values; values != nil {
		x := make([]float64, rows)
		for r := range x {
			x[r] = values[i]
		}
		return numberOfNode(chunk.Descr().SchemaNode().(*schema.PrimitiveNode)).write(chunk, x)
	}
	keys, texts, err := hiveParts(a.catalog.files[i].path)
	if err != nil {
		return err
	}
	for k, key := range keys {
		if key != c.name {
			continue
		}
		def := make([]int16, rows)
		if texts[k] == hiveNull {
			return format.Guard(func() error { return writeValues(chunk, []parquet.ByteArray{}, def, nil) })
		}
		values := make([]parquet.ByteArray, rows)
		for r := range def {
			def[r], values[r] = 1, parquet.ByteArray(texts[k])
		}
		return format.Guard(func() error { return writeValues(chunk, values, def, nil) })
	}
	return stream.Dataf(a.catalog.files[i].path, "the path lacks the partition key %q", c.name)
}

// numberOfNode is the number type of a node that number.node or partitionField made.
func numberOfNode(n *schema.PrimitiveNode) number {
	switch n.PhysicalType() {
	case parquet.Types.Boolean:
		return numberOf("bool")
	case parquet.Types.Int64:
		return numberOf("int64")
	}
	return numberOf("double")
}
