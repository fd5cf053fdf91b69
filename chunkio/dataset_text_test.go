package chunkio

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Text gives the rows of the same lists, zipped or not, in several files, in any memory.
func TestTextEqualsLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, sizes := range [][]int{{1}, {300, 70_000}} {
		dir := t.TempDir()
		var paths []string
		var label []float64
		var indices, values [][]float64
		for i, n := range sizes {
			text, y, ix, v := chunkiotest.TextRows(rng, n)
			label, indices, values = append(label, y...), append(indices, ix...), append(values, v...)
			paths = append(paths, filepath.Join(dir, fmt.Sprintf("%d.%s", i, []string{"libsvm", "SVM.gz"}[i])))
			if i == 1 {
				text = chunkiotest.ZipText(t, text)
			}
			formattest.Must(t, os.WriteFile(paths[i], text, 0o644))
		}
		tab := chunkiotest.NewTable(len(label)).AddScalar("label", label).AddList("ix", 0, indices).AddList("x", 0, values)
		disk, planted := PlantTable(tab, 1, 1<<16, 1)
		opt := Options{Sparse: "ix,x,8", Weight: "label"}
		want, err := chunkiotest.CollectRows(disk.OpenDataset(t, planted, opt), stream.Range{})
		formattest.Must(t, err)
		opt.Sparse = DefaultSparse(t.Context(), paths[:1], nil, false) + ",8"
		ds, err := Open(t.Context(), paths, opt)
		formattest.Must(t, err)
		for _, opt.Memory = range []int64{ds.MinMemory(), 1 << 30} {
			ds, err := ds.With(opt)
			formattest.Must(t, err)
			got, err := chunkiotest.CollectRows(ds, stream.Range{})
			formattest.Must(t, err)
			if d := chunkiotest.DescribeDiff(got, want); d != "" {
				t.Errorf("rows of text within %d bytes differ: %s", opt.Memory, d)
			}
		}
		// Features of text, and its labels, are written as doubles.
		out := filepath.Join(dir, "out.parquet")
		mustApply(t, paths, out, ApplyOptions{Columns: []string{"x[2]"}, Also: []string{"label"}, Sparse: "x,8", Where: "label > 0"})
		var second []float64
		for i := range label {
			if at := slices.Index(indices[i], 2); label[i] > 0 && at >= 0 {
				second = append(second, values[i][at])
			} else if label[i] > 0 {
				second = append(second, 0)
			}
		}
		d := formattest.ReadDump(t, out)
		if got := d.FindLeaf("x[2]").RowNumbers(t); fmt.Sprint(got) != fmt.Sprint(second) || len(d.FindLeaf("label").RowTexts()) != len(second) {
			t.Error("apply writes other rows")
		}
	}
}

func TestBadTextFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		formattest.Must(t, os.WriteFile(path, data, 0o644))
		return path
	}
	text, _, _, _ := chunkiotest.TextRows(rand.New(rand.NewPCG(1, 1)), 2000)
	whole := chunkiotest.ZipText(t, text)
	for _, c := range []struct {
		path, want string
		opt        Options
	}{
		{write("a.svm", []byte("1 2:3\n1 x\n")), "a.svm: line 2", Options{}},
		{write("b.svm.gz", []byte("\x1F\x8B no gzip")), "b.svm.gz: the compressed data: gzip", Options{}},
		{write("c.svm.gz", whole[:len(whole)/2]), "unexpected EOF", Options{}},
		{write("d.svm", []byte("# nothing\n")), "no row has an entry", Options{}},
		{write("e.svm", []byte("1\n1\n")), "no row has an entry", Options{}},
		{write("f.txt", text), "by its name", Options{}},
		{write("g.svm", text), "scratch", Options{Spool: scratch.Options{Limit: 1000}}},
		{write("h.svm", []byte("1 2:nan\n")), "missing value", Options{}},
	} {
		c.opt.Sparse = "x"
		ds, err := Open(t.Context(), []string{c.path}, c.opt)
		if err == nil {
			err = chunkiotest.PassError(ds)
		}
		_, short := errors.AsType[*stream.MemoryError](err)
		if !chunkiotest.IsData(err) && !short || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", filepath.Base(c.path), err, c.want)
		}
	}
	if DefaultSparse(t.Context(), []string{"a.parquet", "b.SVM.GZ"}, nil, false) != "x" || DefaultSparse(t.Context(), []string{"a.parquet", "svm"}, nil, false) != "" {
		t.Error("names of text are not told")
	}
}

// TestTextOfSeveralLabels: text with rows of several labels is read; --label leaves them out, and whoever needs classes
// of them is told the line. One file of several is enough. Converted, it has the rows without them.
func TestTextOfSeveralLabels(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"a.svm": "1 0:1 2:3\n2 1:4\n", "b.svm": "1 0:5\n1,2 1:6\n 2:7\n"} {
		formattest.Must(t, os.WriteFile(name, []byte(text), 0o600))
	}
	const why = `rows without exactly one label (line 2: "1,2")`
	for _, label := range []string{"", "label"} {
		ds := must.Get(Open(t.Context(), []string{"a.svm", "b.svm"}, Options{Sparse: "x", Label: label}))(t)
		if got := fmt.Sprint(must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t).Rows); got != "[[1 0 3] [0 4 0] [5 0 0] [0 6 0] [0 0 7]]" {
			t.Errorf("label %q: the rows are %s", label, got)
		}
		formattest.Must(t, ds.Close())
	}
	if _, err := Open(t.Context(), []string{"a.svm", "b.svm"}, Options{Sparse: "x", Label: "label", Classes: true}); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), why) {
		t.Errorf("classes: %v, want a usage error with %s", err, why)
	}
	report := must.Get(Convert(t.Context(), []string{"b.svm"}, "b.parquet", ApplyOptions{}))(t)
	if !slices.Equal(report.Columns, []string{"indices", "values"}) || !strings.Contains(fmt.Sprint(report.Warnings), why) {
		t.Errorf("converted it has %q, with the warnings %v", report.Columns, report.Warnings)
	}
	ds := must.Get(Open(t.Context(), []string{"b.parquet"}, Options{Sparse: "indices,values"}))(t)
	defer ds.Close()
	if got := fmt.Sprint(must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t).Rows); got != "[[5 0 0] [0 6 0] [0 0 7]]" {
		t.Errorf("converted it has the rows %s", got)
	}
}
