package ipc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// TestNullsOfOtherTypes: a file has null counts for columns that are no features too, summed over its batches, and
// they are unknown if its arrays do not count them row by row.
func TestNullsOfOtherTypes(t *testing.T) {
	p, fw, bin := arrow.PrimitiveTypes, arrow.FixedWidthTypes, arrow.BinaryTypes
	words := &arrow.DictionaryType{IndexType: p.Int8, ValueType: bin.String}
	dictionary := func(values string) arrow.Array {
		text, _, err := array.FromJSON(memory.DefaultAllocator, bin.String, strings.NewReader(values))
		formattest.Must(t, err)
		index, _, err := array.FromJSON(memory.DefaultAllocator, p.Int8, strings.NewReader(`[0, null, 1, 0]`))
		formattest.Must(t, err)
		return array.NewDictionaryArray(words, index, text)
	}
	runs := func(values string) arrow.Array {
		text, _, err := array.FromJSON(memory.DefaultAllocator, bin.String, strings.NewReader(values))
		formattest.Must(t, err)
		ends, _, err := array.FromJSON(memory.DefaultAllocator, p.Int32, strings.NewReader(`[2, 4]`))
		formattest.Must(t, err)
		return array.NewRunEndEncodedArray(ends, text, 4, 0)
	}
	rec := fromJSON(t,
		bin.String, `["a", null, "b", null]`,
		bin.LargeString, `["a", null, "b", "c"]`,
		bin.Binary, `["YQ==", null, null, null]`,
		fw.Date32, `["2020-01-01", null, "2020-01-01", null]`,
		fw.Time32s, `["10:00:00", null, null, null]`,
		fw.Timestamp_us, `[null, "2020-01-01", "2020-01-01", "2020-01-01"]`,
		arrow.ListOf(bin.String), `[["a", null], null, [], [null]]`,
		arrow.Null, `[null, null, null, null]`,
		arrow.MapOf(bin.String, p.Int32), `[null, null, [], [{"key": "a", "value": null}]]`,
		arrow.StructOf(arrow.Field{Name: "a", Type: bin.String, Nullable: true}), `[{"a": "x"}, {"a": null}, {"a": "y"}, {"a": "z"}]`,
		arrow.StructOf(arrow.Field{Name: "a", Type: bin.String, Nullable: true}), `[{"a": "x"}, {"a": null}, null, {"a": "z"}]`,
		bin.String, `["a", "b", "c", "d"]`,
	)
	arrays, fields := rec.Columns(), rec.Schema().Fields()
	for _, a := range []arrow.Array{dictionary(`["x", "y"]`), dictionary(`["x", null]`), runs(`["x", "y"]`), runs(`["x", null]`)} {
		arrays = append(arrays, a)
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", len(fields)), Type: a.DataType(), Nullable: true})
	}
	rec = array.NewRecord(arrow.NewSchema(fields, nil), arrays, 4)
	want := []int64{4, 2, 6, 4, 6, 2, 2, 8, 4, 2, -1, 0, 2, -1, 0, -1}
	readGroups(t, formattest.WriteArrow(t, false, []arrow.Record{rec, rec}), false, func(leaves []format.Leaf, _ int, _ format.Group, _ int64) {
		if len(leaves) != len(want) {
			t.Fatalf("%d leaves", len(leaves))
		}
		for i, l := range leaves {
			if l.Nulls != want[i] {
				t.Errorf("column %d, %s, %s: %d nulls, want %d", i, l.Name, l.Type, l.Nulls, want[i])
			}
		}
	})
}
