// Package parquet reads Parquet files: the footer (footer.go, schema.go, groups.go), the leaves of its schema
// (leaf.go), and column chunks page by page (pages.go), as float64 or as text. Arrow v15 decodes many of the values.
// This package first checks everything in a damaged file that could make Arrow misbehave.
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
)

// File is an open Parquet file.
type File struct {
	in        format.Input
	footer    *footer
	leaves    []format.Leaf
	leafCount int         // number of leaves; the keys and values of maps follow them
	columns   []column    // by leaf index
	keyLeaves map[int]int // by index of a map leaf: index of the leaf of its keys; the leaf of its values is the next one
	rows      []int64     // rows of each row group
	pool      *sync.Pool  // of *scratch
}

// Open reads and checks the footer of the input in, using at most memory bytes. Closing the file closes the input. If
// Open fails, the caller must close the input.
func Open(in format.Input, memory int64) (*File, error) {
	foot, err := readFooter(in, memory)
	if err != nil {
		return nil, err
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
		}, foot.pandas)
		return nil
	})
	if err != nil {
		return nil, addRemedy(f.errInColumn(err, -1, ""), remedyCopyAgain)
	}
	return f, nil
}

// Leaves implements format.File.
func (f *File) Leaves() []format.Leaf { return f.leaves[:f.leafCount] }

// GroupRows implements format.File.
func (f *File) GroupRows() []int64 { return f.rows }

// GroupBytes implements format.Weighed.
func (f *File) GroupBytes(g int) (n int64) {
	for i := range f.footer.groups[g].chunks {
		n += f.footer.groups[g].chunks[i].Size
	}
	return n
}

// HeldBytes implements format.File.
func (f *File) HeldBytes() int64 { return f.footer.heap }

// FooterDigest implements format.File.
func (f *File) FooterDigest() uint64 { return f.footer.digest }

// Close implements format.File.
func (f *File) Close() error { return f.in.Close() }

// Schema returns the footer's schema. Its leaves, counted depth first, are the physical columns of ColumnReader.
func (f *File) Schema() *schema.Schema { return f.footer.schema }

// PhysicalIndex returns the first physical column of a leaf.
func (f *File) PhysicalIndex(leaf int) int { return f.columns[leaf].index }

// Input returns the input of the file.
func (f *File) Input() format.Input { return f.in }

// Extent returns the byte range of physical column i of group g.
func (f *File) Extent(g, i int) format.Extent {
	c := f.Chunk(g, i)
	return format.Extent{At: c.at, Size: c.Size}
}

// ScratchBytes returns an upper bound on the memory needed to read physical column i of group g.
func (f *File) ScratchBytes(g, i int) int64 {
	c := newColumn(f.footer.schema, i)
	return scratchBytes(f.Chunk(g, i), &c)
}

func (f *File) errInColumn(err error, group int, column string) error {
	return format.PlaceError(f.in.Name(), group, column, err)
}

// Chunk returns the position and size of physical column i in group g. The footer has been checked.
func (f *File) Chunk(g, i int) ChunkInfo { return f.footer.groups[g].chunks[i].ChunkInfo }

// DictionaryBytes returns the number of bytes of the chunk's dictionary page, header included; 0 if there is no
// dictionary page.
func (f *File) DictionaryBytes(g, i int) int64 { return f.footer.groups[g].chunks[i].dictionary }

// UsesDictionary reports whether the chunk's pages are encoded with a dictionary and its writer did not fall back to
// plain pages.
func (f *File) UsesDictionary(g, i int) bool {
	m := &f.footer.groups[g].chunks[i]
	return !m.plainPages && (m.encodings.has(parquet.Encodings.PlainDict) || m.encodings.has(parquet.Encodings.RLEDict))
}

// checkGroups verifies that the footer is consistent with itself and with the file's size, and records the number of
// rows of each group. If the footer contradicts itself about a column chunk, only this column cannot be read.
func (f *File) checkGroups() error {
	var total int64
	var doubt sizeDoubt
	claimed := f.footer.rows
	if claimed == 0 { // some writers leave the total at 0
		claimed = math.MaxInt64
	}
	for g := range f.footer.groups {
		group := &f.footer.groups[g]
		switch n := f.footer.schema.NumColumns(); {
		case group.rows < 0 || group.rows > claimed-total:
			return fmt.Errorf("damaged footer: row group %d claims %d rows of the file's %d", g, group.rows, claimed)
		case len(group.chunks) != n:
			return fmt.Errorf("damaged footer: row group %d has %d columns where the schema has %d", g, len(group.chunks), n)
		case !canHoldValues(f.footer.start, group.rows):
			return fmt.Errorf("damaged footer: row group %d claims %d rows, more than pages of %d bytes can hold", g, group.rows, f.footer.start)
		}
		total += group.rows
		f.rows = append(f.rows, group.rows)
		for i := range group.chunks {
			if _, known := group.chunkFaults[i]; known {
				continue
			}
			if fault := f.checkChunk(g, i); fault != "" {
				group.recordChunkFault(i, "damaged footer: "+fault+"; "+remedyCopyAgain)
				continue
			}
			if err := f.surveyChunk(g, i, &doubt); err != nil {
				return f.errInColumn(err, g, f.footer.schema.Column(i).Path())
			}
		}
	}
	if f.footer.rows != 0 && total != f.footer.rows {
		return fmt.Errorf("damaged footer: the row groups have %d rows where the file has %d", total, f.footer.rows)
	}
	return nil
}

// maxChunk is the upper bound on the size of a column chunk in memory: no page can be larger than 2 GiB, and a sum of a
// few bounds as large as maxChunk must not overflow.
const maxChunk = 1 << 42

// checkChunk returns a description of a fault of a column chunk, or "". surveyChunk checks its size in memory.
func (f *File) checkChunk(g, i int) string {
	m := &f.footer.groups[g].chunks[i]
	desc := f.footer.schema.Column(i)
	rows, c := f.rows[g], f.Chunk(g, i)
	switch {
	case m.physical != desc.PhysicalType():
		return fmt.Sprintf("the column chunk is of type number %d where the schema says %s", m.physical, desc.PhysicalType())
	case c.Size < 0 || c.Values < 0:
		return fmt.Sprintf("the column chunk claims %d bytes, of %d values", c.Size, c.Values)
	case c.Values > 0 && (c.at < int64(len(Magic)) || c.at > f.footer.start || c.Size > f.footer.start-c.at):
		return fmt.Sprintf("the column chunk (%d bytes at offset %d) does not lie within the file", c.Size, c.at)
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

func (f *File) setLeafFromChunks(l *format.Leaf, c *column) error {
	if c.def == 0 {
		l.Nulls = 0
	}
	nulls, known := int64(0), c.def > 0
	width := int64(-1) // length of the lists: -1 no list seen yet, 0 varying
	first := -1        // first row group that has rows
	for g, rows := range f.rows {
		info := f.Chunk(g, c.index)
		l.Scratch = max(l.Scratch, scratchBytes(info, c))
		l.TextScratch = max(l.TextScratch, textCopies*scratchBytes(info, c))
		l.Packed = max(l.Packed, info.Size)
		if l.Why == "" || l.Refused {
			if why := f.whyUndecodable(g, c); why != "" { // the column would be a feature, but cannot be decoded
				l.Why, l.Refused, l.Width = why, true, 0
			}
		}
		if _, fault := f.footer.groups[g].chunkFaults[c.index]; fault || rows == 0 {
			continue
		}
		if first < 0 {
			first = g
		}
		if c.rep > 0 {
			l.PerRow = max(l.PerRow, (info.Values+rows-1)/rows)
		}
		if n := f.footer.groups[g].chunks[c.index].nulls; n >= 0 && n <= info.Values {
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
	if known && (c.rep == 0 || nulls == 0) { // writers count empty and null lists in the same way
		l.Nulls = nulls
	}
	if l.List && l.Why == "" {
		if width > 0 {
			switch uneven, err := f.firstPageHasOtherWidth(first, l, c, int(width)); {
			case err != nil:
				return err
			case uneven:
				width = 0
			}
		}
		if width == 0 && (nulls > 0 || !known) {
			exceptGaps, err := f.findWidthExceptGaps(l, c)
			if err != nil {
				return err
			}
			width = int64(exceptGaps)
		}
		switch {
		case width == 0:
			l.Why = format.WhyVarying
		case width < 0:
			l.Why = "lists of unknown length (the file has no rows)"
		case width > maxWidth:
			l.Why = fmt.Sprintf("lists of %d values, more than %d", width, maxWidth)
		default:
			l.Width = int(width)
		}
	}
	return nil
}

func (f *File) setMapLeafFromPair(l *format.Leaf, pair []format.Leaf) {
	l.Scratch, l.Packed = 0, 0
	for i, side := range pair {
		l.Scratch = max(l.Scratch, side.Scratch)
		if i == 0 && l.TextKeys {
			l.Scratch = max(l.Scratch, side.TextScratch)
		}
		l.Packed += side.Packed
		l.PerRow = max(l.PerRow, side.PerRow)
		if side.Refused && l.NoEntries == "" {
			l.Entries, l.NoEntries = "", side.Why
		}
	}
}

func (f *File) whyUndecodable(g int, c *column) string {
	m := &f.footer.groups[g].chunks[c.index]
	if fault, ok := f.footer.groups[g].chunkFaults[c.index]; ok {
		return fault
	}
	if !slices.Contains(decodableCodecs, m.codec) {
		return fmt.Sprintf("codec %s cannot be decoded; %s", codecName(m.codec), remedyRewrite)
	}
	if encoding := c.undecodableEncoding(m.encodings); encoding != "" {
		return fmt.Sprintf("encoding %s cannot be decoded; %s", encoding, remedyRewrite)
	}
	return ""
}

// Open implements format.File. It does not read yet.
func (f *File) Open(_ context.Context, g int, _ []int) (format.Group, error) {
	if g < 0 || g >= len(f.rows) {
		return nil, f.errInColumn(fmt.Errorf("there is no row group %d", g), -1, "")
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
		return nil, nil, f.errInColumn(fmt.Errorf("there is no column %d in row group %d", i, g), -1, "")
	}
	c := newColumn(f.Schema(), i)
	if why := f.whyUndecodable(g, &c); why != "" {
		return nil, nil, f.errInColumn(errors.New(why), g, c.desc.Path())
	}
	buf := f.pool.Get().(*scratch)
	p := f.newChunkWalker(g, &c, buf)
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
