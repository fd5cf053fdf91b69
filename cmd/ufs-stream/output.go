package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/disk/localfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// outputFlags holds the flags for the format and the file of a verb's result.
type outputFlags struct {
	format, path string
	formats      []string // formats that the result of the verb can have
}

func (f *outputFlags) addFlags(fs *pflag.FlagSet, formats ...string) {
	f.formats = formats
	fs.StringVar(&f.format, "format", "", strings.Join(formats, ", ")+" (default: from the ending of -o, else table)")
	setAllowedValues(fs, "format", formats...)
	fs.StringVarP(&f.path, "output", "o", "", "write the result to `FILE`, or an object (s3://, gs://, azblob://), at once and whole (default: standard output)")
}

// resolveFormat determines the format of the output, which must be one of the verb's. It also checks that the output can
// be written, before the work begins.
func (f *outputFlags) resolveFormat(ctx context.Context) error {
	if f.format == "" {
		f.format = "table"
		switch end := strings.TrimPrefix(place.Ext(f.path), "."); {
		case slices.Contains(f.formats, end):
			f.format = end
		case end != "" && end != "txt":
			return stream.Usagef("-o %s: the ending .%s names no format (want %s, or --format)%s",
				place.DisplayName(f.path), end, strings.Join(f.formats, ", "), suggest.DidYouMean(end, f.formats))
		}
	}
	if !slices.Contains(f.formats, f.format) {
		return stream.Usagef("unknown format %q (want %s)%s", f.format, strings.Join(f.formats, ", "), suggest.DidYouMean(f.format, f.formats))
	}
	return atomicfile.CheckWritable(ctx, f.path)
}

func writeResult[R any](ctx context.Context, c *cli, o outputFlags, printer func(io.Writer, R, print.Options) error, result R) error {
	return c.writeOutput(ctx, o.path, func(w io.Writer) error {
		return printer(w, result, print.Options{Format: o.format, Verbose: c.verbose, Warn: c.warn})
	})
}

// writeOutput calls render with a writer for the output at path, and reports the file that it replaced, if any. A file
// or object is written as a whole or not at all. The path may also be a device or pipe, or "" or "-" for standard output.
func (c *cli) writeOutput(ctx context.Context, path string, render func(io.Writer) error) error {
	reportReplaced := c.replacementReport(path)
	var err error
	switch {
	case path == "" || path == "-":
		err = cmp.Or(render(c.out), c.out.Err())
	case atomicfile.IsDevice(path):
		err = renderToDevice(ctx, path, render)
	default:
		err = renderToFile(ctx, path, render)
	}
	if err == nil {
		reportReplaced()
	}
	return err
}

// replacementReport checks whether an output's path is an existing file. It returns a function to call after writing,
// which then reports that the file was replaced. Objects are not reported, because stores keep versions and a check
// would cost a request.
func (c *cli) replacementReport(path string) (report func()) {
	local, err := place.LocalPath(path)
	if err != nil || path == "" || path == "-" || place.IsURL(path) {
		return func() {}
	}
	fi, err := os.Stat(local)
	if err != nil || !fi.Mode().IsRegular() {
		return func() {}
	}
	return func() {
		c.printRemark("replaced %s, %s of %s", local, humanize.IBytes(uint64(fi.Size())), fi.ModTime().Format("2006-01-02 15:04"))
	}
}

// renderToFile calls render with a writer for a file whose name the program has chosen. It refuses pipes and devices.
func renderToFile(ctx context.Context, path string, render func(io.Writer) error) error {
	f, err := atomicfile.Create(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := render(f); err != nil {
		return err
	}
	return f.Commit()
}

func renderToDevice(ctx context.Context, path string, render func(io.Writer) error) error {
	path, err := place.LocalPath(path)
	if err != nil {
		return err
	}
	f, err := localfile.OpenDevice(ctx, path)
	if err != nil {
		return &stream.OutputError{Path: path, Err: err}
	}
	w := program.NewWriter(f, path)
	if err := render(w); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil && w.Err() == nil {
		return &stream.OutputError{Path: path, Err: err}
	}
	return w.Err()
}

func (c *cli) printResult(format string, args ...any) error {
	return print.WritePage(c.out, func(p *screen.Page) { p.Printf(format, args...) })
}
