package copying

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/parquet/schema"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copier"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/export"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Form is the file format that [Apply] writes.
type Form int

// The output formats. A CSV file follows RFC 4180 and begins with a line of column names; an empty field is null, and
// "" is an empty text.
const (
	FormParquet Form = iota

	FormArrow // an Arrow IPC file

	FormCSV

	FormCSVGzip

	FormCSVZstd
)

// formEndings lists the endings of file names that mean a Form, by Form; output files get the first of them.
var formEndings = [][]string{{".parquet", ".pq", ".parq"}, {".arrow", ".ipc", ".feather"}, {".csv"}, {".csv.gz"}, {".csv.zst"}}

func (f Form) fileEnding() string { return formEndings[f][0] }

// FormatNames implements chunkio.FormatNames: it returns the names of forms that [OutputForm] accepts.
func FormatNames() []string { return []string{"parquet", "arrow", "csv"} }

func formOfName(name string) (Form, bool) {
	base := strings.ToLower(place.Base(name))
	for f, endings := range formEndings {
		if slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(base, e) }) {
			return Form(f), true
		}
	}
	return FormParquet, false
}

// OutputForm implements chunkio.OutputForm: it returns the form named by format or, if format is empty, by the ending
// of out.
func OutputForm(out, format string) (Form, error) {
	form, named := formOfName(out)
	ext := strings.ToLower(place.Ext(out))
	switch {
	case format == "" && !named && slices.Contains(slices.Concat(listing.DataEndings(), intake.Packings, []string{".json", ".txt", ".ufs"}), ext):
		return 0, stream.Usagef("{o} %s: OUT is Parquet, Arrow or CSV (also .csv.gz, .csv.zst); name it %s", place.DisplayName(out), place.WithExt(out, ".parquet"))
	case format == "":
		return form, nil
	}
	at := slices.Index(FormatNames(), format)
	switch {
	case at < 0:
		return 0, stream.Usagef("{format} %s: want %s%s", format, strings.Join(FormatNames(), ", "), suggest.DidYouMean(format, FormatNames()))
	case named && min(form, FormCSV) != Form(at):
		return 0, stream.Usagef("{format} %s: the name %s says otherwise; name it %s", format, place.DisplayName(out), place.WithExt(out, Form(at).fileEnding()))
	case named:
		return form, nil
	}
	return Form(at), nil
}

// writeArrowOrCSV writes an Arrow or CSV file, and returns the numbers of rows and bytes written. A row of these
// formats needs all columns together, but columns are copied one by one. Therefore the rows are first stored as Parquet
// in another file. The more columns there are, the smaller are its pages, because reading the rows back holds pages of
// all columns at once.
func (a *applier) writeArrowOrCSV(ctx context.Context, out *atomicfile.File, nodes schema.FieldList, columns []copier.Column, fields []copier.Field, files []int) (written, bytes int64, err error) {
	table, err := export.New(nodes)
	if err != nil {
		return 0, 0, err
	}
	packed, sink, err := newSink(a.opt.Form, table, out)
	if err != nil {
		return 0, 0, err
	}
	wait, reopen, end, err := a.openRowStore()
	if err != nil {
		return 0, 0, err
	}
	defer end()
	page := a.rowStorePageBytes(len(nodes))
	w, err := a.growing.resumeOrBeginFile(wait, func(to io.Writer) (*writer.File, error) { return writer.NewPlain(to, nodes, page) })
	if err == nil {
		err = a.copyFiles(ctx, w, columns, fields, files)
	}
	if err != nil {
		return 0, 0, err
	}
	rows, err := reopen()
	if err != nil {
		return 0, 0, err
	}
	defer rows.Close()
	f, err := parquet.Open(storage.NewFileInput(rows, w.Offset), a.opt.Memory)
	if err != nil {
		return 0, 0, err
	}
	err = table.CopyRows(ctx, f, page, a.opt.Memory-a.heldBytes(), sink)
	if short, ok := errors.AsType[*export.MemoryTooSmall](err); ok {
		return 0, 0, &stream.MemoryError{What: "writing the rows of all chosen columns together", Need: short.Need + a.heldBytes(), Limit: a.opt.Memory}
	}
	if err == nil {
		err = sink.Close()
	}
	if err == nil {
		err = packed.Close()
	}
	return w.Rows, packed.written, err
}

func (a *applier) rowStorePageBytes(columns int) int64 {
	return export.PageSize(columns, a.opt.Memory-a.heldBytes())
}

// openRowStore opens the Parquet file that stores the rows until they are read again: the growing file next to the
// output, or a temporary file that no later run resumes. reopen opens it for reading; end removes a temporary file.
func (a *applier) openRowStore() (to io.Writer, reopen func() (storage.LocalReader, error), end func(), err error) {
	if g := a.growing; g != nil {
		return g.file, func() (storage.LocalReader, error) {
			r, err := g.file.Reopen()
			return storedRows{r, g.file.Path()}, err
		}, func() {}, nil
	}
	dir := cmp.Or(a.opt.Spool.Dir, os.TempDir())
	spool, err := atomicfile.NewSpool(dir, "ufs-apply")
	if err != nil {
		return nil, nil, nil, err
	}
	w := &spoolWriter{to: spool, dir: dir, space: a.spool}
	buffered := bufio.NewWriterSize(w, 1<<16)
	end = func() {
		spool.Close()
		a.spool.Shrink(w.size)
	}
	return buffered, func() (storage.LocalReader, error) { return spool.File, buffered.Flush() }, end, nil
}

// storedRows reads the stored rows. Errors contain its Name, so Name returns the path of the output.
type storedRows struct {
	atomicfile.Reader
	name string
}

func (w storedRows) Name() string { return w.name }

// spoolWriter writes rows to a temporary file, reserves disk space for them, and names the file's folder dir in errors.
type spoolWriter struct {
	to    io.Writer
	dir   string
	space *scratch.Space
	size  int64
}

func (s *spoolWriter) Write(p []byte) (int, error) {
	if err := s.space.Grow("scratch for rows", int64(len(p))); err != nil {
		return 0, err
	}
	s.size += int64(len(p))
	n, err := s.to.Write(p)
	if bad, ok := errors.AsType[*os.PathError](err); ok {
		err = &stream.OutputError{Path: "a temporary file in " + s.dir, Err: bad.Err, Remedy: stream.Textf("free some space there, or choose another {temp-dir}")}
	}
	return n, err
}

// zstdWindow is the window size in bytes of the zstd encoder for CSV. The default window is eight times larger: it took
// 13 MB more memory and did not make a file of numbers shorter.
const zstdWindow = 1 << 20

// encoderBytes returns the memory to compress the output: zstd has two windows, hash tables of 1.3 MB and a few blocks;
// gzip has 0.8 MB.
func (f Form) encoderBytes() int64 {
	switch f {
	case FormCSVZstd:
		return 2*zstdWindow + 2<<20
	case FormCSVGzip:
		return 1 << 20
	}
	return 0
}

// newSink returns a sink for rows in a form other than Parquet, and the compressed output into which it writes. The
// caller closes the sink first, then the compressed output.
func newSink(form Form, table *export.Table, out io.Writer) (end *compressedOutput, sink export.Sink, err error) {
	end = &compressedOutput{out: out, closeCompressor: func() error { return nil }}
	var w io.Writer = end
	switch form {
	case FormArrow:
		sink, err = table.NewArrowSink(w)
		return end, sink, err
	case FormCSVGzip:
		gz := gzip.NewWriter(end)
		w, end.closeCompressor = gz, gz.Close
	case FormCSVZstd:
		zst, err := zstd.NewWriter(end, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return nil, nil, err
		}
		w, end.closeCompressor = zst, zst.Close
	}
	sink, err = table.NewCSVSink(w)
	return end, sink, err
}

// compressedOutput passes bytes to the output and counts them; its Close ends the compression.
type compressedOutput struct {
	out             io.Writer
	written         int64
	closeCompressor func() error
}

func (c *compressedOutput) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	c.written += int64(n)
	return n, err
}

func (c *compressedOutput) Close() error { return c.closeCompressor() }
