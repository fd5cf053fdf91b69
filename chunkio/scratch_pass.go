package chunkio

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

// errScratchDamaged says that a record is not what was written.
var errScratchDamaged = errors.New("the checksum is wrong: the disk or the memory is at fault, or another program wrote there")

// scratchFile is one file of records. Record i is at i·record, and its checksum in
// memory: a block that the disk lost or did not write is noticed too.
type scratchFile struct {
	in     *Scratch
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
func (f *scratchFile) Close() error {
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
	f.in.used -= f.taken
	return err
}

// size is the length of record i.
func (f *scratchFile) size(i int) int {
	return int(min(int64(f.record), f.total-int64(i)*int64(f.record)))
}

// buffers takes n buffers, used ones if there are, aligned to 8 bytes.
func (f *scratchFile) buffers(n int) [][]byte {
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

func (f *scratchFile) giveBack(buffers [][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.idle) == 0 { // else a pass beside this one has left its own
		f.idle = buffers
	}
}

// forget gives up the buffers that are kept for the next pass.
func (f *scratchFile) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.idle = nil
}

func (f *scratchFile) read(i int, buf []byte) error {
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
		return f.fault(i, errScratchDamaged)
	}
	return nil
}

// offset is where record i lies.
func (f *scratchFile) offset(i int) int64 {
	at := int64(i) * int64(f.record)
	if f.places != nil && f.places.now[i] == secondPlace {
		at += f.total
	}
	return at
}

// fault names the place of what went wrong while reading.
func (f *scratchFile) fault(i int, err error) error {
	if f.places != nil {
		return f.places.damaged(stream.Errorf("%s, record %d: %w", f.name, i, err))
	}
	return stream.Errorf("scratch file in %s, %s: record %d: %w; choose another {temp-dir}", f.in.opt.Dir, f.name, i, err)
}

func (f *scratchFile) write(i int, buf []byte) error {
	if err := f.spare(i); err != nil {
		return err
	}
	err := f.in.asks.Changing(f.in.opt.Dir, "write")
	if err == nil {
		_, err = f.disk.WriteAt(buf, f.offset(i))
	}
	if err != nil {
		return f.in.full(fmt.Errorf("%s: record %d: %w", f.name, i, err))
	}
	f.sums[i] = xxhash.Sum64(buf)
	return nil
}

// scratchPass is a run over the records. Buffers travel
//
//	free ─▶ reader ─▶ ready ─▶ the caller ─▶ dirty ─▶ writer ─▶ free
//
// without the reader where records are only written, and without the writer where they
// are only read.
type scratchPass struct {
	f       *scratchFile
	mode    stream.ScratchMode
	next    int
	current []byte
	err     error

	all   [][]byte
	free  chan []byte
	ready chan scratchRecord
	dirty chan scratchRecord
	stop  chan struct{}
	work  sync.WaitGroup

	mu     sync.Mutex
	failed error // the first that the writer met
}

type scratchRecord struct {
	index int
	buf   []byte // as long as the record
	err   error
}

// Pass implements stream.ScratchFile.
func (f *scratchFile) Pass(mode stream.ScratchMode) stream.ScratchPass {
	n := ScratchBuffers(mode)
	p := &scratchPass{f: f, mode: mode, all: f.buffers(n),
		free: make(chan []byte, n), ready: make(chan scratchRecord, n), dirty: make(chan scratchRecord, n), stop: make(chan struct{})}
	for _, b := range p.all {
		p.free <- b
	}
	if mode != stream.ScratchWrite {
		p.work.Go(p.reader)
	}
	if mode != stream.ScratchRead {
		p.work.Go(p.writer)
	}
	return p
}

func (p *scratchPass) reader() {
	for i := range p.f.count {
		select {
		case <-p.stop:
			return
		case b := <-p.free:
			r := scratchRecord{index: i, buf: b[:p.f.size(i)]}
			r.err = p.f.read(i, r.buf)
			p.ready <- r
			if r.err != nil {
				return
			}
		}
	}
}

func (p *scratchPass) writer() {
	for r := range p.dirty {
		if p.failure() == nil {
			if err := p.f.write(r.index, r.buf); err != nil {
				p.mu.Lock()
				p.failed = err
				p.mu.Unlock()
			}
		}
		p.free <- r.buf[:cap(r.buf)]
	}
}

func (p *scratchPass) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// done passes on the record that the caller has had.
func (p *scratchPass) done() {
	switch {
	case p.current == nil:
	case p.mode == stream.ScratchRead:
		p.free <- p.current[:cap(p.current)]
	default:
		p.dirty <- scratchRecord{index: p.next - 1, buf: p.current}
	}
	p.current = nil
}

// Next implements stream.ScratchPass.
func (p *scratchPass) Next() ([]byte, error) {
	if p.next == p.f.count {
		panic("chunkio: Next beyond the last record")
	}
	p.done()
	if p.err == nil {
		p.err = p.failure()
	}
	if p.err != nil {
		return nil, p.err
	}
	if p.mode == stream.ScratchWrite {
		b := <-p.free
		p.current = b[:p.f.size(p.next)]
	} else {
		r := <-p.ready
		if p.err = r.err; p.err != nil {
			return nil, p.err
		}
		p.current = r.buf
	}
	p.next++
	return p.current, nil
}

// Close implements stream.ScratchPass.
func (p *scratchPass) Close() error {
	p.done()
	close(p.stop)
	close(p.dirty)
	p.work.Wait()
	p.f.giveBack(p.all)
	if p.err == nil { // else Next has told; callers join the two
		return p.failed
	}
	return nil
}
