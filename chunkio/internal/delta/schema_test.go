package delta

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
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
		"A": "int64 true", "a": "int64 true", "d": "decimal(10,2) true", "d0": "decimal(10,0) true", "when": "timestamp_ntz true", "v": "variant true",
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
		for _, field := range s.Schema.Root.Fields {
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
	whole, err := unmapped.parseColumn("", document)
	if err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	s, err := columns.NewSchema(whole.Fields)
	if err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(document)
	if got := float64(after.HeapAlloc-before.HeapAlloc) / float64(len(text)); got > schemaBytes || len(s.Root.Fields) != 100_000 {
		t.Errorf("got %.1f bytes for each of the text, and %d columns, want at most %d, and 100000", got, len(s.Root.Fields), schemaBytes)
	} else {
		t.Logf("%.1f bytes for each of the text", got)
	}
}

// TestColumnMapping: with a reader's version that has column mapping, columns have their physical names or ids at any
// depth, and partition values are found by physical names; a column without them is an error that names it.
func TestColumnMapping(t *testing.T) {
	const metadata = `"metadata":{"delta.columnMapping.id":%d,"delta.columnMapping.physicalName":"p%[1]d","delta.columnMapping.nested.ids":{"p%[1]d.element":100}}`
	field := func(name, typ string, id int) string {
		return fmt.Sprintf(`{"name":%q,"type":%s,`, name, typ) + fmt.Sprintf(metadata+`}`, id)
	}
	structure := func(fields ...string) string {
		return `{"type":"struct","fields":[` + strings.Join(fields, ",") + `]}`
	}
	inner := structure(field("x", `"long"`, 11), field("y", `{"type":"array","elementType":`+structure(field("z", `"double"`, 12))+`}`, 13))
	schema := structure(field("day", `"integer"`, 1), field("p1", `"long"`, 2), field("s", inner, 3), field("m", `{"type":"map","keyType":"string","valueType":`+structure(field("v", `"variant"`, 14))+`}`, 4))
	commit := func(protocol, mode, schema string) *memoryFolder {
		m := newFolder()
		meta := strings.Replace(withSchema(t, schema), `"partitionColumns":[]`, `"partitionColumns":["day"]`, 1)
		m.commit(0, protocol, strings.Replace(meta, `"configuration":{}`, `"configuration":{"delta.columnMapping.mode":"`+mode+`"}`, 1),
			strings.Replace(addLine("x"), `"partitionValues":{}`, `"partitionValues":{"p1":"7","day":"8"}`, 1))
		return m
	}
	const version2, version1 = `{"protocol":{"minReaderVersion":2,"minWriterVersion":5}}`, `{"protocol":{"minReaderVersion":1,"minWriterVersion":5}}`
	const byName, plain = "day=p1 p1=p2 s=p3 x=p11 y=p13 element z=p12 m=p4 key value v=p14", "day p1 s x y element z m key value v"
	for _, c := range []struct{ protocol, mode, columns, day string }{
		{version2, "name", byName, "7"},
		{version2, "id", "day#1 p1#2 s#3 x#11 y#13 element z#12 m#4 key value v#14", "7"},
		{`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["columnMapping"]}}`, "Name", byName, "7"},
		{`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["timestampNtz"]}}`, "name", plain, "8"},
		{version2, "none", plain, "8"},
		{version1, "id", plain, "8"},
	} {
		s, err := read(t, commit(c.protocol, c.mode, schema), -1)
		if err != nil {
			t.Errorf("mode %s: got error %v, want none", c.mode, err)
			continue
		}
		if got := strings.Join(describeColumns(s.Schema.Root.Fields), " "); got != c.columns {
			t.Errorf("mode %s: got columns %s, want %s", c.mode, got, c.columns)
		}
		if v := s.Files[0].Values; len(v) != 1 || v[0] == nil || *v[0] != c.day || s.Partitions[0] != "day" {
			t.Errorf("mode %s: got partition %v of %v, want day %s", c.mode, v, s.Partitions, c.day)
		}
	}
	for _, c := range []struct{ mode, schema, want string }{
		{"name", strings.ReplaceAll(schema, `"p12"`, `""`), `the column "z" has no id or no physical name, and delta.columnMapping.mode is name`},
		{"id", strings.ReplaceAll(schema, `Name":"p12"`, `":"p12"`), `the column "z" has no id or no physical name`},
		{"id", strings.ReplaceAll(schema, `.id":12`, `.id":12.5`), `the column "z" has no id`},
		{"id", strings.ReplaceAll(schema, `.id":12`, `.id":3000000000`), `the column "z" has no id`},
		{"id", strings.ReplaceAll(schema, `.id":12`, `.id":0`), `the column "z" has no id`},
		{"id", strings.ReplaceAll(schema, `.id":11,`, `.id":13,`), `"x" and "y" are the same column of a data file`},
		{"name", strings.ReplaceAll(schema, `"p11"`, `"p13"`), `"x" and "y" are the same column of a data file`},
		{"name", "{}", "it is no struct"},
	} {
		_, err := read(t, commit(version2, c.mode, c.schema), -1)
		wantData(t, c.mode+" "+c.schema, err, logFolder, "the schema in the metaData action cannot be read", c.want, "restore the log")
	}
	if _, err := read(t, commit(version2, "name", structure()), -1); err != nil {
		t.Errorf("a schema without columns: got error %v, want none", err)
	}
}

// describeColumns lists columns and the columns in them, each with the name or the id by which data files have it.
func describeColumns(all []columns.Column) (list []string) {
	for _, c := range all {
		text := c.Name
		if c.Physical != "" {
			text += "=" + c.Physical
		}
		if c.ID != 0 {
			text += fmt.Sprint("#", c.ID)
		}
		list = append(append(list, text), describeColumns(c.Fields)...)
	}
	return list
}
