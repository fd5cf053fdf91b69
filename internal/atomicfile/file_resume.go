package atomicfile

import (
	"context"
	"io"
	"path/filepath"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/internal/faults"
	"github.com/ufs-stream/ufs-stream/internal/ownfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// growingName is the name of a file while it is written, in a temporary folder next to its place.
const growingName = ".ufs-output"

// ResumeFile is Create for a file that a later run can continue after the last of its Marks: it opens the file
// of a run that was killed or has called Leave, and returns its marks in order. It keeps the longest beginning
// that ends at a mark, has the bytes that were written, and whose marks are all wanted. It refuses a file that
// another run is writing. An object in a store, and a file on a file system without locks, begins anew.
func ResumeFile(ctx context.Context, path string, wanted func(FinishedFile) bool) (*File, []FinishedFile, error) {
	if place.IsURL(path) {
		f, err := Create(ctx, path)
		return f, nil, err
	}
	path, err := place.LocalPath(path)
	if err != nil {
		return nil, nil, err
	}
	if err := checkFilePath(path); err != nil {
		return nil, nil, err
	}
	dir, err := openOrCreateTempDir(path)
	if err != nil {
		return nil, nil, err
	}
	a := &File{path: path, parent: dir.parent, name: dir.name, temp: filepath.Join(dir.temp, growingName), dir: dir, disk: faults.DiskOf(ctx),
		replaced: replacedFile(dir.parent, dir.name)}
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

// WaitingError is the error if ctx ended before ResumeFile had read the old file, which still waits unchanged at Temp.
type WaitingError struct {
	Temp string
	Err  error
}

func (e *WaitingError) Error() string { return e.Err.Error() }
func (e *WaitingError) Unwrap() error { return e.Err }

// readValidMarks opens the file after its last valid mark, and invalidates the marks after that.
func (a *File) readValidMarks(ctx context.Context, wanted func(FinishedFile) bool) (marks []FinishedFile, err error) {
	if a.dir.finished, err = openFinished(a.dir.folder); err != nil {
		return nil, err
	}
	if a.file, err = ownfile.OpenOrCreate(a.dir.folder, growingName, 0o666); err != nil {
		return nil, err
	}
	a.resetBuffer()
	sum := xxhash.New() // of all bytes read; a.sum is the one up to the last valid mark
	for {
		m, ok := a.dir.finished.byPlace[strconv.Itoa(len(marks))]
		if !ok || m.Bytes < a.written {
			break
		}
		if !wanted(m) {
			a.refused = Outdated
			break
		}
		if _, err := io.Copy(sum, contextReader{ctx, io.LimitReader(a.file, m.Bytes-a.written)}); err != nil {
			return nil, err
		}
		if sum.Sum64() != m.Sum {
			a.refused = Altered
			break
		}
		*a.sum = *sum
		marks, a.written = append(marks, m), m.Bytes
	}
	// A mark that is invalid now must stay so the next time, after other marks: its checksum covers the bytes
	// since the mark before it.
	for k := len(marks); ; k++ {
		m, ok := a.dir.finished.byPlace[strconv.Itoa(k)]
		if !ok {
			break
		}
		if m.Bytes < 0 {
			continue
		}
		if err := a.dir.finished.appendLine(FinishedFile{Place: m.Place, Bytes: -1}); err != nil {
			return nil, err
		}
	}
	for at, m := range a.dir.finished.byPlace {
		m.Detail = nil // it may be long
		a.dir.finished.byPlace[at] = m
	}
	if err := a.file.Truncate(a.written); err != nil {
		return nil, err
	}
	a.markCount = len(marks)
	_, err = a.file.Seek(a.written, io.SeekStart)
	return marks, err
}

// contextReader reads until a context ends.
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

// RecordMark records that a later run can continue after the bytes written so far; recipe names everything that
// shapes them, and detail is for the run that continues. It does nothing for a file of Create.
func (a *File) RecordMark(recipe string, rows int64, detail []byte) error {
	if a.dir == nil || a.err != nil {
		return a.err
	}
	if err := a.buffer.Flush(); err != nil {
		return a.recordError(err)
	}
	err := a.dir.finished.appendLine(FinishedFile{Place: strconv.Itoa(a.markCount), Recipe: recipe, Rows: rows, Bytes: a.written, Sum: a.sum.Sum64(), Detail: detail})
	if err == nil {
		a.markCount++
	}
	return a.recordError(err)
}

// Remarks returns the remarks of the folder in which the file grows, if any.
func (a *File) Remarks() []string {
	if a.dir == nil {
		return nil
	}
	return a.dir.remarks
}

// RefusalFate returns why ResumeFile did not keep more of the old file: Outdated if a mark was not wanted, Altered
// if its bytes had changed, otherwise Unfinished.
func (a *File) RefusalFate() Fate { return a.refused }

// IsResumable reports whether RecordMark has an effect.
func (a *File) IsResumable() bool { return a.dir != nil }

// LeaveForResume ends the writing of the file so that the next ResumeFile continues it, and returns the folder in which
// it waits. It does nothing, and ok is false, if nothing is marked or nobody could continue.
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
