package scratch

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"syscall"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// exactly writes itself in pieces, and reads as many bytes as it was made of.
type exactly []byte

func (e exactly) WriteTo(w io.Writer) (total int64, err error) {
	for piece := range slices.Chunk(e, 1000) {
		n, err := w.Write(piece)
		if total += int64(n); err != nil {
			return total, err
		}
	}
	return total, nil
}

func (e exactly) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.ReadFull(r, e)
	return int64(n), err
}

// failing is a state that cannot be written.
type failing struct{ error }

func (f failing) WriteTo(io.Writer) (int64, error) { return 0, f.error }

// TestStored: states of any lengths come back unchanged, as often as they are loaded, and leave nothing on disk; too
// few or too many bytes are noticed.
func TestStored(t *testing.T) {
	const r = storedRecord
	s := New(Options{Dir: t.TempDir()})
	defer s.Close()
	for _, lengths := range [][]int{{0}, {1}, {r - 1, 1}, {r, 0, 1}, {r + 1}, {5, 2*r - 5, 3*r + 7}} {
		var from []io.WriterTo
		var want [][]byte
		for i, n := range lengths {
			b := bytes.Repeat([]byte{byte(i + 1), 7, 9}, n/3+1)[:n]
			want, from = append(want, b), append(from, exactly(b))
		}
		stored := must.Get(s.Store("test", from...))(t)
		for range 2 {
			if kept := len(stored.file.idle); kept != 0 {
				t.Errorf("%v: %d buffers are kept while the states wait", lengths, kept)
			}
			var to []io.ReaderFrom
			var got []exactly
			for _, n := range lengths {
				got = append(got, make(exactly, n))
				to = append(to, got[len(got)-1])
			}
			must.Do(t, stored.Load(to...))
			for i := range got {
				if !bytes.Equal(got[i], want[i]) {
					t.Errorf("%v: state %d is another one", lengths, i)
				}
			}
		}
		total := 0
		for _, n := range lengths {
			total += n
		}
		if total > 0 && stored.Load(make(exactly, total-1)) == nil {
			t.Errorf("%v: a byte was left", lengths)
		}
		if err := stored.Load(make(exactly, total+1)); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%v: a byte more: %v", lengths, err)
		}
		must.Do(t, stored.Close())
	}
	if s.used != 0 || len(s.files) != 0 {
		t.Errorf("%d bytes in %d files are left", s.used, len(s.files))
	}
}

// TestStoredFaults: a full disk, a bound and a damaged record each have their own error, and a state that cannot be
// written gives its space back.
func TestStoredFaults(t *testing.T) {
	state := make(exactly, 3*storedRecord)
	full := New(Options{Dir: "DIR", Remedy: stream.PlainText("buy a disk")})
	d := &faultyDisk{data: make([]byte, 3*storedRecord), writes: 1}
	full.makeDisk = func(string, int64) (disk, error) { return d, nil }
	_, err := full.Store("test", state)
	var out *stream.OutputError
	if !errors.As(err, &out) || !errors.Is(err, syscall.ENOSPC) || out.Remedy.String() != "buy a disk" || full.used != 0 || d.closed != 1 {
		t.Errorf("%v; %d bytes kept, closed %d times", err, full.used, d.closed)
	}
	bounded := New(Options{Dir: t.TempDir(), Limit: 3*storedRecord - 1})
	var memory *stream.MemoryError
	if _, err := bounded.Store("test", state); !errors.As(err, &memory) || memory.Option != stream.ScratchSize || memory.Need != 3*storedRecord {
		t.Errorf("beyond the bound: %v", err)
	}
	d.writes = -1
	stored := must.Get(full.Store("test", state))(t)
	d.data[2*storedRecord]++
	if err := stored.Load(make(exactly, 3*storedRecord)); !errors.Is(err, errDamaged) {
		t.Errorf("damaged: %v", err)
	}
	injected := failing{errors.New("injected")}
	if _, err := full.Store("test", injected); !errors.Is(err, injected.error) {
		t.Errorf("a failing state: %v", err)
	}
}
