package atomicfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/internal/faults"
	"github.com/ufs-stream/ufs-stream/internal/ownfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Dir is a folder that appears at its place whole or not at all. One in a store cannot
// appear at once: see objectDir for what takes the place of that.
type Dir struct {
	path       string
	in         *os.Root // the folder that it is to appear in,
	name, temp string   // which has it by this name, and until then by the other one
	root       *os.Root // itself
	lock       *os.File
	finished   *finishedList // of ResumeDir; else nil
	remarks    []string      // of ResumeDir, on things of other users in its way
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
	in, name, err := openParent(path)
	if err != nil {
		return nil, err
	}
	return createTempDir(in, name, path)
}

// inStore is the Dir of a folder in a store.
func inStore(o *objectDir, err error) (*Dir, error) {
	if err != nil {
		return nil, err
	}
	return &Dir{path: o.at.Name(), objects: o}, nil
}

// createTempDir makes a temporary folder of name, in which others have no rights until Commit. It
// closes in where that fails.
func createTempDir(in *os.Root, name, path string) (*Dir, error) {
	sweepTemps(in, name)
	d := &Dir{path: path, in: in, name: name}
	var err error
	d.lock, d.temp, err = makeTemp(in, name, path, func(temp string) (lock *os.File, err error) {
		if d.root != nil {
			d.root.Close() // another run has it
		}
		if err := in.Mkdir(temp, 0o700); err != nil {
			return nil, err
		}
		if d.root, err = in.OpenRoot(temp); err != nil {
			return nil, fs.ErrExist // swept away
		}
		return d.root.Open(".")
	})
	if err != nil {
		if d.root != nil {
			d.root.Close()
		}
		in.Close()
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
func (d *Dir) Path() string {
	if d.objects != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(d.path), d.temp)
}

// Remarks are warnings of things that other users have put where an interrupted run leaves its folder.
func (d *Dir) Remarks() []string { return d.remarks }

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
	shown, folder := filepath.Join(d.path, rel), filepath.Dir(rel)
	err := d.root.MkdirAll(folder, 0o777)
	var in *os.Root
	if err == nil {
		in, err = d.root.OpenRoot(folder)
	}
	if err != nil {
		return nil, &stream.OutputError{Path: shown, Err: err, Remedy: Remedy(err)}
	}
	if d.finished != nil && d.finished.of[rel].Place == "" {
		if _, err := in.Lstat(filepath.Base(rel)); err == nil {
			in.Close()
			return nil, &stream.OutputError{Path: shown, Err: errors.New("the file system takes this name for that of another file of the folder"), Remedy: stream.PlainText("rename one of the inputs, or write one file")}
		}
	}
	return createIn(ctx, in, filepath.Base(rel), shown, 0o666)
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
		err = syncTree(d.root, ".")
	}
	if err == nil && d.finished != nil { // as late as can be: a run that is killed before is gone on with
		err = errors.Join(d.finished.file.Close(), d.root.Remove(finishedName), syncDir(d.root, "."))
	}
	if err == nil {
		err = d.giveRights()
	}
	if err == nil {
		// Rename does not replace a folder; Remove takes an empty one only.
		if err = d.in.Remove(d.name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if closeBeforeRename {
		d.lock.Close()
		d.root.Close()
	}
	if err == nil {
		err = faults.Of(ctx).Changing(d.path, "rename")
	}
	if err == nil {
		err = d.in.Rename(d.temp, d.name)
	}
	if err != nil {
		_ = d.Abort(ctx) // nothing can be left of a local folder that is worth a word
		return &stream.OutputError{Path: d.path, Err: err, Remedy: Remedy(err)}
	}
	d.done = true
	err = syncDir(d.in, ".")
	d.close()
	if err != nil {
		return &stream.OutputError{Path: d.path, Err: err, Remedy: Remedy(err)}
	}
	return nil
}

// giveRights gives the folder the mode of the empty one that it replaces, or of any new folder.
func (d *Dir) giveRights() error {
	if there, err := d.in.Lstat(d.name); err == nil && ownfile.CheckFolder(there) == nil {
		return ownfile.KeepMode(d.lock, there)
	}
	const probe = ".ufs-mode" // has the rights that umask and lists of the parent folder leave
	if err := d.root.Mkdir(probe, 0o777); err != nil {
		return err
	}
	fresh, err := d.root.Lstat(probe)
	if err == nil {
		err = ownfile.KeepMode(d.lock, fresh)
	}
	return errors.Join(err, d.root.Remove(probe))
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
	removeContents(d.root)
	if closeBeforeRename {
		d.lock.Close()
		d.root.Close()
		_ = d.in.RemoveAll(d.temp) // where a Commit had closed it
	}
	_ = d.in.Remove(d.temp) // if that fails, it stays
	d.close()
	return nil
}

// close gives up the local folder to whoever takes it. Files may be closed twice.
func (d *Dir) close() {
	d.lock.Close()
	d.root.Close()
	d.in.Close()
}

// syncTree makes all files and folders in a folder durable.
func syncTree(root *os.Root, folder string) error {
	entries, err := readDir(root, folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		var err error
		switch name := filepath.Join(folder, e.Name()); {
		case e.IsDir():
			err = syncTree(root, name)
		case e.Type().IsRegular():
			var f *os.File
			if f, err = root.OpenFile(name, os.O_RDWR, 0); err == nil {
				err = errors.Join(f.Sync(), f.Close())
			}
		}
		if err != nil {
			return err
		}
	}
	return syncDir(root, folder)
}
