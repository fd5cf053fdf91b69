package scratch

import (
	"fmt"
	"io"

	"github.com/ufs-stream/ufs-stream/stream"
)

// storedRecord is the length of the records that states are stored in: two or three of them are
// in memory while a file is written or read, and shorter ones cost a disk more.
const storedRecord = 256 << 10

// Stored is states in a file, one behind the other, in their binary forms. While it
// waits it holds 8 bytes of memory for each of its records.
type Stored struct {
	file *file
	name string
	size int64
}

// Store writes states to a file, after finding by a first run to nowhere how long they
// are: the space is taken from the file system at once. Close gives it back.
func (s *Space) Store(name string, states ...io.WriterTo) (stored *Stored, err error) {
	var size int64
	for _, state := range states {
		n, err := state.WriteTo(io.Discard)
		if err != nil {
			return nil, err
		}
		size += n
	}
	f, err := s.file(name, max(size, 1), int(max(min(size, storedRecord), 1)))
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
	if err == nil && to.n != size {
		err = fmt.Errorf("scratch: %s: %d bytes were written, %d a moment before", name, to.n, size)
	}
	if closed := to.pass.Close(); err == nil {
		err = closed
	}
	if err != nil {
		t.Close() // what could not be written is given up
		return nil, err
	}
	f.forget()
	return t, nil
}

// Load reads the states back, bit by bit; it may be called again.
func (t *Stored) Load(states ...io.ReaderFrom) (err error) {
	from := &passReader{pass: t.file.Pass(stream.ScratchRead), left: t.size}
	defer func() {
		if closed := from.pass.Close(); err == nil {
			err = closed
		}
		t.file.forget()
	}()
	for _, state := range states {
		if _, err := state.ReadFrom(from); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if from.left > 0 || len(from.rest) > 0 {
		return fmt.Errorf("scratch: %s: %d bytes too many", t.name, from.left+int64(len(from.rest)))
	}
	return nil
}

// Close gives the space back.
func (t *Stored) Close() error { return t.file.Close() }

// passWriter fills the records of a pass.
type passWriter struct {
	pass stream.ScratchPass
	room []byte // of the record that is being filled
	n    int64
}

func (w *passWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if len(w.room) == 0 {
			if w.room, err = w.pass.Next(); err != nil {
				return n, err
			}
		}
		k := copy(w.room, p)
		w.room, p = w.room[k:], p[k:]
		n, w.n = n+k, w.n+int64(k)
	}
	return n, nil
}

// passReader reads the records of a pass.
type passReader struct {
	pass stream.ScratchPass
	rest []byte // of the record that is being read
	left int64  // bytes of records to come
}

func (r *passReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.left == 0 {
			return 0, io.EOF
		}
		var err error
		if r.rest, err = r.pass.Next(); err != nil {
			return 0, err
		}
		r.left -= int64(len(r.rest))
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
