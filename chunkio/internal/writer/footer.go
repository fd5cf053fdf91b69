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
	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
)

// footer holds the metadata of the row groups written so far. Arrow v15 keeps 680 to 800 bytes for each column chunk
// until the file ends: copying a million row groups of nine columns took 12.7 GiB. In the Thrift encoding of the footer
// a column chunk takes about 130 bytes, and a half to a fourth of this when compressed. So the metadata is kept in this
// form, and v15 holds only the last few row groups.
type footer struct {
	blocks        [][]byte // of all row groups except the pending ones: each block is a sequence of RowGroups in Thrift, compressed as an s2 stream
	pendingGroups int      // number of the last row groups, which are still held by v15

	markedBlocks  int // number of blocks before the last Mark
	markedRows    int64
	unmarkedBytes int // bytes of the blocks after the last Mark
}

// maxPendingChunks limits the number of column chunks whose metadata Arrow v15 holds, unless a single row group has
// more. It is large enough to make the overhead of a block, for which the schema is encoded again, comparatively small.
const maxPendingChunks = 4096

const (
	// pendingBytes is the memory of a column chunk in v15: 680 to 800 bytes, measured at 1 to 100 columns, plus 320
	// bytes while it is encoded, and the bounds of texts. The sum is rounded up.
	pendingBytes = 1300

	// columnBytes is the memory of a column while its file is written. It is the sum of twice 410 bytes of v15's schema
	// (a second copy is in the source of the footer), twice 105 bytes of its Thrift encoding, 160 bytes in the caller's
	// lists of names and nodes, and 500 bytes for an additional mark, measured at 20,000 columns. The sum is rounded
	// up.
	columnBytes = 1800

	// chunkBytes is the memory of an encoded column chunk of numbers, until the footer is written and read back.
	// Reading back takes the most memory: 170 bytes per chunk, measured at nine million chunks.
	chunkBytes = 220

	// boundBytes is the longest text whose bounds are written to the footer; other writers truncate bounds at this
	// length. With the library's limit of 4,096 bytes, copying 20,000 row groups of five texts of 2,000 bytes took
	// 1,926 MB of memory with a limit of 209 MiB, and the copy was three times as long as the file.
	boundBytes = 64
)

// FooterBytes returns an upper bound on the memory needed to write and to read back a footer with this number of row
// groups. texts is the number of columns that may have bounds of boundBytes bytes. names is the total length of the
// columns' names, which are repeated in each row group.
func FooterBytes(columns, texts, names, groups int64) int64 {
	return columns*columnBytes + min(columns*groups, max(columns, maxPendingChunks))*pendingBytes + groups*(columns*chunkBytes+texts*4*boundBytes+2*names)
}

// FooterBytes returns the bound that the function [FooterBytes] computes, for the columns of w.
func (w *File) FooterBytes(groups int64) int64 {
	columns, texts, names := w.countColumnsForFooter()
	return FooterBytes(columns, texts, names, groups)
}

// MarkBytes returns an upper bound on the size of a Mark of this number of row groups. A column chunk of numbers takes
// 65 bytes in a Mark, half of its 130 bytes in Thrift.
func (w *File) MarkBytes(groups int64) int64 {
	columns, texts, names := w.countColumnsForFooter()
	return groups * (65*columns + 2*boundBytes*texts + names)
}

func (w *File) countColumnsForFooter() (columns, texts, names int64) {
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
		m, err := w.meta.Finish() // w.meta is empty afterwards
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

// Mark returns a description of the row groups that were written since the last Mark, for Resume. It needs at least one
// row group.
func (w *File) Mark() (mark []byte, err error) {
	if err := w.writeBlock(); err != nil {
		return nil, err
	}
	if w.markedBlocks == len(w.blocks) {
		return nil, errors.New("no row group was written since the last mark")
	}
	mark = bytes.Join(w.blocks[w.markedBlocks:], nil) // s2 reads the concatenated streams as one stream
	w.markedBlocks, w.markedRows, w.unmarkedBytes = len(w.blocks), w.Rows, 0
	return mark, nil
}

// UnmarkedBytes estimates the size of the next Mark, in bytes.
func (w *File) UnmarkedBytes() int { return w.unmarkedBytes }

// MarkedRows returns the number of rows before the last Mark.
func (w *File) MarkedRows() int64 { return w.markedRows }

// maxCompression is greater than the factor by which s2 can compress row groups, which contain a different offset for
// each column chunk. A mark that claims a greater factor is forged.
const maxCompression = 200

// Resume makes w continue a file whose beginning is in out. w must have been begun on [io.Discard]. The beginning has
// offset bytes and ends at the last Mark. marks contains all Marks of the file, in order.
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

// Finish writes the footer. Then the file is complete, but not flushed.
func (w *File) Finish() error {
	if len(w.blocks) > 0 {
		if err := w.writeBlock(); err != nil {
			return err
		}
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
	if len(w.blocks) == 0 { // the text has all row groups
		return w.writeBytes(annotated)
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

// footerWriter writes to the file and counts the bytes.
type footerWriter struct{ *File }

func (w footerWriter) Write(p []byte) (int, error) { return len(p), w.writeBytes(p) }
