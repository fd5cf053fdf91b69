package delta

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// withSchema is the metaData action with a schema.
func withSchema(t testing.TB, schema string) string {
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	return strings.Replace(metaLine, `"partitionColumns"`, `"schemaString":`+string(text)+`,"partitionColumns"`, 1)
}

// TestSchema: the types of columns, of fields in structs and of lists have the names used for data files; types in
// lists of structs and maps are not compared, and columns missing from the schema are none of the table.
func TestSchema(t *testing.T) {
	m := newFolder()
	m.commit(0, protocolLine, withSchema(t, `{"type":"struct","fields":[
		{"name":"A","type":"long","nullable":true,"metadata":{"delta.typeChanges":[{"fromType":"integer"}]}},
		{"name":"d","type":"decimal(10, 2)"},{"name":"d0","type":"decimal"},{"name":"when","type":"timestamp_ntz"},{"name":"v","type":"variant"},
		{"name":"s","type":{"type":"struct","fields":[{"name":"x.y","type":"byte"},{"name":"in","type":{"type":"struct","fields":[{"name":"z","type":"boolean"}]}}]}},
		{"name":"l","type":{"type":"array","elementType":"short","containsNull":true}},
		{"name":"ls","type":{"type":"array","elementType":{"type":"struct","fields":[{"name":"q","type":"long"}]}}},
		{"name":"m","type":{"type":"map","keyType":"string","valueType":"double"}}]}`), addLine("x"))
	s, err := read(t, m, -1)
	if err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	for path, want := range map[string]string{
		"A": "int64 true", "a": "int64 true", "d": "decimal(10,2) true", "d0": "decimal(10,0) true", "when": "timestamp_ntz true", "v": " true",
		"s/x.y": "int8 true", "s/in/z": "bool true", "s/gone": " false", "l": "list<int16> true", "ls/q": " true", "m": " true", "_row-id-col-1": " false", "": " false",
	} {
		typ, ok := s.Schema.ColumnType(strings.Split(path, "/"))
		if got := fmt.Sprint(typ, " ", ok); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	for _, bad := range []string{"{", `"struct"`, `{"type":"array","elementType":"long"}`, `{"type":"struct","fields":7}`, "[]"} {
		m := newFolder()
		m.commit(0, protocolLine, withSchema(t, bad), addLine("x"))
		_, err := read(t, m, -1)
		wantData(t, bad, err, logFolder, "the schema in the metaData action cannot be read", "restore the log")
	}
}

// TestWidens: the table of the protocol, https://github.com/delta-io/delta/blob/master/PROTOCOL.md#supported-type-changes,
// and no change besides.
func TestWidens(t *testing.T) {
	types := []string{"int8", "int16", "int32", "int64", "float", "double", "bool", "string", "date", "timestamp", "timestamp_ntz", "decimal(10,0)", "decimal(9,0)", "decimal(20,0)", "decimal(12,2)", "decimal(14,3)"}
	allowed := map[string]string{
		"int8": "int16 int32 int64 double decimal(10,0) decimal(20,0) decimal(12,2) decimal(14,3)", "int16": "int32 int64 double decimal(10,0) decimal(20,0) decimal(12,2) decimal(14,3)",
		"int32": "int64 double decimal(10,0) decimal(20,0) decimal(12,2) decimal(14,3)", "int64": "decimal(20,0)", "float": "double", "date": "timestamp_ntz", "timestamp": "timestamp_ntz",
		"decimal(9,0)": "decimal(10,0) decimal(20,0) decimal(12,2) decimal(14,3)", "decimal(10,0)": "decimal(20,0) decimal(12,2) decimal(14,3)", "decimal(12,2)": "decimal(14,3)",
	}
	for _, from := range types {
		for _, to := range types {
			want := from == to
			for _, a := range strings.Fields(allowed[from]) {
				want = want || a == to
			}
			if got := Widens(from, to); got != want {
				t.Errorf("%s to %s: got %t, want %t", from, to, got, want)
			}
			if got := Widens("list<"+from+">", "list<"+to+">"); got != want {
				t.Errorf("lists of %s to %s: got %t, want %t", from, to, got, want)
			}
		}
	}
}

// FuzzSchema: whatever the text of a schema, reading it ends as an error of the data or as columns that are found.
func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"struct","fields":[{"name":"a","type":"long"},{"name":"s","type":{"type":"struct","fields":[{"name":"x","type":"byte"}]}}]}`)
	f.Add(`{"type":"struct","fields":[7,{"name":3},{"type":{"type":"array","elementType":{"type":"array"}}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		m := newFolder()
		m.commit(0, protocolLine, withSchema(t, text), addLine("x"))
		judge(t, m)
		s, err := Read(t.Context(), m, "shop/orders", Options{Memory: 64 << 20})
		if err != nil || s.Schema == nil {
			return
		}
		for _, field := range s.Schema.Fields {
			if _, ok := s.Schema.ColumnType([]string{field.Name}); !ok {
				t.Errorf("the column %q of the schema is not found", field.Name)
			}
		}
	})
}

// TestSchemaMemory: reading a schema takes no more than it is counted as.
func TestSchemaMemory(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, `,{"name":"c%d","type":"long","nullable":true,"metadata":{}}`, i)
	}
	text := `{"type":"struct","fields":[` + b.String()[1:] + `]}`
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var document any
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	s := parseSchemaField("", document).Struct
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(document)
	if got := float64(after.HeapAlloc-before.HeapAlloc) / float64(len(text)); got > schemaBytes || len(s.Fields) != 100_000 {
		t.Errorf("got %.1f bytes for each of the text, and %d columns, want at most %d, and 100000", got, len(s.Fields), schemaBytes)
	} else {
		t.Logf("%.1f bytes for each of the text", got)
	}
}
