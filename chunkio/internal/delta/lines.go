package delta

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// maxWholeFile is the largest file that is read at once. Most commits have a few kB, and one request is faster than
// two. Longer files are read in parts.
const maxWholeFile = 4 << 20

// maxLine limits the length of a line. The longest lines of real writers are metaData actions of tables with thousands
// of columns, and add actions with statistics of all these columns.
const maxLine = 64 << 20

// lineCopies is the memory for reading a line, as a multiple of the length of the line: the buffer, which doubles, and
// the parsed action with its strings.
const lineCopies = 4

// openFile opens a file of the log for reading from its start. release, if not nil, frees the file's memory.
func (t *table) openFile(ctx context.Context, f logFile) (r io.Reader, release func(), err error) {
	if f.size <= maxWholeFile {
		if err := t.budget.reserveBytes(f.size, t.name); err != nil {
			return nil, nil, err
		}
		b, err := t.folder.ReadFile(ctx, f.name, maxWholeFile)
		if err != nil {
			t.budget.releaseBytes(f.size)
			return nil, nil, t.errUnreadableFile(f.name, err)
		}
		return bytes.NewReader(b), func() { t.budget.releaseBytes(f.size) }, t.checkSize(f, int64(len(b)))
	}
	in, err := t.folder.Open(ctx, f.name)
	if err != nil {
		return nil, nil, t.errUnreadableFile(f.name, err)
	}
	return io.NewSectionReader(in, 0, in.Size()), func() { in.Close() }, t.checkSize(f, in.Size())
}

// checkSize returns an error if the size of an opened file differs from its size in the listing. Files of a log never
// change. If a file was cut off between two lines, only its size shows this.
func (t *table) checkSize(f logFile, size int64) error {
	if size != f.size {
		return t.errDamagedFile(f.name, "has %d bytes where the log says %d: it is cut off or was written over", size, f.size)
	}
	return nil
}

// folderError wraps an error of the folder, so that it is not treated as a fault in the content of the file.
type folderError struct{ error }

func (e folderError) Unwrap() error { return e.error }

func (t *table) errUnreadableFile(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		e := stream.Dataf(t.pathForMessages(name), "is missing, though the listing or the log names it: %w", err)
		e.Remedy = stream.Textf("read the table again; if that fails here too, restore the file from a copy")
		return e
	}
	if _, placed := errors.AsType[*stream.DataError](err); !placed {
		err = folderError{err}
	}
	return format.PlaceError(t.pathForMessages(name), -1, "", err)
}

// remedyRestore is the remedy for a damaged file of the log.
const remedyRestore = "restore the file from a copy, or set {version} to one that does not need it"

func (t *table) errDamagedFile(name, text string, args ...any) error {
	e := stream.Dataf(t.pathForMessages(name), text, args...)
	e.Remedy = stream.Textf(remedyRestore)
	return e
}

// readActions passes the actions of a JSON file of the log to visit, in order. It adds the line number to errors.
func (t *table) readActions(ctx context.Context, f logFile, visit func(a *action) error) error {
	r, release, err := t.openFile(ctx, f)
	if release != nil {
		defer release()
	}
	if err != nil {
		return err
	}
	return t.parseActions(ctx, r, f, visit)
}

// parseActions passes the actions in r, the JSON file f of the log, to visit. It adds the line number to errors.
func (t *table) parseActions(ctx context.Context, r io.Reader, f logFile, visit func(a *action) error) error {
	n := 0
	return t.scanLines(r, f, func(line []byte) error {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		a := new(action)
		err := parseActionLine(line, a)
		if err == nil {
			err = visit(a)
		}
		return t.errAtLine(f.name, n, err)
	})
}

func (t *table) scanLines(r io.Reader, f logFile, visit func(line []byte) error) error {
	longest := min(maxLine, int(max(0, t.budget.limit-t.budget.used)/lineCopies))
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, min(longest, 64<<10)), longest)
	n := 0
	for ; lines.Scan(); n++ {
		line := lines.Bytes()
		if err := t.budget.reserveBytes(lineCopies*int64(len(line)), t.name); err != nil {
			return err
		}
		err := visit(line)
		t.budget.releaseBytes(lineCopies * int64(len(line)))
		if err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong) && longest < maxLine:
		return t.budget.errOverLimit(lineCopies*min(f.size, maxLine), t.name)
	case errors.Is(err, bufio.ErrTooLong):
		return t.errDamagedFile(f.name, "line %d is longer than %d MiB", n+1, maxLine>>20)
	case err != nil:
		return t.errUnreadableFile(f.name, err)
	case n == 0:
		return t.errDamagedFile(f.name, "is empty (0 bytes), which no commit is")
	}
	return nil
}

func parseActionLine(line []byte, a *action) error {
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		return errors.New("is empty")
	case !utf8.Valid(line): // encoding/json would silently replace the bytes
		return errors.New("is no valid UTF-8")
	case line[0] == '{' && bytes.HasPrefix(line, []byte(`{"commitInfo":`)): // commitInfo may contain any value
		if !json.Valid(line) {
			return errors.New("is no valid JSON")
		}
		return nil
	}
	if err := json.Unmarshal(line, a); err != nil {
		return fmt.Errorf("is no action: %w", stream.PlainJSON(err))
	}
	return nil
}

func (t *table) errAtLine(name string, line int, err error) error {
	var memory *stream.MemoryError
	var data *stream.DataError
	if err == nil || errors.As(err, &memory) || errors.As(err, &data) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return t.errDamagedFile(name, "line %d %w", line, err)
}
