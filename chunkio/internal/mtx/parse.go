// Package mtx reads Matrix Market text, coordinates or an array, as sparse rows. The text has its entries in any order,
// mostly by columns, so they are sorted by rows in the scratch file (sort.go). The format is defined in Boisvert, Pozo
// and Remington, "The Matrix Market Exchange Formats: Initial Design", NISTIR 5935, 1996.
package mtx

import (
	"bytes"
	"context"
	"errors"
	"hash/fnv"
	"io"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Magic begins the first line of every file.
const Magic = "%%MatrixMarket"

// maxRows limits the number of rows, because even a row without entries takes 12 bytes of the scratch file.
const maxRows = 1<<31 - 1

type parser struct {
	name      string
	words     *svm.WordReader
	sorter    *sorter
	isArray   bool    // all values, column by column; otherwise coordinates with their values
	isPattern bool    // coordinates without values, which are 1
	mirror    float64 // an entry at (i, j) implies mirror times its value at (j, i); 0 if it implies nothing
	rows      int64
	columns   int64
	entries   int64 // number of entries that the text has

	isTransposed bool  // the columns of the text are the rows of the table
	genes, cells int64 // numbers of rows and columns that a transposed text must have
}

// ParseMatrix reads a matrix to its end, and writes its rows to the spool. Row i and column j of the text, both counted
// from 1, become row i and the entry with index j. ParseMatrix uses at most limit bytes of memory, and up to 28 bytes
// of the spool for each entry and 12 for each row. Errors about the text are *stream.DataError that name the line.
func ParseMatrix(ctx context.Context, name string, text io.Reader, to svm.Spool, limit int64) (*svm.Table, error) {
	return parseText(ctx, &parser{name: name, sorter: newSorter(name, to, limit)}, text)
}

// ParseCells reads the matrix of a folder that CellRanger wrote, which has a row for each gene and a column for each
// cell. Column j and row i of the text, both counted from 1, become row j and the entry with index i-1. The text is
// usually in the order of its cells. If sorts is false, it must be, and takes only 12 bytes of the spool for each entry
// and each row; the error for another order is [ErrOrder].
func ParseCells(ctx context.Context, name string, text io.Reader, to svm.Spool, limit int64, genes, cells int, sorts bool) (*svm.Table, error) {
	p := &parser{name: name, sorter: newSorter(name, to, limit), isTransposed: true, genes: int64(genes), cells: int64(cells)}
	p.sorter.firstColumn = 1
	if !sorts {
		p.sorter.rows = p.sorter.newRowBuilder(to)
	}
	return parseText(ctx, p, text)
}

func parseText(ctx context.Context, p *parser, text io.Reader) (*svm.Table, error) {
	digest := fnv.New64a()
	p.words = svm.NewWordReader(io.TeeReader(text, digest))
	if err := p.parseHeader(); err != nil {
		return nil, err
	}
	p.words.SkipComments('%')
	if err := p.parseSizeLine(); err != nil {
		return nil, err
	}
	parse := p.parseCoordinates
	if p.isArray {
		parse = p.parseArray
	}
	if err := parse(ctx); err != nil {
		return nil, err
	}
	switch word, err := p.nextLineWord(); {
	case err != nil:
		return nil, err
	case word != nil:
		return nil, p.errAtLine("%.40q follows after all %d entries", word, p.entries)
	}
	if p.isTransposed {
		return p.sorter.writeTable(ctx, p.columns, digest.Sum64())
	}
	return p.sorter.writeTable(ctx, p.rows, digest.Sum64())
}

// ErrOrder is the error for coordinates that are not in the order of their cells.
var ErrOrder = errors.New("the coordinates are not in the order of their cells")

func (p *parser) errAtLine(text string, args ...any) *stream.DataError {
	return stream.Dataf(p.name, "line %d: "+text, append([]any{p.words.Line()}, args...)...)
}

// nextWord returns the next word of the line, or nil at its end.
func (p *parser) nextWord() ([]byte, error) {
	word, err := p.words.NextWord()
	if err != nil {
		return nil, p.errReadingText(err)
	}
	return word, nil
}

func (p *parser) errReadingText(err error) error {
	e := p.errAtLine("%w", err)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		e.Remedy = remedyCutOff
	}
	return e
}

var remedyCutOff = stream.PlainText("the file is cut off; fetch it again")

// nextLineWord returns the next word of the text, on this line or a later one, or nil at the end of the text.
func (p *parser) nextLineWord() ([]byte, error) {
	for {
		word, err := p.nextWord()
		if word != nil || err != nil {
			return word, err
		}
		more, err := p.words.NextLine()
		if err != nil {
			return nil, p.errReadingText(err)
		}
		if !more {
			return nil, nil
		}
	}
}

// parseHeader reads the first line, such as "%%MatrixMarket matrix coordinate real general".
func (p *parser) parseHeader() error {
	var header [5]string
	for i := range header {
		word, err := p.nextWord()
		if err != nil {
			return err
		}
		header[i] = strings.ToLower(string(word))
	}
	fault := func(word string, known ...string) error {
		e := p.errAtLine("%q in the first line is not one of: %s", word, strings.Join(known, ", "))
		e.Remedy = stream.PlainText("the first line of Matrix Market is such as: " + Magic + " matrix coordinate real general")
		return e
	}
	switch {
	case header[0] != strings.ToLower(Magic):
		return fault(header[0], Magic)
	case header[1] != "matrix":
		return fault(header[1], "matrix")
	}
	switch header[2] {
	case "array":
		p.isArray = true
	case "coordinate":
	default:
		return fault(header[2], "coordinate", "array")
	}
	switch {
	case header[3] == "pattern" && !p.isArray:
		p.isPattern = true
	case header[3] != "real" && header[3] != "double" && header[3] != "integer":
		return fault(header[3], "real", "integer", "pattern (of coordinates)")
	}
	switch header[4] {
	case "general":
	case "symmetric":
		p.mirror = 1
	case "skew-symmetric":
		p.mirror = -1
	default:
		return fault(header[4], "general", "symmetric", "skew-symmetric")
	}
	return p.requireEndOfLine()
}

func (p *parser) parseSizeLine() (err error) {
	word, err := p.nextLineWord()
	if err != nil {
		return err
	}
	mostRows, mostColumns := int64(maxRows), int64(svm.MaxIndex)
	if p.isTransposed {
		mostRows, mostColumns = mostColumns, mostRows
	}
	if p.rows, err = p.parseInteger(word, "the number of rows", 0, mostRows); err != nil {
		return err
	}
	if p.columns, err = p.nextInteger("the number of columns", 0, mostColumns); err != nil {
		return err
	}
	if p.isTransposed && (p.rows != p.genes || p.columns != p.cells) {
		e := p.errAtLine("the matrix has %d rows and %d columns, but the files beside it name %d features and %d cells", p.rows, p.columns, p.genes, p.cells)
		e.Remedy = stream.PlainText("CellRanger's matrix has a row for each line of its features and a column for each of its barcodes; if the files do not belong together, move the matrix to another folder")
		return e
	}
	if p.mirror != 0 && p.rows != p.columns {
		return p.errAtLine("a symmetric matrix has %d rows and %d columns", p.rows, p.columns)
	}
	if !p.isArray {
		if p.entries, err = p.nextInteger("the number of entries", 0, p.rows*p.columns); err != nil {
			return err
		}
	}
	return p.requireEndOfLine()
}

func (p *parser) nextInteger(meaning string, least, most int64) (int64, error) {
	word, err := p.nextWord()
	if err != nil {
		return 0, err
	}
	return p.parseInteger(word, meaning, least, most)
}

func (p *parser) parseInteger(word []byte, meaning string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(string(word), 10, 64)
	switch {
	case word == nil:
		return 0, p.errAtLine("%s is missing", meaning)
	case err != nil || n < least || n > most:
		return 0, p.errAtLine("%s, %.40q, is no whole number from %d to %d", meaning, word, least, most)
	}
	return n, nil
}

func (p *parser) requireEndOfLine() error {
	word, err := p.nextWord()
	if err == nil && word != nil {
		err = p.errAtLine("%.40q is one word too many in the line", word)
	}
	return err
}

func (p *parser) parseCoordinates(ctx context.Context) error {
	for n := range p.entries {
		if n%(1<<12) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		word, err := p.nextLineWord()
		if err != nil {
			return err
		}
		if word == nil {
			return p.errCutOff(n)
		}
		row, err := p.parseInteger(word, "the row", 1, p.rows)
		if err != nil {
			return err
		}
		column, err := p.nextInteger("the column", 1, p.columns)
		if err != nil {
			return err
		}
		value := 1.0
		if !p.isPattern {
			if value, err = p.nextValue(); err != nil {
				return err
			}
		}
		if err := p.requireEndOfLine(); err != nil {
			return err
		}
		if err := p.addEntry(ctx, row, column, value); err != nil {
			return err
		}
	}
	return nil
}

// parseArray reads the values of an array, one column after the other. For a symmetric matrix there are only the values
// on and below the diagonal, for a skew-symmetric one only the values below it.
func (p *parser) parseArray(ctx context.Context) error {
	for column := int64(1); column <= p.columns; column++ {
		first := int64(1)
		switch p.mirror {
		case 1:
			first = column
		case -1:
			first = column + 1
		}
		for row := first; row <= p.rows; row, p.entries = row+1, p.entries+1 {
			if p.entries%(1<<12) == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			word, err := p.nextLineWord()
			if err != nil {
				return err
			}
			if word == nil {
				return p.errCutOff(p.entries)
			}
			value, err := p.parseValue(word)
			if err != nil {
				return err
			}
			if value == 0 {
				continue
			}
			if err := p.addEntry(ctx, row, column, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *parser) errCutOff(entriesRead int64) error {
	e := p.errAtLine("the text ends after %d entries, fewer than its matrix has", entriesRead)
	e.Remedy = remedyCutOff
	return e
}

func (p *parser) nextValue() (float64, error) {
	word, err := p.nextWord()
	if err != nil {
		return 0, err
	}
	if word == nil {
		return 0, p.errAtLine("the value is missing")
	}
	return p.parseValue(word)
}

func (p *parser) parseValue(word []byte) (float64, error) {
	value, ok := svm.ParseNumber(word)
	if !ok {
		value, ok = svm.ParseNumber(bytes.Map(func(r rune) rune { // the exponents of Fortran: 1.5D+03
			if r == 'd' || r == 'D' {
				return 'e'
			}
			return r
		}, word))
	}
	if !ok {
		return 0, p.errAtLine("the value %.40q is no number", word)
	}
	return value, nil
}

// addEntry adds an entry, and the one that it implies on the other side of the diagonal.
func (p *parser) addEntry(ctx context.Context, row, column int64, value float64) error {
	if p.isTransposed {
		row, column = column, row
	}
	if p.mirror < 0 && row == column && value != 0 {
		return p.errAtLine("a skew-symmetric matrix has %v on its diagonal, in row %d", value, row)
	}
	if err := p.sorter.addEntry(ctx, entry{uint32(row - 1), uint32(column), value}); err != nil || p.mirror == 0 || row == column {
		return err
	}
	return p.sorter.addEntry(ctx, entry{uint32(column - 1), uint32(row), p.mirror * value})
}
