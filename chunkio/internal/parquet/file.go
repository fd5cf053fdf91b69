// Package parquet reads Parquet files: the leaves of the schema (leaf.go), and column chunks page by page (pages.go),
// as float64 or as text. Package footer reads the footer. Arrow v15 decodes many of the values. This package first
// checks everything in a damaged file that could make Arrow misbehave.
package parquet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
)

// The magic words at the beginning and the end of a file.
const (
	Magic          = footer.Magic
	EncryptedMagic = footer.EncryptedMagic
)

// File is an open Parquet file.
type File struct {
	in        format.Input
	footer    *footer.Metadata
	leaves    []format.Leaf
	leafCount int         // number of leaves; the keys and values of maps follow them
	columns   []column    // by leaf index
	keyLeaves map[int]int // by index of a map leaf: index of the leaf of its keys; the leaf of its values is the next one
	rows      []int64     // rows of each row group
	pool      *sync.Pool  // of *scratch
}

// Open reads and checks the footer of the input in, using at most memory bytes. Closing the file closes the input. If
// Open fails, the caller must close the input.
func Open(in format.Input, memory int64) (*File, error) { return OpenOfTable(in, memory, nil, nil) }

// OpenOfTable opens a file of a table like Open. The file shows only columns of the table, under the table's names, and
// the columns that it lacks if the table has a value for them: their defaults, or constants, which are columns.Constants
// as JSON.
func OpenOfTable(in format.Input, memory int64, table *columns.Schema, constants []byte) (*File, error) {
	var foot *footer.Metadata
	err := format.Guard(func() (err error) { // the library's schema may panic
		foot, err = footer.ReadMetadata(in, memory, table, constants)
		return err
	})
	if err != nil {
		return nil, format.PlaceError(in.Name(), -1, "", err)
	}
	f := &File{in: in, footer: foot, pool: &sync.Pool{New: func() any { return new(scratch) }}}
	// The metadata is a tree of pointers, which may be nil in a damaged file.
	err = format.Guard(func() error {
		if err := f.checkGroups(); err != nil {
			return err
		}
		flat := flattenSchema(foot)
		f.leaves, f.columns = flat.leaves, flat.columns
		f.leafCount, f.keyLeaves = len(f.leaves), map[int]int{}
		for i := range f.leafCount {
			if inner := flat.entries[i]; inner != nil {
				f.keyLeaves[i] = len(f.leaves)
				f.leaves, f.columns = append(f.leaves, inner.leaves...), append(f.columns, inner.columns...)
			}
		}
		for i := range f.leaves {
			if err := f.setLeafFromChunks(&f.leaves[i], &f.columns[i]); err != nil {
				return err
			}
		}
		for i, at := range f.keyLeaves {
			f.setMapLeafFromPair(&f.leaves[i], f.leaves[at:at+2])
		}
		format.MarkIndex(func(yield func(*format.Leaf) bool) {
			for i := 0; i < f.leafCount && yield(&f.leaves[i]); i++ {
			}
		}, foot.Pandas)
		return nil
	})
	if err != nil {
		return nil, footer.AddRemedy(f.placeErrorInColumn(err, -1, ""), footer.RemedyCopyAgain)
	}
	return f, nil
}

// ShowDatesAsTimes shows columns of dates as times without a zone, in seconds, if a table has widened them to such times.
func (f *File) ShowDatesAsTimes(table *columns.Schema) {
	for i := range f.leaves[:f.leafCount] {
		l := &f.leaves[i]
		if typ, _ := table.ColumnType(l.ColumnPath()); l.Type == "date" && typ == columns.LocalTime {
			l.Type, l.Why, l.PerSecond = "timestamp", "timestamp", 1
			f.columns[i].showsTimes = true
		}
	}
}

// Leaves implements format.File: it returns the leaf columns of the schema.
func (f *File) Leaves() []format.Leaf { return f.leaves[:f.leafCount] }

// GroupRows implements format.File: it returns the number of rows of each group.
func (f *File) GroupRows() []int64 { return f.rows }

// GroupBytes implements format.Weighed: it returns the bytes of group g in the file.
func (f *File) GroupBytes(g int) (n int64) {
	for i := range f.footer.Groups[g].Chunks {
		n += f.Extent(g, i).Size
	}
	return n
}

// HeldBytes implements format.File: it returns the memory of the open file, mainly of its footer.
func (f *File) HeldBytes() int64 { return f.footer.Heap }

// FooterDigest implements format.File: it returns a digest by which a later opening notices a changed file.
func (f *File) FooterDigest() uint64 { return f.footer.Digest }

// Close implements format.File.
func (f *File) Close() error { return f.in.Close() }

// Schema returns the footer's schema. Its leaves, counted depth first, are the physical columns of ColumnReader.
func (f *File) Schema() *schema.Schema { return f.footer.Schema }

// Annotations returns the annotations of a schema node and of all nodes below it. Their paths are for another file, in
// which a copy of the node is at the top level and has the given name. It returns nil if there are none.
func (f *File) Annotations(n schema.Node, name string) footer.Annotations {
	if len(f.footer.Strange) == 0 {
		return nil
	}
	found := footer.Annotations{}
	footer.VisitPaths(n, name, func(path string, n schema.Node) {
		if strange := f.footer.Strange[n]; strange != nil {
			found[path] = strange.Annotation
		}
	})
	return found
}

// PhysicalIndex returns the first physical column of a leaf.
func (f *File) PhysicalIndex(leaf int) int { return f.columns[leaf].index }

// Input returns the input of the file.
func (f *File) Input() format.Input { return f.in }

// Extent returns the byte range of physical column i of group g. It is empty if the file lacks the column.
func (f *File) Extent(g, i int) format.Extent {
	c := f.Chunk(g, i)
	if c.Constant != nil {
		return format.Extent{}
	}
	return format.Extent{At: c.At, Size: c.Size}
}

// ScratchBytes returns an upper bound on the memory needed to read physical column i of group g.
func (f *File) ScratchBytes(g, i int) int64 {
	c := newColumn(f.footer.Schema, i)
	return scratchBytes(f.Chunk(g, i), &c)
}

func (f *File) placeErrorInColumn(err error, group int, column string) error {
	return format.PlaceError(f.in.Name(), group, column, err)
}

// Chunk returns the position and size of physical column i in group g. The footer has been checked.
func (f *File) Chunk(g, i int) footer.ChunkInfo { return f.footer.Groups[g].Chunks[i].ChunkInfo }

// DictionaryBytes returns the number of bytes of the chunk's dictionary page, header included; 0 if there is no
// dictionary page.
func (f *File) DictionaryBytes(g, i int) int64 { return f.footer.Groups[g].Chunks[i].Dictionary }

// UsesDictionary reports whether the chunk's pages are encoded with a dictionary and its writer did not fall back to
// plain pages.
func (f *File) UsesDictionary(g, i int) bool {
	m := &f.footer.Groups[g].Chunks[i]
	return !m.PlainPages && (m.Encodings.Has(parquet.Encodings.PlainDict) || m.Encodings.Has(parquet.Encodings.RLEDict))
}

// checkGroups verifies that the footer is consistent with itself and with the file's size, and records the number of
// rows of each group. If the footer contradicts itself about a column chunk, only this column cannot be read.
func (f *File) checkGroups() error {
	var total int64
	var doubt sizeDoubt
	claimed := f.footer.Rows
	if claimed == 0 { // some writers leave the total at 0
		claimed = math.MaxInt64
	}
	for g := range f.footer.Groups {
		group := &f.footer.Groups[g]
		switch n := f.footer.Schema.NumColumns(); {
		case group.Rows < 0 || group.Rows > claimed-total:
			return fmt.Errorf("damaged footer: row group %d claims %d rows of the file's %d", g, group.Rows, claimed)
		case len(group.Chunks) != n:
			return fmt.Errorf("damaged footer: row group %d has %d columns where the schema has %d", g, len(group.Chunks), n)
		case !canHoldValues(f.footer.Start, group.Rows):
			return fmt.Errorf("damaged footer: row group %d claims %d rows, more than pages of %d bytes can hold", g, group.Rows, f.footer.Start)
		}
		total += group.Rows
		f.rows = append(f.rows, group.Rows)
		for i := range group.Chunks {
			if _, known := group.ChunkFaults[i]; known {
				continue
			}
			if fault := f.checkChunk(g, i); fault != "" {
				group.RecordChunkFault(i, "damaged footer: "+fault+"; "+footer.RemedyCopyAgain)
				continue
			}
			if err := surveyChunk(f, g, i, &doubt); err != nil {
				return f.placeErrorInColumn(err, g, f.footer.Schema.Column(i).Path())
			}
		}
	}
	if f.footer.Rows != 0 && total != f.footer.Rows {
		return fmt.Errorf("damaged footer: the row groups have %d rows where the file has %d", total, f.footer.Rows)
	}
	return nil
}

// maxChunk is the upper bound on the size of a column chunk in memory: no page can be larger than 2 GiB, and a sum of a
// few bounds as large as maxChunk must not overflow.
const maxChunk = 1 << 42

// checkChunk returns a description of a fault of a column chunk, or "". surveyChunk checks its size in memory.
func (f *File) checkChunk(g, i int) string {
	m := &f.footer.Groups[g].Chunks[i]
	desc := f.footer.Schema.Column(i)
	rows, c := f.rows[g], f.Chunk(g, i)
	switch {
	case m.Physical != desc.PhysicalType():
		return fmt.Sprintf("the column chunk is of type number %d where the schema says %s", m.Physical, desc.PhysicalType())
	case c.Size < 0 || c.Values < 0:
		return fmt.Sprintf("the column chunk claims %d bytes, of %d values", c.Size, c.Values)
	case c.Values > 0 && c.Constant == nil && (c.At < int64(len(footer.Magic)) || c.At > f.footer.Start || c.Size > f.footer.Start-c.At):
		return fmt.Sprintf("the column chunk (%d bytes at offset %d) does not lie within the file", c.Size, c.At)
	case desc.MaxRepetitionLevel() == 0 && c.Values != rows:
		return fmt.Sprintf("the column chunk has %d values where the row group has %d rows", c.Values, rows)
	case c.Values < rows:
		return fmt.Sprintf("the column chunk has %d values, fewer than the row group's %d rows", c.Values, rows)
	case !canHoldValues(c.Size, c.Values):
		return fmt.Sprintf("the column chunk has %d values, more than pages of %d bytes can hold", c.Values, c.Size)
	}
	return ""
}

// minPage is the length of the shortest possible header of a data page, for a page with few values, in bytes.
const minPage = 17

// canHoldValues reports whether pages with size bytes in total can hold this number of values. Each page has a header,
// in which a field of 32 bits limits the number of its values. The values of a constant column take almost no bytes, so
// no tighter limit is safe. The limit allows one page more than the bytes suffice for. Without this check, a false
// number would be decoded for days before the missing pages were noticed.
func canHoldValues(size, values int64) bool { return values/math.MaxInt32 <= 1+size/minPage }

// remedyRewrite is the remedy for a file that other programs can read.
const remedyRewrite = "rewrite the file with parquet_version v1 and zstd"

// maxWidth is the greatest length of a list whose elements become features. A few encoded bytes can claim any length.
const maxWidth = 1 << 20

func (f *File) setLeafFromChunks(leaf *format.Leaf, col *column) error {
	if col.def == 0 {
		leaf.Nulls = 0
	}
	nulls, known := int64(0), col.def > 0
	width := int64(-1) // length of the lists: -1 no list seen yet, 0 varying
	first := -1        // first row group that has rows
	for g, rows := range f.rows {
		info := f.Chunk(g, col.index)
		leaf.Scratch = max(leaf.Scratch, scratchBytes(info, col))
		leaf.TextScratch = max(leaf.TextScratch, textCopies*scratchBytes(info, col))
		leaf.Packed = max(leaf.Packed, info.Size)
		if leaf.Why == "" || leaf.Refused {
			if why := f.whyUndecodable(g, col); why != "" { // the column would be a feature, but cannot be decoded
				leaf.Why, leaf.Refused, leaf.Width = why, true, 0
			}
		}
		if _, fault := f.footer.Groups[g].ChunkFaults[col.index]; fault || rows == 0 {
			continue
		}
		if first < 0 {
			first = g
		}
		if col.rep > 0 {
			leaf.PerRow = max(leaf.PerRow, (info.Values+rows-1)/rows)
		}
		if n := f.footer.Groups[g].Chunks[col.index].Nulls; n >= 0 && n <= info.Values {
			nulls += n
		} else {
			known = false
		}
		switch w := info.Values / rows; {
		case info.Values%rows != 0 || width >= 0 && w != width:
			width = 0
		case width < 0:
			width = w
		}
	}
	if known && (col.rep == 0 || nulls == 0) { // writers count empty and null lists in the same way
		leaf.Nulls = nulls
	}
	if leaf.List && leaf.Why == "" {
		if width > 0 {
			switch uneven, err := firstPageHasOtherWidth(f, first, leaf, col, int(width)); {
			case err != nil:
				return err
			case uneven:
				width = 0
			}
		}
		if width == 0 && (nulls > 0 || !known) {
			exceptGaps, err := findWidthExceptGaps(f, leaf, col)
			if err != nil {
				return err
			}
			width = int64(exceptGaps)
		}
		switch {
		case width == 0:
			leaf.Why = format.WhyVarying
		case width < 0:
			leaf.Why = "lists of unknown length (the file has no rows)"
		case width > maxWidth:
			leaf.Why = fmt.Sprintf("lists of %d values, more than %d", width, maxWidth)
		default:
			leaf.Width = int(width)
		}
	}
	return nil
}

func (f *File) setMapLeafFromPair(mapLeaf *format.Leaf, keysAndValues []format.Leaf) {
	mapLeaf.Scratch, mapLeaf.Packed = 0, 0
	for i, side := range keysAndValues {
		mapLeaf.Scratch = max(mapLeaf.Scratch, side.Scratch)
		if i == 0 && mapLeaf.TextKeys {
			mapLeaf.Scratch = max(mapLeaf.Scratch, side.TextScratch)
		}
		mapLeaf.Packed += side.Packed
		mapLeaf.PerRow = max(mapLeaf.PerRow, side.PerRow)
		if side.Refused && mapLeaf.NoEntries == "" {
			mapLeaf.Entries, mapLeaf.NoEntries = "", side.Why
		}
	}
}

func (f *File) whyUndecodable(groupIndex int, c *column) string {
	m := &f.footer.Groups[groupIndex].Chunks[c.index]
	if fault, ok := f.footer.Groups[groupIndex].ChunkFaults[c.index]; ok {
		return fault
	}
	if !slices.Contains(decodableCodecs, m.Codec) {
		return fmt.Sprintf("codec %s cannot be decoded; %s", codecName(m.Codec), remedyRewrite)
	}
	if encoding := c.undecodableEncoding(m.Encodings); encoding != "" {
		return fmt.Sprintf("encoding %s cannot be decoded; %s", encoding, remedyRewrite)
	}
	return ""
}

// Open implements format.File. It does not read yet.
func (f *File) Open(_ context.Context, g int, _ []int) (format.Group, error) {
	if g < 0 || g >= len(f.rows) {
		return nil, f.placeErrorInColumn(fmt.Errorf("there is no row group %d", g), -1, "")
	}
	return &rowGroup{file: f, number: g, marks: map[markKey][]pageMark{}}, nil
}

// ColumnReader returns a reader of physical column i of group g, of any type, for copying. The reader is the typed
// reader of the library, which gets its pages only after they have been checked. The byte arrays that it returns stay
// valid. Call done when finished. Use a reader in one goroutine only.
//
// The library may panic on damaged values, so run the reading within format.Guard, and check Err after every batch.
// Batches end early only at the chunk's end or with an error: the caller compares the number of values to the footer's.
func (f *File) ColumnReader(g, i int) (reader pqfile.ColumnChunkReader, done func(), err error) {
	return f.columnReader(g, i, 0)
}

// LeanReader is a variant of ColumnReader for reading many columns at once: the reader reads exactly `ahead` bytes at a
// time, and holds these bytes and two pages.
func (f *File) LeanReader(g, i, ahead int) (reader pqfile.ColumnChunkReader, done func(), err error) {
	return f.columnReader(g, i, ahead)
}

func (f *File) columnReader(g, i, ahead int) (reader pqfile.ColumnChunkReader, done func(), err error) {
	columns := f.Schema().NumColumns()
	if g < 0 || g >= len(f.rows) || i < 0 || i >= columns {
		return nil, nil, f.placeErrorInColumn(fmt.Errorf("there is no column %d in row group %d", i, g), -1, "")
	}
	c := newColumn(f.Schema(), i)
	if why := f.whyUndecodable(g, &c); why != "" {
		return nil, nil, f.placeErrorInColumn(errors.New(why), g, c.desc.Path())
	}
	buf := f.pool.Get().(*scratch)
	p := newChunkWalker(f, g, &c, buf)
	p.freshMemory = true
	if ahead > 0 {
		p.win.ahead = ahead
	}
	raw := &rawPageReader{pages: &p}
	done = func() { f.pool.Put(buf) }
	return pqfile.NewColumnReader(c.desc, raw, memory.DefaultAllocator, &sync.Pool{
		New: func() any { return memory.NewResizableBuffer(memory.DefaultAllocator) },
	}), done, nil
}
