package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Spool is a temporary file for reading and writing. If the system can remove open files, the spool has no name, and
// disappears with the process. On other systems Close removes it, and the next run removes the spools of killed runs.
type Spool struct {
	*os.File
	folder *os.Root // nil if the file has no name
	name   string
}

// NewSpool makes an empty Spool in the folder dir. If the spool has a name, the name begins with stem. Errors are
// *stream.OutputError.
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

// Close closes the spool and frees its space.
func (s *Spool) Close() error {
	err := s.File.Close()
	if s.folder != nil {
		err = errors.Join(err, s.folder.Remove(s.name), s.folder.Close())
	}
	return err
}
