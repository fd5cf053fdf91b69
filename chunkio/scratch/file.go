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

// errDamaged says that a record is not what was written.
var errDamaged = errors.New("the checksum is wrong: the disk or the memory is at fault, or another program wrote there")

// file is one file of records. Record i is at i·record, and its checksum in
// memory: a block that the disk lost or did not write is noticed too.
type file struct {
	in     *Space
	name   string
	disk   disk
	total  int64
	taken  int64 // of the disk: twice the total where a kept file has its second places
	record int
	count  int
	sums   []uint64 // of records, by whoever wrote last
	places *places  // of the records of a kept file; nil: each has one

	mu   sync.Mutex
	idle [][]byte
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
	f.in.mu.Lock()
	defer f.in.mu.Unlock()
	delete(f.in.files, f)
	f.in.take(-f.taken)
	return err
}

// size is the length of record i.
func (f *file) size(i int) int {
	return int(min(int64(f.record), f.total-int64(i)*int64(f.record)))
}

// buffers takes n buffers, used ones if there are, aligned to 8 bytes.
func (f *file) buffers(n int) [][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	buffers := slices.Clone(f.idle[:min(n, len(f.idle))])
	f.idle = f.idle[len(buffers):]
	for len(buffers) < n {
		words := make([]uint64, (f.size(0)+7)/8)
		buffers = append(buffers, unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), f.size(0)))
	}
	return buffers
}

func (f *file) giveBack(buffers [][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.idle) == 0 { // else a pass beside this one has left its own
		f.idle = buffers
	}
}

// forget gives up the buffers that are kept for the next pass.
func (f *file) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.idle = nil
}

func (f *file) read(i int, buf []byte) error {
	allowed, err := f.in.asks.Reading(f.in.opt.Dir, buf)
	if err == nil {
		_, err = f.disk.ReadAt(allowed, f.offset(i))
	}
	if err == nil && len(allowed) < len(buf) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return f.fault(i, err)
	}
	if xxhash.Sum64(buf) != f.sums[i] {
		return f.fault(i, errDamaged)
	}
	return nil
}

// offset is where record i lies.
func (f *file) offset(i int) int64 {
	at := int64(i) * int64(f.record)
	if f.places != nil && f.places.now[i] == secondPlace {
		at += f.total
	}
	return at
}

// fault names the place of what went wrong while reading.
func (f *file) fault(i int, err error) error {
	if f.places != nil {
		return f.places.damaged(stream.Errorf("%s, record %d: %w", f.name, i, err))
	}
	return stream.Errorf("scratch file in %s, %s: record %d: %w; choose another {temp-dir}", f.in.opt.Dir, f.name, i, err)
}

func (f *file) write(i int, buf []byte) error {
	if err := f.spare(i); err != nil {
		return err
	}
	err := f.in.asks.Changing(f.in.opt.Dir, "write")
	if err == nil {
		_, err = f.disk.WriteAt(buf, f.offset(i))
	}
	if err != nil {
		return f.in.Full(fmt.Errorf("%s: record %d: %w", f.name, i, err))
	}
	f.sums[i] = xxhash.Sum64(buf)
	return nil
}
