package chunkio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/stream"
)

// stdinFormat is what standard input begins with.
type stdinFormat struct {
	from   *bufio.Reader // uncompressed
	rows   intake.Format
	stream bool // an Arrow IPC stream; without rows either, a file that is read from its end
}

// sniffStdin looks at the first bytes of standard input.
func sniffStdin(in io.Reader) (s stdinFormat, err error) {
	if in == nil {
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
		return s, stream.Dataf(ipc.StreamName, "is empty")
	case bytes.HasPrefix(head, []byte(parquet.Magic)), bytes.HasPrefix(head, []byte(ipc.Magic)):
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

// openStdin reads standard input to a scratch file, and returns a catalog of it.
func (a *access) openStdin(ctx context.Context, s stdinFormat, list *fileList, f *filter, how cataloging) (*catalog, error) {
	digest := xxhash.New()
	in := &stdinInput{}
	var err error
	saved := s.rows == intake.None || s.rows == intake.NPY || a.exact // whatever wants to be read twice
	if !saved {
		from := intake.Input{Name: ipc.StreamName, Format: s.rows, Once: true, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.TeeReader(s.from, digest)), nil
		}}
		rows, _, err := a.takeIn(ctx, from, how.memory)
		if err != nil {
			return nil, err
		}
		in.spool, in.size = rows.spool, rows.size
	} else if err = a.saveStdin(ctx, io.TeeReader(s.from, digest), in); err != nil {
		return nil, err
	}
	in.digest = digest.Sum64()
	open := func(ctx context.Context, _ fileEntry, memory int64, meter *stream.Meter) (format.File, Input, error) {
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
		counted.meter.Store(meter)
		return opened, in, nil
	}
	c, err := openCatalog(ctx, list, f, open, how)
	if err == nil {
		c.texts = &a.texts
	}
	return c, err
}

// saveStdin copies standard input as it is: it has to be read more than once.
func (a *access) saveStdin(ctx context.Context, from io.Reader, in *stdinInput) error {
	spool, err := a.texts.spool(a.opt.Spool, "ufs-stdin")
	if err != nil {
		return err
	}
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
		return errors.Join(format.Place(ipc.StreamName, -1, "", err), spool.Close())
	}
	in.spool = spool
	return nil
}

// stdinInput is what standard input has become: Parquet of its rows, or what it was.
type stdinInput struct {
	spool  *textSpool
	size   int64
	digest uint64 // of all that was read
}

// The methods of Input. The scratch file stays, as the next pass wants it.
func (s *stdinInput) ReadAt(p []byte, at int64) (int, error) { return s.spool.ReadAt(p, at) }
func (s *stdinInput) Size() int64                            { return s.size }
func (s *stdinInput) Name() string                           { return ipc.StreamName }
func (s *stdinInput) Close() error                           { return nil }
