package opening

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formats"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Stdin is standard input that may be opened several times until Close. The first Open stores it in scratch files, and
// later calls of Open read these files. An Arrow IPC stream is stored only if Options.Again is set.
type Stdin struct {
	from io.Reader

	mu    sync.Mutex
	form  *stdinFormat // nil until the first bytes have been read
	err   error        // returned by later calls of Open
	open  Opener       // nil until standard input is stored
	texts *TextTables  // contains the stored rows
}

// NewStdin implements chunkio.NewStdin: it returns a Stdin that reads r.
func NewStdin(r io.Reader) *Stdin {
	if s, ok := r.(*Stdin); ok {
		return s
	}
	return &Stdin{from: r}
}

// RefuseStdinFile refuses an output that would replace the file that a shell has opened as standard input.
func RefuseStdinFile(out string, stdin io.Reader) error {
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
	s.open, s.err = nil, ErrStdinOnlyOnce()
	return s.texts.closeScratch()
}

// StoreOrStream stores standard input in scratch files unless this was done before, and returns their opener and the
// rows in them. If the input is a stream that need not be stored, it is returned as a reader that can be read once.
func StoreOrStream(ctx context.Context, s *Stdin, a *Access) (open Opener, texts *TextTables, once io.Reader, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detectFormatOnce()
	switch {
	case s.open != nil || s.err != nil:
		return s.open, s.texts, nil, s.err
	case s.form.stream && !a.ExactIntegers && !a.Options.Again:
		s.err = ErrStdinOnlyOnce()
		return nil, nil, s.form.from, nil
	}
	s.open, s.err = a.storeStdin(ctx, *s.form)
	s.texts = &a.Texts
	return s.open, s.texts, nil, s.err
}

// Format returns the format of standard input according to its first bytes, or nil if it is unknown.
func (s *Stdin) Format() *formats.Format {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detectFormatOnce()
	return s.form.is
}

// Stream reports whether standard input is an Arrow IPC stream according to its first bytes. The result is also true if
// standard input is missing, empty or of an unknown format.
func (s *Stdin) Stream() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detectFormatOnce()
	return s.form.stream
}

func (s *Stdin) detectFormatOnce() {
	if s.form == nil {
		s.form = new(stdinFormat)
		*s.form, s.err = detectStdinFormat(s.from)
	}
}

// ErrStdinOnlyOnce returns the error if standard input is needed again.
func ErrStdinOnlyOnce() error {
	return stream.Usagef("standard input can be read only once, and this run needs it again; save it to a file first")
}

// stdinFormat is the format of standard input according to its first bytes.
type stdinFormat struct {
	from   *bufio.Reader   // uncompressed
	is     *formats.Format // nil if unknown
	stream bool            // an Arrow IPC stream, or missing, empty or unknown
}

func detectStdinFormat(in io.Reader) (s stdinFormat, err error) {
	if in == nil {
		s.stream = true
		return s, stream.Usagef("- : there is no standard input to read")
	}
	s.from = bufio.NewReaderSize(in, 1<<16)
	head, err := peekFirstBytes(s.from)
	if err != nil {
		return s, err
	}
	if packing := intake.SniffPacking(head); packing != "" {
		unpack, err := NewDecompressor(ipc.StreamName, s.from, packing)
		if err != nil {
			return s, err
		}
		s.from = bufio.NewReaderSize(unpack, 1<<16)
		if head, err = peekFirstBytes(s.from); err != nil {
			return s, err
		}
	}
	if len(head) == 0 {
		s.stream = true
		return s, stream.Dataf(ipc.StreamName, "is empty")
	}
	if s.is = formats.ByBytes(string(head)); s.is == nil {
		s.is = formats.OfRows(intake.SniffText(head))
	}
	s.stream = s.is == nil || s.is.Begins == ipc.StreamMagic // the reader of streams reports the error of an unknown format
	return s, nil
}

func peekFirstBytes(from *bufio.Reader) ([]byte, error) {
	head, err := from.Peek(intake.SniffBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		return nil, stream.Dataf(ipc.StreamName, "%w", err)
	}
	return head, nil
}

func (a *Access) storeStdin(ctx context.Context, s stdinFormat) (Opener, error) {
	digest := xxhash.New()
	in := &storage.StdinInput{}
	var table *intake.Table
	var err error
	isText := s.is != nil && s.is.IsText()
	saved := !isText || s.is.IsSparse() || s.is.Rows == intake.NPY || a.ExactIntegers // these inputs must be read twice
	if !saved {
		from := intake.Input{Name: ipc.StreamName, Format: s.is.Rows, Once: true, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.TeeReader(s.from, digest)), nil
		}}
		rows, err := a.convertRows(ctx, from, a.Options.Memory)
		if err != nil {
			return nil, err
		}
		in.Reader, in.Length, table = rows.Reader, rows.Table.Bytes, rows.Table
	} else if err = a.copyStdin(ctx, io.TeeReader(s.from, digest), in); err != nil {
		return nil, err
	}
	in.Digest = digest.Sum64()
	return func(ctx context.Context, _ storage.Entry, memory int64, meter *stream.Meter) (format.File, storage.Input, error) {
		counted := &storage.CountingInput{Input: in}
		var opened format.File
		var err error
		if saved && isText {
			opened, err = a.openWithFormat(ctx, counted, s.is, "", memory)
		} else {
			opened, err = a.OpenByFormat(ctx, counted, memory)
		}
		if err != nil {
			return nil, nil, err
		}
		if table != nil {
			annotateLeaves(opened.Leaves(), table)
		}
		counted.Meter.Store(meter)
		return opened, in, nil
	}, nil
}

// copyStdin copies standard input unchanged to a scratch file, because it must be read more than once.
func (a *Access) copyStdin(ctx context.Context, from io.Reader, in *storage.StdinInput) error {
	spool, err := a.Texts.newSpool(a.Options.Spool)
	if err != nil {
		return err
	}
	endConversion := a.reportBeginOfConversion(ipc.StreamName)
	buf := make([]byte, 1<<20)
	for err == nil {
		var n int
		n, err = from.Read(buf)
		if n > 0 {
			if _, full := spool.Write(buf[:n]); full != nil {
				err = full
			}
			in.Length += int64(n)
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
	if a.Options.Note != nil {
		a.Options.Note(stream.Textf("%s: %s of scratch, as it came", ipc.StreamName, humanize.IBytes(uint64(in.Length))))
	}
	in.Reader = spool
	return nil
}
