// Package recipe writes a selection for other tools, as an SQL query, as lines of Python, or as YAML. Names may contain
// any characters, and are quoted as each language requires.
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

// Recipe is a selection to pass to other tools: the chosen columns in the order of their ranks, and their source.
type Recipe struct {
	Selection *stream.Selection
	Columns   []Column
	Sources   []string        // inputs as Python names them; empty if Python cannot open them
	Form      Form            // format of Sources
	Hive      bool            // the folders of Sources are partitions, key=value
	Batches   []chunkio.Batch // inputs as DuckDB reads them; the Values of a batch correspond to Columns, one by one
	Glob      string          // glob for DuckDB that matches exactly the input files, or "" if there is none
	Table     string          // table to select from instead of files, as the user wrote it
	Dialect   string          // SQL dialect: one of [Dialects]
}

// Column is one chosen column.
type Column struct {
	Name string // name in the result, which joins the names of the structs that contain it
	// Path is the input column's name, followed by names of fields inside its structs.
	Path    []string
	Element int  // index in the list at Path, from 0; -1 for the value itself
	Key     bool // the column is a partition key
}

func (c Column) isInputColumn() bool { return len(c.Path) == 1 && c.Element < 0 }

// Form is the format of files.
type Form string

// File formats that other tools read.
const (
	Parquet Form = "parquet"
	CSV     Form = "csv"
	NDJSON  Form = "json"
	Arrow   Form = "arrow"
)

// ReadsFiles reports whether the recipe is an SQL query that reads files, and not a table that the user names.
func ReadsFiles(format, dialect, table string) bool {
	return format == "sql" && dialect == Dialects()[0] && table == ""
}

// Formats lists the formats of a recipe.
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
		text, err = r.sqlQuery()
		text = fmt.Sprintf("-- %s\n", r.describeChoice()) + text
	case "py":
		text = r.pythonText()
	default:
		text = r.yamlText()
	}
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

// yamlText returns the columns and their origin as YAML. A quoted string of Go is valid in YAML.
func (r *Recipe) yamlText() string {
	var b strings.Builder
	s := r.Selection
	fmt.Fprintf(&b, "method: %q\nversion: %q\nseed: %d\nrows: %d\nfeatures: %d\ncolumns:\n", s.Method, s.Version, s.Seed, s.Rows, s.Features)
	for _, c := range r.Columns {
		fmt.Fprintf(&b, "  - %s\n", quoteString(c.Name))
	}
	return b.String()
}

// quoteString quotes a string. The result is valid in Go, Python and YAML, which share all escapes that Go uses.
func quoteString(s string) string { return strconv.Quote(s) }

// describeChoice returns a line such as "the 3 columns that ufs-stream chose from 600 features, …".
func (r *Recipe) describeChoice() string {
	columns := "columns"
	if len(r.Columns) == 1 {
		columns = "column"
	}
	return fmt.Sprintf("the %d %s that ufs-stream chose from %d features, in the order of their ranks", len(r.Columns), columns, r.Selection.Features)
}
