package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	arrowmemory "github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestGraphMissing: every policy gives the answer of a table without missing values, where
// the dropped rows are absent or the filled entries hold the fill.
func TestGraphMissing(t *testing.T) {
	dir := t.TempDir()
	const rows = 240
	var clean, dropped [4][]float64
	a, b, c, d := make([]float64, rows), make([]float64, rows), make([]float64, rows), make([]float64, rows)
	for i := range rows {
		x := float64(i*i%23) + 40*float64(i%3)
		a[i], b[i], c[i], d[i] = x, x+float64(i%5), float64(i%7), float64(i*i%11)
	}
	cols := [4][]float64{a, b, c, d}
	sum, seen := 0.0, 0.0
	for i := range rows {
		if i%9 != 4 {
			sum, seen = sum+c[i], seen+1
		}
	}
	mean := sum / seen
	filled := map[string][]float64{"mean": slices.Clone(c), "zero": slices.Clone(c)}
	for i := range rows {
		for j := range cols {
			clean[j] = append(clean[j], cols[j][i])
			if i%9 != 4 {
				dropped[j] = append(dropped[j], cols[j][i])
			}
		}
		if i%9 == 4 {
			filled["mean"][i], filled["zero"][i] = mean, 0
			c[i] = nan
		}
	}
	null, flat := slices.Repeat([]float64{nan}, rows), slices.Repeat([]float64{7}, rows)
	flat[3] = nan
	all := []string{"a", "b", "c", "d"}
	holes := columnsFile(t, filepath.Join(dir, "holes.parquet"), append(slices.Clone(all), "null", "flat"), a, b, c, d, null, flat)
	for _, method := range []string{"sfufs", "graphgreedy", "mcfs"} {
		args := []string{"--method", method, "-k", "4", "--clusters", "3", "--anchors", "30"}
		if method == "graphgreedy" {
			args = slices.Delete(args, 4, 6)
		}
		for _, missing := range []string{"mean", "zero"} {
			table := columnsFile(t, filepath.Join(dir, missing+".parquet"), all, a, b, filled[missing], d)
			want := selection(t, append(args, table)...)
			got := selection(t, append(args, holes, "--missing", missing)...)
			sameScores(t, got, want)
			if why := fmt.Sprint(got.LeftOut); got.Columns[2].Filled != 27 || !strings.Contains(why, "null") || !strings.Contains(why, "flat") {
				t.Errorf("%s, %s: %d filled, left out %s", method, missing, got.Columns[2].Filled, why)
			}
			if got.Passes != 2 {
				t.Errorf("%s, %s: %d passes", method, missing, got.Passes)
			}
		}
		got := selection(t, append(args, holes, "--missing", "drop-row")...)
		if got.RowsUsed != int64(len(dropped[0])) || got.Passes != 3 {
			t.Errorf("%s: %d rows used in %d passes", method, got.RowsUsed, got.Passes)
		}
	}
	// With all kept rows as anchors, only the choice of the rows matters, not their positions.
	table := columnsFile(t, filepath.Join(dir, "dropped.parquet"), all, dropped[0], dropped[1], dropped[2], dropped[3])
	every := []string{"--method", "laplacian", "-k", "4", "--anchors", fmt.Sprint(len(dropped[0]))}
	sameScores(t, selection(t, append(every, holes, "--missing", "drop-row")...), selection(t, append(every, table)...))
	ends(t, exit.Usage, "", "select", holes, "--method", "sfufs", "--anchors", fmt.Sprint(len(dropped[0])+1), "--missing", "drop-row")
	ends(t, exit.Data, `column "c", row 4`, "select", holes, "--method", "sfufs", "--anchors", "30", "--missing", "error")
	// Missing values in anchors are treated like missing values in the input.
	six := append(slices.Clone(all), "null", "flat")
	anchors := columnsFile(t, filepath.Join(dir, "anchors.parquet"), six, a[:30], b[:30], c[:30], d[:30], null[:30], flat[:30])
	full := columnsFile(t, filepath.Join(dir, "full.parquet"), six, a[:30], b[:30], filled["zero"][:30], d[:30], null[:30], flat[:30])
	of := []string{"--method", "laplacian", "-k", "4", "--missing", "zero", holes, "--anchors-file"}
	sameScores(t, selection(t, append(of, anchors)...), selection(t, append(of, full)...))
	ends(t, exit.Data, "anchors.parquet", "select", table, "--method", "laplacian", "-k", "4", "--missing", "error", "--anchors-file", anchors)
}

// sameScores wants the same features and scores within 1e-6. The filled mean of 213 values
// is rounded, which weights of distances, sums of 240 rows and the solvers magnify.
func sameScores(t *testing.T, got, want *stream.Selection) {
	t.Helper()
	if !slices.Equal(names(got), names(want)) {
		t.Errorf("%s: %v, want %v", got.Method, names(got), names(want))
	}
	for j, f := range want.Scores {
		if g := got.Scores[j]; g.Name != f.Name || math.Abs(float64(g.Score-f.Score)) > 1e-6*math.Abs(float64(f.Score))+1e-9 {
			t.Errorf("%s: score %+v, want %+v", got.Method, g, f)
		}
	}
}

// TestGraphOfSparse: sparse rows give the answer of the dense table.
func TestGraphOfSparse(t *testing.T) {
	const rows, d = 200, 12
	sparse := filepath.Join(t.TempDir(), "sparse.arrow")
	f, err := os.Create(sparse)
	if err != nil {
		t.Fatalf("creating a file: %v", err)
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "indices", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32)}, {Name: "values", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64)},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	indices, values := b.Field(0).(*array.ListBuilder), b.Field(1).(*array.ListBuilder)
	cols, heads := make([][]float64, d), make([]string, d)
	for j := range d {
		cols[j], heads[j] = make([]float64, rows), fmt.Sprintf("values[%d]", j)
	}
	for i := range rows {
		indices.Append(true)
		values.Append(true)
		for j := range d {
			if (i*i+j*i+j)%3 == 0 {
				cols[j][i] = 1 + float64(i*(j+2)%17) + float64(20*(i%4*j%5))
				indices.ValueBuilder().(*array.Int32Builder).Append(int32(j))
				values.ValueBuilder().(*array.Float64Builder).Append(cols[j][i])
			}
		}
	}
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema))
	if err != nil {
		t.Fatalf("making an Arrow writer: %v", err)
	}
	if err := errors.Join(w.Write(b.NewRecord()), w.Close()); err != nil {
		t.Fatalf("writing the Arrow record: %v", err)
	}
	dense := columnsFile(t, filepath.Join(t.TempDir(), "dense.parquet"), heads, cols...)
	for _, shape := range [][]string{nil, {"--scale", "unit"}, {"--anchor-method", "kmeans", "--anchors", "20"}} {
		for _, method := range []string{"laplacian", "graphgreedy", "align", "mcfs"} {
			args := append([]string{"-k", "5", "--method", method}, shape...)
			if method == "align" && len(shape) > 2 { // it places no anchors
				continue
			}
			want := selection(t, append(args, dense)...)
			sameScores(t, selection(t, append(args, sparse, "--sparse", "indices,values")...), want)
		}
		all := scanShards(t, 3, append([]string{sparse, "--sparse", "indices,values", "--method", "laplacian"}, shape...)...)
		want := selection(t, append([]string{dense, "-k", "5", "--method", "laplacian"}, shape...)...)
		sameScores(t, selection(t, "--stats", all, "--method", "laplacian", "-k", "5"), want)
	}
	given := []string{sparse, "--sparse", "indices,values", "--method", "laplacian", "-k", "5"}
	every := selection(t, append(given, "--anchors-file", sparse)...)
	if want := selection(t, dense, "--method", "laplacian", "-k", "5", "--anchors-file", dense); !slices.Equal(names(every), names(want)) {
		t.Errorf("anchors of a sparse file: %v, want %v", names(every), names(want))
	}
}
