package intake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/dustin/go-humanize"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// NPYMagic begins every NumPy array.
const NPYMagic = "\x93NUMPY"

// npyReader reads a NumPy array (format versions 1 to 3). In C order the array is stored row by row. In Fortran order
// it is stored column by column, so a piece is read from many positions.
type npyReader struct {
	from      io.Reader
	readerAt  io.ReaderAt // random access to the same bytes; nil for a stream
	name      string
	goal      int
	head      npyHeader
	dataStart int64
	row       int64 // the next row
	columns   []Column
}

func newNPYReader(c cutter, at io.ReaderAt, opt Options) (*npyReader, error) {
	r := &npyReader{from: c.from, readerAt: at, name: c.name, goal: c.goal}
	if err := r.readHeader(c.maxRow); err != nil {
		if _, ok := errors.AsType[*stream.DataError](err); ok {
			return nil, err
		}
		e := stream.Dataf(r.name, "%w", err)
		e.Remedy = stream.PlainText("write the array again with numpy.save")
		if u, ok := errors.AsType[*unreadArray](err); ok {
			e.Remedy = stream.PlainText("of the array a, save " + u.saveExpression)
		}
		return nil, e
	}
	if r.head.fortran && at == nil {
		e := stream.Dataf(r.name, "an array in Fortran's order cannot be read from a stream or a compressed file")
		e.Remedy = stream.PlainText("save numpy.ascontiguousarray of it, or to a plain file")
		return nil, e
	}
	return r, r.nameColumns(opt, c)
}

func (r *npyReader) readHeader(maxBytes int) error {
	start := make([]byte, len(NPYMagic)+2)
	if _, err := io.ReadFull(r.from, start); err != nil {
		return errors.New("the header ends early")
	}
	if string(start[:len(NPYMagic)]) != NPYMagic {
		return errors.New("no NumPy array: it does not begin with \\x93NUMPY")
	}
	size := make([]byte, 2)
	major := start[len(NPYMagic)]
	switch major {
	case 1:
	case 2, 3:
		size = make([]byte, 4)
	default:
		return fmt.Errorf("version %d of the format cannot be read, only 1 to 3", major)
	}
	if _, err := io.ReadFull(r.from, size); err != nil {
		return errors.New("the header ends early")
	}
	length := binary.LittleEndian.Uint32(append(bytes.Clone(size), 0, 0)[:4])
	if int64(length) > int64(maxBytes) {
		return fmt.Errorf("a header of %d bytes", length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r.from, text); err != nil {
		return errors.New("the header ends early")
	}
	r.dataStart = int64(len(start) + len(size) + len(text))
	head := string(text)
	if major < 3 { // the header is encoded in Latin-1
		runes := convert.Each(text, func(b byte) rune { return rune(b) })
		head = string(runes)
	}
	var err error
	r.head, err = parseNPY(head)
	return err
}

// nameColumns creates the columns of all fields. It first checks that the memory suffices for the columns, their names
// and a row.
func (r *npyReader) nameColumns(opt Options, c cutter) error {
	columns, names := 0, 0
	for _, f := range r.head.fields {
		columns, names = columns+f.count, names+f.count*(len(f.name)-1) // one letter and the index fit in the memory counted for a column
	}
	if err := opt.checkMemory(columns, 1, 1); err != nil {
		return err
	}
	if names > c.maxNames() {
		return stream.Dataf(r.name, "the names of the columns take more than %d MiB", c.maxNames()>>20)
	}
	if r.head.size > int64(c.maxRow) {
		e := stream.Dataf(r.name, "a row of %s, more than %s", humanize.IBytes(uint64(r.head.size)), humanize.IBytes(uint64(c.maxRow)))
		e.Remedy = stream.Textf("longer rows need a larger {memory-limit}")
		return e
	}
	for _, f := range r.head.fields {
		for e := range f.count {
			name := f.name
			if f.isList {
				name = fmt.Sprintf("%s[%d]", f.name, e)
			}
			r.columns = append(r.columns, Column{Name: name, Kind: f.columnKind()})
		}
	}
	return nil
}

func (r *npyReader) describeTable() Table {
	return Table{Format: "a NumPy array", Columns: r.columns, LeftOut: r.head.leftOut, Before: r.head.columnsBefore}
}

func (r *npyReader) observePiece(piece, *columnObserver) error { return nil }

func (r *npyReader) nextPiece(room []byte) (piece, error) {
	left := r.head.rows - r.row
	if left == 0 {
		return piece{}, io.EOF
	}
	rows := min(left, max(int64(r.goal)/max(r.head.size, 1), 1), max(int64(r.goal)/2/int64(len(r.columns)), 1))
	p := piece{line: r.row, rows: int(rows), data: format.Resize(room, int(rows*r.head.size))}
	if !r.head.fortran {
		if n, err := io.ReadFull(r.from, p.data); err != nil {
			return p, r.errReadFailed(err, r.row+int64(n)/max(r.head.size, 1))
		}
	} else {
		each := r.head.fields[0].size
		for j := range r.columns {
			at := r.dataStart + (int64(j)*r.head.rows+r.row)*each
			if err := format.ReadAt(r.readerAt, p.data[int64(j)*rows*each:][:rows*each], at); err != nil {
				return p, r.errReadFailed(err, r.row)
			}
		}
	}
	r.row += rows
	return p, nil
}

// errReadFailed returns an error that contains the number of the row in which the data end early.
func (r *npyReader) errReadFailed(err error, row int64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		e := stream.Dataf(r.name, "the data end in row %d of the %d that the header declares: is the file cut off?", row, r.head.rows)
		return e
	}
	return stream.Dataf(r.name, "row %d: %w", row, err)
}

func (r *npyReader) errInvalidText(row int64, column string, elementType byte) error {
	e := stream.Dataf(r.name, "the text is not UTF-8")
	e.Remedy = stream.PlainText("save the texts that numpy.char.decode makes of it, of 'latin1' or 'cp1252' most likely")
	if elementType == 'U' {
		e = stream.Dataf(r.name, "the text has a character that is not in Unicode")
		e.Remedy = stream.PlainText("write the array again with numpy.save: the file is damaged, or its texts are")
	}
	e.Row, e.Column = row, column
	return e
}

func (r *npyReader) parsePiece(p piece, columns []Column, b *batch) error {
	b.resetToSize(len(columns), p.rows)
	b.rows = p.rows
	j := 0
	for _, f := range r.head.fields {
		for e := range f.count {
			at, step := f.offset+int64(e)*f.size, r.head.size
			if r.head.fortran {
				at, step = int64(j)*int64(p.rows)*f.size, f.size
			}
			for i := range p.rows {
				to := j*b.stride + i
				raw := p.data[at+int64(i)*step:][:f.size]
				if columns[j].Kind == Text {
					s, ok := f.parseText(raw)
					if !ok {
						return r.errInvalidText(p.line+int64(i), columns[j].Name, f.typ)
					}
					b.setText(to, s)
					continue
				}
				x, whole := f.parseNumber(raw)
				b.present[to] = true
				if columns[j].Kind == Float {
					b.cells[to] = math.Float64bits(x)
				} else {
					b.cells[to] = cell(whole)
				}
			}
			j++
		}
	}
	return nil
}
