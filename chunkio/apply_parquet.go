package chunkio

import (
	"context"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
)

// parquetSource copies columns of a Parquet file.
type parquetSource struct {
	*pq.File
	file *file
}

// field implements copySource. A flat column is OPTIONAL if the leaf or any group
// around it is; elements of lists always are.
func (s *parquetSource) field(c outColumn) (outField, error) {
	if c.kind == fromField {
		n := s.topLevel(c.name)
		if n == nil {
			return outField{}, errNotWhole(c.name)
		}
		clone, err := cloneNode(n)
		if err != nil {
			return outField{}, err
		}
		var dict []bool
		for _, col := range s.columnsOf(c) {
			dict = append(dict, s.hasDictionary(col))
		}
		return outField{clone, dict}, nil
	}
	col := s.columnsOf(c)[0]
	d := s.describe(col)
	required := d.MaxDefinitionLevel() == 0 && c.element < 0
	n, err := flatNode(d.SchemaNode().(*schema.PrimitiveNode), c.name, required)
	return outField{n, []bool{s.hasDictionary(col)}}, err
}

func (s *parquetSource) topLevel(name string) schema.Node {
	root := s.Metadata().Schema.Root()
	if i := root.FieldIndexByName(name); i >= 0 {
		return root.Field(i)
	}
	return nil
}

// columnsOf lists the physical columns that an output column is made of.
func (s *parquetSource) columnsOf(c outColumn) []int {
	if c.kind != fromField {
		return []int{s.Physical(s.file.at(c.leaf))}
	}
	var columns []int
	for i := range s.Metadata().Schema.NumColumns() {
		if s.describe(i).ColumnPath()[0] == c.name {
			columns = append(columns, i)
		}
	}
	return columns
}

func (s *parquetSource) describe(col int) *schema.Column { return s.Metadata().Schema.Column(col) }

// hasDictionary reports whether the input's writer found that a dictionary pays: the
// first row group has one, and did not fall back to plain pages.
func (s *parquetSource) hasDictionary(col int) bool {
	for g, rows := range s.GroupRows() {
		if rows == 0 {
			continue
		}
		m := s.Metadata().RowGroups[g].Columns[col].MetaData
		for _, e := range m.EncodingStats {
			if e.PageType != pq.DictionaryPage && parquet.Encoding(e.Encoding) == parquet.Encodings.Plain {
				return false
			}
		}
		for _, e := range m.Encodings {
			if e := parquet.Encoding(e); e == parquet.Encodings.PlainDict || e == parquet.Encodings.RLEDict {
				return true
			}
		}
		return false
	}
	return false
}

// need implements copySource.
func (s *parquetSource) need(g int, c outColumn) int64 {
	var total int64
	for _, col := range s.columnsOf(c) {
		info := s.Chunk(g, col)
		held, page := info.Size, min(info.Uncompressed, 1<<20)
		if c.element >= 0 {
			width := int64(max(1, s.Leaves()[s.file.at(c.leaf)].Width))
			held, page = held/width, page/width
		}
		// Encoded pages grow by doubling; v15's encoder, its levels, its compressed page
		// and its dictionary hold about a page each.
		total += openColumnBytes + 2*held + 6*page
	}
	return total
}

// scratch implements copySource.
func (s *parquetSource) scratch(g int, columns []outColumn, workers int) (int64, error) {
	var largest int64
	for _, c := range columns {
		if c.kind == fromSparse || c.kind == fromPartition {
			continue
		}
		for _, col := range s.columnsOf(c) {
			largest = max(largest, s.ScratchBytes(g, col))
		}
	}
	return largest * int64(workers), nil
}

// tasks implements copySource: one task a physical column.
func (s *parquetSource) tasks(_ context.Context, g int, open []openColumn) ([]copyTask, error) {
	targets := map[int][]copyTarget{}
	var order []int
	names := map[int]string{}
	for _, c := range open {
		for k, col := range s.columnsOf(c.outColumn) {
			if targets[col] == nil {
				order = append(order, col)
				names[col] = c.name
			}
			targets[col] = append(targets[col], copyTarget{c.chunks[k], c.element, c.kind == fromField})
		}
	}
	var tasks []copyTask
	for _, col := range order {
		tasks = append(tasks, copyTask{names[col], func(ctx context.Context) error {
			r, done, err := s.ColumnReader(g, col)
			if err != nil {
				return err
			}
			defer done()
			return copyColumn(ctx, r, targets[col], s.Chunk(g, col).Values, s.batch(g, col))
		}})
	}
	return tasks, nil
}

// batch is how many values to move at a time: fewer where they are long.
func (s *parquetSource) batch(g, col int) int {
	info := s.Chunk(g, col)
	if s.describe(col).PhysicalType() != parquet.Types.ByteArray || info.Values == 0 {
		return copyBatch
	}
	mean := max(1, info.Uncompressed/info.Values)
	return int(max(16, min(copyBatch, (1<<20)/mean)))
}
