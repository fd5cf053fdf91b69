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

// footer holds the footer's metadata of the written row groups. v15 keeps 680 to 800 bytes for each column chunk
// until the file ends: copying a million row groups of nine columns took 12.7 GiB. In the footer's Thrift encoding
// they take some 130, and compressed a half to a fourth of these: so they are kept in this form, and v15 has only the
// last few.
type footer struct {
	blocks        [][]byte // of all row groups but the pending: compressed sequences of RowGroups in Thrift, in s2's framing
	pendingGroups int      // number of last row groups, still in v15's form

	markedBlocks  int // blocks before the last Mark
	markedRows    int64
	unmarkedBytes int // bytes of the blocks after it
}

// maxPendingChunks bounds the column chunks that v15 holds, unless one row group has more: the overhead of a block,
// whose schema is written again, is small compared with this number.
const maxPendingChunks = 4096

const (
	// pendingBytes is the memory of a column chunk in v15: 680 to 800 bytes, measured at 1 to 100 columns, 320 more
	// while it is encoded, and bounds of texts; rounded up.
	pendingBytes = 1300

	// columnBytes is the memory of a column while its file is written: twice 410 bytes of v15's schema (once more in
	// the source of the footer), twice 105 of its Thrift, 160 in the caller's lists of names and nodes, and 500 of
	// one more mark than the others, measured at 20,000 columns; rounded up.
	columnBytes = 1800

	// chunkBytes is the memory of an encoded column chunk of numbers, until the footer is written and read back,
	// which takes more: 170 bytes, measured at nine million.
	chunkBytes = 220

	// boundBytes is the longest text whose bounds are written to the footer; other writers truncate bounds at this
	// length. With the library's 4,096 a copy of 20,000 row groups of five texts of 2,000 bytes took 1,926 MB with a
	// limit of 209 MiB, and three times the bytes of the file.
	boundBytes = 64
)

// FooterBytes bounds the memory of writing the footer of this number of row groups, and of reading it back. texts
// counts the columns that may have bounds of boundBytes; names is the total length of the columns' names, which are
// repeated in each row group.
func FooterBytes(columns, texts, names, groups int64) int64 {
	return columns*columnBytes + min(columns*groups, max(columns, maxPendingChunks))*pendingBytes + groups*(columns*chunkBytes+texts*4*boundBytes+2*names)
}

// FooterBytes is [FooterBytes] of w.
func (w *File) FooterBytes(groups int64) int64 {
	columns, texts, names := w.countColumns()
	return FooterBytes(columns, texts, names, groups)
}

// MarkBytes bounds the size of a Mark of this number of row groups. A column chunk of numbers takes 65 bytes, half of
// its 130 in Thrift.
func (w *File) MarkBytes(groups int64) int64 {
	columns, texts, names := w.countColumns()
	return groups * (65*columns + 2*boundBytes*texts + names)
}

// countColumns counts the columns, the text columns among them, and the bytes of their names.
func (w *File) countColumns() (columns, texts, names int64) {
	for i := range w.Schema.NumColumns() {
		c := w.Schema.Column(i)
		if t := c.PhysicalType(); t == parquet.Types.ByteArray || t == parquet.Types.FixedLenByteArray {
			texts++
		}
		columns, names = columns+1, names+int64(len(c.Path()))
	}
	return columns, texts, names
}

func (w *File) endGroup() error {
	w.pendingGroups++
	if (w.pendingGroups+1)*max(w.Schema.NumColumns(), 1) <= maxPendingChunks {
		return nil
	}
	return w.writeBlock()
}

func (w *File) writeBlock() error {
	if w.pendingGroups == 0 {
		return nil
	}
	w.pendingGroups = 0
	return format.Guard(func() error {
		m, err := w.meta.Finish() // it begins anew
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
		block, err := compressBlock(text.Bytes()[at.From:at.To])
		w.blocks, w.unmarkedBytes = append(w.blocks, block), w.unmarkedBytes+len(block)
		return err
	})
}

func compressBlock(text []byte) ([]byte, error) {
	var b bytes.Buffer
	to := s2.NewWriter(&b, s2.WriterConcurrency(1), s2.WriterBlockSize(256<<10))
	_, err := to.Write(text)
	err = errors.Join(err, to.Close())
	return bytes.Clone(b.Bytes()), err
}

// Mark describes the row groups that were written since the last Mark, for GoOn. There must be some.
func (w *File) Mark() (mark []byte, err error) {
	if err := w.writeBlock(); err != nil {
		return nil, err
	}
	if w.markedBlocks == len(w.blocks) {
		return nil, errors.New("no row group was written since the last mark")
	}
	mark = bytes.Join(w.blocks[w.markedBlocks:], nil) // which s2 reads as one
	w.markedBlocks, w.markedRows, w.unmarkedBytes = len(w.blocks), w.Rows, 0
	return mark, nil
}

// UnmarkedBytes estimates the bytes of the next Mark.
func (w *File) UnmarkedBytes() int { return w.unmarkedBytes }

// MarkedRows returns the number of rows before the last Mark.
func (w *File) MarkedRows() int64 { return w.markedRows }

// maxCompression exceeds s2's compression ratio for row groups, as each column chunk has a distinct place. A forged
// mark may claim any size.
const maxCompression = 200

// Resume lets a file that was begun on [io.Discard] continue one whose beginning out holds: offset bytes, which end
// with a Mark. marks are all its marks.
func (w *File) Resume(out io.Writer, offset int64, marks [][]byte) error {
	w.out, w.Offset = out, offset
	for _, mark := range marks {
		most := int64(1<<20 + maxCompression*len(mark))
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
	w.blocks, w.markedBlocks, w.markedRows = marks, len(marks), w.Rows
	return nil
}

// Finish writes the footer. The file is complete then, but not flushed.
func (w *File) Finish() error {
	if err := w.writeBlock(); err != nil {
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
	return w.writeBytes(append(tail, pq.Magic...))
}

// writeFooter writes v15's footer without row groups, and inserts all of them at their place.
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
	annotated, err := w.annotations.AnnotateFooter(text.Bytes())
	if err != nil {
		return err
	}
	at, err := pq.FindRowGroups(annotated)
	if err != nil {
		return err
	}
	if err := w.writeBytes(pq.AppendStructList(annotated[:at.Header:at.Header], w.groups)); err != nil {
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
	return w.writeBytes(annotated[at.To:])
}

// footerWriter writes to the file, and counts.
type footerWriter struct{ *File }

func (w footerWriter) Write(p []byte) (int, error) { return len(p), w.writeBytes(p) }
