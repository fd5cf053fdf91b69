package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/apache/arrow/go/v15/parquet/schema"
	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
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

// footer is the parsed footer of a Parquet file. It is parsed here and not by the library. The library supports fewer
// logical types, panics on unknown ones, and allocates ten objects for each column chunk.
type footer struct {
	schema       *schema.Schema
	strange      map[schema.Node]*strangeType // nodes with a type that the library cannot represent
	rows         int64
	hasTypeOrder []bool // by column: its bounds are in the order of its type
	pandas       string // pandas' metadata of the columns, see format.MarkIndex
	v2Compressed bool   // pages of version 2 are compressed, even if their headers deny it
	rawFooter    []byte // raw bytes of the footer, for statistics, which are seldom needed
	groups       []groupMeta
	start        int64  // offset of the footer in the file: all pages end before it
	digest       uint64 // digest of the footer's bytes
	heap         int64  // estimated heap of the parsed footer
}

// readFooter reads and parses the footer, in at most memory bytes. The result is well-formed; checkGroups verifies that
// it is consistent.
func readFooter(in format.Input, memory int64) (*footer, error) {
	raw, start, err := footerBytes(in, memory)
	if err != nil {
		return nil, err
	}
	shape, err := measureFooter(raw)
	if err != nil {
		return nil, addRemedy(stream.Dataf(in.Name(), "damaged footer: %w", err), remedyCopyAgain)
	}
	f := &footer{rawFooter: raw, start: start, digest: xxhash.Sum64(raw), heap: shape.heapBytes(len(raw))}
	if f.heap > memory {
		return nil, &stream.MemoryError{What: "the footer of " + in.Name(), Need: f.heap, Limit: memory}
	}
	if err := f.parseRawFooter(shape); err != nil {
		return nil, addRemedy(stream.Dataf(in.Name(), "damaged footer: %w", err), remedyCopyAgain)
	}
	return f, nil
}

func (f *footer) parseRawFooter(shape footerShape) (err error) {
	c := compactReader{b: f.rawFooter}
	var fields [4]int64
	set := c.readStruct(fields[:], func(id int64, typ byte) bool {
		switch {
		case id == 2 && typ == thriftList:
			elements := make([]schemaElement, 0, shape.elements)
			_, n := c.readListHeader()
			for range n {
				elements = append(elements, c.parseSchemaElement())
			}
			if c.err == nil {
				f.schema, f.strange, err = parseSchema(elements)
			}
		case id == 4 && typ == thriftList:
			f.groups = c.parseRowGroups(shape)
		case id == 5 && typ == thriftList:
			f.pandas = c.findKeyValue(format.PandasKey)
		case id == 6 && typ == thriftBinary:
			f.v2Compressed = strings.HasPrefix(string(c.readBinary()), v2CompressedWriter)
		case id == 7 && typ == thriftList:
			f.hasTypeOrder = c.parseColumnOrders()
		default:
			return false
		}
		return true
	})
	f.rows = fields[3]
	if set&(1<<3) == 0 {
		c.keepFirstError(errors.New("the number of rows is missing"))
	}
	return errors.Join(err, c.err)
}

// v2CompressedWriter is the beginning of the name of Arrow C++ before version 3.0; later versions are called
// parquet-cpp-arrow. Compressed pages of version 2 from this writer claim to be uncompressed (ARROW-10353).
const v2CompressedWriter = "parquet-cpp version "

func (c *compactReader) findKeyValue(key string) (value string) {
	elem, n := c.readListHeader()
	if elem != thriftStruct {
		c.skipElements(elem, n, 1)
		return ""
	}
	for range n {
		var pair [3][]byte
		c.readStruct(nil, func(id int64, typ byte) bool {
			if typ != thriftBinary || id != 1 && id != 2 {
				return false
			}
			pair[id] = c.readBinary()
			return true
		})
		if string(pair[1]) == key {
			value = string(pair[2])
		}
		if c.err != nil {
			return ""
		}
	}
	return value
}

// parseColumnOrders parses a list of ColumnOrder: true for each column whose bounds are in the order of its type.
func (c *compactReader) parseColumnOrders() (ordered []bool) {
	elem, n := c.readListHeader()
	if elem != thriftStruct {
		c.skipElements(elem, n, 1)
		return nil
	}
	for range n {
		typeOrder := false
		c.readStruct(nil, func(id int64, typ byte) bool {
			typeOrder = typeOrder || id == 1 && typ == thriftStruct
			return false
		})
		ordered = append(ordered, typeOrder)
	}
	return ordered
}

// footerBytes reads the raw footer after checking both magic words and its length.
func footerBytes(in format.Input, memory int64) (raw []byte, start int64, err error) {
	size := in.Size()
	if size == 0 {
		return nil, 0, stream.Dataf(in.Name(), "is empty (0 bytes)")
	}
	var head [4]byte
	var tail [tailSize]byte
	if size < int64(len(head)+tailSize) {
		return nil, 0, addRemedy(stream.Dataf(in.Name(), "is no Parquet file: it has only %d bytes", size), remedyCopyAgain)
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
		return nil, 0, addRemedy(stream.Dataf(in.Name(), "is no Parquet file: it does not begin with %s", Magic), remedyCopyAgain)
	case end != Magic:
		e := stream.Dataf(in.Name(), "begins as a Parquet file but does not end as one (%s)", Magic)
		e.Remedy = stream.Textf("it is probably cut off: copy or write it again")
		return nil, 0, e
	}
	n := int64(binary.LittleEndian.Uint32(tail[:4]))
	start = size - tailSize - n
	if n == 0 || start < int64(len(head)) {
		return nil, 0, addRemedy(stream.Dataf(in.Name(), "damaged footer: it claims %d bytes in a file of %d", n, size), remedyCopyAgain)
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
	return int64(unsafe.Sizeof(chunkMeta{}))*int64(s.chunks) + 100*int64(s.groups) + 1000*int64(s.elements) + pathCopies*s.paths + int64(n)
}

// pathCopies is the number of copies of a leaf's path that the library and the leaves hold.
const pathCopies = 3

func sumPathBytes(children []int64, names []int64) (bytes int64) {
	type group struct{ pending, prefix int64 }
	var stack []group
	for i, n := range children {
		prefix := names[i]
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
	c := compactReader{b: raw}
	var children, names []int64 // number of children of each schema element, in order, and number of bytes of its name
	var faults []error
	lists := map[int64]bool{}
	c.readStruct(nil, func(id int64, typ byte) bool {
		if typ != thriftList || id != 2 && id != 4 {
			return false
		}
		if lists[id] {
			faults = append(faults, fmt.Errorf("there are two lists of field %d", id))
		}
		lists[id] = true
		elem, n := c.readListHeader()
		if elem != thriftStruct && n > 0 {
			faults = append(faults, fmt.Errorf("field %d has elements of type %d", id, elem))
		}
		for range n {
			switch {
			case c.err != nil:
				return true
			case elem != thriftStruct:
				c.skipElements(elem, 1, 1)
			case id == 2: // list<SchemaElement>, whose field 5 is num_children
				var f [6]int64
				name := int64(0)
				c.readStruct(f[:], func(id int64, typ byte) bool {
					if id != 4 || typ != thriftBinary {
						return false
					}
					name = int64(len(c.readBinary()))
					return true
				})
				children, names = append(children, f[5]), append(names, name)
			default: // list<RowGroup>, whose field 1 is list<ColumnChunk>
				shape.groups++
				chunks, _, _ := c.skipRowGroup()
				shape.chunks += chunks
			}
		}
		return true
	})
	shape.elements = len(children)
	if c.err == nil {
		err := checkTree(children)
		if err == nil {
			shape.paths = sumPathBytes(children, names)
		}
		faults = append(faults, err)
	}
	return shape, errors.Join(append(faults, c.err)...)
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
		if len(pending) > maxDepth {
			return fmt.Errorf("the schema is nested deeper than %d", maxDepth)
		}
	}
	if len(pending) > 0 {
		return errors.New("the schema ends before its last element")
	}
	return nil
}
