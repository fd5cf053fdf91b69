package writer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/schema"

	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
)

// write writes row groups of a number and a text, from group first up to end, and marks the file after the groups
// that marked selects.
func write(t *testing.T, w *File, first, end int, marked func(group int) bool) (marks [][]byte) {
	t.Helper()
	for n := first; n < end; n++ {
		rows := int64(1 + n%3)
		g := w.Group(rows)
		chunks, err := g.Columns(w.Schema.NumColumns())
		if err != nil {
			t.Fatalf("row group %d: opening its columns: %v", n, err)
		}
		for i, c := range chunks {
			if i%2 == 0 {
				err = Put(c, make([]float64, rows), nil, nil)
			} else {
				err = Put(c, []parquet.ByteArray{fmt.Append(nil, "row group ", n)}, append([]int16{1}, make([]int16, rows-1)...), nil)
			}
			if err := errors.Join(err, c.Finish()); err != nil {
				t.Fatalf("row group %d: writing column %d: %v", n, i, err)
			}
		}
		if err := errors.Join(g.Place(chunks), g.End()); err != nil {
			t.Fatalf("ending row group %d: %v", n, err)
		}
		if marked(n) {
			mark, err := w.Mark()
			if err != nil {
				t.Fatalf("marking row group %d: %v", n, err)
			}
			marks = append(marks, mark)
		}
	}
	return marks
}

func never(int) bool { return false }

func numberAndText(columns int) (fields schema.FieldList) {
	for i := range columns {
		if i%2 == 0 {
			fields = append(fields, schema.NewFloat64Node(fmt.Sprint("x", i), parquet.Repetitions.Required, -1))
		} else {
			fields = append(fields, schema.NewByteArrayNode(fmt.Sprint("t", i), parquet.Repetitions.Optional, -1))
		}
	}
	return fields
}

// TestFooterIsTheLibrarys: the footer has every row group once, in order, and equals the library's own footer,
// whether groups were kept in blocks, marked or continued.
func TestFooterIsTheLibrarys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for columns, counts := range map[int][]int{0: {1, 15, 5000}, 2: {0, 1, 14, 15, 16, 2047, 2048, 2049, 5000}, 300: {13, 14, 40}, maxPendingChunks + 1: {2}} {
		for _, groups := range counts {
			var whole bytes.Buffer
			w, err := New(&whole, numberAndText(columns), nil)
			if err != nil {
				t.Fatalf("%d columns, %d row groups: beginning the file: %v", columns, groups, err)
			}
			write(t, w, 0, groups, never)
			if err := w.Finish(); err != nil {
				t.Fatalf("%d columns, %d row groups: finishing the file: %v", columns, groups, err)
			}
			footer := footerOf(t, whole.Bytes())
			m, err := metadata.NewFileMetaData(footer, nil)
			if err != nil {
				t.Fatalf("%d columns, %d row groups: parsing the footer: %v", columns, groups, err)
			}
			if len(m.RowGroups) != groups || m.NumRows != w.Rows {
				t.Errorf("%d of %d row groups, %d of %d rows", len(m.RowGroups), groups, m.NumRows, w.Rows)
			}
			rows := int64(0)
			for n, g := range m.RowGroups {
				if rows += g.NumRows; g.NumRows != int64(1+n%3) || len(g.Columns) != columns {
					t.Fatalf("%d columns: row group %d of %d has %d rows and %d columns", columns, n, groups, g.NumRows, len(g.Columns))
				}
			}
			if rows != w.Rows {
				t.Errorf("%d rows in row groups, %d in all", rows, w.Rows)
			}
			var again bytes.Buffer
			if _, err := m.WriteTo(&again, nil); err != nil || !bytes.Equal(again.Bytes(), footer) {
				t.Errorf("%d columns, %d row groups: the library writes another footer: %v", columns, groups, err)
			}
			if groups < 2 {
				continue
			}
			// A run that continues after a mark ends in the same bytes.
			var first bytes.Buffer
			begun, err := New(&first, numberAndText(columns), nil)
			if err != nil {
				t.Fatalf("%d columns, %d row groups: beginning the first part: %v", columns, groups, err)
			}
			at := 1 + r.IntN(groups-1)
			marks := write(t, begun, 0, at, func(n int) bool { return n == at-1 || r.IntN(at) < 3 })
			on, err := New(io.Discard, numberAndText(columns), nil)
			if err != nil {
				t.Fatalf("%d columns, %d row groups: beginning the second part: %v", columns, groups, err)
			}
			if err := on.Resume(&first, begun.Offset, marks); err != nil {
				t.Fatalf("%d columns, %d row groups: going on after a mark: %v", columns, groups, err)
			}
			if on.MarkedRows() != begun.Rows || on.Rows != begun.Rows {
				t.Errorf("%d and %d rows are gone on with, of %d", on.MarkedRows(), on.Rows, begun.Rows)
			}
			write(t, on, at, groups, func(int) bool { return r.IntN(groups) < 3 })
			if err := on.Finish(); err != nil || !bytes.Equal(first.Bytes(), whole.Bytes()) {
				t.Errorf("%d columns, %d row groups, gone on with behind %d: other bytes, %v", columns, groups, at, err)
			}
		}
	}
}

// footerOf is the footer of a file.
func footerOf(t *testing.T, file []byte) []byte {
	t.Helper()
	size := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	if string(file[len(file)-4:]) != pq.Magic || size > len(file)-12 {
		t.Fatalf("a footer of %d bytes in a file of %d", size, len(file))
	}
	return file[len(file)-8-size : len(file)-8]
}
