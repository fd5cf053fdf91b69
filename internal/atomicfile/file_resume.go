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

// growingName is the name of a file while it is written in a folder beside its place.
const growingName = ".ufs-output"

// ResumeFile is Create for a file that a later run can go on with, behind the last of its Marks: it
// opens what a killed run has left, or one that has called Leave, and gives the marks of what is
// there, in their order. It keeps the longest beginning that ends at a mark, whose bytes are those
// that were written and of whose marks all are wanted; and refuses a file that another run is
// writing. An object in a store, and a file on a file system without locks, begins anew.
func ResumeFile(ctx context.Context, path string, wanted func(Finished) bool) (*File, []Finished, error) {
	if place.IsURL(path) {
		f, err := Create(ctx, path)
		return f, nil, err
	}
	path, err := place.Local(path)
	if err != nil {
		return nil, nil, err
	}
	if err := checkFile(path); err != nil {
		return nil, nil, err
	}
	dir, err := resumeTemp(path)
	if err != nil {
		return nil, nil, err
	}
	a := &File{path: path, in: dir.in, name: dir.name, temp: filepath.Join(dir.temp, growingName), dir: dir, disk: faults.Of(ctx),
		there: replacedFile(dir.in, dir.name)}
	marks, err := a.takeUp(ctx, wanted)
	if err != nil {
		if ctx.Err() != nil {
			if temp, ok := dir.Leave(ctx); ok {
				a.f.Close()
				return nil, nil, &Waits{Temp: temp, Err: err}
			}
		}
		a.Abort()
		if ctx.Err() == nil {
			err = &stream.OutputError{Path: path, Err: err, Remedy: Remedy(err)}
		}
		return nil, nil, err
	}
	return a, marks, nil
}

// Waits is that ctx ended before ResumeFile had read what is there: it still waits at Temp, as it was.
type Waits struct {
	Temp string
	Err  error
}

func (e *Waits) Error() string { return e.Err.Error() }
func (e *Waits) Unwrap() error { return e.Err }

// takeUp opens the file behind its last mark that holds, and strikes out those behind it.
func (a *File) takeUp(ctx context.Context, wanted func(Finished) bool) (marks []Finished, err error) {
	if a.dir.finished, err = openFinished(a.dir.root); err != nil {
		return nil, err
	}
	if a.f, err = ownfile.OpenOrMake(a.dir.root, growingName, 0o666); err != nil {
		return nil, err
	}
	a.buffer()
	sum := xxhash.New() // of all that is read; a.sum is that up to the last mark that holds
	for {
		m, ok := a.dir.finished.of[strconv.Itoa(len(marks))]
		if !ok || m.Bytes < a.written {
			break
		}
		if !wanted(m) {
			a.refused = Outdated
			break
		}
		if _, err := io.Copy(sum, untilDone{ctx, io.LimitReader(a.f, m.Bytes-a.written)}); err != nil {
			return nil, err
		}
		if sum.Sum64() != m.Sum {
			a.refused = Altered
			break
		}
		*a.sum = *sum
		marks, a.written = append(marks, m), m.Bytes
	}
	// A mark that does not hold now must not hold the next time, behind others than it was made behind: what it tells
	// is of the bytes since the one before it.
	for k := len(marks); ; k++ {
		m, ok := a.dir.finished.of[strconv.Itoa(k)]
		if !ok {
			break
		}
		if m.Bytes < 0 {
			continue
		}
		if err := a.dir.finished.add(Finished{Place: m.Place, Bytes: -1}); err != nil {
			return nil, err
		}
	}
	for at, m := range a.dir.finished.of {
		m.Detail = nil // it may be long
		a.dir.finished.of[at] = m
	}
	if err := a.f.Truncate(a.written); err != nil {
		return nil, err
	}
	a.marks = len(marks)
	_, err = a.f.Seek(a.written, io.SeekStart)
	return marks, err
}

// untilDone reads until a context ends.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// Mark notes that what was written so far is a beginning to go on from; recipe names all that shapes
// it, and detail is for whoever does. It does nothing for a file of Create.
func (a *File) Mark(recipe string, rows int64, detail []byte) error {
	if a.dir == nil || a.err != nil {
		return a.err
	}
	if err := a.buf.Flush(); err != nil {
		return a.fail(err)
	}
	err := a.dir.finished.add(Finished{Place: strconv.Itoa(a.marks), Recipe: recipe, Rows: rows, Bytes: a.written, Sum: a.sum.Sum64(), Detail: detail})
	if err == nil {
		a.marks++
	}
	return a.fail(err)
}

// Remarks returns the remarks of the folder that the file grows in, if it does.
func (a *File) Remarks() []string {
	if a.dir == nil {
		return nil
	}
	return a.dir.remarks
}

// Refused tells why ResumeFile went on no further with what was there: a mark was not wanted (Outdated) or
// its bytes are not those that were written (Altered); Unfinished if neither.
func (a *File) Refused() Fate { return a.refused }

// Resumable reports whether Mark is of use.
func (a *File) Resumable() bool { return a.dir != nil }

// Leave ends the writing of the file so that the next ResumeFile goes on with it, and tells where it
// waits. It does nothing, and ok is false, where nothing is marked or nobody could go on.
func (a *File) Leave(ctx context.Context) (temp string, ok bool) {
	if a.done || a.dir == nil || a.marks == 0 {
		return "", false
	}
	if temp, ok = a.dir.Leave(ctx); ok {
		a.done = true
		a.f.Close() // behind the last mark nothing counts
	}
	return temp, ok
}
