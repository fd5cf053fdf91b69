package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/localfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/program"
	"github.com/ufs-stream/ufs-stream/internal/screen"
	"github.com/ufs-stream/ufs-stream/stream"
)

type outputFlags struct {
	format string
	path   string
}

func (f *outputFlags) addFlags(fs *pflag.FlagSet, formats ...string) {
	fs.StringVar(&f.format, "format", "", strings.Join(formats, ", ")+" (default: from the ending of -o, else table)")
	setAllowedValues(fs, "format", formats...)
	fs.StringVarP(&f.path, "output", "o", "", "write the result to `FILE`, or an object (s3://, gs://, azblob://), at once and whole (default: standard output)")
}

// resolveFormat determines the format of the output, which must be one of formats. It also checks that the output can
// be written, before the work begins.
func (f *outputFlags) resolveFormat(ctx context.Context, formats ...string) error {
	if f.format == "" {
		f.format = "table"
		switch end := strings.TrimPrefix(place.Ext(f.path), "."); {
		case slices.Contains(formats, end):
			f.format = end
		case end != "" && end != "txt":
			return stream.Usagef("-o %s: the ending .%s names no format (want %s, or --format)%s",
				place.DisplayName(f.path), end, strings.Join(formats, ", "), program.DidYouMean(end, formats))
		}
	}
	if !slices.Contains(formats, f.format) {
		return stream.Usagef("unknown format %q (want %s)%s", f.format, strings.Join(formats, ", "), program.DidYouMean(f.format, formats))
	}
	return atomicfile.CheckWritable(ctx, f.path)
}

// writeOutput renders the output of a verb and reports the file that it replaced, if any.
func (c *cli) writeOutput(ctx context.Context, path string, render func(io.Writer) error) error {
	reportReplaced := c.replacementReport(path)
	err := c.renderTo(ctx, path, render)
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

// renderTo calls render with a writer for the output at path. A file or object is written as a whole or not at all. The
// path may also be a device or pipe, or "" or "-" for standard output.
func (c *cli) renderTo(ctx context.Context, path string, render func(io.Writer) error) error {
	if path == "" || path == "-" {
		if err := render(c.out); err != nil {
			return err
		}
		return c.out.Err()
	}
	if atomicfile.IsDevice(path) {
		return renderToDevice(ctx, path, render)
	}
	return renderToFile(ctx, path, render)
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

// writeJSON writes v with the same indentation as Selection.Encode.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// renderPage calls show with a page on w, and returns the first write error of the page.
func renderPage(w io.Writer, show func(*screen.Page)) error {
	p := screen.NewPage(w)
	show(p)
	return p.Err()
}

func (c *cli) printResult(format string, args ...any) error {
	return renderPage(c.out, func(p *screen.Page) { p.Printf(format, args...) })
}

// writeCSV writes head and rows as CSV (RFC 4180). A spreadsheet may treat some names as formulas. An apostrophe before
// such a name would prevent this, but programs that read the CSV would get another name. So it only prints a warning.
func (c *cli) writeCSV(w io.Writer, head []string, rows [][]string) error {
	to := csv.NewWriter(w)
	if err := to.Write(head); err != nil {
		return err
	}
	for _, row := range rows {
		if i := slices.IndexFunc(row, isFormula); i >= 0 {
			c.warn([]string{fmt.Sprintf("a spreadsheet takes the name %q for a formula, and others like it; import the columns of this CSV as text", row[i])})
			break
		}
	}
	return to.WriteAll(rows)
}

// isFormula reports whether a spreadsheet may treat a cell as a formula. A number with a sign is not a formula.
func isFormula(cell string) bool {
	if cell == "" || !strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return false
	}
	_, err := strconv.ParseFloat(cell, 64)
	return err != nil
}
