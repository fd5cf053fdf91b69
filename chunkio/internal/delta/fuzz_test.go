package delta

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/stream"
)

// judge demands that damage ends as an error of the data, or as an answer of sound files.
func judge(t *testing.T, m *memoryFolder) {
	s, err := Read(t.Context(), m, "shop/orders", Options{Memory: 64 << 20})
	if err != nil {
		var data *stream.DataError
		var memory *stream.MemoryError
		if !errors.As(err, &data) && !errors.As(err, &memory) {
			t.Fatalf("reading gives an error of type %T, want a data or memory error: %v", err, err)
		}
		return
	}
	for i, f := range s.Files {
		if f.Path == "" || f.Size < 0 || f.Rows < -1 || len(f.Values) != len(s.Partitions) || i > 0 && f.Path < s.Files[i-1].Path {
			t.Fatalf("file %d: %+v", i, f)
		}
	}
}

func FuzzLines(f *testing.F) {
	h := newHistory(30, 6)
	m := newFolder()
	h.write(m, 0, h.rng)
	for _, b := range m.files {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := newFolder()
		m.commit(0, protocolLine, metaLine, addLine("x"))
		m.files[commitFileName(1)] = b
		judge(t, m)
		m = newFolder()
		m.files[logFolder+"00000000000000000000.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"] = b
		judge(t, m)
	})
}

func FuzzCheckpoint(f *testing.F) {
	h := newHistory(31, 3)
	for shape := range shapes {
		m := newFolder()
		h.checkpoint(f, m, 2, shape)
		for _, b := range m.files {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := newFolder()
		m.files[fmt.Sprintf(logFolder+"%020d.checkpoint.parquet", 0)] = b
		judge(t, m)
	})
}

// Every byte of a checkpoint is damaged once, and it is cut off everywhere: no damage
// panics, and every cut is found.
func TestDamagedBytes(t *testing.T) {
	h := newHistory(32, 1)
	m := newFolder()
	name := fmt.Sprintf(logFolder+"%020d.checkpoint.parquet", 0)
	rows := append(h.otherRows(0), row{"add": row{"path": "x", "size": 1, "partitionValues": mapValue(nil), "stats": stats(7)}})
	m.files[name] = writeRows(t, checkpointFields(false), rows, 10)
	whole := m.files[name]
	if got, err := read(t, m, -1); err != nil || len(got.Files) != 1 {
		t.Fatalf("reading the undamaged checkpoint gives %v, error %v, want one file", got, err)
	}
	flips := []byte{0x01, 0x80, 0xFF}
	for i := range whole {
		if !long.TakesCase(i, 4) {
			continue
		}
		b := slices.Clone(whole)
		b[i] ^= flips[i%len(flips)]
		m.files[name] = b
		judge(t, m)
	}
	for n := 1; n < len(whole); n += 5 {
		m.files[name] = whole[:n]
		_, err := read(t, m, -1)
		wantData(t, fmt.Sprintf("cut off at %d", n), err, name, "restore the checkpoint from a copy")
	}
}
