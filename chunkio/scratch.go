package chunkio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/faults"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ScratchOptions says where scratch files go and how large they may be together.
type ScratchOptions struct {
	Dir   string // "" means the system's temporary folder
	Limit int64  // bytes in all; 0 means no bound
	There int64  // bytes of files in Dir that Keep will open again, which need no room anew
	// Remedy is what to do where the disk is full; the default is that of methods that iterate
	// over rows.
	Remedy stream.Text
}

// Scratch is a stream.Scratch of files. Records are read ahead and written behind, two or
// three of them in memory at a time ([ScratchBuffers]), and each has a checksum. Where the
// system allows it a file has no name once it is open, so nothing is left behind, however a
// run ends. Its methods may be called from several goroutines.
type Scratch struct {
	opt  ScratchOptions
	open func(dir string, total int64) (disk, error) // replaced in tests
	asks *faults.Disk                                // before a file is made, and a record read or written

	mu         sync.Mutex
	used, most int64
	files      map[*scratchFile]struct{}
}

// disk is an open file of a fixed size.
type disk interface {
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	Close() error
}

// NewScratch returns scratch without files. The caller must close it.
func NewScratch(opt ScratchOptions) *Scratch {
	if opt.Dir == "" {
		opt.Dir = os.TempDir()
	}
	return &Scratch{opt: opt, open: openDisk, files: make(map[*scratchFile]struct{})}
}

// Under has the context of a test break the disk beneath s: see package faults.
func (s *Scratch) Under(ctx context.Context) *Scratch {
	s.asks = faults.Of(ctx)
	return s
}

// ScratchBuffers is the number of records that a pass holds in memory, and a file keeps
// for its next pass.
func ScratchBuffers(mode stream.ScratchMode) int {
	if mode == stream.ScratchModify {
		return 3 // read ahead, in use, being written
	}
	return 2
}

// Reserve implements stream.Scratch.
func (s *Scratch) Reserve(total int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.check(total)
}

// check says whether so many bytes more have room.
func (s *Scratch) check(more int64) error {
	if need := s.used + more; s.opt.Limit > 0 && need > s.opt.Limit {
		return &stream.MemoryError{What: "scratch", Need: need, Limit: s.opt.Limit, Option: stream.ScratchSize}
	}
	if free, ok := freeSpace(s.opt.Dir); ok && more-s.opt.There > free {
		return s.full(fmt.Errorf("%d MiB are needed and %d MiB free: %w", more>>20, free>>20, syscall.ENOSPC))
	}
	return nil
}

// full says what to do where the files cannot be made or written.
func (s *Scratch) full(err error) error {
	remedy := atomicfile.Remedy(err)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		if remedy = s.opt.Remedy; remedy.Format == "" {
			remedy = stream.Textf("free some space, choose another {temp-dir}, or fewer rows by {sample}")
		}
	}
	return &stream.OutputError{Path: "scratch files in " + s.opt.Dir, Err: err, Remedy: remedy}
}

// Make implements stream.Scratch. The space is taken from the file system at once,
// where it can be.
func (s *Scratch) Make(name string, total int64, record int) (stream.ScratchFile, error) {
	f, err := s.file(name, total, record)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (s *Scratch) file(name string, total int64, record int) (*scratchFile, error) {
	if total < 1 || record < 1 {
		panic(fmt.Sprintf("chunkio: scratch of %d bytes in records of %d", total, record))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(total); err != nil {
		return nil, err
	}
	err := s.asks.Changing(s.opt.Dir, "make")
	var d disk
	if err == nil {
		d, err = s.open(s.opt.Dir, total)
	}
	if err != nil {
		return nil, s.full(err)
	}
	return s.add(name, d, total, record), nil
}

// add counts an open file in.
func (s *Scratch) add(name string, d disk, total int64, record int) *scratchFile {
	count := (total + int64(record) - 1) / int64(record)
	f := &scratchFile{in: s, name: name, disk: d, total: total, taken: total, record: record, count: int(count), sums: make([]uint64, count)}
	s.files[f] = struct{}{}
	s.used += total
	s.most = max(s.most, s.used)
	return f
}

// raw makes a file of the given size without records. undo gives it back.
func (s *Scratch) raw(total int64) (d disk, undo func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(total); err != nil {
		return nil, nil, err
	}
	if d, err = s.open(s.opt.Dir, total); err != nil {
		return nil, nil, s.full(err)
	}
	s.used += total
	s.most = max(s.most, s.used)
	return d, func() {
		d.Close() // scratch that is given up: nothing is lost if that fails
		s.mu.Lock()
		defer s.mu.Unlock()
		s.used -= total
	}, nil
}

// Most is the largest size that the files had together.
func (s *Scratch) Most() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// Close closes the files that are still open.
func (s *Scratch) Close() error {
	s.mu.Lock()
	files := s.files
	s.files = make(map[*scratchFile]struct{})
	s.mu.Unlock()
	var errs []error
	for f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// openDisk makes a file of the given size without a name.
func openDisk(dir string, total int64) (disk, error) {
	d, err := atomicfile.NewSpool(dir, "ufs-scratch")
	if err != nil {
		var out *stream.OutputError
		if errors.As(err, &out) {
			err = out.Err // the scratch has its own path and remedy
		}
		return nil, err
	}
	if err := allocate(d.File, total); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}
