package parquet

import (
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/stream"
)

// patched is file with b written at position at, counted from the end if negative.
func patched(file []byte, at int, b ...byte) []byte {
	out := append([]byte(nil), file...)
	if at < 0 {
		at += len(out)
	}
	copy(out[at:], b)
	return out
}

func TestOpenRefuses(t *testing.T) {
	file := varietyFile(t, parquet.DataPageV1, compress.Codecs.Uncompressed, 1)
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"no bytes", "empty", nil},
		{"few bytes", "only 7 bytes", file[:7]},
		{"other file", "no Parquet file", []byte("a,b,c\n1,2,3\n4,5,6\n")},
		{"cut file", "cut off", file[:len(file)-100]},
		{"encrypted footer", "without encryption", patched(patched(file, 0, []byte("PARE")...), -4, []byte("PARE")...)},
		{"footer longer than the file", "damaged footer", patched(file, -8, binary.LittleEndian.AppendUint32(nil, uint32(len(file)))...)},
		{"footer of no bytes", "damaged footer", patched(file, -8, 0, 0, 0, 0)},
		{"footer of other bytes", "damaged footer", patched(file, -8, 5, 0, 0, 0)},
	} {
		_, err := Open(formattest.NewMemory(c.file), 1<<20)
		var data *stream.DataError
		if !errors.As(err, &data) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: opening gives %v, want a data error with %q", c.name, err, c.want)
		}
	}
}

func TestOpenMemory(t *testing.T) {
	file := varietyFile(t, parquet.DataPageV1, compress.Codecs.Uncompressed, 2)
	var memory *stream.MemoryError
	for _, limit := range []int64{0, 100, 10_000} {
		if _, err := Open(formattest.NewMemory(file), limit); !errors.As(err, &memory) || !memory.OfMemory() {
			t.Fatalf("limit %d: %v", limit, err)
		}
		if _, err := Open(formattest.NewMemory(file), memory.Need); (err != nil) != memory.AtLeast {
			t.Errorf("limit %d: at least %v, and with the limit that is named %v", limit, memory.AtLeast, err)
		}
	}
	f, err := Open(formattest.NewMemory(file), memory.Need)
	if err != nil {
		t.Fatalf("the limit that the error names is not enough: %v", err)
	}
	if f.HeldBytes() <= 0 || f.HeldBytes() > memory.Need {
		t.Errorf("holds %d bytes", f.HeldBytes())
	}
	other := patched(file, len(file)-20, 0xAA) // created_by, behind all that is checked
	g, err := Open(formattest.NewMemory(other), 1<<20)
	if err == nil && g.FooterDigest() == f.FooterDigest() {
		t.Error("another footer has the same digest")
	}
}

// TestFooterHeap: the estimate covers the heap that the parsed footer holds, without
// asking for several times as much.
func TestFooterHeap(t *testing.T) {
	for _, name := range []string{"mnist70k.parquet", "prostate_ge.parquet", "basehock.parquet", "messy.parquet"} {
		path := fixtures.DatasetPath(t, name)
		heap := func() int64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before, garbage := heap(), allocated()
		f := openTest(t, path)
		garbage = allocated() - garbage
		growth := heap() - before
		t.Logf("%s: %d bytes held, %d estimated, %d allocated, %d row groups of %d columns", name, growth, f.HeldBytes(), garbage, len(f.rows), len(f.leaves))
		if e := f.HeldBytes(); growth > e+1<<16 || e > 2*growth+1<<18 {
			t.Errorf("%s: holds %d bytes, estimated %d", name, growth, e)
		}
		runtime.KeepAlive(f)
	}
}

// A failed Open leaves closing its input to the caller; the file of one that succeeds closes it.
func TestOpenClosesNothing(t *testing.T) {
	file := varietyFile(t, parquet.DataPageV1, compress.Codecs.Uncompressed, 1)
	places := map[bool]int{} // whether only a column cannot be read
	for i := len(file) / 2; i < len(file); i++ {
		in := formattest.NewMemory(patched(file, i, file[i]^0xFF))
		f, err := Open(in, 1<<20)
		if in.Closed != 0 {
			t.Fatalf("byte %d is damaged: the input was closed; error %v", i, err)
		}
		if _, ok := errors.AsType[*stream.DataError](err); ok {
			places[false]++
			continue
		}
		if err == nil && slices.ContainsFunc(f.leaves, func(l format.Leaf) bool { return l.Refused }) {
			places[true]++
		}
		if err == nil && (f.Close() != nil || in.Closed != 1) {
			t.Fatalf("byte %d is damaged: closing the file closed its input %d times", i, in.Closed)
		}
	}
	if len(places) != 2 {
		t.Errorf("not every kind of damage came up: %v", places)
	}
	in := formattest.NewMemory(file)
	if _, err := Open(in, 100); err == nil || in.Closed != 0 {
		t.Errorf("without memory: error %v, input closed %d times", err, in.Closed)
	}
}
