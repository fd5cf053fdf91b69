// Package footer reads the footers of Parquet files, and changes the footers that the library writes.
package footer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"unsafe"

	"github.com/apache/arrow/go/v15/parquet/schema"
	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/thrift"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/stream"
)

// tailSize is the length of the last part of a Parquet file: the length of the footer, and the magic word.
const tailSize = 8

// The magic words at the beginning and the end of a file.
const (
	Magic          = "PAR1"
	EncryptedMagic = "PARE"
)

// Metadata is the parsed footer of a Parquet file. It is parsed here and not by the library. The library supports fewer
// logical types, panics on unknown ones, and allocates ten objects for each column chunk.
type Metadata struct {
	Schema       *schema.Schema
	Strange      map[schema.Node]*StrangeType // nodes with a type that the library cannot represent
	Rows         int64
	HasTypeOrder []bool // by column: its bounds are in the order of its type
	Pandas       string // pandas' metadata of the columns, see format.MarkIndex
	V2Compressed bool   // pages of version 2 are compressed, even if their headers deny it
	RawFooter    []byte // raw bytes of the footer, for statistics, which are seldom needed
	Groups       []groupMeta
	Start        int64  // offset of the footer in the file: all pages end before it
	Digest       uint64 // digest of the footer's bytes, and of the schema by which a table reads it
	Heap         int64  // estimated heap of the parsed footer
}

// ReadMetadata reads and parses the footer, in at most memory bytes. The result is well-formed, but its numbers need
// not be consistent. If there is a table, the result shows only columns of the table, under their names in it. It shows
// columns that the file lacks if they have a default or one of the constants, which are columns.Constants as JSON.
func ReadMetadata(in format.Input, memory int64, table *columns.Schema, constants []byte) (*Metadata, error) {
	raw, start, err := readRawFooter(in, memory)
	if err != nil {
		return nil, err
	}
	shape, err := measureFooter(raw)
	if err != nil {
		return nil, AddRemedy(stream.Dataf(in.Name(), "damaged footer: %w", err), RemedyCopyAgain)
	}
	f := &Metadata{RawFooter: raw, Start: start, Digest: xxhash.Sum64(raw), Heap: shape.heapBytes(len(raw))}
	if f.Heap > memory {
		return nil, &stream.MemoryError{What: "the footer of " + in.Name(), Need: f.Heap, Limit: memory}
	}
	elements, err := f.parseRawFooter(shape)
	if err == nil && table != nil {
		if elements, err = f.applyTable(elements, table, constants); err != nil {
			return nil, AddRemedy(stream.Dataf(in.Name(), "does not fit the schema of its table: %w", err), "write the file again with the table's writer")
		}
		f.Digest = bits.RotateLeft64(f.Digest, 1) ^ table.Digest
		if constants != nil {
			f.Digest = bits.RotateLeft64(f.Digest, 1) ^ xxhash.Sum64(constants)
		}
		shape.elements, shape.chunks = max(shape.elements, len(elements)), max(shape.chunks, len(f.Groups)*len(f.HasTypeOrder))
		shape.paths = sumPathBytes(convert.Each(elements, schemaElement.countChildren), convert.Each(elements, func(e schemaElement) int64 { return int64(len(e.name)) }))
		if f.Heap = max(f.Heap, shape.heapBytes(len(raw))); f.Heap > memory {
			return nil, &stream.MemoryError{What: "the footer of " + in.Name(), Need: f.Heap, Limit: memory}
		}
	}
	if err == nil {
		f.Schema, f.Strange, err = parseSchema(elements)
	}
	if err != nil {
		return nil, AddRemedy(stream.Dataf(in.Name(), "damaged footer: %w", err), RemedyCopyAgain)
	}
	return f, nil
}

func (f *Metadata) parseRawFooter(shape footerShape) (elements []schemaElement, _ error) {
	c := thrift.Reader{Bytes: f.RawFooter}
	var fields [4]int64
	set := c.ReadStruct(fields[:], func(id int64, typ byte) bool {
		switch {
		case id == 2 && typ == thrift.List:
			elements = make([]schemaElement, 0, shape.elements)
			_, n := c.ReadListHeader()
			for range n {
				elements = append(elements, parseSchemaElement(&c))
			}
		case id == 4 && typ == thrift.List:
			f.Groups = parseRowGroups(&c, shape)
		case id == 5 && typ == thrift.List:
			f.Pandas = findValueOfKey(&c, format.PandasKey)
		case id == 6 && typ == thrift.Binary:
			f.V2Compressed = strings.HasPrefix(string(c.ReadBinary()), v2CompressedWriter)
		case id == 7 && typ == thrift.List:
			f.HasTypeOrder = parseColumnOrders(&c)
		default:
			return false
		}
		return true
	})
	f.Rows = fields[3]
	if set&(1<<3) == 0 {
		c.KeepFirstError(errors.New("the number of rows is missing"))
	}
	return elements, c.Err
}

// v2CompressedWriter is the beginning of the name of Arrow C++ before version 3.0; later versions are called
// parquet-cpp-arrow. Compressed pages of version 2 from this writer claim to be uncompressed (ARROW-10353).
const v2CompressedWriter = "parquet-cpp version "

func findValueOfKey(c *thrift.Reader, key string) (value string) {
	elem, n := c.ReadListHeader()
	if elem != thrift.Struct {
		c.SkipElements(elem, n, 1)
		return ""
	}
	for range n {
		var pair [3][]byte
		c.ReadStruct(nil, func(id int64, typ byte) bool {
			if typ != thrift.Binary || id != 1 && id != 2 {
				return false
			}
			pair[id] = c.ReadBinary()
			return true
		})
		if string(pair[1]) == key {
			value = string(pair[2])
		}
		if c.Err != nil {
			return ""
		}
	}
	return value
}

// parseColumnOrders parses a list of ColumnOrder: true for each column whose bounds are in the order of its type.
func parseColumnOrders(c *thrift.Reader) (ordered []bool) {
	elem, n := c.ReadListHeader()
	if elem != thrift.Struct {
		c.SkipElements(elem, n, 1)
		return nil
	}
	for range n {
		typeOrder := false
		c.ReadStruct(nil, func(id int64, typ byte) bool {
			typeOrder = typeOrder || id == 1 && typ == thrift.Struct
			return false
		})
		ordered = append(ordered, typeOrder)
	}
	return ordered
}

func readRawFooter(in format.Input, memory int64) (raw []byte, start int64, err error) {
	size := in.Size()
	if size == 0 {
		return nil, 0, stream.Dataf(in.Name(), "is empty (0 bytes)")
	}
	var head [4]byte
	var tail [tailSize]byte
	if size < int64(len(head)+tailSize) {
		return nil, 0, AddRemedy(stream.Dataf(in.Name(), "is no Parquet file: it has only %d bytes", size), RemedyCopyAgain)
	}
	if format.IsFar(in) { // the end of the file is enough, and reading only the end saves a request
		copy(head[:], Magic)
	} else if err := format.ReadAt(in, head[:], 0); err != nil {
		return nil, 0, stream.Dataf(in.Name(), "cannot be read: %w", err)
	}
	if err := format.ReadAt(in, tail[:], size-tailSize); err != nil {
		return nil, 0, stream.Dataf(in.Name(), "cannot be read: %w", err)
	}
	end := string(tail[4:])
	switch {
	case string(head[:]) == EncryptedMagic || end == EncryptedMagic:
		return nil, 0, errEncrypted(in)
	case string(head[:]) != Magic:
		return nil, 0, AddRemedy(stream.Dataf(in.Name(), "is no Parquet file: it does not begin with %s", Magic), RemedyCopyAgain)
	case end != Magic:
		e := stream.Dataf(in.Name(), "begins as a Parquet file but does not end as one (%s)", Magic)
		e.Remedy = stream.Textf("it is probably cut off: copy or write it again")
		return nil, 0, e
	}
	n := int64(binary.LittleEndian.Uint32(tail[:4]))
	start = size - tailSize - n
	if n == 0 || start < int64(len(head)) {
		return nil, 0, AddRemedy(stream.Dataf(in.Name(), "damaged footer: it claims %d bytes in a file of %d", n, size), RemedyCopyAgain)
	}
	if n > memory {
		return nil, 0, &stream.MemoryError{What: "the footer of " + in.Name(), Need: n, Limit: memory, AtLeast: true} // the parsed footer takes more memory
	}
	raw = room.MakeSlice[byte](int(n)) // a pass over 50,000 row groups allocates another 40 MB here, besides the previous footer
	if err := format.ReadAt(in, raw, start); err != nil {
		return nil, 0, stream.Dataf(in.Name(), "cannot be read: %w", err)
	}
	return raw, start, nil
}

func errEncrypted(in format.Input) error {
	e := stream.Dataf(in.Name(), "is encrypted, which cannot be read")
	e.Remedy = stream.Textf("rewrite it without encryption")
	return e
}

// footerShape contains the counts that determine the size of a parsed footer.
type footerShape struct {
	elements int   // elements of the schema
	groups   int   // row groups
	chunks   int   // column chunks of all row groups
	paths    int64 // bytes of the paths of all leaves: the name of a group counts once for each leaf below it
}

// heapBytes estimates the heap of a parsed footer of n bytes. For files of DuckDB, 0.6 kB per schema element were
// measured, and strings in proportion to n; the constants are rounded up. The estimate includes the 130 bytes per
// element that only parsing needs, so that a footer that was opened once within a limit can be opened again within it.
func (s footerShape) heapBytes(n int) int64 {
	return int64(unsafe.Sizeof(ChunkMeta{}))*int64(s.chunks) + 100*int64(s.groups) + 1000*int64(s.elements) + pathCopies*s.paths + int64(n)
}

// pathCopies is the number of copies of a leaf's path that the library and the leaves hold.
const pathCopies = 3

func sumPathBytes(children []int64, nameBytes []int64) (bytes int64) {
	type group struct{ pending, prefix int64 }
	var stack []group
	for i, n := range children {
		prefix := nameBytes[i]
		if len(stack) > 0 {
			top := &stack[len(stack)-1]
			top.pending--
			prefix += top.prefix
		}
		if n == 0 {
			bytes += prefix
		}
		for len(stack) > 0 && stack[len(stack)-1].pending == 0 {
			stack = stack[:len(stack)-1]
		}
		if n > 0 {
			stack = append(stack, group{n, prefix})
		}
	}
	return bytes
}

// measureFooter validates the raw FileMetaData and counts its parts, so that parsing can neither allocate memory for a
// false count nor recurse without a limit.
func measureFooter(raw []byte) (shape footerShape, err error) {
	c := thrift.Reader{Bytes: raw}
	var children, names []int64 // number of children of each schema element, in order, and number of bytes of its name
	var faults []error
	lists := map[int64]bool{}
	c.ReadStruct(nil, func(id int64, typ byte) bool {
		if typ != thrift.List || id != 2 && id != 4 {
			return false
		}
		if lists[id] {
			faults = append(faults, fmt.Errorf("there are two lists of field %d", id))
		}
		lists[id] = true
		elem, n := c.ReadListHeader()
		if elem != thrift.Struct && n > 0 {
			faults = append(faults, fmt.Errorf("field %d has elements of type %d", id, elem))
		}
		for range n {
			switch {
			case c.Err != nil:
				return true
			case elem != thrift.Struct:
				c.SkipElements(elem, 1, 1)
			case id == 2: // list<SchemaElement>, whose field 5 is num_children
				var f [6]int64
				name := int64(0)
				c.ReadStruct(f[:], func(id int64, typ byte) bool {
					if id != 4 || typ != thrift.Binary {
						return false
					}
					name = int64(len(c.ReadBinary()))
					return true
				})
				children, names = append(children, f[5]), append(names, name)
			default: // list<RowGroup>, whose field 1 is list<ColumnChunk>
				shape.groups++
				chunks, _, _ := skipRowGroup(&c)
				shape.chunks += chunks
			}
		}
		return true
	})
	shape.elements = len(children)
	if c.Err == nil {
		err := checkTree(children)
		if err == nil {
			shape.paths = sumPathBytes(children, names)
		}
		faults = append(faults, err)
	}
	return shape, errors.Join(append(faults, c.Err)...)
}

// checkTree verifies that the schema's elements, listed depth first with the number of children of each, form one
// tree of bounded depth.
func checkTree(children []int64) error {
	if len(children) == 0 {
		return errors.New("there is no schema")
	}
	var pending []int64 // children not read yet, by depth
	for i, n := range children {
		if i > 0 {
			if len(pending) == 0 {
				return errors.New("the schema has more than one root")
			}
			pending[len(pending)-1]--
		}
		if n < 0 || n > int64(len(children)-i-1) {
			return fmt.Errorf("schema element %d claims %d children", i, n)
		}
		if n > 0 {
			pending = append(pending, n)
		}
		for len(pending) > 0 && pending[len(pending)-1] == 0 {
			pending = pending[:len(pending)-1]
		}
		if len(pending) > thrift.MaxDepth {
			return fmt.Errorf("the schema is nested deeper than %d", thrift.MaxDepth)
		}
	}
	if len(pending) > 0 {
		return errors.New("the schema ends before its last element")
	}
	return nil
}

// Remedies for damage of a whole file and of one column.
const (
	RemedyCopyAgain = "copy or write the file again"
	RemedyLeaveOut  = RemedyCopyAgain + ", or leave the column out"
)

// AddRemedy adds a remedy to a data error that has none. Errors of reading the input stay unchanged.
func AddRemedy(err error, remedy string) error {
	d, ok := errors.AsType[*stream.DataError](err)
	if !ok || d.Remedy.Format != "" || ReadErrorOrNil(err) != nil {
		return err
	}
	advised := *d
	advised.Remedy = stream.PlainText(remedy)
	return &advised
}

// ReadErrorOrNil returns err if it is an error of reading the input, and not of its content.
func ReadErrorOrNil(err error) error {
	if _, ok := errors.AsType[*format.ReadError](err); ok {
		return err
	}
	return nil
}
