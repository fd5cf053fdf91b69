package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/duckdbtest"
	mustbe "github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// dataFile is a live file of a planted table: its path below the temporary folder, its name in the log (by default
// its path below the table), the DuckDB query that makes it, and its partition values.
type dataFile struct {
	at, path, query string
	ids             string // the field ids of its columns, as DuckDB writes them
	values          map[string]any
}

// plantDelta writes a table of these columns, each "name type", into the folder t of a temporary one.
func plantDelta(t *testing.T, columns []string, keys []string, files ...dataFile) (at func(string) string) {
	t.Helper()
	at = folder(t)
	fields := make([]map[string]any, len(columns))
	for i, c := range columns {
		name, typ, _ := strings.Cut(c, " ")
		fields[i] = map[string]any{"name": name, "type": json.RawMessage(typ), "nullable": true, "metadata": map[string]any{}}
		var mapped struct { // a column of column mapping
			Mapped   bool
			Type     json.RawMessage
			ID       int
			Physical string
		}
		switch {
		case !strings.HasPrefix(typ, "{"):
			fields[i]["type"] = typ
		case strings.HasPrefix(typ, `{"mapped"`):
			mustbe.Do(t, json.Unmarshal([]byte(typ), &mapped))
			fields[i]["type"] = mapped.Type
			fields[i]["metadata"] = map[string]any{"delta.columnMapping.id": mapped.ID, "delta.columnMapping.physicalName": mapped.Physical}
		}
	}
	line := func(action any) string { return string(mustbe.Get(json.Marshal(action))(t)) + "\n" }
	log := line(map[string]any{"protocol": map[string]any{"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": []string{"typeWidening"}, "writerFeatures": []string{"typeWidening", "rowTracking"}}})
	schema := string(mustbe.Get(json.Marshal(map[string]any{"type": "struct", "fields": fields}))(t))
	log += line(map[string]any{"metaData": map[string]any{"id": "t", "format": map[string]any{"provider": "parquet", "options": map[string]any{}}, "schemaString": schema, "partitionColumns": append([]string{}, keys...), "configuration": map[string]any{}}})
	for _, f := range files {
		where := at(f.at)
		mustbe.Do(t, os.MkdirAll(filepath.Dir(where), 0o755))
		options := "FORMAT parquet"
		if f.ids != "" {
			options += ", FIELD_IDS {" + f.ids + "}"
		}
		if r := duckdbtest.RunQuery(t, at(""), fmt.Sprintf("COPY (%s) TO '%s' (%s)", f.query, where, options)); r.Error != "" {
			t.Fatalf("got error %s, want none", r.Error)
		}
		path := strings.TrimPrefix(f.at, "t/")
		if f.path != "" {
			path = strings.ReplaceAll(f.path, "HERE", at(""))
		}
		if f.values == nil {
			f.values = map[string]any{}
		}
		log += line(map[string]any{"add": map[string]any{"path": path, "partitionValues": f.values, "size": mustbe.Get(os.Stat(where))(t).Size(), "modificationTime": 1, "dataChange": true}})
	}
	mustbe.Do(t, os.MkdirAll(at("t/_delta_log"), 0o755))
	write(t, at("t/_delta_log/00000000000000000000.json"), log)
	return at
}

// TestDeltaSchema: the columns of a table have the names and types of its schema, even if data files have ids and
// versions of rows, columns of other versions or narrower numbers, or lack a newer column. Select, plan, shards,
// apply, convert and the query agree. DuckDB computes the expected values.
func TestDeltaSchema(t *testing.T) {
	at := plantDelta(t, []string{"n long", "f double", "s long", "x double", "added double", "late integer", "note string", `l {"type":"array","elementType":"long","containsNull":true}`, "old date", "seen timestamp_ntz"}, nil,
		dataFile{at: "t/a.parquet", query: `SELECT i::INT AS n, (i * 1.1)::FLOAT AS f, (i % 7)::SMALLINT AS s, sin(i) AS x, [i, i * i % 5]::INT[] AS l, DATE '2026-01-01' AS old,
			i AS "_row-id-col-0b1c", i // 9 AS "_row-commit-version-col-77" FROM range(30) r(i)`},
		dataFile{at: "t/b.parquet", query: `SELECT 1.5::DOUBLE AS gone, i * 5000000001 AS n, (i * 1.1)::DOUBLE AS f, i % 5 AS s, cos(i) AS x, (i * i * 1.5)::DOUBLE AS added, [i, 3000000000 + i]::BIGINT[] AS l,
			DATE '2026-01-02' AS old FROM range(25) r(i)`})
	const want = `SELECT n::BIGINT AS n, f::DOUBLE AS f, s::BIGINT AS s, x, NULL::DOUBLE AS added, l[1]::BIGINT AS "l[0]", l[2]::BIGINT AS "l[1]", NULL::INT AS late, NULL::VARCHAR AS note, old, NULL::TIMESTAMP AS seen FROM 't/a.parquet'
		UNION ALL SELECT n, f, s, x, added, l[1], l[2], NULL, NULL, old, NULL FROM 't/b.parquet'`
	flags := []string{at("t"), "--missing", "mean", "-k", "7", "--method", "greedy"}
	one := selection(t, flags...)
	if one.Features != 7 {
		t.Errorf("got %d features, want 7: n, f, s, x, added, l[0], l[1]; left out: %v", one.Features, one.LeftOut)
	}
	// Shards of a plan give the selection of the whole.
	must(t, "plan", at("t"), "--missing", "mean", "-o", at("job.plan.json"))
	for i := range 2 {
		must(t, "scan", "--plan", at("job.plan.json"), "--shard", fmt.Sprintf("%d/2", i+1), "-o", at(fmt.Sprintf("%d.ufs", i)))
	}
	must(t, "merge", at("0.ufs"), at("1.ufs"), "-o", at("all.ufs"))
	parts := selection(t, "--stats", at("all.ufs"), "-k", "7", "--method", "greedy")
	if got, want := chosenNames(parts), chosenNames(one); got != want {
		t.Errorf("of shards: got %s, want %s", got, want)
	}
	must(t, append([]string{"select", "-o", at("sel.json")}, flags...)...)
	order := "SELECT " + chosenNames(one) + `, late, note, old, seen FROM (` + want + ")"
	apply := []string{"apply", at("t"), "--selection", at("sel.json"), "--also", "late,note,old,seen"}
	db := duckdbtest.StartSession(t, at(""))
	same(t, db, must(t, append(apply, "--format", "sql")...), order)
	same(t, db, must(t, append([]string{"select", "--format", "sql"}, flags...)...), "SELECT "+chosenNames(one)+" FROM ("+want+")")
	must(t, append(apply, "-o", at("out"))...) // a folder, whose files have all of the columns in one type
	same(t, db, "FROM 'out/*.parquet'", order)
	must(t, "convert", at("t"), "-o", at("copy"))
	same(t, db, "SELECT n, f, s, x, added, late, note, old FROM 'copy/*.parquet'", "SELECT n, f, s, x, added, late, note, old FROM ("+want+")")
	same(t, db, "SELECT column_name, column_type FROM (DESCRIBE FROM 'out/a.parquet') ORDER BY ALL",
		"SELECT column_name, column_type FROM (DESCRIBE "+order+") ORDER BY ALL")
	// One file of its own rows, resumed or not, is the same as that of the folder.
	for _, name := range []string{"n", "f", "l[0]", "added"} {
		if col := one.Columns[indexOf(one, name)]; name == "added" && col.Nulls != 30 || name != "added" && col.Nulls != 0 {
			t.Errorf("%s: got %d nulls, want 30 of added and none else", name, col.Nulls)
		}
	}
}

// Dates that a table has widened to times without a zone are those times: every output is that of a table whose files have
// times, of both files and of the file with dates alone.
func TestDeltaDatesWidenedToTimes(t *testing.T) {
	const dates = `CASE WHEN i % 5 = 0 THEN NULL ELSE DATE '1969-12-25' + i::INT * 400 END`
	columns := []string{"id long", "x double", "seen timestamp_ntz"}
	newer := dataFile{at: "t/b.parquet", query: `SELECT 100 + i AS id, cos(i) AS x, TIMESTAMP '2026-01-31 10:00:00.000001' + INTERVAL (i) HOUR AS seen FROM range(25) r(i)`}
	for _, files := range [][]dataFile{{newer}, nil} {
		var outputs [2]string
		for k, typ := range []string{"DATE", "TIMESTAMP"} {
			older := dataFile{at: "t/a.parquet", query: fmt.Sprintf("SELECT i AS id, sin(i) AS x, (%s)::%s AS seen FROM range(30) r(i)", dates, typ)}
			at := plantDelta(t, columns, nil, append([]dataFile{older}, files...)...)
			write(t, at("names.txt"), "x\n")
			for _, where := range []string{"", "seen < '1990-01-01'", "seen = '1974-05-13T00:00'", "seen >= '2026-01-31T10:00:00.000001' or seen is null", "not seen > '1980-01-01 12:00'"} {
				args := []string{"apply", at("t"), "--selection", at("names.txt"), "--also", "id,seen", "-o", at("out.csv")}
				if where != "" {
					args = append(args, "--where", where)
				}
				must(t, args...)
				outputs[k] += where + "\n" + read(t, at("out.csv"))
			}
			must(t, "convert", at("t"), "-o", at("one.parquet"))
			must(t, "convert", at("t"), "-o", at("folder")+"/")
			for _, query := range []string{
				"SELECT id, x, seen, typeof(seen) FROM 'one.parquet' ORDER BY id", "SELECT id, x, seen, typeof(seen) FROM 'folder/*.parquet' ORDER BY id", "SELECT id, x, seen FROM 'folder/a.parquet'",
			} {
				r := duckdbtest.RunQuery(t, at(""), query)
				if r.Error != "" || len(r.Rows) < 30 {
					t.Fatalf("%s: %d rows, %s", query, len(r.Rows), r.Error)
				}
				for _, row := range r.Rows {
					outputs[k] += quotedRow(row) + "\n"
				}
			}
			must(t, "plan", at("t"), "--times", "-o", at("job.plan.json"))
			for i := range 2 {
				must(t, "scan", "--plan", at("job.plan.json"), "--shard", fmt.Sprintf("%d/2", i+1), "-o", at(fmt.Sprintf("%d.ufs", i)))
			}
			must(t, "merge", at("0.ufs"), at("1.ufs"), "-o", at("all.ufs"))
			for _, flags := range [][]string{{at("t"), "--times"}, {"--stats", at("all.ufs")}, {at("t"), "--label", "seen"}} {
				chosen := selection(t, append(flags, "-k", "2", "--method", "greedy")...)
				outputs[k] += chosenNames(chosen) + fmt.Sprint(chosen.Features, chosen.Rows) + "\n"
				for _, c := range chosen.Selected {
					outputs[k] += fmt.Sprintf("%s %.9g\n", c.Name, c.Score)
				}
			}
			outputs[k] += must(t, "inspect", at("t"), "--scan", "--times", "--format", "csv", "-q")
		}
		if outputs[0] != outputs[1] {
			t.Errorf("with dates:\n%s\nwith times:\n%s", outputs[0], outputs[1])
		}
	}
}

// Structs whose fields differ cannot become one column of one file; the error names the field and both types.
func TestDeltaStructsThatDiffer(t *testing.T) {
	for _, c := range []struct{ fields, a, b, says string }{
		{`[{"name":"n","type":"long"},{"name":"seen","type":"timestamp_ntz"}]`, "{'n': i, 'seen': DATE '2026-01-01'}", "{'n': i, 'seen': TIMESTAMP '2026-01-01'}",
			`column "s": the type of its field s.seen in the file, optional INT64 Timestamp(`},
		{`[{"name":"n","type":"long"},{"name":"in","type":{"type":"struct","fields":[{"name":"k","type":"long"}]}}]`, "{'n': i, 'in': {'k': i::INT}}", "{'n': i, 'in': {'k': i}}",
			`column "s": the type of its field s.in.k in the file, optional INT64`},
		{`[{"name":"n","type":"long"},{"name":"m","type":"long"}]`, "{'n': i}", "{'n': i, 'm': i}", `column "s": the fields of s in the file, (n, m), differ from (n)`},
	} {
		at := plantDelta(t, []string{"x double", `s {"type":"struct","fields":` + c.fields + "}"}, nil,
			dataFile{at: "t/a.parquet", query: "SELECT sin(i) AS x, " + c.a + " AS s FROM range(3) r(i)"}, dataFile{at: "t/b.parquet", query: "SELECT cos(i) AS x, " + c.b + " AS s FROM range(3) r(i)"})
		ends(t, exit.Data, c.says, "convert", at("t"), "-o", at("one.parquet"))
		ends(t, exit.Data, "write the files to a folder", "convert", at("t"), "-o", at("one.parquet"))
		must(t, "convert", at("t"), "-o", at("folder")+"/")
	}
}

func indexOf(s *stream.Selection, name string) int {
	for i, c := range s.Columns {
		if c.Name == name {
			return i
		}
	}
	return -1
}

// chosenNames are the names of the selected features as SQL lists them.
func chosenNames(s *stream.Selection) string {
	var names []string
	for _, f := range s.Selected {
		names = append(names, `"`+f.Name+`"`)
	}
	return strings.Join(names, ", ")
}

// TestDeltaTypesThatDiffer: a file whose type the protocol does not widen to that of the schema is an error that names
// the file, the column and both types.
func TestDeltaTypesThatDiffer(t *testing.T) {
	for _, c := range []struct{ schema, file, says string }{
		{"x integer", "i::DOUBLE", "its type is double here, and int32 in the schema of the table"},
		{"x integer", "i::BIGINT", "its type is int64 here, and int32 in the schema of the table"},
		{"x double", "i::BIGINT", "its type is int64 here, and double in the schema of the table"},
		{"x float", "i::DOUBLE", "its type is double here, and float in the schema of the table"},
		{"x decimal(6,2)", "i::DECIMAL(8,2)", "its type is decimal(8,2) here, and decimal(6,2) in the schema of the table"},
		{"x long", "'a' || i", "its type is string here, and int64 in the schema of the table"},
		{"x string", "i", "its type is int64 here, and string in the schema of the table"},
		{`x {"type":"array","elementType":"integer","containsNull":true}`, "[i, i]::BIGINT[]", "its type is list<int64> here, and list<int32> in the schema of the table"},
	} {
		at := plantDelta(t, []string{c.schema, "y double"}, nil,
			dataFile{at: "t/good.parquet", query: "SELECT sin(i) AS y FROM range(9) r(i)"},
			dataFile{at: "t/odd.parquet", query: "SELECT " + c.file + " AS x, cos(i) AS y FROM range(9) r(i)"})
		for _, args := range [][]string{{"select", at("t"), "-k", "1"}, {"plan", at("t")}, {"inspect", at("t")}, {"convert", at("t"), "-o", at("out")}} {
			ends(t, exit.Data, `odd.parquet: column "x": `+c.says, args...)
		}
	}
}

// TestDeltaPartitionTypes: values of partitions, which the log has as texts, have the types of the schema.
func TestDeltaPartitionTypes(t *testing.T) {
	files := []dataFile{
		{at: "t/1.parquet", query: "SELECT sin(i) AS x, 99 AS zip FROM range(9) r(i)", values: map[string]any{"zip": "00037", "day": "2026-01-31", "n": "1", "ok": "true", "w": "2"}},
		{at: "t/2.parquet", query: "SELECT cos(i) AS x, 99 AS zip FROM range(9) r(i)", values: map[string]any{"zip": "10115", "day": nil, "n": "2", "ok": "false", "w": "2.5"}},
	}
	at := plantDelta(t, []string{"x double", "zip string", "day date", "n integer", "ok boolean", "w double"}, []string{"zip", "day", "n", "ok", "w"}, files...)
	s := selection(t, at("t"), "--columns", "*", "--missing", "mean", "-k", "3")
	if s.Features != 4 {
		t.Errorf("got %d features, want x, n, ok, w; left out %v", s.Features, s.LeftOut)
	}
	must(t, "select", at("t"), "-k", "1", "-o", at("sel.json"))
	apply := []string{"apply", at("t"), "--selection", at("sel.json"), "--also", "zip,day,n,ok,w"}
	must(t, append(apply, "-o", at("out"))...)
	const want = `SELECT x, '00037' AS zip, DATE '2026-01-31' AS day, 1::INT AS n, true AS ok, 2::DOUBLE AS w FROM 't/1.parquet'
		UNION ALL SELECT x, '10115', NULL, 2, false, 2.5 FROM 't/2.parquet'`
	db := duckdbtest.StartSession(t, at(""))
	same(t, db, "FROM 'out/*.parquet'", want)
	same(t, db, "SELECT DISTINCT column_name, column_type FROM (DESCRIBE FROM 'out/1.parquet') ORDER BY ALL", "SELECT column_name, column_type FROM (DESCRIBE "+want+") ORDER BY ALL")
	same(t, db, must(t, append(apply, "--format", "sql")...), want)
	if got := selection(t, at("t"), "-k", "1", "--where", "zip = '00037'").Rows; got != 9 {
		t.Errorf("rows where zip = '00037': got %d, want 9", got)
	}
}

// TestDeltaShallowClone: absolute paths of a clone are URIs: the folders of partitions are percent-encoded themselves,
// and again in the log. What is outside the table is read only if the user allows it.
func TestDeltaShallowClone(t *testing.T) {
	at := plantDelta(t, []string{"x double", "k string"}, []string{"k"},
		dataFile{at: "t/own.parquet", query: "SELECT sin(i) AS x FROM range(9) r(i)", values: map[string]any{"k": "a"}},
		dataFile{at: "src/k=x%3Ay/c d.parquet", path: "file://HERE/src/k=x%253Ay/c%20d.parquet", query: "SELECT cos(i) AS x FROM range(9) r(i)", values: map[string]any{"k": "x:y"}},
		dataFile{at: "src/k=100%/e.parquet", path: "file:HERE/src/k=100%25/e.parquet", query: "SELECT tan(i) AS x FROM range(9) r(i)", values: map[string]any{"k": "100%"}},
		dataFile{at: "t/a:b.parquet", path: "a%3Ab.parquet", query: "SELECT i / 7 AS x FROM range(9) r(i)", values: map[string]any{"k": "b"}})
	ends(t, exit.Data, "--allow", "select", at("t"), "-k", "1")
	must(t, "select", at("t"), "-k", "1", "--allow", at("src"), "-o", at("sel.json"))
	apply := []string{"apply", at("t"), "--selection", at("sel.json"), "--also", "k", "--allow", at("src")}
	const want = `SELECT x, 'x:y' AS k FROM 'src/k=x%3Ay/c d.parquet' UNION ALL SELECT x, '100%' AS k FROM 'src/k=100%/e.parquet'
		UNION ALL SELECT x, 'a' AS k FROM 't/own.parquet' UNION ALL SELECT x, 'b' FROM 't/a:b.parquet'`
	db := duckdbtest.StartSession(t, at(""))
	same(t, db, "FROM ("+strings.TrimSuffix(strings.TrimSpace(must(t, append(apply, "--format", "sql")...)), ";")+") ORDER BY ALL", "FROM ("+want+") ORDER BY ALL")
	must(t, append(apply, "-o", at("out"))...)
	same(t, db, "SELECT x, k FROM read_parquet('out/**/*.parquet', hive_partitioning = true, hive_types_autocast = false) ORDER BY ALL", "FROM ("+want+") ORDER BY ALL")
}

// TestDeltaPositions: columns of a table have the positions of its schema, partition columns and texts counted and lists
// expanded, whichever file is read first, whatever it lacks, and by a plan and shards too. Counted by hand:
// a 0, day 1, l[0] 2, l[1] 3, note 4, added 5, b 6, late 7.
func TestDeltaPositions(t *testing.T) {
	at := plantDelta(t, []string{"a double", "day integer", `l {"type":"array","elementType":"double","containsNull":true}`, "note string", "added double", "b double", "late double"}, []string{"day"},
		dataFile{at: "t/1.parquet", query: "SELECT cos(i * i) AS b, [sin(7 * i), cos(5 * i)] AS l, sin(i) AS a, i AS \"_row-id-col-1\" FROM range(40) r(i)", values: map[string]any{"day": "1"}},
		dataFile{at: "t/2.parquet", query: "SELECT sin(i * i) AS added, 'x' AS note, tan(i) AS a, [sin(3 * i), cos(i)] AS l, i * 0.5::DOUBLE AS b FROM range(40) r(i)", values: map[string]any{"day": "2"}})
	want := map[string]int{"a": 0, "day": 1, "l[0]": 2, "l[1]": 3, "note": 4, "added": 5, "b": 6, "late": 7}
	must(t, "plan", at("t"), "--missing", "mean", "--columns", "*", "-o", at("job.plan.json"))
	for i := range 2 {
		must(t, "scan", at("t"), "--missing", "mean", "--columns", "*", "--shard", fmt.Sprintf("%d/2", i+1), "-o", at(fmt.Sprintf("%d.ufs", i)))
	}
	must(t, "merge", at("0.ufs"), at("1.ufs"), "-o", at("all.ufs"))
	for _, input := range [][]string{{at("t"), "--missing", "mean", "--columns", "*"}, {"--plan", at("job.plan.json")}, {"--stats", at("all.ufs")}} {
		s := selection(t, append(input, "--method", "greedy", "-k", "6")...)
		got := map[string]int{}
		for _, f := range s.Selected {
			got[f.Name], _ = f.Column.Index()
		}
		for _, f := range s.LeftOut {
			if p, known := f.Column.Index(); known {
				got[f.Name] = p
			}
		}
		if !maps.Equal(got, want) || s.InputColumns != 8 {
			t.Errorf("select %v: got positions %v of %d, want %v", input, got, s.InputColumns, want)
		}
	}
}

// TestDeltaDeletedRows: a table with deletion vectors is the table of the rows that are left, to the last bit: for select
// with a condition and a sample, plans, shards, convert, apply and eval. DuckDB writes the other table.
func TestDeltaDeletedRows(t *testing.T) {
	columns := []string{"a double", "b integer", "c double", "d double", "note string"}
	const query = "SELECT sin(i * %d) AS a, (i * i %% 97)::INTEGER AS b, CASE WHEN i %% 11 = 0 THEN NULL ELSE cos(i * i) END AS c, sin(i * %[1]d) + 0.1 * cos(i) AS d, CASE WHEN i %% 3 = 0 THEN 'x' ELSE 'y' END AS note FROM range(%[2]d) r(i)"
	first, second := fmt.Sprintf(query, 3, 5000), fmt.Sprintf(query, 5, 3000)
	left := plantDelta(t, columns, nil, dataFile{at: "t/1.parquet", query: first + " WHERE i % 7 <> 3"}, dataFile{at: "t/2.parquet", query: second + " WHERE i % 300 = 5"})
	at := plantDelta(t, columns, nil, dataFile{at: "t/1.parquet", query: first}, dataFile{at: "t/2.parquet", query: second})
	commit := ""
	for path, isDeleted := range map[string]func(i int) bool{"1.parquet": func(i int) bool { return i < 5000 && i%7 == 3 }, "2.parquet": func(i int) bool { return i < 3000 && i%300 != 5 }} {
		rows := roaring64.New()
		for i := range 5000 {
			if isDeleted(i) {
				rows.Add(uint64(i))
			}
		}
		data := binary.BigEndian.AppendUint32([]byte{1}, uint32(4+rows.GetSerializedSizeInBytes()))
		bitmap := append(binary.LittleEndian.AppendUint32(nil, 1681511377), mustbe.Get(rows.ToBytes())(t)...)
		data = binary.BigEndian.AppendUint32(append(data, bitmap...), crc32.ChecksumIEEE(bitmap))
		mustbe.Do(t, os.WriteFile(at("t/"+path+".bin"), data, 0o600))
		vector := map[string]any{"storageType": "p", "pathOrInlineDv": "file://" + at("t/"+path+".bin"), "offset": 1, "sizeInBytes": len(bitmap), "cardinality": rows.GetCardinality()}
		size := mustbe.Get(os.Stat(at("t/" + path)))(t).Size()
		for _, action := range []any{
			map[string]any{"remove": map[string]any{"path": path, "dataChange": true}},
			map[string]any{"add": map[string]any{"path": path, "partitionValues": map[string]any{}, "size": size, "modificationTime": 1, "dataChange": true, "deletionVector": vector}},
		} {
			commit += string(mustbe.Get(json.Marshal(action))(t)) + "\n"
		}
	}
	write(t, at("t/_delta_log/00000000000000000001.json"), commit)
	for _, flags := range [][]string{nil, {"--where", "b > 20 and note = 'x'"}, {"--sample", "700", "--seed", "4", "--method", "udfs", "--clusters", "3"}, {"--method", "sfufs", "--clusters", "3", "--anchors", "50"}} {
		flags = append([]string{"-k", "3", "--missing", "mean"}, flags...)
		got, want := selection(t, append(flags, at("t"))...), selection(t, append(flags, left("t"))...)
		gotText, wantText := mustbe.Get(json.Marshal(got.Selected))(t), mustbe.Get(json.Marshal(want.Selected))(t)
		if string(gotText) != string(wantText) {
			t.Errorf("select %v: got %s, want %s", flags, gotText, wantText)
		}
	}
	want := selection(t, left("t"), "-k", "3", "--missing", "mean", "--method", "greedy")
	must(t, "plan", at("t"), "--missing", "mean", "-o", at("job.plan.json"))
	for i := range 2 {
		must(t, "scan", "--plan", at("job.plan.json"), "--shard", fmt.Sprintf("%d/2", i+1), "-o", at(fmt.Sprintf("%d.ufs", i)))
	}
	must(t, "merge", at("0.ufs"), at("1.ufs"), "-o", at("all.ufs"))
	must(t, "convert", at("t"), "-o", at("left.parquet"))
	must(t, "convert", left("t"), "-o", left("left.parquet"))
	if string(mustbe.Get(os.ReadFile(at("left.parquet")))(t)) != string(mustbe.Get(os.ReadFile(left("left.parquet")))(t)) {
		t.Error("convert writes other bytes than for the rows that are left")
	}
	for _, input := range [][]string{{"--plan", at("job.plan.json")}, {"--stats", at("all.ufs")}, {at("left.parquet"), "--missing", "mean"}} {
		got := selection(t, append(input, "--method", "greedy", "-k", "3")...)
		if !slices.Equal(names(got), names(want)) {
			t.Errorf("select %v: got %v, want %v", input, names(got), names(want))
		}
	}
	const condition = "b < 50"
	must(t, "select", left("t"), "-k", "3", "--missing", "mean", "--method", "greedy", "-o", at("s.json"))
	must(t, "plan", at("t"), "--where", condition, "-o", at("some.plan.json"))
	for _, verb := range [][]string{{"apply", "--selection", at("s.json"), "--also", "note"}, {"convert"}} {
		must(t, append(verb, left("t"), "--where", condition, "-o", left("some.parquet"))...)
		want := string(mustbe.Get(os.ReadFile(left("some.parquet")))(t))
		for _, input := range [][]string{{at("t"), "--where", condition}, {"--plan", at("some.plan.json")}} {
			must(t, slices.Concat(verb, input, []string{"-o", at("some.parquet")})...)
			if string(mustbe.Get(os.ReadFile(at("some.parquet")))(t)) != want {
				t.Errorf("%v %v writes other rows than of the rows that are left", verb, input)
			}
		}
	}
	ends(t, exit.Usage, "DuckDB does not read Parquet with deleted rows", "apply", at("t"), "--selection", at("s.json"), "--format", "sql")
}

// mapDelta gives the planted table below at("t") a mode of column mapping.
func mapDelta(t *testing.T, at func(string) string, mode string) {
	t.Helper()
	path := at("t/_delta_log/00000000000000000000.json")
	log := string(mustbe.Get(os.ReadFile(path))(t))
	log = strings.Replace(log, `"configuration":{}`, `"configuration":{"delta.columnMapping.mode":"`+mode+`"}`, 1)
	write(t, path, strings.Replace(log, `"readerFeatures":["typeWidening"]`, `"readerFeatures":["typeWidening","columnMapping"]`, 1))
}

// TestDeltaColumnMapping: a table whose columns were renamed (a and b have exchanged their names), dropped (a column
// whose physical name is x now) and added, also inside structs and lists, is the same as a plain table that DuckDB
// writes from the same rows: for select, plan, shards, apply, convert and conditions, by physical names and by ids.
func TestDeltaColumnMapping(t *testing.T) {
	column := func(name, physical string, id int, typ string) string {
		return fmt.Sprintf(`%s {"mapped":true,"type":%s,"id":%d,"physical":%q}`, name, typ, id, physical)
	}
	inner := func(name, physical string, id int, typ string) string {
		return fmt.Sprintf(`{"name":%q,"type":%s,"nullable":true,"metadata":{"delta.columnMapping.id":%d,"delta.columnMapping.physicalName":%q}}`, name, typ, id, physical)
	}
	structure := func(fields ...string) string {
		return `{"type":"struct","fields":[` + strings.Join(fields, ",") + `]}`
	}
	schema := []string{
		column("a", "b", 2, `"double"`), column("b", "a", 1, `"double"`), column("x", "p3", 3, `"long"`), column("day", "p4", 4, `"integer"`),
		column("s", "p5", 5, structure(inner("u", "v", 7, `"double"`), inner("v", "u", 6, `"double"`), inner("new", "p8", 8, `"double"`))),
		column("l", "p9", 9, `{"type":"array","elementType":"long","containsNull":true}`), column("added", "p10", 10, `"double"`),
		column("ls", "p11", 11, `{"type":"array","elementType":`+structure(inner("q", "r", 12, `"long"`))+`,"containsNull":true}`),
		column("never", "p13", 13, `"double"`),
	}
	old := `SELECT sin(i) AS a, cos(i) AS b, (i % 7)::INT AS p3, i * 100 AS x, {'u': i * 0.5::DOUBLE, 'v': sin(3 * i), 'gone': i} AS p5,
		[i, i * i % 5]::BIGINT[] AS p9, [{'gone': i, 'r': i % 3}] AS p11 FROM range(60) r(i)`
	late := `SELECT tan(i) AS p10, [i + 1, i % 4]::BIGINT[] AS p9, i % 5 AS p3, sin(i * i) AS b, cos(i * i) AS a, {'p8': i * 1.5::DOUBLE, 'v': i % 8::DOUBLE, 'u': i % 9::DOUBLE} AS p5, [{'r': i}] AS p11 FROM range(50) r(i)`
	ids := []string{
		"a: 1, b: 2, p3: 3, x: 99, p5: {__duckdb_field_id: 5, u: 6, v: 7, gone: 98}, p9: {__duckdb_field_id: 9, element: 100}, p11: {__duckdb_field_id: 11, element: {__duckdb_field_id: 101, gone: 97, r: 12}}",
		"p10: 10, p9: {__duckdb_field_id: 9, element: 100}, p3: 3, b: 2, a: 1, p5: {__duckdb_field_id: 5, p8: 8, v: 7, u: 6}, p11: {__duckdb_field_id: 11, element: {__duckdb_field_id: 101, r: 12}}",
	}
	const plain = `SELECT b AS a, a AS b, p3::BIGINT AS x, 1::INT AS day, p5.v AS "s.u", p5.u AS "s.v", NULL::DOUBLE AS "s.new", p9 AS l, NULL::DOUBLE AS added FROM (%s)
		UNION ALL BY NAME SELECT b AS a, a AS b, p3::BIGINT AS x, 2::INT AS day, p5.v AS "s.u", p5.u AS "s.v", p5.p8 AS "s.new", p9 AS l, p10 AS added FROM (%s)`
	for _, mode := range []string{"name", "id"} {
		at := plantDelta(t, schema, []string{"day"},
			dataFile{at: "t/a.parquet", query: old, ids: ids[0], values: map[string]any{"p4": "1"}},
			dataFile{at: "t/b.parquet", query: late, ids: ids[1], values: map[string]any{"p4": "2"}})
		mapDelta(t, at, mode)
		db := duckdbtest.StartSession(t, at(""))
		if r := duckdbtest.QuerySession(t, db, fmt.Sprintf("COPY ("+plain+") TO 'plain.parquet' (FORMAT parquet)", old, late)); r.Error != "" {
			t.Fatalf("got error %s, want none", r.Error)
		}
		flags := []string{"--missing", "mean", "-k", "6", "--method", "greedy"}
		summary := func(s *stream.Selection) (text string) {
			for _, f := range s.Selected {
				text += fmt.Sprintf("%s %.9g\n", f.Name, f.Score)
			}
			return text
		}
		for _, where := range [][]string{nil, {"--where", "a > 0.1 and x < 4"}, {"--where", "day = 2"}, {"--where", "s.new is null"}} {
			got := summary(selection(t, append(append([]string{at("t"), "--exclude", "never,day"}, flags...), where...)...))
			want := summary(selection(t, append(append([]string{at("plain.parquet"), "--exclude", "day"}, flags...), where...)...))
			if got != want {
				t.Errorf("mode %s, %v: got\n%swant\n%s", mode, where, got, want)
			}
		}
		whole := summary(selection(t, append([]string{at("t"), "--exclude", "never"}, flags...)...))
		must(t, "plan", at("t"), "--missing", "mean", "--exclude", "never", "-o", at("job.plan.json"))
		if got := summary(selection(t, append([]string{"--plan", at("job.plan.json")}, flags[2:]...)...)); got != whole {
			t.Errorf("mode %s, by the plan: got\n%swant\n%s", mode, got, whole)
		}
		for i := range 2 {
			must(t, "scan", "--plan", at("job.plan.json"), "--shard", fmt.Sprintf("%d/2", i+1), "-o", at(fmt.Sprintf("%d.ufs", i)))
		}
		must(t, "merge", at("0.ufs"), at("1.ufs"), "-o", at("all.ufs"))
		if got := summary(selection(t, append([]string{"--stats", at("all.ufs")}, flags[2:]...)...)); got != whole {
			t.Errorf("mode %s, by shards: got\n%swant\n%s", mode, got, whole)
		}
		must(t, "select", at("t"), "--missing", "mean", "-k", "4", "--method", "greedy", "--columns", "a,b,x,s.v", "-o", at("sel.json"))
		must(t, "apply", at("t"), "--selection", at("sel.json"), "--also", "day,s.u,s.new,added", "-o", at("out.parquet"))
		columns := `a, b, x, "s.v", day, "s.u", "s.new", added`
		same(t, db, "SELECT "+columns+" FROM 'out.parquet' ORDER BY ALL", "SELECT "+columns+" FROM 'plain.parquet' ORDER BY ALL")
		must(t, "convert", at("t"), "-o", at("copy"))
		same(t, db, "SELECT a, b, x, s.u AS u, s.v AS v, l, added, ls[1].q AS q FROM 'copy/a.parquet' ORDER BY ALL",
			fmt.Sprintf("SELECT b AS a, a AS b, p3::BIGINT AS x, p5.v AS u, p5.u AS v, p9 AS l, NULL::DOUBLE AS added, p11[1].r AS q FROM (%s) ORDER BY ALL", old))
		same(t, db, "SELECT a, b, x, s.u AS u, s.v AS v, s.new AS new, l, added, ls[1].q AS q FROM 'copy/b.parquet' ORDER BY ALL",
			fmt.Sprintf("SELECT b AS a, a AS b, p3::BIGINT AS x, p5.v AS u, p5.u AS v, p5.p8 AS new, p9 AS l, p10 AS added, p11[1].r AS q FROM (%s) ORDER BY ALL", late))
		same(t, db, "SELECT column_name, column_type FROM (DESCRIBE FROM 'copy/a.parquet') WHERE column_name IN ('s', 'ls', 'x') ORDER BY ALL",
			`SELECT * FROM (VALUES ('ls', 'STRUCT(q BIGINT)[]'), ('s', 'STRUCT(v DOUBLE, u DOUBLE)'), ('x', 'BIGINT')) t(column_name, column_type) ORDER BY ALL`)
		ends(t, exit.Usage, "column mapping", "apply", at("t"), "--selection", at("sel.json"), "--format", "sql")
	}
}

// TestDeltaFilesWithoutIDs: a file without field ids is refused if the table finds columns by them.
func TestDeltaFilesWithoutIDs(t *testing.T) {
	at := plantDelta(t, []string{`a {"mapped":true,"type":"double","id":1,"physical":"a"}`}, nil, dataFile{at: "t/odd.parquet", query: "SELECT sin(i) AS a FROM range(9) r(i)"})
	mapDelta(t, at, "id")
	ends(t, exit.Data, "odd.parquet: does not fit the schema of its table: its columns have no field ids", "inspect", at("t"))
}
