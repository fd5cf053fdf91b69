package chunkio

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/stream"
)

// plantAt stores one file of the given rows at each path.
func plantAt(rows int, paths ...string) *FakeDisk {
	t := chunkiotest.NewTable(rows*len(paths)).AddScalar("a", make([]float64, rows*len(paths)))
	disk, names := PlantTable(t, len(paths), int64(rows), 1)
	for i, name := range names {
		disk.ByPath[paths[i]] = disk.ByPath[name]
	}
	return disk
}

// TestPartitionKeysAreAskedFor: keys are features only if Columns names them, exactly or by a glob, and serve as
// weight and label anyway.
func TestPartitionKeysAreAskedFor(t *testing.T) {
	paths := []string{"data/year=2020/kind=x/x", "data/year=2021/kind=y/x"}
	disk := plantAt(2, paths...)
	for _, c := range []struct {
		opt  Options
		want []string
		why  string // of year
	}{
		{Options{}, []string{"a"}, "a partition key: to use it, name it among the columns"},
		{Options{Exclude: []string{"kind"}}, []string{"a"}, "a partition key: to use it, name it among the columns"},
		{Options{Exclude: []string{"year"}}, []string{"a"}, "excluded"},
		{Options{Label: "year"}, []string{"a"}, "label"},
		{Options{Weight: "year"}, []string{"a"}, "weight"},
		{Options{Columns: []string{"year"}}, []string{"year"}, ""},
		{Options{Columns: []string{"y*", "a"}}, []string{"a", "year"}, ""},
		{Options{Columns: []string{"*"}}, []string{"a", "year"}, ""},
		{Options{Columns: []string{"*"}, Exclude: []string{"year"}}, []string{"a"}, "excluded"},
	} {
		ds := disk.OpenDataset(t, paths, c.opt)
		if names := ColumnNames(ds); !slices.Equal(names, c.want) {
			t.Errorf("%+v: columns %v, want %v", c.opt, names, c.want)
		}
		why := ""
		for _, l := range ds.LeftOut() {
			if l.Name == "year" {
				why = l.Why
			}
		}
		for f := range ds.Fields() { // inspect agrees
			if f.Name == "year" && (f.Why != c.why || f.Used != (c.why == "")) {
				t.Errorf("%+v: inspect says %+v", c.opt, f)
			}
		}
		if why != c.why {
			t.Errorf("%+v: year is left out: %q, want %q", c.opt, why, c.why)
		}
	}
}

func TestPartitionKeysBecomeColumns(t *testing.T) {
	paths := []string{
		"data/year=2020/kind=a%20b/x", "data/year=2021/kind=nan/x", "data/year=" + listing.HiveNull + "/kind=7/x",
	}
	ds := plantAt(2, paths...).OpenDataset(t, paths, Options{Columns: []string{"*"}, Missing: stream.MissingKeep})
	if names := ColumnNames(ds); !slices.Equal(names, []string{"a", "year"}) {
		t.Fatalf("columns %v", names)
	}
	if left := ds.LeftOut(); len(left) != 1 || left[0].Name != "kind" {
		t.Errorf("left out %v", left)
	}
	got, err := chunkiotest.CollectRows(ds, stream.Range{})
	formattest.Must(t, err)
	for i, want := range []float64{2020, 2020, 2021, 2021, math.NaN(), math.NaN()} {
		if x := got.Rows[i][1]; x != want && !(math.IsNaN(x) && math.IsNaN(want)) {
			t.Errorf("row %d: year %v, want %v", i, x, want)
		}
	}
	if got.Missing[1] != (stream.MissingCount{Nulls: 2}) {
		t.Errorf("missing %v", got.Missing[1])
	}
	weighted, err := ds.With(Options{Weight: "year", Columns: []string{"a"}})
	formattest.Must(t, err)
	if _, err := chunkiotest.CollectRows(weighted, stream.Range{}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "weight is null") {
		t.Errorf("null weight: error %v", err)
	}
}

func TestInconsistentPartitionKeys(t *testing.T) {
	for _, c := range []struct {
		paths []string
		words string
	}{
		{[]string{"k=1/x", "k=1/l=2/x"}, "partition keys"},
		{[]string{"k=1/x", "l=1/y"}, "partition keys"},
		{[]string{"k=1/k=2/x"}, "twice"},
	} {
		_, err := OpenPaths(context.Background(), c.paths, plantAt(1, c.paths...).Open, Options{})
		if !chunkiotest.IsData(err) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%v: error %v, want %q", c.paths, err, c.words)
		}
	}
}
