package scratch

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/disk/ownfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Kept is a file with a name, which outlives the process. Each record has two places in the file, whose offsets differ
// by the total size of all records. A write goes to the place that the last settled state does not use. So this state
// stays intact, whenever the process ends, and a checkpoint needs no copy. The second places use space on the disk once
// one of them has been written.
type Kept struct{ *file }

// State describes the valid bytes of a kept file: the place of each record, and its checksum.
type State struct {
	Places []byte
	Sums   []uint64
}

const (
	firstPlace, secondPlace = 0, 1
	noPlace                 = 2 // the settled state does not contain the record
)

// recordPlaces contains, for each record of a kept file, which of its two places is in use.
type recordPlaces struct {
	path             string
	current, settled []byte // by record: its place now, and its place in the settled state
	sync             func() error
	grow             func(total int64) error
}

func (p *recordPlaces) errDamagedFile(err error) error {
	return &stream.DataError{Path: p.path, RowGroup: -1, Row: -1, Err: err, Remedy: stream.PlainText("remove this file of the checkpoint, and run again: its contents are computed again")}
}

// chooseFreePlace selects for record i, which is to be written, the place that the settled state does not use.
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

// Keep makes a scratch file of total bytes if state is nil. Otherwise it opens the existing file, whose contents state
// describes. Each record has as many bytes as the parameter record. The parameter in is the open folder of the file,
// file is its name there, and name is its name in messages. The error is a *stream.DataError if the existing file does
// not match state.
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
		return nil, errors.Join(f.places.errDamagedFile(stream.Errorf("%s: its %d bytes do not match the checkpoint", name, size)), d.Close())
	}
	copy(f.places.current, state.Places)
	copy(f.checksums, state.Sums)
	copy(f.places.settled, state.Places)
	return k, nil
}

// openNamed opens a file. If anew is set, it creates the file or discards its contents. Only this user may read it.
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

// State writes the contents of the file durably to the disk, and describes them. No pass may be under way.
func (k *Kept) State() (State, error) {
	if err := k.places.sync(); err != nil {
		return State{}, &stream.OutputError{Path: k.places.path, Err: err, Remedy: atomicfile.RemedyFor(err)}
	}
	return State{slices.Clone(k.places.current), slices.Clone(k.checksums)}, nil
}

// Settle declares that a checkpoint refers to the state that State returned last. From then on the records of this
// state are not overwritten.
func (k *Kept) Settle() { copy(k.places.settled, k.places.current) }

// Path returns the file's path.
func (k *Kept) Path() string { return k.places.path }

// Write writes record i, unless record i of the file already has the same checksum.
func (k *Kept) Write(i int, record []byte) error {
	if k.places.settled[i] != noPlace && k.checksums[i] == xxhash.Sum64(record) {
		return nil
	}
	return k.writeRecord(i, record)
}

// Read reads record i.
func (k *Kept) Read(i int, record []byte) error { return k.readRecord(i, record) }
