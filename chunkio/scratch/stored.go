package scratch

import (
	"fmt"
	"io"

	"github.com/ufs-stream/ufs-stream/stream"
)

// storedRecord is the length in bytes of the records in which states are stored. Longer records would take more memory,
// because two or three of them are in memory while a file is written or read. A disk is slower with shorter records.
const storedRecord = 256 << 10

// Stored is a file of consecutive states in their binary forms. Until Load it holds only 8 bytes of memory for each of
// its records.
type Stored struct {
	file *file
	name string
	size int64
}

// Store writes states to a file. A first run writes nothing and only measures their length, so that the space can be
// reserved in the file system at once. Stored.Close frees the space.
func (s *Space) Store(name string, states ...io.WriterTo) (stored *Stored, err error) {
	var size int64
	for _, state := range states {
		n, err := state.WriteTo(io.Discard)
		if err != nil {
			return nil, err
		}
		size += n
	}
	f, err := s.newFile(name, max(size, 1), int(max(min(size, storedRecord), 1)))
	if err != nil {
		return nil, err
	}
	t := &Stored{f, name, size}
	to := &passWriter{pass: f.Pass(stream.ScratchWrite)}
	for _, state := range states {
		if _, err = state.WriteTo(to); err != nil {
			break
		}
	}
	if err == nil && to.written != size {
		err = fmt.Errorf("scratch: %s: %d bytes were written, %d a moment before", name, to.written, size)
	}
	if closeErr := to.pass.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		t.Close() // the incomplete file is given up
		return nil, err
	}
	f.dropBuffers()
	return t, nil
}

// Load reads the stored states into `states`, in the same order and with exactly the same contents. It may be called
// again.
func (t *Stored) Load(states ...io.ReaderFrom) (err error) {
	from := &passReader{pass: t.file.Pass(stream.ScratchRead), bytesLeft: t.size}
	defer func() {
		if closeErr := from.pass.Close(); err == nil {
			err = closeErr
		}
		t.file.dropBuffers()
	}()
	for _, state := range states {
		if _, err := state.ReadFrom(from); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if from.bytesLeft > 0 || len(from.unread) > 0 {
		return fmt.Errorf("scratch: %s: %d bytes too many", t.name, from.bytesLeft+int64(len(from.unread)))
	}
	return nil
}

// Close frees the space.
func (t *Stored) Close() error { return t.file.Close() }

// passWriter fills the records of a pass.
type passWriter struct {
	pass     stream.ScratchPass
	unfilled []byte // unfilled part of the current record
	written  int64
}

func (w *passWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if len(w.unfilled) == 0 {
			if w.unfilled, err = w.pass.Next(); err != nil {
				return n, err
			}
		}
		k := copy(w.unfilled, p)
		w.unfilled, p = w.unfilled[k:], p[k:]
		n, w.written = n+k, w.written+int64(k)
	}
	return n, nil
}

// passReader reads the records of a pass.
type passReader struct {
	pass      stream.ScratchPass
	unread    []byte // unread part of the current record
	bytesLeft int64  // bytes of the records to come
}

func (r *passReader) Read(p []byte) (int, error) {
	if len(r.unread) == 0 {
		if r.bytesLeft == 0 {
			return 0, io.EOF
		}
		var err error
		if r.unread, err = r.pass.Next(); err != nil {
			return 0, err
		}
		r.bytesLeft -= int64(len(r.unread))
	}
	n := copy(p, r.unread)
	r.unread = r.unread[n:]
	return n, nil
}
