package statsfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/stream"
)

// pieces writes data in pieces of at most n bytes.
type pieces struct {
	data []byte
	n    int
}

func (p pieces) WriteTo(w io.Writer) (total int64, err error) {
	for d := p.data; len(d) > 0; {
		n, err := w.Write(d[:min(p.n, len(d))])
		total += int64(n)
		if err != nil {
			return total, err
		}
		d = d[n:]
	}
	return total, nil
}

func testStatsHeader() StatsHeader {
	return StatsHeader{
		Kind:    "gram",
		Version: "0.1.0",
		Columns: []stream.Column{{Name: "a<b", Type: "float"}, {Name: "é[3]", Type: "uint8"}},
		LeftOut: []stream.LeftOut{{Name: "id", Why: "excluded"}},
		Options: map[string]string{"missing": "error", "label": "y", "seed": "1"},
		Table:   &stream.Table{Path: "t", Format: "delta", Version: 3, Time: "2026-01-31T00:00:00Z"},
		Inputs:  []stream.Input{{Path: "x.parquet", Rows: 7, Bytes: 99, Fingerprint: "f"}},
		Ranges:  []stream.Range{{From: 0, To: 7}},
	}
}

func statsBytes(t testing.TB, h StatsHeader, sections ...Section) []byte {
	t.Helper()
	var b bytes.Buffer
	formattest.Must(t, WriteStatsTo(&b, h, sections...))
	return b.Bytes()
}

// readAllStats reads a container as a consumer would: every section to its end.
func readAllStats(file []byte) (*StatsReader, map[string][]byte, error) {
	s, err := readStats(context.Background(), "test", bytes.NewReader(file), int64(len(file)), 0)
	if err != nil {
		return nil, nil, errStats("test", err)
	}
	got := map[string][]byte{}
	for _, e := range s.sections {
		r, err := s.SectionReader(e.name)
		if err != nil {
			return nil, nil, err
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return nil, nil, err
		}
		got[e.name] = b
	}
	return s, got, nil
}

func TestStatsRoundTrip(t *testing.T) {
	const b = statsBlock
	rng := rand.NewChaCha8([32]byte{})
	noise := make([]byte, 2*b+1)
	rng.Read(noise)
	for _, n := range []int{0, 1, b - 1, b, b + 1, 2 * b, 2*b + 1} {
		want := map[string][]byte{"noise": noise[:n], "zeros": make([]byte, n), "empty": {}}
		file := statsBytes(t, testStatsHeader(), Section{"noise", pieces{noise[:n], b}}, Section{"zeros", pieces{want["zeros"], 4096}}, Section{"empty", pieces{}})
		s, got, err := readAllStats(file)
		if err != nil {
			t.Fatalf("reading sections of %d bytes: %v", n, err)
		}
		if !reflect.DeepEqual(s.Header, testStatsHeader()) {
			t.Errorf("header read as %+v", s.Header)
		}
		for name := range want {
			if !bytes.Equal(got[name], want[name]) || int(s.findSectionExtent(name).length) != n && name != "empty" {
				t.Errorf("%d bytes: section %s differs", n, name)
			}
		}
		// Canonical: the bytes do not depend on the writes, nor on earlier input of the encoder.
		rewritten := statsBytes(t, testStatsHeader(), Section{"noise", pieces{noise[:n], 77777}}, Section{"zeros", pieces{want["zeros"], b + 1}}, Section{"empty", pieces{}})
		if !bytes.Equal(file, rewritten) {
			t.Errorf("%d bytes: two writes differ", n)
		}
	}
}

func TestStatsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ufs")
	formattest.Must(t, WriteStats(t.Context(), path, testStatsHeader(), Section{"g", pieces{[]byte("numbers"), 3}}))
	is := func(path string) bool { return IsStats(t.Context(), path, storage.FetchOptions{}) }
	if !is(path) || is(filepath.Dir(path)) || is(path+"x") || !is("file://"+path) {
		t.Error("IsStats")
	}
	s, err := OpenStats(t.Context(), path, storage.FetchOptions{})
	formattest.Must(t, err)
	defer s.Close()
	r, err := s.SectionReader("g")
	formattest.Must(t, err)
	if got, err := io.ReadAll(r); err != nil || string(got) != "numbers" {
		t.Errorf("section g has %q, %v, want numbers", got, err)
	}
	wantDataError(t, second(s.SectionReader("absent")), "no section")
	wantDataError(t, second(OpenStats(t.Context(), path+"x", storage.FetchOptions{})), "no such file")
	wantDataError(t, second(OpenStats(t.Context(), filepath.Dir(path), storage.FetchOptions{})), "")

	// The file changes under an open reader: the section fails before its end.
	file, _ := os.ReadFile(path)
	at := bytes.Index(file, []byte("numbers"))
	if f, err := os.OpenFile(path, os.O_WRONLY, 0); err != nil || at < 0 {
		t.Fatalf("opening the file to damage the bytes at %d: %v", at, err)
	} else if _, err = f.WriteAt([]byte("N"), int64(at)); err != nil {
		t.Fatalf("damaging the section: %v", err)
	} else {
		f.Close()
	}
	r, _ = s.SectionReader("g")
	_, err = io.ReadAll(r)
	wantDataError(t, err, "checksum")

	if err := WriteStats(t.Context(), path, testStatsHeader(), Section{"g", failing{}}); !errors.Is(err, errInjected) {
		t.Errorf("a failing section gives %v", err)
	}
	if e, _ := os.ReadDir(filepath.Dir(path)); len(e) != 1 {
		t.Errorf("left behind: %v", e)
	}
}

func second[T any](_ T, err error) error { return err }

var errInjected = errors.New("injected")

type failing struct{}

func (failing) WriteTo(io.Writer) (int64, error) { return 0, errInjected }

func wantDataError(t *testing.T, err error, words string) {
	t.Helper()
	var d *stream.DataError
	if !errors.As(err, &d) || d.Path == "" || d.Remedy.Format == "" || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want a DataError with %q", err, words)
	}
}

// Every truncation, every flipped byte and anything appended is noticed at open.
func TestStatsDamage(t *testing.T) {
	file := statsBytes(t, testStatsHeader(), Section{"g", pieces{[]byte("some numbers"), 5}}, Section{"h", pieces{make([]byte, 300), 99}})
	readBack := func(b []byte) error {
		_, err := readStats(t.Context(), "test", bytes.NewReader(b), int64(len(b)), 0)
		if err != nil {
			err = errStats("test", err)
		}
		return err
	}
	for n := range file {
		wantDataError(t, readBack(file[:n]), "")
	}
	for i := range file {
		for _, flip := range []byte{1, 0x80, 0xFF} {
			bad := bytes.Clone(file)
			bad[i] ^= flip
			wantDataError(t, readBack(bad), "")
		}
	}
	wantDataError(t, readBack(append(bytes.Clone(file), 0)), "follow the end")
	newer := bytes.Clone(file)
	newer[len(statsMagic)]++
	wantDataError(t, readBack(newer), "update ufs-stream")
	wantDataError(t, readBack([]byte("PAR1 and so on")), "not a statistics file")
}

func TestStatsSectionNames(t *testing.T) {
	for _, names := range [][]string{{""}, {strings.Repeat("n", 256)}, {"a", "a"}} {
		var s []Section
		for _, n := range names {
			s = append(s, Section{n, pieces{}})
		}
		if err := WriteStatsTo(io.Discard, StatsHeader{}, s...); err == nil {
			t.Errorf("%q accepted", names)
		}
	}
}

type zeros int64

func (z zeros) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, io.LimitReader(zeroReader{}, int64(z)))
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A section many times as large as the memory used passes through both ways.
func TestStatsStreams(t *testing.T) {
	const size, limit = 256 << 20, 48 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	file := statsBytes(t, StatsHeader{}, Section{"z", zeros(size)})
	s, err := readStats(t.Context(), "test", bytes.NewReader(file), int64(len(file)), 0)
	formattest.Must(t, err)
	r, err := s.SectionReader("z")
	formattest.Must(t, err)
	if n, err := io.Copy(io.Discard, r); n != size || err != nil {
		t.Fatalf("reading the section: %d bytes, %v, want %d", n, err, int64(size))
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > limit {
		t.Errorf("%d bytes allocated in all, want at most %d", got, limit)
	}
}

func FuzzStats(f *testing.F) {
	for _, body := range []int{0, 10, 5000} {
		file := statsBytes(f, testStatsHeader(), Section{"g", pieces{make([]byte, body), 7}})
		f.Add(file[:len(file)-8])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		// With the right checksum at its end, so that the fuzzer gets past it.
		file := binary.LittleEndian.AppendUint64(bytes.Clone(body), xxhash.Sum64(body))
		for _, b := range [][]byte{body, file} {
			_, _, err := readAllStats(b)
			var d *stream.DataError
			if err != nil && !errors.As(err, &d) {
				t.Fatalf("reading damaged statistics: %T %v, want a DataError", err, err)
			}
		}
	})
}
