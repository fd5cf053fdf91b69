package writer

import (
	"errors"
	"fmt"
	"io"
	"runtime"
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
		w, err := New(io.Discard, fields, []bool{true})
		if err != nil {
			t.Fatalf("%s: beginning the file: %v", name, err)
		}
		g := w.Group(batch * batches)
		chunks, err := g.Columns(1)
		if err != nil {
			t.Fatalf("%s: opening the column: %v", name, err)
		}
		levels, values := make([]int16, batch), make([]int64, batch*int(present))
		for i := range levels {
			levels[i] = present
		}
		before := allocated()
		for range batches {
			if err := Put(chunks[0], values, levels, nil); err != nil {
				t.Fatalf("%s: writing a batch: %v", name, err)
			}
		}
		if n := allocated() - before; n > 24<<20 {
			t.Errorf("%s: %d MiB allocated", name, n>>20)
		}
		if err := chunks[0].Finish(); err != nil {
			t.Fatalf("%s: finishing the column: %v", name, err)
		}
		if got := chunks[0].pages.values; got != batch*batches {
			t.Errorf("%s: %d entries in pages", name, got)
		}
	}
}

// TestFooterHeap: the memory of a file of many columns until it is finished, after a Mark too, is within FooterBytes.
func TestFooterHeap(t *testing.T) {
	const columns, groups = 3000, 3
	before := held()
	fields := make(schema.FieldList, columns)
	for i := range fields {
		fields[i] = schema.NewFloat64Node(fmt.Sprintf("column %d", i), parquet.Repetitions.Optional, -1)
		if i%3 > 0 {
			fields[i] = schema.NewByteArrayNode(fmt.Sprintf("column %d", i), parquet.Repetitions.Optional, -1)
		}
	}
	w, err := New(io.Discard, fields, make([]bool, columns))
	if err != nil {
		t.Fatalf("beginning the file: %v", err)
	}
	for n := range int64(groups) {
		g := w.Group(1)
		for i := range columns {
			chunks, err := g.Columns(1)
			if err != nil {
				t.Fatalf("row group %d: opening column %d: %v", n, i, err)
			}
			switch c := chunks[0]; i % 3 {
			case 0:
				err = Put(c, []float64{1}, []int16{1}, nil)
			case 1: // whose bounds are written
				err = Put(c, []parquet.ByteArray{make([]byte, boundBytes)}, []int16{1}, nil)
			default:
				err = Put(c, []parquet.ByteArray{make([]byte, 4000)}, []int16{1}, nil)
			}
			if err := errors.Join(err, chunks[0].Finish(), g.Place(chunks)); err != nil {
				t.Fatalf("row group %d: writing column %d: %v", n, i, err)
			}
		}
		if err := g.End(); err != nil {
			t.Fatalf("ending row group %d: %v", n, err)
		}
		if _, err := w.Mark(); err != nil {
			t.Fatalf("marking row group %d: %v", n, err)
		}
		if got, most := held()-before, w.FooterBytes(n+1); got > most || got < most/4 {
			t.Errorf("%d bytes are held behind row group %d, of %d that are counted", got, n, most)
		}
	}
	runtime.KeepAlive(w)
}

// TestForgedMark: a mark that claims more bytes than it has is an error, and is not believed; nor is one of other columns.
func TestForgedMark(t *testing.T) {
	fields := schema.FieldList{schema.NewFloat64Node("x", parquet.Repetitions.Required, -1)}
	other, err := New(io.Discard, numberAndText(2), nil)
	if err != nil {
		t.Fatalf("beginning a file of two columns: %v", err)
	}
	zeros, err := compressBlock(make([]byte, 128<<20))
	if err != nil {
		t.Fatalf("compressing zeros: %v", err)
	}
	ofTwoColumns := write(t, other, 0, 1, func(int) bool { return true })[0]
	for _, mark := range []string{"", "\xff\xff\xff\xff\x0f\x00", "\xff\x06\x00\x00S2sTwO\x00\x0a\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\x0f\x00", string(ofTwoColumns), string(zeros)} {
		before := allocated()
		w, err := New(io.Discard, fields, nil)
		if err != nil {
			t.Fatalf("beginning the file: %v", err)
		}
		if err := w.Resume(io.Discard, 4, [][]byte{[]byte(mark)}); err == nil {
			t.Errorf("%.40q is gone on with", mark)
		}
		if n := allocated() - before; n > 24<<20 {
			t.Errorf("%.40q: %d MiB allocated", mark, n>>20)
		}
	}
}

// held is the heap that is in use.
func held() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
