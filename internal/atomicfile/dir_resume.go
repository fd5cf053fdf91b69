package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/internal/ownfile"
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
	in, name, err := openParent(path)
	if err != nil {
		return nil, err
	}
	var remarks []string
	for temp, isDir := range temps(in, name) {
		shown := filepath.Join(filepath.Dir(path), temp)
		lock, busy, err := lockStale(in, temp, isDir)
		if errors.Is(err, ownfile.ErrForeign) {
			remarks = append(remarks, fmt.Sprintf("%s stays, and nothing in it is used: %v", shown, err))
		}
		switch {
		case busy && isDir:
			if d != nil {
				d.lock.Close()
				d.root.Close()
			}
			in.Close()
			return nil, &stream.OutputError{Path: path, Err: stream.Errorf("another run is building it, in %s", shown), Remedy: stream.PlainText("wait until that has ended, or name another output")}
		case lock == nil:
			continue
		case isDir && d == nil && isAt(lock, in, temp):
			folder, err := openLeft(in, temp)
			if err == nil {
				d = &Dir{path: path, in: in, name: name, temp: temp, root: folder, lock: lock}
				continue
			}
			remarks = append(remarks, fmt.Sprintf("what an interrupted run has left in %s is not gone on with: %v", shown, err))
		}
		lock.Close()
	}
	if d == nil {
		if d, err = createTempDir(in, name, path); err != nil {
			return nil, err
		}
	} else {
		sweepTemps(in, name) // left by older runs
	}
	d.remarks = remarks
	return d, nil
}

// openLeft opens the temporary folder that a run has left, in which nobody else can have written.
func openLeft(in *os.Root, temp string) (*os.Root, error) {
	folder, err := ownfile.OpenFolder(in, temp)
	if err != nil {
		return nil, err
	}
	info, err := folder.Stat(".")
	if err == nil && ownfile.OthersRights(info)&0o022 != 0 {
		err = errors.New("other users can write there")
	}
	if err == nil && !isTemp(folder) {
		err = errors.New("it is none that a run has made")
	}
	if err != nil {
		folder.Close()
		return nil, err
	}
	return folder, nil
}

// takeUp reads which files are finished, and removes all others and those that are not wanted.
func (d *Dir) takeUp(wanted func(rel string) bool) (err error) {
	if d.finished, err = openFinished(d.root); err != nil {
		return err
	}
	return d.removeUnfinished(".", wanted)
}

// removeUnfinished removes the files in a folder that are not finished or not wanted. A folder that is empty
// then may stand where a file is to be.
func (d *Dir) removeUnfinished(folder string, wanted func(rel string) bool) error {
	entries, err := readDir(d.root, folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		rel := path.Join(folder, e.Name())
		if e.IsDir() {
			if err := d.removeUnfinished(rel, wanted); err != nil {
				return err
			}
			_ = d.root.Remove(rel) // which refuses one that is not empty
			continue
		}
		if _, finished := d.finished.of[rel]; rel == finishedName || finished && wanted(rel) {
			continue
		}
		if err := d.root.Remove(rel); err != nil {
			return err
		}
	}
	return nil
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
		same = func() bool { return f.same(ctx, d.root, rel) }
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
	if f, busy, _ := lockStale(d.in, d.temp, true); !busy { // the file system has no locks
		if f != nil {
			f.Close()
		}
		return "", false
	}
	d.done = true
	d.finished.file.Close()
	d.close()
	return d.Path(), true
}
