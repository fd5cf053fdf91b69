package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Spool is a temporary file for reading and writing. It has no name where the system
// removes open files, so that it goes with the process; elsewhere Close removes it, and
// the next run sweeps what a killed one has left.
type Spool struct {
	*os.File
	in   *os.Root // where it has a name, and nil where it has none
	name string
}

// NewSpool makes an empty Spool in the folder dir; stem names it while it has a name. The
// errors are *stream.OutputError.
func NewSpool(dir, stem string) (*Spool, error) {
	path := filepath.Join(dir, stem)
	in, name, err := openParent(path)
	if err != nil {
		return nil, err
	}
	sweepTemps(in, name)
	f, temp, err := makeTemp(in, name, path, func(temp string) (*os.File, error) {
		return in.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	})
	if err != nil {
		in.Close()
		return nil, err
	}
	if in.Remove(temp) == nil {
		return &Spool{File: f}, in.Close()
	}
	return &Spool{f, in, temp}, nil
}

// Close gives the space back.
func (s *Spool) Close() error {
	err := s.File.Close()
	if s.in != nil {
		err = errors.Join(err, s.in.Remove(s.name), s.in.Close())
	}
	return err
}
