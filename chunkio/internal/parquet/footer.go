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
	"github.com/ufs-stream/ufs-stream/internal/room"
	"github.com/ufs-stream/ufs-stream/stream"
)

// tailSize is what a Parquet file ends with: the footer's length and the magic word.
const tailSize = 8

// What begins and ends a file.
const (
	Magic          = "PAR1"
	EncryptedMagic = "PARE"
)

// footer is the parsed footer of a Parquet file. It is parsed here and not by the library, which
// knows fewer logical types, panics on what it does not know, and makes ten objects of a column
// chunk.
type footer struct {
	schema  *schema.Schema
	strange map[schema.Node]*strangeType
	rows    int64
	ordered []bool // by column: its bounds are in the order of its type
	pandas  string // what pandas tells of the columns, see format.MarkIndex
	packed  bool   // pages of version 2 are compressed, whatever they say themselves
	raw     []byte // for statistics, which few ask for
	groups  []groupMeta
	start   int64  // offset in the file: the pages end before it
	digest  uint64 // of its bytes
	heap    int64  // estimate of the heap that it holds
}

// readFooter reads and parses the footer, in at most memory bytes. What it returns
// parsed is only well-formed; checkGroups says whether it is true.
func readFooter(in format.Input, memory int64) (*footer, error) {
	raw, start, err := footerBytes(in, memory)
	if err != nil {
		return nil, err
	}
	shape, err := measureFooter(raw)
	if err != nil {
		return nil, advise(stream.Dataf(in.Name(), "damaged footer: %w", err), again)
	}
	f := &footer{raw: raw, start: start, digest: xxhash.Sum64(raw), heap: shape.heap(len(raw))}
	if f.heap > memory {
		return nil, &stream.MemoryError{What: "the footer of " + in.Name(), Need: f.heap, Limit: memory}
	}
	if err := f.parse(shape); err != nil {
		return nil, advise(stream.Dataf(in.Name(), "damaged footer: %w", err), again)
	}
	return f, nil
}

// parse parses the raw footer, a FileMetaData that was measured.
func (f *footer) parse(shape footerShape) (err error) {
	c := compact{b: f.raw}
	var fields [4]int64
	set := c.record(fields[:], func(id int64, typ byte) bool {
		switch {
		case id == 2 && typ == thriftList:
			elements := make([]element, 0, shape.elements)
			_, n := c.list()
			for range n {
				elements = append(elements, c.schemaElement())
			}
			if c.err == nil {
				f.schema, f.strange, err = parseSchema(elements)
			}
		case id == 4 && typ == thriftList:
			f.groups = c.rowGroups(shape)
		case id == 5 && typ == thriftList:
			f.pandas = c.keyValue(format.PandasKey)
		case id == 6 && typ == thriftBinary:
			f.packed = strings.HasPrefix(string(c.binary()), packedBy)
		case id == 7 && typ == thriftList:
			f.ordered = c.columnOrders()
		default:
			return false
		}
		return true
	})
	f.rows = fields[3]
	if set&(1<<3) == 0 {
		c.fail(errors.New("it does not tell the number of rows"))
	}
	return errors.Join(err, c.err)
}

// packedBy begins the name of a writer whose pages of version 2 say that they are not compressed, and are
// (ARROW-10353): Arrow C++ before 3.0, which called itself so, and later parquet-cpp-arrow.
const packedBy = "parquet-cpp version "

// keyValue is the value of a key in a list of KeyValue; empty where there is none.
func (c *compact) keyValue(key string) (value string) {
	elem, n := c.list()
	if elem != thriftStruct {
		c.skipElements(elem, n, 1)
		return ""
	}
	for range n {
		var pair [3][]byte
		c.record(nil, func(id int64, typ byte) bool {
			if typ != thriftBinary || id != 1 && id != 2 {
				return false
			}
			pair[id] = c.binary()
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

// columnOrders parses a list of ColumnOrder: which columns have the order of their type.
func (c *compact) columnOrders() (ordered []bool) {
	elem, n := c.list()
	if elem != thriftStruct {
		c.skipElements(elem, n, 1)
		return nil
	}
	for range n {
		of := false
		c.record(nil, func(id int64, typ byte) bool {
			of = of || id == 1 && typ == thriftStruct
			return false
		})
		ordered = append(ordered, of)
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
		return nil, 0, advise(stream.Dataf(in.Name(), "is no Parquet file: it has only %d bytes", size), again)
	}
	if format.IsFar(in) { // what it ends with is enough, and one request less
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
		return nil, 0, encrypted(in)
	case string(head[:]) != Magic:
		return nil, 0, advise(stream.Dataf(in.Name(), "is no Parquet file: it does not begin with %s", Magic), again)
	case end != Magic:
		e := stream.Dataf(in.Name(), "begins as a Parquet file but does not end as one (%s)", Magic)
		e.Remedy = stream.Textf("it is probably cut off: copy or write it again")
		return nil, 0, e
	}
	n := int64(binary.LittleEndian.Uint32(tail[:4]))
	start = size - tailSize - n
	if n == 0 || start < int64(len(head)) {
		return nil, 0, advise(stream.Dataf(in.Name(), "damaged footer: it claims %d bytes in a file of %d", n, size), again)
	}
	if n > memory {
		return nil, 0, &stream.MemoryError{What: "the footer of " + in.Name(), Need: n, Limit: memory, AtLeast: true} // parsed, it takes more
	}
	raw = room.Make[byte](int(n)) // a pass over a file of 50,000 row groups has 40 MB again, beside those of the last one
	if err := format.ReadAt(in, raw, start); err != nil {
		return nil, 0, stream.Dataf(in.Name(), "cannot be read: %w", err)
	}
	return raw, start, nil
}

func encrypted(in format.Input) error {
	e := stream.Dataf(in.Name(), "is encrypted, which cannot be read")
	e.Remedy = stream.Textf("rewrite it without encryption")
	return e
}

// footerShape counts what makes a parsed footer large.
type footerShape struct {
	elements int   // of the schema
	groups   int   // row groups
	chunks   int   // column chunks of all row groups
	paths    int64 // bytes of the names that lead to all leaves: those of the groups count for each leaf
}

// heap estimates the heap of the parsed footer of n bytes. Measured on DuckDB's files: 0.6 kB a schema element,
// and strings in proportion to the bytes; rounded up. What only parsing needs, 130 bytes an element, is among
// it: then a footer that was opened once in so much memory is opened again in as much, and passes need not know that
// parsing takes more.
func (s footerShape) heap(n int) int64 {
	return int64(unsafe.Sizeof(chunkMeta{}))*int64(s.chunks) + 100*int64(s.groups) + 1000*int64(s.elements) + pathCopies*s.paths + int64(n)
}

// pathCopies is how often the library and the leaves have the path to a leaf.
const pathCopies = 3

// pathBytes counts the names that lead to the leaves of a tree that was checked.
func pathBytes(children []int64, names []int64) (bytes int64) {
	type group struct{ pending, prefix int64 }
	var open []group
	for i, n := range children {
		prefix := names[i]
		if len(open) > 0 {
			top := &open[len(open)-1]
			top.pending--
			prefix += top.prefix
		}
		if n == 0 {
			bytes += prefix
		}
		for len(open) > 0 && open[len(open)-1].pending == 0 {
			open = open[:len(open)-1]
		}
		if n > 0 {
			open = append(open, group{n, prefix})
		}
	}
	return bytes
}

// measureFooter validates the raw FileMetaData and counts its parts, so that parsing
// it can neither allocate for a count that lies nor recurse without end.
func measureFooter(raw []byte) (shape footerShape, err error) {
	c := compact{b: raw}
	var children, names []int64 // of each schema element, in order, and the bytes of its name
	var faults []error
	lists := map[int64]bool{}
	c.record(nil, func(id int64, typ byte) bool {
		if typ != thriftList || id != 2 && id != 4 {
			return false
		}
		if lists[id] {
			faults = append(faults, fmt.Errorf("there are two lists of field %d", id))
		}
		lists[id] = true
		elem, n := c.list()
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
				c.record(f[:], func(id int64, typ byte) bool {
					if id != 4 || typ != thriftBinary {
						return false
					}
					name = int64(len(c.binary()))
					return true
				})
				children, names = append(children, f[5]), append(names, name)
			default: // list<RowGroup>, whose field 1 is list<ColumnChunk>
				shape.groups++
				chunks, _, _ := c.rowGroupSize()
				shape.chunks += chunks
			}
		}
		return true
	})
	shape.elements = len(children)
	if c.err == nil {
		err := checkTree(children)
		if err == nil {
			shape.paths = pathBytes(children, names)
		}
		faults = append(faults, err)
	}
	return shape, errors.Join(append(faults, c.err)...)
}

// checkTree verifies that the schema's elements, listed depth first with the number
// of children of each, form one tree of bounded depth.
func checkTree(children []int64) error {
	if len(children) == 0 {
		return errors.New("there is no schema")
	}
	var pending []int64 // children still to come, by depth
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
