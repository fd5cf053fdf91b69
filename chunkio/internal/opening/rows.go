package opening

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formats"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/glob"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/intake"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/remaining"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// FormatByName returns the format that the ending of a path or URL shows, or nil.
func FormatByName(name string) *formats.Format {
	if store.IsURL(name) {
		l, err := store.Parse(name)
		if err != nil {
			return nil
		}
		name = l.Key
	}
	return formats.ByName(name)
}

// ScratchRows are the rows of a file, written to a scratch file as Parquet, or an array that is read in place.
type ScratchRows struct {
	Reader  io.ReaderAt
	array   *intake.Array // if not nil, there is no scratch file
	Table   *intake.Table
	Packing string // compression of the original file, such as gz; empty for none
}

func (t *ScratchRows) openTable(in storage.Input, memory int64) (f format.File, err error) {
	if t.array != nil {
		f, err = t.array.OpenFrom(in)
	} else {
		f, err = parquet.Open(&scratchInput{in, t}, memory)
	}
	if err != nil {
		return nil, err
	}
	annotateLeaves(f.Leaves(), t.Table)
	return f, nil
}

// annotateLeaves adds properties of the original columns to the leaves of a scratch file: the reason for which a column
// is text, and the numbers of left-out columns directly before and after it.
func annotateLeaves(leaves []format.Leaf, t *intake.Table) {
	for i := range leaves[:min(len(leaves), len(t.Columns))] {
		if why := t.Columns[i].Why; why != "" && !leaves[i].Refused {
			leaves[i].Why = why
		}
	}
	for _, before := range t.Before {
		if before < len(leaves) {
			leaves[before].Before++
		} else if n := len(leaves); n > 0 {
			leaves[n-1].After++
		}
	}
}

// scratchInput is a scratch file with the name of the file from which its rows come.
type scratchInput struct {
	storage.Input
	rows *ScratchRows
}

func (t *scratchInput) Size() int64 { return t.rows.Table.Bytes }

// Far implements format.Far: scratch files are on disk.
func (t *scratchInput) Far() bool { return false }

func (t *scratchInput) Busy() *stream.Busy { return format.BusyOf(t.Input) }

func (t *scratchInput) ReadAt(p []byte, at int64) (int, error) {
	n, err := t.rows.Reader.ReadAt(p, at)
	if c, ok := t.Input.(*storage.CountingInput); ok {
		if m := c.Meter.Load(); m != nil {
			m.Bytes.Add(int64(n))
		}
	}
	return n, err
}

// IsParquet reports whether an opened file is Parquet, or was converted to it.
func IsParquet(opened format.File) bool {
	switch opened.(type) {
	case *parquet.File, *remaining.File:
		return true
	}
	return false
}

// IsText reports whether an opened file is read from a scratch file that holds its rows, because its own format has no
// row groups.
func IsText(opened format.File) bool {
	if f, ok := opened.(*parquet.File); ok {
		_, ok = f.Input().(*scratchInput)
		return ok
	}
	return isSparse(opened)
}

func isSparse(opened format.File) bool {
	_, ok := opened.(*svm.File)
	return ok
}

// openRows opens a file of rows (CSV, NDJSON, a NumPy array or Avro). The first call for a file writes its rows to a
// scratch file. Later calls open this scratch file, even if the file has changed since.
func (a *Access) openRows(ctx context.Context, in storage.Input, kind intake.Format, packing string, memory int64) (format.File, error) {
	t := &a.Texts
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := t.Rows[in.Name()]
	if rows == nil {
		from := intake.Input{Name: in.Name(), Format: kind, Open: func() (io.ReadCloser, error) {
			return NewDecompressor(in.Name(), NewSequentialReader(in), packing)
		}}
		if packing == "" {
			from.At, from.Bytes = in, in.Size()
		}
		var err error
		if rows, err = a.readArray(in, kind, packing, memory); rows == nil && err == nil {
			rows, err = a.convertRows(ctx, from, memory)
		}
		if err != nil {
			return nil, err
		}
		rows.Packing = packing
		if t.Rows == nil {
			t.Rows = map[string]*ScratchRows{}
		}
		t.Rows[in.Name()] = rows
	}
	return rows.openTable(in, memory)
}

// requestBytes is the number of bytes that one request fetches from an object with rows, such as CSV.
const requestBytes = 8 << 20

// NewSequentialReader returns a reader of all bytes, by few requests if they are in a store.
func NewSequentialReader(in storage.Input) io.Reader {
	section := io.NewSectionReader(in, 0, in.Size())
	if format.IsFar(in) {
		return bufio.NewReaderSize(section, requestBytes)
	}
	return section
}

// NewDecompressor returns a reader of the decompressed data.
func NewDecompressor(name string, from io.Reader, packing string) (io.ReadCloser, error) {
	r, err := intake.Unpack(from, packing)
	if err != nil {
		return nil, stream.Dataf(name, "the compressed data: %w", err)
	}
	return r, nil
}

func (a *Access) convertRows(ctx context.Context, input intake.Input, memory int64) (*ScratchRows, error) {
	openInput := input.Open
	input.Open = func() (io.ReadCloser, error) {
		r, err := openInput()
		return &meteredReader{r, a.Options.Meter}, err
	}
	endConversion := a.reportBeginOfConversion(input.Name)
	opt := a.newIntakeOptions(input.Name, memory)
	write, where := a.writeToScratch, " of scratch"
	if a.WriteRows != nil {
		write, where = a.WriteRows, " of Parquet"
	}
	rows, err := write(ctx, input, opt)
	endConversion(err)
	if err != nil {
		return nil, err
	}
	a.recordTable(input.Name, rows.Table, where)
	return rows, nil
}

func (a *Access) newIntakeOptions(name string, memory int64) intake.Options {
	settled := &a.Texts.header
	if a.GuessedFiles[name] {
		settled = &a.Texts.guessedHeader
	}
	return intake.Options{TextOptions: a.Options.Texts, Settled: settled, Exact: a.keepsIntegers, MayBeText: a.mayBeText, Asked: a.RequestsNumbers, Identifier: a.Texts.isIdentifier, Mapped: a.mustBecomeMap, Threads: a.Options.Threads, Memory: memory}
}

// readArray returns the array in a file if it can be read in place, else nil. Rows to be copied are converted, and so
// are rows in a store, in which each piece of a column would be a request.
func (a *Access) readArray(in storage.Input, kind intake.Format, packing string, memory int64) (*ScratchRows, error) {
	opt := a.newIntakeOptions(in.Name(), memory)
	if kind != intake.NPY || packing != "" || a.ExactIntegers || format.IsFar(in) || !opt.IsInPlace() {
		return nil, nil
	}
	array, err := intake.ReadArray(in, opt)
	if array == nil || err != nil {
		return nil, err
	}
	a.recordTable(in.Name(), array.Table, " read in place")
	return &ScratchRows{array: array, Table: array.Table}, nil
}

// recordTable records the properties of a file of rows. The size of the table is in a place like " of scratch".
func (a *Access) recordTable(name string, table *intake.Table, place string) {
	a.Texts.mostHeld, a.Texts.leastMemory = max(a.Texts.mostHeld, table.Memory), max(a.Texts.leastMemory, table.Least)
	a.Texts.addDoubts(table.Doubts)
	a.Texts.addTypes(table.Columns)
	a.Texts.addNullSpellings(table.Spelled)
	a.noteInferredTypes(name, table, place)
}

func (a *Access) writeToScratch(ctx context.Context, input intake.Input, opt intake.Options) (*ScratchRows, error) {
	spool, err := a.Texts.newSpool(a.Options.Spool)
	if err != nil {
		return nil, err
	}
	table, err := intake.Write(ctx, input, spool, opt)
	if err != nil {
		return nil, errors.Join(err, spool.Close())
	}
	return &ScratchRows{Reader: spool, Table: table}, nil
}

func (a *Access) reportBeginOfConversion(name string) (ended func(error)) {
	if a.Options.TakingIn == nil {
		return func(error) {}
	}
	return a.Options.TakingIn(name)
}

// meteredReader counts the bytes read through it.
type meteredReader struct {
	io.ReadCloser
	meter *stream.Meter
}

func (m *meteredReader) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.meter.Bytes.Add(int64(n))
	return n, err
}

func (a *Access) noteInferredTypes(name string, t *intake.Table, location string) {
	if a.Options.Note == nil {
		return
	}
	for _, n := range t.Notes {
		a.Options.Note(n)
	}
	for _, l := range t.LeftOut {
		a.Options.Note(stream.Textf("%s: column %s is left out: %s", name, l.Name, l.Why))
	}
	kinds := map[intake.Kind]int{}
	for _, c := range t.Columns {
		if c.Kind == intake.Uint {
			c.Kind = intake.Int
		}
		kinds[c.Kind]++
	}
	words := []string{}
	for _, k := range []struct {
		kind      intake.Kind
		one, many string
	}{
		{intake.Float, "number", "numbers"}, {intake.Int, "whole number", "whole numbers"}, {intake.Bool, "boolean", "booleans"},
		{intake.Date, "date", "dates"}, {intake.Local, "time", "times"}, {intake.UTC, "time in UTC", "times in UTC"}, {intake.Text, "text", "texts"}, {intake.Map, "map", "maps"},
	} {
		if n := kinds[k.kind]; n == 1 {
			words = append(words, "1 "+k.one)
		} else if n > 1 {
			words = append(words, humanize.Comma(int64(n))+" "+k.many)
		}
	}
	types := ""
	if t.Sample > 0 {
		types = fmt.Sprintf(", types from the first %s rows", humanize.Comma(t.Sample))
	}
	a.Options.Note(stream.Textf("%s: %s%s: %s; %s rows, %s%s", name, t.Format, types, strings.Join(words, ", "), humanize.Comma(t.Rows), humanize.IBytes(uint64(t.Bytes)), location))
}

// keepsIntegers reports whether whole numbers of a column are stored exactly. Numbers are exact in columns to be
// copied, and in columns whose values are distinguished by their text, because float64 cannot distinguish all whole
// numbers beyond 2⁵³.
func (a *Access) keepsIntegers(column string) bool {
	o := &a.Options
	return a.ExactIntegers || o.Classes && column == o.Label ||
		slices.ContainsFunc(o.Categories, func(c settings.Category) bool { return c.Column == column })
}

func (a *Access) mayBeText(column string) bool {
	return a.AcceptsText || column == a.Options.Label || a.isLeftOut(column)
}

// IsUnused reports whether the options use a column in no way.
func (a *Access) IsUnused(column string) bool {
	o := &a.Options
	return column != o.Label && column != o.Weight && a.isLeftOut(column)
}

func (a *Access) isLeftOut(column string) bool {
	matches := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return glob.MatchesColumn(p, column) })
	}
	o := &a.Options
	return matches(o.Exclude) || len(o.Columns) > 0 && !matches(o.Columns)
}

// RequestsNumbers reports whether the column is named exactly, not only by a glob, in an option for numeric columns.
func (a *Access) RequestsNumbers(column string) bool {
	if a.numberColumns == nil {
		o := &a.Options
		a.numberColumns = map[string]bool{o.Weight: true}
		for _, name := range slices.Concat(o.Columns, o.Numbers) {
			a.numberColumns[name] = true
		}
	}
	list, _, _ := strings.Cut(column, "[")
	return !a.ExactIntegers && (a.numberColumns[column] || a.numberColumns[list])
}

func (a *Access) mustBecomeMap(object string) bool {
	names, _ := settings.ParseSparseOption(a.Options.Sparse)
	return len(names) == 1 && names[0] == object || a.Texts.isMapColumn(object)
}

// Guesses describes guesses about the meaning of text files, for which no option was set.
type Guesses struct {
	// Header is "yes" if the first rows of CSV files are used as names, "no" if they are data, "" without CSV files.
	Header string
	// Doubts are the guesses that may be wrong, each with the option that overrides it.
	Doubts []stream.Text
	nulls  []string // spellings of missing values
}

// NullsWith returns the list of spellings of a missing value in the form of a command line argument. The numbers are
// added to the list as further spellings.
func (g Guesses) NullsWith(numbers ...float64) string {
	more := convert.Each(numbers, func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) })
	return intake.NullsWith(g.nulls, more...)
}
