// Package print writes the results of the command. A file has the printers of one result: a table for people, and the
// formats for programs that the result has.
//
//  1. A verb computes a result, such as a stream.Selection, and calls its printer, such as [WriteSelection], with the
//     format of the user in [Options].
//  2. If a result has a row for each of its parts, one list of columns makes its table, its CSV and its Parquet.
//  3. JSON is the encoding of the result itself.
//
// The texts between tables, such as [WorthSentence], are here too, so that all outputs have the same words.
package print

import (
	"encoding/json"
	"io"

	"github.com/ufs-stream/ufs-stream/internal/app/screen"
)

// Options are the format of an output and the wishes of the user that shape it.
type Options struct {
	Format  string         // one of the formats of the result, such as "table", "json" or "csv"
	Verbose bool           // prints long lists in full
	Warn    func([]string) // receives warnings about the output
}

// maxNamesInLine is the largest number of names listed in a line without -v.
const maxNamesInLine = 5

// maxListLines is the largest number of lines of a list after the table without -v.
const maxListLines = 10

// limitList returns how many entries of a list of n an output shows, at most the given number without -v.
func (o Options) limitList(n, most int) int {
	if o.Verbose {
		return n
	}
	return min(n, most)
}

// WriteJSON writes v with the same indentation as Selection.Encode.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// WritePage calls show with a page on w, and returns the first write error of the page.
func WritePage(w io.Writer, show func(*screen.Page)) error {
	p := screen.NewPage(w)
	show(p)
	return p.Err()
}

type output struct {
	encode  func(io.Writer) error // writes JSON
	page    func(*screen.Page)    // prints the result for people
	columns []column              // of CSV and Parquet
	rows    int
}

func (r output) writeTo(w io.Writer, o Options) error {
	switch o.Format {
	case "json":
		return r.encode(w)
	case "csv":
		return writeCSV(w, r.columns, r.rows, o)
	case "parquet":
		return writeParquet(w, r.columns, r.rows)
	}
	return WritePage(w, r.page)
}

func jsonEncoderOf(v any) func(io.Writer) error {
	return func(w io.Writer) error { return WriteJSON(w, v) }
}
