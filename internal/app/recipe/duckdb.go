package recipe

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// StandardInput is the name of the format of standard input in CheckDuckDB.
const StandardInput = "standard input"

// CheckDuckDB returns an error if DuckDB cannot read a file, not even with suitable arguments of its reader. file is
// the file's name, format the name of its format without compression, and packing its compression: gz, zst or bz2.
func CheckDuckDB(file, format, packing string) error {
	var known chunkio.InputFormat
	if i := slices.IndexFunc(chunkio.InputFormats(), func(f *chunkio.InputFormat) bool { return f.Name == format }); i >= 0 {
		known = *chunkio.InputFormats()[i]
	}
	switch parameters := place.ParameterNames(file); {
	case len(parameters) > 0:
		return stream.Usagef("{format} sql: %s is read with %s, which a query cannot pass to DuckDB; copy it to a local file, or select FROM a table that has it with {from} TABLE", place.DisplayName(file), strings.Join(parameters, ", "))
	case format == StandardInput:
		return stream.Usagef("{format} sql: a query cannot read standard input; save it to a file, or select FROM a table that has it with {from} TABLE")
	case known.IsSparse():
		return stream.Usagef("{format} sql: %s: DuckDB does not read %s, whose rows have no columns; write the chosen features dense with apply", place.DisplayName(file), format)
	case packing == "bz2":
		format = "text compressed with bzip2"
	case known.DuckDB:
		return nil
	case format == "a NumPy array":
		format = "NumPy arrays"
	}
	return stream.Usagef("{format} sql: %s: DuckDB does not read %s by itself; make Parquet of it with convert, or select FROM a table that has it with {from} TABLE",
		place.DisplayName(file), format)
}

func (r *Recipe) checkDuckDB() error {
	if len(r.Batches) == 0 {
		return stream.Usagef("{format} sql: the files that the query should read are unknown; use apply with them, or select FROM a table that has them with {from} TABLE")
	}
	for _, b := range r.Batches {
		for _, file := range b.Files {
			if err := CheckDuckDB(file, b.Format, b.Packing); err != nil {
				return err
			}
		}
	}
	return nil
}

// duckDBQuery returns a query that reads the files themselves. Files that are read in the same way form a batch. The
// query has one SELECT for each batch, joined by UNION ALL.
func (r *Recipe) duckDBQuery() (string, error) {
	if err := r.checkDuckDB(); err != nil {
		return "", err
	}
	parts := make([]string, len(r.Batches))
	for i, b := range r.Batches {
		var expressions []string
		for k, c := range r.Columns {
			text := duckDBColumnExpression(b, c, b.Values[k])
			if quotedName := quoteDuckDBName(c.Name); text != quotedName {
				text += " AS " + quotedName
			}
			expressions = append(expressions, "  "+text)
		}
		parts[i] = fmt.Sprintf("SELECT\n%s\nFROM %s", strings.Join(expressions, ",\n"), r.duckDBFiles(b))
	}
	return r.extensionComment() + strings.Join(parts, "\nUNION ALL\n") + ";\n", nil
}

// extensionComment returns an SQL comment about the extension and the DuckDB secret with credentials that a query on
// files in stores needs. It returns "" if the query needs nothing else.
func (r *Recipe) extensionComment() string {
	for _, b := range r.Batches {
		scheme, _, isURL := strings.Cut(duckDBURL(b.Files[0]), "://")
		switch {
		case !isURL:
		case scheme == "http" || scheme == "https":
			return "-- DuckDB reads it with its extension httpfs\n"
		default:
			extension := map[string]string{"az": "azure"}[scheme]
			return fmt.Sprintf("-- DuckDB reads %s:// with its extension %s, and the credentials of a secret: CREATE SECRET (TYPE %s, …)\n",
				scheme, cmp.Or(extension, "httpfs"), map[string]string{"s3": "s3", "gs": "gcs", "az": "azure"}[scheme])
		}
	}
	return ""
}

// duckDBURL returns the URL in the form that DuckDB accepts: Azure's URLs begin with az://.
func duckDBURL(file string) string {
	if rest, ok := strings.CutPrefix(file, "azblob://"); ok {
		return "az://" + rest
	}
	return file
}

var quoteDuckDBName = identifierQuoter(`"`)

// duckDBTypes maps types of columns to the SQL types to which texts are cast.
var duckDBTypes = map[string]string{
	"bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT", "uint64": "UBIGINT", "float": "FLOAT", "double": "DOUBLE",
	"date": "DATE", "timestamp": "TIMESTAMP", "instant": "TIMESTAMPTZ",
}

func duckDBColumnExpression(batch chunkio.Batch, column Column, value chunkio.Value) string {
	text := column.DuckDB()
	switch {
	case value.Absent:
		return "NULL"
	case column.Key && value.Folder == "" && value.Constant == nil:
		return castExpression("NULL", value.Type)
	case column.Key && value.Folder == "":
		text = duckDBString(*value.Constant)
	case column.Key:
		text = quoteDuckDBName(value.Folder)
	case batch.Format == "NDJSON":
		if text = jsonValue(value.Paths); value.Type != "string" || batch.Text.TextNulls {
			text = nullIfMissing(text, text, batch.Text)
		}
	case batch.Format == "CSV":
		text = quoteDuckDBName(column.Name)
	}
	return castExpression(text, value.Type)
}

// castExpression returns the expression that casts a text to a type. A time with a zone is first completed to include
// seconds, because DuckDB requires these.
func castExpression(text, typ string) string {
	if typ == "instant" {
		text = fmt.Sprintf(`regexp_replace(%s, '^(.{16})(Z|[+-])', '\1:00\2')`, text)
	}
	if to, ok := duckDBTypes[typ]; ok {
		return fmt.Sprintf("CAST(%s AS %s)", text, to)
	}
	return text
}

// jsonValue returns the SQL expression for a text in a row of NDJSON: the text at the first of the given paths that
// exists in the row. Objects and arrays count as missing.
func jsonValue(paths [][]chunkio.TextStep) string {
	values := convert.Each(paths, func(p []chunkio.TextStep) string {
		return fmt.Sprintf("json_value(json, %s) ->> '$'", duckDBString(jsonPath(p)))
	})
	switch len(values) {
	case 0:
		return "NULL"
	case 1:
		return values[0]
	}
	return "coalesce(" + strings.Join(values, ", ") + ")"
}

// jsonPath writes steps as a JSONPath. It writes a JSON pointer instead if a JSONPath cannot contain one of the names.
func jsonPath(steps []chunkio.TextStep) string {
	path, pointer, plain := "$", "", true
	for _, s := range steps {
		if s.Index >= 0 {
			path += fmt.Sprintf("[%d]", s.Index)
			pointer += fmt.Sprintf("/%d", s.Index)
			continue
		}
		plain = plain && s.Member != "" && !strings.ContainsAny(s.Member, `"\`)
		path += `."` + s.Member + `"`
		pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s.Member)
	}
	if plain {
		return path
	}
	return pointer
}

func (r *Recipe) duckDBFiles(batch chunkio.Batch) string {
	files := r.duckDBFileList(batch)
	arguments := ""
	switch {
	case batch.Hive && slices.ContainsFunc(batch.Values, func(v chunkio.Value) bool { return v.Folder != "" }):
		arguments = ", hive_partitioning = true, hive_types_autocast = false"
	case batch.Hive:
		arguments = ", hive_partitioning = true"
	case slices.ContainsFunc(batch.Files, func(f string) bool { return strings.Contains(f, "=") }): // not columns
		arguments = ", hive_partitioning = false"
	}
	if packing, ok := map[string]string{"gz": "gzip", "zst": "zstd"}[batch.Packing]; ok {
		arguments += fmt.Sprintf(", compression = '%s'", packing)
	}
	switch batch.Format {
	case "CSV":
		return r.duckDBCSVRows(batch, files, arguments)
	case "NDJSON":
		return fmt.Sprintf("read_json_objects(%s, format = 'unstructured'%s)", files, arguments)
	}
	if batch.Mixed {
		arguments += ", union_by_name = true"
	}
	return fmt.Sprintf("read_parquet(%s%s)", files, arguments)
}

// duckDBFileList returns a glob if one matches exactly the files of the batch, otherwise a list of the files.
func (r *Recipe) duckDBFileList(b chunkio.Batch) string {
	if r.Glob != "" && len(r.Batches) == 1 {
		return duckDBString(r.Glob)
	}
	list := make([]string, len(b.Files))
	for i, f := range b.Files {
		if list[i] = duckDBURL(f); !place.IsURL(f) {
			list[i] = escapeGlob(f)
		}
		list[i] = duckDBString(list[i])
	}
	if len(list) == 1 {
		return list[0]
	}
	return "[\n  " + strings.Join(list, ",\n  ") + "\n]"
}

// escapeGlob returns a glob that matches only path. It protects a ~, which DuckDB would expand.
func escapeGlob(path string) string {
	path = strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path)
	if strings.HasPrefix(path, "~") {
		return "./" + path
	}
	return path
}

// duckDBCSVRows returns an expression that reads all fields of CSV as texts, because a value such as NA may be a text
// in one column and mean a missing value in another.
func (r *Recipe) duckDBCSVRows(b chunkio.Batch, files, arguments string) string {
	t := b.Text
	fields := make([]string, len(t.Names))
	taken := map[string]bool{}
	for _, c := range r.Columns {
		taken[strings.ToLower(c.Name)] = true
	}
	for j, name := range t.Names {
		if !slices.ContainsFunc(r.Columns, func(c Column) bool { return c.Name == name }) {
			// SQL ignores case in names, and does not allow an empty name.
			uniqueName := cmp.Or(name, "_")
			for n := 2; taken[strings.ToLower(uniqueName)]; n++ {
				uniqueName = fmt.Sprintf("%s_%d", name, n)
			}
			name = uniqueName
			taken[strings.ToLower(uniqueName)] = true
		}
		fields[j] = duckDBString(name) + ": 'VARCHAR'"
	}
	separator := duckDBString(string(t.Separator))
	if t.Separator == '\t' {
		separator = `E'\t'`
	}
	single := len(t.Names) == 1
	if single { // quotes then distinguish a row with an empty field from an empty line
		arguments += ", allow_quoted_nulls = false"
	}
	rows := fmt.Sprintf("read_csv(%s, auto_detect = false, header = %t, delim = %s, quote = '\"', escape = '\"'%s,\n  columns = {%s})",
		files, t.Header, separator, arguments, strings.Join(fields, ", "))
	if single {
		rows = fmt.Sprintf("(FROM %s WHERE %s IS NOT NULL)", rows, quoteDuckDBName(t.Names[0]))
	}
	return r.selectRows(b, rows)
}

// selectRows returns a query that casts the texts of rows to the columns' types, with null for missing values.
func (r *Recipe) selectRows(b chunkio.Batch, rows string) string {
	var fit, list []string
	for k, c := range r.Columns {
		quotedName := quoteDuckDBName(c.Name)
		switch v := b.Values[k]; {
		case v.Folder != "":
			list = append(list, quoteDuckDBName(v.Folder))
		case c.Key || v.Absent:
		case v.Type == "string" && b.Text.TextNulls:
			list = append(list, nullIfMissing(quotedName, sqlTrim(quotedName), b.Text)+" AS "+quotedName)
		case v.Type == "string":
			list = append(list, fmt.Sprintf("nullif(%s, '') AS %[1]s", quotedName))
		default:
			fit = append(fit, duckDBString(c.Name))
		}
	}
	if len(fit) > 0 {
		text := sqlTrim("COLUMNS([" + strings.Join(fit, ", ") + "])")
		list = append(list, nullIfMissing(text, text, b.Text))
	}
	if len(list) == 0 {
		return rows
	}
	return fmt.Sprintf("(\n  SELECT %s\n  FROM %s)", strings.Join(list, ", "), rows)
}

func sqlTrim(text string) string { return fmt.Sprintf(`trim(%s, E' \t')`, text) }

// nullIfMissing returns an SQL expression: null if text means a missing value, otherwise value.
func nullIfMissing(value, text string, layout *chunkio.TextLayout) string {
	if len(layout.Nulls) == 0 {
		return value
	}
	nulls := convert.Each(layout.Nulls, duckDBString)
	numbers := ""
	if len(layout.Numbers) > 0 {
		list := convert.Each(layout.Numbers, func(x float64) string { return duckDBString(strconv.FormatFloat(x, 'g', -1, 64)) + "::DOUBLE" })
		numbers = fmt.Sprintf(" AND coalesce(TRY_CAST(%s AS DOUBLE) NOT IN (%s), true)", text, strings.Join(list, ", "))
	}
	return fmt.Sprintf("CASE WHEN %s NOT IN (%s)%s THEN %s END", text, strings.Join(nulls, ", "), numbers, value)
}
