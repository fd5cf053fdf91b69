package chunkio

import (
	"bufio"
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
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Form is the form of the files that [Apply] writes.
type Form int

// The forms. CSV is RFC 4180 with a line of names: an empty field is null, "" an empty text.
const (
	FormParquet Form = iota
	FormArrow        // an Arrow IPC file
	FormCSV
	FormCSVGzip
	FormCSVZstd
)

// formEndings are what names of files of the forms end in, the usual one first.
var formEndings = [][]string{{".parquet"}, {".arrow", ".ipc", ".feather"}, {".csv"}, {".csv.gz"}, {".csv.zst"}}

func (f Form) ending() string { return formEndings[f][0] }

// FormatNames are the names of forms that [OutputForm] takes.
func FormatNames() []string { return []string{"parquet", "arrow", "csv"} }

// ofName is the form that the ending of a name tells.
func ofName(name string) (Form, bool) {
	base := strings.ToLower(place.Base(name))
	for f, endings := range formEndings {
		if slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(base, e) }) {
			return Form(f), true
		}
	}
	return FormParquet, false
}

func namesForm(out string) bool {
	_, named := ofName(out)
	return named
}

// OutputForm is the form of a format's name, or where that is empty what the ending of out says:
// Parquet where it says nothing. It refuses endings of other forms.
func OutputForm(out, format string) (Form, error) {
	form, named := ofName(out)
	ext := strings.ToLower(place.Ext(out))
	switch {
	case format == "" && !named && slices.Contains([]string{".tsv", ".json", ".ndjson", ".txt", ".ufs", ".gz", ".zst"}, ext):
		return 0, stream.Usagef("apply: {o} %s: OUT is Parquet, Arrow or CSV (also .csv.gz, .csv.zst); name it %s", place.Name(out), place.WithExt(out, ".parquet"))
	case format == "":
		return form, nil
	}
	at := slices.Index(FormatNames(), format)
	switch {
	case at < 0:
		return 0, stream.Usagef("{format} %s: want %s%s", format, strings.Join(FormatNames(), ", "), suggest.DidYouMean(format, FormatNames()))
	case named && min(form, FormCSV) != Form(at):
		return 0, stream.Usagef("{format} %s: the name %s says otherwise; name it %s", format, place.Name(out), place.WithExt(out, Form(at).ending()))
	case named:
		return form, nil
	}
	return Form(at), nil
}

// writeForm writes what is no Parquet. Its rows want all columns together, where columns are copied
// one by one: they wait as Parquet in a temporary file, in pages as small as there are many.
func (a *applier) writeForm(ctx context.Context, out *atomicfile.File, nodes schema.FieldList, columns []copier.Column, fields []copier.Field, files []int) (rows, bytes int64, err error) {
	table, err := export.New(nodes)
	if err != nil {
		return 0, 0, err
	}
	end, sink, err := a.sink(table, out)
	if err != nil {
		return 0, 0, err
	}
	dir := a.opt.Spool.Dir
	if dir == "" {
		dir = os.TempDir()
	}
	spool, err := atomicfile.NewSpool(dir, "ufs-apply")
	if err != nil {
		return 0, 0, err
	}
	defer spool.Close()
	buffered := bufio.NewWriterSize(spool, 1<<16)
	room := a.opt.Memory - a.heldBytes()
	page := table.Page(room)
	w, err := writer.NewPlain(buffered, nodes, page)
	if err == nil {
		err = a.copyFiles(ctx, w, columns, fields, files)
	}
	if err == nil {
		err = buffered.Flush()
	}
	if err != nil {
		return 0, 0, spoolError(dir, err)
	}
	f, err := parquet.Open(&fileInput{spool.File, w.Offset}, a.opt.Memory)
	if err != nil {
		return 0, 0, err
	}
	err = table.Copy(ctx, f, page, room, sink)
	if short, ok := errors.AsType[*export.Short](err); ok {
		return 0, 0, &stream.MemoryError{What: "writing the rows of all chosen columns together", Need: short.Need + a.heldBytes(), Limit: a.opt.Memory}
	}
	if err == nil {
		err = sink.Close()
	}
	if err == nil {
		err = end.Close()
	}
	return w.Rows, end.written, err
}

// spoolError says where the bytes that wait could not be written.
func spoolError(dir string, err error) error {
	if bad, ok := errors.AsType[*os.PathError](err); ok {
		return &stream.OutputError{Path: "a temporary file in " + dir, Err: bad.Err, Remedy: stream.Textf("free some space there, or set TMPDIR to another folder")}
	}
	return err
}

// sink begins the output in its form; end closes what compresses it.
func (a *applier) sink(table *export.Table, out io.Writer) (end *compressed, sink export.Sink, err error) {
	end = &compressed{out: out, close: func() error { return nil }}
	var w io.Writer = end
	switch a.opt.Form {
	case FormArrow:
		sink, err = table.Arrow(w)
		return end, sink, err
	case FormCSVGzip:
		gz := gzip.NewWriter(end)
		w, end.close = gz, gz.Close
	case FormCSVZstd:
		zst, err := zstd.NewWriter(end, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, nil, err
		}
		w, end.close = zst, zst.Close
	}
	sink, err = table.CSV(w)
	return end, sink, err
}

// compressed counts what reaches the output.
type compressed struct {
	out     io.Writer
	written int64
	close   func() error
}

func (c *compressed) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	c.written += int64(n)
	return n, err
}

func (c *compressed) Close() error { return c.close() }
