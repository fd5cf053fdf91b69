package chunkio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/klauspost/compress/zstd"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/stream"
)

func objects(x [][]float64) []byte {
	var b bytes.Buffer
	for _, row := range x {
		b.WriteString(`{"x":[`)
		for j, v := range row {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprint(&b, v)
		}
		b.WriteString("]}\n")
	}
	return b.Bytes()
}

func npyArray(x [][]float64, fortran bool) []byte {
	order := map[bool]string{false: "False", true: "True"}[fortran]
	head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': %s, 'shape': (%d, %d), }\n", order, len(x), len(x[0]))
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	b = append(b, head...)
	put := func(v float64) { b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v)) }
	if fortran {
		for j := range x[0] {
			for i := range x {
				put(x[i][j])
			}
		}
		return b
	}
	for _, row := range x {
		for _, v := range row {
			put(v)
		}
	}
	return b
}

func avroOf(x [][]float64) []byte {
	var fields []string
	for j := range x[0] {
		fields = append(fields, fmt.Sprintf(`{"name":"x[%d]","type":"double"}`, j)) // a strict writer would refuse the name
	}
	schema := `{"type":"record","name":"R","fields":[` + strings.Join(fields, ",") + `]}`
	text := func(b []byte, s string) []byte { return append(binary.AppendVarint(b, int64(len(s))), s...) }
	b := text(text(binary.AppendVarint([]byte("Obj\x01"), 1), "avro.schema"), schema)
	mark := "0123456789abcdef"
	b = append(append(b, 0), mark...)
	for rows := range slices.Chunk(x, 1000) {
		var data []byte
		for _, row := range rows {
			for _, v := range row {
				data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
			}
		}
		b = append(text(binary.AppendVarint(b, int64(len(rows))), string(data)), mark...)
	}
	return b
}

// arrowOf is the table as one record batch, in a file or a stream.
func arrowOf(t *testing.T, x [][]float64, asStream bool) []byte {
	var fields []arrow.Field
	var columns []arrow.Array
	for j := range x[0] {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		for _, row := range x {
			b.Append(row[j])
		}
		fields, columns = append(fields, arrow.Field{Name: chunkiotest.ColumnOf(j), Type: arrow.PrimitiveTypes.Float64}), append(columns, b.NewArray())
	}
	return formattest.WriteArrow(t, asStream, []arrow.Record{array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(len(x)))})
}

func squeezed(t *testing.T, b []byte) []byte {
	w, err := zstd.NewWriter(nil)
	formattest.Must(t, err)
	return w.EncodeAll(b, nil)
}

// The same table gives the same blocks, to the bit, in every format, as a file and on standard
// input, for any threads and memory: and so every selection is the same.
func TestEveryFormatIsTheSameTable(t *testing.T) {
	const rows, cols = 20_000, 5
	x, dir := chunkiotest.DecimalRows(rows, cols), t.TempDir()
	files := map[string][]byte{
		"t.csv": chunkiotest.DelimitRows(x, ",", "\n"), "t.tsv.gz": chunkiotest.ZipText(t, chunkiotest.DelimitRows(x, "\t", "\r\n")), "bar.csv.zst": squeezed(t, chunkiotest.DelimitRows(x, "|", "\n")),
		"t.ndjson": objects(x), "t.jsonl.gz": chunkiotest.ZipText(t, objects(x)), "c.npy": npyArray(x, false), "f.npy": npyArray(x, true), "c.npy.gz": chunkiotest.ZipText(t, npyArray(x, false)),
		"t.avro": avroOf(x), "t.arrow": arrowOf(t, x, false), "t.arrows": arrowOf(t, x, true), "no-name": arrowOf(t, x, true),
	}
	for name, data := range files {
		formattest.Must(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	plain := filepath.Join(dir, "t.csv")
	columns := filepath.Join(dir, "t.parquet")
	_, err := Convert(t.Context(), []string{plain}, columns, ApplyOptions{})
	formattest.Must(t, err)
	files["t.parquet"], err = os.ReadFile(columns)
	formattest.Must(t, err)
	want := chunkiotest.BlocksOf(t, []string{columns}, Options{})
	if len(want) < rows*cols*8 {
		t.Fatalf("%d bytes of blocks", len(want))
	}
	for name, data := range files {
		path := filepath.Join(dir, name)
		for _, opt := range []Options{{Threads: 1, Memory: 128 << 20}, {Threads: 3, Memory: 1 << 30}} {
			if chunkiotest.BlocksOf(t, []string{path}, opt) != want {
				t.Errorf("%s with %d threads is another table", name, opt.Threads)
			}
		}
		if name == "t.arrows" || name == "no-name" || name == "t.arrow" {
			continue // a stream's batches are cut as they come: see below
		}
		if chunkiotest.BlocksOf(t, []string{"-"}, Options{Stdin: bytes.NewReader(data)}) != want {
			t.Errorf("%s on standard input is another table", name)
		}
	}
	for _, name := range []string{"t.arrow", "t.arrows"} {
		if got := chunkiotest.BlocksOf(t, []string{"-"}, Options{Stdin: bytes.NewReader(files[name])}); got != want {
			t.Errorf("%s on standard input is another table", name)
		}
	}
	if got := chunkiotest.BlocksOf(t, []string{"file://" + filepath.Join(dir, "t.tsv.gz")}, Options{}); got != want {
		t.Error("a file:// URL is another table")
	}
}

// Files of rows come in folders of keys, in globs and lists, mixed with Parquet of the same types.
func TestRowsInFolders(t *testing.T) {
	x, dir := chunkiotest.DecimalRows(300, 3), t.TempDir()
	formattest.Must(t, os.MkdirAll(filepath.Join(dir, "day=1"), 0o755))
	formattest.Must(t, os.MkdirAll(filepath.Join(dir, "day=2"), 0o755))
	formattest.Must(t, os.WriteFile(filepath.Join(dir, "day=1", "a.csv"), chunkiotest.DelimitRows(x[:100], ",", "\n"), 0o644))
	formattest.Must(t, os.WriteFile(filepath.Join(dir, "day=2", "b.csv.gz"), chunkiotest.ZipText(t, chunkiotest.DelimitRows(x[100:200], ",", "\n")), 0o644))
	formattest.Must(t, os.WriteFile(filepath.Join(dir, "day=2", "c.arrow"), arrowOf(t, x[200:], false), 0o644))
	formattest.Must(t, os.WriteFile(filepath.Join(dir, "list.txt"), []byte(filepath.Join(dir, "*", "*.csv*")), 0o644))
	ds, err := Open(t.Context(), []string{dir}, Options{Where: "day = 2"})
	formattest.Must(t, err)
	if ds.Rows() != 200 || len(ds.Columns()) != 3 {
		t.Errorf("%d rows of %d columns", ds.Rows(), len(ds.Columns()))
	}
	ds, err = Open(t.Context(), []string{"@" + filepath.Join(dir, "list.txt")}, Options{})
	formattest.Must(t, err)
	if ds.Rows() != 200 {
		t.Errorf("%d rows in the list", ds.Rows())
	}
	if n := ds.RowsScratch(); n < 1000 {
		t.Errorf("%d bytes of scratch", n)
	}
}

// The error of a bad file of rows has its line; and nothing is left in the scratch folder.
func TestRowsOfBadFiles(t *testing.T) {
	dir, spool := t.TempDir(), t.TempDir()
	whole := chunkiotest.DelimitRows(chunkiotest.DecimalRows(5000, 3), ",", "\n")
	packed := chunkiotest.ZipText(t, whole)
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"cut.csv.gz":   {packed[:len(packed)/2], "cut off"},
		"ragged.csv":   {append(slices.Clone(whole), "1,2\n"...), "line 5002 has 2 fields, not 3"},
		"empty.csv":    {nil, "empty"},
		"noheader.csv": {[]byte("\n\n"), "no row"},
		"nothing.csv":  {[]byte("a,b\n"), "no rows"},
		"binary.csv":   {[]byte{0x50, 0x4B, 3, 4, 0, 0, 0xFF}, "UTF-8"},
		"text.txt":     {[]byte("a, b\n1, 2, and 3\n"), "by its name"},
		"cut.arrows":   {arrowOf(t, chunkiotest.DecimalRows(10, 2), true)[:400], "end-of-stream"},
	} {
		path := filepath.Join(dir, name)
		formattest.Must(t, os.WriteFile(path, c.data, 0o644))
		ds, err := Open(t.Context(), []string{path}, Options{Spool: scratch.Options{Dir: spool}})
		if err == nil {
			err = ds.Check()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if left, err := os.ReadDir(spool); err != nil || len(left) > 0 {
		t.Errorf("left in the scratch folder: %v %v", left, err)
	}
	path := filepath.Join(dir, "large.csv")
	formattest.Must(t, os.WriteFile(path, whole, 0o644))
	if _, err := Open(t.Context(), []string{path}, Options{Spool: scratch.Options{Dir: spool, Limit: 1000}}); err == nil || !strings.Contains(err.Error(), "scratch") {
		t.Errorf("in 1,000 bytes of scratch: %v", err)
	}
}

// Read errors on the way are errors, whatever the format.
func TestRowsOfBrokenStdin(t *testing.T) {
	x := chunkiotest.DecimalRows(5000, 3)
	for _, data := range [][]byte{chunkiotest.DelimitRows(x, ",", "\n"), objects(x), avroOf(x), npyArray(x, false), chunkiotest.ZipText(t, chunkiotest.DelimitRows(x, ",", "\n"))} {
		for _, n := range []int{0, 1, 1000, len(data) / 2} {
			broken := io.MultiReader(bytes.NewReader(data[:n]), closedPipe{})
			if _, err := Open(t.Context(), []string{"-"}, Options{Stdin: broken}); err == nil {
				t.Errorf("%.10q…, failing behind %d bytes: no error", data, n)
			}
		}
	}
}

type closedPipe struct{}

func (closedPipe) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Objects of rows are read from the front by few requests.
func TestRowsOfObjects(t *testing.T) {
	s := storetest.S3(t)
	x := chunkiotest.DecimalRows(20_000, 5)
	PutFile(t, s.Dir, "rows/day=1/a.csv.gz", chunkiotest.ZipText(t, chunkiotest.DelimitRows(x[:9000], ",", "\n")))
	PutFile(t, s.Dir, "rows/day=1/b.csv", chunkiotest.DelimitRows(x[9000:], ";", "\n"))
	PutFile(t, s.Dir, "one/f.npy", npyArray(x, true))
	PutFile(t, s.Dir, "one/t.arrows", arrowOf(t, x, true))
	dir := t.TempDir()
	PutFile(t, dir, "rows/day=1/a.csv.gz", chunkiotest.ZipText(t, chunkiotest.DelimitRows(x[:9000], ",", "\n")))
	PutFile(t, dir, "rows/day=1/b.csv", chunkiotest.DelimitRows(x[9000:], ";", "\n"))
	meter := new(stream.Meter)
	if chunkiotest.BlocksOf(t, []string{s.URL("rows/")}, Options{Meter: meter}) != chunkiotest.BlocksOf(t, []string{filepath.Join(dir, "rows")}, Options{}) {
		t.Error("objects of CSV are another table")
	}
	if n := meter.Transfer(); n == nil || n.Requests > 20 {
		t.Errorf("reading CSV from the store took %+v, want at most 20 requests", n)
	}
	PutFile(t, dir, "t.arrow", arrowOf(t, x, false))
	want := chunkiotest.BlocksOf(t, []string{filepath.Join(dir, "t.arrow")}, Options{})
	for _, name := range []string{"one/f.npy", "one/t.arrows"} {
		if chunkiotest.BlocksOf(t, []string{s.URL(name)}, Options{}) != want {
			t.Errorf("%s is another table", name)
		}
	}
}

// Standard input is opened again if it is stored: rows of text are, a stream only on request. If the first reading
// failed, its error is returned again.
func TestStdinAgain(t *testing.T) {
	x := chunkiotest.DecimalRows(3000, 4)
	for name, c := range map[string]struct {
		data  []byte
		again bool // asked for
		kept  bool
	}{
		"CSV":            {chunkiotest.DelimitRows(x, ",", "\n"), false, true},
		"a stream":       {arrowOf(t, x, true), true, true},
		"a stream, once": {arrowOf(t, x, true), false, false},
		"cut off":        {chunkiotest.ZipText(t, chunkiotest.DelimitRows(x, ",", "\n"))[:5000], true, false},
	} {
		spool := t.TempDir()
		opt := Options{Stdin: NewStdin(bytes.NewReader(c.data)), Again: c.again, Spool: scratch.Options{Dir: spool, Limit: 1 << 20}}
		first, err := Open(t.Context(), []string{"-"}, opt)
		second, again := Open(t.Context(), []string{"-"}, opt)
		if !c.kept {
			if again == nil || err != nil && again.Error() != err.Error() {
				t.Errorf("%s: %v, then %v", name, err, again)
			}
			continue
		}
		formattest.Must(t, errors.Join(err, again))
		if n := second.RowsScratch(); n < 1000 || n != first.RowsScratch() {
			t.Errorf("%s: %d bytes of scratch, then %d", name, first.RowsScratch(), n)
		}
		if second.Rows() != 3000 || !second.Replayable() || !slices.Equal(first.Inputs(), second.Inputs()) {
			t.Errorf("%s: %d rows of %v, before of %v", name, second.Rows(), second.Inputs(), first.Inputs())
		}
		opt.Spool.Limit, opt.Stdin = 1000, bytes.NewReader(c.data)
		if _, err := Open(t.Context(), []string{"-"}, opt); !errors.As(err, new(*stream.MemoryError)) {
			t.Errorf("%s in 1,000 bytes of scratch: %v", name, err)
		}
		if left, err := os.ReadDir(spool); err != nil || len(left) > 0 {
			t.Errorf("%s: left in the scratch folder: %v %v", name, left, err)
		}
	}
}
