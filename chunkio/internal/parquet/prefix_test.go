package parquet

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// sharingColumn is a column of bytes of one length in DELTA_BYTE_ARRAY pages of the given size. The library writes
// them as byte arrays: the encoding is the same.
func sharingColumn(t *testing.T, version parquet.DataPageVersion, values []parquet.ByteArray, page int64) madeColumn {
	t.Helper()
	file := formattest.WriteFile(t, schema.FieldList{schema.NewByteArrayNode("x", parquet.Repetitions.Required, -1)}, 1, func(_, _ int, w pqfile.ColumnChunkWriter) error {
		return putBatch(w, values, nil, nil)
	}, parquet.WithDataPageVersion(version), parquet.WithEncoding(parquet.Encodings.DeltaByteArray), parquet.WithDictionaryDefault(false),
		parquet.WithDataPageSize(page), parquet.WithBatchSize(50), parquet.WithStats(false))
	f, err := Open(formattest.NewMemory(file), 1<<20)
	formattest.Must(t, err)
	info := f.Chunk(0, 0)
	return madeColumn{
		name: "x", physical: parquet.Types.FixedLenByteArray, length: int64(len(values[0])), values: int64(len(values)),
		memory: info.Uncompressed, encodings: []int64{7}, page: file[info.At:][:info.Size],
	}
}

// TestSharedPrefixes: values of one length that share their beginnings are read as they were written, as numbers, as
// texts and physically, in ranges too.
func TestSharedPrefixes(t *testing.T) {
	decimal := func(e thriftBytes) thriftBytes { return e.i32(6, 5).i32(7, 2).i32(8, 18) }
	for name, c := range map[string]struct {
		annotate func(thriftBytes) thriftBytes
		make     func(r *rand.Rand) parquet.ByteArray
		number   func(b []byte) float64 // nil where it is none
		write    func(b []byte) string
	}{
		"decimals": {decimal, func(r *rand.Rand) parquet.ByteArray {
			return formattest.BigEndian(big.NewInt(r.Int64N(1<<r.IntN(50)+1)-100), 9)
		}, func(b []byte) float64 { return format.DecimalFloat(b, 2) }, nil},
		"equal decimals": {decimal, func(*rand.Rand) parquet.ByteArray { return make([]byte, 9) }, func([]byte) float64 { return 0 }, nil},
		"halves": {union(15, thriftBytes{}), func(r *rand.Rand) parquet.ByteArray { return []byte{byte(r.IntN(3)), byte(r.IntN(60))} }, func(b []byte) float64 {
			return formattest.NaiveHalf(uint16(b[0]) | uint16(b[1])<<8)
		}, nil},
		"identifiers": {union(14, thriftBytes{}), func(r *rand.Rand) parquet.ByteArray {
			return append(bytes.Repeat([]byte{171}, 13), byte(r.IntN(2)), byte(r.IntN(256)), byte(r.IntN(256)))
		}, nil, func(b []byte) string { return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]) }},
	} {
		for k := range 4 {
			version := []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[k%2]
			r := rand.New(rand.NewPCG(19, 1))
			values := make([]parquet.ByteArray, 700)
			for i := range values {
				values[i] = c.make(r)
			}
			x := sharingColumn(t, version, values, 1<<20)
			if x.annotate = c.annotate; k >= 2 {
				x.encodings, x.noList = nil, k == 3 // the pages tell then
			}
			f, err := Open(formattest.NewMemory(makeFile(x.values, x)), 1<<20)
			formattest.Must(t, err)
			for _, step := range []int64{x.values, 33} {
				if c.number == nil {
					texts, err := formattest.AllTexts(f, 0, step)
					formattest.Must(t, err)
					for i, v := range values {
						if texts[i] != c.write(v) {
							t.Fatalf("%s: row %d is %q, want %q", name, i, texts[i], c.write(v))
						}
					}
					continue
				}
				got := decodeLeaf(t, f, 0, step)[0]
				for i, v := range values {
					if want := c.number(v); math.Float64bits(got[i]) != math.Float64bits(want) {
						t.Fatalf("%s: row %d is %v, want %v", name, i, got[i], want)
					}
				}
			}
			reader, done, err := f.ColumnReader(0, 0)
			formattest.Must(t, err)
			var copied, want formattest.Leaf
			formattest.Must(t, format.Guard(func() error { return formattest.ReadChunk(reader, &copied) }))
			done()
			for _, v := range values {
				want.Values = append(want.Values, fmt.Sprintf("%x", []byte(v)))
			}
			if len(copied.Values) != len(values) || !slices.Equal(copied.Values, want.Values) {
				t.Errorf("%s: copied as %q, want %q", name, copied.Values[:3], want.Values[:3])
			}
		}
	}
}

// TestSharedPrefixesOfArrow: a file that arrow-rs has written (parquet-wasm 0.8.0, several pages, of version 1 and 2) has
// the values that it was given.
func TestSharedPrefixesOfArrow(t *testing.T) {
	for _, name := range []string{"decimals_delta_v1.parquet", "decimals_delta_v2.parquet"} {
		f := openTest(t, filepath.Join("testdata", name))
		for _, step := range []int64{600, 70} {
			d, e := decodeLeaf(t, f, 0, step)[0], decodeLeaf(t, f, 1, step)[0]
			for i := range d {
				want := float64(i*7919%100003-50000) / 10000
				if i%7 == 3 {
					want = format.Null
				}
				if math.Float64bits(d[i]) != math.Float64bits(want) || e[i] != float64(i-300) {
					t.Fatalf("%s: row %d is %v, %v", name, i, d[i], e[i])
				}
			}
		}
	}
}

// TestSharedPrefixesDamaged: pages whose values do not have the type's length are refused, and a page that continues
// the previous one is refused with a remedy.
func TestSharedPrefixesDamaged(t *testing.T) {
	values := make([]parquet.ByteArray, 700)
	for i := range values {
		values[i] = formattest.BigEndian(big.NewInt(int64(i/2)), 9)
	}
	decimal := func(e thriftBytes) thriftBytes { return e.i32(6, 5).i32(7, 2).i32(8, 18) }
	for name, c := range map[string]struct {
		page   int64
		change func(*madeColumn)
		why    string
	}{
		"longer":        {1 << 20, func(x *madeColumn) { x.length = 10 }, "value 0 shares 0 bytes and has 9 of its own, where the type has 10"},
		"shorter":       {1 << 20, func(x *madeColumn) { x.length = 8 }, "has 9 of its own, where the type has 8"},
		"several pages": {200, func(*madeColumn) {}, "with one of the page before, which cannot be decoded; copy or write the file again"},
		"untold":        {1 << 20, func(x *madeColumn) { x.encodings = []int64{0} }, "which the footer does not list"},
	} {
		x := sharingColumn(t, parquet.DataPageV1, values, c.page)
		x.annotate = decimal
		c.change(&x)
		f, err := Open(formattest.NewMemory(makeFile(x.values, x)), 1<<20)
		formattest.Must(t, err)
		if _, err := tryDecodeLeaf(f, 0, x.values); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: decoding gives %v, want an error with %q", name, err, c.why)
		}
	}
	// No byte of the page makes anything but an error, or other values.
	x := sharingColumn(t, parquet.DataPageV2, values[:60], 1<<20)
	x.annotate = decimal
	for i := range x.page {
		for _, flip := range []byte{1, 0x80, 0xff} {
			x.page[i] ^= flip
			f, err := Open(formattest.NewMemory(makeFile(x.values, x)), 1<<20)
			if err == nil {
				_, err = tryDecodeLeaf(f, 0, x.values)
			}
			if err != nil && strings.Contains(err.Error(), "runtime error") {
				t.Errorf("byte %d: %v", i, err)
			}
			x.page[i] ^= flip
		}
	}
}
