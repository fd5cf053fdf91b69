package chunkio

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// deltaHistory is a table of three appends and a delete, partitioned by day, as a folder of
// files: version 0 has a and b, 1 adds c, 2 adds d of no day, 3 removes b. live are the files of
// each version, and days their partitions.
type deltaHistory struct {
	live [4][]string
	days map[string]string
}

func plantDelta(t *testing.T, dir string) deltaHistory {
	t.Helper()
	h := deltaHistory{days: map[string]string{
		"day=1/a.parquet": "1", "day=1/b.parquet": "1", "day=2/c.parquet": "2", "day=__HIVE_DEFAULT_PARTITION__/d.parquet": listing.HiveNull,
	}}
	sizes := map[string]int{}
	for i, name := range []string{"a", "b", "c", "d"} {
		planted := chunkiotest.NewTable(100 + i)
		x, y := make([]float64, planted.Rows), make([]float64, planted.Rows)
		for r := range x {
			x[r], y[r] = float64(1000*i+r), float64(r*r%17)
		}
		planted.AddScalar("x", x).AddScalar("y", y)
		disk, paths := PlantTable(planted, 1, 40, 1)
		content := chunkiotest.WriteToBytes(t, disk.OpenDataset(t, paths, Options{}), WriteOptions{RowGroupRows: 40})
		for key := range h.days {
			if filepath.Base(key) == name+".parquet" {
				PutFile(t, dir, key, content)
				sizes[name] = len(content)
			}
		}
	}
	add := func(key, day string) string {
		return fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{"day":%s},"size":%d,"modificationTime":1,"dataChange":true}}`+"\n",
			key, day, sizes[strings.TrimSuffix(filepath.Base(key), ".parquet")])
	}
	schema := `{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}},` +
		`{\"name\":\"y\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}},{\"name\":\"day\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}}]}`
	commits := []string{
		`{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}` + "\n" +
			`{"metaData":{"id":"t","format":{"provider":"parquet","options":{}},"schemaString":"` + schema + `","partitionColumns":["day"],"configuration":{}}}` + "\n" +
			add("day=1/a.parquet", `"1"`) + add("day=1/b.parquet", `"1"`),
		add("day=2/c.parquet", `"2"`),
		add("day=__HIVE_DEFAULT_PARTITION__/d.parquet", "null"),
		`{"remove":{"path":"day=1/b.parquet","deletionTimestamp":1,"dataChange":true}}` + "\n",
	}
	for v, commit := range commits {
		key := fmt.Sprintf("_delta_log/%020d.json", v)
		PutFile(t, dir, key, []byte(commit))
		at := time.Date(2026, 1, 1+v, 0, 0, 0, 0, time.UTC)
		formattest.Must(t, os.Chtimes(filepath.Join(dir, key), at, at))
	}
	a, b, c, d := "day=1/a.parquet", "day=1/b.parquet", "day=2/c.parquet", "day=__HIVE_DEFAULT_PARTITION__/d.parquet"
	h.live = [4][]string{{a, b}, {a, b, c}, {a, b, c, d}, {a, c, d}}
	return h
}

// A Delta table is its live files, at every version, on disk and in a store.
func TestDeltaTableIsItsLiveFiles(t *testing.T) {
	s := storetest.S3(t)
	root := filepath.Join(s.Dir, "lake", "table")
	history := plantDelta(t, root)
	plain := t.TempDir()
	for key := range history.days { // without a log above them
		content, err := os.ReadFile(filepath.Join(root, key))
		formattest.Must(t, err)
		PutFile(t, plain, key, content)
	}
	keep := Options{Columns: []string{"*"}, Missing: stream.MissingKeep}
	for version, live := range history.live {
		paths := make([]string, len(live))
		for i, key := range live {
			paths[i] = filepath.Join(plain, key)
		}
		_, want := CollectFrom(t, keep, paths...)
		v := int64(version)
		asked := keep
		asked.TableVersion = &v
		asOf := keep
		asOf.TableAsOf = time.Date(2026, 1, 1+version, 12, 0, 0, 0, time.UTC)
		runs := []struct {
			input string
			opt   Options
		}{
			{root, asked}, {"delta://" + root, asked}, {"delta://file://" + root, asked}, {root, asOf},
			{s.URL("lake/table/"), asked}, {s.URL("lake/table"), asked}, {"delta://" + s.URL("lake/table"), asked}, {s.URL("lake/table"), asOf},
		}
		if version == len(history.live)-1 {
			runs = append(runs, struct {
				input string
				opt   Options
			}{root, keep})
		}
		for _, run := range runs {
			ds, got := CollectFrom(t, run.opt, run.input)
			if d := chunkiotest.DescribeDiff(got, want); d != "" || !slices.Equal(ColumnNames(ds), []string{"x", "y", "day"}) {
				t.Errorf("version %d of %s: %s, columns %v", version, run.input, d, ColumnNames(ds))
			}
			if table := ds.Table(); table == nil || table.Version != v || table.Format != "delta" {
				t.Errorf("version %d of %s: table %+v", version, run.input, table)
			}
		}
	}
}

// A condition on a partition column leaves out the files of a Delta table that the log gives
// other values, unread: a broken one does not matter.
func TestDeltaTableIsPruned(t *testing.T) {
	s := storetest.S3(t)
	root := filepath.Join(s.Dir, "table")
	history := plantDelta(t, root)
	plain := t.TempDir()
	for key := range history.days {
		content, err := os.ReadFile(filepath.Join(root, key))
		formattest.Must(t, err)
		PutFile(t, plain, key, content)
	}
	PutFile(t, root, "day=2/c.parquet", nil) // unlike its entry in the log
	for where, keep := range map[string]func(day string) bool{
		"day = 1":                        func(day string) bool { return day == "1" },
		"day is null or day < 2":         func(day string) bool { return day != "2" },
		"not (day in (2, 3)) and x > -1": func(day string) bool { return day == "1" },
	} {
		for version, live := range history.live {
			var paths []string
			for _, key := range live {
				if keep(history.days[key]) {
					paths = append(paths, filepath.Join(plain, key))
				}
			}
			_, want := CollectFrom(t, Options{Missing: stream.MissingKeep}, paths...)
			v := int64(version)
			for _, input := range []string{root, s.URL("table/")} {
				ds, got := CollectFrom(t, Options{Missing: stream.MissingKeep, Where: where, TableVersion: &v}, input)
				if d := chunkiotest.DescribeDiff(got, want); d != "" || len(ds.Inputs()) != len(paths) {
					t.Errorf("%s, version %d of %s: %s of %d files", where, version, input, d, len(ds.Inputs()))
				}
			}
		}
	}
}

// A table's log that does not match its files is reported, and so is a folder that is no table, or a table that
// cannot be read as one.
func TestTablesAreNotReadAsBareFiles(t *testing.T) {
	s := storetest.S3(t)
	root := filepath.Join(s.Dir, "table")
	history := plantDelta(t, root)
	PutFile(t, s.Dir, "iceberg/data/a.parquet", []byte("x"))
	PutFile(t, s.Dir, "iceberg/metadata/v1.metadata.json", []byte("{}"))
	PutFile(t, s.Dir, "hudi/a.parquet", []byte("x"))
	PutFile(t, s.Dir, "iceberg/data/p=1/a.parquet", []byte("x"))
	PutFile(t, s.Dir, "hudi/2026/a.parquet", []byte("x"))
	PutFile(t, s.Dir, "hudi/2026/.hoodie_partition_metadata", []byte("x"))
	PutFile(t, s.Dir, "hudi/.hoodie/hoodie.properties", []byte("x"))
	version := int64(9)
	for _, c := range []struct {
		inputs []string
		opt    Options
		words  []string
	}{
		{[]string{root, filepath.Join(s.Dir, "hudi", "a.parquet")}, Options{}, []string{"cannot be combined"}},
		{[]string{filepath.Join(root, "day=1")}, Options{}, []string{"part of the Delta table", root}},
		{[]string{s.Dir}, Options{}, []string{"hudi", "Hudi table"}},
		{[]string{filepath.Join(s.Dir, "iceberg")}, Options{}, []string{"an Iceberg table", "ufs-iceberg " + filepath.Join(s.Dir, "iceberg") + " o t.plan.json", "ufs-stream select plan t.plan.json"}},
		{[]string{filepath.Join(s.Dir, "hudi")}, Options{}, []string{"a Hudi table"}},
		{[]string{s.URL("iceberg/")}, Options{}, []string{"an Iceberg table"}},
		{[]string{s.URL("hudi/")}, Options{}, []string{"a Hudi table"}},
		{[]string{s.URL("")}, Options{}, []string{"hudi", "a Hudi table"}},
		{[]string{s.URL("table/day=1")}, Options{}, []string{"part of the Delta table", "lake/table/", "where"}},
		{[]string{s.URL("table/day=1/")}, Options{}, []string{"part of the Delta table"}},
		{[]string{s.URL("table/*")}, Options{}, []string{"part of the Delta table", "lake/table/"}},
		{[]string{s.URL("tab*")}, Options{}, []string{"is a Delta table", "delta://s3://lake/table?"}},
		{[]string{filepath.Join(s.Dir, "iceberg", "data")}, Options{}, []string{"part of the Iceberg table", "ufs-iceberg"}},
		{[]string{filepath.Join(s.Dir, "iceberg", "data", "p=1")}, Options{}, []string{"part of the Iceberg table"}},
		{[]string{s.URL("iceberg/data/")}, Options{}, []string{"part of the Iceberg table", "ufs-iceberg"}},
		{[]string{s.URL("iceberg/data/p=1")}, Options{}, []string{"part of the Iceberg table"}},
		{[]string{filepath.Join(s.Dir, "hudi", "2026")}, Options{}, []string{"a Hudi table"}},
		{[]string{s.URL("hudi/2026")}, Options{}, []string{"a Hudi table"}},
		{[]string{root}, Options{TableVersion: &version}, []string{"no version 9", "0 to 3"}},
		{[]string{filepath.Join(root, "day=1", "a.parquet")}, Options{TableVersion: &version}, []string{"version", "Delta tables"}},
		{[]string{"delta://" + filepath.Join(s.Dir, "iceberg")}, Options{}, []string{"_delta_log"}},
	} {
		_, err := Open(t.Context(), c.inputs, c.opt)
		for _, w := range c.words {
			if err == nil || chunkiotest.IsData(err) == chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), w) {
				t.Errorf("%v: %v, want something about %q", c.inputs, err, w)
			}
		}
	}
	// Named one by one they are read, with a word.
	for _, input := range []string{filepath.Join(root, "day=1", "b.parquet"), filepath.Join(root, "day=*", "*.parquet"), s.URL("table/**/*.parquet"),
		s.URL("table/day=1/b.parquet"), s.URL("table/day=*/b.parquet")} {
		ds, err := Open(t.Context(), []string{input}, Options{})
		formattest.Must(t, err)
		if w := fmt.Sprint(ds.Warnings()); !strings.Contains(w, "without its log") {
			t.Errorf("%s: warnings %s", input, w)
		}
	}
	// A table next to the input does not matter.
	plain, err := os.ReadFile(filepath.Join(root, "day=1", "a.parquet"))
	formattest.Must(t, err)
	PutFile(t, s.Dir, "plain/a.parquet", plain)
	for _, input := range []string{s.URL("plain*"), s.URL("pl*/*.parquet"), s.URL("plain/a.parquet"), filepath.Join(s.Dir, "plain")} {
		ds, err := Open(t.Context(), []string{input}, Options{})
		formattest.Must(t, err)
		if w := fmt.Sprint(ds.Warnings()); strings.Contains(w, "table") {
			t.Errorf("%s: warnings %s", input, w)
		}
	}
	gone, other := filepath.Join(root, history.live[3][0]), filepath.Join(root, history.live[3][1])
	content, err := os.ReadFile(gone)
	formattest.Must(t, err)
	formattest.Must(t, os.Remove(gone))
	for _, input := range []string{root, s.URL("table/")} {
		if _, err := Open(t.Context(), []string{input}, Options{}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "vacuumed") || !strings.Contains(err.Error(), history.live[3][0]) {
			t.Errorf("opening %s without a live file: %v, want a DataError that it was vacuumed", input, err)
		}
	}
	formattest.Must(t, os.WriteFile(gone, content, 0o600))
	formattest.Must(t, os.WriteFile(other, append(content, 0), 0o600))
	for _, input := range []string{root, s.URL("table/")} {
		if _, err := Open(t.Context(), []string{input}, Options{}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "rewritten") || !strings.Contains(err.Error(), history.live[3][1]) {
			t.Errorf("opening %s with a longer live file: %v, want a DataError that it was rewritten", input, err)
		}
	}
}

// Objects of a Delta table are not read as bare ones without a word, from wherever they are
// named; nor are folders of it.
func TestBareObjectsOfATable(t *testing.T) {
	s := storetest.S3(t)
	plantDelta(t, filepath.Join(s.Dir, "lake", "table"))
	plantDelta(t, filepath.Join(s.Dir, "lake", "flat=1", "table"))
	for _, key := range []string{
		"lake/table/day=1/a.parquet", "lake/table/day=1/*.parquet", "lake/table/day=*/a.parquet", "lake/table/*/*.parquet", "lake/flat=1/table/day=1/b.parquet",
	} {
		for _, in := range []string{s.URL(key), filepath.Join(s.Dir, key)} {
			ds, err := Open(t.Context(), []string{in}, Options{})
			formattest.Must(t, err)
			if n := strings.Count(fmt.Sprint(ds.Warnings()), "without its log"); n != 1 {
				t.Errorf("%s: %d of %v", in, n, ds.Warnings())
			}
		}
	}
	for _, key := range []string{"lake/table/day=1/", "lake/table/day=1", "lake/table/day=*", "lake/table/day=[12]"} {
		for _, in := range []string{s.URL(key), filepath.Join(s.Dir, key)} {
			if _, err := Open(t.Context(), []string{in}, Options{}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "Delta table") {
				t.Errorf("opening the partition %s: %v, want a DataError about the Delta table", in, err)
			}
		}
	}
}

// Partition values of a table decide in conditions even if they are null; a missing live file is left out, with its
// name, only if bad files are; and Apply writes the live files to a folder, from disk and from a store.
func TestDeltaTablePruningAndApply(t *testing.T) {
	s := storetest.S3(t)
	root := filepath.Join(s.Dir, "t")
	plantDelta(t, root)
	for _, in := range []string{root, s.URL("t/")} {
		for condition, rows := range map[string]int{"day is null": 103, "day is not null": 202, "day = 2 or day is null": 205, "not (day = 1)": 102} {
			_, got := CollectFrom(t, Options{Where: condition, Missing: stream.MissingKeep}, in)
			if len(got.Rows) != rows {
				t.Errorf("%s of %s: %d rows, want %d", condition, in, len(got.Rows), rows)
			}
		}
		out := filepath.Join(t.TempDir(), "out")
		report, err := Apply(t.Context(), []string{in}, out, ApplyOptions{Columns: []string{"x"}})
		formattest.Must(t, err)
		_, got := CollectFrom(t, Options{Columns: []string{"x"}}, out)
		_, want := CollectFrom(t, Options{Columns: []string{"x"}}, in)
		if d := chunkiotest.DescribeDiff(got, want); d != "" || report.Files != 3 {
			t.Errorf("%s applied to %d files: %s", in, report.Files, d)
		}
	}
	formattest.Must(t, os.Remove(filepath.Join(root, "day=2", "c.parquet")))
	for _, in := range []string{root, s.URL("t/")} {
		if _, err := Open(t.Context(), []string{in}, Options{}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "vacuumed") {
			t.Errorf("opening %s without a live file: %v, want a DataError that it was vacuumed", in, err)
		}
		ds, err := Open(t.Context(), []string{in}, Options{SkipBad: true})
		formattest.Must(t, err)
		if ds.Rows() != 203 || !strings.Contains(fmt.Sprint(ds.Warnings()), "c.parquet") {
			t.Errorf("%s: %d rows, warnings %v", in, ds.Rows(), ds.Warnings())
		}
	}
}

// Absolute paths in the log of a table in a store are URIs of Hadoop's file systems: their keys are decoded once, and
// read with the parameters that opened the table.
func TestDeltaURIsInStore(t *testing.T) {
	s := storetest.S3(t)
	root := filepath.Join(s.Dir, "lake")
	content := parquetOf(t, 0, 100, 25, "x", "y")
	PutFile(t, root, "src/k=x%3Ay/c d.parquet", content)
	PutFile(t, root, "t/_delta_log/00000000000000000000.json", fmt.Appendf(nil, `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
{"metaData":{"id":"t","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":\"double\"},{\"name\":\"k\",\"type\":\"string\"}]}","partitionColumns":["k"],"configuration":{}}}
{"add":{"path":"s3a://lake/lake/src/k=x%%253Ay/c%%20d.parquet","partitionValues":{"k":"x:y"},"size":%d,"modificationTime":1,"dataChange":true}}
`, len(content)))
	ds, err := Open(t.Context(), []string{s.URL("lake/t")}, Options{})
	if err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	defer ds.Close()
	if got := ColumnNames(ds); ds.Rows() != 100 || !slices.Equal(got, []string{"x"}) {
		t.Errorf("got %d rows of columns %q, want 100 of x alone", ds.Rows(), got)
	}
}
