package ipc

import (
	"io"
	"iter"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/stream"
)

// OpenForLibrary returns the bytes of the file in a form that the library arrow v15 can read. The library does not
// support decimals of 32 and 64 bits, so they are declared as integers of the same size, see SmallDecimal. otherBytes
// is the memory that the caller holds besides f. It must fit in the memory limit together with f and the library's copy
// of the metadata.
func (f *File) OpenForLibrary(otherBytes int64) (io.ReaderAt, error) {
	if need := otherBytes + f.HeldBytes() + f.LibraryBytes(); need > f.memory {
		return nil, &stream.MemoryError{What: "the schema of " + f.in.Name(), Need: need, Limit: f.memory}
	}
	footer := room.MakeSlice[byte](int(f.footerBytes))
	at := f.in.Size() - int64(4+len(Magic)) - f.footerBytes
	if err := format.ReadAt(f.in, footer, at); err != nil {
		return nil, err
	}
	err := parseFlatbuffer(func() error {
		t := rootFlatTable(footer)
		schema, _ := t.tableField(1)
		integersForDecimals(schema.eachTable(1))
		return nil
	})
	return &patchedInput{f.in, footer, at}, err
}

// libraryField is the memory of a field in the library and in package copier. With 140,000 fields we measured 270 bytes
// per field, and slices of fields may be half empty.
const libraryField = 400

// LibraryBytes returns the memory of the library's copy of the schema, without the bytes of the footer.
func (f *File) LibraryBytes() int64 { return libraryField*f.fieldCount + f.footerBytes }

// SmallDecimal returns the precision and scale of a leaf. ok is false unless its type is decimal with 32 or 64 bits.
func (f *File) SmallDecimal(leaf int) (precision, scale int, ok bool) {
	v := f.schema.columns[leaf].valueField
	if v == nil {
		return 0, 0, false
	}
	v = v.numberField()
	return v.precision, v.scale, v.kind == arrowDecimal && v.bits < 128
}

// integersForDecimals changes the types of fields, including nested ones, from small decimals to integers. The
// flatbuffers tables of both types are similar. An integer's first field is the number of bits, and its second field
// states whether it is signed. These values overwrite the decimal's precision and scale. If the table lacks the scale,
// the integer is unsigned, but its bits are the same.
func integersForDecimals(fields iter.Seq[flatTable]) {
	for f := range fields {
		typ, _ := f.tableField(3)
		if f.byteField(2) == arrowDecimal && typ.Bytes != nil {
			bits := typ.int32Field(2, 128)
			if precision, ok := typ.fieldPosition(0); ok && bits < 128 {
				kind, _ := f.fieldPosition(2)
				flatbuffers.WriteByte(f.Bytes[kind:], arrowInt)
				flatbuffers.WriteInt32(f.Bytes[precision:], bits)
				if scale, ok := typ.fieldPosition(1); ok {
					flatbuffers.WriteBool(f.Bytes[scale:], true)
				}
			}
		}
		integersForDecimals(f.eachTable(5))
	}
}

// patchedInput is an input in which the bytes at one position are replaced.
type patchedInput struct {
	io.ReaderAt
	b  []byte
	at int64
}

func (p *patchedInput) ReadAt(b []byte, at int64) (int, error) {
	n, err := p.ReaderAt.ReadAt(b, at)
	if from := max(at, p.at); from < min(at+int64(n), p.at+int64(len(p.b))) {
		copy(b[from-at:n], p.b[from-p.at:])
	}
	return n, err
}
