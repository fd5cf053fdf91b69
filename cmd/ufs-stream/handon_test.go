package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/duckdb"
	"github.com/ufs-stream/ufs-stream/internal/testing/duckdbtest"
)

// hostileData has DuckDB write a folder of two days whose columns have names and types of every
// kind, and returns the temporary folder around it.
func hostileData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	r := duckdbtest.RunQuery(t, dir, `
		SET threads = 1;
		CREATE TABLE d AS SELECT
			sin(i) AS "a""b", cos(3*i) AS "select", (i * 7 % 11)::TINYINT AS "it's", sin(i*i) AS "line
break", (i % 13)::DECIMAL(9,2) AS "ünï 🙂", tan(i) AS "a.b", i * 1.5 AS "back`+"`"+`tick\", sqrt(i) AS "c[0]",
			{'lat': sin(5*i), 'lo.n': cos(7*i), 'v': [sin(11*i), cos(11*i)]} AS geo,
			[sin(i), NULL, i % 5, cos(2*i)]::FLOAT[] AS emb,
			CASE i % 4 WHEN 0 THEN '' WHEN 1 THEN '=1+1, "x"' WHEN 2 THEN ' spaced ' END AS note,
			DATE '2026-01-01' + i::INT AS at, TIMESTAMP '2026-01-01 10:00:00' + INTERVAL (i * 1001) MILLISECOND AS stamp,
			TIME '00:00:00' + INTERVAL (i) MINUTE AS clock, i % 3 = 0 AS flag, (i * 1e30)::HUGEINT::DECIMAL(38,3) / 7 AS ratio,
			uuid5::UUID AS id, CASE WHEN i % 9 = 0 THEN 'inf' WHEN i % 9 = 1 THEN '-0.0' WHEN i % 9 = 2 THEN 'nan' ELSE i / 3 END::DOUBLE AS odd,
			(i % 2 + 1)::INT AS day
		FROM (SELECT i, format('00000000-0000-4000-8000-{:012d}', i) AS uuid5 FROM range(200) r(i));
		COPY d TO 'data' (FORMAT parquet, PARTITION_BY (day));
		SELECT 1`)
	if r.Error != "" {
		t.Fatalf("DuckDB refuses the data: %s", r.Error)
	}
	return dir
}

// same wants that two queries give the same rows in the same order, with columns of the same names.
func same(t *testing.T, db *duckdb.Session, a, b string) {
	t.Helper()
	const inOrder = "SET threads = 1;\n" // with more, the rows of several files of text come as they are ready
	x, y := duckdbtest.QuerySession(t, db, inOrder+a), duckdbtest.QuerySession(t, db, b)
	if x.Error != "" || y.Error != "" || len(x.Rows) == 0 {
		t.Fatalf("%d rows; %s\n%s\n%s", len(x.Rows), x.Error, y.Error, a)
	}
	if !slices.Equal(x.Columns, y.Columns) || len(x.Rows) != len(y.Rows) {
		t.Fatalf("%d rows of %q\n%d rows of %q", len(x.Rows), x.Columns, len(y.Rows), y.Columns)
	}
	for i := range x.Rows {
		if !slices.EqualFunc(x.Rows[i], y.Rows[i], func(p, q *string) bool { return p == q || p != nil && q != nil && *p == *q }) {
			t.Fatalf("row %d is %s, want %s:\n%s", i, quotedRow(x.Rows[i]), quotedRow(y.Rows[i]), a)
		}
	}
}

// quotedRow is a row as a message shows it.
func quotedRow(row []*string) string {
	var list []string
	for _, v := range row {
		if v == nil {
			list = append(list, "null")
			continue
		}
		list = append(list, strconv.Quote(*v))
	}
	return strings.Join(list, ", ")
}

// TestQueriesAreWhatApplyWrites: the query of select, and that of apply, give in DuckDB what apply
// writes as Parquet, of columns with names and places of all kinds.
func TestQueriesAreWhatApplyWrites(t *testing.T) {
	dir := hostileData(t)
	data, files := filepath.Join(dir, "data"), filepath.Join(dir, "data", "*", "*.parquet")
	chosen, out := filepath.Join(dir, "sel.json"), filepath.Join(dir, "out.parquet")
	flags := []string{"select", data, "--missing", "mean", "-k", "12", "--method", "greedy", "--exclude", "day,at,odd,ratio,emb[1]"}
	must(t, append(flags, "-o", chosen)...)
	must(t, "apply", files, "--selection", chosen, "-o", out)
	db := duckdbtest.StartSession(t, dir)
	same(t, db, must(t, append(flags, "--format", "sql")...), "FROM 'out.parquet'")
	same(t, db, must(t, "apply", data, "--selection", chosen, "--format", "sql"), "FROM 'out.parquet'")
	must(t, "apply", files, "--selection", chosen, "--also", "emb,note,day,geo,it's", "-o", out)
	same(t, db, must(t, "apply", data, "--selection", chosen, "--also", "emb,note,day,geo,it's", "--format", "sql"), "FROM 'out.parquet'")
	// The same from statistics, which know the files by their paths.
	stats := filepath.Join(dir, "all.ufs")
	must(t, "scan", data, "--missing", "mean", "--exclude", "day,at,odd,ratio,emb[1]", "-o", stats)
	must(t, "apply", files, "--selection", chosen, "-o", out)
	same(t, db, must(t, "select", "--stats", stats, "-k", "12", "--method", "greedy", "--format", "sql"), "FROM 'out.parquet'")
}

// TestFormsHoldTheSameValues: what apply writes as CSV and as Arrow are the values that it writes as
// Parquet, of every type that DuckDB writes; a null stays one, and an empty text.
func TestFormsHoldTheSameValues(t *testing.T) {
	dir := hostileData(t)
	data, files, chosen := filepath.Join(dir, "data"), filepath.Join(dir, "data", "*", "*.parquet"), filepath.Join(dir, "sel.json")
	must(t, "select", data, "--missing", "mean", "-k", "6", "--exclude", "day,odd", "-o", chosen)
	at := func(name string) string { return filepath.Join(dir, name) }
	also := "note,at,stamp,clock,flag,ratio,id,odd,day,emb[1]"
	for _, out := range []string{"p.parquet", "c.csv", "c.csv.gz", "c.csv.zst", "c.arrow"} {
		must(t, "apply", files, "--selection", chosen, "--also", also, "-o", at(out))
	}
	must(t, "apply", at("c.arrow"), "--selection", chosen, "--also", also, "-o", at("a.parquet"))
	db := duckdbtest.StartSession(t, dir)
	for _, back := range []string{
		"COPY c FROM 'c.csv' (HEADER, allow_quoted_nulls false)",
		"COPY c FROM 'c.csv.gz' (HEADER, allow_quoted_nulls false)",
		"COPY c FROM 'c.csv.zst' (HEADER, allow_quoted_nulls false)",
		"INSERT INTO c FROM 'a.parquet'",
	} {
		r := duckdbtest.QuerySession(t, db, `CREATE OR REPLACE TABLE p AS FROM 'p.parquet'; CREATE OR REPLACE TABLE c AS FROM p LIMIT 0; `+back+`;
			SELECT (SELECT count(*) FROM c), (SELECT count(*) FROM (FROM p EXCEPT ALL FROM c)), (SELECT count(*) FROM c WHERE note = ''), (SELECT count(*) FROM c WHERE note IS NULL),
			(SELECT count(*) FROM c WHERE odd::VARCHAR = '-0.0')`)
		if r.Error != "" || *r.Rows[0][0] != "200" || *r.Rows[0][1] != "0" || *r.Rows[0][2] != "50" || *r.Rows[0][3] != "50" || *r.Rows[0][4] == "0" {
			t.Errorf("reading back %s: DuckDB's error %q, counts %v", back, r.Error, r.Rows)
		}
	}
	// A folder keeps its layout, and the rows are the same for any memory limit and threads.
	must(t, "apply", data, "--selection", chosen, "--also", also, "--format", "csv", "-o", at("days"))
	must(t, "apply", files, "--selection", chosen, "--also", also, "-o", at("d.csv"), "--memory-limit", "128MiB", "--threads", "1")
	if read(t, at("c.csv")) != read(t, at("d.csv")) {
		t.Error("another file within 128 MiB")
	}
	for _, out := range []string{"whole.csv", "whole.arrow"} {
		ends(t, exit.Usage, "--also geo: whole lists, maps and structs are written as Parquet only", "apply", files, "--selection", chosen, "--also", "geo", "-o", at(out))
		if left, err := filepath.Glob(at("*whole*")); err != nil || left != nil {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
	r := duckdbtest.QuerySession(t, db, "SELECT count(*) FROM read_csv('days/day=*/*.csv')")
	if r.Error != "" || *r.Rows[0][0] != "200" {
		t.Errorf("reading back the CSV partitions: DuckDB's error %q, rows %v, want 200", r.Error, r.Rows)
	}
}

// TestRecipesForPython: the names come back as they are from Python, and from YAML where Python has a
// reader of it.
func TestRecipesForPython(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not on PATH, and this test runs what --format py writes")
	}
	dir := hostileData(t)
	data := filepath.Join(dir, "data")
	flags := []string{"select", data, "--missing", "mean", "-k", "12", "--exclude", "day"}
	names := strings.Split(must(t, append(flags, "--format", "sql", "--from", "t")...), "\n")
	if names[len(names)-2] != "FROM t;" {
		t.Errorf("the query ends with %q", names[len(names)-2])
	}
	var selected struct{ Selected []struct{ Name string } }
	if err := json.Unmarshal([]byte(must(t, append(flags, "--format", "json")...)), &selected); err != nil {
		t.Fatalf("decoding the output: %v", err)
	}
	var want []string
	for _, s := range selected.Selected {
		want = append(want, s.Name)
	}
	python := func(program, input string) (got []string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "python3", "-c", program)
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "No module named 'yaml'") {
			t.Skip("Python has no yaml here, and nothing else reads YAML")
		}
		if err == nil {
			err = json.Unmarshal(out, &got)
		}
		if err != nil {
			t.Fatalf("running the recipe: %v\n%s\n%s", err, out, input)
		}
		return got
	}
	// A stand-in for pyarrow hands the columns that are read back.
	const standIn = `
import json, sys, types
class Any:
    def __init__(self, log): self.log = log
    def dataset(self, paths, **_): assert len(paths) == 2, paths; return self
    def to_table(self, columns): self.log.extend(columns); return self
    def to_pandas(self): return self
    def field(self, *path): return path
    def list_element(self, field, i): assert isinstance(i, int); return field
log = []
for name in ("pyarrow", "pyarrow.dataset", "pyarrow.compute"): sys.modules[name] = Any(log)
sys.modules["pyarrow"].dataset = sys.modules["pyarrow.dataset"]
sys.modules["pyarrow"].compute = sys.modules["pyarrow.compute"]
import os; os.chdir(sys.argv[1]) if len(sys.argv) > 1 else None
scope = {}
exec(sys.stdin.read(), scope)
assert scope["columns"] == log, (scope["columns"], log)
print(json.dumps(scope["columns"]))`
	if got := python(standIn, must(t, append(flags, "--format", "py")...)); !slices.Equal(got, want) {
		t.Errorf("Python reads %q, want %q", got, want)
	}
	if got := python(`import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)["columns"]))`, must(t, append(flags, "--format", "yaml")...)); !slices.Equal(got, want) {
		t.Errorf("YAML reads %q, want %q", got, want)
	}
}

// TestRecipesRefuse: what cannot be handed on says why, before anything is written.
func TestRecipesRefuse(t *testing.T) {
	dir, paths := plant(t, 300, 1)
	chosen := filepath.Join(dir, "sel.json")
	must(t, "select", paths[0], "-k", "3", "-o", chosen)
	apply := "apply " + paths[0] + " --selection " + chosen
	checkAll(t, []outcome{
		{apply + " --format sqk", exit.Usage, "did you mean sql?"},
		{apply + " --format sql --where p0>1", exit.Usage, "put the condition into the query"},
		{apply + " --format sql --dialect mysql", exit.Usage, "want duckdb, spark, bigquery"},
		{apply + " --format csv --dialect spark -o x.csv", exit.Usage, "--dialect is for --format sql"},
		{apply + " --format csv -o x.arrow", exit.Usage, "name it x.csv"},
		{apply + " -o x.tsv", exit.Usage, "OUT is Parquet, Arrow or CSV"},
		{apply + " --format csv", exit.Usage, "add -o OUT"},
		{"select " + paths[0] + " --dialect spark", exit.Usage, "--dialect is for --format sql"},
	}, dir)
}
