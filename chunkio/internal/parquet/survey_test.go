package parquet

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// sizedColumn is a column of rows numbers with the given number of distinct ones, in pages of 400 or with a
// dictionary, and its true size in memory, so that tests can falsify its footer.
func sizedColumn(t *testing.T, name string, codec compress.Compression, rows, distinct int, dictionary bool) (c madeColumn, want []float64) {
	t.Helper()
	values := make([]int64, rows)
	for i := range values {
		values[i] = int64(i%distinct) << 32
		want = append(want, float64(values[i]))
	}
	file := formattest.WriteFile(t, schema.FieldList{schema.NewInt64Node(name, parquet.Repetitions.Required, -1)}, 1, func(_, _ int, w pqfile.ColumnChunkWriter) error {
		return putBatch(w, values, nil, nil)
	}, parquet.WithCompression(codec), parquet.WithDictionaryDefault(dictionary), parquet.WithDataPageSize(3200), parquet.WithBatchSize(100), parquet.WithStats(false))
	f, err := Open(formattest.NewMemory(file), 1<<20)
	formattest.Must(t, err)
	info := f.Chunk(0, 0)
	c = madeColumn{
		name: name, physical: parquet.Types.Int64, codec: codec, values: int64(rows), memory: info.Uncompressed,
		encodings: []int64{0, 8}, page: file[info.At:][:info.Size],
	}
	return c, want
}

// TestSizesInMemory: pages are read even if the footer gives a false size in memory, and no more memory is planned
// than they need, or could need.
func TestSizesInMemory(t *testing.T) {
	const rows = 2000
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Zstd} {
		for _, dictionary := range []bool{false, true} {
			c, want := sizedColumn(t, "x", codec, rows, 300, dictionary)
			truth, size := c.memory, int64(len(c.page))
			for _, claim := range []int64{
				math.MinInt64, -1, 0, 1, size / 2, size - 1, size, size + 1, truth / 2, truth - 1, truth, truth + 1, 3 * truth,
				100 * truth, 1 << 30, maxChunk, maxChunk + 1, math.MaxInt64,
			} {
				x := c
				x.memory = claim
				f, err := Open(formattest.NewMemory(makeFile(rows, x, x)), 1<<20)
				formattest.Must(t, err)
				name := fmt.Sprint(codec, dictionary, claim, size, truth)
				for i := range 2 {
					if got, err := tryDecodeLeaf(f, i, 700); err != nil || !equalBits(got[0], want) {
						t.Errorf("%s: column %d: %v", name, i, err)
					}
					if err := drain(f, 0, i); err != nil {
						t.Errorf("%s: column %d is not copied: %v", name, i, err)
					}
					if got := f.leaves[i].Scratch; f.leaves[i].Why != "" || got > size+2*4*max(truth, 8*rows)+2<<20 {
						t.Errorf("%s: column %d takes %d bytes: %s", name, i, got, f.leaves[i].Why)
					}
				}
			}
		}
	}
}

// TestSizeOfOneColumn: if the footer is right about the first column, and gives another column a size below that of
// its page but above that of its bytes in the file, this column is refused with both sizes and a remedy.
func TestSizeOfOneColumn(t *testing.T) {
	const rows = 2000
	first, _ := sizedColumn(t, "a", compress.Codecs.Snappy, rows, rows, false)
	second, _ := sizedColumn(t, "x", compress.Codecs.Zstd, rows, 1, false)
	third, want := sizedColumn(t, "b", compress.Codecs.Snappy, rows, 300, true)
	second.memory = int64(len(second.page)) + 1
	f, err := Open(formattest.NewMemory(makeFile(rows, first, second, third)), 1<<20)
	formattest.Must(t, err)
	if got := decodeLeaf(t, f, 2, rows); !equalBits(got[0], want) {
		t.Error("the column beside it is wrong")
	}
	_, err = tryDecodeLeaf(f, 1, rows)
	data, ok := errors.AsType[*stream.DataError](err)
	if !ok || data.Column != "x" || !strings.Contains(err.Error(), fmt.Sprint("gives the whole column chunk ", second.memory)) || !strings.Contains(err.Error(), "; copy or write the file again, or leave the column out") {
		t.Errorf("decoding gives %v, want an error with both sizes of column x", err)
	}
	// Where it is so of the first column, it is nobody's word that counts, but the pages'.
	f, err = Open(formattest.NewMemory(makeFile(rows, second, first, second)), 1<<20)
	formattest.Must(t, err)
	for _, i := range []int{0, 2} {
		if got := decodeLeaf(t, f, i, rows); !equalBits(got[0], make([]float64, rows)) {
			t.Errorf("column %d is wrong", i)
		}
	}
}

// TestDictionaryHeaderUncounted: a chunk whose size lacks the bytes of its dictionary's header, as parquet-mr before 1.2.9 wrote it,
// is read to the end of its last page, and one that lacks more is refused.
func TestDictionaryHeaderUncounted(t *testing.T) {
	const rows = 2000
	x, want := sizedColumn(t, "x", compress.Codecs.Snappy, rows, 300, true)
	_, header, err := ParsePageHeader(x.page)
	formattest.Must(t, err)
	for _, missing := range []int{1, header - 1, header, header + 1} {
		x.size = int64(len(x.page) - missing)
		f, err := Open(formattest.NewMemory(makeFile(rows, x, x)), 1<<20)
		formattest.Must(t, err)
		for i := range 2 {
			for _, step := range []int64{rows, 300} {
				got, err := tryDecodeLeaf(f, i, step)
				switch {
				case missing > header:
					if err == nil || !strings.Contains(err.Error(), "where the column chunk has") {
						t.Errorf("%d bytes missing: %v", missing, err)
					}
				case err != nil || !equalBits(got[0], want):
					t.Errorf("%d bytes missing, column %d: %v", missing, i, err)
				}
			}
		}
	}
}

// farInput claims to be an object in a store.
type farInput struct {
	*formattest.Memory
	reads int
}

func (*farInput) Far() bool { return true }

func (f *farInput) ReadAt(b []byte, at int64) (int, error) {
	f.reads++
	return f.Memory.ReadAt(b, at)
}

// TestZerosAreBelieved: a column of an object that is compressed to next to nothing, because all its values are
// alike, takes no request when the file is opened.
func TestZerosAreBelieved(t *testing.T) {
	const rows = 400_000
	x := schema.FieldList{schema.NewFloat64Node("x", parquet.Repetitions.Required, -1)}
	reads := func(values []float64) int {
		in := &farInput{Memory: formattest.NewMemory(formattest.WriteFile(t, x, 1, func(_, _ int, w pqfile.ColumnChunkWriter) error {
			return putBatch(w, values, nil, nil)
		}, parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDictionaryDefault(false)))}
		f, err := Open(in, 1<<20)
		formattest.Must(t, err)
		if f.leaves[0].Why != "" {
			t.Errorf("the column cannot be read: %s", f.leaves[0].Why)
		}
		return in.reads
	}
	some := make([]float64, rows)
	for i := range some {
		some[i] = float64(i)
	}
	if zeros, usual := reads(make([]float64, rows)), reads(some); zeros != usual {
		t.Errorf("%d reads to open a file of zeros, %d of other numbers", zeros, usual)
	}
}
