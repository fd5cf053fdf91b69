package atomicfile

import (
	"context"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// finishedName is the name of the finishedList of a folder.
const finishedName = ".ufs-finished"

// ResumeDir is CreateDir for a folder whose files a later run need not make again: it goes on
// with what the last run has left of the folder at path if that was killed or has called Leave,
// less the files that are not wanted. Keep says of a file that it is whole, and Finished whether it
// is already. The parts of all their names are separated by slashes.
//
// A local folder that another run is building is refused; on a file system without locks each run
// begins anew. A folder in a store that is not whole is taken over, from whichever machine, for
// nothing there tells a run that lives from one that was killed: one that lives and was superseded
// so ends with an error at its next Keep or Commit, or Abort, and leaves everything as it is.
func ResumeDir(ctx context.Context, path string, wanted func(rel string) bool) (*Dir, error) {
	if place.IsURL(path) {
		return inStore(resumeObjectDir(ctx, path, wanted))
	}
	path, err := newFolder(path)
	if err != nil {
		return nil, err
	}
	d, err := resumeTemp(path)
	if err != nil {
		return nil, err
	}
	if err := d.takeUp(wanted); err != nil {
		_ = d.Abort(ctx) // nothing can be left of a local folder that is worth a word
		return nil, &stream.OutputError{Path: path, Err: err, Remedy: Remedy(err)}
	}
	return d, nil
}

// resumeTemp is the temporary folder of path that the last run has left, or a new one.
func resumeTemp(path string) (d *Dir, err error) {
	for temp, isDir := range temps(path) {
		if !isDir {
			continue
		}
		lock, busy := lockStale(temp, true)
		switch {
		case busy:
			if d != nil {
				d.lock.Close()
			}
			return nil, &stream.OutputError{Path: path, Err: stream.Errorf("another run is building it, in %s", temp), Remedy: stream.PlainText("wait until that has ended, or name another output")}
		case lock == nil:
		case d == nil && isAt(lock, temp):
			d = &Dir{path: path, temp: temp, lock: lock}
		default:
			lock.Close()
		}
	}
	if d == nil {
		return createTempDir(path)
	}
	sweepTemps(path) // what older runs have left
	return d, nil
}

// takeUp reads which files are finished, and removes all others and those that are not wanted.
func (d *Dir) takeUp(wanted func(rel string) bool) (err error) {
	if d.finished, err = openFinished(filepath.Join(d.temp, finishedName)); err != nil {
		return err
	}
	var folders []string
	err = filepath.WalkDir(d.temp, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == d.temp {
			return err
		}
		rel, err := filepath.Rel(d.temp, path)
		rel = filepath.ToSlash(rel)
		switch _, finished := d.finished.of[rel]; {
		case err != nil:
			return err
		case e.IsDir():
			folders = append(folders, path)
			return nil
		case finished && wanted(rel), rel == finishedName:
			return nil
		}
		return os.Remove(path)
	})
	// A folder that is empty now may stand where a file is to be. Those within it come behind it.
	for _, folder := range slices.Backward(folders) {
		_ = os.Remove(folder) // which refuses one that is not empty
	}
	return err
}

// Fate is what has become of a file that an earlier run may have finished.
type Fate int

// The fates.
const (
	Unfinished Fate = iota
	Outdated        // it is finished, and made by another recipe
	Altered         // it was finished, and was changed or removed since
	Whole           // it is finished
)

// Finished tells whether the file at rel is there already as recipe makes it. Of a local file that
// is Whole all bytes were read; an object has the size and the version that it was uploaded with.
func (d *Dir) Finished(ctx context.Context, rel, recipe string) (f Finished, fate Fate, err error) {
	var same func() bool
	switch {
	case d.objects != nil && d.objects.list != nil:
		f = d.objects.list.of[rel]
		same = func() bool { return d.objects.same(ctx, f) }
	case d.finished != nil:
		f = d.finished.of[rel]
		same = func() bool { return f.same(ctx, filepath.Join(d.temp, rel)) }
	}
	switch {
	case f.Place == "":
		return f, Unfinished, nil
	case f.Recipe != recipe:
		return f, Outdated, nil
	case !same():
		return f, Altered, ctx.Err()
	}
	return f, Whole, nil
}

// Keep notes that the file at rel, which was committed, is whole. A store hears of it some seconds
// later.
func (d *Dir) Keep(ctx context.Context, rel string, file *File, recipe string, rows int64) error {
	f := Finished{Place: rel, Recipe: recipe, Rows: rows, Bytes: file.written, Sum: file.sum.Sum64(), Version: file.object.Version}
	switch {
	case d.objects != nil:
		return d.objects.keep(ctx, f)
	case d.finished == nil:
		return nil
	}
	if err := d.finished.add(f); err != nil {
		return &stream.OutputError{Path: d.path, Err: err, Remedy: Remedy(err)}
	}
	return nil
}

// HeldBytes bounds what the Dir takes in memory when files at these places are whole.
func (d *Dir) HeldBytes(places iter.Seq[string]) (n int64) {
	switch {
	case d.objects != nil:
		return d.objects.heldBytes(places)
	case d.finished == nil:
		return 0
	}
	for rel := range places {
		n += finishedFileBytes + int64(len(rel))
	}
	return n
}

// Leave ends the building of the folder so that the next ResumeDir goes on with it, and tells
// where it waits. It does nothing, and ok is false, where no file is finished or nobody could go
// on. It works after ctx has ended as well.
func (d *Dir) Leave(ctx context.Context) (temp string, ok bool) {
	if d.done {
		return "", false
	}
	if d.objects != nil {
		d.done = d.objects.leave(ctx)
		return d.path, d.done
	}
	if d.finished == nil || len(d.finished.of) == 0 {
		return "", false
	}
	if f, busy := lockStale(d.temp, true); !busy { // the file system has no locks
		if f != nil {
			f.Close()
		}
		return "", false
	}
	d.done = true
	d.finished.file.Close()
	d.lock.Close()
	return d.temp, true
}
