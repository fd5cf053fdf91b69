package chunkio

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/testing/leaktest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestCloseScratchOfRows: the scratch files of rows of every kind are closed with the dataset that was opened, with
// an Open that fails after them, and at the end of Apply and Locate. Until then all datasets made by With can be
// read, even if others of them are closed.
func TestCloseScratchOfRows(t *testing.T) {
	dir, x := t.TempDir(), chunkiotest.DecimalRows(50, 3)
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		formattest.Must(t, os.WriteFile(path, data, 0o644))
		return path
	}
	table := chunkiotest.DelimitRows(x, ",", "\n")
	csv, svm := file("a.csv", table), file("a.svm", []byte("1 2:3\n0 1:1\n"))
	for name, c := range map[string]struct {
		input string
		opt   Options
	}{
		"CSV":            {csv, Options{}},
		"an array":       {file("a.npy", npyArray(x, true)), Options{}},
		"libsvm":         {svm, Options{Sparse: DefaultSparse(t.Context(), []string{svm}, nil, false)}},
		"triples":        {writeTriples(t, filepath.Join(dir, "a.parquet"), []triple{{0, 1, 2}, {1, 0, 3}}, 1), Options{Sparse: "r,i,v"}},
		"CSV on stdin":   {"-", Options{Stdin: bytes.NewReader(table)}},
		"array on stdin": {"-", Options{Stdin: bytes.NewReader(npyArray(x, false))}},
	} {
		check := leaktest.CheckFiles(t)
		whole := must.Get(Open(t.Context(), []string{c.input}, c.opt))(t)
		part := must.Get(whole.With(c.opt))(t)
		for range 2 {
			rows := 0
			for chunk, err := range part.Chunks(t.Context(), stream.Range{}) {
				formattest.Must(t, err)
				rows += chunk.Rows
			}
			if int64(rows) != whole.Rows() || rows < 2 {
				t.Errorf("%s: %d rows of %d", name, rows, whole.Rows())
			}
			formattest.Must(t, part.Close())
		}
		formattest.Must(t, whole.Close())
		formattest.Must(t, whole.Close())
		check()
	}
	check := leaktest.CheckFiles(t)
	bad := file("bad.csv", []byte("a,b\n1,2\n3\n"))
	if _, err := Open(t.Context(), []string{csv, bad}, Options{}); err == nil {
		t.Error("bad rows are read")
	}
	must.Get(Locate(t.Context(), []string{csv}, ApplyOptions{Columns: []string{"x[1]"}}))(t)
	must.Get(Apply(t.Context(), []string{csv}, filepath.Join(dir, "out.parquet"), ApplyOptions{Columns: []string{"x[1]"}}))(t)
	for in, out := range map[string]string{csv: "csv.parquet", svm: "svm.parquet", "-": "stdin.parquet"} {
		must.Get(Convert(t.Context(), []string{in}, filepath.Join(dir, out), ApplyOptions{Stdin: bytes.NewReader(table)}))(t)
	}
	check()
}

// TestCloseStdin: the storage of a Stdin outlives the datasets opened from it, and ends with its Close.
func TestCloseStdin(t *testing.T) {
	check := leaktest.CheckFiles(t)
	s := NewStdin(bytes.NewReader(chunkiotest.DelimitRows(chunkiotest.DecimalRows(50, 3), ",", "\n")))
	opt := Options{Stdin: s}
	for range 2 {
		ds := must.Get(Open(t.Context(), []string{"-"}, opt))(t)
		formattest.Must(t, ds.Close())
	}
	formattest.Must(t, s.Close())
	if _, err := Open(t.Context(), []string{"-"}, opt); err == nil {
		t.Error("it can be opened after that")
	}
	formattest.Must(t, NewStdin(io.MultiReader()).Close())
	check()
}

// TestApplyStdin: the rows of standard input are written like the rows of a file, in every format that it may have.
func TestApplyStdin(t *testing.T) {
	dir, x := t.TempDir(), chunkiotest.DecimalRows(50, 3)
	for name, data := range map[string][]byte{"a.csv": chunkiotest.DelimitRows(x, ",", "\n"), "a.npy": npyArray(x, true), "a.arrows": arrowOf(t, x, true)} {
		path, want, got := filepath.Join(dir, name), filepath.Join(dir, name+".want.parquet"), filepath.Join(dir, name+".parquet")
		formattest.Must(t, os.WriteFile(path, data, 0o644))
		must.Get(Apply(t.Context(), []string{path}, want, ApplyOptions{Columns: []string{"x[2]", "x[0]"}}))(t)
		must.Get(Apply(t.Context(), []string{"-"}, got, ApplyOptions{Columns: []string{"x[2]", "x[0]"}, Stdin: bytes.NewReader(data)}))(t)
		if !bytes.Equal(must.Get(os.ReadFile(want))(t), must.Get(os.ReadFile(got))(t)) {
			t.Errorf("%s: other bytes from standard input", name)
		}
	}
}

// TestScratchOfManyInputs: the rows of many inputs are stored in one file, each after the one before, also after one
// that was read twice.
func TestScratchOfManyInputs(t *testing.T) {
	dir := t.TempDir()
	var files []string
	var want []float64
	for i := range 40 {
		name := filepath.Join(dir, fmt.Sprintf("%02d.csv", i))
		text := fmt.Sprintf("a,b\n%d,1\n%d,2\n", i, 100+i)
		if i == 7 { // a whole number first, and a fraction after types were settled: read again
			text = fmt.Sprintf("a,b\n%d,1\n", i) + strings.Repeat("7,1\n", 3000) + "107.5,2\n"
		}
		formattest.Must(t, os.WriteFile(name, []byte(text), 0o600))
		files = append(files, name)
	}
	before := leaktest.OpenFiles()
	ds := must.Get(Open(t.Context(), files, Options{}))(t)
	if more := leaktest.OpenFiles() - before; before > 0 && more > 5 {
		t.Errorf("%d files stay open", more)
	}
	var got []float64
	for chunk, err := range ds.Chunks(t.Context(), stream.Range{}) {
		formattest.Must(t, err)
		got = append(got, slices.Clone(chunk.Data[:chunk.Rows])...)
	}
	for i := range 40 {
		want = append(want, float64(i))
		if i == 7 {
			want = append(append(want, slices.Repeat([]float64{7}, 3000)...), 107.5)
			continue
		}
		want = append(want, float64(100+i))
	}
	if !slices.Equal(got, want) {
		t.Errorf("other rows: %v", got)
	}
	formattest.Must(t, ds.Close())
}
