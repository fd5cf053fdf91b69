package scratch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/testing/faults"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options choose the folder of the files and limit their total size.
type Options struct {
	Dir   string // "" means the system's temporary folder
	Limit int64  // largest total size of the files in bytes; 0 means no limit
	// Ledger counts the files of all Spaces that share Limit. If it is nil, Limit applies to one Space alone.
	Ledger *Ledger
	There  int64 // bytes of existing files in Dir that Keep will open again; they need no further room
	// Remedy is the advice in the error for a full disk. If empty, it is to free space or to choose another folder.
	Remedy stream.Text
}

// Ledger counts the bytes of all files that share one limit.
type Ledger struct {
	mu   sync.Mutex
	used int64
}

// addBytes adds a number of bytes, which may be negative, and returns the new total.
func (l *Ledger) addBytes(bytes int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used += bytes
	return l.used
}

// Space is a [stream.Scratch] of files. If the system allows it, a file has no name once it is open, so no file is left
// over, however a run ends. Its methods may be called from several goroutines.
type Space struct {
	opt      Options
	makeDisk func(dir string, total int64) (disk, error) // replaced in tests
	faults   *faults.Disk                                // failures that a test demands; nil otherwise

	mu            sync.Mutex
	used, maxUsed int64
	files         map[*file]struct{}
}

// disk is an open file of a fixed size.
type disk interface {
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	Close() error
}

// New returns a Space without files. The caller must close it.
func New(opt Options) *Space {
	opt.Dir = cmp.Or(opt.Dir, os.TempDir())
	opt.Ledger = cmp.Or(opt.Ledger, new(Ledger))
	return &Space{opt: opt, makeDisk: openTemporaryFile, files: make(map[*file]struct{})}
}

// Under makes s fail as a test demands by a value in its context: see package faults.
func (s *Space) Under(ctx context.Context) *Space {
	s.faults = faults.DiskOf(ctx)
	return s
}

// Buffers returns the number of buffers, each for one record, that a pass over a file uses. The file keeps them in
// memory for its next pass.
func Buffers(mode stream.ScratchMode) int {
	if mode == stream.ScratchModify {
		return 3 // read ahead, in use, being written
	}
	return 2
}

// Reserve implements stream.Scratch: it returns an error if there is no room for files of total bytes.
func (s *Space) Reserve(total int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checkRoom(total)
}

// Dir returns the folder of the files.
func (s *Space) Dir() string { return s.opt.Dir }

func (s *Space) checkRoom(more int64) error {
	if err := s.checkLimit("scratch", more); err != nil {
		return err
	}
	if free, ok := freeSpace(s.opt.Dir); ok && more-s.opt.There > free {
		return s.Full(fmt.Errorf("%d MiB are needed and %d MiB free: %w", more>>20, free>>20, syscall.ENOSPC))
	}
	return nil
}

func (s *Space) checkLimit(purpose string, more int64) error {
	if need := s.opt.Ledger.addBytes(0) + more; s.opt.Limit > 0 && need > s.opt.Limit {
		return &stream.MemoryError{What: purpose, Need: need, Limit: s.opt.Limit, Option: stream.ScratchSize}
	}
	return nil
}

// Grow adds bytes, as many as the parameter more, to the counted size of a file that this Space did not make. It
// returns an error if the limit does not allow them. purpose describes the file in this error. Shrink subtracts the
// bytes again.
func (s *Space) Grow(purpose string, more int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkLimit(purpose, more); err != nil {
		return err
	}
	s.countBytes(more)
	return nil
}

// Shrink subtracts bytes that Grow has counted.
func (s *Space) Shrink(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.countBytes(-bytes)
}

// Full returns the error for a file that cannot be made or written, with a remedy.
func (s *Space) Full(err error) error {
	remedy := atomicfile.RemedyFor(err)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		if remedy = s.opt.Remedy; remedy.Format == "" {
			remedy = stream.Textf("free some space, or choose another {temp-dir}")
		}
	}
	return &stream.OutputError{Path: "scratch files in " + s.opt.Dir, Err: err, Remedy: remedy}
}

// Make implements stream.Scratch. The space is reserved in the file system at once, if the system can.
func (s *Space) Make(name string, total int64, record int) (stream.ScratchFile, error) {
	f, err := s.newFile(name, total, record)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (s *Space) newFile(name string, total int64, record int) (*file, error) {
	if total < 1 || record < 1 {
		panic(fmt.Sprintf("scratch: a file of %d bytes in records of %d", total, record))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkRoom(total); err != nil {
		return nil, err
	}
	err := s.faults.CheckChange(s.opt.Dir, "make")
	var d disk
	if err == nil {
		d, err = s.makeDisk(s.opt.Dir, total)
	}
	if err != nil {
		return nil, s.Full(err)
	}
	return s.addFile(name, d, total, record), nil
}

func (s *Space) addFile(name string, d disk, total int64, record int) *file {
	count := (total + int64(record) - 1) / int64(record)
	f := &file{space: s, name: name, disk: d, total: total, diskBytes: total, recordBytes: record, count: int(count), checksums: make([]uint64, count)}
	s.files[f] = struct{}{}
	s.countBytes(total)
	return f
}

// countBytes adds a number of bytes, which may be negative, to the bytes in use.
func (s *Space) countBytes(more int64) {
	s.opt.Ledger.addBytes(more)
	s.used += more
	s.maxUsed = max(s.maxUsed, s.used)
}

// Most returns the largest total size of the files so far.
func (s *Space) Most() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.maxUsed
}

// Close closes the files that are still open.
func (s *Space) Close() error {
	s.mu.Lock()
	files := s.files
	s.files = make(map[*file]struct{})
	s.mu.Unlock()
	var errs []error
	for f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

func openTemporaryFile(dir string, total int64) (disk, error) {
	d, err := atomicfile.NewSpool(dir, "ufs-scratch")
	if err != nil {
		if out, ok := errors.AsType[*stream.OutputError](err); ok {
			err = out.Err // the scratch has its own path and remedy
		}
		return nil, err
	}
	if err := allocateFile(d.File, total); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}
