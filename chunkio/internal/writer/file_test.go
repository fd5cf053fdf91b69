package writer

import (
	"io"
	"runtime/metrics"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// TestPagesEndByTheirEntries: a row group of entries without bytes, which are null or all alike, takes
// memory for a page of them and not for all.
func TestPagesEndByTheirEntries(t *testing.T) {
	const batch, batches = 1 << 14, 512 // 8 million rows
	for name, present := range map[string]int16{"nulls": 0, "one value": 1} {
		fields := schema.FieldList{schema.NewInt64Node("x", parquet.Repetitions.Optional, -1)}
		w, err := New(io.Discard, fields, []bool{true}, 1)
		if err != nil {
			t.Fatal(err)
		}
		g := w.Group(batch * batches)
		chunks, err := g.Columns(1)
		if err != nil {
			t.Fatal(err)
		}
		levels, values := make([]int16, batch), make([]int64, batch*int(present))
		for i := range levels {
			levels[i] = present
		}
		before := allocated()
		for range batches {
			if err := Put(chunks[0], values, levels, nil); err != nil {
				t.Fatal(err)
			}
		}
		if n := allocated() - before; n > 24<<20 {
			t.Errorf("%s: %d MiB allocated", name, n>>20)
		}
		if err := chunks[0].Finish(); err != nil {
			t.Fatal(err)
		}
		if got := chunks[0].pages.values; got != batch*batches {
			t.Errorf("%s: %d entries in pages", name, got)
		}
	}
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
