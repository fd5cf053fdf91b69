package atomicfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/internal/faults"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Dir is a folder that appears at its place whole or not at all. One in a store cannot
// appear at once: see objectDir for what takes the place of that.
type Dir struct {
	path, temp string
	lock       *os.File
	finished   *finishedList // of ResumeDir; else nil
	objects    *objectDir    // of a store, in place of all of the above but path
	done       bool
}

// CreateDir begins to build the folder at path, which must not exist or be empty. Create
// the files below it, then Commit. Errors are
// *stream.OutputError, or *stream.UsageError for a URL that cannot be one of an output.
func CreateDir(ctx context.Context, path string) (*Dir, error) {
	if place.IsURL(path) {
		return inStore(createObjectDir(ctx, path))
	}
	path, err := newFolder(path)
	if err != nil {
		return nil, err
	}
	return createTempDir(path)
}

// inStore is the Dir of a folder in a store.
func inStore(o *objectDir, err error) (*Dir, error) {
	if err != nil {
		return nil, err
	}
	return &Dir{path: o.at.Name(), objects: o}, nil
}

// createTempDir makes a temporary folder of path.
func createTempDir(path string) (*Dir, error) {
	sweepTemps(path)
	d := &Dir{path: path}
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

// newFolder is the local path of a folder that does not exist or is empty.
func newFolder(path string) (string, error) {
	path, err := place.Local(path)
	if err != nil {
		return "", err
	}
	path = filepath.Clean(path)
	if names, err := os.ReadDir(path); err == nil && len(names) > 0 {
		return "", &stream.OutputError{Path: path, Err: errors.New("the folder is not empty"), Remedy: stream.PlainText("name a new folder")}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", &stream.OutputError{Path: path, Err: err, Remedy: Remedy(err)}
	}
	return path, nil
}

// Path is the temporary folder to build in, empty for a folder in a store.
func (d *Dir) Path() string { return d.temp }

// Create begins to write the file at rel below the folder, whose parts are separated by slashes. It must be
// committed before the folder is. A name that could lead out of the folder is refused, whoever made it, and so is
// one that the file system takes for that of another file of the folder, as those that ignore case do.
func (d *Dir) Create(ctx context.Context, rel string) (*File, error) {
	if err := place.CheckName(rel); err != nil {
		return nil, &stream.OutputError{Path: d.path, Err: err, Remedy: stream.PlainText("rename the input, or write one file")}
	}
	if d.objects != nil {
		return d.objects.create(ctx, rel)
	}
	shown := filepath.Join(d.path, rel)
	hidden := filepath.Join(d.temp, rel)
	if err := os.MkdirAll(filepath.Dir(hidden), 0o777); err != nil {
		return nil, &stream.OutputError{Path: shown, Err: err, Remedy: Remedy(err)}
	}
	if d.finished != nil && d.finished.of[rel].Place == "" {
		if _, err := os.Lstat(hidden); err == nil {
			return nil, &stream.OutputError{Path: shown, Err: errors.New("the file system takes this name for that of another file of the folder"), Remedy: stream.PlainText("rename one of the inputs, or write one file")}
		}
	}
	return createLocal(ctx, hidden, shown)
}

// Commit makes everything in the folder durable and renames it to its place, or marks it
// as whole.
func (d *Dir) Commit(ctx context.Context) error {
	if d.done {
		return &stream.OutputError{Path: d.path, Err: fs.ErrClosed}
	}
	if d.objects != nil {
		err := d.objects.finish(ctx)
		d.done = err == nil
		return err
	}
	err := faults.Of(ctx).Changing(d.path, "sync")
	if err == nil {
		err = syncTree(d.temp)
	}
	if err == nil && d.finished != nil { // as late as can be: a run that is killed before is gone on with
		err = errors.Join(d.finished.file.Close(), os.Remove(filepath.Join(d.temp, finishedName)), syncDir(d.temp))
	}
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
		err = faults.Of(ctx).Changing(d.path, "rename")
	}
	if err == nil {
		err = os.Rename(d.temp, d.path)
	}
	if err != nil {
		_ = d.Abort(ctx) // nothing can be left of a local folder that is worth a word
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

// Abort removes what was built; after a Commit that succeeded it does nothing. The error
// says what is left in a store. It works after ctx has ended as well.
func (d *Dir) Abort(ctx context.Context) error {
	if d.done {
		return nil
	}
	d.done = true
	if d.objects != nil {
		return d.objects.remove(ctx)
	}
	if d.finished != nil {
		d.finished.file.Close()
	}
	if closeBeforeRename {
		d.lock.Close()
	}
	os.RemoveAll(d.temp)
	d.lock.Close()
	return nil
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
