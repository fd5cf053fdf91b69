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

// Stdin is standard input that may be opened again: what the first Open makes of it stays in scratch for
// the others, until Close. An Arrow IPC stream stays only where Options.Again asks for that.
type Stdin struct {
	from io.Reader

	mu    sync.Mutex
	form  *stdinFormat // nil until it was looked at
	err   error        // of looking at it, or of opening it again
	open  opener       // nil until something is kept
	texts *textTables  // where that is
}

// NewStdin returns r as it is where it is a *Stdin, so that whoever has one hands it on in Options.Stdin.
func NewStdin(r io.Reader) *Stdin {
	if s, ok := r.(*Stdin); ok {
		return s
	}
	return &Stdin{from: r}
}

// notStdin refuses an output at the place of the file that a shell has opened as standard input.
func notStdin(out string, stdin io.Reader) error {
	opened, ok := NewStdin(stdin).from.(interface{ Stat() (fs.FileInfo, error) })
	local, err := place.Local(out)
	if !ok || err != nil || place.IsURL(out) {
		return nil //nolint:nilerr // no file of this name can be there
	}
	is, err1 := opened.Stat()
	there, err2 := os.Stat(local)
	if err1 == nil && err2 == nil && is.Mode().IsRegular() && os.SameFile(is, there) {
		return atomicfile.ErrReplaced(out)
	}
	return nil
}

// Read implements io.Reader.
func (s *Stdin) Read(p []byte) (int, error) { return s.from.Read(p) }

// Close gives the scratch back, after which nothing can open or read it any more.
func (s *Stdin) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil {
		return nil
	}
	s.open, s.err = nil, errOnlyOnce()
	return s.texts.close()
}

// begin reads standard input to scratch, unless that was done. Of a stream that need not stay it returns
// what it begins with, and that is all there will be.
func (s *Stdin) begin(ctx context.Context, a *access) (once io.Reader, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sniff()
	switch {
	case s.open != nil || s.err != nil:
		return nil, s.err
	case s.form.stream && !a.exact && !a.opt.Again:
		s.err = errOnlyOnce()
		return s.form.from, nil
	}
	s.open, s.err = a.keepStdin(ctx, *s.form)
	s.texts = &a.texts
	return nil, s.err
}

// Stream says that standard input is a stream of Arrow IPC, as far as its first bytes tell, or has none.
func (s *Stdin) Stream() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sniff()
	return s.form.stream
}

// sniff looks at what standard input begins with, once.
func (s *Stdin) sniff() {
	if s.form == nil {
		s.form = new(stdinFormat)
		*s.form, s.err = sniffStdin(s.from)
	}
}

func errOnlyOnce() error {
	return stream.Usagef("standard input can be read only once, and this run needs it again; save it to a file first")
}

// stdinFormat is what standard input begins with.
type stdinFormat struct {
	from   *bufio.Reader // uncompressed
	rows   intake.Format
	stream bool // an Arrow IPC stream; without rows either, a file that is read from its end
}

// sniffStdin looks at the first bytes of standard input.
func sniffStdin(in io.Reader) (s stdinFormat, err error) {
	if in == nil {
		s.stream = true
		return s, stream.Usagef("- : there is no standard input to read")
	}
	s.from = bufio.NewReaderSize(in, 1<<16)
	head, err := peek(s.from)
	if err != nil {
		return s, err
	}
	if packing := intake.Packing(head); packing != "" {
		unpack, err := unpacked(ipc.StreamName, s.from, packing)
		if err != nil {
			return s, err
		}
		s.from = bufio.NewReaderSize(unpack, 1<<16)
		if head, err = peek(s.from); err != nil {
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
		s.rows = intake.Sniff(head)
		s.stream = s.rows == intake.None // an old one, or nothing that can be read: its reader says so
	}
	return s, nil
}

// peek is what an input begins with.
func peek(from *bufio.Reader) ([]byte, error) {
	head, err := from.Peek(intake.SniffBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		return nil, stream.Dataf(ipc.StreamName, "%w", err)
	}
	return head, nil
}

// openStdin returns a catalog of what is kept of standard input, or the stream that is not kept.
func (a *access) openStdin(ctx context.Context, in io.Reader, list *fileList, f *filter, how cataloging) (c *catalog, once io.Reader, err error) {
	if err := a.opt.Texts.Check(); err != nil {
		return nil, nil, err
	}
	s := NewStdin(in)
	a.lent = s == in
	if once, err = s.begin(ctx, a); err != nil || once != nil {
		return nil, once, err
	}
	if c, err = openCatalog(ctx, list, f, s.open, how); err == nil {
		c.texts = s.texts
		err = s.texts.checkNames(a.opt.Texts)
	}
	return c, nil, err
}

// keepStdin reads standard input to a scratch file, and returns what opens that.
func (a *access) keepStdin(ctx context.Context, s stdinFormat) (opener, error) {
	digest := xxhash.New()
	in := &stdinInput{}
	var table *intake.Table
	var err error
	saved := s.rows == intake.None || s.rows == intake.NPY || a.exact // whatever wants to be read twice
	if !saved {
		from := intake.Input{Name: ipc.StreamName, Format: s.rows, Once: true, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.TeeReader(s.from, digest)), nil
		}}
		rows, err := a.takeIn(ctx, from, a.opt.Memory)
		if err != nil {
			return nil, err
		}
		in.at, in.size, table = rows.at, rows.table.Bytes, rows.table
	} else if err = a.saveStdin(ctx, io.TeeReader(s.from, digest), in); err != nil {
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
			opened, err = a.openMagic(ctx, counted, memory)
		}
		if err != nil {
			return nil, nil, err
		}
		if table != nil {
			explainLeaves(opened.Leaves(), table)
		}
		counted.meter.Store(meter)
		return opened, in, nil
	}, nil
}

// saveStdin copies standard input as it is: it has to be read more than once.
func (a *access) saveStdin(ctx context.Context, from io.Reader, in *stdinInput) error {
	spool, err := a.texts.spool(a.opt.Spool)
	if err != nil {
		return err
	}
	ended := a.takingIn(ipc.StreamName)
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
		ended(err)
		return errors.Join(format.Place(ipc.StreamName, -1, "", err), spool.Close())
	}
	ended(nil)
	if a.opt.Note != nil {
		a.opt.Note(stream.Textf("%s: %s of scratch, as it came", ipc.StreamName, humanize.IBytes(uint64(in.size))))
	}
	in.at = spool
	return nil
}

// stdinInput is what standard input has become: Parquet of its rows, or what it was.
type stdinInput struct {
	at     io.ReaderAt
	size   int64
	digest uint64 // of all that was read
}

// The methods of Input. The scratch file stays, as the next pass wants it.
func (s *stdinInput) ReadAt(p []byte, at int64) (int, error) { return s.at.ReadAt(p, at) }
func (s *stdinInput) Size() int64                            { return s.size }
func (s *stdinInput) Name() string                           { return ipc.StreamName }
func (s *stdinInput) Close() error                           { return nil }
