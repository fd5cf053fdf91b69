package statsfile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
)

// container reads a statistics file as docs/statistics-file.md specifies it, and nothing else of
// this package.
func container(t *testing.T, b []byte) (header map[string]any, sections map[string][]byte) {
	t.Helper()
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	if string(b[:8]) != "ufsstats" || u32(8) != 1 {
		t.Fatalf("begins with %q", b[:12])
	}
	at := 16 + u32(12)
	if err := json.Unmarshal(b[16:at], &header); err != nil || u64(at) != xxhash.Sum64(b[16:at]) {
		t.Fatalf("header: %v", err)
	}
	at += 8
	unpack, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatalf("making a decompressor: %v", err)
	}
	defer unpack.Close()
	sections = make(map[string][]byte)
	for b[at] == 1 {
		name := string(b[at+2 : at+2+int(b[at+1])])
		at += 2 + len(name)
		var body []byte
		for n := u32(at); n > 0; n = u32(at) {
			if body, err = unpack.DecodeAll(b[at+4:at+4+n], body); err != nil {
				t.Fatalf("decompressing a block of section %s: %v", name, err)
			}
			at += 4 + n
		}
		if u64(at+4) != uint64(len(body)) || u64(at+12) != xxhash.Sum64(body) {
			t.Fatalf("section %s: length or checksum", name)
		}
		sections[name] = body
		at += 20
	}
	if b[at] != 0 || u64(at+1) != xxhash.Sum64(b[:at+1]) || len(b) != at+9 {
		t.Fatalf("the end at %d of %d", at, len(b))
	}
	return header, sections
}

// TestStatsVector reads the file of docs/statistics-file.md as the page describes it, and compares it with the page's
// numbers.
func TestStatsVector(t *testing.T) {
	b, err := os.ReadFile("../../../docs/vectors/tiny.ufs")
	if err != nil {
		t.Fatalf("reading the vector: %v", err)
	}
	header, sections := container(t, b)
	if header["kind"] != "gram" || len(header["columns"].([]any)) != 3 {
		t.Errorf("header %v", header)
	}
	moments := sections["moments"]
	if !bytes.HasPrefix(moments, []byte("ufsgram1ufsprof1")) {
		t.Fatalf("moments begin with %q", moments[:16])
	}
	words := moments[16:]
	whole := func(n int) (list []int64) {
		for range n {
			list = append(list, int64(binary.LittleEndian.Uint64(words)))
			words = words[8:]
		}
		return list
	}
	doubles := func(n int) (list []float64) {
		for _, w := range whole(n) {
			list = append(list, math.Float64frombits(uint64(w)))
		}
		return list
	}
	if got := whole(3); !slices.Equal(got, []int64{3, 4, 4}) {
		t.Errorf("d, rows used, rows seen: %v", got)
	}
	if got := doubles(1); got[0] != 4 {
		t.Errorf("weight %v", got)
	}
	for j, want := range []struct {
		sums   []float64
		counts []int64
	}{
		{[]float64{1, 4, 6, 14, 1, 4}, []int64{4, 0, 0, 0, 1}},
		{[]float64{2, 4, 14, 74, 2, 9}, []int64{4, 0, 0, 0, 0}},
		{[]float64{0.5, 3, 3, 5, 0.5, 2.5}, []int64{3, 1, 0, 0, 0}},
	} {
		if sums := doubles(6); !slices.Equal(sums, want.sums) {
			t.Errorf("column %d: %v, want %v", j, sums, want.sums)
		}
		if counts := whole(5); !slices.Equal(counts[:4], want.counts[:4]) {
			t.Errorf("column %d: %v, want %v", j, counts, want.counts)
		}
	}
	if got := whole(2); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("columns with missing entries: %v", got)
	}
	if got := doubles(6); !slices.Equal(got, []float64{14, 32, 8, 74, 18, 5}) {
		t.Errorf("Gram matrix G̃ = %v, want 14 32 8 74 18 5", got)
	}
	if got := doubles(3); !slices.Equal(got, []float64{1, 3, 0}) {
		t.Errorf("vector A = %v, want 1 3 0", got)
	}
	if got := doubles(1); got[0] != 1 || len(words) > 0 {
		t.Errorf("N = %v, and %d bytes more", got, len(words))
	}
	// The program agrees with the reader above.
	r, err := OpenStats(t.Context(), "../../../docs/vectors/tiny.ufs", storage.FetchOptions{})
	if err != nil {
		t.Fatalf("opening the vector: %v", err)
	}
	defer r.Close()
	for name := range sections {
		if !r.Has(name) {
			t.Errorf("no section %s", name)
		}
	}
}
