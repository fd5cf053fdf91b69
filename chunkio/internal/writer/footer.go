package writer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/klauspost/compress/s2"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
)

// footer holds what the footer is to say of the row groups that are written. v15 keeps 680 to 800 bytes for
// each column chunk until the file ends: copying a million row groups of nine columns took 12.7 GiB. In the
// Thrift of the footer they take some 130, and compressed a half to a fourth of these: so they are kept, and v15
// has the last few only.
type footer struct {
	blocks  [][]byte // of the row groups but the last: RowGroups in Thrift, one behind the other, in s2's framing
	pending int      // row groups, the last, which v15 has

	marked     int // blocks before the last Mark
	markedRows int64
	unmarked   int // bytes of the others
}

// mostPending is how many column chunks v15 has at most, unless one row group has more: what a block adds to
// them, a schema that is written again, is little beside so many.
const mostPending = 4096

const (
	// pendingBytes is what a column chunk takes that v15 has: 680 to 800 bytes, measured at 1 to 100 columns, 320
	// more while it is encoded, and bounds of texts; rounded up.
	pendingBytes = 1300

	// columnBytes is what a column takes while its file is written: twice 410 bytes of v15's schema, the second
	// time in what the footer is made of, twice 105 of its Thrift, 160 in the lists of names and nodes that the caller
	// has, and 500 of one more mark than the others, measured at 20,000 columns; rounded up.
	columnBytes = 1800

	// chunkBytes is what a column chunk of numbers takes that is encoded, until the footer is written and read back, which
	// takes more: 170 bytes, measured at nine million.
	chunkBytes = 220

	// boundBytes is the longest text whose bounds are written to the footer; other writers cut them there. With the
	// library's 4,096 a copy of 20,000 row groups of five texts of 2,000 bytes took 1,926 MB, where 209 MiB were the
	// limit, and three times the bytes of the file.
	boundBytes = 64
)

// FooterBytes is what writing the footer of so many row groups takes, and reading it back. texts of the columns may
// have bounds of boundBytes; names is the length of the names of all columns together, which stand in each row group.
func FooterBytes(columns, texts, names, groups int64) int64 {
	return columns*columnBytes + min(columns*groups, max(columns, mostPending))*pendingBytes + groups*(columns*chunkBytes+texts*4*boundBytes+2*names)
}

// FooterBytes is [FooterBytes] of w.
func (w *File) FooterBytes(groups int64) int64 {
	columns, texts, names := w.sizes()
	return FooterBytes(columns, texts, names, groups)
}

// MarkBytes is what a Mark of so many row groups has, at most. A column chunk of numbers takes 65 bytes, half of its
// 130 in Thrift.
func (w *File) MarkBytes(groups int64) int64 {
	columns, texts, names := w.sizes()
	return groups * (65*columns + 2*boundBytes*texts + names)
}

// sizes counts the columns, those of texts among them, and the bytes of their names.
func (w *File) sizes() (columns, texts, names int64) {
	for i := range w.Schema.NumColumns() {
		c := w.Schema.Column(i)
		if t := c.PhysicalType(); t == parquet.Types.ByteArray || t == parquet.Types.FixedLenByteArray {
			texts++
		}
		columns, names = columns+1, names+int64(len(c.Path()))
	}
	return columns, texts, names
}

// ended takes note of a row group.
func (w *File) ended() error {
	w.pending++
	if (w.pending+1)*max(w.Schema.NumColumns(), 1) <= mostPending {
		return nil
	}
	return w.flush()
}

// flush makes a block of the row groups that v15 has.
func (w *File) flush() error {
	if w.pending == 0 {
		return nil
	}
	w.pending = 0
	return format.Guard(func() error {
		m, err := w.meta.Finish() // which begins anew
		if err != nil {
			return err
		}
		var text bytes.Buffer
		if _, err := m.WriteTo(&text, nil); err != nil {
			return err
		}
		at, err := pq.FindRowGroups(text.Bytes())
		if err != nil {
			return err
		}
		block, err := shorten(text.Bytes()[at.From:at.To])
		w.blocks, w.unmarked = append(w.blocks, block), w.unmarked+len(block)
		return err
	})
}

// shorten is text in s2's framing.
func shorten(text []byte) ([]byte, error) {
	var b bytes.Buffer
	to := s2.NewWriter(&b, s2.WriterConcurrency(1), s2.WriterBlockSize(256<<10))
	_, err := to.Write(text)
	err = errors.Join(err, to.Close())
	return bytes.Clone(b.Bytes()), err
}

// Mark tells of the row groups that were written since the last Mark, for GoOn. There must be some.
func (w *File) Mark() (mark []byte, err error) {
	if err := w.flush(); err != nil {
		return nil, err
	}
	if w.marked == len(w.blocks) {
		return nil, errors.New("no row group was written since the last mark")
	}
	mark = bytes.Join(w.blocks[w.marked:], nil) // which s2 reads as one
	w.marked, w.markedRows, w.unmarked = len(w.blocks), w.Rows, 0
	return mark, nil
}

// Unmarked is about how many bytes the next Mark will have.
func (w *File) Unmarked() int { return w.unmarked }

// MarkedRows is the number of rows before the last Mark.
func (w *File) MarkedRows() int64 { return w.markedRows }

// mostShortened is more than s2 makes of row groups, whose column chunks all have a place of their own. A forged mark may
// claim any size.
const mostShortened = 200

// GoOn makes a file that was begun on [io.Discard] go on with one of which out has a beginning, offset bytes
// long, that ends with a Mark: these are all its marks.
func (w *File) GoOn(out io.Writer, offset int64, marks [][]byte) error {
	w.out, w.Offset = out, offset
	for _, mark := range marks {
		most := int64(1<<20 + mostShortened*len(mark))
		text, err := io.ReadAll(io.LimitReader(s2.NewReader(bytes.NewReader(mark)), most))
		if err == nil && int64(len(text)) == most {
			err = fmt.Errorf("a mark of %d bytes has more than %d", len(mark), most)
		}
		if err != nil {
			return err
		}
		groups, rows, err := pq.CountRowGroups(text, w.Schema.NumColumns())
		if err == nil && groups == 0 {
			err = errors.New("a mark has no row groups")
		}
		if err != nil {
			return err
		}
		w.groups, w.Rows = w.groups+groups, w.Rows+rows
	}
	w.blocks, w.marked, w.markedRows = marks, len(marks), w.Rows
	return nil
}

// Finish writes the footer. The file is complete then, but not flushed.
func (w *File) Finish() error {
	if err := w.flush(); err != nil {
		return err
	}
	start := w.Offset
	if err := format.Guard(w.writeFooter); err != nil {
		return err
	}
	size := w.Offset - start
	if size > math.MaxInt32 {
		return fmt.Errorf("the footer of %d row groups of %d columns takes %d bytes, and those of Parquet 2 GiB at most", w.groups, w.Schema.NumColumns(), size)
	}
	tail := binary.LittleEndian.AppendUint32(nil, uint32(size))
	return w.write(append(tail, pq.Magic...))
}

// writeFooter writes v15's footer of no row groups, with all of them at their place.
func (w *File) writeFooter() error {
	m, err := w.meta.Finish()
	if err != nil {
		return err
	}
	m.NumRows = w.Rows
	var text bytes.Buffer
	if _, err := m.WriteTo(&text, nil); err != nil {
		return err
	}
	around, err := w.annotations.Annotate(text.Bytes())
	if err != nil {
		return err
	}
	at, err := pq.FindRowGroups(around)
	if err != nil {
		return err
	}
	if err := w.write(pq.AppendStructList(around[:at.Header:at.Header], w.groups)); err != nil {
		return err
	}
	from := s2.NewReader(nil)
	for i, block := range w.blocks {
		from.Reset(bytes.NewReader(block))
		if _, err := io.Copy(footerWriter{w}, from); err != nil {
			return err
		}
		w.blocks[i] = nil
	}
	return w.write(around[at.To:])
}

// footerWriter writes to the file, and counts.
type footerWriter struct{ *File }

func (w footerWriter) Write(p []byte) (int, error) { return len(p), w.write(p) }
