package recipe

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// StandardInput is the format of an input that comes on it.
const StandardInput = "standard input"

// CheckDuckDB refuses a file that DuckDB cannot read by itself, or not with what a query may hold: file is its name, format
// as people call it, and packing the compression, gz, zst or bz2.
func CheckDuckDB(file, format, packing string) error {
	switch given := place.Parameters(file); {
	case len(given) > 0:
		return stream.Usagef("{format} sql: %s is read with %s, which a query cannot tell DuckDB; copy it to a local file, or select FROM a table that has it with {from} TABLE", place.Name(file), strings.Join(given, ", "))
	case format == StandardInput:
		return stream.Usagef("{format} sql: a query cannot read standard input; save it to a file, or select FROM a table that has it with {from} TABLE")
	case format == "libsvm":
		return stream.Usagef("{format} sql: %s: DuckDB does not read libsvm, whose rows have no columns; write the chosen features dense with apply", place.Name(file))
	case packing == "bz2":
		format = "text compressed with bzip2"
	case slices.Contains([]string{"Parquet", "CSV", "NDJSON"}, format):
		return nil
	case format == "a NumPy array":
		format = "NumPy arrays"
	}
	return stream.Usagef("{format} sql: %s: DuckDB does not read %s by itself; make Parquet of it with convert, or select FROM a table that has it with {from} TABLE",
		place.Name(file), format)
}

// checkDuckDB refuses files of which CheckDuckDB refuses one.
func (r *Recipe) checkDuckDB() error {
	if len(r.Batches) == 0 {
		return stream.Usagef("{format} sql: nothing tells which files the query is to read; use apply with them, or select FROM a table that has them with {from} TABLE")
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

// duckDB is the query that reads the files themselves: a SELECT for all that are read alike, one after the other.
func (r *Recipe) duckDB() (string, error) {
	if err := r.checkDuckDB(); err != nil {
		return "", err
	}
	parts := make([]string, len(r.Batches))
	for i, b := range r.Batches {
		var expressions []string
		for k, c := range r.Columns {
			text := duckDBColumn(b, c, b.Values[k])
			if own := quoteDuckDB(c.Name); text != own {
				text += " AS " + own
			}
			expressions = append(expressions, "  "+text)
		}
		parts[i] = fmt.Sprintf("SELECT\n%s\nFROM %s", strings.Join(expressions, ",\n"), r.duckDBFiles(b))
	}
	return r.needs() + strings.Join(parts, "\nUNION ALL\n") + ";\n", nil
}

// needs is a comment on what DuckDB wants besides the query: files in stores need an extension, and its own words
// for credentials.
func (r *Recipe) needs() string {
	for _, b := range r.Batches {
		scheme, _, far := strings.Cut(scheme(b.Files[0]), "://")
		switch {
		case !far:
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

// scheme is a URL as DuckDB spells it: Azure's as az://.
func scheme(file string) string {
	if rest, ok := strings.CutPrefix(file, "azblob://"); ok {
		return "az://" + rest
	}
	return file
}

var quoteDuckDB = identifier(`"`)

// duckDBTypes are the types that texts are cast to.
var duckDBTypes = map[string]string{
	"bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT", "uint64": "UBIGINT", "float": "FLOAT", "double": "DOUBLE",
	"date": "DATE", "timestamp": "TIMESTAMP", "instant": "TIMESTAMPTZ",
}

// duckDBColumn is a column of one batch as an expression.
func duckDBColumn(b chunkio.Batch, c Column, v chunkio.Value) string {
	text := c.DuckDB()
	switch {
	case v.Absent:
		return "NULL"
	case c.Key && v.Folder == "" && v.Constant == nil:
		return cast("NULL", v.Type)
	case c.Key && v.Folder == "":
		text = duckDBString(*v.Constant)
	case c.Key:
		text = quoteDuckDB(v.Folder)
	case b.Format == "NDJSON":
		if text = jsonValue(v.Paths); v.Type != "string" || b.Text.TextNulls {
			text = withoutNulls(text, text, b.Text)
		}
	case b.Format == "CSV":
		text = quoteDuckDB(c.Name)
	}
	return cast(text, v.Type)
}

// cast reads a text as a type. DuckDB wants the seconds of a time that has a zone.
func cast(text, typ string) string {
	if typ == "instant" {
		text = fmt.Sprintf(`regexp_replace(%s, '^(.{16})(Z|[+-])', '\1:00\2')`, text)
	}
	if to, ok := duckDBTypes[typ]; ok {
		return fmt.Sprintf("CAST(%s AS %s)", text, to)
	}
	return text
}

// jsonValue is the text of the value at the one of these paths where a row has one. An object or array is none.
func jsonValue(paths [][]chunkio.TextStep) string {
	values := make([]string, len(paths))
	for i, p := range paths {
		values[i] = fmt.Sprintf("json_value(json, %s) ->> '$'", duckDBString(jsonPath(p)))
	}
	switch len(values) {
	case 0:
		return "NULL"
	case 1:
		return values[0]
	}
	return "coalesce(" + strings.Join(values, ", ") + ")"
}

// jsonPath spells steps as JSONPath, or as a JSON pointer if a name is among them that such a path cannot have.
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

// duckDBFiles is what one SELECT reads.
func (r *Recipe) duckDBFiles(b chunkio.Batch) string {
	files := r.duckDBList(b)
	arguments := ""
	switch {
	case b.Hive && slices.ContainsFunc(b.Values, func(v chunkio.Value) bool { return v.Folder != "" }):
		arguments = ", hive_partitioning = true, hive_types_autocast = false"
	case b.Hive:
		arguments = ", hive_partitioning = true"
	case slices.ContainsFunc(b.Files, func(f string) bool { return strings.Contains(f, "=") }): // which DuckDB would take for columns
		arguments = ", hive_partitioning = false"
	}
	if packing, ok := map[string]string{"gz": "gzip", "zst": "zstd"}[b.Packing]; ok {
		arguments += fmt.Sprintf(", compression = '%s'", packing)
	}
	switch b.Format {
	case "CSV":
		return r.duckDBRows(b, files, arguments)
	case "NDJSON":
		return fmt.Sprintf("read_json_objects(%s, format = 'unstructured'%s)", files, arguments)
	}
	if b.Mixed {
		arguments += ", union_by_name = true"
	}
	return fmt.Sprintf("read_parquet(%s%s)", files, arguments)
}

// duckDBList is the files of a batch: the one glob that means exactly these, or each of them.
func (r *Recipe) duckDBList(b chunkio.Batch) string {
	if r.Glob != "" && len(r.Batches) == 1 {
		return duckDBString(r.Glob)
	}
	list := make([]string, len(b.Files))
	for i, f := range b.Files {
		if list[i] = scheme(f); !place.IsURL(f) {
			list[i] = escapeGlob(f)
		}
		list[i] = duckDBString(list[i])
	}
	if len(list) == 1 {
		return list[0]
	}
	return "[\n  " + strings.Join(list, ",\n  ") + "\n]"
}

// escapeGlob makes of a path a glob that means it alone. DuckDB takes ~ for the home folder.
func escapeGlob(path string) string {
	path = strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path)
	if strings.HasPrefix(path, "~") {
		return "./" + path
	}
	return path
}

// duckDBRows is CSV. All fields are texts there, as what stands for a missing value does so only where
// no text is wanted.
func (r *Recipe) duckDBRows(b chunkio.Batch, files, arguments string) string {
	t := b.Text
	fields := make([]string, len(t.Names))
	taken := map[string]bool{}
	for _, c := range r.Columns {
		taken[strings.ToLower(c.Name)] = true
	}
	for j, name := range t.Names {
		if !slices.ContainsFunc(r.Columns, func(c Column) bool { return c.Name == name }) {
			// SQL does not tell upper case from lower, and knows no empty name.
			own := cmp.Or(name, "_")
			for n := 2; taken[strings.ToLower(own)]; n++ {
				own = fmt.Sprintf("%s_%d", name, n)
			}
			name = own
			taken[strings.ToLower(own)] = true
		}
		fields[j] = duckDBString(name) + ": 'VARCHAR'"
	}
	separator := duckDBString(string(t.Separator))
	if t.Separator == '\t' {
		separator = `E'\t'`
	}
	single := len(t.Names) == 1
	if single { // a row with an empty field is told from an empty line by its quotes
		arguments += ", allow_quoted_nulls = false"
	}
	rows := fmt.Sprintf("read_csv(%s, auto_detect = false, header = %t, delim = %s, quote = '\"', escape = '\"'%s,\n  columns = {%s})",
		files, t.Header, separator, arguments, strings.Join(fields, ", "))
	if single {
		rows = fmt.Sprintf("(FROM %s WHERE %s IS NOT NULL)", rows, quoteDuckDB(t.Names[0]))
	}
	return r.selectRows(b, rows)
}

// selectRows reads rows of texts with null in place of what stands for a missing value.
func (r *Recipe) selectRows(b chunkio.Batch, rows string) string {
	var fit, list []string
	for k, c := range r.Columns {
		own := quoteDuckDB(c.Name)
		switch v := b.Values[k]; {
		case v.Folder != "":
			list = append(list, quoteDuckDB(v.Folder))
		case c.Key || v.Absent:
		case v.Type == "string" && b.Text.TextNulls:
			list = append(list, withoutNulls(own, trimmed(own), b.Text)+" AS "+own)
		case v.Type == "string":
			list = append(list, fmt.Sprintf("nullif(%s, '') AS %[1]s", own))
		default:
			fit = append(fit, duckDBString(c.Name))
		}
	}
	if len(fit) > 0 {
		text := trimmed("COLUMNS([" + strings.Join(fit, ", ") + "])")
		list = append(list, withoutNulls(text, text, b.Text))
	}
	if len(list) == 0 {
		return rows
	}
	return fmt.Sprintf("(\n  SELECT %s\n  FROM %s)", strings.Join(list, ", "), rows)
}

// trimmed takes the blanks off a text.
func trimmed(text string) string { return fmt.Sprintf(`trim(%s, E' \t')`, text) }

// withoutNulls is a value, or null if its text stands for a missing one.
func withoutNulls(value, text string, layout *chunkio.TextLayout) string {
	if len(layout.Nulls) == 0 {
		return value
	}
	nulls := make([]string, len(layout.Nulls))
	for i, s := range layout.Nulls {
		nulls[i] = duckDBString(s)
	}
	numbers := ""
	if len(layout.Numbers) > 0 {
		list := make([]string, len(layout.Numbers))
		for i, x := range layout.Numbers {
			list[i] = duckDBString(strconv.FormatFloat(x, 'g', -1, 64)) + "::DOUBLE"
		}
		numbers = fmt.Sprintf(" AND coalesce(TRY_CAST(%s AS DOUBLE) NOT IN (%s), true)", text, strings.Join(list, ", "))
	}
	return fmt.Sprintf("CASE WHEN %s NOT IN (%s)%s THEN %s END", text, strings.Join(nulls, ", "), numbers, value)
}
