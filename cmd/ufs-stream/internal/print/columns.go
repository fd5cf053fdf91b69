package print

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/stream"
)

// column is a column of a result in all of its formats: the table for people, CSV and Parquet. The functions with names
// such as selectionColumns list the columns of a result.
type column struct {
	name  string           // in CSV and Parquet, which lack the column if it has no name
	title string           // in the table, which lacks the column if it has no title; > aligns it to the right
	value any              // func(row int) of an int, a bool, a string, a stream.Number or a stream.Position
	text  func(int) string // of the table; nil means the value, rounded
}

func printColumns(w *screen.Page, columns []column, rows int) {
	var head []string
	cells := make([][]string, rows)
	for _, c := range columns {
		if c.title == "" {
			continue
		}
		head = append(head, c.title)
		for i := range cells {
			cells[i] = append(cells[i], c.shownCell(i))
		}
	}
	w.Table(head, cells)
}

// writeCSV writes columns as CSV (RFC 4180). A spreadsheet may treat some names as formulas. An apostrophe before such a
// name would prevent this, but programs that read the CSV would get another name. So it only warns.
func writeCSV(w io.Writer, columns []column, rows int, o Options) error {
	lines := make([][]string, 1+rows)
	for _, c := range columns {
		if c.name == "" {
			continue
		}
		lines[0] = append(lines[0], c.name)
		for i := range rows {
			lines[1+i] = append(lines[1+i], c.exactCell(i))
		}
	}
	for _, line := range lines[1:] {
		if i := slices.IndexFunc(line, isFormula); i >= 0 {
			o.Warn([]string{fmt.Sprintf("a spreadsheet takes the name %q for a formula, and others like it; import the columns of this CSV as text", line[i])})
			break
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// isFormula reports whether a spreadsheet may treat a cell as a formula. A number with a sign is not a formula.
func isFormula(cell string) bool {
	if cell == "" || !strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return false
	}
	_, err := strconv.ParseFloat(cell, 64)
	return err != nil
}

func writeParquet(w io.Writer, columns []column, rows int) error {
	var table []chunkio.TableColumn
	for _, c := range columns {
		if c.name != "" {
			table = append(table, chunkio.TableColumn{Name: c.name, Values: c.parquetValues(rows)})
		}
	}
	return chunkio.WriteTable(w, rows, table...)
}

func (c column) shownCell(row int) string {
	if c.text != nil {
		return c.text(row)
	}
	switch value := c.value.(type) {
	case func(int) bool:
		return map[bool]string{true: "yes", false: "no"}[value(row)]
	case func(int) stream.Number:
		return roundedNumber(value(row))
	case func(int) stream.Position:
		return cmp.Or(value(row).String(), "-")
	}
	return c.exactCell(row)
}

func (c column) exactCell(row int) string {
	switch value := c.value.(type) {
	case func(int) int:
		return strconv.Itoa(value(row))
	case func(int) bool:
		return strconv.FormatBool(value(row))
	case func(int) string:
		return value(row)
	case func(int) stream.Number:
		return exactDecimal(value(row))
	case func(int) stream.Position:
		return value(row).String()
	}
	panic(fmt.Sprintf("the column %s%s has values of type %T", c.name, c.title, c.value))
}

// parquetValues returns the values in a type of chunkio.TableColumn. A bool is 1 or 0.
func (c column) parquetValues(rows int) any {
	switch value := c.value.(type) {
	case func(int) int:
		return collectValues(rows, func(i int) int64 { return int64(value(i)) })
	case func(int) bool:
		return collectValues(rows, func(i int) int64 { return map[bool]int64{true: 1}[value(i)] })
	case func(int) stream.Number:
		return collectValues(rows, func(i int) float64 { return float64(value(i)) })
	case func(int) stream.Position:
		return collectValues(rows, value)
	}
	return collectValues(rows, c.exactCell)
}

func collectValues[T any](rows int, value func(int) T) []T {
	list := make([]T, rows)
	for i := range list {
		list[i] = value(i)
	}
	return list
}
