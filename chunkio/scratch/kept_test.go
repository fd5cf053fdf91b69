package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The records named by a checkpoint stay intact under all later writes, wherever these end: a settled state is
// followed by some passes and some records of another, and a new process finds the state.
func TestKeptStaysAsItWasSettled(t *testing.T) {
	const record, total, count = 24, 4*24 + 5, 5
	dir := t.TempDir()
	folder, err := os.OpenRoot(dir)
	formattest.Must(t, err)
	defer folder.Close()
	for settled := range 3 {
		for writes := range 2*count + 1 {
			s := New(Options{Dir: dir})
			f, err := s.Keep(folder, "kept", "test", total, record, nil)
			formattest.Must(t, err)
			formattest.Must(t, goThrough(f, stream.ScratchWrite, count, numbered))
			var state State
			for range settled + 1 {
				formattest.Must(t, goThrough(f, stream.ScratchModify, count, func(i int, rec []byte) { rec[0] += byte(i) }))
				state, err = f.State()
				formattest.Must(t, err)
				f.Settle()
			}
			for left := writes; left > 0; left -= count {
				formattest.Must(t, goThrough(f, stream.ScratchModify, min(left, count), func(_ int, rec []byte) { rec[1]++ }))
			}
			read := 0
			formattest.Must(t, goThrough(f, stream.ScratchRead, count, func(i int, rec []byte) {
				want := make([]byte, len(rec))
				numbered(i, want)
				want[0] += byte(i * (settled + 1))
				want[1] += byte((writes + count - 1 - i) / count)
				if read++; !slices.Equal(rec, want) {
					t.Errorf("%d settled, %d records written: record %d is %v, want %v", settled, writes, i, rec, want)
				}
			}))
			formattest.Must(t, s.Close())
			s = New(Options{Dir: dir})
			f, err = s.Keep(folder, "kept", "test", total, record, &state)
			formattest.Must(t, err)
			formattest.Must(t, goThrough(f, stream.ScratchRead, count, func(i int, rec []byte) {
				want := make([]byte, len(rec))
				numbered(i, want)
				want[0] += byte(i * (settled + 1))
				if read++; !slices.Equal(rec, want) {
					t.Errorf("%d settled, %d records written: record %d was %v, want %v", settled, writes, i, rec, want)
				}
			}))
			formattest.Must(t, s.Close())
			if read != 2*count {
				t.Fatalf("%d records were read", read)
			}
		}
	}
}

// The second places of a file count from the first write to them on, as the first ones do, and
// the bound on scratch holds for them.
func TestKeptIsCounted(t *testing.T) {
	const record, total = 100, 1000
	dir := t.TempDir()
	folder, err := os.OpenRoot(dir)
	formattest.Must(t, err)
	defer folder.Close()
	s := New(Options{Dir: dir, Limit: 2*total - 1})
	f, err := s.Keep(folder, "kept", "test", total, record, nil)
	formattest.Must(t, err)
	again := func() error { return goThrough(f, stream.ScratchModify, 10, func(int, []byte) {}) }
	formattest.Must(t, goThrough(f, stream.ScratchWrite, 10, numbered))
	formattest.Must(t, again())
	state, err := f.State()
	formattest.Must(t, err)
	if f.Settle(); s.Most() != total {
		t.Errorf("%d bytes before anything is kept", s.Most())
	}
	var limit *stream.MemoryError
	if err := again(); !errors.As(err, &limit) || limit.Option != stream.ScratchSize || limit.Need != 2*total {
		t.Fatalf("got %v", err)
	}
	formattest.Must(t, f.Close())

	s = New(Options{Dir: dir, Limit: 2 * total})
	f, err = s.Keep(folder, "kept", "test", total, record, &state)
	formattest.Must(t, err)
	formattest.Must(t, again())
	formattest.Must(t, again())
	if s.Most() != 2*total {
		t.Errorf("%d bytes, want %d", s.Most(), 2*total)
	}
	formattest.Must(t, s.Close())
	if s.used != 0 {
		t.Errorf("%d bytes are still counted", s.used)
	}
}

// A kept file that does not match the state is an error with its path and the remedy.
func TestKeptDamaged(t *testing.T) {
	const record, total, count = 16, 64, 4
	dir := t.TempDir()
	folder, err := os.OpenRoot(dir)
	formattest.Must(t, err)
	defer folder.Close()
	path := filepath.Join(dir, "kept")
	s := New(Options{Dir: dir})
	f, err := s.Keep(folder, "kept", "test", total, record, nil)
	formattest.Must(t, err)
	formattest.Must(t, goThrough(f, stream.ScratchWrite, count, numbered))
	state, err := f.State()
	formattest.Must(t, err)
	formattest.Must(t, s.Close())
	whole, err := os.ReadFile(path)
	formattest.Must(t, err)
	read := func(state State) error {
		s := New(Options{Dir: dir})
		f, err := s.Keep(folder, "kept", "test", total, record, &state)
		if err == nil {
			err = goThrough(f, stream.ScratchRead, count, func(int, []byte) {})
		}
		return errors.Join(err, s.Close())
	}
	formattest.Must(t, read(state))
	damaged := func(what string, err error) {
		t.Helper()
		var data *stream.DataError
		if !errors.As(err, &data) || data.Path != path || !strings.Contains(err.Error(), "remove this file") {
			t.Errorf("%s: error %v, want a data error for %s with the remedy to remove it", what, err, path)
		}
	}
	for at := range whole {
		flipped := slices.Clone(whole)
		flipped[at] ^= 4
		formattest.Must(t, os.WriteFile(path, flipped, 0o600))
		damaged("a flipped bit", read(state))
		formattest.Must(t, os.WriteFile(path, whole[:at], 0o600))
		damaged("cut short", read(state))
	}
	formattest.Must(t, os.WriteFile(path, whole, 0o600))
	damaged("a place that is none", read(State{Places: []byte{0, 0, 3, 0}, Sums: state.Sums}))
	damaged("a second place that is not there", read(State{Places: []byte{0, 0, 1, 0}, Sums: state.Sums}))
	damaged("fewer records", read(State{Places: state.Places[1:], Sums: state.Sums[1:]}))
}
