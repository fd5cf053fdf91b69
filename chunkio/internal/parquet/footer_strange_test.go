package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/metadata"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/thrift"
)

// union is a LogicalType of one field.
func union(id byte, r thriftBytes) func(thriftBytes) thriftBytes {
	return func(e thriftBytes) thriftBytes { return e.record(10, thriftBytes{}.record(id, r)) }
}

func converted(n int64) func(thriftBytes) thriftBytes {
	return func(e thriftBytes) thriftBytes { return e.i32(6, n) }
}

// TestStrangeTypes: a column of a logical type that is unknown, or does not go with its physical type,
// is left out with its reason, and the others can be read.
func TestStrangeTypes(t *testing.T) {
	unit := func(id byte) thriftBytes {
		return thriftBytes{}.field(1, thrift.True).record(2, thriftBytes{}.record(id, thriftBytes{}))
	}
	for _, c := range []struct {
		name, typ, why string
		physical       parquet.Type
		length         int64
		annotate       func(thriftBytes) thriftBytes
	}{
		{"geometry", "geometry", "geometry", parquet.Types.ByteArray, 0, union(17, thriftBytes{}.text(1, "EPSG:1"))},
		{"geography", "geography", "geography", parquet.Types.ByteArray, 0, union(18, thriftBytes{})},
		{"from the future", "unknown", "logical type number 99", parquet.Types.Int32, 0, union(99, thriftBytes{})},
		{"text of integers", "mistyped", "String", parquet.Types.Int32, 0, union(1, thriftBytes{})},
		{"old text of integers", "mistyped", "", parquet.Types.Int32, 0, converted(0)},
		{"UINT_8 of INT64", "mistyped", "UINT_8", parquet.Types.Int64, 0, converted(11)},
		{"a time without a unit", "mistyped", "unknown unit", parquet.Types.Int64, 0, union(8, thriftBytes{}.field(1, thrift.True))},
		{"an unknown unit", "mistyped", "unknown unit", parquet.Types.Int64, 0, union(8, unit(4))},
		{"an integer of 7 bits", "mistyped", "7 bits", parquet.Types.Int32, 0, union(10, thriftBytes{}.field(1, thrift.Byte, 7).field(2, thrift.True))},
		{"a decimal of no digits", "mistyped", "decimal(0,0)", parquet.Types.Int32, 0, union(5, thriftBytes{}.i32(1, 0).i32(2, 0))},
		{"a decimal of scale 5 of 3", "mistyped", "", parquet.Types.Int32, 0, func(e thriftBytes) thriftBytes { return e.i32(6, 5).i32(7, 5).i32(8, 3) }},
		{"converted type 99", "mistyped", "", parquet.Types.Int32, 0, converted(99)},
		{"values of no bytes", "mistyped", "0 bytes", parquet.Types.FixedLenByteArray, 0, nil},
		{"values of -1 byte", "mistyped", "-1 bytes", parquet.Types.FixedLenByteArray, -1, nil},
		{"a type that is none", "mistyped", "type number 8", 8, 0, nil},
		// and the readable ones
		{"no field of the union", "int32", "", parquet.Types.Int32, 0, func(e thriftBytes) thriftBytes { return e.record(10, thriftBytes{}) }},
		{"an integer of 8 bits", "uint8", "", parquet.Types.Int32, 0, union(10, thriftBytes{}.field(1, thrift.Byte, 8).field(2, thrift.False))},
		{"no field of the union, but a converted type", "uint8", "", parquet.Types.Int32, 0, func(e thriftBytes) thriftBytes { return e.i32(6, 11).record(10, thriftBytes{}) }},
		{"an old timestamp", "timestamp", "timestamp", parquet.Types.Int64, 0, converted(9)},
		{"a timestamp", "timestamp", "timestamp", parquet.Types.Int64, 0, union(8, unit(3))},
	} {
		x := plainColumn("x")
		x.physical, x.length, x.annotate = c.physical, c.length, c.annotate
		f, err := Open(formattest.NewMemory(makeFile(3, plainColumn("a"), x, plainColumn("b"))), 1<<20)
		if err != nil {
			t.Errorf("%s: opening the file: %v", c.name, err)
			continue
		}
		l := f.leaves[1]
		if readable := c.typ == "int32" || c.typ == "uint8"; l.Type != c.typ || (l.Why == "") != readable || !strings.Contains(l.Why, c.why) || l.Refused || c.typ == "mistyped" && l.NoClass == "" {
			t.Errorf("%s: the leaf is %+v, want type %s and reason %q", c.name, l, c.typ, c.why)
		}
		for _, i := range []int{0, 2} {
			if got := decodeLeaf(t, f, i, 2)[0]; !equalBits(got, []float64{1, 2, 3}) {
				t.Errorf("%s: the other column has %v", c.name, got)
			}
		}
	}
}

// TestSchemaTwin: with every physical type and annotation, a node equals the library's node, and it is strange if the
// library fails.
func TestSchemaTwin(t *testing.T) {
	annotations := []func(thriftBytes) thriftBytes{nil}
	for n := range int64(26) {
		annotations = append(annotations, func(e thriftBytes) thriftBytes { return e.i32(6, n-1).i32(7, 2).i32(8, 9).i32(9, 44) })
	}
	for id := range byte(16) {
		annotations = append(annotations, union(id+1, thriftBytes{}))
	}
	for _, id := range []byte{7, 8} {
		for unit := range byte(5) {
			for _, utc := range []byte{thrift.True, thrift.False} {
				annotations = append(annotations, union(id, thriftBytes{}.field(1, utc).record(2, thriftBytes{}.record(unit, thriftBytes{}))))
			}
		}
	}
	for _, bits := range []byte{8, 16, 32, 64} { // the library takes others too
		for _, signed := range []byte{thrift.True, thrift.False} {
			annotations = append(annotations, union(10, thriftBytes{}.field(1, thrift.Byte, bits).field(2, signed)))
		}
	}
	for precision := range int64(40) {
		for _, scale := range []int64{0, 3, 12} {
			if 0 < precision && scale <= precision { // the library takes others too
				annotations = append(annotations, union(5, thriftBytes{}.i32(1, scale).i32(2, precision)))
			}
			annotations = append(annotations, func(e thriftBytes) thriftBytes { return e.i32(6, 5).i32(7, scale).i32(8, precision) })
		}
	}
	strange, ordinary := 0, 0
	for physical := range parquet.Type(8) {
		for _, length := range []int64{1, 2, 7, 12, 16} {
			for i, annotate := range annotations {
				x := plainColumn("x")
				x.physical, x.annotate = physical, annotate
				if physical == parquet.Types.FixedLenByteArray {
					x.length = length
				}
				file := makeFile(3, x)
				f, err := Open(formattest.NewMemory(file), 1<<20)
				formattest.Must(t, err)
				ours := f.Schema().Root().Field(0)
				var library *metadata.FileMetaData
				err = format.Guard(func() (err error) {
					library, err = metadata.NewFileMetaData(f.footer.RawFooter, nil)
					return err
				})
				if err == nil && library.Schema == nil {
					err = errors.New("no schema")
				}
				if f.footer.Strange[ours] != nil {
					strange++
				} else {
					ordinary++
				}
				switch {
				case (err != nil) != (f.footer.Strange[ours] != nil):
					t.Errorf("annotation %d of %v: the library's error is %v, ours %+v", i, physical, err, f.footer.Strange[ours])
				case err == nil && !ours.Equals(library.Schema.Root().Field(0)):
					t.Errorf("annotation %d of %v: the library reads %v, we %v", i, physical, library.Schema.Column(0), f.Schema().Column(0))
				}
			}
			if physical != parquet.Types.FixedLenByteArray {
				break
			}
		}
	}
	if strange < 1000 || ordinary < 1000 {
		t.Errorf("%d strange nodes, %d ordinary ones", strange, ordinary)
	}
}

// TestFaultyChunks: of a column chunk that the footer describes wrongly, the column cannot be read, by
// name and with the reason, and the others can.
func TestFaultyChunks(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(*madeColumn)
		why    string
	}{
		"beyond the end":     {func(m *madeColumn) { m.at = 1 << 40 }, "does not lie within the file"},
		"in the magic word":  {func(m *madeColumn) { m.at = 2 }, "does not lie within the file"},
		"too long":           {func(m *madeColumn) { m.size = 1 << 40 }, "does not lie within the file"},
		"of negative length": {func(m *madeColumn) { m.size = -1 }, "claims -1 bytes"},
		"too few values":     {func(m *madeColumn) { m.values = 0 }, "0 values where the row group has 3 rows"},
		"in another file":    {func(m *madeColumn) { m.elsewhere = "part-7" }, "another file (part-7)"},
		"encrypted": {func(m *madeColumn) {
			m.more = func(e thriftBytes) thriftBytes { return e.record(8, thriftBytes{}.record(1, thriftBytes{})) }
		}, "encrypted"},
		"of an unknown codec": {func(m *madeColumn) { m.codec = 99 }, "codec"},
	} {
		x := plainColumn("x")
		c.damage(&x)
		f, err := Open(formattest.NewMemory(makeFile(3, plainColumn("a"), x)), 1<<20)
		if err != nil {
			t.Errorf("%s: opening the file: %v", name, err)
			continue
		}
		if l := f.leaves[1]; !l.Refused || !strings.Contains(l.Why, c.why) || l.Width != 0 {
			t.Errorf("%s: the leaf is %+v, want it refused with %q", name, l, c.why)
		}
		if got := decodeLeaf(t, f, 0, 2)[0]; !equalBits(got, []float64{1, 2, 3}) {
			t.Errorf("%s: the other column has %v", name, got)
		}
		if _, _, err := f.ColumnReader(0, 1); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: raw reader: %v", name, err)
		}
	}
}

// TestPagesDecide: if the footer lists an encoding that no page has, or gives a wrong size in memory, the pages are
// believed.
func TestPagesDecide(t *testing.T) {
	values := binary.LittleEndian.AppendUint32(nil, 7)
	values = append(values, bytes.Repeat([]byte{7, 0, 0, 0}, 2)...)
	packed := pack(t, compress.Codecs.Snappy, values)
	packed4 := pack(t, lz4Raw, values)
	for name, change := range map[string]func(*madeColumn){
		"an encoding too much": func(m *madeColumn) { m.encodings = []int64{0, 3, 12} },
		"no list of encodings": func(m *madeColumn) { m.noList = true },
		"an empty list":        func(m *madeColumn) { m.encodings = nil },
		"no size":              func(m *madeColumn) { m.memory = 0 },
		"no size, compressed":  func(m *madeColumn) { m.codec, m.page, m.memory = compress.Codecs.Snappy, madePage(values, packed), 0 },
		"no size, LZ4_RAW":     func(m *madeColumn) { m.codec, m.page, m.memory = lz4Raw, madePage(values, packed4), 0 },
		"the size when compressed": func(m *madeColumn) {
			m.codec, m.page = compress.Codecs.Snappy, madePage(values, packed)
			m.memory = int64(len(m.page))
		},
	} {
		x := plainColumn("x")
		x.page = madePage(values, values)
		change(&x)
		file := makeFile(3, x)
		f, err := Open(formattest.NewMemory(file), 1<<20)
		if err != nil {
			t.Errorf("%s: opening the file: %v", name, err)
			continue
		}
		if l := f.leaves[0]; l.Why != "" {
			t.Errorf("%s: the leaf %+v cannot be read", name, l)
			continue
		}
		if got := decodeLeaf(t, f, 0, 2)[0]; !equalBits(got, []float64{7, 7, 7}) {
			t.Errorf("%s: decoded %v, want three 7", name, got)
		}
		if got := f.Chunk(0, 0).Uncompressed; got < int64(len(values)) || got > 100 {
			t.Errorf("%s: %d bytes in memory", name, got)
		}
		if err := drain(f, 0, 0); err != nil {
			t.Errorf("%s: draining the column: %v", name, err)
		}
	}
	// An encoding that the pages have is refused.
	x := plainColumn("x")
	x.encodings = []int64{12}
	at := bytes.Index(x.page, []byte{1<<4 | thrift.I32, 6, 1<<4 | thrift.I32, 0})
	x.page[at+3] = 12 << 1
	f, err := Open(formattest.NewMemory(makeFile(3, x)), 1<<20)
	formattest.Must(t, err)
	if l := f.leaves[0]; !l.Refused || !strings.Contains(l.Why, "encoding number 12 cannot be decoded") {
		t.Errorf("the leaf is %+v, want encoding 12 refused", l)
	}
}

// TestRowsUntold: a footer whose number of rows is 0 leaves it to the row groups; any other wrong number
// is damage.
func TestRowsUntold(t *testing.T) {
	f, err := Open(formattest.NewMemory(makeFile(0, plainColumn("x"))), 1<<20)
	formattest.Must(t, err)
	if got := decodeLeaf(t, f, 0, 2)[0]; !equalBits(got, []float64{1, 2, 3}) {
		t.Errorf("decoded %v, want 1 2 3", got)
	}
	for _, claimed := range []int64{1, 2, 4, -1} {
		if _, err := Open(formattest.NewMemory(makeFile(claimed, plainColumn("x"))), 1<<20); err == nil || !strings.Contains(err.Error(), "damaged footer") {
			t.Errorf("%d rows: %v", claimed, err)
		}
	}
}

// TestNoColumns: a file without columns is one of no leaves.
func TestNoColumns(t *testing.T) {
	f, err := Open(formattest.NewMemory(makeFile(3)), 1<<20)
	if err != nil || len(f.Leaves()) != 0 {
		t.Errorf("opening a file without columns: error %v, or it has leaves", err)
	}
}

// constantColumn is a column of n rows in one page, all of them 7, which takes a few bytes.
func constantColumn(name string, rows int) madeColumn {
	dict := binary.LittleEndian.AppendUint32(nil, 7)
	indices := binary.AppendUvarint([]byte{0}, uint64(rows)<<1)
	c := plainColumn(name)
	c.values, c.encodings, c.memory = int64(rows), []int64{0, 3, 8}, 100
	c.page = append(AppendPageHeader(nil, PageHeader{Kind: DictionaryPage, Uncompressed: 4, Compressed: 4, Values: 1, CRC: crc32.ChecksumIEEE(dict), HasCRC: true}), dict...)
	c.page = append(AppendPageHeader(c.page, PageHeader{Kind: DataPage, Uncompressed: len(indices), Compressed: len(indices), Values: rows, Encoding: parquet.Encodings.RLEDict,
		DefLevels: parquet.Encodings.RLE, RepLevels: parquet.Encodings.RLE, CRC: crc32.ChecksumIEEE(indices), HasCRC: true}), indices...)
	return c
}

// TestRowsThatPagesCannotHold: a row group, or a column of it, of more rows than its bytes can have pages for is
// refused when the file is opened; the rows that one page can hold are not.
func TestRowsThatPagesCannotHold(t *testing.T) {
	const many = 1_000_000_000_000
	far := constantColumn("x", math.MaxInt32)
	far.values = many
	for name, file := range map[string][]byte{"a column": makeFile(many, far), "no columns": makeFile(many), "untold": makeFile(0, far)} {
		if _, err := Open(formattest.NewMemory(file), 1<<20); err == nil || !strings.Contains(err.Error(), "row group 0 claims 1000000000000 rows, more than pages of") {
			t.Errorf("%s of %d rows in %d bytes: %v, want a refusal", name, many, len(file), err)
		}
	}
	// The other column has bytes enough, and can be read; of a list, which may have more values than rows, nothing else is known.
	wide := constantColumn("y", math.MaxInt32)
	wide.page = append(wide.page, make([]byte, 10_000)...)
	wide.values = many
	f, err := Open(formattest.NewMemory(makeFile(many, far, wide)), 1<<20)
	formattest.Must(t, err)
	if x, y := f.leaves[0], f.leaves[1]; !x.Refused || !strings.Contains(x.Why, "more than pages of") || y.Refused {
		t.Errorf("of two columns of which one has room for its rows: %q, %q", x.Why, y.Why)
	}
	whole := makeFile(math.MaxInt32, constantColumn("x", math.MaxInt32))
	f, err = Open(formattest.NewMemory(whole), 1<<20)
	formattest.Must(t, err)
	if f.leaves[0].Why != "" || f.GroupRows()[0] != math.MaxInt32 {
		t.Errorf("a page of %d rows: %d, %q", math.MaxInt32, f.GroupRows()[0], f.leaves[0].Why)
	}
	shortest := thriftBytes{}.i32(1, 0).i32(2, 0).i32(3, 0).record(5, thriftBytes{}.i32(1, 1).i32(2, 0).i32(3, 3).i32(4, 3)).bytes()
	if _, n, err := ParsePageHeader(shortest); err != nil || n != minPage {
		t.Errorf("the shortest header of a page takes %d bytes, want %d: %v", n, minPage, err)
	}
}

// TestCancelledInManyRows: in a page that holds more rows than can be decoded while anybody waits, cancellation is heard
// within one piece of the rows that were asked for.
func TestCancelledInManyRows(t *testing.T) {
	f, err := Open(formattest.NewMemory(makeFile(math.MaxInt32, constantColumn("x", math.MaxInt32))), 1<<20)
	formattest.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g, err := f.Open(ctx, 0, nil)
	formattest.Must(t, err)
	dst := [][]float64{make([]float64, 1<<16)}
	for from := int64(0); ; from += 1 << 16 {
		if from == 1<<20 {
			cancel()
		}
		err := g.Decode(ctx, 0, from, from+1<<16, dst)
		if from < 1<<20 {
			formattest.Must(t, err)
			continue
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("decoding row %d after cancellation: %v, want %v", from, err, context.Canceled)
		}
		return
	}
}

// TestIndicesOfNoBits: a dictionary of one value needs none, packed or not, and the library's reader, which panics
// on packed ones, is spared them.
func TestIndicesOfNoBits(t *testing.T) {
	for name, runs := range map[string][]byte{"packed": {1<<1 | 1}, "repeated": {3 << 1}} {
		x := plainColumn("x")
		dict := binary.LittleEndian.AppendUint32(nil, 7)
		indices := append([]byte{0}, runs...)
		x.page = append(AppendPageHeader(nil, PageHeader{Kind: DictionaryPage, Uncompressed: 4, Compressed: 4, Values: 1, CRC: crc32.ChecksumIEEE(dict), HasCRC: true}), dict...)
		x.page = append(AppendPageHeader(x.page, PageHeader{Kind: DataPage, Uncompressed: len(indices), Compressed: len(indices), Values: 3, Encoding: parquet.Encodings.RLEDict,
			DefLevels: parquet.Encodings.RLE, RepLevels: parquet.Encodings.RLE, CRC: crc32.ChecksumIEEE(indices), HasCRC: true}), indices...)
		x.encodings, x.memory = []int64{0, 3, 8}, 100
		f, err := Open(formattest.NewMemory(makeFile(3, x)), 1<<20)
		formattest.Must(t, err)
		if got := decodeLeaf(t, f, 0, 2)[0]; !equalBits(got, []float64{7, 7, 7}) {
			t.Errorf("%s: decoded %v, want three 7", name, got)
		}
		reader, done, err := f.ColumnReader(0, 0)
		formattest.Must(t, err)
		var read formattest.Leaf
		err = format.Guard(func() error { return formattest.ReadChunk(reader, &read) })
		if got := strings.Join(read.Values, " "); err != nil || got != "7 7 7" {
			t.Errorf("%s: copied as %s: %v", name, got, err)
		}
		done()
	}
}
