package main

import (
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/duckdb"
	"github.com/ufs-stream/ufs-stream/internal/testing/duckdbtest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	mustbe "github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// fileIn writes a file in a folder that may not be there yet, compressed as its name, or the third argument, says.
func fileIn(t *testing.T, path, text string, packing ...string) string {
	t.Helper()
	mustbe.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	f := mustbe.Get(os.Create(path))(t)
	defer f.Close()
	switch end := strings.Join(append(packing, filepath.Ext(path))[:1], ""); end {
	case ".gz":
		w := gzip.NewWriter(f)
		mustbe.Get(w.Write([]byte(text)))(t)
		mustbe.Do(t, w.Close())
	case ".zst":
		w := mustbe.Get(zstd.NewWriter(f))(t)
		mustbe.Get(w.Write([]byte(text)))(t)
		mustbe.Do(t, w.Close())
	default:
		mustbe.Get(f.WriteString(text))(t)
	}
	return path
}

// numbersIn is a text of 60 rows of three numbers, which begins with a row, and one of every mark in the first column.
func numbersIn(first, separator string, marks ...string) string {
	var b strings.Builder
	b.WriteString(first)
	for i := range 60 {
		a := fmt.Sprint(math.Sin(float64(3 * i)))
		if len(marks) > 0 && i%9 == 4 {
			a = marks[i/9%len(marks)]
		}
		fmt.Fprintf(&b, "%s\n", strings.Join([]string{a, fmt.Sprint(i * 7 % 11), fmt.Sprint(math.Cos(float64(i * i)))}, separator))
	}
	return b.String()
}

// duckDBCase is an input that DuckDB reads by itself.
type duckDBCase struct {
	name  string
	make  func(t *testing.T, at func(string) string) []string // the input's arguments
	flags []string                                            // of select
	also  string
}

// textCases are CSV, TSV and NDJSON.
func textCases() []duckDBCase {
	one := func(name, text string, packing ...string) func(*testing.T, func(string) string) []string {
		return func(t *testing.T, at func(string) string) []string {
			return []string{fileIn(t, at(name), text, packing...)}
		}
	}
	marks := []string{"", "NA", " null\t", "None", "NaN", "N/A"}
	return []duckDBCase{
		{name: "a header", make: one("x.csv", numbersIn("a,b,c\n", ",", marks...))},
		{name: "no header", make: one("x.csv", numbersIn("", ","))},
		{name: "no header, and missing values", make: one("x.csv", numbersIn("1.5,2.5,3.5\n", ",", marks...))},
		{name: "columns without a name", make: one("x.csv", numbersIn(",b,\n", ","))},
		{name: "a column of pandas' index", make: one("x.csv", numbersIn(",c0,c1\n", ","))},
		{name: "tabs", make: one("x.tsv", numbersIn("a\tb\tc\n", "\t", "", "NULL"))},
		{name: "semicolons and blanks", make: one("x.csv", numbersIn("a; b ;c\n", "; ", marks...))},
		{name: "a byte order mark and carriage returns", make: one("x.csv", "\xEF\xBB\xBF"+strings.ReplaceAll(numbersIn("a|b|c\n", "|", marks...), "\n", "\r\n"))},
		{name: "blank lines", make: one("x.csv", strings.ReplaceAll(numbersIn("a,b,c\n", ","), "\n", "\n\n"))},
		{name: "gzip", make: one("x.csv.gz", numbersIn("a,b,c\n", ","))},
		{name: "zstd", make: one("x.tsv.zst", numbersIn("a\tb\tc\n", "\t"))},
		{name: "gzip by its bytes", make: one("x.csv", numbersIn("a,b,c\n", ","), ".gz")},
		{name: "names that want quoting", make: one("x.csv", numbersIn("\"it's\",\"a \"\"b\"\"\",a.b[0]\n", ","))},
		{name: "columns of one name, which are not chosen", make: one("x.csv", "x,X,\"\",n,n\n"+strings.ReplaceAll(numbersIn("", ","), "\n", ",1,2\n")), flags: []string{"--columns", "c2"}},
		{
			name: "texts and times", also: "t,at,z,day,flag,id", flags: []string{"--columns", "a,b"},
			make: one("x.csv", "a,b,t,at,z,day,flag,id\n"+strings.Repeat(
				"1.5,2,NA,2026-01-01T10:00,2026-03-01T10:00Z,2026-01-02,True,9007199254740993\n"+
					"2.5,1, x ,2026-01-01 10:00:05.25,2026-03-01 10:00+02:00,,false,-5\n"+
					"0.5,1,\"say \"\"it\"\", then\nthat\",NA,2026-03-01T10:00:00.123456-0330,2026-01-04,NA,\n"+
					"0.5,7,,null,NULL,2026-01-04,TRUE,+7\n", 5)),
		},
		{name: "one column", make: one("x.csv", "a\n1\n\n2.5\n\"\"\nNA\n4\n\n")},
		{name: "one column of texts beside nothing", make: one("x.csv", "a,b\n1,x\n\n2.5,\n,y\n4,\"\"\n"), also: "b"},
		{name: "files whose columns stand in another order", make: func(t *testing.T, at func(string) string) []string {
			fileIn(t, at("d/1.csv"), numbersIn("a,b,c\n", ","))
			fileIn(t, at("d/2.csv"), numbersIn("c;b;a\n", ";"))
			fileIn(t, at("d/3.csv.gz"), numbersIn("a,b,c\n", ",", "NA"))
			fileIn(t, at("d/_no.csv"), numbersIn("a,b,c\n", ","))
			return []string{at("d")}
		}},
		{name: "a list, and names that are globs", make: func(t *testing.T, at func(string) string) []string {
			list := fileIn(t, at("in.txt"), fileIn(t, at("we[i]rd*.csv"), numbersIn("a,b,c\n", ","))+"\n"+fileIn(t, at("it's {a,b}?.csv"), numbersIn("a,b,c\n", ",")))
			return []string{"@" + list}
		}},
		{name: "folders of keys", flags: []string{"--columns", "a,b,year,half,kind*"}, also: "kind", make: func(t *testing.T, at func(string) string) []string {
			fileIn(t, at("year=2025/half=1.5/kind=a%2Fb/x.csv"), numbersIn("a,b,c\n", ","))
			fileIn(t, at("year=2026/half=-2/kind=NA/x.csv"), numbersIn("a,b,c\n", ",", "NA"))
			fileIn(t, at("year=2026/half=3/kind=Null/x.csv"), numbersIn("a,b,c\n", ","))
			fileIn(t, at("year=2027/half=__HIVE_DEFAULT_PARTITION__/kind=a+b/x.csv"), numbersIn("a,b,c\n", ",", "NA"))
			return []string{at("")}
		}},
		{
			name: "arrays and objects", also: "t,at,z,flag,big,twice,b[0][1]",
			make: one("n.ndjson", strings.Repeat(`{"e":[1,2.5,3],"g":{"l":[1.5,null],"o.p":{"q":1}},"t":"NA","at":"2026-01-01","z":"2026-01-01T00:00Z","flag":true,"big":9007199254740993,"twice":1,"b":[[1,2]],"a\"\\/~x":1}
{"e":[4,5,6.5],"g":{"l":[2.5,8]},"g.o":{"p.q":2},"t":null,"flag":false,"big":-1,"twice":[5],"b":[[3,4]],"a\"\\/~x":3}

{"e":[7,1,9],"at":null,"big":18,"twice":7,"b":[[5,4]],"g":{"l":[],"o":{"p":{"q":7}}},"a\"\\/~x":2}
`, 6)),
			flags: []string{"--exclude", "big,twice,flag"},
		},
		{name: "NDJSON with a mark, over several lines, compressed", make: one("n.jsonl.gz", "\xEF\xBB\xBF"+strings.Repeat("{\"a\":1,\n \"b\":2}\n{\"a\":1.5,\"b\":-2}\n{\"b\":7}\n", 9))},
	}
}

// parquetCases are files, globs, folders and tables of Parquet. Every one lies among others that are not read.
func parquetCases(db *duckdb.Session) []duckDBCase {
	const table = "(SELECT sin(3*i) AS a, i * 7 % 11 AS b, cos(i*i) AS c, {'d': [sin(5*i), i % 3]} AS g FROM range(60) r(i))"
	files := func(t *testing.T, at func(string) string, names ...string) {
		for _, name := range names {
			mustbe.Do(t, os.MkdirAll(filepath.Dir(at(name)), 0o755))
			r := duckdbtest.QuerySession(t, db, fmt.Sprintf("COPY %s TO '%s' (FORMAT parquet)", table, strings.ReplaceAll(at(name), "'", "''")))
			if r.Error != "" {
				t.Fatalf("got error %s, want none", r.Error)
			}
		}
	}
	return []duckDBCase{
		{name: "a file", make: func(t *testing.T, at func(string) string) []string {
			files(t, at, "it's [1]?.parquet", "it's 1x.parquet")
			return []string{at("it's [1]?.parquet")}
		}},
		{name: "a folder", make: func(t *testing.T, at func(string) string) []string {
			files(t, at, "d/a.parquet", "d/x/b.parquet")
			return []string{at("d")}
		}},
		{name: "a folder with files that are not read", make: func(t *testing.T, at func(string) string) []string {
			files(t, at, "d/a.parquet", "d/x/b.parquet", "d/_c.parquet", "d/.d/e.parquet")
			return []string{at("d")}
		}},
		{name: "a glob beside a hidden file", make: func(t *testing.T, at func(string) string) []string {
			files(t, at, "d/a.parquet", "d/b.parquet", "d/.c.parquet")
			return []string{at("d/*.parquet")}
		}},
		{name: "a glob of folders", make: func(t *testing.T, at func(string) string) []string {
			files(t, at, "d/a.parquet", "d/x/b.parquet", "e/x/c.parquet")
			return []string{at("{d,e}/**/*.parquet")}
		}},
		{name: "keys", flags: []string{"--columns", "a,g*,y,k=x"}, make: func(t *testing.T, at func(string) string) []string {
			files(t, at, "y=01/k%3Dx=true/a.parquet", "y=2/k%3Dx=False/b.parquet", "y=3/k%3Dx=__HIVE_DEFAULT_PARTITION__/_no.parquet", "y=3/k%3Dx=__HIVE_DEFAULT_PARTITION__/c.parquet")
			return []string{at("")}
		}},
		{name: "keys that are not asked for", make: func(t *testing.T, at func(string) string) []string {
			files(t, at, "y=1/a.parquet", "y=2/b.parquet")
			return []string{at("")}
		}},
		{name: "a file among CSV", make: func(t *testing.T, at func(string) string) []string {
			r := duckdbtest.QuerySession(t, db, "COPY (SELECT sin(3*i) AS a, cos(i) AS b, cos(i*i) AS c FROM range(60) r(i)) TO '"+at("b.parquet")+"' (FORMAT parquet)")
			fileIn(t, at("a.csv"), "a,b,c\n"+strings.Repeat("1.5,2.5,3.5\n", 5))
			fileIn(t, at("c.csv"), "a,b,c\n"+strings.Repeat("1.5,2.5,NA\n", 5))
			if r.Error != "" {
				t.Fatalf("got error %s, want none", r.Error)
			}
			return []string{at("")}
		}},
	}
}

// TestQueriesOfEveryInput: the queries of select and of apply, run in DuckDB as they are, give what apply writes,
// row by row, of every kind of input that DuckDB reads.
func TestQueriesOfEveryInput(t *testing.T) {
	db := duckdbtest.StartSession(t, t.TempDir())
	for i, c := range append(textCases(), parquetCases(db)...) {
		if !long.TakesCase(i, 2) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			at, out := folder(t), filepath.Join(t.TempDir(), "out")
			mustbe.Do(t, os.Mkdir(out, 0o755))
			input := c.make(t, at)
			chosen, copied := filepath.Join(out, "sel.json"), filepath.Join(out, "out.parquet")
			flags := append(append([]string{"--missing", "mean"}, c.flags...), input...)
			all := decoded[stream.Selection](t, "select", append(flags, "-k", "1")...)
			flags = append([]string{"select", "-k", fmt.Sprint(all.Features)}, flags...)
			must(t, append(flags, "-o", chosen)...)
			// Each file is named by itself, as a folder is written as one.
			var files []string
			for _, in := range all.Inputs {
				files = append(files, in.Path)
			}
			apply := []string{"apply", "--selection", chosen}
			must(t, append(append(apply, files...), "-o", copied)...)
			same(t, db, must(t, append(flags, "--format", "sql")...), "FROM '"+copied+"'")
			if c.also != "" {
				apply = append(apply, "--also", c.also)
				must(t, append(append(apply, files...), "-o", copied)...)
			}
			same(t, db, must(t, append(append(apply, input...), "--format", "sql")...), "FROM '"+copied+"'")
		})
	}
}

// TestQueriesOfInputsThatDuckDBDoesNotRead: in place of a query stand the reason, the exit code and the remedy, which
// is tried. What a name does not tell, the bytes do.
func TestQueriesOfInputsThatDuckDBDoesNotRead(t *testing.T) {
	at := folder(t)
	text := numbersIn("a,b,c\n", ",")
	csv := fileIn(t, at("x.csv"), text)
	must(t, "select", csv, "-k", "2", "-o", at("sel.json"))
	must(t, "apply", csv, "--selection", at("sel.json"), "-o", at("x.arrow"))
	copyOf := func(from, to string) string { return fileIn(t, to, read(t, from), ".none") }
	copyOf(at("x.arrow"), at("arrow.parquet"))
	copyOf("../../chunkio/internal/intake/testdata/hamba.avro", at("x.avro"))
	copyOf(at("x.avro"), at("avro.dat"))
	head := "{'descr': '<f8', 'fortran_order': False, 'shape': (30, 3), }"
	head += strings.Repeat(" ", (127-10-len(head)-1)%64) + "\n"
	array := "\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(head)))) + head
	for i := range 90 {
		array += string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.Sin(float64(i*i)))))
	}
	fileIn(t, at("x.npy"), array)
	fileIn(t, at("x.svm"), strings.Repeat("1 1:0.5 2:3 3:1\n2 1:2 2:1\n1 2:4 3:7\n", 9))
	db := duckdbtest.StartSession(t, at(""))
	for name, form := range map[string]string{"x.arrow": "Arrow", "arrow.parquet": "Arrow", "x.avro": "Avro", "avro.dat": "Avro", "x.npy": "NumPy arrays"} {
		ends(t, exit.Usage, fmt.Sprintf("%s: DuckDB does not read %s by itself; make Parquet of it with convert, or select FROM a table that has it with --from TABLE", at(name), form),
			"select", at(name), "-k", "1", "--missing", "mean", "--format", "sql")
		must(t, "convert", at(name), "-o", at("copy.parquet"))
		query := must(t, "select", at("copy.parquet"), "-k", "1", "--missing", "mean", "--format", "sql")
		if r := duckdbtest.QuerySession(t, db, query); r.Error != "" || len(r.Rows) == 0 {
			t.Errorf("%s as Parquet: got %d rows, error %q, want its rows", name, len(r.Rows), r.Error)
		}
		if query := must(t, "select", at(name), "-k", "1", "--missing", "mean", "--format", "sql", "--from", "lake.events"); !strings.HasSuffix(query, "FROM lake.events;\n") {
			t.Errorf("%s FROM a table: got %s", name, query)
		}
	}
	ends(t, exit.Usage, "write the chosen features dense with apply", "select", at("x.svm"), "-k", "1", "--format", "sql")
	ends(t, exit.Usage, "s3://b/k.parquet?endpoint=http://127.0.0.1:1 is read with endpoint, which a query cannot pass to DuckDB; copy it", "select", "s3://b/k.parquet?endpoint=http://127.0.0.1:1", "-k", "1", "--format", "sql")
	for _, flags := range [][]string{{"select", "-", "-k", "1"}, {"apply", "-", "--selection", at("sel.json")}} {
		ends(t, exit.Usage, "a query cannot read standard input; save it to a file", append(flags, "--format", "sql")...)
	}
}

// TestQueriesFromStatisticsAndPlans: they name the files, which the query reads, and which it needs to be there.
func TestQueriesFromStatisticsAndPlans(t *testing.T) {
	at := folder(t)
	first, second := fileIn(t, at("d/1.tsv"), numbersIn("a\tb\tc\n", "\t", "NA", "")), fileIn(t, at("d/2.csv.gz"), numbersIn("c,b,a\n", ",", "null"))
	must(t, "scan", at("d"), "--missing", "mean", "-o", at("all.ufs"))
	must(t, "plan", at("d"), "--missing", "mean", "-o", at("job.plan.json"))
	must(t, "select", "--stats", at("all.ufs"), "-k", "3", "-o", at("sel.json"))
	must(t, "apply", first, second, "--selection", at("sel.json"), "-o", at("out.parquet"))
	db := duckdbtest.StartSession(t, at(""))
	same(t, db, must(t, "select", "--stats", at("all.ufs"), "-k", "3", "--format", "sql"), "FROM 'out.parquet'")
	must(t, "scan", "--plan", at("job.plan.json"), "--shard", "1/1", "-o", at("part.ufs"))
	same(t, db, must(t, "select", "--stats", at("part.ufs"), "-k", "3", "--format", "sql"), "FROM 'out.parquet'")
	mustbe.Do(t, os.Remove(first))
	ends(t, exit.Data, "1.tsv", "select", "--stats", at("all.ufs"), "-k", "3", "--format", "sql")
}

// TestQueriesOfFilesThatDiffer: numbers of other types, and columns that a file lacks, are values as in the program,
// where DuckDB would round them to the first file's type.
func TestQueriesOfFilesThatDiffer(t *testing.T) {
	at := folder(t)
	if r := duckdbtest.RunQuery(t, at(""), `
		COPY (SELECT i AS a, i % 2 = 0 AS b, i * i AS c FROM range(4) r(i)) TO '1.parquet' (FORMAT parquet);
		COPY (SELECT i / 4 AS a, i * 5000000000 AS b, 'x' AS t FROM range(4) r(i)) TO '2.parquet' (FORMAT parquet);
		COPY (SELECT i AS c, i / 8 AS a, i AS b FROM range(2) r(i)) TO '3.csv' (FORMAT csv);
		SELECT 1`); r.Error != "" {
		t.Fatalf("got error %s, want none", r.Error)
	}
	flags := []string{"select", at(""), "--union-by-name", "--missing", "mean", "-k", "3", "-o", at("sel.json")}
	must(t, flags...)
	query := must(t, "apply", at(""), "--selection", at("sel.json"), "--also", "t", "--format", "sql")
	db := duckdbtest.StartSession(t, at(""))
	same(t, db, "SELECT a::DOUBLE AS a, b::DOUBLE AS b, c::DOUBLE AS c, t FROM (\n"+strings.ReplaceAll(query, ";\n", "")+")",
		`SELECT * FROM (VALUES (0::DOUBLE, 1::DOUBLE, 0::DOUBLE, NULL), (1, 0, 1, NULL), (2, 1, 4, NULL), (3, 0, 9, NULL), (0, 0, NULL, 'x'), (0.25, 5000000000, NULL, 'x'),
		(0.5, 10000000000, NULL, 'x'), (0.75, 15000000000, NULL, 'x'), (0, 0, 0, NULL), (0.125, 1, 1, NULL)) v(a, b, c, t)`)
}
