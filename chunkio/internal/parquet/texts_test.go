package parquet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// Strings in every encoding that can be decoded, over many pages, with a dictionary
// that is given up on the way, by any cut into ranges of rows.
func TestTextEncodings(t *testing.T) {
	const rows = 3000
	words := make([]parquet.ByteArray, 0, rows)
	def := make([]int16, rows)
	want := make([]string, rows)
	rng := rand.New(rand.NewPCG(4, 5))
	for i := range rows {
		want[i] = formattest.NoName
		if rng.IntN(6) > 0 {
			w := fmt.Sprint("wörd ", rng.IntN(1+i/2))
			if i%5 == 0 {
				w = ""
			}
			def[i], want[i], words = 1, w, append(words, parquet.ByteArray(w))
		}
	}
	e := parquet.Encodings
	for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
		for _, encoding := range []parquet.Encoding{e.RLEDict, e.Plain, e.DeltaByteArray, e.DeltaLengthByteArray} {
			props := []parquet.WriterProperty{parquet.WithDataPageVersion(version), parquet.WithDataPageSize(2000), parquet.WithBatchSize(64),
				parquet.WithDictionaryDefault(encoding == e.RLEDict), parquet.WithDictionaryPageSizeLimit(5000)}
			if encoding != e.RLEDict {
				props = append(props, parquet.WithEncoding(encoding))
			}
			file := formattest.WriteFile(t, schema.FieldList{schema.NewByteArrayNode("kind", parquet.Repetitions.Optional, -1)}, 1,
				func(_, _ int, w pqfile.ColumnChunkWriter) error { return putBatch(w, words, def, nil) }, props...)
			f, err := Open(formattest.NewMemory(file), 1<<30)
			formattest.Must(t, err)
			for _, step := range []int64{rows, 1000, 77} {
				got, err := formattest.AllTexts(f, 0, step)
				if err != nil {
					t.Fatalf("version %v, encoding %v: reading the texts: %v", version, encoding, err)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%v, %v, %d rows at a time: other values", version, encoding, step)
				}
			}
		}
	}
}
