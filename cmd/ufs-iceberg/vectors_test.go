package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/puffin"
	"github.com/apache/iceberg-go/table/dv"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Vectors that iceberg-go writes, of single rows, runs and rows beyond 32 bits, are read as it reads them. Every byte of
// one that is changed makes it an error.
func TestVectorsOfIcebergGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 2))
	for i := range 60 {
		want := dv.NewRoaringPositionBitmap()
		for range rng.IntN(5) {
			at := rng.Uint64N(1<<20) << (16 * rng.IntN(3))
			want.SetRange(at, at+rng.Uint64N(100_000))
		}
		for range rng.IntN(5000) {
			want.Set(rng.Uint64N(1 << (10 + rng.IntN(26))))
		}
		blob := must.Get(dv.SerializeDV(want))(t)
		got, rows := must.Get(parseVector(blob))(t).Iterator(), 0
		for at := range want.Positions() {
			if !got.HasNext() {
				t.Fatalf("vector %d: it ends after %d rows, want row %d", i, rows, at)
			}
			if row := got.Next(); row != at {
				t.Fatalf("vector %d: row %d, want %d", i, row, at)
			}
			rows++
		}
		if got.HasNext() {
			t.Errorf("vector %d: it has more than %d rows", i, rows)
		}
		for range 20 {
			bad := bytes.Clone(blob)
			bad[rng.IntN(len(bad))] ^= byte(1 + rng.IntN(255))
			if _, err := parseVector(bad); err == nil {
				t.Errorf("vector %d: a changed byte is not noticed", i)
			}
		}
	}
}

// A vector that claims many bitmaps, and a footer that claims many bytes or has many blobs, take memory for those that are
// there, and a footer counts at its real size, whatever the manifest says.
func TestMemoryOfVectors(t *testing.T) {
	limited := func(work func()) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		work()
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
			t.Errorf("it took %d bytes", took)
		}
	}
	limited(func() {
		if _, err := parseVector(vectorBlob(binary.LittleEndian.AppendUint64(nil, 1<<25))); err == nil {
			t.Error("a vector of 33 million bitmaps in 20 bytes: no error")
		}
	})
	for name, c := range map[string]struct {
		file  string
		limit int64
		says  string
	}{
		"sound":      {file: footerOf(`{"blobs":[]}`, 12, 0), limit: 1 << 20},
		"many blobs": {file: footerOf(`{"blobs":[`+strings.Repeat("{},", 300_000)+"{}]}", -1, 0), limit: 8 << 20, says: "reading the deletes"},
		"large":      {file: footerOf(strings.Repeat(" ", 3<<20)+`{}`, -1, 0), limit: 4 << 20, says: "reading the deletes"},
		"length":     {file: footerOf(`{"blobs":[]}`, 1<<30, 0), limit: 1 << 20, says: "its footer has 1073741824 bytes"},
		"negative":   {file: footerOf(`{"blobs":[]}`, -9, 0), limit: 1 << 20, says: "its footer has -9 bytes"},
		"compressed": {file: footerOf(`{"blobs":[]}`, -1, 1), limit: 1 << 20, says: "compressed"},
		"no JSON":    {file: footerOf(`{"blobs":`, -1, 0), limit: 1 << 20, says: "its footer cannot be read"},
		"beyond":     {file: footerOf(`{"blobs":[{"offset":4,"length":9223372036854775807}]}`, -1, 0), limit: 1 << 20, says: "which the file has not"},
		"no magic":   {file: strings.Repeat("x", 40), limit: 1 << 20, says: "it does not end with PFA1"},
		"short":      {file: "PFA1", limit: 1 << 20, says: "no Puffin file"},
	} {
		path := filepath.Join(t.TempDir(), "x.puffin")
		must.Do(t, os.WriteFile(path, []byte(c.file), 0o600))
		limited(func() {
			d := &deletions{memory: &memoryCount{limit: c.limit, table: "t"}}
			in := must.Get(os.Open(path))(t)
			defer in.Close()
			p, err := d.openPuffin(t.Context(), in)
			if c.says == "" && err == nil {
				return
			}
			if c.says == "" || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: got error %v, want one with %q", name, err, c.says)
			}
			if tooLittle := c.says == "reading the deletes"; errors.As(err, new(*stream.MemoryError)) != tooLittle {
				t.Errorf("%s: got %T, want an error of the memory: %t", name, err, tooLittle)
			}
			if used := d.memory.used.Load(); used != p.counted {
				t.Errorf("%s: %d bytes are counted, and %d are to be given back", name, used, p.counted)
			}
		})
	}
}

// footerOf is a Puffin file without blobs, with this text as its footer; a length of -1 is the right one.
func footerOf(text string, length int32, flags uint32) string {
	if length == -1 {
		length = int32(len(text))
	}
	b := append([]byte("PFA1PFA1"), text...)
	b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, uint32(length)), flags)
	return string(b) + "PFA1"
}

// A Puffin file that is too long for one request is read in parts: the vectors and the footer are found all the same.
func TestLongPuffinFile(t *testing.T) {
	s := local(t, events(), nil, iceberg.Properties{"format-version": "3"})
	rows := numbered(someEvents(rand.New(rand.NewPCG(13, 2)), 50), 0)
	s.append(rows)
	target := dataFiles(t, s)[0]
	path := filepath.Join(s.current.Location(), "data", "long.puffin")
	out := must.Get(os.Create(path))(t)
	w := must.Get(puffin.NewWriter(out))(t)
	must.Get(w.AddBlob(puffin.BlobMetadataInput{Type: "other", Fields: []int32{}, Properties: map[string]string{"long": strings.Repeat("x", 3*puffinEnd)}}, make([]byte, wholePuffin)))(t)
	blob := must.Get(w.AddBlob(puffin.BlobMetadataInput{
		Type: puffin.BlobTypeDeletionVector, SnapshotID: -1, SequenceNumber: -1, Fields: []int32{},
		Properties: map[string]string{"referenced-data-file": target, "cardinality": fmt.Sprint(2)},
	}, vectorBlob(bitmap(t, 3, 4))))(t)
	must.Do(t, w.Finish())
	must.Do(t, out.Close())
	b := deleteFile(t, s, path, iceberg.EntryContentPosDeletes, iceberg.PuffinFile, 2)
	commit(t, s, b.ReferencedDataFile(target).ContentOffset(blob.Offset).ContentSizeInBytes(blob.Length))
	sameRows(t, "a long file", s, slices.Concat(rows[:3], rows[5:]))
}
