package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/ownfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The names in a temporary folder: of the list of finished files, and of the unfinished file or folder.
const (
	finishedName = ".ufs-finished"
	outputName   = ".ufs-output"
)

// ResumeDir is CreateDir for a folder that a later run can continue. If the last run that built the folder at path was
// killed or called LeaveForResume, ResumeDir keeps its finished files, and removes the files that are not wanted.
// RecordFile records that a file is complete; CheckFinished reports whether a file already is. Slashes separate the
// parts of the names of files.
//
// ResumeDir refuses a local folder that another run is building; on a file system without locks every run begins anew.
// It takes over any unfinished folder in a store, even of a run on another machine, because a store cannot show whether
// this run is alive. If that run is alive, its next RecordFile, Commit or Abort fails, and changes nothing.
func ResumeDir(ctx context.Context, path string, wanted func(rel string) bool) (*Dir, error) {
	if place.IsURL(path) {
		return newStoreDir(resumeObjectDir(ctx, path, wanted))
	}
	path, err := resolveEmptyFolder(path)
	if err != nil {
		return nil, err
	}
	d, err := openOrCreateTempDir(path)
	if err != nil {
		return nil, err
	}
	if err := d.openOutput(ctx); err != nil {
		return nil, err
	}
	if err := d.keepOnlyFinished(wanted); err != nil {
		_ = d.Abort(ctx) // for a local folder there is nothing to report
		return nil, &stream.OutputError{Path: path, Err: err, Remedy: RemedyFor(err)}
	}
	return d, nil
}

func openOrCreateTempDir(path string) (d *Dir, err error) {
	in, name, err := openParent(path)
	if err != nil {
		return nil, err
	}
	var remarks []string
	for temp, isDir := range listTempEntries(in, name) {
		shown := filepath.Join(filepath.Dir(path), temp)
		lock, busy, err := lockStale(in, temp, isDir)
		if errors.Is(err, ownfile.ErrForeign) {
			remarks = append(remarks, fmt.Sprintf("%s is left alone and not used: %v", shown, err))
		}
		switch {
		case busy && isDir:
			if d != nil {
				d.lock.Close()
				d.folder.Close()
			}
			in.Close()
			return nil, &stream.OutputError{Path: path, Err: stream.Errorf("another run is building it, in %s", shown), Remedy: stream.PlainText("wait until that has ended, or name another output")}
		case lock == nil:
			continue
		case isDir && d == nil && isStillNamed(lock, in, temp):
			folder, err := openLeftoverDir(in, temp)
			if err == nil {
				d = &Dir{path: path, parent: in, name: name, temp: temp, folder: folder, lock: lock}
				continue
			}
			remarks = append(remarks, fmt.Sprintf("the interrupted run in %s cannot be continued: %v", shown, err))
		}
		lock.Close()
	}
	if d == nil {
		if d, err = createTempDir(in, name, path); err != nil {
			return nil, err
		}
	} else {
		sweepTemps(in, name) // removes temporaries of older runs
	}
	d.remarks = remarks
	return d, nil
}

func openLeftoverDir(in *os.Root, temp string) (*os.Root, error) {
	folder, err := ownfile.OpenFolder(in, temp)
	if err != nil {
		return nil, err
	}
	info, err := folder.Stat(".")
	if err == nil && ownfile.OthersRights(info)&0o022 != 0 {
		err = errors.New("other users can write there")
	}
	if err == nil && !isTempFolder(folder) {
		err = errors.New("no run of this program made it")
	}
	if err != nil {
		folder.Close()
		return nil, err
	}
	return folder, nil
}

func (d *Dir) keepOnlyFinished(wanted func(rel string) bool) (err error) {
	if d.finished, err = openFinishedList(d.folder, isInFolder); err != nil {
		return err
	}
	return d.removeUnfinished(".", wanted)
}

// removeUnfinished removes the files in a folder that are unfinished or not wanted. It also removes folders that become
// empty, because a new file may have the name of such a folder.
func (d *Dir) removeUnfinished(folder string, wanted func(rel string) bool) error {
	entries, err := readDir(d.output, folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		rel := path.Join(folder, e.Name())
		if e.IsDir() {
			if err := d.removeUnfinished(rel, wanted); err != nil {
				return err
			}
			_ = d.output.Remove(rel) // Remove refuses a folder that is not empty
			continue
		}
		if _, finished := d.finished.byPlace[rel]; finished && wanted(rel) {
			continue
		}
		if err := d.output.Remove(rel); err != nil {
			return err
		}
	}
	return nil
}

// Fate is the state of a file that an earlier run may have finished.
type Fate int

// A Fate is a result of CheckFinished.
const (
	Unfinished Fate = iota
	Outdated        // finished, but not by the recipe of this run
	Altered         // finished, but later changed or removed
	Whole           // finished and unchanged
)

// CheckFinished reports whether the file rel already exists as a run with this recipe would write it. For a local file
// with fate Whole, all bytes were read; for an object with this fate, size and version match its upload.
func (d *Dir) CheckFinished(ctx context.Context, rel, recipe string) (f FinishedFile, fate Fate, err error) {
	var same func() bool
	switch {
	case d.objects != nil && d.objects.list != nil:
		f = d.objects.list.byPlace[rel]
		same = func() bool { return d.objects.matchesFinished(ctx, f) }
	case d.finished != nil:
		f = d.finished.byPlace[rel]
		same = func() bool { return f.matchesFile(ctx, d.output, rel) }
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

// RecordFile records that the file rel, which was committed, is complete. In a store the record is saved only some
// seconds later.
func (d *Dir) RecordFile(ctx context.Context, rel string, file *File, recipe string, rows int64) error {
	f := FinishedFile{Place: rel, Recipe: recipe, Rows: rows, Bytes: file.written, Sum: file.sum.Sum64(), Version: file.uploadedObject.Version}
	switch {
	case d.objects != nil:
		return d.objects.recordFinished(ctx, f)
	case d.finished == nil:
		return nil
	}
	if err := d.finished.appendRecord(f); err != nil {
		return &stream.OutputError{Path: d.path, Err: err, Remedy: RemedyFor(err)}
	}
	return nil
}

// HeldBytes returns an upper bound of the memory for the Dir's records once the files at these places are complete.
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

// LeaveForResume stops building the folder, so that the next ResumeDir can continue it. It returns the temporary folder
// that remains. If no file is finished, or a later run could not continue the folder, it does nothing and returns
// false. It also works after ctx has ended.
func (d *Dir) LeaveForResume(ctx context.Context) (temp string, ok bool) {
	if d.closed {
		return "", false
	}
	if d.objects != nil {
		d.closed = d.objects.leaveForResume(ctx)
		return d.path, d.closed
	}
	if d.finished == nil || len(d.finished.byPlace) == 0 {
		return "", false
	}
	if f, busy, _ := lockStale(d.parent, d.temp, true); !busy { // this run has no lock, because the file system has none
		if f != nil {
			f.Close()
		}
		return "", false
	}
	d.closed = true
	d.finished.log.Close()
	d.closeHandles()
	return filepath.Join(filepath.Dir(d.path), d.temp), true
}
