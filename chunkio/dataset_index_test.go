package chunkio

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	pq "github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

const isFrameIndex = "the index of a data frame: to use it, name it among the columns"

// pandasOf is the metadata that pandas 1.5 writes (pyarrow 10) for a data frame with the index columns, without its
// facts about each column.
func pandasOf(index string) string {
	return `{"index_columns": [` + index + `], "column_indexes": [{"name": null, "field_name": null}], "columns": [], "creator": {"library": "pyarrow", "version": "10.0.1"}, "pandas_version": "1.5.3"}`
}

// indexedFile makes Parquet, or Arrow IPC, of three rows of whole numbers in the columns, with metadata of pandas.
func indexedFile(t *testing.T, asArrow bool, pandas string, columns ...string) []byte {
	t.Helper()
	if asArrow {
		var fields []arrow.Field
		for _, c := range columns {
			fields = append(fields, arrow.Field{Name: c, Type: arrow.PrimitiveTypes.Int64})
		}
		meta := arrow.MetadataFrom(map[string]string{"other": "{}", "pandas": pandas})
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, &meta))
		for j := range columns {
			b.Field(j).(*array.Int64Builder).AppendValues([]int64{1, int64(j), 5}, nil)
		}
		return formattest.WriteArrow(t, false, []arrow.Record{b.NewRecord()})
	}
	var nodes schema.FieldList
	for _, c := range columns {
		nodes = append(nodes, schema.NewInt64Node(c, pq.Repetitions.Required, -1))
	}
	var out bytes.Buffer
	w := pqfile.NewParquetWriter(&out, schema.MustGroup(schema.NewGroupNode("schema", pq.Repetitions.Required, nodes, -1)))
	formattest.Must(t, w.AppendKeyValueMetadata("other", "{}"))
	formattest.Must(t, w.AppendKeyValueMetadata("pandas", pandas))
	group := w.AppendRowGroup()
	for j := range columns {
		column := must.Get(group.NextColumn())(t)
		must.Get(column.(*pqfile.Int64ColumnChunkWriter).WriteBatch([]int64{1, int64(j), 5}, nil, nil))(t)
		formattest.Must(t, column.Close())
	}
	formattest.Must(t, group.Close())
	formattest.Must(t, w.Close())
	return out.Bytes()
}

// TestFrameIndex: the index that pandas names in a file's metadata is no feature unless it is named, as partition keys
// are not.
func TestFrameIndex(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, asArrow := range []bool{false, true} {
		for _, c := range []struct {
			pandas, index string // the columns that are none
			opt           Options
			want          string
		}{
			{pandasOf(`"id"`), "id", Options{}, "x y"},
			{pandasOf(`"id"`), "id", Options{Exclude: []string{"y"}}, "x"},
			{pandasOf(`"id"`), "", Options{Columns: []string{"*"}}, "x id y"},
			{pandasOf(`"id"`), "", Options{Columns: []string{"id", "y"}}, "id y"},
			{pandasOf(`"id"`), "", Options{Label: "id"}, "x y"},
			{pandasOf(`"x", "id"`), "x id", Options{}, "y"},
			{pandasOf(`{"kind": "range", "name": null, "start": 0, "stop": 3, "step": 1}`), "", Options{}, "x id y"},
			{pandasOf(`{"kind": "range"}, "y"`), "y", Options{}, "x id"},
			{pandasOf(``), "", Options{}, "x id y"},
			{pandasOf(`"none"`), "", Options{}, "x id y"},
			{"", "", Options{}, "x id y"},
			{`{"index_columns": "id"}`, "", Options{}, "x id y"},
			{`{"index_columns": ["id"`, "", Options{}, "x id y"},
			{"null", "", Options{}, "x id y"},
		} {
			formattest.Must(t, os.WriteFile("in", indexedFile(t, asArrow, c.pandas, "x", "id", "y"), 0o600))
			ds := must.Get(Open(t.Context(), []string{"in"}, c.opt))(t)
			if got := strings.Join(ColumnNames(ds), " "); got != c.want {
				t.Errorf("arrow %v, %s, %+v: the features are %s, want %s", asArrow, c.pandas, c.opt, got, c.want)
			}
			var index []string
			for _, l := range ds.LeftOut() {
				if l.Why == isFrameIndex {
					index = append(index, l.Name)
				}
			}
			if got := strings.Join(index, " "); got != c.index {
				t.Errorf("arrow %v, %s, %+v: the index is %q, want %q", asArrow, c.pandas, c.opt, got, c.index)
			}
			formattest.Must(t, ds.Close())
		}
	}
}

// TestFrameIndexEverywhere: an index has no indicator either; a plan knows it; and pandas' own names of an index are
// recognized if the metadata are lost, in whichever of the files they stand.
func TestFrameIndexEverywhere(t *testing.T) {
	t.Chdir(t.TempDir())
	formattest.Must(t, os.WriteFile("a.parquet", indexedFile(t, false, "", "__index_level_0__", "id", "y"), 0o600))
	formattest.Must(t, os.WriteFile("b.parquet", indexedFile(t, false, pandasOf(`"id"`), "__index_level_0__", "id", "y"), 0o600))
	files := []string{"a.parquet", "b.parquet"}
	ds := must.Get(Open(t.Context(), files, Options{Indicators: true, ForPlan: true}))(t)
	if got := ColumnNames(ds); !slices.Equal(got, []string{"y"}) {
		t.Errorf("the features are %q, want y", got)
	}
	must.Get(ds.WritePlan(t.Context(), "j.plan.json", PlanHeader{}))(t)
	formattest.Must(t, ds.Close())
	planned := must.Get(Open(t.Context(), nil, Options{Plan: "j.plan.json"}))(t)
	if got := ColumnNames(planned); !slices.Equal(got, []string{"y"}) {
		t.Errorf("by the plan the features are %q, want y", got)
	}
	formattest.Must(t, planned.Close())

	// Statistics without the index report it like statistics without a partition key.
	left := []stream.LeftOut{{Name: "id", Why: isFrameIndex}}
	if _, _, err := Restrict([]stream.Column{{Name: "y"}}, left, nil, []string{"id"}, nil); !chunkiotest.IsUsage(err) || !strings.Contains(fmt.Sprint(err), "scan again") {
		t.Errorf("id of statistics without it: %v, want a usage error", err)
	}
}
