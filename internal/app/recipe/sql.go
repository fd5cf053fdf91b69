package recipe

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Dialects lists the SQL dialects of queries, the default first.
func Dialects() []string { return []string{"duckdb", "spark", "bigquery", "snowflake", "clickhouse"} }

// CheckDialect returns an error if name is not one of [Dialects].
func CheckDialect(name string) error {
	if !slices.Contains(Dialects(), name) {
		return stream.Usagef("{dialect} %s: want %s%s", name, strings.Join(Dialects(), ", "), suggest.DidYouMean(name, Dialects()))
	}
	return nil
}

// tablePlaceholder is the name in a query that the user has to replace by the name of a table.
const tablePlaceholder = "input"

func (r *Recipe) quoteIdentifier(name string) string {
	switch r.Dialect {
	case "spark":
		return identifierQuoter("`")(name)
	case "bigquery", "clickhouse":
		return backquotedIdentifier(name)
	}
	return identifierQuoter(`"`)(name)
}

func (r *Recipe) sqlQuery() (string, error) {
	if err := r.checkNames(); err != nil {
		return "", err
	}
	value := map[string]func(Column, func(string) string) string{
		"spark": sparkColumnExpression, "bigquery": bigQueryColumnExpression, "snowflake": snowflakeColumnExpression, "clickhouse": clickHouseColumnExpression,
	}[r.Dialect]
	quote := r.quoteIdentifier
	var b strings.Builder
	from := r.Table
	if ReadsFiles("sql", r.Dialect, r.Table) {
		return r.duckDBQuery()
	}
	if value == nil {
		value = duckDBValueExpression
	}
	if from == "" {
		from = tablePlaceholder
		fmt.Fprintf(&b, "-- put the name of your table in place of %s\n", tablePlaceholder)
	}
	b.WriteString("SELECT\n")
	names := map[string]bool{}
	for i, c := range r.Columns {
		text := value(c, quote)
		name := c.Name
		if r.Dialect == "bigquery" {
			name = bigQueryName(name, names)
		}
		if !c.isInputColumn() || name != c.Name {
			text += " AS " + quote(name)
		}
		if i < len(r.Columns)-1 {
			text += ","
		}
		fmt.Fprintf(&b, "  %s\n", text)
	}
	fmt.Fprintf(&b, "FROM %s;\n", from)
	return b.String(), nil
}

// checkNames returns an error if SQL cannot express the name of a chosen column: it is empty, or differs from another
// name only in upper and lower case, which SQL ignores.
func (r *Recipe) checkNames() error {
	for _, c := range r.Columns {
		if c.Name == "" || slices.Contains(c.Path, "") {
			return stream.Usagef("{format} sql: the name of column %q, or of a field in it, is empty, and SQL knows no such name; rename it, or write the columns with apply", c.Name)
		}
		if slices.ContainsFunc(append(c.Path[:len(c.Path):len(c.Path)], c.Name), func(s string) bool { return strings.ContainsRune(s, 0) }) {
			return stream.Usagef("{format} sql: the name of column %q, or of a field in it, has a NUL, and SQL knows no such name; rename it, or write the columns with apply", c.Name)
		}
	}
	spelled := make(map[string][]string)
	add := func(name string) {
		folded := strings.ToLower(name)
		if !slices.Contains(spelled[folded], name) {
			spelled[folded] = append(spelled[folded], name)
		}
	}
	for _, c := range r.Columns {
		add(c.Name)
	}
	for _, c := range r.Selection.Columns {
		add(c.Name)
	}
	for _, l := range r.Selection.LeftOut {
		add(l.Name)
	}
	for _, c := range r.Columns {
		if names := spelled[strings.ToLower(c.Name)]; len(names) > 1 {
			return stream.Usagef("{format} sql: the columns %q and %q differ in the case of letters only, which SQL does not tell apart; rename one, or write the columns with apply", names[0], names[1])
		}
	}
	return nil
}

func identifierQuoter(mark string) func(string) string {
	return func(name string) string { return mark + strings.ReplaceAll(name, mark, mark+mark) + mark }
}

// DuckDB returns the DuckDB expression for the column.
func (c Column) DuckDB() string { return duckDBValueExpression(c, identifierQuoter(`"`)) }

// duckDBValueExpression returns the DuckDB expression for a column. Lists begin at 1. A field of a struct is accessed
// by a function, because "a"."b" may also mean column b of a table a.
func duckDBValueExpression(c Column, quote func(string) string) string {
	text := quote(c.Path[0])
	for _, field := range c.Path[1:] {
		text = fmt.Sprintf("struct_extract(%s, %s)", text, duckDBString(field))
	}
	if c.Element >= 0 {
		text += fmt.Sprintf("[%d]", c.Element+1)
	}
	return text
}

// duckDBString quotes a string for DuckDB, which doubles quotes and has no other escapes.
func duckDBString(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func sparkColumnExpression(column Column, quote func(string) string) string {
	text := dottedPath(column, quote)
	if column.Element >= 0 {
		text += fmt.Sprintf("[%d]", column.Element)
	}
	return text
}

func bigQueryColumnExpression(column Column, quote func(string) string) string {
	text := dottedPath(column, quote)
	if column.Element >= 0 {
		text += fmt.Sprintf("[OFFSET(%d)]", column.Element)
	}
	return text
}

func snowflakeColumnExpression(column Column, quote func(string) string) string {
	text := strings.Join(convert.Each(column.Path, quote), ":")
	if column.Element >= 0 {
		text += fmt.Sprintf("[%d]", column.Element)
	}
	return text
}

func clickHouseColumnExpression(column Column, quote func(string) string) string {
	text := dottedPath(column, quote)
	if column.Element >= 0 {
		text += fmt.Sprintf("[%d]", column.Element+1)
	}
	return text
}

func dottedPath(column Column, quote func(string) string) string {
	parts := convert.Each(column.Path, quote)
	return strings.Join(parts, ".")
}

// backquotedIdentifier quotes a name for BigQuery and ClickHouse, with the same escapes as in their strings.
func backquotedIdentifier(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`", "\n", `\n`, "\r", `\r`).Replace(name) + "`"
}

// bigQueryName returns a name for a result column that is not in taken. BigQuery allows only letters, digits and _.
func bigQueryName(name string, taken map[string]bool) string {
	clean := strings.TrimRight(strings.Map(func(r rune) rune {
		if r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, strings.ReplaceAll(name, "]", "")), "_")
	if clean == "" || unicode.IsDigit(rune(clean[0])) {
		clean = "_" + clean
	}
	unique := clean
	for i := 2; taken[strings.ToLower(unique)]; i++ {
		unique = fmt.Sprintf("%s_%d", clean, i)
	}
	taken[strings.ToLower(unique)] = true
	return unique
}
