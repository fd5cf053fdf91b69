package parquet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// splitPages turns the PLAIN pages of a file that is not compressed into BYTE_STREAM_SPLIT ones, as the
// library cannot write them, and returns how many there are.
func splitPages(t *testing.T, file []byte) (count int) {
	t.Helper()
	f, err := Open(formattest.NewMemory(bytes.Clone(file)), 1<<20)
	formattest.Must(t, err)
	for g := range f.rows {
		col, chunk := &f.columns[0], f.Chunk(g, 0)
		p := newPageWalker(formattest.NewMemory(file), chunk, col, new(scratch))
		for more, err := p.nextDataPage(); more; more, err = p.nextDataPage() {
			formattest.Must(t, err)
			header, at := p.header, p.headerAt
			formattest.Must(t, p.loadPage())
			end := p.win.at
			size, n := col.size, p.page.present
			to := file[end-int64(len(p.page.values)) : end]
			for i := range n {
				for k := range size {
					to[k*n+i] = p.page.values[i*size+k]
				}
			}
			// 0 for PLAIN becomes 9, in zigzag, if nothing else changes by that.
			done := false
			for i := at; i < end-int64(header.Compressed) && !done; i++ {
				if file[i] != 0 {
					continue
				}
				file[i] = 9 << 1
				want := header
				want.Encoding = byteStreamSplit
				if h, _, err := ParsePageHeader(file[at:end]); err == nil && h == want {
					done = true
				} else {
					file[i] = 0
				}
			}
			if !done {
				t.Fatal("no encoding in the header")
			}
			count++
		}
	}
	return count
}

// TestByteStreamSplit: pages of split values have the values of the PLAIN ones, for every type that
// has the encoding, and for readers of the physical values.
func TestByteStreamSplit(t *testing.T) {
	seen := map[parquet.Type]bool{}
	for _, c := range typeCases() {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for _, rep := range []parquet.Repetition{parquet.Repetitions.Required, parquet.Repetitions.Optional} {
				t.Run(fmt.Sprint(c.typ, " v", version+1, " ", rep), func(t *testing.T) {
					const rows = 700
					r := rand.New(rand.NewPCG(8, 8))
					plain := formattest.WriteFile(t, schema.FieldList{c.node(rep)}, 2, func(_, _ int, w pqfile.ColumnChunkWriter) error {
						var def []int16
						present := rows
						if rep == parquet.Repetitions.Optional {
							def, present = make([]int16, rows), 0
							for i := range def {
								if i/100%3 != 1 || i%7 > 2 {
									def[i] = 1
									present++
								}
							}
						}
						values, _ := c.make(r, present)
						return putBatch(w, values, def, nil)
					}, parquet.WithDataPageVersion(version), parquet.WithDictionaryDefault(false), parquet.WithEncoding(parquet.Encodings.Plain),
						parquet.WithCompression(compress.Codecs.Uncompressed), parquet.WithDataPageSize(500), parquet.WithBatchSize(64))
					f, err := Open(formattest.NewMemory(plain), 1<<20)
					formattest.Must(t, err)
					if !supportsByteStreamSplit(&f.columns[0]) {
						return
					}
					seen[f.columns[0].physical] = true
					split := bytes.Clone(plain)
					if pages := splitPages(t, split); pages < 4 || bytes.Equal(split, plain) {
						t.Fatalf("%d pages", pages)
					}
					g, err := Open(formattest.NewMemory(split), 1<<20)
					formattest.Must(t, err)
					for _, step := range []int64{rows, 133, 64} {
						if want, got := decodeLeaf(t, f, 0, step)[0], decodeLeaf(t, g, 0, step)[0]; !equalBits(got, want) {
							t.Errorf("ranges of %d: other values", step)
						}
					}
					formattest.Must(t, format.Guard(func() error { return drain(g, 0, 0) }))
				})
			}
		}
	}
	if len(seen) != 5 {
		t.Errorf("tried types %v", seen)
	}
}

// TestByteStreamSplitLength: a page of another length than its values' is refused, as the distance between the bytes
// of a value is unknown.
func TestByteStreamSplitLength(t *testing.T) {
	col := &column{physical: parquet.Types.Float, size: 4}
	for size, fits := range map[int]bool{40: true, 39: false, 41: false, 44: false, 0: false} {
		if err := checkEncodedValues(col, byteStreamSplit, make([]byte, size), 10, -1); (err == nil) != fits {
			t.Errorf("%d bytes for 10 values: %v", size, err)
		}
	}
}
