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
	name string // where it has one
}

// NewSpool makes an empty Spool in the folder dir; stem names it while it has a name. The
// errors are *stream.OutputError.
func NewSpool(dir, stem string) (*Spool, error) {
	s, path := new(Spool), filepath.Join(dir, stem)
	sweepTemps(path)
	err := makeTemp(path, func(temp string) (err error) {
		s.File, err = os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		s.name = temp
		return err
	}, func() (*os.File, error) { return s.File, nil })
	if err != nil {
		return nil, err
	}
	if os.Remove(s.name) == nil {
		s.name = ""
	}
	return s, nil
}

// Close gives the space back.
func (s *Spool) Close() error {
	err := s.File.Close()
	if s.name != "" {
		err = errors.Join(err, os.Remove(s.name))
	}
	return err
}
