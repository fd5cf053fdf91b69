package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/disk/planfile"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// asProgram in the environment makes the test's binary the program itself.
const asProgram = "UFS_ICEBERG_AS_PROGRAM"

// ufsStream is ufs-stream, built from this working tree.
var ufsStream string

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	registerStores()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "ufs-iceberg")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		ufsStream = filepath.Join(dir, "ufs-stream")
		build := exec.Command("go", "build", "-buildvcs=false", "-o", ufsStream, "./cmd/ufs-stream") //nolint:noctx // of all tests
		build.Dir = filepath.Join("..", "..")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// selection is what of a selection must not depend on how the rows came.
type selection struct {
	Rows     int64 `json:"rows_used"`
	Features int   `json:"features"`
	Selected []struct {
		Name  string  `json:"name"`
		Score float64 `json:"score"`
	} `json:"selected"`
}

// selectFeatures runs ufs-stream select on the features; what it cannot do is its error's text.
func selectFeatures(t *testing.T, args ...string) (s selection, said string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), ufsStream, append([]string{"select", "-k", "3", "--method", "greedy", "--columns", "x*", "--format", "json"}, args...)...)
	var out, errw bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errw
	if err := cmd.Run(); err != nil {
		return s, errw.String()
	}
	must.Do(t, json.Unmarshal(out.Bytes(), &s))
	return s, ""
}

// mustSelect is selectFeatures of what must be possible.
func mustSelect(t *testing.T, args ...string) selection {
	t.Helper()
	s, said := selectFeatures(t, args...)
	if said != "" {
		t.Fatalf("ufs-stream %v: %s", args, said)
	}
	return s
}

// sameSelection compares selections of the same rows that were cut into other files: sums
// differ in their rounding.
func sameSelection(t *testing.T, what string, got, want selection) {
	t.Helper()
	if got.Rows != want.Rows || got.Features != want.Features || len(got.Selected) != len(want.Selected) {
		t.Errorf("%s: %d of %d features by %d rows, want %d of %d by %d", what, len(got.Selected), got.Features, got.Rows, len(want.Selected), want.Features, want.Rows)
		return
	}
	for i, g := range got.Selected {
		w := want.Selected[i]
		if g.Name != w.Name || g.Score < w.Score*(1-1e-9) || g.Score > w.Score*(1+1e-9) {
			t.Errorf("%s: feature %d is %s with %g, want %s with %g", what, i+1, g.Name, g.Score, w.Name, w.Score)
		}
	}
}

// byHand writes rows to one Parquet file, with nothing of Iceberg's.
func byHand(t *testing.T, schema *iceberg.Schema, rows []row) string {
	t.Helper()
	as := must.Get(table.SchemaToArrowSchema(schema, nil, false, false))(t)
	return writeParquet(t, filepath.Join(t.TempDir(), "byhand.parquet"), as, rows)
}

func writeParquet(t *testing.T, path string, schema *arrow.Schema, rows []row) string {
	t.Helper()
	out := must.Get(os.Create(path))(t)
	w := must.Get(pqarrow.NewFileWriter(schema, out, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps()))(t)
	must.Do(t, w.Write(record(schema, rows)))
	must.Do(t, w.Close())
	return path
}

// readPlan reads a plan file whole.
func readPlan(t *testing.T, path string) (planfile.Header, []planfile.File) {
	t.Helper()
	in := must.Get(os.Open(path))(t)
	defer in.Close()
	r := must.Get(planfile.Open(in))(t)
	var files []planfile.File
	for {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Header, files
		}
		must.Do(t, err)
		files = append(files, f)
	}
}

// liveRows reads the live rows of a snapshot by iceberg-go's own scanner, without any filter.
func liveRows(t *testing.T, s *shelf) (n int64) {
	t.Helper()
	_, batches, err := s.current.Scan().ToArrowRecords(t.Context())
	must.Do(t, err)
	for b, err := range batches {
		must.Do(t, err)
		n += b.NumRows()
		b.Release()
	}
	return n
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func parseDay(s string) (time.Time, error) { return time.Parse(time.DateOnly, s) }
