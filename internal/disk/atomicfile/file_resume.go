package atomicfile

import (
	"context"
	"io"
	"path/filepath"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/ownfile"
	"github.com/ufs-stream/ufs-stream/internal/testing/faults"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ResumeFile is Create for a file that a later run can continue after one of its marks (RecordMark). If an earlier run
// was killed or has called LeaveForResume, ResumeFile opens its unfinished file. It keeps the longest beginning that
// ends at a mark, has unchanged bytes, and has only wanted marks; it returns these marks in order. It refuses a file
// that another run is writing. It always begins anew for an object in a store, and on a file system without locks.
func ResumeFile(ctx context.Context, path string, wanted func(FinishedFile) bool) (*File, []FinishedFile, error) {
	if place.IsURL(path) {
		f, err := Create(ctx, path)
		return f, nil, err
	}
	path, err := place.LocalPath(path)
	if err != nil {
		return nil, nil, err
	}
	if err := checkCanBecomeFile(path); err != nil {
		return nil, nil, err
	}
	dir, err := openOrCreateTempDir(path)
	if err != nil {
		return nil, nil, err
	}
	a := &File{path: path, parent: dir.parent, name: dir.name, temp: filepath.Join(dir.temp, outputName), dir: dir, disk: faults.DiskOf(ctx),
		replaced: findReplacedFile(dir.parent, dir.name)}
	marks, err := a.readValidMarks(ctx, wanted)
	if err != nil {
		if ctx.Err() != nil {
			if temp, ok := dir.LeaveForResume(ctx); ok {
				a.file.Close()
				return nil, nil, &WaitingError{Temp: temp, Err: err}
			}
		}
		a.Abort()
		if ctx.Err() == nil {
			err = &stream.OutputError{Path: path, Err: err, Remedy: RemedyFor(err)}
		}
		return nil, nil, err
	}
	return a, marks, nil
}

// WaitingError reports that ctx ended before ResumeFile had read the unfinished file. The file stays in the temporary
// folder Temp.
type WaitingError struct {
	Temp string
	Err  error
}

func (e *WaitingError) Error() string { return e.Err.Error() }
func (e *WaitingError) Unwrap() error { return e.Err }

func (a *File) readValidMarks(ctx context.Context, wanted func(FinishedFile) bool) (marks []FinishedFile, err error) {
	if a.file, err = ownfile.OpenOrCreate(a.dir.folder, outputName, 0o666); err != nil {
		return nil, err
	}
	a.resetBuffer()
	sum := xxhash.New() // hash of all bytes read; a.sum is the hash of the bytes up to the last valid mark
	a.dir.finished, err = openFinishedList(a.dir.folder, func(m FinishedFile) (bool, error) {
		if m.Place != strconv.Itoa(len(marks)) || m.Bytes < a.written {
			return false, nil
		}
		if !wanted(m) {
			a.refusalFate = Outdated
			return false, nil
		}
		if _, err := io.Copy(sum, contextReader{ctx, io.LimitReader(a.file, m.Bytes-a.written)}); err != nil {
			return false, err
		}
		if sum.Sum64() != m.Sum {
			a.refusalFate = Altered
			return false, nil
		}
		*a.sum = *sum
		marks, a.written = append(marks, m), m.Bytes
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if err := a.file.Truncate(a.written); err != nil {
		return nil, err
	}
	a.markCount = len(marks)
	_, err = a.file.Seek(a.written, io.SeekStart)
	return marks, err
}

// contextReader reads from r until ctx ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (u contextReader) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// RecordMark records a mark: a later run can continue after the bytes written so far. recipe identifies everything that
// determines these bytes; detail is any data that the later run needs. After Create, RecordMark does nothing.
func (a *File) RecordMark(recipe string, rows int64, detail []byte) error {
	if a.dir == nil || a.err != nil {
		return a.err
	}
	if err := a.buffer.Flush(); err != nil {
		return a.recordError(err)
	}
	err := a.dir.finished.appendRecord(FinishedFile{Place: strconv.Itoa(a.markCount), Recipe: recipe, Rows: rows, Bytes: a.written, Sum: a.sum.Sum64(), Detail: detail})
	if err == nil {
		a.markCount++
	}
	return a.recordError(err)
}

// Remarks returns the remarks about the temporary folder of the file, if it has one.
func (a *File) Remarks() []string {
	if a.dir == nil {
		return nil
	}
	return a.dir.remarks
}

// RefusalFate returns the reason why ResumeFile did not keep more of the unfinished file: Outdated if a mark was not
// wanted, Altered if bytes before a mark had changed, otherwise Unfinished.
func (a *File) RefusalFate() Fate { return a.refusalFate }

// IsResumable reports whether RecordMark has an effect.
func (a *File) IsResumable() bool { return a.dir != nil }

// LeaveForResume stops writing the file, so that the next ResumeFile can continue it. It returns the temporary folder
// that remains. If there is no mark, or a later run could not continue the file, it does nothing and returns false.
func (a *File) LeaveForResume(ctx context.Context) (temp string, ok bool) {
	if a.closed || a.dir == nil || a.markCount == 0 {
		return "", false
	}
	if temp, ok = a.dir.LeaveForResume(ctx); ok {
		a.closed = true
		a.file.Close() // bytes after the last mark do not count
	}
	return temp, ok
}
