package ipc

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	arrowipc "github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// wideSchemas are schemas whose parsed form is many times as large as their bytes, or as the parsed form of other
// schemas of as many bytes.
func wideSchemas(n int) map[string]*arrow.Schema {
	number := arrow.PrimitiveTypes.Float64
	fields := make([]arrow.Field, n)
	for i := range fields {
		fields[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: number}
	}
	deep := arrow.Field{Name: "x", Type: arrow.StructOf(fields[:n/4]...)}
	for i := range 20 {
		deep = arrow.Field{Name: fmt.Sprint("s", i), Type: arrow.StructOf(deep)}
	}
	lists := make([]arrow.Field, n)
	for i := range lists {
		lists[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: arrow.ListOf(number)}
	}
	codes := make([]arrow.Field, n)
	for i := range codes {
		codes[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}}
	}
	return map[string]*arrow.Schema{
		"numbers":      arrow.NewSchema(fields, nil),
		"long prefix":  arrow.NewSchema([]arrow.Field{{Name: strings.Repeat("long", 500), Type: arrow.StructOf(fields[:n/8]...)}}, nil),
		"many structs": arrow.NewSchema([]arrow.Field{deep}, nil),
		"lists":        arrow.NewSchema(lists, nil),
		"codes":        arrow.NewSchema(codes, nil),
	}
}

// TestSchemaIsCounted: an open file or stream holds no more memory than HeldBytes; one that needs more than the limit
// is refused before its schema is parsed; and with the memory named in the refusal it is opened.
func TestSchemaIsCounted(t *testing.T) {
	const n = 20_000
	for what, schema := range wideSchemas(n) {
		in := formattest.NewMemory(formattest.WriteArrow(t, false, nil, arrowipc.WithSchema(schema)))
		before := live()
		f, err := Open(in, 1<<40)
		formattest.Must(t, err)
		held := live() - before
		if said := f.HeldBytes(); held > said || said > 4*held {
			t.Errorf("%s: it holds %d bytes and says %d", what, held, said)
		}
		runtime.KeepAlive(in)
		short := (*stream.MemoryError)(nil)
		took := allocated(func() { _, err = Open(in, f.heapBytes-1) })
		if !errors.As(err, &short) || short.Need != f.heapBytes+f.footerBytes || took > f.footerBytes+1<<20 {
			t.Errorf("%s: in %d bytes, of which %d were allocated for a footer of %d: %v, want a need of %d", what, f.heapBytes-1, took, f.footerBytes, err, f.heapBytes+f.footerBytes)
		}
		if _, err = Open(in, short.Need); err != nil {
			t.Errorf("%s: in the %d bytes that are said to do: %v", what, short.Need, err)
		}
	}
}

// live is the heap that is in use.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestViewBuffersAreSummedOnce: the buffers of view arrays stand between the others, and their end is known without
// adding up all earlier ones.
func TestViewBuffersAreSummedOnce(t *testing.T) {
	b := &batch{version: metadataV5, viewEnds: []int64{2, 2, 5}}
	for views, want := range []int{7, 9, 9, 12, 12} {
		if at := b.bufferIndex(&field{arrayPlace: arrayPlace{buffer: 6, viewsBefore: views}}, 1); at != want {
			t.Errorf("behind %d views a buffer is at %d, want %d", views, at, want)
		}
	}
}
