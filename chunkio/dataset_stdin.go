package chunkio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Stdin is standard input that may be opened several times until Close. The first Open stores it in scratch files, and
// later calls of Open read these files. An Arrow IPC stream is stored only if Options.Again is set.
type Stdin struct {
	from io.Reader

	mu    sync.Mutex
	form  *stdinFormat // nil until the first bytes have been read
	err   error        // returned by later calls of Open
	open  opener       // nil until standard input is stored
	texts *textTables  // contains the stored rows
}

// NewStdin returns a Stdin that reads r. It returns r itself if r is a *Stdin, because a caller may have set
// Options.Stdin to a Stdin of its own.
func NewStdin(r io.Reader) *Stdin {
	if s, ok := r.(*Stdin); ok {
		return s
	}
	return &Stdin{from: r}
}

// refuseStdinFile refuses an output that would replace the file that a shell has opened as standard input.
func refuseStdinFile(out string, stdin io.Reader) error {
	opened, ok := NewStdin(stdin).from.(interface{ Stat() (fs.FileInfo, error) })
	local, err := place.LocalPath(out)
	if !ok || err != nil || place.IsURL(out) {
		return nil //nolint:nilerr // a file of this name cannot exist
	}
	is, err1 := opened.Stat()
	there, err2 := os.Stat(local)
	if err1 == nil && err2 == nil && is.Mode().IsRegular() && os.SameFile(is, there) {
		return atomicfile.ErrReplacesInput(out)
	}
	return nil
}

// Read implements io.Reader.
func (s *Stdin) Read(p []byte) (int, error) { return s.from.Read(p) }

// Close removes the scratch files. Afterwards standard input cannot be opened or read any more.
func (s *Stdin) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil {
		return nil
	}
	s.open, s.err = nil, errStdinOnlyOnce()
	return s.texts.closeScratch()
}

// storeOrStream stores standard input in scratch files unless this was done before. If the input is a stream that need
// not be stored, it is returned as a reader that can be read once.
func (s *Stdin) storeOrStream(ctx context.Context, a *access) (once io.Reader, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sniffFormatOnce()
	switch {
	case s.open != nil || s.err != nil:
		return nil, s.err
	case s.form.stream && !a.exactIntegers && !a.opt.Again:
		s.err = errStdinOnlyOnce()
		return s.form.from, nil
	}
	s.open, s.err = a.storeStdin(ctx, *s.form)
	s.texts = &a.texts
	return nil, s.err
}

// Stream reports whether standard input is an Arrow IPC stream according to its first bytes. The result is also true if
// standard input is missing, empty or of an unknown format.
func (s *Stdin) Stream() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sniffFormatOnce()
	return s.form.stream
}

func (s *Stdin) sniffFormatOnce() {
	if s.form == nil {
		s.form = new(stdinFormat)
		*s.form, s.err = sniffStdin(s.from)
	}
}

func errStdinOnlyOnce() error {
	return stream.Usagef("standard input can be read only once, and this run needs it again; save it to a file first")
}

// stdinFormat is the format of standard input according to its first bytes. If rows is intake.None and stream is not
// set, standard input is a file with a footer at its end.
type stdinFormat struct {
	from   *bufio.Reader // uncompressed
	rows   intake.Format // intake.None if the input is not a file of rows
	stream bool          // an Arrow IPC stream, or missing, empty or unknown
}

func sniffStdin(in io.Reader) (s stdinFormat, err error) {
	if in == nil {
		s.stream = true
		return s, stream.Usagef("- : there is no standard input to read")
	}
	s.from = bufio.NewReaderSize(in, 1<<16)
	head, err := peekHead(s.from)
	if err != nil {
		return s, err
	}
	if packing := intake.SniffPacking(head); packing != "" {
		unpack, err := newDecompressor(ipc.StreamName, s.from, packing)
		if err != nil {
			return s, err
		}
		s.from = bufio.NewReaderSize(unpack, 1<<16)
		if head, err = peekHead(s.from); err != nil {
			return s, err
		}
	}
	switch {
	case len(head) == 0:
		s.stream = true
		return s, stream.Dataf(ipc.StreamName, "is empty")
	case bytes.HasPrefix(head, []byte(parquet.Magic)), bytes.HasPrefix(head, []byte(parquet.EncryptedMagic)), bytes.HasPrefix(head, []byte(ipc.Magic)):
	case bytes.HasPrefix(head, []byte(ipc.StreamMagic)):
		s.stream = true
	default:
		s.rows = intake.SniffFormat(head)
		s.stream = s.rows == intake.None // an old stream or an unknown format: the reader of streams reports the error
	}
	return s, nil
}

func peekHead(from *bufio.Reader) ([]byte, error) {
	head, err := from.Peek(intake.SniffBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		return nil, stream.Dataf(ipc.StreamName, "%w", err)
	}
	return head, nil
}

func (a *access) openStdin(ctx context.Context, in io.Reader, list *fileList, f *filter, opt catalogOptions) (c *catalog, once io.Reader, err error) {
	if err := a.opt.Texts.Check(); err != nil {
		return nil, nil, err
	}
	s := NewStdin(in)
	a.borrowsTexts = s == in
	if once, err = s.storeOrStream(ctx, a); err != nil || once != nil {
		return nil, once, err
	}
	if c, err = openCatalog(ctx, list, f, s.open, opt); err == nil {
		c.texts = s.texts
		err = s.texts.checkColumnNames(a.opt.Texts)
	}
	return c, nil, err
}

func (a *access) storeStdin(ctx context.Context, s stdinFormat) (opener, error) {
	digest := xxhash.New()
	in := &stdinInput{}
	var table *intake.Table
	var err error
	saved := s.rows == intake.None || s.rows == intake.NPY || a.exactIntegers // these inputs must be read twice
	if !saved {
		from := intake.Input{Name: ipc.StreamName, Format: s.rows, Once: true, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.TeeReader(s.from, digest)), nil
		}}
		rows, err := a.convertRows(ctx, from, a.opt.Memory)
		if err != nil {
			return nil, err
		}
		in.reader, in.size, table = rows.reader, rows.table.Bytes, rows.table
	} else if err = a.copyStdin(ctx, io.TeeReader(s.from, digest), in); err != nil {
		return nil, err
	}
	in.digest = digest.Sum64()
	return func(ctx context.Context, _ fileEntry, memory int64, meter *stream.Meter) (format.File, Input, error) {
		counted := &countingInput{Input: in}
		var opened format.File
		var err error
		if saved && s.rows != intake.None {
			opened, err = a.openRows(ctx, counted, s.rows, "", memory)
		} else {
			opened, err = a.openByFormat(ctx, counted, memory)
		}
		if err != nil {
			return nil, nil, err
		}
		if table != nil {
			annotateLeaves(opened.Leaves(), table)
		}
		counted.meter.Store(meter)
		return opened, in, nil
	}, nil
}

// copyStdin copies standard input unchanged to a scratch file, because it must be read more than once.
func (a *access) copyStdin(ctx context.Context, from io.Reader, in *stdinInput) error {
	spool, err := a.texts.newSpool(a.opt.Spool)
	if err != nil {
		return err
	}
	endConversion := a.notifyConversion(ipc.StreamName)
	buf := make([]byte, 1<<20)
	for err == nil {
		var n int
		n, err = from.Read(buf)
		if n > 0 {
			if _, full := spool.Write(buf[:n]); full != nil {
				err = full
			}
			in.size += int64(n)
		}
		if err == nil {
			err = ctx.Err()
		}
	}
	if !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		endConversion(err)
		return errors.Join(format.PlaceError(ipc.StreamName, -1, "", err), spool.Close())
	}
	endConversion(nil)
	if a.opt.Note != nil {
		a.opt.Note(stream.Textf("%s: %s of scratch, as it came", ipc.StreamName, humanize.IBytes(uint64(in.size))))
	}
	in.reader = spool
	return nil
}

// stdinInput is standard input after it was stored, either its rows as Parquet or its unchanged bytes.
type stdinInput struct {
	reader io.ReaderAt
	size   int64
	digest uint64 // hash of all bytes of standard input
}

// These methods implement Input. Close keeps the scratch file for the next pass.
func (s *stdinInput) ReadAt(p []byte, at int64) (int, error) { return s.reader.ReadAt(p, at) }
func (s *stdinInput) Size() int64                            { return s.size }
func (s *stdinInput) Name() string                           { return ipc.StreamName }
func (s *stdinInput) Close() error                           { return nil }
