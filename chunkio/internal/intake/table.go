package intake

import (
	"io"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Kind is the type of a column.
type Kind uint8

// The kinds, from none to the one that holds every value.
const (
	Unknown Kind = iota // only nulls so far
	Bool
	Count // a whole number that Int and Uint hold
	Int   // of 64 bits, with a sign
	Uint  // of 64 bits, without one
	Float
	Date  // days since 1970
	Local // microseconds since 1970, in an unknown time zone
	UTC   // microseconds since 1970
	Text
	Map // of texts to numbers
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
	Why  string // the reason why it is text though it has numbers
	// Identifier is set if the column is text because numbers would lose part of it.
	Identifier bool

	marks         spelling  // marks of the numbers so far
	specimen      *specimen // with a mark of identifiers
	watchedMarks  spelling  // marks of further numbers that would change its kind
	typeRequested bool      // the user asked for the kind
	object        string    // of a map: its object, empty for the rows themselves
}

// Table describes a converted input.
type Table struct {
	Format  string // "CSV, separated by tabs"
	Columns []Column
	Rows    int64
	Bytes   int64  // of the Parquet written
	Sample  int64  // rows that the types come from; 0 if the file has types
	Digest  uint64 // of all bytes
	Notes   []stream.Text
	Spelled []string         // spellings of missing values in the sample, except the empty one
	Doubts  []stream.Text    // guesses that may be wrong, each with the option that overrules it
	LeftOut []stream.LeftOut // columns whose values cannot be read
	Before  []int            // by left-out column: number of Columns before it
	Layout  *Layout          // of CSV and NDJSON, else nil
	Memory  int64            // planned memory of the writing
	Least   int64            // least memory that would have sufficed
}

// Input is the source of the rows.
type Input struct {
	Name   string
	Format Format
	// Open reads the bytes, uncompressed, from the beginning. It may be called again, unless Once.
	Open func() (io.ReadCloser, error)
	Once bool
	// Bytes is the length of the bytes that Open reads; 0: not known before it is read.
	Bytes int64
	// At reads the same bytes in any order; nil if that is impossible. Arrays in Fortran's order need it.
	At io.ReaderAt
}

// TextOptions overrule the guesses about tables that are text: CSV, TSV and NDJSON. The zero value guesses all.
type TextOptions struct {
	Header string   // of CSV and TSV: "yes" or "no"; "" and "auto" guess
	Types  []string // COLUMN=TYPE each
	Text   []string // columns, by name or glob, that are always text
	Nulls  []string // the spellings of a missing value, in place of the usual ones
	// Recorded is set if some options come from the record of a run, whose input may have had other columns.
	Recorded bool
}

// Options configure the conversion.
type Options struct {
	TextOptions
	// Exact selects the columns that keep whole numbers whole: columns that are copied, or whose values are compared
	// as texts. Other columns hold general numbers, as any file of the same input may continue with a fraction. Nil
	// means none.
	Exact func(column string) bool
	// Text selects the columns that may become text if a value is no number: nobody asks for their numbers. Nil means
	// none.
	Text func(column string) bool
	// Asked selects the columns whose numbers are asked for by name, even if they look like identifiers. Nil means
	// none.
	Asked func(column string) bool
	// Identifier selects the columns that have identifiers in another file of the same input. Nil means none.
	Identifier func(column string) bool
	// Mapped selects the objects of NDJSON that are maps in another file of the same input, or that are requested as
	// maps. Nil means none.
	Mapped  func(object string) bool
	Threads int
	Memory  int64 // bytes in all

	// Settled describes how the first rows of CSV files are read; the first file of an input settles it for the
	// others. If nil, each is judged by itself.
	Settled *Header

	names int64 // bytes of the names of all columns, once they are known
	rules []typeRequest
}

// cell is a value of a batch: bits of an int64, a uint64 or a float64, or the position of a text.
type cell = uint64

// batch is the rows of a piece, column by column.
type batch struct {
	rows, stride int
	cells        []cell // row i of column j is cells[j*stride+i]
	present      []bool // false is a null
	text         []byte // a cell of text is offset<<32 | length
}

func (b *batch) resetRows(d, rows int) {
	n := d * rows
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

func textAt(arena []byte, c cell) []byte { return arena[c>>32:][:c&0xFFFFFFFF] }
