package ipc

import (
	"io"
	"iter"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/internal/room"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ForLibrary is the bytes of the file, as arrow v15 can read them: that knows no decimals of 32 and 64 bits,
// and finds integers of as many, see SmallDecimal. There must be room for the library's copy, and for so many
// bytes that are held.
func (f *File) ForLibrary(beside int64) (io.ReaderAt, error) {
	if need := beside + f.HeldBytes() + f.LibraryBytes(); need > f.memory {
		return nil, &stream.MemoryError{What: "the schema of " + f.in.Name(), Need: need, Limit: f.memory}
	}
	footer := room.Make[byte](int(f.parsed))
	at := f.in.Size() - int64(4+len(Magic)) - f.parsed
	if err := format.ReadAt(f.in, footer, at); err != nil {
		return nil, err
	}
	err := parseFlat(func() error {
		t := flatRoot(footer)
		schema, _ := t.table(1)
		integersForDecimals(schema.tables(1))
		return nil
	})
	return &patched{f.in, footer, at}, err
}

// libraryField is the memory of a field in the library and in package copier: 270 bytes
// were measured at 140,000 fields, and lists of them grow by doubling.
const libraryField = 400

// LibraryBytes returns the memory of the library's schema of the file, without the footer's bytes.
func (f *File) LibraryBytes() int64 { return libraryField*f.fields + f.parsed }

// SmallDecimal is the type of the decimals of a leaf, if they are of 32 or 64 bits.
func (f *File) SmallDecimal(leaf int) (precision, scale int, ok bool) {
	v := f.schema.columns[leaf].value
	if v == nil {
		return 0, 0, false
	}
	v = v.number()
	return v.precision, v.scale, v.kind == arrowDecimal && v.bits < 128
}

// integersForDecimals makes fields of small decimals ones of integers, and so with all below them. The tables
// of both types have 32 bits in their first field; an integer's second is whether it is signed, and where the
// table has none, its bits are the same.
func integersForDecimals(fields iter.Seq[flat]) {
	for f := range fields {
		typ, _ := f.table(3)
		if f.byte(2) == arrowDecimal && typ.Bytes != nil {
			bits := typ.int32(2, 128)
			if precision, ok := typ.at(0); ok && bits < 128 {
				kind, _ := f.at(2)
				flatbuffers.WriteByte(f.Bytes[kind:], arrowInt)
				flatbuffers.WriteInt32(f.Bytes[precision:], bits)
				if scale, ok := typ.at(1); ok {
					flatbuffers.WriteBool(f.Bytes[scale:], true)
				}
			}
		}
		integersForDecimals(f.tables(5))
	}
}

// patched is an input with other bytes at one place.
type patched struct {
	io.ReaderAt
	b  []byte
	at int64
}

// ReadAt implements io.ReaderAt.
func (p *patched) ReadAt(b []byte, at int64) (int, error) {
	n, err := p.ReaderAt.ReadAt(b, at)
	if from := max(at, p.at); from < min(at+int64(n), p.at+int64(len(p.b))) {
		copy(b[from-at:n], p.b[from-p.at:])
	}
	return n, err
}
