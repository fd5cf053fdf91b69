package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/iceberg-go"
	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// equalityGroup is the equality deletes of a partition by the same columns.
type equalityGroup struct {
	fields  []iceberg.NestedField // columns of the keys, in the order of their ids
	files   []iceberg.DataFile
	added   map[string]bool // paths of files
	targets []*dataFile     // data files that some of them apply to

	mu   sync.Mutex
	keys map[string]int64 // the youngest delete of each key, by its sequence number
}

func (d *deletions) groupKey(f iceberg.DataFile) string {
	ids := slices.Clone(f.EqualityFieldIDs())
	slices.Sort(ids)
	key := fmt.Sprintf("%d %v", f.SpecID(), ids)
	if spec := d.table.Metadata().PartitionSpecByID(int(f.SpecID())); spec != nil {
		for _, field := range spec.Fields() {
			key += fmt.Sprintf(" %#v", f.Partition()[field.FieldID])
		}
	}
	return key
}

func (d *deletions) newEqualityGroup(f iceberg.DataFile) (*equalityGroup, error) {
	ids := slices.Clone(f.EqualityFieldIDs())
	slices.Sort(ids)
	g := &equalityGroup{added: make(map[string]bool), keys: make(map[string]int64)}
	for _, id := range slices.Compact(ids) {
		field, ok := d.findField(id)
		if !ok {
			return nil, stream.Dataf(place.DisplayName(f.FilePath()), "this file of equality deletes compares the column of id %d, and no schema of the table has it", id)
		}
		g.fields = append(g.fields, field)
	}
	if len(g.fields) == 0 {
		return nil, stream.Dataf(place.DisplayName(f.FilePath()), "the manifest does not say which columns this file of equality deletes compares (equality_ids)")
	}
	return g, nil
}

// findField returns a column of the table, or one that was dropped since: its deletes still apply.
func (d *deletions) findField(id int) (iceberg.NestedField, bool) {
	if f, ok := d.schema.FindFieldByID(id); ok {
		return f, true
	}
	schemas := slices.Clone(d.table.Metadata().Schemas())
	slices.SortFunc(schemas, func(a, b *iceberg.Schema) int { return b.ID - a.ID })
	for _, s := range schemas {
		if f, ok := s.FindFieldByID(id); ok {
			return f, true
		}
	}
	return iceberg.NestedField{}, false
}

func (g *equalityGroup) addFile(deletes iceberg.DataFile, target *dataFile) {
	if !g.added[deletes.FilePath()] {
		g.files, g.added[deletes.FilePath()] = append(g.files, deletes), true
	}
	if n := len(g.targets); n == 0 || g.targets[n-1] != target {
		g.targets = append(g.targets, target)
	}
}

// applyEquality reads the keys of all files of equality deletes, and then the same columns of the data files.
func (d *deletions) applyEquality(ctx context.Context, groups []*equalityGroup) error {
	read, readCtx := errgroup.WithContext(ctx)
	read.SetLimit(maxReaders)
	for _, g := range groups {
		for _, f := range g.files {
			read.Go(func() error { return d.readKeys(readCtx, g, f) })
		}
	}
	if err := read.Wait(); err != nil {
		return err
	}
	apply, applyCtx := errgroup.WithContext(ctx)
	apply.SetLimit(maxReaders)
	for _, g := range groups {
		for _, f := range g.targets {
			apply.Go(func() error { return d.applyKeys(applyCtx, g, f) })
		}
	}
	return apply.Wait()
}

func (d *deletions) readKeys(ctx context.Context, g *equalityGroup, f iceberg.DataFile) error {
	age, columns := d.ages[f.FilePath()], []*keyColumn(nil)
	choose := func(r *file.Reader) (_ []*fileColumn, err error) {
		columns, err = d.keyColumns(r, g.fields, nil)
		return columnsOfFile(columns), err
	}
	var key []byte
	visit := func(_ int64, n int) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		for row := range n {
			key = appendRowKey(key[:0], columns, row)
			was, known := g.keys[string(key)]
			if !known {
				// A string, and a slot of 24 bytes in a table that is at least 7/16 full.
				if err := d.memory.takeBytes(int64(len(key)+15)&^15 + 57); err != nil {
					return err
				}
			}
			if !known || was < age {
				g.keys[string(key)] = age
			}
		}
		return nil
	}
	in, err := d.lake.Open(f.FilePath())
	if err == nil {
		defer in.Close()
		err = readRows(ctx, in, d.memory, choose, visit)
	}
	return asDeleteError(f.FilePath(), equalityDeletes, err)
}

// applyKeys deletes the rows of a data file that are older than the deletes of their keys.
func (d *deletions) applyKeys(ctx context.Context, g *equalityGroup, f *dataFile) error {
	age, columns := int64(-1), []*keyColumn(nil)
	if n := f.task.DataSequenceNumber; n != nil {
		age = *n
	}
	choose := func(r *file.Reader) (_ []*fileColumn, err error) {
		columns, err = d.keyColumns(r, g.fields, f)
		return columnsOfFile(columns), err
	}
	var key []byte
	var deleted []uint64
	visit := func(first int64, n int) error {
		deleted = deleted[:0]
		for row := range n {
			key = appendRowKey(key[:0], columns, row)
			if of, ok := g.keys[string(key)]; ok && of > age {
				deleted = append(deleted, uint64(first)+uint64(row))
			}
		}
		return f.deleted.addRows(deleted, d.memory)
	}
	in, err := d.lake.openResolved(f.path)
	if err == nil {
		defer in.Close()
		err = readRows(ctx, in, d.memory, choose, visit)
	}
	if err != nil {
		return asDataError(f.path, "the columns that equality deletes compare cannot be read", err)
	}
	return nil
}

// keyColumn is a column of a key: a column of a file, or the same value for all rows of the file.
type keyColumn struct {
	*fileColumn
	constant []byte // the value's part of a key, if there is no column
}

func columnsOfFile(columns []*keyColumn) (of []*fileColumn) {
	for _, c := range columns {
		if c.fileColumn != nil {
			of = append(of, c.fileColumn)
		}
	}
	return of
}

func appendRowKey(key []byte, columns []*keyColumn, row int) []byte {
	for _, c := range columns {
		if c.fileColumn == nil {
			key = append(key, c.constant...)
		} else {
			key = c.appendKey(key, row)
		}
	}
	return key
}

// keyColumns finds columns of the table in a Parquet file. If a data file lacks one, it is the value of the file's
// partition, or the column's default, or null. A file of deletes (data is nil) must have all.
func (d *deletions) keyColumns(r *file.Reader, fields []iceberg.NestedField, data *dataFile) ([]*keyColumn, error) {
	root := r.MetaData().Schema.Root()
	var mapping []iceberg.MappedField
	if !hasFieldIDs(root) {
		mapping = d.table.NameMapping()
	}
	columns := make([]*keyColumn, len(fields))
	for i, field := range fields {
		found := findNodes(root, mapping, field.ID, nil)
		switch {
		case len(found) > 1:
			return nil, fmt.Errorf("two columns have the id %d of the table's column %q", field.ID, field.Name)
		case len(found) == 0 && data == nil:
			return nil, fmt.Errorf("it lacks the column %q (id %d), which it compares by the manifest", field.Name, field.ID)
		case len(found) == 0:
			constant, err := data.missingValue(field)
			if err != nil {
				return nil, err
			}
			columns[i] = &keyColumn{constant: constant}
			continue
		}
		leaf, ok := found[0].(*schema.PrimitiveNode)
		if !ok {
			return nil, fmt.Errorf("its column %q is a struct, list or map", found[0].Path())
		}
		e, err := newEncoder(field.Type, leaf)
		if err != nil {
			return nil, err
		}
		c, err := newFileColumn(r, leaf, e)
		if err != nil {
			return nil, err
		}
		columns[i] = &keyColumn{fileColumn: c}
	}
	return columns, nil
}

func (f *dataFile) missingValue(field iceberg.NestedField) ([]byte, error) {
	value, ok := f.identity[field.ID]
	if !ok {
		value = field.InitialDefault
	}
	if value == nil {
		return []byte{0}, nil
	}
	if !ok {
		literal, err := defaultLiteral(field.Type, value)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", field.Name, err)
		}
		value = literal
	}
	cell, err := encodeConstant(value)
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", field.Name, err)
	}
	return appendKeyCell(nil, cell), nil
}

// defaultLiteral returns the default of a column, as it was decoded from JSON.
func defaultLiteral(t iceberg.Type, value any) (any, error) {
	const exact = 1 << 53 // whole numbers below are exact in JSON as it was decoded
	switch v := value.(type) {
	case bool:
		return v, nil
	case string:
		switch t.(type) {
		case iceberg.StringType:
			return v, nil
		case iceberg.BinaryType, iceberg.FixedType:
			return hex.DecodeString(v)
		}
		return iceberg.StringLiteral(v).To(t)
	case float64:
		switch t.(type) {
		case iceberg.Float32Type:
			return float32(v), nil
		case iceberg.Float64Type:
			return v, nil
		}
		if v == math.Trunc(v) && v < exact && v > -exact {
			return int64(v), nil
		}
	}
	return nil, fmt.Errorf("its default %v cannot be read", value)
}

// findNodes appends the nodes of a column. Without ids in the file, mapping has the ids of names.
func findNodes(group *schema.GroupNode, mapping []iceberg.MappedField, id int, found []schema.Node) []schema.Node {
	for i := range group.NumFields() {
		n := group.Field(i)
		of, below := int(n.FieldID()), mapping
		if mapping != nil {
			of, below = mappedFieldID(mapping, n.Name()), mappedFields(mapping, n.Name())
		}
		if of == id {
			found = append(found, n)
		}
		if g, ok := n.(*schema.GroupNode); ok {
			found = findNodes(g, below, id, found)
		}
	}
	return found
}
