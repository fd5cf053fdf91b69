package atomicfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/ownfile"
	"github.com/ufs-stream/ufs-stream/internal/testing/faults"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Dir builds a folder that appears at its place complete or not at all. In a store that is impossible: see objectDir.
type Dir struct {
	path       string
	parent     *os.Root // the folder that will contain the new one
	name, temp string   // final name in parent, and temporary name until Commit
	folder     *os.Root // the temporary folder, which holds the output and its list of finished files
	output     *os.Root // the folder that Commit renames; nil if the output is one file, see ResumeFile
	lock       *os.File
	finished   *finishedList // set by ResumeDir; else nil
	remarks    []string      // warnings of ResumeDir about files of other users, see Remarks
	objects    *objectDir    // set for a folder in a store; in this case only the fields path and closed are also used
	closed     bool
}

// CreateDir begins to build the folder at path, which must not exist or must be empty. Create the files in it, then
// call Commit. Errors are *stream.OutputError, or *stream.UsageError if the URL cannot be that of an output.
func CreateDir(ctx context.Context, path string) (*Dir, error) {
	if place.IsURL(path) {
		return newStoreDir(createObjectDir(ctx, path))
	}
	path, err := resolveEmptyFolder(path)
	if err != nil {
		return nil, err
	}
	in, name, err := openParent(path)
	if err != nil {
		return nil, err
	}
	d, err := createTempDir(in, name, path)
	if err != nil {
		return nil, err
	}
	if err := d.openOutput(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *Dir) openOutput(ctx context.Context) (err error) {
	if d.output, err = ownfile.OpenFolder(d.folder, outputName); err == nil {
		return nil
	}
	if err = d.folder.RemoveAll(outputName); err == nil { // a link, a file, or the folder of another user
		err = d.folder.Mkdir(outputName, 0o777)
	}
	if err == nil {
		d.output, err = d.folder.OpenRoot(outputName)
	}
	if err != nil {
		_ = d.Abort(ctx) // for a local folder there is nothing to report
		return &stream.OutputError{Path: d.path, Err: err, Remedy: RemedyFor(err)}
	}
	return nil
}

func newStoreDir(o *objectDir, err error) (*Dir, error) {
	if err != nil {
		return nil, err
	}
	return &Dir{path: o.location.PublicName(), objects: o}, nil
}

// createTempDir makes the temporary folder for the output called name. Other users have no rights in it. On error it
// closes the parent folder `in`.
func createTempDir(in *os.Root, name, path string) (*Dir, error) {
	sweepTemps(in, name)
	d := &Dir{path: path, parent: in, name: name}
	var err error
	d.lock, d.temp, err = makeTemp(in, name, path, func(temp string) (lock *os.File, err error) {
		if d.folder != nil {
			d.folder.Close() // the folder of the attempt before, which another run now uses
		}
		if err := in.Mkdir(temp, 0o700); err != nil {
			return nil, err
		}
		if d.folder, err = in.OpenRoot(temp); err != nil {
			return nil, fs.ErrExist // another run has removed the folder
		}
		return d.folder.Open(".")
	})
	if err != nil {
		if d.folder != nil {
			d.folder.Close()
		}
		in.Close()
		return nil, err
	}
	return d, nil
}

func resolveEmptyFolder(path string) (string, error) {
	path, err := place.LocalPath(path)
	if err != nil {
		return "", err
	}
	path = filepath.Clean(path)
	if names, err := os.ReadDir(path); err == nil && len(names) > 0 {
		return "", &stream.OutputError{Path: path, Err: errors.New("the folder is not empty"), Remedy: stream.PlainText("name a new folder")}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", &stream.OutputError{Path: path, Err: err, Remedy: RemedyFor(err)}
	}
	return path, nil
}

// Path returns the temporary folder in which the files are built; it is empty for a folder in a store.
func (d *Dir) Path() string {
	if d.objects != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(d.path), d.temp, outputName)
}

// Remarks returns warnings about files of other users in the way of the folder of an interrupted run.
func (d *Dir) Remarks() []string { return d.remarks }

// Create begins to write the file rel in the folder; slashes separate the parts of rel. Commit the file before the
// folder. Create refuses a name that could lead out of the folder. It also refuses a name that the file system
// considers equal to the name of another file of the folder, because some file systems ignore case.
func (d *Dir) Create(ctx context.Context, rel string) (*File, error) {
	if err := place.CheckName(rel); err != nil {
		return nil, &stream.OutputError{Path: d.path, Err: err, Remedy: stream.PlainText("rename the input, or write one file")}
	}
	if d.objects != nil {
		return d.objects.createFile(ctx, rel)
	}
	shown, folder := filepath.Join(d.path, rel), filepath.Dir(rel)
	err := d.output.MkdirAll(folder, 0o777)
	var in *os.Root
	if err == nil {
		in, err = d.output.OpenRoot(folder)
	}
	if err != nil {
		return nil, &stream.OutputError{Path: shown, Err: err, Remedy: RemedyFor(err)}
	}
	if d.finished != nil && d.finished.byPlace[rel].Place == "" {
		if _, err := in.Lstat(filepath.Base(rel)); err == nil {
			in.Close()
			return nil, &stream.OutputError{Path: shown, Err: errors.New("the file system takes this name for that of another file of the folder"), Remedy: stream.PlainText("rename one of the inputs, or write one file")}
		}
	}
	return createInFolder(ctx, in, filepath.Base(rel), shown, 0o666)
}

// Commit makes the folder durable and renames it to its place. In a store it marks the folder as complete.
func (d *Dir) Commit(ctx context.Context) error {
	if d.closed {
		return &stream.OutputError{Path: d.path, Err: fs.ErrClosed}
	}
	if d.objects != nil {
		err := d.objects.putWholeMark(ctx)
		d.closed = err == nil
		return err
	}
	err := faults.DiskOf(ctx).CheckChange(d.path, "sync")
	if err == nil {
		err = syncTree(d.output, ".")
	}
	if err == nil {
		err = d.replaceEmptyFolder()
	}
	if closeBeforeRename {
		d.output.Close()
	}
	if err == nil {
		err = faults.DiskOf(ctx).CheckChange(d.path, "rename")
	}
	if err == nil { // until this moment, a later run can continue
		err = d.parent.Rename(filepath.Join(d.temp, outputName), d.name)
	}
	if err == nil {
		err = syncDir(d.parent, ".")
	}
	_ = d.Abort(ctx) // it removes what is left of the temporary folder; for a local folder there is nothing to report
	if err != nil {
		return &stream.OutputError{Path: d.path, Err: err, Remedy: RemedyFor(err)}
	}
	return nil
}

func (d *Dir) replaceEmptyFolder() error {
	existing, err := d.parent.Lstat(d.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && ownfile.CheckFolder(existing) == nil {
		var output *os.File
		if output, err = d.output.Open("."); err == nil {
			err = errors.Join(ownfile.CopyMode(output, existing), output.Close())
		}
	}
	if err == nil {
		err = d.parent.Remove(d.name) // it fails if the folder is not empty
	}
	return err
}

// Abort removes the files built so far; after a successful Commit it does nothing. Its error names the objects that
// remain in a store. Abort also works after ctx has ended.
func (d *Dir) Abort(ctx context.Context) error {
	if d.closed {
		return nil
	}
	d.closed = true
	if d.objects != nil {
		return d.objects.removeUploads(ctx)
	}
	if d.finished != nil {
		d.finished.log.Close()
	}
	if d.output != nil {
		d.output.Close()
	}
	removeContents(d.folder)
	if closeBeforeRename {
		d.lock.Close()
		d.folder.Close()
	}
	_ = d.parent.Remove(d.temp) // if this fails, the folder stays
	d.closeHandles()
	return nil
}

func (d *Dir) closeHandles() {
	if d.output != nil {
		d.output.Close()
	}
	d.lock.Close()
	d.folder.Close()
	d.parent.Close()
}

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
