package chunkio

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// plantAt stores one file of the given rows at each path.
func plantAt(rows int, paths ...string) *fakeDisk {
	t := newTable(rows*len(paths)).addScalar("a", make([]float64, rows*len(paths)))
	disk, names := plant(t, len(paths), int64(rows), 1)
	for i, name := range names {
		disk.byPath[paths[i]] = disk.byPath[name]
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
		{Options{}, []string{"a"}, partitionKey},
		{Options{Exclude: []string{"kind"}}, []string{"a"}, partitionKey},
		{Options{Exclude: []string{"year"}}, []string{"a"}, "excluded"},
		{Options{Label: "year"}, []string{"a"}, "label"},
		{Options{Weight: "year"}, []string{"a"}, "weight"},
		{Options{Columns: []string{"year"}}, []string{"year"}, ""},
		{Options{Columns: []string{"y*", "a"}}, []string{"a", "year"}, ""},
		{Options{Columns: []string{"*"}}, []string{"a", "year"}, ""},
		{Options{Columns: []string{"*"}, Exclude: []string{"year"}}, []string{"a"}, "excluded"},
	} {
		ds := disk.dataset(t, paths, c.opt)
		if names := columnNames(ds); !slices.Equal(names, c.want) {
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
		"data/year=2020/kind=a%20b/x", "data/year=2021/kind=nan/x", "data/year=" + hiveNull + "/kind=7/x",
	}
	ds := plantAt(2, paths...).dataset(t, paths, Options{Columns: []string{"*"}, Missing: stream.MissingKeep})
	if names := columnNames(ds); !slices.Equal(names, []string{"a", "year"}) {
		t.Fatalf("columns %v", names)
	}
	if left := ds.LeftOut(); len(left) != 1 || left[0].Name != "kind" {
		t.Errorf("left out %v", left)
	}
	got, err := collect(ds, stream.Range{})
	formattest.Must(t, err)
	for i, want := range []float64{2020, 2020, 2021, 2021, math.NaN(), math.NaN()} {
		if x := got.rows[i][1]; x != want && !(math.IsNaN(x) && math.IsNaN(want)) {
			t.Errorf("row %d: year %v, want %v", i, x, want)
		}
	}
	if got.missing[1] != (stream.MissingCount{Nulls: 2}) {
		t.Errorf("missing %v", got.missing[1])
	}
	weighted, err := ds.With(Options{Weight: "year", Columns: []string{"a"}})
	formattest.Must(t, err)
	if _, err := collect(weighted, stream.Range{}); !isData(err) || !strings.Contains(err.Error(), "weight is null") {
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
		_, err := openPaths(context.Background(), c.paths, plantAt(1, c.paths...).open, Options{})
		if !isData(err) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%v: error %v, want %q", c.paths, err, c.words)
		}
	}
}

func TestBooleanPartitionKeys(t *testing.T) {
	for _, c := range []struct {
		texts  []string
		values []float64
		truth  bool
	}{
		{[]string{"true", "false", hiveNull}, []float64{1, 0, format.Null}, true},
		{[]string{hiveNull, "True", "FALSE"}, []float64{format.Null, 1, 0}, true},
		{[]string{"true", "1"}, nil, false},
		{[]string{"true", ""}, nil, false},
		{[]string{hiveNull}, nil, false},
		{[]string{"1", "0"}, []float64{1, 0}, false},
	} {
		p := newPartition("k", c.texts, "")
		if !slices.EqualFunc(p.values, c.values, formattest.SameBits) || p.isBool != c.truth || (p.why == "") != (p.values != nil) {
			t.Errorf("partition of %v: %+v, want values %v, bool %v", c.texts, p, c.values, c.truth)
		}
	}
}

func TestDecimalNumber(t *testing.T) {
	for text, ok := range map[string]bool{
		"1": true, "-2.5e3": true, "007": true, "": false, "inf": false, "NaN": false, "0x1p2": false, "1_000": false, "1e999": false, "2020-01-01": false,
	} {
		if _, err := parseDecimal(text); (err == nil) != ok {
			t.Errorf("%q: error %v", text, err)
		}
	}
}
