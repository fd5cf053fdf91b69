// Package results writes the results of the bench: Markdown tables, the numbers in their cells, and files that are
// written as a whole or not at all.
package results

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// NoFigure is the content of a cell for which there is no number.
const NoFigure = "–"

// TableHead writes the first two lines of a Markdown table: the titles, and the rule below. The first columns,
// textColumns in number, contain text and are left-aligned. The other columns contain numbers.
func TableHead(w io.Writer, titles []string, textColumns int) {
	fmt.Fprintln(w)
	TableRow(w, titles)
	rule := slices.Repeat([]string{"---"}, len(titles))
	for i := textColumns; i < len(rule); i++ {
		rule[i] = "---:"
	}
	TableRow(w, rule)
}

// TableRow writes a row of a Markdown table.
func TableRow(w io.Writer, cells []string) {
	escaped := convert.Each(cells, func(c string) string { return strings.ReplaceAll(c, "|", `\|`) })
	fmt.Fprintf(w, "| %s |\n", strings.Join(escaped, " | "))
}

// FormatSeconds formats a time in seconds with about three significant digits and no exponent.
func FormatSeconds(s float64) string {
	switch {
	case s >= 100:
		return fmt.Sprintf("%.0f", s)
	case s >= 10:
		return fmt.Sprintf("%.1f", s)
	case s >= 1:
		return fmt.Sprintf("%.2f", s)
	}
	return fmt.Sprintf("%.3f", s)
}

// FormatPoints formats a share between 0 and 1 in per cent.
func FormatPoints(share float64) string {
	if math.IsNaN(share) {
		return NoFigure
	}
	return fmt.Sprintf("%.1f", 100*share)
}

// FormatChance formats the probability of a test to three decimals.
func FormatChance(p float64) string {
	switch {
	case math.IsNaN(p):
		return NoFigure
	case p < 0.0005:
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// Table is a table of text. Cells may have Markdown's **bold** and `code`.
type Table struct {
	Titles      []string
	TextColumns int // number of the first columns that contain text, as in TableHead
	Rows        [][]string
}

// AddRow adds a row with a cell for each title.
func (t *Table) AddRow(cells ...string) { t.Rows = append(t.Rows, cells) }

// WriteMarkdown writes the table as Markdown.
func (t *Table) WriteMarkdown(w io.Writer) {
	TableHead(w, t.Titles, t.TextColumns)
	for _, row := range t.Rows {
		TableRow(w, row)
	}
}

// WriteFile writes a result to the file at path, as a whole or not at all. If path is "", it writes to the writer out.
func WriteFile(ctx context.Context, path string, out io.Writer, text []byte) error {
	if path == "" {
		_, err := out.Write(text)
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return &stream.OutputError{Path: path, Err: err}
	}
	f, err := atomicfile.Create(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Commit()
}
