package intake

import (
	"io"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Kind is the type of a column.
type Kind uint8

// Unknown is the kind of a column that has only nulls so far. A column of kind Text can hold every value except a map.
const (
	Unknown Kind = iota // no value so far
	Bool
	Count // a whole number that fits both Int and Uint
	Int   // whole numbers of 64 bits, with a sign
	Uint  // whole numbers of 64 bits, without a sign
	Float
	Date  // days since 1970
	Local // microseconds since 1970, in an unknown time zone
	UTC   // microseconds since 1970
	Text
	Map // a map of texts to numbers
)

// String returns the kind's name for users.
func (k Kind) String() string {
	return [...]string{"nothing but nulls", "true or false", "a whole number", "a whole number", "a whole number from 0 on", "a number", "a date", "a time", "a time with its zone", "text", "a map of numbers"}[k]
}

func (k Kind) isWhole() bool { return k == Count || k == Int || k == Uint }

func widerKind(a, b Kind) Kind {
	switch {
	case a == b || b == Unknown:
		return a
	case a == Unknown:
		return b
	case a.isWhole() && b.isWhole() && min(a, b) == Count:
		return max(a, b)
	case (a.isWhole() || a == Float) && (b.isWhole() || b == Float):
		return Float
	}
	return Text
}

// Column is one column of the table.
type Column struct {
	Name string
	Kind Kind
	Why  string // the reason why the column is text although it contains numbers
	// Identifier is set if the column is text because numbers would lose part of it.
	Identifier bool

	marks         spelling  // marks of the numbers so far
	specimen      *specimen // a value with a mark of identifiers
	watchedMarks  spelling  // marks of further numbers that would change the kind
	typeRequested bool      // the user requested the kind
	object        string    // for a map: name of its object, empty for the rows themselves
}

// Table describes a converted input.
type Table struct {
	Format  string // such as "CSV, separated by tabs"
	Columns []Column
	Rows    int64
	Bytes   int64  // bytes of the Parquet file written
	Sample  int64  // number of rows from which the types were inferred; 0 if the file defines the types
	Digest  uint64 // digest of all bytes read
	Notes   []stream.Text
	Spelled []string         // spellings of missing values in the sample, except the empty spelling
	Doubts  []stream.Text    // guesses that may be wrong, each with the option that overrules it
	LeftOut []stream.LeftOut // columns whose values cannot be read
	Before  []int            // by left-out column: number of Columns before it
	Layout  *Layout          // layout of CSV and NDJSON, else nil
	Memory  int64            // memory planned for writing
	Least   int64            // smallest memory limit that would have been sufficient
}

// Input is the source of the rows.
type Input struct {
	Name   string
	Format Format
	// Open returns the uncompressed bytes from the beginning. It may be called several times, unless Once is set.
	Open func() (io.ReadCloser, error)
	Once bool
	// Bytes is the number of bytes that Open returns; 0: unknown before they are read.
	Bytes int64
	// At provides random access to the same bytes; nil if that is impossible. Arrays in Fortran order need it.
	At io.ReaderAt
}

// TextOptions overrule the guesses about text tables: CSV, TSV and NDJSON. With the zero value everything is guessed.
type TextOptions struct {
	Header string   // for CSV and TSV: "yes" or "no"; with "" and "auto" it is guessed
	Types  []string // requested types, each as COLUMN=TYPE
	Text   []string // columns, by name or glob, that are always text
	Nulls  []string // the spellings of a missing value, in place of the usual ones
	// Recorded is set if some options come from the record of a run, whose input may have had other columns.
	Recorded bool
}

// Options configure the conversion.
type Options struct {
	TextOptions
	// Exact reports whether whole numbers in a column must stay whole: the column is copied, or its values are compared
	// as texts. In other columns they become float64, because another file of the same input may contain fractions. Nil
	// means that no column is exact.
	Exact func(column string) bool
	// MayBeText reports whether a column may become text if a value is not a number. It may if its numbers are not
	// requested. Nil means no column.
	MayBeText func(column string) bool
	// Asked reports whether the numbers of a column are requested by name, even if they look like identifiers. Nil
	// means no column.
	Asked func(column string) bool
	// Identifier reports whether a column contains identifiers in another file of the same input. Nil means no column.
	Identifier func(column string) bool
	// Mapped reports whether an object of NDJSON is a map in another file of the same input, or is requested as a map.
	// Nil means no object.
	Mapped  func(object string) bool
	Threads int
	Memory  int64 // memory limit in bytes

	// Settled describes how the first rows of CSV files are read. The first file of an input decides this for all
	// files. If Settled is nil, each file is judged separately.
	Settled *Header

	names int64         // total length of the names of all columns, once they are known
	rules []typeRequest // parsed from TextOptions
}

// cell is a value of a batch: the bits of an int64, a uint64 or a float64, or the position of a text.
type cell = uint64

// batch contains the rows of a piece, column by column.
type batch struct {
	rows, stride int
	cells        []cell // row i of column j is cells[j*stride+i]
	present      []bool // false: the cell is null
	text         []byte // the cell of a text is offset<<32 | length
}

func (b *batch) resetToSize(columns, rows int) {
	n := columns * rows
	if cap(b.cells) < n {
		b.cells, b.present = make([]cell, n), make([]bool, n)
	}
	b.rows, b.stride, b.cells, b.present, b.text = 0, rows, b.cells[:n], b.present[:n], b.text[:0]
	clear(b.present)
}

func (b *batch) setText(at int, s string) {
	b.cells[at], b.present[at] = cell(len(b.text))<<32|cell(len(s)), true
	b.text = append(b.text, s...)
}

func textOfCell(texts []byte, c cell) []byte { return texts[c>>32:][:c&0xFFFFFFFF] }
