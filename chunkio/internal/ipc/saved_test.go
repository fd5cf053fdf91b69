package ipc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A saved stream is the file of the same records.
func TestSavedStream(t *testing.T) {
	types, _ := numericTypes()
	for name, opts := range compressions {
		rec := randomRecord(rand.New(rand.NewPCG(1, 3)), 0.2, 50, append(types, arrow.BinaryTypes.String, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.PrimitiveTypes.Int64})...)
		for _, records := range [][]arrow.Record{{rec}, {rec.NewSlice(0, 0), rec}} {
			saved, err := OpenStream(formattest.NewMemory(formattest.WriteArrow(t, true, records, opts...)), 1<<30)
			formattest.Must(t, err)
			file, err := Open(formattest.NewMemory(formattest.WriteArrow(t, false, records, opts...)), 1<<30)
			formattest.Must(t, err)
			if !slices.Equal(saved.GroupRows(), file.GroupRows()) || len(saved.Leaves()) != len(file.Leaves()) {
				t.Fatalf("%s: groups %v of %d columns, want %v of %d", name, saved.GroupRows(), len(saved.Leaves()), file.GroupRows(), len(file.Leaves()))
			}
			for i, l := range file.Leaves() {
				if saved.Leaves()[i].Name != l.Name || saved.Leaves()[i].Type != l.Type {
					t.Errorf("%s: column %d is %v, want %v", name, i, saved.Leaves()[i], l)
				}
				if l.NoClass != "" {
					continue
				}
				got, err := formattest.AllTexts(saved, i, 1000)
				formattest.Must(t, err)
				want, err := formattest.AllTexts(file, i, 1000)
				formattest.Must(t, err)
				if !slices.Equal(got, want) {
					t.Errorf("%s: column %s %s: %q, want %q", name, l.Name, l.Type, got, want)
				}
			}
			// The library reads it by the same footer.
			r, err := ipc.NewFileReader(bytes.NewReader(whole(t, saved)))
			formattest.Must(t, err)
			if r.NumRecords() != len(records) {
				t.Errorf("the library finds %d batches", r.NumRecords())
			}
		}
	}
}

// oldStream is a stream as Arrow before 0.15 wrote it: without the word that begins a message.
func oldStream(b []byte) []byte { return bytes.ReplaceAll(b, []byte(StreamMagic), nil) }

// TestOldStream: a stream without magic words is known by its schema, and read like others; so is a file whose
// footer has a version of its own, before V4.
func TestOldStream(t *testing.T) {
	rec := fromJSON(t, arrow.PrimitiveTypes.Int32, `[1, 2, null, 4]`, arrow.BinaryTypes.String, `["a", "b", "c", null]`)
	now := formattest.WriteArrow(t, true, []arrow.Record{rec, rec})
	old := oldStream(now)
	if len(old) != len(now)-4*4 {
		t.Fatalf("%d bytes of %d: other magic words than those of messages", len(old), len(now))
	}
	for name, b := range map[string][]byte{"now": now, "old": old} {
		in := formattest.NewMemory(b)
		if !IsStream(in, string(b[:16])) {
			t.Errorf("%s: no stream", name)
		}
		f, err := OpenStream(in, 1<<20)
		formattest.Must(t, err)
		for i, want := range []string{"1 2 ? 4 1 2 ? 4", "a b c ? a b c ?"} {
			got, err := formattest.AllTexts(f, i, 3)
			formattest.Must(t, err)
			if text := strings.ReplaceAll(strings.Join(got, " "), formattest.NoName, "?"); text != want {
				t.Errorf("%s: %s, want %s", name, text, want)
			}
		}
		for n := range len(b) - 4 {
			if _, err := OpenStream(formattest.NewMemory(b[:n]), 1<<20); err == nil {
				t.Fatalf("%s: the first %d of %d bytes are a stream", name, n, len(b))
			}
		}
	}
	for _, other := range []string{"", "abc", "PAR1PAR1PAR1PAR1", "a,b,c\n1,2,3\n4,5,6\n", "\x10\x00\x00\x00" + strings.Repeat("\x01", 40), "\x00\x00\x00\x00\x00\x00\x00\x00"} {
		if IsStream(formattest.NewMemory([]byte(other)), other) {
			t.Errorf("%q is taken for a stream", other)
		}
	}
	for version, reads := range map[byte]bool{0: true, 2: true, 3: true, 4: true, 5: false} {
		b := formattest.WriteArrow(t, false, []arrow.Record{rec})
		n := int(binary.LittleEndian.Uint32(b[len(b)-10:]))
		footer := rootFlatTable(b[len(b)-10-n : len(b)-10])
		at, _ := footer.fieldPosition(0)
		footer.Bytes[at] = version
		_, err := Open(formattest.NewMemory(b), 1<<20)
		if (err == nil) != reads || err != nil && !strings.Contains(err.Error(), "V6 is newer") {
			t.Errorf("a footer of V%d: %v", version+1, err)
		}
	}
}

// whole is all bytes that a file is read from.
func whole(t *testing.T, f *File) []byte {
	b := make([]byte, f.in.Size())
	_, err := f.in.ReadAt(b, 0)
	formattest.Must(t, err)
	return b
}

// A dictionary that changes on the way is no file's; one that is sent again is.
func TestSavedDictionaries(t *testing.T) {
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64}
	rec := randomRecord(rand.New(rand.NewPCG(4, 4)), 0, 20, typ)
	other := randomRecord(rand.New(rand.NewPCG(5, 5)), 0, 20, typ)
	f, err := OpenStream(formattest.NewMemory(formattest.WriteArrow(t, true, []arrow.Record{rec, rec, rec})), 1<<30)
	formattest.Must(t, err)
	if got := f.GroupRows(); !slices.Equal(got, []int64{20, 20, 20}) {
		t.Errorf("groups %v", got)
	}
	_, err = OpenStream(formattest.NewMemory(formattest.WriteArrow(t, true, []arrow.Record{rec, other})), 1<<30)
	if err == nil || !strings.Contains(err.Error(), "replaces a dictionary") {
		t.Errorf("another dictionary: %v", err)
	}
}

// readSaved decodes all of a saved stream.
func readSaved(b []byte, memory int64) error {
	f, err := OpenStream(formattest.NewMemory(b), memory)
	if err != nil {
		return err
	}
	for i, rows := range f.GroupRows() {
		g, err := f.Open(context.Background(), i, nil)
		if err != nil {
			return err
		}
		if err := decodeAll(f.Leaves(), i, g, rows); err != nil {
			return err
		}
	}
	return nil
}

func TestSavedStreamDamage(t *testing.T) {
	b := formattest.WriteArrow(t, true, smallRecords())
	formattest.Must(t, readSaved(b, 1<<30))
	for n := range len(b) - 8 {
		err := readSaved(b[:n], 1<<30)
		if err == nil {
			t.Fatalf("the first %d of %d bytes are no error", n, len(b))
		}
		wantClear(t, err)
	}
	for n := 0; n < len(b); n += 3 {
		bad := bytes.Clone(b)
		bad[n] ^= 0x55
		if err := readSaved(bad, 1<<30); err != nil {
			wantClear(t, err)
		}
	}
	if err := readSaved(b, 1000); !errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("in 1,000 bytes: %v", err)
	}
}

func FuzzSavedStream(f *testing.F) {
	f.Add(formattest.WriteArrow(f, true, smallRecords()))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := readSaved(b, 1<<26); err != nil {
			wantClear(t, err)
		}
	})
}
