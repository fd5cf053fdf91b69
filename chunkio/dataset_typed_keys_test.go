package chunkio

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// typedKeyTable writes a Delta table whose partition key has this type, and a file of 1, 2, 4, … rows for each of the
// values as the log has them, in JSON.
func typedKeyTable(t *testing.T, typ string, values []string) (root string) {
	t.Helper()
	root = t.TempDir()
	log := `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}` + "\n" +
		fmt.Sprintf(`{"metaData":{"id":"t","format":{"provider":"parquet"},"schemaString":%q,"partitionColumns":["key"],"configuration":{}}}`+"\n",
			`{"type":"struct","fields":[{"name":"a","type":"double"},{"name":"b","type":"double"},{"name":"key","type":"`+typ+`"}]}`)
	for i, value := range values {
		file := parquetOf(t, 100*i, 100*i+1<<i, 25, "a", "b")
		PutFile(t, root, fmt.Sprintf("%d.parquet", i), file)
		log += fmt.Sprintf(`{"add":{"path":"%d.parquet","partitionValues":{"key":%s},"size":%d,"modificationTime":1,"dataChange":true}}`+"\n", i, value, len(file))
	}
	PutFile(t, root, "_delta_log/00000000000000000000.json", []byte(log))
	return root
}

// Partition keys of a table are compared by their types in its schema, and not by the look of their texts: also by a plan.
func TestTypedKeys(t *testing.T) {
	for _, c := range []struct {
		typ     string
		values  []string
		matches map[string]int // the sum of the rows of the files that match
	}{
		{"integer", []string{`"10"`, `"9"`, `"-1"`, `null`}, map[string]int{"key > 9": 1, "key < 10": 6, "key = '9.0'": 2, "not (key > 9)": 6}},
		{"string", []string{`"10"`, `"9"`, `"-1"`, `null`}, map[string]int{"key > '9'": 0, "key < '9'": 5, "key = '9'": 2, "key != '9'": 5}},
		{"string", []string{`"true"`, `"True"`}, map[string]int{"key = 'true'": 1, "key >= 'true'": 1}},
		{"decimal(20,2)", []string{`"10.00"`, `"9.5"`, `"12345678901234567.01"`}, map[string]int{"key > 9.50": 5, "key = 12345678901234567.01": 4, "key < '9.51'": 2}},
		{"double", []string{`"NaN"`, `"Infinity"`, `"-Infinity"`, `"9.5"`, `"10"`}, map[string]int{"key > 9.5": 18, "key < 10": 12, "key != 10": 15, "not (key < 10)": 19}},
		{"boolean", []string{`"true"`, `"false"`, `null`}, map[string]int{"key": 1, "not key": 2, "key != true": 2}},
		{"date", []string{`"2026-01-05"`, `"1969-12-31"`, `null`}, map[string]int{"key > '1999-01-01'": 1, "key < '2026-01-05'": 2, "key = '2026-01-05'": 1}},
		{"timestamp", []string{`"2026-01-05 10:00:00"`, `"2026-01-05T09:30:00.000001Z"`, `"2026-01-05 09:00:00.5"`}, map[string]int{
			"key >= '2026-01-05T10:00:00Z'": 1, "key < '2026-01-05 09:30:00.000002'": 6, "key = '2026-01-05T11:00:00+01:00'": 1, "key > '2026-01-05'": 7,
		}},
		{"timestamp_ntz", []string{`"2026-01-05 10:00:00"`, `"2026-01-05 09:00:00.5"`}, map[string]int{"key = '2026-01-05T10:00'": 1, "key < '2026-01-05 10:00'": 2}},
	} {
		root := typedKeyTable(t, c.typ, c.values)
		for where, want := range c.matches {
			name := fmt.Sprintf("%s in %s, where %s", c.typ, c.values, where)
			run := planCase{inputs: []string{root}, opt: Options{Where: where, Missing: stream.MissingKeep}}
			ds, err := Open(t.Context(), run.inputs, run.opt)
			if want == 0 {
				if err == nil || !strings.Contains(err.Error(), "leaves none of the") {
					t.Errorf("%s: %v, want an error that no file is left", name, err)
				}
				continue
			}
			must.Do(t, err)
			if got := len(must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t).Rows); got != want {
				t.Errorf("%s: %d rows, want %d", name, got, want)
			}
			plan, _ := planned(t, run)
			if got := len(must.Get(chunkiotest.CollectRows(openPlanned(t, run, plan, Shard{}), stream.Range{}))(t).Rows); got != want {
				t.Errorf("%s: %d rows by a plan, want %d", name, got, want)
			}
		}
	}
	for typ, value := range map[string]string{"date": `"2026-13-01"`, "integer": `"x"`, "timestamp": `"noon"`, "boolean": `"yes"`} {
		root := typedKeyTable(t, typ, []string{"null", value})
		constant := map[string]string{"date": "'2026-01-01'", "integer": "1", "timestamp": "'2026-01-01'", "boolean": "true"}[typ]
		_, err := Open(t.Context(), []string{root}, Options{Where: "key = " + constant})
		if !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "1.parquet") || !strings.Contains(err.Error(), value) {
			t.Errorf("%s %s: %v, want a DataError with the file and the value", typ, value, err)
		}
	}
	_, err := Open(t.Context(), []string{typedKeyTable(t, "date", []string{`"2026-01-05"`})}, Options{Where: "key = '2026-1-5'"})
	if !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), "a partition key of dates") {
		t.Errorf("a constant that is no date: %v, want a usage error with the type of the key", err)
	}
}
