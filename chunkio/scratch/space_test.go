package scratch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// faultyDisk is memory that can fail.
type faultyDisk struct {
	data    []byte
	writes  int // that succeed before the disk is full; -1: all
	readErr error
	closed  int
}

func (d *faultyDisk) ReadAt(p []byte, off int64) (int, error) {
	if d.readErr != nil {
		return 0, d.readErr
	}
	return copy(p, d.data[off:]), nil
}

func (d *faultyDisk) WriteAt(p []byte, off int64) (int, error) {
	if d.writes == 0 {
		return 0, syscall.ENOSPC
	}
	d.writes--
	return copy(d.data[off:], p), nil
}

func (d *faultyDisk) Close() error { d.closed++; return nil }

const faultyRecord = 16 // bytes

// onFaultyDisk makes a scratch file of count records on a disk that is full after the given number of writes.
func onFaultyDisk(t *testing.T, count, writes int) (*Space, stream.ScratchFile, *faultyDisk) {
	t.Helper()
	s := New(Options{Dir: "DIR"})
	d := &faultyDisk{data: make([]byte, count*faultyRecord), writes: writes}
	s.makeDisk = func(string, int64) (disk, error) { return d, nil }
	f, err := s.Make("test", int64(len(d.data)), faultyRecord)
	formattest.Must(t, err)
	return s, f, d
}

// goThrough goes through a file, handing every record to do.
func goThrough(f stream.ScratchFile, mode stream.ScratchMode, count int, do func(i int, rec []byte)) (err error) {
	p := f.Pass(mode)
	defer func() { err = errors.Join(err, p.Close()) }()
	for i := range count {
		rec, err := p.Next()
		if err != nil {
			return err
		}
		do(i, rec)
	}
	return nil
}

func numbered(i int, rec []byte) {
	for j := range rec {
		rec[j] = byte(i*31 + j)
	}
}

// Files and memory hold the same after the same passes, and the folder is empty all the
// while.
func TestFilesHoldWhatMemoryHolds(t *testing.T) {
	const record = 24
	for _, total := range []int64{1, record - 1, record, record + 1, 2 * record, 7*record + 5} {
		dir := t.TempDir()
		s := New(Options{Dir: dir})
		formattest.Must(t, s.Reserve(total))
		var all [2][]byte
		for kind, in := range []stream.Scratch{s, stream.InMemory{}} {
			f, err := in.Make("test", total, record)
			formattest.Must(t, err)
			count := int((total + record - 1) / record)
			var wrong bool
			for _, step := range []struct {
				mode  stream.ScratchMode
				count int
				do    func(int, []byte)
			}{
				{stream.ScratchWrite, count, numbered},
				{stream.ScratchModify, count, func(i int, rec []byte) { rec[0] += byte(i) + 1 }},
				{stream.ScratchModify, count / 2, func(i int, rec []byte) { rec[len(rec)-1]++ }}, // broken off
				{stream.ScratchRead, count / 2, func(int, []byte) {}},
				{stream.ScratchRead, count, func(_ int, rec []byte) {
					all[kind] = append(all[kind], rec...)
					wrong = wrong || len(rec) > record
				}},
			} {
				formattest.Must(t, goThrough(f, step.mode, step.count, step.do))
			}
			if entries, err := os.ReadDir(dir); wrong || err != nil || len(entries) > 0 {
				t.Errorf("records too long: %t; folder has %v, %v", wrong, entries, err)
			}
			formattest.Must(t, f.Close())
		}
		if !bytes.Equal(all[0], all[1]) || int64(len(all[0])) != total {
			t.Errorf("%d bytes: the file has\n%v\nmemory has\n%v", total, all[0], all[1])
		}
		if s.Most() != total {
			t.Errorf("most is %d, want %d", s.Most(), total)
		}
	}
}

func TestReadsSideBySide(t *testing.T) {
	s := New(Options{Dir: t.TempDir()})
	defer s.Close()
	f, err := s.Make("test", 800, 80)
	formattest.Must(t, err)
	formattest.Must(t, goThrough(f, stream.ScratchWrite, 10, func(i int, rec []byte) { binary.LittleEndian.PutUint64(rec, uint64(i)) }))
	var work errgroup.Group
	for range 4 {
		work.Go(func() error {
			return goThrough(f, stream.ScratchRead, 10, func(i int, rec []byte) {
				if got := binary.LittleEndian.Uint64(rec); got != uint64(i) {
					t.Errorf("record %d holds %d", i, got)
				}
			})
		})
	}
	formattest.Must(t, work.Wait())
}

func TestRefusesFilesWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	s := New(Options{Dir: dir, Limit: 1000})
	var memory *stream.MemoryError
	if err := s.Reserve(1001); !errors.As(err, &memory) || memory.Need != 1001 || memory.Option != stream.ScratchSize {
		t.Errorf("got %v, want the bound", err)
	}
	f, err := s.Make("first", 600, 100)
	formattest.Must(t, err)
	if _, err := s.Make("second", 401, 100); !errors.As(err, &memory) || memory.Need != 1001 {
		t.Errorf("got %v, want the bound", err)
	}
	formattest.Must(t, f.Close())
	if _, err := s.Make("second", 401, 100); err != nil { // the first has given its room back
		t.Errorf("making a second file after closing the first: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closing the space: %v", err)
	}
	free, ok := freeSpace(dir)
	if !ok {
		return // the system does not tell
	}
	s = New(Options{Dir: dir})
	// Twice the free space: other processes may free some meanwhile.
	if err := s.Reserve(2 * free); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "temp-dir") {
		t.Errorf("got %v, want no space", err)
	}
}

func TestNamesAMissingFolder(t *testing.T) {
	s := New(Options{Dir: t.TempDir() + "/none"})
	var out *stream.OutputError
	if _, err := s.Make("test", 8, 8); !errors.As(err, &out) || !strings.Contains(err.Error(), "create the folder") {
		t.Errorf("got %v", err)
	}
}

// A disk that fills up at any point of writing ends the pass with an error that reports it, at once or at the end.
func TestFullDisk(t *testing.T) {
	const count = 6
	for writes := range count {
		s, f, d := onFaultyDisk(t, count, writes)
		err := goThrough(f, stream.ScratchWrite, count, numbered)
		var out *stream.OutputError
		if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &out) || !strings.Contains(err.Error(), "temp-dir") {
			t.Errorf("full after %d writes: got %v", writes, err)
		}
		if n := strings.Count(err.Error(), "temp-dir"); n != 1 {
			t.Errorf("full after %d writes: said %d times: %v", writes, n, err)
		}
		if err := s.Close(); err != nil || d.closed != 1 {
			t.Errorf("closed %d times: %v", d.closed, err)
		}
		if err := f.Close(); err != nil || d.closed != 1 {
			t.Errorf("closed %d times: %v", d.closed, err)
		}
	}
}

func TestNoticesDamage(t *testing.T) {
	const count = 5
	for at := range count * faultyRecord {
		_, f, d := onFaultyDisk(t, count, -1)
		formattest.Must(t, goThrough(f, stream.ScratchWrite, count, numbered))
		d.data[at] ^= 4
		seen := 0
		err := goThrough(f, stream.ScratchModify, count, func(int, []byte) { seen++ })
		if !errors.Is(err, errDamaged) || seen != at/faultyRecord {
			t.Errorf("byte %d: got %v after %d records", at, err, seen)
		}
		d.readErr = errors.New("head crash")
		if err := goThrough(f, stream.ScratchRead, count, numbered); !errors.Is(err, d.readErr) {
			t.Errorf("got %v, want the disk's error", err)
		}
		if err := f.Close(); err != nil {
			t.Errorf("closing the file: %v", err)
		}
	}
}

// A disk that confirms a write without doing it is noticed: the checksum is not on it.
func TestNoticesALostWrite(t *testing.T) {
	_, f, d := onFaultyDisk(t, 2, -1)
	formattest.Must(t, goThrough(f, stream.ScratchWrite, 2, numbered))
	before := bytes.Clone(d.data)
	formattest.Must(t, goThrough(f, stream.ScratchModify, 2, func(i int, rec []byte) { rec[3]++ }))
	copy(d.data[faultyRecord:], before[faultyRecord:])
	if err := goThrough(f, stream.ScratchRead, 2, func(int, []byte) {}); !errors.Is(err, errDamaged) {
		t.Errorf("got %v", err)
	}
}
