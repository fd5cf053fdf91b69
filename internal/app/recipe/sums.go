package recipe

import (
	"fmt"
	"io"
	"strings"
)

// SumColumns lists the columns of the result of [WriteSums]: a row for each pair of columns x and y of the input,
// and for each column with itself. total is the number of rows, and n the number of rows that have both. Sums are of
// differences from a shift near the mean, over these n rows; the least and the greatest value are of all values of x.
func SumColumns() []string {
	return []string{"x", "y", "total", "n", "shift_x", "shift_y", "sum_x", "sum_y", "sum_xy", "min_x", "max_x"}
}

// WriteSums writes a query for the sums from which all correlations and covariances of the columns follow. It reads the
// table twice: for the means, and for the sums. NaN and infinite values are missing, like null.
func WriteSums(w io.Writer, r *Recipe) error {
	inner, err := r.sqlQuery()
	if err != nil {
		return err
	}
	number := map[string]string{"bigquery": "FLOAT64", "clickhouse": "Nullable(Float64)"}[r.Dialect]
	if number == "" {
		number = "DOUBLE"
	}
	var raw, finite, means, shifted []string
	sums := []string{"count(*) AS total"}
	names := map[string]bool{}
	for k, c := range r.Columns {
		name := c.Name
		if r.Dialect == "bigquery" {
			name = bigQueryName(name, names)
		}
		raw = append(raw, fmt.Sprintf("CAST(%s AS %s) AS r%d", r.quoteIdentifier(name), number, k))
		finite = append(finite, fmt.Sprintf("CASE WHEN abs(r%d) <= 1.7976931348623157e308 THEN r%[1]d END AS f%[1]d", k))
		means = append(means, fmt.Sprintf("avg(f%d) AS m%[1]d", k))
		shifted = append(shifted, fmt.Sprintf("m%d, f%[1]d, f%[1]d - m%[1]d AS v%[1]d", k))
		sums = append(sums, fmt.Sprintf("max(m%d) AS shift%[1]d, min(f%[1]d) AS low%[1]d, max(f%[1]d) AS high%[1]d", k))
		for j := range k + 1 {
			sums = append(sums, fmt.Sprintf("count(v%d + v%d) AS n%[1]d_%[2]d, sum(CASE WHEN v%[2]d IS NOT NULL THEN v%[1]d END) AS x%[1]d_%[2]d, sum(CASE WHEN v%[1]d IS NOT NULL THEN v%[2]d END) AS y%[1]d_%[2]d, sum(v%[1]d * v%[2]d) AS p%[1]d_%[2]d", j, k))
		}
	}
	list := func(expressions []string) string {
		return "  SELECT\n    " + strings.Join(expressions, ",\n    ") + "\n"
	}
	_, err = fmt.Fprintf(w, `-- sums of the pairs of %d columns, which ufs-stream makes statistics of if the result is saved as CSV or Parquet
WITH chosen AS (
%s
), raw_values AS (
%s  FROM chosen
), finite_values AS (
%s  FROM raw_values
), means AS (
%s  FROM finite_values
), shifted AS (
%s  FROM finite_values CROSS JOIN means
), sums AS (
%s  FROM shifted
)
%s;
`, len(r.Columns), strings.TrimSuffix(inner, ";\n"), list(raw), list(finite), list(means), list(shifted), list(sums), rowsOfSums(r))
	return err
}

func rowsOfSums(r *Recipe) string {
	titles := SumColumns()
	var rows []string
	for i, x := range r.Columns {
		for j := i; j < len(r.Columns); j++ {
			values := []string{sqlString(r.Dialect, x.Name), sqlString(r.Dialect, r.Columns[j].Name), "total"}
			for _, format := range []string{"n%[1]d_%[2]d", "shift%[1]d", "shift%[2]d", "x%[1]d_%[2]d", "y%[1]d_%[2]d", "p%[1]d_%[2]d", "low%[1]d", "high%[1]d"} {
				values = append(values, fmt.Sprintf(format+"%[3]s", i, j, ""))
			}
			for k, value := range values {
				switch r.Dialect {
				case "duckdb":
					values[k] = fmt.Sprintf("'%s': %s", titles[k], value)
				case "spark":
					values[k] = fmt.Sprintf("'%s', %s", titles[k], value)
				case "bigquery", "snowflake":
					values[k] = value + " AS " + r.quoteIdentifier(titles[k])
				}
			}
			rows = append(rows, strings.Join(values, ", "))
		}
	}
	enclose := func(open, end string) string { return open + strings.Join(rows, end+",\n  "+open) + end }
	switch r.Dialect {
	case "duckdb":
		return "SELECT unnest([\n  " + enclose("{", "}") + "\n], recursive := true) FROM sums"
	case "spark":
		return "SELECT inline(array(\n  " + enclose("named_struct(", ")") + "\n)) FROM sums"
	case "bigquery":
		return "SELECT entry.* FROM sums CROSS JOIN UNNEST([\n  " + enclose("STRUCT(", ")") + "\n]) AS entry"
	case "snowflake":
		return "SELECT " + strings.Join(rows, " FROM sums\nUNION ALL SELECT ") + " FROM sums"
	}
	for k, title := range titles {
		titles[k] = fmt.Sprintf("tupleElement(entry, %d) AS %s", k+1, r.quoteIdentifier(title))
	}
	return "SELECT " + strings.Join(titles, ", ") + " FROM (SELECT arrayJoin([\n  " + enclose("(", ")") + "\n]) AS entry FROM sums)"
}

func sqlString(dialect, s string) string {
	if dialect == "duckdb" { // the only dialect without escapes
		return duckDBString(s)
	}
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`).Replace(s) + "'"
}
