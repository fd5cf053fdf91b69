package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	arrowmemory "github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// arrowLists is a stream of a number and a list, a batch for each slice of lengths.
func arrowLists(t *testing.T, batches ...[]int) string {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Float64},
		{Name: "b", Type: arrow.PrimitiveTypes.Float64},
		{Name: "v", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64)},
	}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	for n, lengths := range batches {
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
		list := b.Field(2).(*array.ListBuilder)
		for i, length := range lengths {
			b.Field(0).(*array.Float64Builder).Append(float64(i % 5))
			b.Field(1).(*array.Float64Builder).Append(float64(i*i%7 + n))
			list.Append(true)
			for e := range length {
				list.ValueBuilder().(*array.Float64Builder).Append(float64(i * (e + 3) % 11))
			}
		}
		if err := w.Write(b.NewRecord()); err != nil {
			t.Fatalf("writing the Arrow record: %v", err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatalf("closing the Arrow file: %v", err)
	}
	return out.String()
}

// TestListsOfOtherLength: if lists of a file turn out to vary in length, the column is left out with the reason, and
// a selection of its elements is not applied. If a stream that can be read only once has already treated them as
// vectors, every verb reports the place, both lengths, and how to continue without the column.
func TestListsOfOtherLength(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	even := write(t, at("even.arrows"), arrowLists(t, []int{2, 2, 2, 2, 2}, []int{2, 2, 2, 2}))
	text := arrowLists(t, []int{2, 2, 2, 2, 2}, []int{2, 3, 1, 2})
	odd := write(t, at("odd.arrows"), text)
	sel := at("sel.json")
	must(t, "select", even, "--columns", "v", "--method", "greedy", "-k", "2", "-o", sel)

	for _, args := range [][]string{{"inspect", odd}, {"inspect", "--scan", odd}, {"select", odd, "-k", "1"}} {
		if out := must(t, args...); !strings.Contains(out, "lists of varying length") {
			t.Errorf("%q: got\n%s\nwant the lists of varying length named", args, out)
		}
	}
	must(t, "scan", odd, "-o", at("s.ufs"))
	ends(t, exit.Data, `column "v[0]": the selected column is an element of v, which has none for every row here: lists of varying length`, "apply", odd, "--selection", sel, "-o", at("x.csv"))

	for _, args := range [][]string{{"inspect", "--scan", "-"}, {"scan", "-", "-o", at("t.ufs")}, {"select", "-", "-k", "1", "--method", "variance"}} {
		r := invokeWith(t.Context(), []byte(text), args...)
		const says = `row group 1, column "v", row 6: a list of 3 values where the rows before have 2, so that it is no vector; leave the column out with --exclude "v"`
		if r.code != exit.Data || !strings.Contains(r.err, says) || r.out != "" {
			t.Errorf("%q: exit code %d, %s", args, r.code, r.err)
		}
		if r := invokeWith(t.Context(), []byte(text), append(args, "--exclude", "v")...); r.code != exit.Done {
			t.Errorf("%q without the column: exit code %d, %s", args, r.code, r.err)
		}
	}
}
