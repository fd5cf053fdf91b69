package ipc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/stream"
)

// smallRecords are two batches with something of every kind.
func smallRecords() []arrow.Record {
	p := arrow.PrimitiveTypes
	types := []arrow.DataType{
		p.Float64, arrow.FixedWidthTypes.Boolean, arrow.ListOf(p.Float32), arrow.FixedSizeListOf(testListWidth, p.Int16),
		&arrow.DictionaryType{IndexType: p.Uint8, ValueType: p.Int64}, arrow.RunEndEncodedOf(p.Int32, p.Float32),
		&arrow.Decimal128Type{Precision: 10, Scale: 2}, arrow.BinaryTypes.String,
		arrow.StructOf(arrow.Field{Name: "x", Type: p.Uint8, Nullable: true}),
	}
	rec := randomRecord(rand.New(rand.NewPCG(7, 8)), 0.2, 6, types...)
	return []arrow.Record{rec, rec}
}

// decodeAll decodes all of a batch that can be decoded.
func decodeAll(leaves []format.Leaf, _ int, g format.Group, rows int64) error {
	ctx := context.Background()
	rows = min(rows, 1<<12) // the dataset reads by blocks
	for i, l := range leaves {
		if l.Width > 0 && l.Width < 1<<10 {
			if _, err := decodeRows(g, l, i, 0, rows); err != nil {
				return err
			}
		}
		if l.NoClass == "" {
			if err := g.DecodeTexts(ctx, i, 0, rows, func([]int32, *text.List) error { return nil }); err != nil {
				return err
			}
		}
		if l.List {
			if err := g.DecodeLists(ctx, i, 0, rows, new(format.Lists)); err != nil {
				return err
			}
		}
	}
	return nil
}

// readEverything decodes all that can be decoded, within memory bytes.
func readEverything(b []byte, isStream bool, memory int64) error {
	return eachGroup(formattest.NewMemory(b), isStream, memory, decodeAll)
}

// wantClear fails unless err is one of the errors that name the place.
func wantClear(t testing.TB, err error) {
	t.Helper()
	var d *stream.DataError
	var m *stream.MemoryError
	if !errors.As(err, &m) && (!errors.As(err, &d) || d.Path == "") {
		t.Fatalf("got %T: %v", err, err)
	}
	if strings.Contains(err.Error(), "runtime error") {
		t.Fatalf("Go's runtime speaks: %v", err)
	}
}

func TestTruncated(t *testing.T) {
	for name, opts := range compressions {
		for _, isStream := range []bool{false, true} {
			b := formattest.WriteArrow(t, isStream, smallRecords(), opts...)
			if err := readEverything(b, isStream, 1<<20); err != nil {
				t.Fatalf("%s: reading the undamaged input: %v", name, err)
			}
			step := 1
			if opts != nil { // what differs is in the bodies
				step = 7
			}
			for n := 0; n < len(b); n += step {
				err := readEverything(b[:n], isStream, 1<<20)
				if err == nil {
					t.Fatalf("%s, stream %v: the first %d of %d bytes are read as a whole", name, isStream, n, len(b))
				}
				wantClear(t, err)
				if isStream && n > 0 && !strings.Contains(err.Error(), "producer killed") {
					t.Fatalf("%d bytes: %v", n, err)
				}
			}
		}
	}
}

// A flipped byte may change values (IPC has no checksums), but never panics, hangs or
// allocates beyond the limit.
func TestFlipped(t *testing.T) {
	const limit = 1 << 20
	for _, opts := range compressions {
		for _, isStream := range []bool{false, true} {
			b := formattest.WriteArrow(t, isStream, smallRecords()[:1], opts...)
			step := 1
			if opts != nil {
				step = 5
			}
			var before, after runtime.MemStats
			for i := 0; i < len(b); i += step {
				bad := bytes.Clone(b)
				bad[i] ^= []byte{0xFF, 0x40}[i%2]
				runtime.ReadMemStats(&before)
				if err := readEverything(bad, isStream, limit); err != nil {
					wantClear(t, err)
				}
				// All allocations of a reading together.
				if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 64<<20 {
					t.Fatalf("byte %d: %d bytes allocated", i, after.TotalAlloc-before.TotalAlloc)
				}
			}
		}
	}
}

// afterSchema is a stream without its first message.
func afterSchema(b []byte) []byte { return b[8+binary.LittleEndian.Uint32(b[4:]):] }

// The first batch of a stream determines its planned memory: if that batch is not compressed, no room for
// decompressing is set aside.
func TestStreamScratch(t *testing.T) {
	for _, c := range []struct {
		name string
		opts []ipc.Option
		more bool
	}{{"plain", nil, false}, {"zstd", []ipc.Option{ipc.WithZstd()}, true}} {
		s, err := NewStream(bytes.NewReader(formattest.WriteArrow(t, true, smallRecords(), c.opts...)), 1<<20, 1<<20, false)
		formattest.Must(t, err)
		for _, l := range s.Leaves() {
			if l.Width > 0 && l.Scratch > 2<<20 != c.more {
				t.Errorf("%s: column %s takes %d bytes to decode, want more than 2 MiB: %v", c.name, l.Name, l.Scratch, c.more)
			}
		}
	}
}

func TestStreamEnds(t *testing.T) {
	whole := formattest.WriteArrow(t, true, smallRecords())
	cut := whole[:len(whole)-8]
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"no marker":     {cut, "producer killed"},
		"two streams":   {append(bytes.Clone(whole), whole...), "several streams"},
		"nothing":       {nil, "producer killed"},
		"marker only":   {whole[len(whole)-8:], "no schema"},
		"a file":        {formattest.WriteArrow(t, false, smallRecords()), "give it by its path"},
		"parquet":       {[]byte("PAR1...."), "give it by its path"},
		"legacy marker": {append(bytes.Clone(cut), 0, 0, 0, 0), ""},
		"whole":         {whole, ""},
		"other codec":   {append(bytes.Clone(cut), afterSchema(formattest.WriteArrow(t, true, smallRecords(), ipc.WithZstd()))...), "another way"},
	} {
		err := readEverything(c.b, true, 1<<20)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: reading the stream: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

// Streams from before Arrow 0.15 have no continuation marks.
func TestLegacyFraming(t *testing.T) {
	b := formattest.WriteArrow(t, true, smallRecords())
	var legacy []byte
	for len(b) > 8 {
		n := int(binary.LittleEndian.Uint32(b[4:]))
		m, err := parseMessage(b[8 : 8+n])
		formattest.Must(t, err)
		end := 8 + n + int(m.body)
		legacy, b = append(legacy, b[4:end]...), b[end:]
	}
	if err := readEverything(append(legacy, 0, 0, 0, 0), true, 1<<20); err != nil {
		t.Errorf("reading a stream without magic words: %v", err)
	}
}

// A real pipe, slow and in small pieces.
func TestPipe(t *testing.T) {
	r, w, err := os.Pipe()
	formattest.Must(t, err)
	b := formattest.WriteArrow(t, true, smallRecords())
	go func() {
		for i := 0; i < len(b); i += 97 {
			w.Write(b[i:min(i+97, len(b))])
			if i%5 == 0 {
				time.Sleep(10 * time.Microsecond)
			}
		}
		w.Close()
	}()
	s, err := NewStream(r, 1<<20, 1<<20, false)
	formattest.Must(t, err)
	rows := int64(0)
	for {
		g, n, err := s.Next(context.Background(), nil)
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("reading the next batch: %v", err)
		}
		rows += n
		g.Close()
	}
	if rows != 12 {
		t.Errorf("%d rows", rows)
	}
	if _, _, err := s.Next(context.Background(), nil); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}

// What a message claims is checked against the limit before it is allocated.
func TestMemoryLimit(t *testing.T) {
	var m *stream.MemoryError
	b := formattest.WriteArrow(t, true, smallRecords())
	if err := readEverything(b, true, 100); !errors.As(err, &m) || m.Need <= 100 || m.Limit != 100 {
		t.Errorf("stream: %v", err)
	}
	if err := readEverything(formattest.WriteArrow(t, false, smallRecords()), false, 100); !errors.As(err, &m) || m.Need <= 100 {
		t.Errorf("file: %v", err)
	}
	claim := []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xF0, 0xFF, 0xFF, 0x0F}
	if err := readEverything(claim, true, 1<<20); !errors.As(err, &m) {
		t.Errorf("a message of 256 MiB: %v", err)
	}
}

// A length that is garbage is called damage: no limit that it asks for would do.
func TestGarbageLengths(t *testing.T) {
	b := formattest.WriteArrow(t, true, smallRecords())
	for at := 0; at+8 <= len(b); at += 4 {
		for _, length := range []uint64{1 << 47, math.MaxInt64, 0x7FFFFFF0} {
			garbled := bytes.Clone(b)
			binary.LittleEndian.PutUint64(garbled[at:], length)
			var m *stream.MemoryError
			if err := readEverything(garbled, true, 1<<20); errors.As(err, &m) && m.Need > 1<<30 {
				t.Errorf("%#x at byte %d: %v", length, at, err)
			}
		}
	}
}

// TestRowsThatNoBytesHold: arrays of no type and run-end encoded ones may take no bytes a row, and a batch of more of them
// than a real one has is refused, as a file and as a stream.
func TestRowsThatNoBytesHold(t *testing.T) {
	const rows, many = 12345, 1_000_000_000_000
	one := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "nothing", Type: arrow.Null, Nullable: true}}, nil), []arrow.Array{array.NewNull(rows)}, rows)
	ends, values := fromJSON(t, arrow.PrimitiveTypes.Int64, "[12345]").Column(0), fromJSON(t, arrow.PrimitiveTypes.Float64, "[7]").Column(0)
	run := array.NewRunEndEncodedArray(ends, values, rows, 0)
	runs := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "run", Type: run.DataType()}}, nil), []arrow.Array{run}, rows)
	for name, record := range map[string]arrow.Record{"no type": one, "a run": runs} {
		for _, isStream := range []bool{false, true} {
			b := formattest.WriteArrow(t, isStream, []arrow.Record{record})
			claim := func(n int64) []byte {
				return bytes.ReplaceAll(b, binary.LittleEndian.AppendUint64(nil, rows), binary.LittleEndian.AppendUint64(nil, uint64(n)))
			}
			var got int64
			formattest.Must(t, eachGroup(formattest.NewMemory(claim(math.MaxInt32)), isStream, 1<<20, func(_ []format.Leaf, _ int, _ format.Group, rows int64) error {
				got = rows
				return nil
			}))
			if got != math.MaxInt32 {
				t.Errorf("%s, stream %t: %d rows, want %d", name, isStream, got, math.MaxInt32)
			}
			err := eachGroup(formattest.NewMemory(claim(many)), isStream, 1<<20, func([]format.Leaf, int, format.Group, int64) error { return nil })
			if err == nil || !strings.Contains(err.Error(), "damaged metadata (1000000000000 rows in a body of") {
				t.Errorf("%s, stream %t: %d rows in %d bytes: %v, want a refusal", name, isStream, many, len(b), err)
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f, err := Open(formattest.NewMemory(formattest.WriteArrow(t, false, smallRecords())), 1<<20)
	formattest.Must(t, err)
	if _, err := f.Open(ctx, 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("opening a group after cancelling: error %v, want context.Canceled", err)
	}
	g, err := f.Open(context.Background(), 0, nil)
	formattest.Must(t, err)
	for i := range f.Leaves() {
		if err := g.Decode(ctx, i, 0, 1, make([][]float64, 3)); !errors.Is(err, context.Canceled) && f.Leaves()[i].Why == "" {
			t.Errorf("decoding leaf %d after cancelling: error %v, want context.Canceled", i, err)
		}
	}
	s, err := NewStream(bytes.NewReader(formattest.WriteArrow(t, true, smallRecords()[:1])), 1<<20, 1<<20, false)
	formattest.Must(t, err)
	s.batchesAhead = nil
	if _, _, err := s.Next(ctx, nil); err == nil {
		t.Error("a cancelled stream goes on")
	}
}

// An error of the input at any read comes out, with the place.
func TestReadErrors(t *testing.T) {
	formattest.FailEveryRead(t, formattest.WriteArrow(t, false, smallRecords(), ipc.WithZstd()), false, func(in format.Input) error {
		err := eachGroup(in, false, 1<<20, decodeAll)
		if err != nil {
			wantClear(t, err)
		}
		return err
	})
}

func fuzz(f *testing.F, isStream bool) {
	for _, opts := range compressions {
		f.Add(formattest.WriteArrow(f, isStream, smallRecords(), opts...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := readEverything(b, isStream, 1<<20); err != nil {
			wantClear(t, err)
		}
	})
}

func FuzzFile(f *testing.F)   { fuzz(f, false) }
func FuzzStream(f *testing.F) { fuzz(f, true) }

// Columns are decoded from several goroutines at once, with the same result.
func TestConcurrent(t *testing.T) {
	for _, opts := range compressions {
		f, err := Open(formattest.NewMemory(formattest.WriteArrow(t, false, smallRecords(), opts...)), 1<<20)
		formattest.Must(t, err)
		g, err := f.Open(context.Background(), 1, nil)
		formattest.Must(t, err)
		var work errgroup.Group
		for range 8 {
			work.Go(func() error {
				for i, l := range f.Leaves() {
					want, err1 := decodeRows(g, l, i, 0, 6)
					got, err2 := decodeRows(g, l, i, 2, 6)
					if l.Width > 0 && (err1 != nil || err2 != nil || math.Float64bits(want[0][2]) != math.Float64bits(got[0][0])) {
						return fmt.Errorf("%s: %w, %w", l.Name, err1, err2)
					}
				}
				return nil
			})
		}
		if err := work.Wait(); err != nil {
			t.Errorf("decoding in parallel: %v", err)
		}
	}
}
