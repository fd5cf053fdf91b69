package chunkio

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/stream"
)

// partsOf computes the features of a time, step by step; nil for a null.
func partsOf(at *time.Time, typ string) []float64 {
	if at == nil {
		return slices.Repeat([]float64{math.NaN()}, map[string]int{"date": 5, "timestamp": 7, "time": 3}[typ])
	}
	number := float64(at.Unix()) + float64(at.Nanosecond())/1e9
	midnight := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	days := 0
	for d := midnight; d.Weekday() != time.Monday; d = d.AddDate(0, 0, -1) {
		days++
	}
	year := time.Date(at.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	inDay := at.Sub(midnight).Seconds() / 86400
	inYear := midnight.Sub(year).Hours() / year.AddDate(1, 0, 0).Sub(year).Hours()
	parts := []float64{number}
	switch typ {
	case "date":
		parts[0] = midnight.Sub(time.Unix(0, 0)).Hours() / 24
	default:
		parts = append(parts, math.Sin(2*math.Pi*inDay), math.Cos(2*math.Pi*inDay))
	}
	if typ != "time" {
		for _, x := range []float64{float64(days) / 7, inYear} {
			parts = append(parts, math.Sin(2*math.Pi*x), math.Cos(2*math.Pi*x))
		}
	}
	return parts
}

// sameNumbers compares rows to 1e-15 of the larger number, or of 1; NaN is NaN.
func sameNumbers(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool {
		return a != a && b != b || math.Abs(a-b) <= 1e-15*max(1, math.Abs(b))
	})
}

// The times of messy.parquet are numbers and positions as made one by one, whatever the threads
// and the memory; the number and its parts are one block.
func TestTimesOfParquet(t *testing.T) {
	path := fixtures.DatasetPath(t, "messy.parquet")
	dump := formattest.ReadDump(t, path, "ts", "day")
	var want [][]float64
	stamps, days := dump.FindLeaf("ts").RowTexts(), dump.FindLeaf("day").RowTexts()
	for i := range stamps {
		instant := func(text string, of func(int64) time.Time) *time.Time {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil
			}
			at := of(n).UTC()
			return &at
		}
		row := partsOf(instant(stamps[i], time.UnixMicro), "timestamp")
		want = append(want, append(row, partsOf(instant(days[i], func(n int64) time.Time { return time.Unix(86400*n, 0) }), "date")...))
	}
	names := []string{"ts", "ts.hour.sin", "ts.hour.cos", "ts.weekday.sin", "ts.weekday.cos", "ts.yearday.sin", "ts.yearday.cos", "day", "day.weekday.sin", "day.weekday.cos", "day.yearday.sin", "day.yearday.cos"}
	for _, threads := range []int{1, 8} {
		opt := Options{Columns: []string{"ts", "day"}, Times: true, Missing: stream.MissingKeep, Threads: threads, Keep: NewKeep(1 << 20)}
		ds, err := Open(t.Context(), []string{path}, opt)
		formattest.Must(t, err)
		if threads == 1 {
			opt.Memory = ds.MinMemory()
			ds, err = ds.With(opt)
			formattest.Must(t, err)
		}
		var got []string
		for _, c := range ds.Columns() {
			if got = append(got, c.Name); c.Block != strings.SplitN(c.Name, ".", 2)[0] {
				t.Errorf("%s is of block %q", c.Name, c.Block)
			}
		}
		if !slices.Equal(got, names) {
			t.Fatalf("features %q, want %q", got, names)
		}
		for range 2 {
			rows, err := chunkiotest.CollectRows(ds, stream.Range{})
			formattest.Must(t, err)
			for i, row := range rows.Rows {
				if !sameNumbers(row, want[i]) {
					t.Fatalf("row %d: %v, want %v", i, row, want[i])
				}
			}
			if rows.Missing[0].Nulls != 95 || rows.Missing[7].Nulls != 0 {
				t.Errorf("missing %v", rows.Missing)
			}
		}
		formattest.Must(t, ds.Close())
	}
	ds, err := Open(t.Context(), []string{path}, Options{})
	formattest.Must(t, err)
	for _, c := range ds.Columns() {
		if c.Name == "ts" || c.Name == "day" {
			t.Errorf("%s is a feature without being asked for", c.Name)
		}
	}
	part, err := ds.With(Options{Times: true, Columns: []string{"ts.hour.*", "price"}})
	formattest.Must(t, err)
	if cols := part.Columns(); len(cols) != 3 || cols[0].Name != "ts.hour.sin" {
		t.Errorf("features %v", cols)
	}
	for _, opt := range []Options{{Times: true, Weight: "ts"}, {Times: true, Sparse: "a,b"}, {Indicators: true, Sparse: "a,b"}} {
		if _, err := Open(t.Context(), []string{path}, opt); !chunkiotest.IsUsage(err) {
			t.Errorf("opening with %+v: %v, want a UsageError", opt, err)
		}
	}
}

// Times of every Arrow type and unit, in files and on standard input, have the features of their instants.
func TestTimesOfArrow(t *testing.T) {
	at := []time.Time{time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 26, 6, 30, 15, 0, time.UTC)}
	fields := []arrow.Field{
		{Name: "s", Type: &arrow.TimestampType{Unit: arrow.Second}}, {Name: "ms", Type: &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}},
		{Name: "us", Type: &arrow.TimestampType{Unit: arrow.Microsecond}}, {Name: "ns", Type: &arrow.TimestampType{Unit: arrow.Nanosecond}},
		{Name: "d32", Type: arrow.FixedWidthTypes.Date32}, {Name: "d64", Type: arrow.FixedWidthTypes.Date64}, {Name: "t", Type: arrow.FixedWidthTypes.Time32s},
	}
	for i := range fields {
		fields[i].Nullable = true
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	var want [][]float64
	for _, x := range at {
		b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(x.Unix()))
		b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(x.UnixMilli()))
		b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(x.UnixMicro()))
		b.Field(3).(*array.TimestampBuilder).Append(arrow.Timestamp(x.UnixNano()))
		b.Field(4).(*array.Date32Builder).Append(arrow.Date32FromTime(x))
		b.Field(5).(*array.Date64Builder).Append(arrow.Date64FromTime(x))
		clock := time.Unix(0, 0).UTC().Add(x.Sub(x.Truncate(24 * time.Hour)))
		b.Field(6).(*array.Time32Builder).Append(arrow.Time32(clock.Unix()))
		stamp, date := partsOf(&x, "timestamp"), partsOf(&x, "date")
		want = append(want, slices.Concat(stamp, stamp, stamp, stamp, date, date, partsOf(&clock, "time")))
	}
	for i := range fields {
		b.Field(i).AppendNull()
	}
	want = append(want, slices.Repeat([]float64{math.NaN()}, len(want[0])))
	record := b.NewRecord()
	path := filepath.Join(t.TempDir(), "t.arrow")
	formattest.Must(t, os.WriteFile(path, formattest.WriteArrow(t, false, []arrow.Record{record}), 0o600))
	piped := formattest.WriteArrow(t, true, []arrow.Record{record})
	for _, input := range []string{path, "-"} {
		ds, err := Open(t.Context(), []string{input}, Options{Times: true, Missing: stream.MissingKeep, Stdin: bytes.NewReader(piped)})
		formattest.Must(t, err)
		got, err := chunkiotest.CollectRows(ds, stream.Range{})
		formattest.Must(t, err)
		for i, row := range got.Rows {
			if !sameNumbers(row, want[i]) {
				t.Errorf("%s, row %d: %v, want %v", input, i, row, want[i])
			}
		}
		if len(got.Rows) != len(want) {
			t.Errorf("%s: %d rows", input, len(got.Rows))
		}
	}
}

// An indicator equals a column of missing values made by hand, for features that have nulls or may have some, with
// and without the feature itself; one read and shards of a plan agree.
func TestIndicators(t *testing.T) {
	const rows = 200
	tab := unionTable(rows)
	for i := range rows { // null, NaN and infinite
		tab.Scalar["a"][i] = []float64{format.Null, math.NaN(), math.Inf(-1), 4, 5}[i*i%5]
	}
	facts := func(disk *FakeDisk) {
		for _, f := range disk.ByPath {
			for i, l := range f.Order {
				if l.Name == "b" || l.Name == "w" || l.Name == "k" {
					f.Order[i].Nulls = 0
				}
			}
		}
	}
	disk, paths := PlantTable(tab, 3, 30, 1)
	facts(disk)
	for what, opt := range map[string]Options{
		"all": {}, "order": {Order: []string{"is_missing(l[1])", "c", "is_missing(a)", "a"}}, "named": {Columns: []string{"c", "l[0]"}},
		"without": {LeaveOut: []stream.LeftOut{{Name: "a", Why: "constant"}, {Name: "l[0]", Why: "constant"}}}, "excluded": {Exclude: []string{"l", "is_missing(c)"}},
		"label": {Label: "a"}, "condition": {Where: "b > 2", Weight: "w"}, "glob": {Columns: []string{"a*"}},
	} {
		opt.Missing = stream.MissingKeep
		plain := opt
		plain.Order, plain.LeaveOut, plain.Columns = nil, nil, nil
		if what == "excluded" {
			plain.Exclude = nil
		}
		all := disk.OpenDataset(t, paths, plain)
		values, err := chunkiotest.CollectRows(all, stream.Range{})
		formattest.Must(t, err)
		at := map[string]int{}
		for j, c := range all.Columns() {
			at[c.Name] = j
		}
		opt.Indicators, opt.Keep = true, NewKeep(1<<20)
		ds := disk.OpenDataset(t, paths, opt)
		for range 2 {
			got, err := chunkiotest.CollectRows(ds, stream.Range{})
			formattest.Must(t, err)
			for j, c := range ds.Columns() {
				of, made := strings.CutPrefix(c.Name, "is_missing(")
				for i, row := range got.Rows {
					want := values.Rows[i][at[strings.TrimSuffix(of, ")")]]
					if made {
						want = map[bool]float64{true: 1}[want != want]
					}
					if math.Float64bits(row[j]) != math.Float64bits(want) {
						t.Fatalf("%s: row %d, %s is %v, want %v", what, i, c.Name, row[j], want)
					}
				}
			}
			if len(got.Rows) != len(values.Rows) {
				t.Fatalf("%s: %d rows, want %d", what, len(got.Rows), len(values.Rows))
			}
		}
		var names []string
		for _, c := range ds.Columns() {
			names = append(names, c.Name)
		}
		want := map[string]string{
			"all": "a b c w k l[0] l[1] is_missing(a) is_missing(c) is_missing(l[0]) is_missing(l[1])", "named": "c l[0] is_missing(c) is_missing(l[0])",
			"without":  "b c w k l[1] is_missing(a) is_missing(c) is_missing(l[0]) is_missing(l[1])",
			"order":    "is_missing(l[1]) c is_missing(a) a b w k l[0] l[1] is_missing(c) is_missing(l[0])",
			"excluded": "a b c w k is_missing(a)", "label": "b c w k l[0] l[1] is_missing(c) is_missing(l[0]) is_missing(l[1])",
			"condition": "a b c k l[0] l[1] is_missing(a) is_missing(c) is_missing(l[0]) is_missing(l[1])", "glob": "a is_missing(a)",
		}[what]
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: features %s, want %s", what, got, want)
		}
	}
	disk.CheckClosed(t)
}

// For a derived feature, apply writes the column itself, once.
func TestMadeColumnsApplied(t *testing.T) {
	path := fixtures.DatasetPath(t, "messy.parquet")
	out := filepath.Join(t.TempDir(), "out.parquet")
	report, err := Apply(t.Context(), []string{path}, out, ApplyOptions{
		Columns: []string{"ts.hour.sin", "is_missing(price)", "d_clean", "is_missing(ts)", "price", "day"}, Times: true, Indicators: true,
	})
	formattest.Must(t, err)
	if got := fmt.Sprint(report.Columns); got != "[ts price d_clean day]" {
		t.Errorf("wrote %s", got)
	}
	if a, b := formattest.ReadDump(t, out).FindLeaf("ts").RowTexts(), formattest.ReadDump(t, path, "ts").FindLeaf("ts").RowTexts(); !slices.Equal(a, b) {
		t.Error("the times that were written differ")
	}
	if _, err := Apply(t.Context(), []string{path}, out, ApplyOptions{Columns: []string{"ts.hour.sin"}}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "ts.hour.sin") {
		t.Errorf("without the options: %v", err)
	}
}

// Times that are in UTC in one file and in no zone in another are no column of times.
func TestTimesOfTwoZones(t *testing.T) {
	var paths []string
	for i, zone := range []string{"", "UTC"} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "ts", Type: &arrow.TimestampType{Unit: arrow.Second, TimeZone: zone}}, {Name: "x", Type: arrow.PrimitiveTypes.Int32}}, nil))
		b.Field(0).(*array.TimestampBuilder).Append(1)
		b.Field(1).(*array.Int32Builder).Append(int32(i))
		paths = append(paths, filepath.Join(t.TempDir(), fmt.Sprintf("%d.arrow", i)))
		formattest.Must(t, os.WriteFile(paths[i], formattest.WriteArrow(t, false, []arrow.Record{b.NewRecord()}), 0o600))
	}
	ds, err := Open(t.Context(), paths, Options{Times: true})
	formattest.Must(t, err)
	if left := ds.LeftOut(); len(left) != 1 || left[0].Name != "ts" || !strings.Contains(left[0].Why, "UTC") {
		t.Errorf("left out %v", left)
	}
}
