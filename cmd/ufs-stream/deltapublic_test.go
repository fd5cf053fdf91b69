package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/internal/testing/deltatwin"
	"github.com/ufs-stream/ufs-stream/internal/testing/duckdb"
	"github.com/ufs-stream/ufs-stream/internal/testing/duckdbtest"
	mustbe "github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// publicTables is the folder of public Delta tables that are kept, each in an archive. Its README names their sources.
const publicTables = "testdata/delta"

// moreTables is an environment variable: a list of folders with further public tables, as snapshots of delta-io/delta,
// delta-io/delta-rs and delta-io/delta-kernel-rs have them.
const moreTables = "UFS_DELTA_TABLES"

// TestPublicDeltaTables: every public table has the rows and values that a naive replay of its log gives, and that
// Spark wrote beside it if it did; converted, and as features. DuckDB reads the same values of plain columns. Which tables
// are refused is in a list, with the words.
func TestPublicDeltaTables(t *testing.T) {
	refused, verdicts := readRefusals(t), map[string]int{}
	db := duckdbtest.StartSession(t, t.TempDir())
	for _, archive := range mustbe.Get(filepath.Glob(filepath.Join(publicTables, "*.tar.zst")))(t) {
		root := t.TempDir()
		unpack(t, archive, root)
		compareTables(t, db, root, refused, verdicts)
	}
	t.Logf("tables that are kept: %v", verdicts)
	t.Run("more tables", func(t *testing.T) {
		roots := filepath.SplitList(os.Getenv(moreTables))
		if len(roots) == 0 {
			t.Skipf("%s names no folders with tables; the README of %s says which", moreTables, publicTables)
		}
		for _, root := range roots {
			verdicts := map[string]int{}
			compareTables(t, db, root, refused, verdicts)
			t.Logf("%s: %v", root, verdicts)
		}
	})
}

// unpack writes the files of an archive into a folder. Checksums that Hadoop keeps beside each file are left out.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	packed := mustbe.Get(os.Open(archive))(t)
	defer packed.Close()
	unpacked := mustbe.Get(zstd.NewReader(packed))(t)
	defer unpacked.Close()
	for files := tar.NewReader(unpacked); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		mustbe.Do(t, err)
		if header.Typeflag != tar.TypeReg || strings.HasPrefix(filepath.Base(header.Name), ".") {
			continue
		}
		if !filepath.IsLocal(header.Name) {
			t.Fatalf("%s has a file %q", archive, header.Name)
		}
		path := filepath.Join(dir, header.Name)
		mustbe.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		write(t, path, string(mustbe.Get(io.ReadAll(files))(t)))
	}
}

// readRefusals reads the list of refused tables: the words of the error by the name of the table.
func readRefusals(t *testing.T) map[string]string {
	t.Helper()
	words := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(read(t, filepath.Join(publicTables, "refused.txt"))), "\n") {
		name, says, ok := strings.Cut(line, ": ")
		if !ok || words[name] != "" {
			t.Fatalf("the list of refused tables has a line without words, or a table twice: %q", line)
		}
		words[name] = says
	}
	return words
}

// compareTables compares the tables in a folder, each in a copy.
func compareTables(t *testing.T, db *duckdb.Session, root string, refused map[string]string, verdicts map[string]int) {
	t.Helper()
	var names []string
	mustbe.Do(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && e.Name() == "_delta_log" {
			names = append(names, filepath.ToSlash(mustbe.Get(filepath.Rel(root, filepath.Dir(path)))(t)))
		}
		return err
	}))
	if len(names) == 0 {
		t.Fatalf("%s has no tables", root)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			at := folder(t)
			mustbe.Do(t, os.CopyFS(at("t"), os.DirFS(filepath.Join(root, name))))
			settleTable(t, at("t"))
			called := filepath.Base(strings.TrimSuffix(name, "/delta")) // some projects put the table below what it is called
			verdicts[compareTable(t, db, called, at, filepath.Join(root, filepath.Dir(name), "expected"), refused)]++
		})
	}
}

// settleTable does to a copied table what the tests of Spark do: their writer put a prefix before the names of some
// files, which the log does not have or has alone, and the name of a folder is filled in.
func settleTable(t *testing.T, table string) {
	t.Helper()
	var files []string
	mustbe.Do(t, filepath.WalkDir(table, func(path string, e fs.DirEntry, err error) error {
		files = append(files, path)
		return err
	}))
	const vectorPrefix, filePrefix, placeholder = "test%dv%prefix-", "test%file%prefix-", "{{FOLDER_WITH_SPECIAL_CHAR}}"
	for _, path := range files {
		dir, base := filepath.Split(path)
		switch {
		case strings.HasPrefix(base, vectorPrefix):
			mustbe.Do(t, os.Link(path, filepath.Join(dir, strings.TrimPrefix(base, vectorPrefix))))
		case strings.HasPrefix(base, "part-") && strings.HasSuffix(base, ".parquet"):
			mustbe.Do(t, os.Link(path, filepath.Join(dir, filePrefix+base)))
		case filepath.Base(dir) == "_delta_log" && filepath.Ext(base) == ".json":
			uri := strings.NewReplacer("%", "%25", " ", "%20").Replace(filepath.Join(table, "folder&with%special char"))
			write(t, path, strings.ReplaceAll(read(t, path), placeholder, uri))
		}
	}
}

// compareTable compares a table with its twin, and its refusal with the list.
func compareTable(t *testing.T, db *duckdb.Session, name string, at func(string) string, expected string, refused map[string]string) (verdict string) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("reading the table panics: %v\n%s", p, debug.Stack())
		}
	}()
	twin, twinErr := deltatwin.ReadTable(at("t"))
	r, exact := invoke("convert", at("t"), "-o", at("copy.parquet")), true
	if strings.Contains(r.err, "write the files to a folder") {
		r, exact = invoke("convert", at("t"), "-o", at("copy")), false // each file keeps its types
	}
	if r.code != exit.Done {
		return checkRefusal(t, name, at("t"), r, refused[name], twin, twinErr)
	}
	if refused[name] != "" {
		t.Errorf("it is read, and the list has %q", refused[name])
	}
	if twinErr != nil {
		t.Fatalf("the twin cannot read it: %v", twinErr)
	}
	verdict = "equal to the twin"
	if exact {
		sameCopy(t, at("copy.parquet"), twin)
	} else {
		verdict += ", file by file"
		copied := readCopies(t, mustbe.Get(filepath.Glob(at("copy/*.parquet")))(t), twin)
		sameRows(t, "the copy", copied, "the twin", twin.Columns)
	}
	sameFeatures(t, at("t"), twin)
	twin = mustbe.Get(deltatwin.ReadTable(at("t")))(t) // whose values are as the files have them
	sameInDuckDB(t, db, twin)
	if written := mustbe.Get(filepath.Glob(filepath.Join(expected, "*.parquet")))(t); len(written) > 0 {
		verdict += " and to Spark"
		sameAsSpark(t, written, twin)
	}
	return verdict
}

// checkRefusal checks the reason for which a table is refused: by the twin if it lacks files, by the list otherwise.
func checkRefusal(t *testing.T, name, table string, r result, listed string, twin *deltatwin.Table, twinErr error) (verdict string) {
	t.Helper()
	says := strings.ReplaceAll(strings.TrimSpace(strings.TrimPrefix(r.err, "ufs-stream: ")), table, "TABLE")
	if again := invoke("select", table, "-k", "1"); again.code != r.code || again.err != r.err {
		t.Errorf("select refuses it with other words: %s", again.err)
	}
	switch {
	case r.code != exit.Data:
		t.Errorf("it is refused with exit code %d", r.code)
	case listed == "" && errors.Is(twinErr, fs.ErrNotExist) && strings.Contains(says, "it is not there"):
		return "refused, as a live file is missing"
	case listed == "" && twinErr == nil && len(twin.Files) == 0 && strings.HasSuffix(says, "has no files"):
		return "refused, as no file is live"
	case says != listed:
		t.Errorf("it is refused, the list has %q, and the twin says %v:\n%s: %s", listed, twinErr, name, says)
	}
	return "refused, as the list says"
}

// sameCopy compares the rows of a table that is converted to one file. The copy must have the types of the schema.
func sameCopy(t *testing.T, path string, twin *deltatwin.Table) {
	t.Helper()
	copied, others, err := deltatwin.ReadCopy(path, twin, true)
	if err != nil || len(others) > 0 {
		t.Fatalf("the copy has other types, or columns %q that the schema lacks: %v", others, err)
	}
	for i, c := range twin.Columns {
		// Times of partitions are copied as the texts of the log, and decimals as doubles.
		switch {
		case c.Stated == nil || copied[i].Type == c.Type:
		case copied[i].Type == "string":
			twin.Columns[i].Values = c.Stated
		case copied[i].Type == "double":
			toNumbers(c.Values)
		}
	}
	sameRows(t, "the copy", copied, "the twin", twin.Columns)
}

// readCopies reads the columns of a table from files that may have narrower types, or lack some.
func readCopies(t *testing.T, paths []string, like *deltatwin.Table) []deltatwin.Column {
	t.Helper()
	all := make([]deltatwin.Column, len(like.Columns))
	for _, path := range paths {
		columns, others, err := deltatwin.ReadCopy(path, like, false)
		if err != nil || len(others) > 0 {
			t.Fatalf("%s has columns %q too: %v", path, others, err)
		}
		for i, c := range columns {
			all[i].Name, all[i].Values = c.Name, append(all[i].Values, c.Values...)
		}
	}
	return all
}

// sameInDuckDB compares the twin's values of plain columns with those that DuckDB reads from the same files: it has a
// Parquet reader that shares no code with Arrow's.
func sameInDuckDB(t *testing.T, db *duckdb.Session, twin *deltatwin.Table) {
	t.Helper()
	for i, c := range twin.Columns {
		var sql string
		switch typ, _ := c.Type.(string); typ {
		case "byte", "short", "integer", "long":
			sql = "::BIGINT"
		case "float", "double":
			sql = "::DOUBLE"
		case "boolean", "string":
			sql = "::VARCHAR"
		case "date":
			sql = "- DATE '1970-01-01'"
		default:
			if !strings.HasPrefix(typ, "decimal(") {
				continue
			}
			sql = "::" + typ
		}
		if c.Stated != nil {
			continue
		}
		var got, want []string
		for _, f := range twin.Files {
			got = append(got, queryColumn(t, db, f, f.Names[i], sql)...)
		}
		for _, v := range c.Values {
			text := deltatwin.Text(v)
			if s, ok := v.(string); ok {
				text = s
			} else if x, ok := v.(float64); ok {
				text = formatFloat(x)
			}
			want = append(want, text)
		}
		if len(got) != len(want) {
			t.Errorf("column %q: the twin has %d values, DuckDB %d", c.Name, len(want), len(got))
			return
		}
		compareSorted(t, fmt.Sprintf("column %q", c.Name), "the twin", want, "DuckDB", got)
	}
}

// formatFloat returns a text that is the same only for equal numbers.
func formatFloat(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// queryColumn returns the texts of a column's values in the rows of a file that are not deleted.
func queryColumn(t *testing.T, db *duckdb.Session, f deltatwin.File, name, cast string) (texts []string) {
	t.Helper()
	what := "NULL"
	if name != "" {
		what = `"` + strings.ReplaceAll(name, `"`, `""`) + `" ` + cast
	}
	deleted := strings.Join(convert.Each(f.Deleted, func(row int64) string { return strconv.FormatInt(row, 10) }), ", ")
	query := fmt.Sprintf("SELECT %s FROM read_parquet('%s', file_row_number = true, hive_partitioning = false) WHERE NOT list_contains([%s]::BIGINT[], file_row_number)",
		what, strings.ReplaceAll(f.Path, "'", "''"), deleted)
	r := duckdbtest.QuerySession(t, db, query)
	if r.Error != "" {
		t.Fatalf("DuckDB refuses %s: %s", query, r.Error)
	}
	for _, row := range r.Rows {
		switch text := row[0]; {
		case text == nil:
			texts = append(texts, "null")
		case cast == "::DOUBLE":
			texts = append(texts, formatFloat(mustbe.Get(strconv.ParseFloat(*text, 64))(t)))
		default:
			texts = append(texts, *text)
		}
	}
	return texts
}

// sameAsSpark compares the twin's rows with those that Spark has read from the same table and written.
func sameAsSpark(t *testing.T, written []string, twin *deltatwin.Table) {
	t.Helper()
	all := readCopies(t, written, twin)
	for i, c := range twin.Columns {
		// The log has a time without its zone, and Spark reads it in the zone of the machine.
		if c.Stated != nil && c.Type == "timestamp" && !strings.Contains(fmt.Sprint(c.Stated...), "Z") {
			shift := firstMoment(all[i].Values) - firstMoment(c.Values)
			if shift != 0 && shift != zoneOfGoldenTables {
				t.Errorf("column %q: Spark's times are %d µs later, want 0 or the zone of its machine", c.Name, shift)
			}
			for row, v := range all[i].Values {
				if moment, ok := v.(deltatwin.Moment); ok {
					all[i].Values[row] = moment - shift
				}
			}
		}
	}
	sameRows(t, "the twin", twin.Columns, "Spark", all)
}

func firstMoment(values []any) deltatwin.Moment {
	first := deltatwin.Moment(math.MaxInt64)
	for _, v := range values {
		if moment, ok := v.(deltatwin.Moment); ok {
			first = min(first, moment)
		}
	}
	return first
}

// zoneOfGoldenTables is the offset of the zone in which the machine was that wrote some of the golden tables, in summer.
const zoneOfGoldenTables = 7 * 3600 * 1_000_000

// sameRows compares every column's nulls, and values in any order, and then the rows.
func sameRows(t *testing.T, who string, got []deltatwin.Column, other string, want []deltatwin.Column) {
	t.Helper()
	gotRows, wantRows := make([]string, len(got[0].Values)), make([]string, len(want[0].Values))
	for i, c := range want {
		if len(got[i].Values) != len(c.Values) {
			t.Errorf("column %q: %s has %d values, %s %d", c.Name, who, len(got[i].Values), other, len(c.Values))
			return
		}
		gotTexts, wantTexts := textsOf(got[i], gotRows), textsOf(c, wantRows)
		if nulls, wanted := count(gotTexts, "null"), count(wantTexts, "null"); nulls != wanted {
			t.Errorf("column %q: %s has %d nulls, %s %d", c.Name, who, nulls, other, wanted)
		}
		compareSorted(t, fmt.Sprintf("column %q", c.Name), who, gotTexts, other, wantTexts)
	}
	compareSorted(t, "rows", who, gotRows, other, wantRows)
}

// textsOf returns the values of a column as texts, and appends them to those of the rows.
func textsOf(c deltatwin.Column, rows []string) []string {
	texts := make([]string, len(c.Values))
	for row, v := range c.Values {
		texts[row] = deltatwin.Text(v)
		rows[row] += c.Name + " = " + texts[row] + "; "
	}
	return texts
}

func count(texts []string, wanted string) (n int) {
	for _, text := range texts {
		if text == wanted {
			n++
		}
	}
	return n
}

func compareSorted(t *testing.T, what, who string, got []string, other string, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s, value %d of %d in order: %s has %.300s, %s %.300s", what, i, len(want), who, got[i], other, want[i])
			return
		}
	}
}

// sameFeatures compares the features of a table, partition columns among them, with the twin's numbers, bit for bit.
func sameFeatures(t *testing.T, table string, twin *deltatwin.Table) {
	t.Helper()
	ds, err := chunkio.Open(t.Context(), []string{table}, chunkio.Options{Missing: stream.MissingKeep, Columns: []string{"*"}, Threads: 2})
	if err != nil {
		t.Fatalf("opening the table for its features: %v", err)
	}
	defer ds.Close()
	if ds.Rows() != int64(twin.Rows) {
		t.Errorf("the features have %d rows, the twin %d", ds.Rows(), twin.Rows)
	}
	numbers := map[string][]float64{}
	for _, c := range twin.Columns {
		addNumbers(numbers, c.Name, c.Type, c.Values)
	}
	columns := ds.Columns()
	for _, c := range columns {
		if numbers[c.Name] == nil {
			t.Errorf("feature %q is no column of numbers of the twin: %v", c.Name, slices.Sorted(maps.Keys(numbers)))
			return
		}
	}
	if len(columns) == 0 || twin.Rows == 0 {
		return
	}
	got, missing := make([][]float64, len(columns)), make([]int64, len(columns))
	for c, err := range ds.Chunks(t.Context(), stream.Range{}) {
		if err != nil {
			t.Fatalf("reading the features: %v", err)
		}
		for j := range columns {
			got[j] = append(got[j], c.Col(j)...)
			if c.Missing != nil {
				missing[j] += c.Missing[j].Total()
			}
		}
	}
	for j, c := range columns {
		want, gaps := numbers[c.Name], int64(0)
		for i, x := range want {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				want[i], gaps = math.NaN(), gaps+1
			}
		}
		if missing[j] != gaps {
			t.Errorf("feature %q: %d values are missing, the twin has %d", c.Name, missing[j], gaps)
		}
		slices.Sort(got[j])
		slices.Sort(want)
		if !slices.EqualFunc(got[j], want, func(a, b float64) bool { return a == b || a != a && b != b }) {
			t.Errorf("feature %q has other numbers than the twin: %.300v, want %.300v", c.Name, got[j], want)
		}
	}
}

// addNumbers adds the numbers of a column under the names that features have, NaN for null: a.b is the field b of a
// struct a, and a[0] the first element of a list.
func addNumbers(numbers map[string][]float64, name string, typ any, values []any) {
	object, _ := typ.(map[string]any)
	switch object["type"] {
	case "struct":
		for i, field := range object["fields"].([]any) {
			field, inner := field.(map[string]any), make([]any, len(values))
			for row, v := range values {
				if v != nil {
					inner[row] = v.(deltatwin.Struct)[i]
				}
			}
			addNumbers(numbers, name+"."+field["name"].(string), field["type"], inner)
		}
	case "array":
		longest := 1
		for _, v := range values {
			if v != nil {
				longest = max(longest, len(v.(deltatwin.List)))
			}
		}
		for i := range longest {
			inner := make([]any, len(values))
			for row, v := range values {
				if list, ok := v.(deltatwin.List); ok && i < len(list) {
					inner[row] = list[i]
				}
			}
			addNumbers(numbers, fmt.Sprintf("%s[%d]", name, i), object["elementType"], inner)
		}
	case nil:
		column := make([]float64, len(values))
		for row, v := range values {
			column[row] = number(v)
		}
		if kind, _ := typ.(string); !slices.Contains([]string{"string", "binary", "date", "timestamp", "timestamp_ntz"}, kind) {
			numbers[name] = column
		}
	}
}

// toNumbers replaces the values that are not null by numbers.
func toNumbers(values []any) {
	for i, v := range values {
		if v != nil {
			values[i] = number(v)
		}
	}
}

func number(v any) float64 {
	switch x := v.(type) {
	case bool:
		if x {
			return 1
		}
		return 0
	case int64:
		return float64(x)
	case float64:
		return x
	case deltatwin.Decimal:
		f, _ := strconv.ParseFloat(string(x), 64)
		return f
	}
	return math.NaN()
}
