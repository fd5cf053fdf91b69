package chunkio

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// matrixText writes sparse rows as a Matrix Market file, its entries column by column.
func matrixText(indices, values [][]float64, columns int) []byte {
	var b bytes.Buffer
	count := 0
	for j := range columns + 1 {
		for i, row := range indices {
			for k, index := range row {
				if int(index) == j {
					fmt.Fprintln(&b, i+1, j, values[i][k])
					count++
				}
			}
		}
	}
	return append(fmt.Appendf(nil, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", len(indices), columns, count), b.Bytes()...)
}

// TestMatrixEqualsLists: a matrix gives the rows of the same lists, whether it comes under its name, under another one,
// compressed, in a folder, in a list or from standard input.
func TestMatrixEqualsLists(t *testing.T) {
	dir := t.TempDir()
	_, _, indices, values := chunkiotest.TextRows(rand.New(rand.NewPCG(3, 8)), 3000)
	tab := chunkiotest.NewTable(len(indices)).AddList("ix", 0, indices).AddList("x", 0, values)
	disk, planted := PlantTable(tab, 1, 1<<16, 1)
	want := must.Get(chunkiotest.CollectRows(disk.OpenDataset(t, planted, Options{Sparse: "ix,x,8"}), stream.Range{}))(t)
	text := matrixText(indices, values, 6)
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		formattest.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		formattest.Must(t, os.WriteFile(path, data, 0o600))
		return path
	}
	write("folder/part-0", chunkiotest.ZipText(t, text))
	list := write("list.txt", []byte(filepath.Join(dir, "folder")+"\n"))
	for _, in := range []string{
		write("a.mtx", text), write("a.MTX.gz", chunkiotest.ZipText(t, text)), write("matrix", text),
		filepath.Join(dir, "folder"), "@" + list, "-",
	} {
		opt := Options{Stdin: NewStdin(bytes.NewReader(text))}
		opt.Sparse = DefaultSparse(t.Context(), []string{in}, opt.Stdin, false) + ",8"
		ds, err := Open(t.Context(), []string{in}, opt)
		if err != nil {
			t.Errorf("opening %s: %v", in, err)
			continue
		}
		got, err := chunkiotest.CollectRows(ds, stream.Range{})
		if d := chunkiotest.DescribeDiff(got, want); err != nil || d != "" {
			t.Errorf("%s: error %v; rows that differ: %s", in, err, d)
		}
		formattest.Must(t, ds.Close())
	}
	for _, in := range []string{write("lines", []byte("1 1:2\n1 1:3\n")), filepath.Join(dir, "none"), "@" + filepath.Join(dir, "none")} {
		if got := DefaultSparse(t.Context(), []string{in}, nil, false); got != "" {
			t.Errorf("%s: the default is %q, want none", in, got)
		}
	}
}
