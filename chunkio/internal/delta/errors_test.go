package delta

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// wantData demands a *stream.DataError at a file of the table, or at the table itself if file is "", whose text has
// all the words, and that has a remedy.
func wantData(t *testing.T, what string, err error, file string, words ...string) {
	t.Helper()
	e, ok := errors.AsType[*stream.DataError](err)
	if !ok {
		t.Errorf("%s: %v, not a DataError", what, err)
		return
	}
	want := "shop/orders"
	if file != "" {
		want += "/" + file
	}
	if e.Path != want {
		t.Errorf("%s: at %s, want %s", what, e.Path, want)
	}
	for _, w := range words {
		if !strings.Contains(e.Error(), w) {
			t.Errorf("%s: %v\ndoes not say %q", what, e, w)
		}
	}
	if e.Remedy.Format == "" {
		t.Errorf("%s: %v\nhas no remedy", what, e)
	}
}

// Damage to a commit is named with its file and line.
func TestDamagedLines(t *testing.T) {
	for _, line := range []struct{ text, says string }{
		{"", "line 3 is empty"},
		{"   ", "line 3 is empty"},
		{`{"add":{"path":"x","size":1`, "line 3 is no action"},
		{`{"add":{"path":"x","size":1}} {}`, "line 3 is no action"},
		{`[]`, "line 3 is no action"},
		{`{"commitInfo":{"a":}`, "line 3 is no valid JSON"},
		{"{\"add\":{\"path\":\"\xff\",\"size\":1}}", "UTF-8"},
		{`{"add":{"path":"x","size":"1"}}`, "line 3 is no action"},
		{`{"add":{"path":"x","size":-1}}`, "line 3 adds the file"},
		{`{"add":{"size":1}}`, "line 3 adds a file without its path"},
		{`{"add":{"path":"x"}}`, "line 3 adds a file without its path or size"},
		{`{"add":{"path":"","size":1}}`, "without a path"},
		{`{"add":{"path":"a%2","size":1}}`, "URL-encoding"},
		{`{"add":{"path":"a%00b","size":1}}`, "no file can be called"},
		{`{"add":{"path":"b/%2e%2e/../c","size":1}}`, "outside the table"},
		{`{"remove":{}}`, "line 3 removes a file without its path"},
		{addLine("there") + "\n" + removeLine("there"), "line 4 adds or removes the file \"there\""},
		{removeLine("there") + "\n" + addLine("there"), "line 4 adds or removes the file \"there\""},
		{addLine("there") + "\n" + `{"add":{"path":"there","size":2}}`, "adds otherwise"},
	} {
		m := newFolder()
		m.commit(0, protocolLine, metaLine, line.text, addLine("y"))
		_, err := read(t, m, -1)
		wantData(t, line.text, err, commitFileName(0), line.says, "restore the file")
	}
}

// A commit of no bytes was left by a writer that died; it is no empty version.
func TestEmptyCommit(t *testing.T) {
	m := newFolder()
	m.commit(0, protocolLine, metaLine)
	m.files[commitFileName(1)] = nil
	_, err := read(t, m, -1)
	wantData(t, "empty", err, commitFileName(1), "is empty (0 bytes)")
}

// If the log cannot make the version, the error names the missing file and the versions that can be read.
func TestGaps(t *testing.T) {
	h := newHistory(9, 10)
	const checkpoint = logFolder + "%020d.checkpoint.parquet"
	for _, c := range []struct {
		name    string
		missing int64 // commits
		from    int   // first commit
		version int64
		base    int // checkpoint, or -1
		says    []string
	}{
		{"no start", 0, 1, -1, -1, []string{"begins with version 1", "restore the log"}},
		{"gap", 4, 0, -1, -1, []string{"version 9 cannot be determined", "one from 0 to 3"}},
		{"gap behind a checkpoint", 4, 0, 7, 2, []string{"version 7 cannot be determined", "one from 2 to 3"}},
		{"gap before a checkpoint", 4, 0, 5, 7, []string{"version 5 cannot be determined", "one from 0 to 3 or one from 7 on"}},
	} {
		m := newFolder()
		h.write(m, c.from, h.rng)
		if c.base >= 0 {
			h.checkpoint(t, m, c.base, shapeClassic)
		}
		delete(m.files, commitFileName(c.missing))
		_, err := read(t, m, c.version)
		wantData(t, c.name, err, commitFileName(c.missing), c.says...)
		if c.base == 7 { // the gap does no harm from there on
			got, err := read(t, m, -1)
			same(t, c.name, got, err, h.want(9))
		}
	}
	_, err := read(t, newFolder(), -1)
	wantData(t, "nothing", err, logFolder, "neither a commit nor a complete checkpoint")

	m := newFolder()
	h.write(m, 4, h.rng)
	h.checkpoint(t, m, 3, shapeClassic)
	for _, version := range []int64{0, 2, 10, 1 << 60} {
		_, err := read(t, m, version)
		if e, ok := errors.AsType[*stream.UsageError](err); !ok || !strings.Contains(e.Error(), "from version 3 to 9") {
			t.Errorf("version %d: %v", version, err)
		}
	}

	// A file that goes between listing and reading.
	_, err = Read(t.Context(), vanishing{m, fmt.Sprintf(checkpoint, 3)}, "shop/orders", Options{})
	wantData(t, "gone", err, fmt.Sprintf(checkpoint, 3), "is missing", "read the table again")
	_, err = Read(t.Context(), vanishing{m, commitFileName(5)}, "shop/orders", Options{})
	wantData(t, "gone", err, commitFileName(5), "is missing", "read the table again")
}

// A commit that is cut off between two lines is not taken for a whole one, read in one go
// or in parts.
func TestShortRead(t *testing.T) {
	long := manyFiles(40_000, 3)
	short := newFolder()
	short.commit(0, protocolLine, metaLine, addLine("x"))
	for _, m := range []*memoryFolder{long, short} {
		whole := m.files[commitFileName(0)]
		_, err := Read(t.Context(), cutting{m, bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1}, "shop/orders", Options{})
		wantData(t, "cut", err, commitFileName(0), fmt.Sprintf("where the log says %d: it is cut off", len(whole)))
	}
}

// cutting lists files whole, and reads only the start of them.
type cutting struct {
	*memoryFolder
	size int
}

func (c cutting) ReadFile(_ context.Context, name string, _ int64) ([]byte, error) {
	return c.files[name][:c.size], nil
}

func (c cutting) Open(_ context.Context, name string) (format.Input, error) {
	return formattest.NewMemory(c.files[name][:c.size]), nil
}

// vanishing lists a file that is not there.
type vanishing struct {
	*memoryFolder
	name string
}

func (v vanishing) ReadFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	if name == v.name {
		name = "gone"
	}
	return v.memoryFolder.ReadFile(ctx, name, limit)
}

func (v vanishing) Open(ctx context.Context, name string) (format.Input, error) {
	if name == v.name {
		name = "gone"
	}
	return v.memoryFolder.Open(ctx, name)
}

// A damaged checkpoint is no reason to answer silently from an older one; if the log is complete without it, the
// remedy mentions that.
func TestDamagedCheckpoints(t *testing.T) {
	h := newHistory(10, 6)
	name := fmt.Sprintf(logFolder+"%020d.checkpoint.parquet", 4)
	uuid := fmt.Sprintf(logFolder+"%020d.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json", 4)
	side := sidecarFolder + "side 4-1.parquet"
	for _, from := range []int{0, 5} {
		remedy := "move the checkpoint of version 4 away"
		if from > 0 {
			remedy = "restore the checkpoint"
		}
		spoil := func(what string, shape int, file string, change func(b []byte) []byte, says string) {
			m := newFolder()
			h.write(m, from, h.rng)
			h.checkpoint(t, m, 4, shape)
			if b := change(m.files[file]); b != nil {
				m.files[file] = b
			} else {
				delete(m.files, file)
			}
			_, err := read(t, m, -1)
			wantData(t, what, err, file, says, remedy)
		}
		half := func(b []byte) []byte { return b[:len(b)/2] }
		spoil("cut off", shapeClassic, name, half, "PAR1")
		spoil("cut off sidecar", shapeJSONSidecars, side, half, "bytes where the log says")
		spoil("no sidecar", shapeUUIDSidecars, side, func([]byte) []byte { return nil }, "is missing")
		spoil("cut off JSON", shapeJSONSidecars, uuid, half, "line")
		spoil("of another version", shapeJSONSidecars, uuid, func(b []byte) []byte {
			return []byte(strings.ReplaceAll(string(b), `{"version":4}`, `{"version":3}`))
		}, "line 1 claims to be the checkpoint of version 3")
		spoil("other columns", shapeClassic, name, func([]byte) []byte {
			return writeRows(t, checkpointFields(false)[1:2], []row{{"add": row{"path": "x"}}}, 9)
		}, "without its path or size")
		spoil("of more rows than actions", shapeClassic, name, func([]byte) []byte {
			return writeRows(t, checkpointFields(false)[1:2], make([]row, 1<<19), 1<<19)
		}, "claims 524288 actions in a file of")
		spoil("a row twice", shapeClassic, name, func([]byte) []byte {
			return writeRows(t, checkpointFields(false), []row{{"add": row{"path": "x", "size": 1}}, {"add": row{"path": "x", "size": 2}}}, 9)
		}, "row 1: adds the file")
	}
}

// Faults of the folder come up as they are, with the file; a context that ends is no
// fault of the data.
func TestFaults(t *testing.T) {
	h := newHistory(11, 6)
	m := newFolder()
	h.write(m, 0, h.rng)
	h.checkpoint(t, m, 3, shapeUUIDSidecars)
	for n := 1; ; n++ {
		f := &failing{memoryFolder: m}
		f.left.Store(int64(n))
		_, err := Read(t.Context(), f, "shop/orders", Options{})
		if f.left.Load() > 0 {
			if err != nil {
				t.Fatalf("reading without a failing call: %v", err)
			}
			if n < 6 {
				t.Fatalf("only %d reads", n)
			}
			break
		}
		e, ok := errors.AsType[*stream.DataError](err)
		if !ok || !errors.Is(err, io.ErrClosedPipe) || strings.Contains(e.Error(), "checkpoint of version") || !strings.HasPrefix(e.Path, "shop/orders/_delta_log/") {
			t.Errorf("fault at %d came up as %v", n, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	big := newFolder()
	lines := []string{protocolLine, metaLine}
	for i := range 2000 {
		lines = append(lines, addLine(fmt.Sprint(i)))
	}
	big.commit(0, lines...)
	if _, err := Read(ctx, big, "shop/orders", Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// failing fails at one of its calls.
type failing struct {
	*memoryFolder
	left atomic.Int64
}

func (f *failing) fails() bool { return f.left.Add(-1) == 0 }

func (f *failing) List(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	if f.fails() {
		return func(yield func(Entry, error) bool) { yield(Entry{}, io.ErrClosedPipe) }
	}
	return f.memoryFolder.List(ctx, prefix)
}

func (f *failing) ReadFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	if f.fails() {
		return nil, io.ErrClosedPipe
	}
	return f.memoryFolder.ReadFile(ctx, name, limit)
}

func (f *failing) Open(ctx context.Context, name string) (format.Input, error) {
	if f.fails() {
		return nil, io.ErrClosedPipe
	}
	in, err := f.memoryFolder.Open(ctx, name)
	return failingInput{in, f}, err
}

type failingInput struct {
	format.Input
	from *failing
}

func (f failingInput) ReadAt(b []byte, at int64) (int, error) {
	if f.from.fails() {
		return 0, io.ErrClosedPipe
	}
	return f.Input.ReadAt(b, at)
}
