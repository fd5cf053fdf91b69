package main

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// buildRows builds testdata/rows.go in the module of ufs-stream.
var buildRows = sync.OnceValues(func() (string, error) { return buildProgram("rows") })

func buildProgram(name string) (string, error) {
	path := filepath.Join(filepath.Dir(ufsStream), name)
	build := exec.Command("go", "build", "-buildvcs=false", "-o", path, "cmd/ufs-iceberg/testdata/"+name+".go") //nolint:noctx // of all tests
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
}

// leavesOf are the columns of numbers and of texts of a schema, also in structs.
func leavesOf(prefix string, fields []iceberg.NestedField) (numbers, texts []string) {
	for _, f := range fields {
		switch t := f.Type.(type) {
		case iceberg.BooleanType, iceberg.Int32Type, iceberg.Int64Type, iceberg.Float32Type, iceberg.Float64Type, iceberg.DecimalType:
			numbers = append(numbers, prefix+f.Name)
		case iceberg.StringType:
			texts = append(texts, prefix+f.Name)
		case *iceberg.StructType:
			n, s := leavesOf(prefix+f.Name+".", t.FieldList)
			numbers, texts = append(numbers, n...), append(texts, s...)
		}
	}
	return numbers, texts
}

// sameAsScan compares the rows that ufs-stream reads by a plan with the rows of iceberg-go's scan, bit by bit. It returns the
// number of rows.
func sameAsScan(t *testing.T, what string, tbl *table.Table, plan string, options ...table.ScanOption) int {
	t.Helper()
	scan := tbl.Scan(options...)
	schema := must.Get(scan.Projection())(t)
	numbers, texts := leavesOf("", schema.Fields())
	got := rowsOfPlan(t, plan, texts)
	head := strings.Split(got[0], "\t")
	if wanted := slices.Concat(numbers, texts); !slices.Equal(slices.Sorted(slices.Values(head)), slices.Sorted(slices.Values(wanted))) {
		t.Fatalf("%s: the columns are %q, want %q", what, head, wanted)
	}
	if h, _ := readPlan(t, plan); len(h.Keys) == 0 && !slices.Equal(head, slices.Concat(numbers, texts)) {
		t.Errorf("%s: the columns are %q, want them in the order %q, %q", what, head, numbers, texts)
	}
	_, batches, err := scan.ToArrowRecords(t.Context())
	must.Do(t, err)
	var want []string
	for b, err := range batches {
		must.Do(t, err)
		for row := range int(b.NumRows()) {
			var cells []string
			for _, name := range head { // partition keys are behind the other numbers
				cells = append(cells, cellOf(t, b, name, row))
			}
			want = append(want, strings.Join(cells, "\t"))
		}
		b.Release()
	}
	got = got[1:]
	slices.Sort(got)
	slices.Sort(want)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("%s: %d rows, want %d; the first that differs, in order of bits, is %d of %v:\n%v\nwant\n%v", what, len(got), len(want), i,
				head, got[min(i, len(got)-1):min(i+1, len(got))], want[min(i, len(want)-1):min(i+1, len(want))])
			break
		}
	}
	return len(want)
}

func rowsOfPlan(t *testing.T, plan string, texts []string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), must.Get(buildRows())(t), append([]string{plan}, texts...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("reading the rows of %s: %v: %s", plan, err, out)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

func cellOf(t *testing.T, b arrow.RecordBatch, name string, row int) string {
	t.Helper()
	parts := strings.Split(name, ".")
	a := b.Column(b.Schema().FieldIndices(parts[0])[0])
	for _, part := range parts[1:] {
		s := a.(*array.Struct)
		if s.IsNull(row) {
			return nullCell(s.DataType().(*arrow.StructType), part)
		}
		at, _ := s.DataType().(*arrow.StructType).FieldIdx(part)
		a = s.Field(at)
	}
	if a.IsNull(row) {
		if arrow.IsBinaryLike(a.DataType().ID()) || arrow.IsLargeBinaryLike(a.DataType().ID()) {
			return "null"
		}
		return "missing"
	}
	v := 0.0
	switch a := a.(type) {
	case *array.Boolean:
		if a.Value(row) {
			v = 1
		}
	case *array.Int32:
		v = float64(a.Value(row))
	case *array.Int64:
		v = float64(a.Value(row))
	case *array.Float32:
		v = float64(a.Value(row))
	case *array.Float64:
		v = a.Value(row)
	case *array.Decimal128:
		v = must.Get(strconv.ParseFloat(a.Value(row).ToString(a.DataType().(arrow.DecimalType).GetScale()), 64))(t)
	case *array.String:
		return fmt.Sprintf("%q", a.Value(row))
	case *array.LargeString:
		return fmt.Sprintf("%q", a.Value(row))
	default:
		t.Fatalf("column %s is of type %v", name, a.DataType())
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "missing"
	}
	return fmt.Sprintf("%016x", math.Float64bits(v))
}

func nullCell(s *arrow.StructType, field string) string {
	f, _ := s.FieldByName(field)
	if arrow.IsBinaryLike(f.Type.ID()) || arrow.IsLargeBinaryLike(f.Type.ID()) {
		return "null"
	}
	return "missing"
}
