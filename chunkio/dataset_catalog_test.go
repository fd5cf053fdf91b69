package chunkio

import (
	"errors"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// twoFiles plants a and b as scalars and l as lists of two in two files, and lets
// change adapt the second one's leaves.
func twoFiles(change func(f *fakeFile)) (*fakeDisk, []string) {
	rows := [][]float64{{1, 2}, {1, 2}, {1, 2}, {1, 2}}
	tab := newTable(4).addScalar("a", make([]float64, 4)).addScalar("b", make([]float64, 4)).addList("l", 2, rows)
	disk, paths := plant(tab, 2, 2, 1)
	f := disk.byPath[paths[1]]
	f.order = append([]format.Leaf(nil), tab.leaves...)
	change(f)
	return disk, paths
}

func TestSchemasThatDiffer(t *testing.T) {
	for _, c := range []struct {
		change func(f *fakeFile)
		words  string
	}{
		{func(f *fakeFile) { f.order = f.order[:2] }, `"l"`},
		{func(f *fakeFile) { f.order = append(f.order, format.Leaf{Name: "c", Type: "double"}) }, `"c"`},
		{func(f *fakeFile) { f.order[1].Type = "int32" }, "int32 here but double"},
	} {
		disk, paths := twoFiles(c.change)
		_, err := openPaths(t.Context(), paths, disk.open, Options{})
		if !isData(err) || !strings.Contains(err.Error(), c.words) ||
			!strings.Contains(err.Error(), paths[0]) || !strings.Contains(err.Error(), paths[1]) {
			t.Errorf("error %v, want both files and %s", err, c.words)
		}
		ds := disk.dataset(t, paths, Options{SkipBad: true})
		if w := ds.Warnings(); len(w) != 1 || !strings.Contains(w[0].String(), paths[1]) || ds.Rows() != 2 {
			t.Errorf("skipping: %d rows, warnings %q", ds.Rows(), w)
		}
		disk.checkClosed(t)
	}
}

func TestListsOfDifferentLengthsAreLeftOut(t *testing.T) {
	disk, paths := twoFiles(func(f *fakeFile) { f.order[2].Width = 3 })
	ds := disk.dataset(t, paths, Options{})
	if left := ds.LeftOut(); len(left) != 1 || left[0] != (stream.LeftOut{Name: "l", Why: format.WhyVarying}) {
		t.Errorf("left out %v", left)
	}
	if err := passError(ds); err != nil {
		t.Error(err)
	}
}

func TestFileWithoutRowsHasNoListLength(t *testing.T) {
	unknown := func(f *fakeFile) {
		f.groups = nil
		f.order[2].Width, f.order[2].Why = 0, "lists of unknown length (the file has no rows)"
	}
	disk, paths := twoFiles(unknown)
	for _, order := range [][]string{paths, {paths[1], paths[0]}} {
		if ds := disk.dataset(t, order, Options{}); len(ds.Columns()) != 4 || ds.Rows() != 2 {
			t.Errorf("%v: columns %v, %d rows", order, ds.Columns(), ds.Rows())
		}
	}
}

func TestColumnOrdersAreShared(t *testing.T) {
	tab := newTable(50).addScalar("a", make([]float64, 50)).addScalar("b", make([]float64, 50))
	disk, paths := plant(tab, 50, 1, 1)
	ds := disk.dataset(t, paths, Options{})
	distinct := map[*int32]bool{}
	for i := range ds.catalog.files {
		if order := ds.catalog.files[i].order; order != nil {
			distinct[&order[0]] = true
		}
	}
	if len(distinct) != 1 {
		t.Errorf("%d orders held for the one that differs from the first file's", len(distinct))
	}
}

func TestSkippingAllFilesIsAnError(t *testing.T) {
	disk, _ := plant(newTable(1).addText("s"), 1, 1, 1)
	_, err := openPaths(t.Context(), []string{"gone", "lost"}, disk.open, Options{SkipBad: true})
	if e, ok := errors.AsType[*stream.DataError](err); !ok || e.Path != "gone" {
		t.Errorf("error %v, want the first file's", err)
	}
}
