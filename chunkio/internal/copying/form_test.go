package copying

import (
	"encoding/csv"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writing"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/testing/faults"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// wideTable writes 500 columns of 3,000 rows, of which one in 7 is null, in groups of 2,500 rows.
func wideTable(t *testing.T, rows, group int) (path string, names []string) {
	t.Helper()
	const d = 500
	path = filepath.Join(t.TempDir(), "wide.parquet")
	table := tabletest.Table{Cols: make([][]float64, d)}
	for j := range table.Cols {
		table.Cols[j] = make([]float64, rows)
		for i := range table.Cols[j] {
			if table.Cols[j][i] = float64(i*d+j) / 8; (i+j)%7 == 0 {
				table.Cols[j][i] = math.NaN()
			}
		}
	}
	formattest.Must(t, writing.WriteParquet(t.Context(), path, table, writing.WriteOptions{RowGroupRows: group, Type: "double"}))
	for _, c := range table.Columns() {
		names = append(names, c.Name)
	}
	return path, names
}

// TestWideForms: many columns, in groups higher than a record batch, are the same as CSV, as Arrow and as Parquet, in
// little memory. Less memory is refused, and a run with more resumes the stored rows.
func TestWideForms(t *testing.T) {
	path, names := wideTable(t, 3000, 2500)
	dir := t.TempDir()
	const memory = 48 << 20
	for form, name := range map[Form]string{FormCSV: "t.csv", FormArrow: "t.arrow"} {
		report, err := ApplyColumns(t.Context(), []string{path}, filepath.Join(dir, name), ApplyOptions{Columns: names, Form: form, Memory: memory})
		formattest.Must(t, err)
		if fi, err := os.Stat(filepath.Join(dir, name)); err != nil || fi.Size() != report.Bytes || report.Rows != 3000 {
			t.Errorf("%s has %+v, %v, want a report of its size and 3000 rows", name, report, err)
		}
	}
	deliver := func(path string) chunkiotest.Delivered {
		ds, err := dataset.OpenInputs(t.Context(), []string{path}, settings.Options{Missing: stream.MissingKeep})
		formattest.Must(t, err)
		got, err := chunkiotest.CollectRows(ds, stream.Range{})
		formattest.Must(t, err)
		return got
	}
	if d := chunkiotest.DescribeDiff(deliver(filepath.Join(dir, "t.arrow")), deliver(path)); d != "" {
		t.Error("Arrow:", d)
	}
	f, err := os.Open(filepath.Join(dir, "t.csv"))
	formattest.Must(t, err)
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	formattest.Must(t, err)
	if len(lines) != 3001 || strings.Join(lines[0], ",") != strings.Join(names, ",") {
		t.Fatalf("%d lines", len(lines))
	}
	for i, line := range lines[1:] {
		for j, field := range line {
			if (i+j)%7 == 0 {
				if field != "" {
					t.Fatalf("row %d, column %d: %q, want null", i, j, field)
				}
				continue
			}
			if x, err := strconv.ParseFloat(field, 64); err != nil || x != float64(i*len(names)+j)/8 {
				t.Fatalf("row %d, column %d: %q", i, j, field)
			}
		}
	}
	out := filepath.Join(dir, "none.csv")
	_, err = ApplyColumns(t.Context(), []string{path}, out, ApplyOptions{Columns: names, Form: FormCSV, Memory: 8 << 20})
	if short := (*stream.MemoryError)(nil); !errors.As(err, &short) || short.Need <= 24<<20 {
		t.Errorf("CSV within 8 MiB: %v, want a MemoryError that needs more than 24 MiB", err)
	} else if report, err := ApplyColumns(t.Context(), []string{path}, out, ApplyOptions{Columns: names, Form: FormCSV, Memory: short.Need}); err != nil || report.Resumed.Rows != 3000 {
		t.Errorf("not in the %d bytes that are said to do, or %+v is not gone on with: %v", short.Need, report.Resumed, err)
	}
	if whole := must.Files(t, dir); whole["none.csv"] != whole["t.csv"] || len(whole) != 3 {
		t.Errorf("not the bytes of one run, or something is left: %v", slices.Collect(maps.Keys(whole)))
	}
}

// A null of the only column is a row of CSV all the same, of numbers and of texts.
func TestNullsOfOneColumn(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.ndjson"), filepath.Join(dir, "out.csv")
	formattest.Must(t, os.WriteFile(in, []byte(`{"x":null,"s":"a"}
{"x":1.5,"s":null}
{"x":null,"s":"b"}
{"x":2,"s":null}
`), 0o644))
	for _, column := range []string{"x", "s"} {
		_, err := ApplyColumns(t.Context(), []string{in}, out, ApplyOptions{Also: []string{column}, Form: FormCSV})
		formattest.Must(t, err)
		ds, err := dataset.OpenInputs(t.Context(), []string{out}, settings.Options{})
		formattest.Must(t, err)
		if f := slices.Collect(ds.Fields()); ds.Rows() != 4 || len(f) != 1 || f[0].Nulls != 2 {
			t.Errorf("%s: %d rows, %+v", column, ds.Rows(), f)
		}
		formattest.Must(t, ds.Close())
	}
}

// TestOutputForm: the ending and the format agree, or one of them is given.
func TestOutputForm(t *testing.T) {
	for _, c := range []struct {
		out, format string
		want        Form
		says        string
	}{
		{"a", "", FormParquet, ""}, {"a.parquet", "", FormParquet, ""}, {"A.CSV", "", FormCSV, ""}, {"a.csv.gz", "", FormCSVGzip, ""},
		{"a.csv.gz", "csv", FormCSVGzip, ""}, {"s3://b/a.csv.zst?region=x", "", FormCSVZstd, ""}, {"a.feather", "", FormArrow, ""},
		{"dir", "csv", FormCSV, ""}, {"dir", "arrow", FormArrow, ""}, {"a.txt", "csv", FormCSV, ""},
		{"a.txt", "", 0, "name it a.parquet"}, {"a.npy", "", 0, "name it a.parquet"}, {"a.tab", "", 0, "OUT is Parquet"}, {"a.PQ", "", FormParquet, ""}, {"a.json.gz", "", 0, "OUT is Parquet"}, {"a.arrow", "csv", 0, "name it a.csv"},
		{"a.csv.gz", "parquet", 0, "says otherwise"}, {"a", "arow", 0, "did you mean arrow?"},
	} {
		got, err := OutputForm(c.out, c.format)
		if c.says == "" && (err != nil || got != c.want) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("form of %s with format %q: %v, %v, want %v and an error about %q", c.out, c.format, got, err, c.want, c.says)
		}
	}
}

// brokenWriter fails as a file on a full disk does.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
}

// TestNoRoomForRows: if the rows of an Arrow or CSV output find no room to be stored, the error explains how to store
// them elsewhere, and only there.
func TestNoRoomForRows(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.parquet")
	must.Do(t, writing.WriteParquet(t.Context(), in, chunkiotest.EveryNumber(30, 30, false), writing.WriteOptions{}))
	full := faults.WithDisk(t.Context(), &faults.Disk{Change: func(_, what string) error {
		if what == "write" {
			return syscall.ENOSPC
		}
		return nil
	}})
	for _, form := range []Form{FormParquet, FormArrow, FormCSV} {
		dir := t.TempDir()
		out := filepath.Join(dir, "out"+form.fileEnding())
		_, err := ApplyColumns(full, []string{in}, out, ApplyOptions{Columns: []string{"int32"}, Form: form})
		if !errors.As(err, new(*stream.OutputError)) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), out) ||
			strings.Contains(err.Error(), "temp-dir") != (form != FormParquet) {
			t.Errorf("%s on a full disk: %v, want an OutputError about it", out, err)
		}
		if left := must.Get(os.ReadDir(dir))(t); len(left) > 0 {
			t.Errorf("%s: %v is left", out, left)
		}
	}
	_, err := (&spoolWriter{to: brokenWriter{}, dir: "td", space: scratch.New(scratch.Options{})}).Write([]byte("rows"))
	if !errors.As(err, new(*stream.OutputError)) || !strings.Contains(err.Error(), "td: ") || !strings.Contains(err.Error(), "another temp-dir") {
		t.Errorf("writing rows to a broken spool: %v, want an OutputError about its folder", err)
	}
}
