package scratch

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/ownfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Kept is a file with a name, which outlives the process. Each of its records has two places in it, one total apart.
// A write goes to the place that the last settled state does not use, so that this state stays intact, whenever the
// process ends: a checkpoint costs no copy. The second places take room from the first write to one of them on.
type Kept struct{ *file }

// State describes the valid bytes of a kept file: the place of each record, and its checksum.
type State struct {
	Places []byte
	Sums   []uint64
}

const (
	firstPlace, secondPlace = 0, 1
	noPlace                 = 2 // the settled state has no such record
)

// recordPlaces are the places of the records of a kept file.
type recordPlaces struct {
	path             string
	current, settled []byte
	sync             func() error
	grow             func(total int64) error
}

func (p *recordPlaces) errDamagedFile(err error) error {
	return &stream.DataError{Path: p.path, RowGroup: -1, Row: -1, Err: err, Remedy: stream.PlainText("remove this file of the checkpoint, and run again: what it held is made anew")}
}

// chooseFreePlace selects for record i, which will be written, the place that the settled state does not use.
func (f *file) chooseFreePlace(i int) error {
	p := f.places
	if p == nil || p.settled[i] == noPlace {
		return nil
	}
	p.current[i] = secondPlace - p.settled[i]
	if p.current[i] == firstPlace || f.diskBytes > f.total {
		return nil
	}
	s := f.space
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkRoom(f.total); err != nil {
		return err
	}
	if err := p.grow(2 * f.total); err != nil {
		return s.Full(err)
	}
	f.diskBytes += f.total
	s.countBytes(f.total)
	return nil
}

// Keep makes a scratch file called file in an open folder, or opens the existing one in the given state. The error is a
// *stream.DataError if the existing file is not a scratch file. name is for messages.
func (s *Space) Keep(in *os.Root, file, name string, total int64, record int, state *State) (*Kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == nil {
		if err := s.checkRoom(total); err != nil {
			return nil, err
		}
	}
	d, size, err := openNamed(in, file, total, state == nil)
	if err != nil {
		return nil, s.Full(err)
	}
	f := s.addFile(name, d, total, record)
	f.places = &recordPlaces{path: filepath.Join(in.Name(), file), current: make([]byte, f.count), settled: bytes.Repeat([]byte{noPlace}, f.count),
		sync: d.Sync, grow: func(total int64) error { return allocateFile(d, total) }}
	k := &Kept{f}
	if state == nil {
		return k, nil
	}
	s.opt.There = max(s.opt.There-size, 0)
	if size >= 2*total {
		f.diskBytes += total
		s.countBytes(total)
	}
	if size < total || len(state.Places) != f.count || len(state.Sums) != f.count ||
		slices.Max(state.Places) > secondPlace || slices.Max(state.Places) == secondPlace && size < 2*total {
		delete(s.files, f)
		s.countBytes(-f.diskBytes)
		return nil, errors.Join(f.places.errDamagedFile(stream.Errorf("%s: its %d bytes are not what the checkpoint says", name, size)), d.Close())
	}
	copy(f.places.current, state.Places)
	copy(f.checksums, state.Sums)
	copy(f.places.settled, state.Places)
	return k, nil
}

// openNamed opens the file, or creates it anew. Only this user may read it, because it contains rows.
func openNamed(in *os.Root, file string, total int64, anew bool) (f *os.File, size int64, err error) {
	f, err = ownfile.Open(in, file, os.O_RDWR)
	if anew && errors.Is(err, fs.ErrNotExist) {
		f, err = ownfile.CreateNew(in, file, 0o600)
	}
	if err != nil {
		return nil, 0, err
	}
	if !anew {
		fi, err := f.Stat()
		if err != nil {
			return nil, 0, errors.Join(err, f.Close())
		}
		return f, fi.Size(), nil
	}
	if err = f.Truncate(0); err == nil {
		err = allocateFile(f, total)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close(), in.Remove(file))
	}
	return f, total, nil
}

// State makes the contents of the file durable, and describes them. No pass may be under way.
func (k *Kept) State() (State, error) {
	if err := k.places.sync(); err != nil {
		return State{}, &stream.OutputError{Path: k.places.path, Err: err, Remedy: atomicfile.RemedyFor(err)}
	}
	return State{slices.Clone(k.places.current), slices.Clone(k.checksums)}, nil
}

// Settle declares that a checkpoint names the state that State returned last: from here on its records are not
// overwritten.
func (k *Kept) Settle() { copy(k.places.settled, k.places.current) }

// Path returns the file's path.
func (k *Kept) Path() string { return k.places.path }

// Write writes record i, unless the file already holds it.
func (k *Kept) Write(i int, record []byte) error {
	if k.places.settled[i] != noPlace && k.checksums[i] == xxhash.Sum64(record) {
		return nil
	}
	return k.writeRecord(i, record)
}

// Read reads record i.
func (k *Kept) Read(i int, record []byte) error { return k.readRecord(i, record) }
