package chunkio

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// AtomicDir is a folder that appears at its place whole or not at all.
type AtomicDir struct {
	path, temp string
	lock       *os.File
	done       bool
}

// CreateAtomicDir begins to build the folder at path, which must not exist or be
// empty. Build in Dir, then Commit. Errors are *OutputError.
func CreateAtomicDir(path string) (*AtomicDir, error) {
	path = filepath.Clean(path)
	if names, err := os.ReadDir(path); err == nil && len(names) > 0 {
		return nil, &OutputError{path, errors.New("the folder is not empty"), "name a new folder"}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &OutputError{path, err, outputRemedy(err)}
	}
	d := &AtomicDir{path: path}
	err := makeTemp(path, func(temp string) error {
		d.temp = temp
		return os.Mkdir(temp, 0o777)
	}, func() (f *os.File, err error) {
		d.lock, err = os.Open(d.temp)
		return d.lock, err
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Dir is the temporary folder to build in.
func (d *AtomicDir) Dir() string { return d.temp }

// Commit makes everything in Dir durable and renames it to its place.
func (d *AtomicDir) Commit() error {
	if d.done {
		return &OutputError{d.path, fs.ErrClosed, ""}
	}
	err := syncTree(d.temp)
	if err == nil {
		// Rename does not replace a folder; Remove takes an empty one only.
		if err = os.Remove(d.path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if closeBeforeRename {
		d.lock.Close()
	}
	if err == nil {
		err = os.Rename(d.temp, d.path)
	}
	if err != nil {
		d.Abort()
		return &OutputError{d.path, err, outputRemedy(err)}
	}
	d.done = true
	err = syncDir(filepath.Dir(d.path))
	d.lock.Close()
	if err != nil {
		return &OutputError{d.path, err, outputRemedy(err)}
	}
	return nil
}

// Abort removes what was built; after Commit it does nothing.
func (d *AtomicDir) Abort() {
	if d.done {
		return
	}
	d.done = true
	if closeBeforeRename {
		d.lock.Close()
	}
	os.RemoveAll(d.temp)
	d.lock.Close()
}

// syncTree makes all files and folders under root durable.
func syncTree(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return syncDir(path)
		case !d.Type().IsRegular():
			return nil
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
