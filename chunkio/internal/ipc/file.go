// Package ipc reads Arrow IPC files (file.go, Feather version 2) and streams (stream.go). It parses the metadata itself
// (message.go, schema.go). It decodes the buffers of a record batch in tiles, i.e. a few thousand values at a time, as
// float64 (values.go, lists.go) or as text (texts.go).
package ipc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Magic is the magic word at the beginning and the end of a file.
const Magic = "ARROW1"

// File is an opened Arrow IPC file.
type File struct {
	in               format.Input
	memory           int64
	schema           *schema
	blocks           []block // blocks of the record batches
	rows             []int64
	dicts            map[int64]*numberDictionary
	texts            map[int64]*textDictionary
	codecs           *decompressorPool
	digest           uint64
	footerBytes      int64 // length of the footer in bytes
	fieldCount       int64 // number of fields of the schema, including nested fields
	heapBytes        int64 // memory of the parsed footer
	dictionaryValues int64 // total number of values in the dictionaries of numbers
	largestMeta      int64 // length of the longest metadata of a batch
}

var _ format.File = (*File)(nil)

type block struct {
	offset int64
	meta   int64 // bytes of metadata, including its length prefix and padding
	body   int64
}

// Open reads the footer, the metadata of every batch, and the dictionaries of numbers. The opened file holds at most
// memory bytes of these. Closing the file closes the input in. If Open fails, the caller closes the input.
func Open(in format.Input, memory int64) (*File, error) {
	f := &File{in: in, memory: memory, dicts: map[int64]*numberDictionary{}, texts: map[int64]*textDictionary{}, codecs: &decompressorPool{}}
	if err := f.loadMetadata(); err != nil {
		return nil, errInWholeFile(in.Name(), err)
	}
	return f, nil
}

func errInWholeFile(path string, err error) error {
	return (&group{path: path, index: -1}).errInBatch(err)
}

func (f *File) loadMetadata() error {
	footer, err := f.readFooter()
	if err != nil {
		return err
	}
	f.digest, f.footerBytes = xxhash.Sum64(footer), int64(len(footer))
	var dicts []block
	limit := f.in.Size() - int64(len(footer)) - int64(len(Magic)) - 4
	err = parseFlatbuffer(func() (err error) {
		t := rootFlatTable(footer)
		// Some writers before Arrow 1.0 left the footer's version at V1. Each message has its own version.
		if err := checkMetadataVersion(max(t.int16Field(0), metadataV4)); err != nil {
			return err
		}
		schema, ok := t.tableField(1)
		if !ok {
			return errors.New("damaged metadata (no schema)")
		}
		shape, err := measureSchema(schema)
		if err != nil {
			return err
		}
		f.fieldCount, f.heapBytes = int64(shape.fields), shape.heapBytes()+blockBytes*t.largestBlockCount()
		if need := f.heapBytes + f.footerBytes; need > f.memory {
			return &stream.MemoryError{What: "the footer of " + f.in.Name(), Need: need, Limit: f.memory, AtLeast: true} // more memory is needed for parsing
		}
		if f.schema, err = parseSchema(schema, shape); err != nil {
			return err
		}
		if dicts, err = parseBlocks(&t, 2, limit); err != nil {
			return err
		}
		f.blocks, err = parseBlocks(&t, 3, limit)
		return err
	})
	if err != nil {
		return err
	}
	for i, b := range dicts {
		if err := f.loadDictionary(b); err != nil {
			return fmt.Errorf("dictionary batch %d: %w", i, err)
		}
	}
	return f.readBatches()
}

func (f *File) readFooter() ([]byte, error) {
	size := f.in.Size()
	const ends = int64(2*len(Magic) + 4)
	tail := make([]byte, 4+len(Magic))
	head := tail[:len(Magic)]
	if size < ends {
		return nil, newRefusalError("too short for an Arrow IPC file; write it again")
	}
	if format.IsFar(f.in) { // skip the beginning of the file: its end is enough, and this saves a request
		copy(head, Magic)
	} else if err := format.ReadAt(f.in, head, 0); err != nil {
		return nil, err
	}
	if string(head) != Magic {
		return nil, newRefusalError("not an Arrow IPC file (it does not begin with ARROW1)")
	}
	if err := format.ReadAt(f.in, tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	if string(tail[4:]) != Magic {
		return nil, newRefusalError("the file has no footer: it ends early or is still being written; write it again")
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n < 4 || n > size-ends {
		return nil, fmt.Errorf("a footer of %d bytes in a file of %d", n, size)
	}
	if n > f.memory {
		return nil, &stream.MemoryError{What: "the footer of " + f.in.Name(), Need: n, Limit: f.memory, AtLeast: true} // more memory is needed for the parsed footer
	}
	footer := room.MakeSlice[byte](int(n))
	return footer, format.ReadAt(f.in, footer, size-int64(len(tail))-n)
}

// blockBytes is the memory of a block and of its number of rows, in a slice that may be twice as long.
const blockBytes = int64(unsafe.Sizeof(block{})) + 2*8

func (t *flatTable) largestBlockCount() int64 {
	_, dicts := t.vectorBytes(2, 24)
	_, batches := t.vectorBytes(3, 24)
	return int64(dicts) + int64(batches)
}

// parseBlocks reads a vector of Block structs. The messages of all blocks must end before the position limit of the
// file.
func parseBlocks(t *flatTable, field int, limit int64) ([]block, error) {
	raw, n := t.vectorBytes(field, 24)
	blocks := make([]block, n)
	for i := range blocks {
		r := raw[24*i:]
		b := block{littleEndianInt64(r), int64(int32(binary.LittleEndian.Uint32(r[8:]))), littleEndianInt64(r[16:])}
		if b.offset < 0 || b.meta < 8 || b.body < 0 || b.offset > limit || b.meta > limit-b.offset || b.body > limit-b.offset-b.meta {
			return nil, fmt.Errorf("damaged metadata (block %d lies outside the file)", i)
		}
		blocks[i] = b
	}
	return blocks, nil
}

// readMessage reads the metadata of the message at a block. body is the position in the file at which the block's body
// begins.
func (f *File) readMessage(b block) (m message, body int64, err error) {
	if need := f.heapBytes + 2*b.meta; need > f.memory { // both the raw and the parsed metadata
		return m, 0, &stream.MemoryError{What: "a batch's metadata in " + f.in.Name(), Need: need, Limit: f.memory}
	}
	meta := room.MakeSlice[byte](int(b.meta))
	if err := format.ReadAt(f.in, meta, b.offset); err != nil {
		return m, 0, err
	}
	prefix := 4 // length of the prefix before Arrow 0.15
	if binary.LittleEndian.Uint32(meta) == continuation {
		prefix = 8
	}
	m, err = parseMessage(meta[prefix:])
	if err == nil && m.body > b.body {
		err = fmt.Errorf("damaged metadata (a body of %d bytes in a block of %d)", m.body, b.body)
	}
	return m, b.offset + b.meta, err
}

func (f *File) newBodyReader(b *batch, at int64) *bodyReader {
	return &bodyReader{r: io.NewSectionReader(f.in, at, b.body), codec: b.codec, codecs: f.codecs, busy: format.BusyOf(f.in)}
}

func (f *File) loadDictionary(b block) error {
	m, at, err := f.readMessage(b)
	if err != nil {
		return err
	}
	d, err := parseDictionary(m)
	if err != nil {
		return err
	}
	if f.dicts[d.id] != nil && !d.delta {
		return fmt.Errorf("dictionary %d is defined twice", d.id)
	}
	if f.schema.isLabelDictionary(d.id) {
		addTexts(f.texts, &d, f.newBodyReader(&d.batch, at))
	}
	n, err := f.schema.addDictionary(f.dicts, &d, f.newBodyReader(&d.batch, at), (f.memory-f.heapBytes)/8-f.dictionaryValues)
	f.dictionaryValues += n
	return err
}

// widthCheckRows is the number of rows at the beginning of a file in which lists are checked for different lengths
// before any list is decoded. A column whose lists have different lengths there is left out.
const widthCheckRows = 1 << 16

// readBatches reads the metadata of every batch and determines the rows, nulls and lengths of lists. For the lengths it
// reads the offsets of lists in some batches: up to the first batch that shows a length, in the first widthCheckRows
// rows of a local file, and in batches whose number of elements does not fit the length.
func (f *File) readBatches() error {
	for i := range f.schema.columns {
		f.schema.columns[i].Nulls = 0
	}
	ctx := context.Background()
	total := int64(0)
	for i := range f.blocks {
		g, err := f.openBatchGroup(i)
		if err != nil {
			return err
		}
		f.rows = append(f.rows, g.batch.rows)
		f.largestMeta = max(f.largestMeta, f.blocks[i].meta)
		if total += g.batch.rows; total > maxLength {
			return fmt.Errorf("damaged metadata (%d rows)", total)
		}
		for l := range f.schema.columns {
			c := &f.schema.columns[l]
			c.addNulls(&g.batch, f.dicts, f.texts)
			c.Packed = max(c.Packed, format.TotalBytes(g.columnExtents(c)))
			if c.valueField != nil {
				c.Scratch = max(c.Scratch, c.decodeScratchBytes(&g.batch))
			}
			if c.textField != nil {
				c.TextScratch = max(c.TextScratch, c.textDecodeScratchBytes(&g.batch))
			}
		}
		recheck := total <= widthCheckRows && !format.IsFar(f.in)
		if err := f.schema.findWidths(ctx, g, recheck); err != nil {
			return err
		}
	}
	for l := range f.schema.columns {
		if c := &f.schema.columns[l]; c.textField != nil && c.textField.index != nil && f.texts[c.textField.dict] != nil {
			c.TextScratch += f.texts[c.textField.dict].textBytes()
		}
	}
	f.schema.settleWidths()
	return nil
}

func (f *File) openBatchGroup(i int) (*group, error) {
	g := &group{path: f.in.Name(), index: i, firstRow: func() int64 { return format.GroupStart(f, i) }, schema: f.schema, dicts: f.dicts, texts: f.texts}
	m, at, err := f.readMessage(f.blocks[i])
	if err == nil {
		g.batch, err = parseBatch(m)
	}
	if err == nil {
		err = f.schema.checkBatch(&g.batch)
	}
	if err != nil {
		return nil, g.errInBatch(err)
	}
	g.body, g.bodyStart = f.newBodyReader(&g.batch, at), at
	return g, nil
}

// Leaves implements format.File: it returns the leaf columns of the schema.
func (f *File) Leaves() []format.Leaf { return f.schema.copyOfLeaves() }

// Columns returns the number of leaf columns of the schema.
func (f *File) Columns() int { return f.schema.leafCount }

// GroupRows implements format.File: it returns the number of rows of each group.
func (f *File) GroupRows() []int64 { return f.rows }

// GroupBytes implements format.Weighed: it returns the bytes of group g in the file.
func (f *File) GroupBytes(g int) int64 { return f.blocks[g].meta + f.blocks[g].body }

// FooterDigest implements format.File: it returns a digest by which a later opening notices a changed file.
func (f *File) FooterDigest() uint64 { return f.digest }

// Close implements format.File.
func (f *File) Close() error { return f.in.Close() }

// HeldBytes returns the memory of the parsed schema and blocks, the dictionaries of numbers, and one open group.
func (f *File) HeldBytes() int64 { return f.heapBytes + 8*f.dictionaryValues + 2*f.largestMeta }

// Input returns the input of the file.
func (f *File) Input() format.Input { return f.in }

// Extent returns the byte range of batch g in the file.
func (f *File) Extent(g int) format.Extent {
	b := f.blocks[g]
	return format.Extent{At: b.offset, Size: b.meta + b.body}
}

// BatchBytes returns the memory of batch g if all of it is decompressed. It uses the lengths that the batch states for
// its buffers; the Arrow library does not check these.
func (f *File) BatchBytes(g int) (int64, error) {
	opened, err := f.openBatchGroup(g)
	if err != nil {
		return 0, err
	}
	total := f.blocks[g].meta + f.blocks[g].body
	if opened.batch.codec == plainCodec {
		return total, nil
	}
	for _, b := range opened.batch.buffers {
		if b.length < 8 {
			continue
		}
		var word [8]byte
		if err := format.ReadAt(opened.body.r, word[:], b.offset); err != nil {
			return 0, err
		}
		if n := littleEndianInt64(word[:]); n > 0 {
			total += min(n, math.MaxInt64-total)
		}
	}
	return total, nil
}

// Open implements format.File; it reads only the metadata of the batch.
func (f *File) Open(ctx context.Context, g int, _ []int) (format.Group, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return f.openBatchGroup(g)
}
