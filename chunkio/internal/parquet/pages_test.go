package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// varietyFile is a small file with a column of every kind of page content: plain,
// dictionary and delta values, levels, fixed and varying lists, several pages a chunk.
func varietyFile(t testing.TB, version parquet.DataPageVersion, codec compress.Compression, groups int) []byte {
	const rows = 33
	opt, types := parquet.Repetitions.Optional, parquet.Types
	list := func(name string) schema.Node {
		return schema.MustGroup(schema.ListOfWithName(name, schema.NewFloat32Node("element", opt, -1), opt, -1))
	}
	dec := schema.NewDecimalLogicalType(20, 3)
	fields := schema.FieldList{
		schema.NewInt32Node("dict", opt, -1), schema.NewFloat64Node("plain", opt, -1), schema.NewInt64Node("delta", parquet.Repetitions.Required, -1),
		schema.NewBooleanNode("flag", opt, -1),
		schema.MustPrimitive(schema.NewPrimitiveNodeLogical("dec", opt, dec, types.ByteArray, 0, -1)),
		schema.MustPrimitive(schema.NewPrimitiveNodeLogical("fixed", opt, dec, types.FixedLenByteArray, 9, -1)),
		list("emb"), list("vals"),
	}
	r := rand.New(rand.NewPCG(3, 4))
	return formattest.WriteFile(t, fields, groups, func(_, c int, w pqfile.ColumnChunkWriter) error {
		var def, rep []int16
		n := 0
		switch name := fields[c].Name(); name {
		case "emb", "vals":
			for i := range rows {
				length := 3
				if name == "vals" {
					length = i % 4
				}
				if length == 0 {
					def, rep = append(def, int16(i/4%2)), append(rep, 0)
				}
				for j := range length {
					d := int16(3)
					if name == "vals" && r.IntN(4) == 0 {
						d = 2
					}
					def, rep = append(def, d), append(rep, int16(min(j, 1)))
					n += int(d / 3)
				}
			}
		case "delta":
			n = rows
		default:
			for range rows {
				d := int16(min(r.IntN(5), 1))
				def, n = append(def, d), n+int(d)
			}
		}
		var values any
		switch w.Type() {
		case types.Int32:
			values, _ = fill(func(r *rand.Rand) (int32, float64) { return int32(r.IntN(9)), 0 })(r, n)
		case types.Int64:
			values, _ = fill(func(r *rand.Rand) (int64, float64) { return r.Int64N(1 << 40), 0 })(r, n)
		case types.Float:
			values, _ = fill(func(r *rand.Rand) (float32, float64) { return r.Float32(), 0 })(r, n)
		case types.Double:
			values, _ = fill(func(r *rand.Rand) (float64, float64) { return r.Float64(), 0 })(r, n)
		case types.Boolean:
			values, _ = fill(func(r *rand.Rand) (bool, float64) { return r.IntN(2) == 1, 0 })(r, n)
		case types.ByteArray:
			values, _ = fill(func(r *rand.Rand) (parquet.ByteArray, float64) { return []byte{1, byte(r.Uint32())}, 0 })(r, n)
		default:
			values, _ = fill(func(r *rand.Rand) (parquet.FixedLenByteArray, float64) {
				return bytes.Repeat([]byte{byte(r.Uint32())}, 9), 0
			})(r, n)
		}
		return putBatch(w, values, def, rep)
	}, parquet.WithDataPageVersion(version), parquet.WithCompression(codec), parquet.WithDataPageSize(100), parquet.WithBatchSize(16),
		parquet.WithDictionaryDefault(false), parquet.WithDictionaryFor("dict", true), parquet.WithDictionaryFor("fixed", true),
		parquet.WithEncodingFor("delta", parquet.Encodings.DeltaBinaryPacked), parquet.WithEncodingFor("dec", parquet.Encodings.DeltaLengthByteArray),
	)
}

// readAll opens a file and decodes all that can be decoded, whole and in ranges of 20
// rows, and copies every column through the raw reader.
func readAll(in format.Input, pool *sync.Pool) error {
	f, err := Open(in, 1<<24)
	if err != nil {
		return err
	}
	defer f.Close()
	f.pool = pool
	return errors.Join(readColumns(f, -1, 1<<20), readColumns(f, -1, 20))
}

// readColumns reads physical column only, or all columns if it is negative.
func readColumns(f *File, only int, step int64) error {
	var errs []error
	for i, l := range f.leaves {
		if only >= 0 && f.columns[i].index != only {
			continue
		}
		if l.List && !l.Refused {
			_, err := allLists(f, i, step)
			errs = append(errs, err)
		}
		if l.Why == "" && l.Width <= 1<<10 {
			_, err := tryDecodeLeaf(f, i, step)
			errs = append(errs, err)
		}
		if l.NoClass == "" {
			_, err := formattest.AllTexts(f, i, step)
			errs = append(errs, err)
		}
	}
	for g := range f.rows {
		for c := range f.footer.Schema.NumColumns() {
			if only < 0 || c == only {
				errs = append(errs, drain(f, g, c))
			}
		}
	}
	return errors.Join(errs...)
}

// drain reads a whole column chunk through the raw reader.
func drain(f *File, g, c int) error {
	reader, done, err := f.ColumnReader(g, c)
	if err != nil {
		return err
	}
	defer done()
	var read formattest.Leaf
	err = format.Guard(func() error { return formattest.ReadChunk(reader, &read) })
	if err == nil && int64(len(read.Def)) != f.Chunk(g, c).Values {
		err = errors.New("too few values")
	}
	return err
}

// allocated is the number of heap bytes ever allocated.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// allocationCeiling is far above the need of reading the variety file (below 4 MB, most of it the state of codecs),
// and far below the need that a damaged count could claim.
const allocationCeiling = 64 << 20

func varietyFiles(t testing.TB, groups int) [][]byte {
	return [][]byte{
		varietyFile(t, parquet.DataPageV1, compress.Codecs.Uncompressed, groups),
		varietyFile(t, parquet.DataPageV2, compress.Codecs.Snappy, groups),
	}
}

// scratchPool lets the many small readings of a test share their memory.
func scratchPool() *sync.Pool { return &sync.Pool{New: func() any { return new(scratch) }} }

func TestEveryTruncation(t *testing.T) {
	pool := scratchPool()
	for _, file := range varietyFiles(t, 1) {
		formattest.Must(t, readAll(formattest.NewMemory(file), pool))
		for n := range file {
			in := formattest.NewMemory(file[:n])
			var data *stream.DataError
			if err := readAll(in, pool); !errors.As(err, &data) || data.Path != in.Name() {
				t.Fatalf("file cut after %d of %d bytes: %v", n, len(file), err)
			}
		}
	}
}

// TestEveryFlip damages each byte in turn. Values may change unnoticed, but nothing
// may panic, hang or allocate without measure.
func TestEveryFlip(t *testing.T) {
	pool := scratchPool()
	for _, file := range varietyFiles(t, 1) {
		whole, err := Open(formattest.NewMemory(file), 1<<20)
		formattest.Must(t, err)
		damaged := bytes.Clone(file)
		for i := range file {
			damaged[i] ^= []byte{0xFF, 1 << (i / 2 % 8)}[i%2]
			before := allocated()
			if c := columnAt(whole, i); c >= 0 { // no other column can notice
				f := *whole
				f.in, f.pool = formattest.NewMemory(damaged), pool
				err = readColumns(&f, c, 20)
			} else {
				err = readAll(formattest.NewMemory(damaged), pool)
			}
			if got := allocated() - before; got > allocationCeiling {
				t.Fatalf("byte %d: allocated %d bytes (%v)", i, got, err)
			}
			if err != nil && strings.Contains(err.Error(), "runtime error") {
				t.Fatalf("byte %d: Go's runtime speaks: %v", i, err)
			}
			if data, ok := errors.AsType[*stream.DataError](err); ok && data.Remedy.Format == "" && !strings.Contains(err.Error(), "; ") {
				t.Fatalf("byte %d: no remedy: %v", i, err)
			}
			damaged[i] = file[i]
		}
	}
}

// columnAt is the physical column whose chunk in the first group holds byte i; -1 for none.
func columnAt(f *File, i int) int {
	for c := range f.footer.Schema.NumColumns() {
		if info := f.Chunk(0, c); info.At <= int64(i) && int64(i) < info.At+info.Size {
			return c
		}
	}
	return -1
}

func TestReadErrors(t *testing.T) {
	pool := scratchPool()
	for _, file := range varietyFiles(t, 1) {
		for _, short := range []bool{false, true} {
			formattest.FailEveryRead(t, file, short, func(in format.Input) error { return readAll(in, pool) })
		}
	}
}

// TestChecksum: a page whose checksum is wrong is refused, one whose checksum is right is read.
func TestChecksum(t *testing.T) {
	body := binary.LittleEndian.AppendUint32(nil, 7)
	fields := schema.FieldList{schema.NewInt32Node("x", parquet.Repetitions.Required, -1)}
	col := newColumn(schema.NewSchema(schema.MustGroup(schema.NewGroupNode("s", parquet.Repetitions.Required, fields, -1))), 0)
	for _, damage := range []uint32{0, 1} {
		h := PageHeader{
			Kind: DataPage, Uncompressed: len(body), Compressed: len(body), Values: 1,
			Encoding: parquet.Encodings.Plain, CRC: crc32.ChecksumIEEE(body) ^ damage, HasCRC: true,
		}
		b := append(AppendPageHeader(nil, h), body...)
		p := newPageWalker(formattest.NewMemory(b), footer.ChunkInfo{Size: int64(len(b)), Uncompressed: int64(len(b)), Values: 1}, &col, new(scratch))
		if more, err := p.nextDataPage(); err != nil || !more {
			t.Fatalf("finding the data page: found %v, error %v", more, err)
		}
		if err := p.loadPage(); (err != nil) != (damage != 0) {
			t.Errorf("checksum off by %d: %v", damage, err)
		}
	}
}

// TestClaimedPage: a page that claims more than its bytes can hold takes no memory, whatever the chunk
// claims.
func TestClaimedPage(t *testing.T) {
	fields := schema.FieldList{schema.NewInt32Node("x", parquet.Repetitions.Required, -1)}
	col := newColumn(schema.NewSchema(schema.MustGroup(schema.NewGroupNode("s", parquet.Repetitions.Required, fields, -1))), 0)
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Zstd} {
		h := PageHeader{Kind: DataPage, Uncompressed: 1 << 30, Compressed: 4000, Values: 1 << 28, Encoding: parquet.Encodings.Plain, CRC: crc32.ChecksumIEEE(make([]byte, 4000)), HasCRC: true}
		b := append(AppendPageHeader(nil, h), make([]byte, h.Compressed)...)
		p := newPageWalker(formattest.NewMemory(b), footer.ChunkInfo{Size: int64(len(b)), Uncompressed: 1 << 30, Values: 1 << 28, Codec: codec}, &col, new(scratch))
		before := allocated()
		more, err := p.nextDataPage()
		if err == nil && more {
			err = p.loadPage()
		}
		if n := allocated() - before; err == nil || n > 16<<20 {
			t.Errorf("%v: %d MiB allocated, %v", codec, n>>20, err)
		}
	}
}

func FuzzParquet(f *testing.F) {
	pool := scratchPool()
	for _, file := range varietyFiles(f, 2) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		before := allocated()
		_ = readAll(formattest.NewMemory(file), pool) // must not panic or hang
		if got := allocated() - before; got > allocationCeiling+64*uint64(len(file)) {
			t.Fatalf("allocated %d bytes for a file of %d", got, len(file))
		}
	})
}
