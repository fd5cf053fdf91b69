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
	Local // microseconds since 1970, in a time zone that nobody knows
	UTC   // microseconds since 1970
	Text
	Map // of texts to numbers
)

// String is the kind as people call it.
func (k Kind) String() string {
	return [...]string{"nothing but nulls", "true or false", "a whole number", "a whole number", "a whole number from 0 on", "a number", "a date", "a time", "a time with its zone", "text", "a map of numbers"}[k]
}

// whole tells the kinds of whole numbers.
func (k Kind) whole() bool { return k == Count || k == Int || k == Uint }

// join is the narrowest kind that holds the values of both.
func join(a, b Kind) Kind {
	switch {
	case a == b || b == Unknown:
		return a
	case a == Unknown:
		return b
	case a.whole() && b.whole() && min(a, b) == Count:
		return max(a, b)
	case (a.whole() || a == Float) && (b.whole() || b == Float):
		return Float
	}
	return Text
}

// Column is one column of the table.
type Column struct {
	Name string
	Kind Kind
	Why  string // why it is text though it has numbers
	// Identifier is set of a column that is text because numbers would lose some of it.
	Identifier bool

	spelled spelling  // marks of the numbers that were looked at
	shows   *specimen // of a mark of identifiers
	watch   spelling  // marks of further numbers that would change its kind
	fixed   bool      // the kind is asked for
	object  string    // of a map: the object that it is, empty for the rows themselves
}

// Table is what was taken in.
type Table struct {
	Format  string // "CSV, separated by tabs"
	Columns []Column
	Rows    int64
	Bytes   int64  // of the Parquet written
	Sample  int64  // rows that the types come from; 0 where the file tells them
	Digest  uint64 // of all bytes
	Notes   []stream.Text
	Spelled []string         // the spellings of missing values that the sample has, but the empty one
	Doubts  []stream.Text    // guesses that may be wrong, each with the option that overrules it
	LeftOut []stream.LeftOut // columns whose values cannot be read
	Before  []int            // of those, how many of Columns stand before each
	Layout  *Layout          // of CSV and NDJSON, else nil
	Memory  int64            // that writing it held, as planned
	Least   int64            // and would have held at least
}

// Input is where rows come from.
type Input struct {
	Name   string
	Format Format
	// Open reads the bytes, uncompressed, from the beginning. It may be called again, unless Once.
	Open func() (io.ReadCloser, error)
	Once bool
	// Bytes is the length of what Open reads; 0: not known before it is read.
	Bytes int64
	// At reads the same bytes in any order; nil where that cannot be. Arrays in Fortran's order need it.
	At io.ReaderAt
}

// TextOptions overrule the guesses about tables that are text: CSV, TSV and NDJSON. The zero value guesses all.
type TextOptions struct {
	Header string   // of CSV and TSV: "yes" or "no"; "" and "auto" guess
	Types  []string // COLUMN=TYPE each
	Text   []string // columns, by name or glob, that are text whatever their values look like
	Nulls  []string // the spellings of a missing value, in place of the usual ones
	// Recorded is set if some come from the record of a run, whose input may have had other columns.
	Recorded bool
}

// Options say how to take in.
type Options struct {
	TextOptions
	// Exact tells the columns that keep whole numbers whole: those that are copied, or whose values are
	// told apart as texts. In others they are numbers like all, which any file of the same input may
	// continue with a fraction. Nil means none.
	Exact func(column string) bool
	// Text tells the columns that may become text where a value is no number: nobody asks for
	// their numbers. Nil means none.
	Text func(column string) bool
	// Asked selects the columns whose numbers are asked for by name, whatever they look like. Nil means none.
	Asked func(column string) bool
	// Identifier tells the columns that have identifiers in another file of the same input. Nil means none.
	Identifier func(column string) bool
	// Mapped tells the objects of NDJSON that are maps in another file of the same input, or that are asked for as
	// maps. Nil means none.
	Mapped  func(object string) bool
	Threads int
	Memory  int64 // bytes in all

	// Settled is how the first rows of CSV files are read, which the first file of an input settles for the others; nil
	// judges each by itself.
	Settled *Header

	names int64 // bytes of the names of all columns, once they are known
	rules []overrule
}

// cell is a value of a batch: bits of an int64, a uint64 or a float64, or where a text lies.
type cell = uint64

// batch is the rows of a piece, column by column.
type batch struct {
	rows, stride int
	cells        []cell // row i of column j is cells[j*stride+i]
	there        []bool // false is a null
	text         []byte // a cell of text is offset<<32 | length
}

// reset makes room for rows of d columns, all of nulls.
func (b *batch) reset(d, rows int) {
	n := d * rows
	if cap(b.cells) < n {
		b.cells, b.there = make([]cell, n), make([]bool, n)
	}
	b.rows, b.stride, b.cells, b.there, b.text = 0, rows, b.cells[:n], b.there[:n], b.text[:0]
	clear(b.there)
}

// setText puts a text at a place.
func (b *batch) setText(at int, s string) {
	b.cells[at], b.there[at] = cell(len(b.text))<<32|cell(len(s)), true
	b.text = append(b.text, s...)
}

// textAt is the text of a cell in an arena.
func textAt(arena []byte, c cell) []byte { return arena[c>>32:][:c&0xFFFFFFFF] }
