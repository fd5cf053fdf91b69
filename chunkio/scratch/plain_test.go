package scratch

import (
	"errors"
	"syscall"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestPlain: a file of bytes is read as it was written, counts until it is closed, and has a remedy for a full disk.
func TestPlain(t *testing.T) {
	s := New(Options{Dir: t.TempDir(), Limit: 100})
	p := must.Get(s.Plain(60))(t)
	must.Get(p.WriteAt([]byte("tail"), 56))(t)
	must.Get(p.WriteAt([]byte("head"), 0))(t)
	tail := make([]byte, 4)
	if must.Get(p.ReadAt(tail, 56))(t); string(tail) != "tail" {
		t.Errorf("read %q", tail)
	}
	var memory *stream.MemoryError
	if _, err := s.Plain(41); !errors.As(err, &memory) || memory.Need != 101 {
		t.Errorf("beyond the bound: %v", err)
	}
	if must.Do(t, p.Close()); s.used != 0 || s.Most() != 60 {
		t.Errorf("%d bytes are left, %d at most", s.used, s.Most())
	}

	s.makeDisk = func(string, int64) (disk, error) { return &faultyDisk{data: make([]byte, 60)}, nil }
	var out *stream.OutputError
	if _, err := must.Get(s.Plain(60))(t).WriteAt(tail, 0); !errors.As(err, &out) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
}
