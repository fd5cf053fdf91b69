// Package recipe writes a selection for other tools: as a query in SQL ([SQL]), as lines of
// Python, or as YAML. Names may be anything: they are quoted as each language wants it.
package recipe

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Recipe is what is handed on: the chosen columns in the order of their ranks, and of what.
type Recipe struct {
	Selection *stream.Selection
	Columns   []Column
	Sources   []string        // what is read, as Python takes it; empty where it cannot
	Form      Form            // of these
	Hive      bool            // their folders are partitions, key=value
	Batches   []chunkio.Batch // what is read, for DuckDB, of which Values has the Columns
	Glob      string          // of DuckDB that means all of the files and no other; empty for none
	Table     string          // to select from, in place of files, as the user wrote it
	Dialect   string          // of SQL: one of [Dialects]
}

// Column is one chosen column.
type Column struct {
	Name string // flattened, which the result calls it
	// Path is the column of the input, and behind it the fields inside its structs.
	Path    []string
	Element int  // of the list there, from 0; -1 for the value itself
	Key     bool // it is a partition key
}

// plain reports whether the column is one of the input.
func (c Column) plain() bool { return len(c.Path) == 1 && c.Element < 0 }

// Form is what files are.
type Form string

// The forms that other tools read.
const (
	Parquet Form = "parquet"
	CSV     Form = "csv"
	NDJSON  Form = "json"
	Arrow   Form = "arrow"
)

// ReadsFiles reports whether a format of that dialect, FROM that table, is a query that reads files itself.
func ReadsFiles(format, dialect, table string) bool {
	return format == "sql" && dialect == Dialects()[0] && table == ""
}

// Formats are the forms of a recipe, by name.
func Formats() []string { return []string{"sql", "py", "yaml"} }

// Write writes the recipe in one of [Formats].
func (r *Recipe) Write(w io.Writer, format string) error {
	for _, c := range r.Columns {
		if !utf8.ValidString(c.Name) {
			return stream.Usagef("column %q: its name is no UTF-8, which a text of {format} %s must be; rename it", c.Name, format)
		}
	}
	var text string
	var err error
	switch format {
	case "sql":
		text, err = r.sql()
	case "py":
		text = r.python()
	default:
		text = r.yaml()
	}
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

// yaml lists the columns, and what they were chosen from. A quoted string of Go is one of YAML.
func (r *Recipe) yaml() string {
	var b strings.Builder
	s := r.Selection
	fmt.Fprintf(&b, "method: %q\nversion: %q\nseed: %d\nrows: %d\nfeatures: %d\ncolumns:\n", s.Method, s.Version, s.Seed, s.Rows, s.Features)
	for _, c := range r.Columns {
		fmt.Fprintf(&b, "  - %s\n", quoted(c.Name))
	}
	return b.String()
}

// quoted is a string as Go, Python and YAML write it: of the escapes that Go uses all three have the same.
func quoted(s string) string { return strconv.Quote(s) }

// chosen is "the 3 columns that ufs-stream chose of 600".
func (r *Recipe) chosen() string {
	columns := "columns"
	if len(r.Columns) == 1 {
		columns = "column"
	}
	return fmt.Sprintf("the %d %s that ufs-stream chose from %d features, in the order of their ranks", len(r.Columns), columns, r.Selection.Features)
}
