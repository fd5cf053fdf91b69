package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Dir is a folder that appears at its place whole or not at all.
type Dir struct {
	path, temp string
	lock       *os.File
	done       bool
}

// CreateDir begins to build the folder at path, which must not exist or be
// empty. Build in Path, then Commit. Errors are *stream.OutputError.
func CreateDir(path string) (*Dir, error) {
	path = filepath.Clean(path)
	if names, err := os.ReadDir(path); err == nil && len(names) > 0 {
		return nil, &stream.OutputError{Path: path, Err: errors.New("the folder is not empty"), Remedy: stream.PlainText("name a new folder")}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &stream.OutputError{Path: path, Err: err, Remedy: Remedy(err)}
	}
	d := &Dir{path: path}
	err := MakeTemp(path, func(temp string) error {
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

// Path is the temporary folder to build in.
func (d *Dir) Path() string { return d.temp }

// Commit makes everything in Path durable and renames it to its place.
func (d *Dir) Commit() error {
	if d.done {
		return &stream.OutputError{Path: d.path, Err: fs.ErrClosed}
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
		return &stream.OutputError{Path: d.path, Err: err, Remedy: Remedy(err)}
	}
	d.done = true
	err = syncDir(filepath.Dir(d.path))
	d.lock.Close()
	if err != nil {
		return &stream.OutputError{Path: d.path, Err: err, Remedy: Remedy(err)}
	}
	return nil
}

// Abort removes what was built; after Commit it does nothing.
func (d *Dir) Abort() {
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
