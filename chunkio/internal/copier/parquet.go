package copier

import (
	"context"
	"sync"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/remaining"
	"github.com/ufs-stream/ufs-stream/internal/convert"
)

// parquetSource copies columns of a Parquet file.
type parquetSource struct {
	format.File            // with the rows to copy
	all           *pq.File // with all rows
	leafAt        func(leaf int) int
	physicalSkips func(g int, skip []uint64) []uint64 // the rows of group g of all to skip if the rows to copy in skip are skipped
	topLevelSpans func() map[string]leafSpan
}

func newParquetSource(f *pq.File, leafAt func(leaf int) int) *parquetSource {
	return &parquetSource{f, f, leafAt, func(_ int, skip []uint64) []uint64 { return skip }, sync.OnceValue(func() map[string]leafSpan {
		return findSpans(f.Schema().NumColumns(), func(col int) string { return f.Schema().ColumnRoot(col).Name() })
	})}
}

func newRemainingSource(f *remaining.File, leafAt func(leaf int) int) *parquetSource {
	s := newParquetSource(f.AllRows(), leafAt)
	s.File, s.physicalSkips = f, f.PhysicalSkips
	return s
}

// Input implements Source.
func (s *parquetSource) Input() format.Input { return s.all.Input() }

// Field implements Source. A flat column is OPTIONAL if the leaf or an enclosing group is. A column of list elements is
// always OPTIONAL.
func (s *parquetSource) Field(c Column) (Field, error) {
	if c.Kind == FromField {
		n, err := s.findTopLevelNode(c.Name)
		if err != nil {
			return Field{}, err
		}
		clone, err := cloneNode(n)
		if err != nil {
			return Field{}, err
		}
		dict := convert.Each(s.physicalColumns(c), s.hasDictionary)
		return Field{clone, dict, s.all.Annotations(n, c.Name)}, nil
	}
	col := s.physicalColumns(c)[0]
	d := s.physicalColumnSchema(col)
	required := d.MaxDefinitionLevel() == 0 && c.Element < 0
	n, err := FlatNode(d.SchemaNode().(*schema.PrimitiveNode), c.Name, required)
	return Field{n, []bool{s.hasDictionary(col)}, s.all.Annotations(d.SchemaNode(), c.Name)}, err
}

func (s *parquetSource) findTopLevelNode(name string) (found schema.Node, err error) {
	at, ok := s.topLevelSpans()[name]
	if !ok {
		return nil, errNoTopLevelField(name)
	}
	if found = s.all.Schema().ColumnRoot(at.from); found != s.all.Schema().ColumnRoot(at.to-1) {
		return nil, errSeveralFieldsOfName(name)
	}
	return found, nil
}

func (s *parquetSource) physicalColumns(c Column) []int {
	if c.Kind != FromField {
		return []int{s.all.PhysicalIndex(s.leafAt(c.Leaf))}
	}
	return s.topLevelSpans()[c.Name].leafIndices()
}

func (s *parquetSource) physicalColumnSchema(col int) *schema.Column {
	return s.all.Schema().Column(col)
}

// hasDictionary reports whether a dictionary probably saved space when the input was written: the first row group has a
// dictionary, and its writer did not change to plain pages.
func (s *parquetSource) hasDictionary(col int) bool {
	for g, rows := range s.GroupRows() {
		if rows == 0 {
			continue
		}
		return s.all.UsesDictionary(g, col)
	}
	return false
}

// Need implements Source: it bounds the bytes of encoded pages and of the library's encoders.
func (s *parquetSource) Need(g int, c Column) int64 {
	var total int64
	for _, col := range s.physicalColumns(c) {
		info := s.all.Chunk(g, col)
		encoded, page := info.Size, min(info.Uncompressed, 1<<20)
		if c.Element >= 0 {
			width := int64(max(1, s.Leaves()[s.leafAt(c.Leaf)].Width))
			encoded, page = encoded/width, page/width
		}
		// Encoded pages grow by doubling. In v15 of the library, the encoder, its levels, its compressed page and its
		// dictionary each need about the memory of a page.
		total += OpenColumnBytes + 2*encoded + 6*page
	}
	return total
}

// Extents implements Source: it returns the byte ranges of the column chunks that are copied.
func (s *parquetSource) Extents(g int, columns []Column) (extents []format.Extent) {
	for _, c := range columns {
		if c.Kind.ReadsLeaves() {
			for _, col := range s.physicalColumns(c) {
				extents = append(extents, s.all.Extent(g, col))
			}
		}
	}
	return extents
}

// Scratch implements Source: it assumes that each worker decodes the column chunk that needs the most memory.
func (s *parquetSource) Scratch(g int, columns []Column, workers int) (int64, error) {
	var largest int64
	for _, c := range columns {
		if c.Kind == FromSparse || c.Kind == FromPartition || c.Kind == Absent {
			continue
		}
		for _, col := range s.physicalColumns(c) {
			largest = max(largest, s.all.ScratchBytes(g, col))
		}
	}
	return largest * int64(workers), nil
}

// Tasks implements Source: it returns a task for each physical column, which copies the column chunk to its targets.
func (s *parquetSource) Tasks(_ context.Context, g int, targets []Target) ([]Task, error) {
	byColumn := map[int][]copyTarget{}
	var skip []uint64
	if len(targets) > 0 {
		skip = s.physicalSkips(g, targets[0].Skip) // the same for all targets
	}
	var order []int
	names := map[int]string{}
	for _, c := range targets {
		for k, col := range s.physicalColumns(c.Column) {
			if byColumn[col] == nil {
				order = append(order, col)
				names[col] = c.Name
			}
			byColumn[col] = append(byColumn[col], copyTarget{c.Chunks[k], c.Element, c.Kind == FromField, skip})
		}
	}
	var tasks []Task
	for _, col := range order {
		tasks = append(tasks, Task{names[col], func(ctx context.Context) error {
			r, release, err := s.all.ColumnReader(g, col)
			if err != nil {
				return err
			}
			defer release()
			return copyChunk(ctx, r, byColumn[col], s.all.Chunk(g, col).Values, s.batchSize(g, col))
		}})
	}
	return tasks, nil
}

// batchSize returns the number of values to copy at a time. It is smaller for long values, and at most the number of
// values in the chunk, but at least 16. For 900,000 chunks of one value each, full batches were three quarters of the
// memory that convert allocated.
func (s *parquetSource) batchSize(g, col int) int {
	info, batch := s.all.Chunk(g, col), int64(copyBatch)
	if s.physicalColumnSchema(col).PhysicalType() == parquet.Types.ByteArray && info.Values > 0 {
		batch = min(batch, (1<<20)/max(1, info.Uncompressed/info.Values))
	}
	return int(max(16, min(batch, info.Values)))
}
