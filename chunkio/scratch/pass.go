package scratch

import (
	"sync"

	"github.com/ufs-stream/ufs-stream/stream"
)

// pass is one iteration over the records of a file. Buffers circulate:
//
//	free ─▶ reader ─▶ ready ─▶ the caller ─▶ dirty ─▶ writer ─▶ free
//
// There is no reader if records are only written, and no writer if they are only read.
type pass struct {
	f       *file
	mode    stream.ScratchMode
	next    int // index of the record that Next returns next
	current []byte
	err     error

	all   [][]byte // all buffers of the pass, for the next pass over the file
	free  chan []byte
	ready chan passRecord
	dirty chan passRecord
	stop  chan struct{}
	work  sync.WaitGroup

	mu       sync.Mutex
	writeErr error // the writer's first error
}

// passRecord is a record in a buffer, or the error of reading it.
type passRecord struct {
	index int
	buf   []byte // as long as the record
	err   error
}

// Pass implements stream.ScratchFile: it begins a pass that reads or writes all records, according to the mode.
func (f *file) Pass(mode stream.ScratchMode) stream.ScratchPass {
	n := Buffers(mode)
	p := &pass{f: f, mode: mode, all: f.takeBuffers(n),
		free: make(chan []byte, n), ready: make(chan passRecord, n), dirty: make(chan passRecord, n), stop: make(chan struct{})}
	for _, b := range p.all {
		p.free <- b
	}
	if mode != stream.ScratchWrite {
		p.work.Go(p.readAhead)
	}
	if mode != stream.ScratchRead {
		p.work.Go(p.writeBehind)
	}
	return p
}

func (p *pass) readAhead() {
	for i := range p.f.count {
		select {
		case <-p.stop:
			return
		case b := <-p.free:
			r := passRecord{index: i, buf: b[:p.f.recordSize(i)]}
			r.err = p.f.readRecord(i, r.buf)
			p.ready <- r
			if r.err != nil {
				return
			}
		}
	}
}

func (p *pass) writeBehind() {
	for r := range p.dirty {
		if p.writeError() == nil {
			if err := p.f.writeRecord(r.index, r.buf); err != nil {
				p.mu.Lock()
				p.writeErr = err
				p.mu.Unlock()
			}
		}
		p.free <- r.buf[:cap(r.buf)]
	}
}

func (p *pass) writeError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writeErr
}

// releaseCurrent takes the current record back from the caller. It passes the record to the writer, or frees its buffer
// if there is no writer.
func (p *pass) releaseCurrent() {
	switch {
	case p.current == nil:
	case p.mode == stream.ScratchRead:
		p.free <- p.current[:cap(p.current)]
	default:
		p.dirty <- passRecord{index: p.next - 1, buf: p.current}
	}
	p.current = nil
}

// Next implements stream.ScratchPass: it returns the next record, in memory that is valid until the next call.
func (p *pass) Next() ([]byte, error) {
	if p.next == p.f.count {
		panic("scratch: Next beyond the last record")
	}
	p.releaseCurrent()
	if p.err == nil {
		p.err = p.writeError()
	}
	if p.err != nil {
		return nil, p.err
	}
	if p.mode == stream.ScratchWrite {
		b := <-p.free
		p.current = b[:p.f.recordSize(p.next)]
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
func (p *pass) Close() error {
	p.releaseCurrent()
	close(p.stop)
	close(p.dirty)
	p.work.Wait()
	p.f.returnBuffers(p.all)
	if p.err == nil { // otherwise Next has returned the error; callers join the errors of Next and Close
		return p.writeErr
	}
	return nil
}
