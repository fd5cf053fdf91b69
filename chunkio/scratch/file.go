package scratch

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"unsafe"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/stream"
)

// errDamaged reports that a record which was read differs from the record that was written.
var errDamaged = errors.New("the checksum is wrong: the disk or the memory is at fault, or another program wrote there")

// file is a scratch file of records of equal length. Record i is at offset i·recordBytes, or at its second place (see
// Kept). Its checksum is in memory, so that a block that the disk lost or did not write is noticed too.
type file struct {
	space       *Space
	name        string
	disk        disk
	total       int64         // bytes of all records
	diskBytes   int64         // size on disk: twice the total if a kept file uses its second places
	recordBytes int           // bytes of a record; the last record may be shorter
	count       int           // number of records
	checksums   []uint64      // of records as they were last written
	places      *recordPlaces // of the records of a kept file; nil if a record has only one place

	mu   sync.Mutex
	idle [][]byte // buffers for the next pass
}

// Close implements stream.ScratchFile. A second call does nothing.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.disk == nil {
		return nil
	}
	err := f.disk.Close()
	f.disk, f.idle = nil, nil
	f.space.mu.Lock()
	defer f.space.mu.Unlock()
	delete(f.space.files, f)
	f.space.countBytes(-f.diskBytes)
	return err
}

func (f *file) recordSize(i int) int {
	return int(min(int64(f.recordBytes), f.total-int64(i)*int64(f.recordBytes)))
}

// takeBuffers returns n buffers aligned to 8 bytes. It reuses idle buffers if there are any.
func (f *file) takeBuffers(n int) [][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	buffers := slices.Clone(f.idle[:min(n, len(f.idle))])
	f.idle = f.idle[len(buffers):]
	for len(buffers) < n {
		words := make([]uint64, (f.recordSize(0)+7)/8)
		buffers = append(buffers, unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), f.recordSize(0)))
	}
	return buffers
}

func (f *file) returnBuffers(buffers [][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.idle) == 0 { // else a concurrent pass has returned its buffers already
		f.idle = buffers
	}
}

// dropBuffers drops the buffers that are kept for the next pass.
func (f *file) dropBuffers() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.idle = nil
}

func (f *file) readRecord(i int, buf []byte) error {
	allowed, err := f.space.faults.AllowedRead(f.space.opt.Dir, buf)
	if err == nil {
		_, err = f.disk.ReadAt(allowed, f.recordOffset(i))
	}
	if err == nil && len(allowed) < len(buf) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return f.errRecord(i, err)
	}
	if xxhash.Sum64(buf) != f.checksums[i] {
		return f.errRecord(i, errDamaged)
	}
	return nil
}

func (f *file) recordOffset(i int) int64 {
	at := int64(i) * int64(f.recordBytes)
	if f.places != nil && f.places.current[i] == secondPlace {
		at += f.total
	}
	return at
}

func (f *file) errRecord(i int, err error) error {
	if f.places != nil {
		return f.places.errDamagedFile(stream.Errorf("%s, record %d: %w", f.name, i, err))
	}
	return stream.Errorf("scratch file in %s, %s: record %d: %w; choose another {temp-dir}", f.space.opt.Dir, f.name, i, err)
}

func (f *file) writeRecord(i int, buf []byte) error {
	if err := f.chooseFreePlace(i); err != nil {
		return err
	}
	err := f.space.faults.CheckChange(f.space.opt.Dir, "write")
	if err == nil {
		_, err = f.disk.WriteAt(buf, f.recordOffset(i))
	}
	if err != nil {
		return f.space.Full(fmt.Errorf("%s: record %d: %w", f.name, i, err))
	}
	f.checksums[i] = xxhash.Sum64(buf)
	return nil
}
