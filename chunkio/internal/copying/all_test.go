package copying

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Converting Parquet of every type gives the same columns, to the bit.
func TestConvertKeepsEveryType(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from.parquet"), filepath.Join(dir, "to.parquet")
	formattest.WriteEveryType(t, from, 1, 40, 25)
	report, err := ConvertInputs(t.Context(), []string{from}, to, ApplyOptions{})
	formattest.Must(t, err)
	want, got := formattest.ReadDump(t, from), formattest.ReadDump(t, to)
	if report.Rows != 65 || len(got.Leaves) != len(want.Leaves) || !slices.Equal(got.Groups, want.Groups) {
		t.Fatalf("%d rows, %d leaves of %d, groups %v", report.Rows, len(got.Leaves), len(want.Leaves), got.Groups)
	}
	for i, l := range want.Leaves {
		g := got.Leaves[i]
		if g.Path != l.Path || !g.Node.Equals(l.Node) || !slices.Equal(g.Values, l.Values) || !slices.Equal(g.Def, l.Def) || !slices.Equal(g.Rep, l.Rep) {
			t.Errorf("%s differs", l.Path)
		}
	}
}

// TestConvertDottedNames: a dot in a column's own name leads into no struct.
func TestConvertDottedNames(t *testing.T) {
	item := schema.MustGroup(schema.NewGroupNode("a.b", parquet.Repetitions.Repeated, schema.FieldList{schema.NewInt32Node("x", parquet.Repetitions.Required, -1)}, -1))
	outer := schema.MustGroup(schema.NewGroupNode("c.d", parquet.Repetitions.Optional, schema.FieldList{schema.MustGroup(schema.NewGroupNode("a.b", parquet.Repetitions.Repeated, schema.FieldList{schema.NewInt32Node("x", parquet.Repetitions.Required, -1)}, -1))}, -1))
	file := formattest.WriteFile(t, schema.FieldList{item, outer}, 1, func(_, c int, w pqfile.ColumnChunkWriter) error {
		d := w.Descr().MaxDefinitionLevel()
		_, err := w.(*pqfile.Int32ColumnChunkWriter).WriteBatch([]int32{1, 2, 3}, []int16{d, d, 0, d}, []int16{0, 1, 0, 0})
		return err
	})
	in, out := filepath.Join(t.TempDir(), "in.parquet"), filepath.Join(t.TempDir(), "out.parquet")
	formattest.Must(t, os.WriteFile(in, file, 0o600))
	_, err := ConvertInputs(t.Context(), []string{in}, out, ApplyOptions{})
	formattest.Must(t, err)
	want, got := formattest.ReadDump(t, in), formattest.ReadDump(t, out)
	if len(got.Leaves) != 2 {
		t.Fatalf("%d columns", len(got.Leaves))
	}
	for i, l := range got.Leaves {
		if !slices.Equal(l.Values, want.Leaves[i].Values) || !slices.Equal(l.Def, want.Leaves[i].Def) || !slices.Equal(l.Rep, want.Leaves[i].Rep) || l.Path != want.Leaves[i].Path {
			t.Errorf("%+v, want %+v", l, want.Leaves[i])
		}
	}
}

// Converted text keeps columns that can be no features too: texts, dates, whole numbers beyond float64.
func TestConvertText(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from.csv"), filepath.Join(dir, "to.parquet")
	formattest.Must(t, os.WriteFile(from, []byte("id,day,name,x\n9007199254740993,2026-01-31,\"a,\nb\",1.5\n2,,NA,\n"), 0o644))
	_, err := ConvertInputs(t.Context(), []string{from}, to, ApplyOptions{})
	formattest.Must(t, err)
	in, err := storage.OpenFile(t.Context(), to)
	formattest.Must(t, err)
	f, err := opening.NewAccess(settings.WithDefaults(settings.Options{})).OpenByFormat(t.Context(), in, 1<<30)
	formattest.Must(t, err)
	defer f.Close()
	var got []string
	for i, l := range f.Leaves() {
		rows, err := formattest.AllTexts(f, i, 10)
		formattest.Must(t, err)
		got = append(got, l.Name+" "+l.Type+": "+strings.ReplaceAll(strings.Join(rows, "|"), formattest.NoName, "null"))
	}
	if want := []string{"id int64: 9007199254740993|2", "day date: 2026-01-31|null", "name string: a,\nb|NA", "x double: 1.5|null"}; !slices.Equal(got, want) {
		t.Errorf("the columns are %q", got)
	}
	if _, err := ConvertInputs(t.Context(), []string{to}, to, ApplyOptions{}); err == nil {
		t.Error("a file was converted to itself")
	}
}

// A folder of keys keeps its layout, even if some files are compressed text.
func TestConvertFolder(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	x := chunkiotest.DecimalRows(30, 2)
	for name, data := range map[string][]byte{"day=1/a.csv.gz": chunkiotest.ZipText(t, chunkiotest.DelimitRows(x[:10], ",", "\n")), "day=2/b.csv": chunkiotest.DelimitRows(x[10:], ",", "\n")} {
		formattest.Must(t, errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(dir, name), data, 0o644)))
	}
	report, err := ConvertInputs(t.Context(), []string{dir}, out, ApplyOptions{})
	formattest.Must(t, err)
	if report.Files != 2 || report.Rows != 30 {
		t.Errorf("converting %s: %+v, want 2 files of 30 rows", dir, report)
	}
	for _, name := range []string{"day=1/a.parquet", "day=2/b.parquet"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Errorf("looking for the converted %s: %v", name, err)
		}
	}
	if a, b := chunkiotest.BlocksOf(t, []string{dir}, settings.Options{}), chunkiotest.BlocksOf(t, []string{out}, settings.Options{}); a != b {
		t.Error("the folder is another table")
	}
}

// Rows of libsvm text are the rows of the lists that they become, labels and all.
func TestConvertSparse(t *testing.T) {
	dir := t.TempDir()
	text, label, indices, values := chunkiotest.TextRows(rand.New(rand.NewPCG(1, 1)), 3000)
	from, to := filepath.Join(dir, "from.svm"), filepath.Join(dir, "to.parquet")
	formattest.Must(t, os.WriteFile(from, text, 0o644))
	report, err := ConvertInputs(t.Context(), []string{from}, to, ApplyOptions{})
	formattest.Must(t, err)
	d := formattest.ReadDump(t, to)
	if got := d.FindLeaf("label").RowNumbers(t); report.Rows != 3000 || !slices.Equal(got, label) {
		t.Errorf("%d rows, labels %v…", report.Rows, got[:5])
	}
	ds, err := dataset.OpenInputs(t.Context(), []string{to}, settings.Options{Sparse: "indices,values", Label: "label"})
	formattest.Must(t, err)
	row := 0
	for c, err := range ds.Chunks(t.Context(), stream.Range{}) {
		formattest.Must(t, err)
		for i := range c.Rows {
			got := map[int32]float64{}
			for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
				got[c.Sparse.Index[e]] = c.Sparse.Value[e]
			}
			for e, at := range indices[row] {
				if v := values[row][e]; got[int32(at)] != v {
					t.Fatalf("row %d: %v at %v, want %v", row, got[int32(at)], at, v)
				}
			}
			row++
		}
	}
	if row != 3000 {
		t.Errorf("%d rows", row)
	}
}

// A file of many row groups has a long footer, on both sides: reading works in the least memory that the error names,
// though the footer is parsed again in every pass, and copying counts the memory of its output's footer until it is
// written.
func TestLongFooters(t *testing.T) {
	const rows, columns = 300, 5
	in := filepath.Join(t.TempDir(), "in.parquet")
	formattest.Must(t, writing.WriteParquet(t.Context(), in, chunkiotest.EveryNumber(rows, columns, false), writing.WriteOptions{RowGroupRows: 1}))
	ds, err := dataset.OpenInputs(t.Context(), []string{in}, settings.Options{})
	formattest.Must(t, err)
	least := ds.MinMemory()
	formattest.Must(t, ds.Close())
	ds, err = dataset.OpenInputs(t.Context(), []string{in}, settings.Options{Memory: least})
	formattest.Must(t, err)
	defer ds.Close()
	read := 0
	for c, err := range ds.Chunks(t.Context(), stream.Range{}) {
		if err != nil {
			t.Fatalf("in the %d bytes that are said to do: %v", least, err)
		}
		read += c.Rows
	}
	if read != rows {
		t.Errorf("%d rows, want %d", read, rows)
	}
	out := filepath.Join(t.TempDir(), "out.parquet")
	_, err = ConvertInputs(t.Context(), []string{in}, out, ApplyOptions{Memory: 2 * least})
	short := (*stream.MemoryError)(nil)
	if !errors.As(err, &short) || short.Need < writer.FooterBytes(columns, 0, 0, rows) {
		t.Fatalf("%v; want more than %d bytes", err, writer.FooterBytes(columns, 0, 0, rows))
	}
	if _, err := ConvertInputs(t.Context(), []string{in}, out, ApplyOptions{Memory: short.Need}); err != nil {
		t.Errorf("not in the %d bytes that are said to do: %v", short.Need, err)
	}
}
