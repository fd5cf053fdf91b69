package formattest

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// WriteArrow writes records with the same schema as an Arrow IPC stream or file. Without records, opts must contain the
// schema.
func WriteArrow(t testing.TB, stream bool, records []arrow.Record, opts ...ipc.Option) []byte {
	t.Helper()
	if len(records) > 0 {
		opts = append(opts, ipc.WithSchema(records[0].Schema()))
	}
	var b bytes.Buffer
	var w interface {
		Write(arrow.Record) error
		Close() error
	} = ipc.NewWriter(&b, opts...)
	if !stream {
		var err error
		w, err = ipc.NewFileWriter(&seekBuffer{&b}, opts...)
		Must(t, err)
	}
	for _, r := range records {
		Must(t, w.Write(r))
	}
	Must(t, w.Close())
	return b.Bytes()
}

// seekBuffer is a WriteSeeker for NewFileWriter, which uses Seek only to get the position.
type seekBuffer struct{ *bytes.Buffer }

func (b *seekBuffer) Seek(int64, int) (int64, error) { return int64(b.Len()), nil }

// SmallDecimals returns an Arrow IPC file with decimals of 32 or 64 bits, which the library cannot write: a column d, a
// column l of lists with two decimals each, and a struct s with a field x. Each value 0 is null in d and s.x. The file
// is derived from the library's file with decimals of 256 bits: their size is replaced, and only the first bytes of
// their values are used.
func SmallDecimals(t testing.TB, bits, precision, scale int, values []int64) []byte {
	t.Helper()
	const library = 256
	n := len(values)
	raw, valid := make([]byte, library/8*n), make([]byte, n/8+1)
	for i, v := range values {
		if v != 0 {
			valid[i/8] |= 1 << (i % 8)
		}
		if bits == 32 {
			binary.LittleEndian.PutUint32(raw[4*i:], uint32(v))
		} else {
			binary.LittleEndian.PutUint64(raw[8*i:], uint64(v))
		}
	}
	typ := &arrow.Decimal256Type{Precision: int32(precision), Scale: int32(scale)}
	flat := array.NewData(typ, n, []*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(raw)}, nil, -1, 0)
	plain := array.NewData(typ, n, []*memory.Buffer{nil, memory.NewBufferBytes(raw)}, nil, 0, 0)
	list := array.NewData(arrow.FixedSizeListOf(2, typ), n/2, []*memory.Buffer{nil}, []arrow.ArrayData{plain}, 0, 0)
	in := array.NewData(arrow.StructOf(arrow.Field{Name: "x", Type: typ, Nullable: true}), n, []*memory.Buffer{nil}, []arrow.ArrayData{flat}, 0, 0)
	columns := []arrow.Array{array.NewSlice(array.MakeFromData(flat), 0, int64(n/2)), array.MakeFromData(list), array.NewSlice(array.MakeFromData(in), 0, int64(n/2))}
	var fields []arrow.Field
	for i, name := range []string{"d", "l", "s"} {
		fields = append(fields, arrow.Field{Name: name, Type: columns[i].DataType(), Nullable: true})
	}
	file := WriteArrow(t, false, []arrow.Record{array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(n/2))})
	words := func(bits int) (b []byte) {
		for _, x := range []int{bits, scale, precision} { // in the order of the table, which omits zeros
			if x != 0 {
				b = binary.LittleEndian.AppendUint32(b, uint32(x))
			}
		}
		return b
	}
	small := bytes.ReplaceAll(file, words(library), words(bits))
	if bytes.Equal(small, file) {
		t.Fatal("the library writes decimals otherwise")
	}
	return small
}
