package recipe

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// sample has a column of every kind of place, with names that want quoting.
func sample(dialect string) *Recipe {
	return &Recipe{
		Selection: &stream.Selection{Method: "greedy", Features: 9},
		Columns: []Column{
			columnAt("x", -1, "x"), columnAt("a`b\\", -1, "a`b\\"), columnAt(`say "hi"`, -1, `say "hi"`),
			columnAt("geo.l'at", -1, "geo", "l'at"), columnAt("emb[3]", 3, "emb"), columnAt("s.v[0]", 0, "s", "v"),
			columnAt("emb_3", -1, "emb_3"), columnAt("9 lives", -1, "9 lives"),
		},
		Dialect: dialect, Batches: []chunkio.Batch{{Files: []string{"it's/a=1/*.parquet"}, Format: "Parquet", Values: make([]chunkio.Value, 8)}},
	}
}

func columnAt(name string, element int, path ...string) Column {
	return Column{Name: name, Path: path, Element: element}
}

// TestDialects: names in each dialect's quotes, lists from each one's base, and results named as BigQuery takes them.
func TestDialects(t *testing.T) {
	for dialect, want := range map[string]string{
		"duckdb": `-- the 8 columns that ufs-stream chose from 9 features, in the order of their ranks
SELECT
  "x",
  "a` + "`" + `b\",
  "say ""hi""",
  struct_extract("geo", 'l''at') AS "geo.l'at",
  "emb"[4] AS "emb[3]",
  struct_extract("s", 'v')[1] AS "s.v[0]",
  "emb_3",
  "9 lives"
FROM read_parquet('it''s/a=1/[*].parquet', hive_partitioning = false);
`,
		"spark": `-- the 8 columns that ufs-stream chose from 9 features, in the order of their ranks
-- put the name of your table in place of input
SELECT
  ~x~,
  ~a~~b\~,
  ~say "hi"~,
  ~geo~.~l'at~ AS ~geo.l'at~,
  ~emb~[3] AS ~emb[3]~,
  ~s~.~v~[0] AS ~s.v[0]~,
  ~emb_3~,
  ~9 lives~
FROM input;
`,
		"bigquery": `-- the 8 columns that ufs-stream chose from 9 features, in the order of their ranks
-- put the name of your table in place of input
SELECT
  ~x~,
  ~a\~b\\~ AS ~a_b~,
  ~say "hi"~ AS ~say__hi~,
  ~geo~.~l'at~ AS ~geo_l_at~,
  ~emb~[OFFSET(3)] AS ~emb_3~,
  ~s~.~v~[OFFSET(0)] AS ~s_v_0~,
  ~emb_3~ AS ~emb_3_2~,
  ~9 lives~ AS ~_9_lives~
FROM input;
`,
	} {
		var b strings.Builder
		if err := sample(dialect).Write(&b, "sql"); err != nil || b.String() != strings.ReplaceAll(want, "~", "`") {
			t.Errorf("%s: error %v; got\n%s\nwant\n%s", dialect, err, b.String(), want)
		}
	}
}

// TestFilesInStores: DuckDB's own spelling of stores, and its requirements for them; settings that a query
// cannot express are refused.
func TestFilesInStores(t *testing.T) {
	for url, want := range map[string]string{
		"s3://b/k.parquet":                           "-- DuckDB reads s3:// with its extension httpfs, and the credentials of a secret: CREATE SECRET (TYPE s3, …)\n|FROM read_parquet('s3://b/k.parquet');\n",
		"gs://b/k.parquet":                           "(TYPE gcs, …)\n|FROM read_parquet('gs://b/k.parquet');\n",
		"azblob://c/k.parquet":                       "-- DuckDB reads az:// with its extension azure, and the credentials of a secret: CREATE SECRET (TYPE azure, …)\n|FROM read_parquet('az://c/k.parquet');\n",
		"https://h.example/k.parquet":                "-- DuckDB reads it with its extension httpfs\n|FROM read_parquet('https://h.example/k.parquet');\n",
		"s3://b/k.parquet?endpoint=http://127.0.0.1": "s3://b/k.parquet?endpoint=http://127.0.0.1 is read with endpoint, which a query cannot pass to DuckDB",
		"https://h.example/k.parquet?sig=abc":        "https://h.example/k.parquet is read with a query",
	} {
		r := &Recipe{
			Selection: new(stream.Selection), Columns: []Column{columnAt("x", -1, "x")}, Dialect: "duckdb",
			Batches: []chunkio.Batch{{Files: []string{url}, Format: "Parquet", Values: make([]chunkio.Value, 1)}},
		}
		var b strings.Builder
		if err := r.Write(&b, "sql"); err != nil {
			b.WriteString(err.Error())
		}
		for part := range strings.SplitSeq(want, "|") {
			if !strings.Contains(b.String(), part) || strings.Contains(b.String(), "abc") {
				t.Errorf("%s: got %s, want %s", url, b.String(), part)
			}
		}
	}
}

// TestRefusals: names that SQL cannot tell apart, or that no text can hold, are refused.
func TestRefusals(t *testing.T) {
	r := sample("duckdb")
	r.Selection.LeftOut = []stream.LeftOut{{Name: "EMB_3"}}
	if err := r.Write(new(strings.Builder), "sql"); err == nil || !strings.Contains(err.Error(), `"emb_3" and "EMB_3"`) {
		t.Errorf("names that differ in case: got %v", err)
	}
	if err := r.Write(new(strings.Builder), "yaml"); err != nil {
		t.Errorf("writing YAML: %v", err)
	}
	nul := sample("spark")
	nul.Columns[1].Path = []string{"a", "b\x00"}
	if err := nul.Write(new(strings.Builder), "sql"); err == nil || !strings.Contains(err.Error(), "NUL") {
		t.Errorf("a field with a NUL: %v", err)
	}
	nul.Columns[1] = columnAt("a\x00", -1, "a\x00")
	if err := nul.Write(new(strings.Builder), "sql"); err == nil || !strings.Contains(err.Error(), `"a\x00"`) {
		t.Errorf("a column with a NUL: %v", err)
	}
	r.Columns[0].Name = "\xff"
	for _, format := range Formats() {
		if err := r.Write(new(strings.Builder), format); err == nil || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("%s with a name that is no UTF-8: got %v", format, err)
		}
	}
}

// TestYAMLNames: every name comes back from its line by Go's own rules for quotes, and stays on it.
func TestYAMLNames(t *testing.T) {
	names := []string{"plain", "a: b", "- c", "line\nbreak\u2028\u0085", "\x00\x7f\ufeff", "🙂", `"quoted" \ `}
	r := sample("")
	r.Columns = nil
	for _, name := range names {
		r.Columns = append(r.Columns, columnAt(name, -1, name))
	}
	var b strings.Builder
	if err := r.Write(&b, "yaml"); err != nil {
		t.Fatalf("writing YAML: %v", err)
	}
	_, list, _ := strings.Cut(b.String(), "columns:\n")
	for i, line := range strings.Split(strings.TrimSuffix(list, "\n"), "\n") {
		if got, err := strconv.Unquote(strings.TrimPrefix(line, "  - ")); err != nil || got != names[i] {
			t.Errorf("%q came back as %q, %v", names[i], got, err)
		}
	}
}

// TestSums: in each dialect the query has the strings, names and the way to make rows of an array that are its own, and
// a row for each of three pairs.
func TestSums(t *testing.T) {
	for dialect, parts := range map[string][]string{
		"duckdb":     {`CAST("it's" AS DOUBLE) AS r0`, `unnest([`, `{'x': 'it''s', 'y': 'it''s', 'total': total, 'n': n0_0`, "FROM lake.t\n"},
		"spark":      {"CAST(`it's` AS DOUBLE) AS r0", "inline(array(", `named_struct('x', 'it\'s', 'y', 'b\\', 'total', total, 'n', n0_1`},
		"bigquery":   {"CAST(`it_s` AS FLOAT64) AS r0", "CROSS JOIN UNNEST([", "STRUCT('it\\'s' AS `x`, 'b\\\\' AS `y`, total AS `total`"},
		"snowflake":  {`CAST("it's" AS DOUBLE) AS r0`, "UNION ALL SELECT 'it\\'s' AS \"x\", 'b\\\\' AS \"y\"", `shift1 AS "shift_y"`},
		"clickhouse": {"CAST(`it's` AS Nullable(Float64)) AS r0", "arrayJoin([", `('it\'s', 'b\\', total, n0_1, shift0, shift1, x0_1, y0_1, p0_1, low0, high0)`},
	} {
		r := &Recipe{Selection: new(stream.Selection), Columns: []Column{columnAt("it's", -1, "it's"), columnAt("b\\", -1, "b\\")}, Dialect: dialect, Table: "lake.t"}
		var b strings.Builder
		must.Do(t, WriteSums(&b, r))
		for _, part := range parts {
			if !strings.Contains(b.String(), part) {
				t.Errorf("%s: no %q in\n%s", dialect, part, b.String())
			}
		}
		for _, pair := range []string{"p0_0", "p0_1", "p1_1"} {
			if n := strings.Count(b.String(), pair); n != 2 {
				t.Errorf("%s: %s is there %d times, want its sum and its row", dialect, pair, n)
			}
		}
	}
}
