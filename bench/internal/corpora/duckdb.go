package corpora

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/duckdb"
	"github.com/ufs-stream/ufs-stream/stream"
)

// duckReader reads files with a DuckDB process that it keeps running. If a file crashes DuckDB, it starts a new
// process.
type duckReader struct {
	module  string // the folder of DuckDB's npm package
	giveUp  time.Duration
	session *duckdb.Session
	cancel  context.CancelFunc
}

// quotedPath matches a file's path in DuckDB's messages.
var quotedPath = regexp.MustCompile(`"(/|[A-Za-z]:)[^"]*"`)

// refusal is an error message of DuckDB, or a sentence about how its process ended.
type refusal string

func (r refusal) Error() string { return string(r) }

// runStatements runs statements and passes the rows to the function take. If DuckDB reports an error, crashes or hangs,
// it returns a refusal.
func (o *duckReader) runStatements(ctx context.Context, statements string, take func(batch [][]*string)) error {
	if o.session == nil {
		// DuckDB must only read formats that it supports itself, so it must not install or load extensions. It must not
		// use cached data of another file with the same name.
		const settings = `SET autoinstall_known_extensions = false; SET autoload_known_extensions = false;
			SET enable_external_file_cache = false; SET memory_limit = '2GB'; SET TimeZone = 'UTC'`
		within, end := context.WithCancel(ctx)
		s, err := duckdb.StartSession(within, o.module, "")
		if err == nil {
			_, err = s.Query(settings)
		}
		if err != nil {
			end()
			return err
		}
		o.session, o.cancel = s, end
	}
	stop := time.AfterFunc(o.giveUp, o.cancel)
	r, err := o.session.QueryBatches(statements, take)
	stop.Stop()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		o.endSession()
		return refusal(strings.TrimSpace(err.Error()))
	case r.Error != "":
		if strings.HasPrefix(r.Error, "FATAL") || strings.HasPrefix(r.Error, "INTERNAL") {
			o.endSession() // after such an error DuckDB does not answer any more
		}
		first, _, _ := strings.Cut(r.Error, "\n")
		return refusal(quotedPath.ReplaceAllString(first, "FILE"))
	}
	return nil
}

func (o *duckReader) queryRows(ctx context.Context, statements string) (rows [][]string, err error) {
	err = o.runStatements(ctx, statements, func(batch [][]*string) {
		for _, row := range batch {
			cells := make([]string, len(row))
			for i, c := range row {
				if c != nil {
					cells[i] = *c
				}
			}
			rows = append(rows, cells)
		}
	})
	return rows, err
}

func (o *duckReader) endSession() {
	if o.session != nil {
		o.cancel()
		o.session.Close()
		o.session = nil
	}
}

func sqlTableOf(path string) string {
	return fmt.Sprintf("read_parquet(%s, hive_partitioning = false)", quoteSQLString(path))
}

func quoteSQLString(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// readAllValues makes DuckDB read every value of a file. The query converts the values to text. Otherwise DuckDB could
// find the maximum of a column in the statistics of the file, without reading the values.
func (o *duckReader) readAllValues(ctx context.Context, path string) error {
	_, err := o.queryRows(ctx, "SELECT max(COLUMNS(*)::VARCHAR) FROM "+sqlTableOf(path))
	return err
}

// duckExpression describes how to read a leaf in DuckDB. For each value DuckDB evaluates expression to a number,
// written as text. The value is this number times 10^exponent, which parseValue rounds to float64.
type duckExpression struct {
	expression string
	exponent   int
	low, high  float64 // for times: range of the values that DuckDB can represent without overflow
	tolerance  float64 // for times: largest error of DuckDB's value, which may be truncated
}

func newDuckExpression(expression, columnType string) (t duckExpression, ok bool) {
	const day = 24 * 60 * 60
	name, _, _ := strings.Cut(columnType, "(")
	text := func(format string) string { return "(" + fmt.Sprintf(format, expression) + ")::VARCHAR" }
	switch name {
	case "BOOLEAN":
		return duckExpression{expression: text("%s::TINYINT")}, true
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "DECIMAL":
		return duckExpression{expression: text("%s")}, true
	case "FLOAT", "DOUBLE":
		return duckExpression{expression: text("%s::DOUBLE")}, true
	case "DATE":
		return duckExpression{expression: text("%s - DATE '1970-01-01'")}, true
	case "TIMESTAMP_NS":
		return duckExpression{expression: text("epoch_ns(%s)"), exponent: -9, low: math.MinInt64 / 1e9, high: math.MaxInt64 / 1e9}, true
	case "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_S", "TIMESTAMP_MS":
		return duckExpression{expression: text("epoch_us(%s)"), exponent: -6, low: math.MinInt64 / 1e6, high: math.MaxInt64 / 1e6}, true
	case "TIME_NS":
		return duckExpression{expression: text("epoch_ns(%s)"), exponent: -9, low: 0, high: day}, true
	case "TIME", "TIME WITH TIME ZONE":
		return duckExpression{expression: text("epoch_us(%s)"), exponent: -6, low: 0, high: day}, true
	}
	return duckExpression{}, false
}

func (t duckExpression) parseValue(text *string) (float64, error) {
	if text == nil {
		return math.Float64frombits(stream.NullBits), nil
	}
	digits := *text
	if digits == "-nan" {
		digits = "nan" // the sign of a NaN does not matter
	}
	if t.exponent != 0 {
		digits += "e" + strconv.Itoa(t.exponent)
	}
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0, fmt.Errorf("DuckDB's text %q is no number", *text)
	}
	if math.IsInf(x, 0) || math.IsNaN(x) {
		x = stream.MissingValue(x)
	}
	return x, nil
}

func (o *duckReader) describeColumns(ctx context.Context, query string) (names, types []string, err error) {
	rows, err := o.queryRows(ctx, "DESCRIBE "+query)
	for _, row := range rows {
		names, types = append(names, row[0]), append(types, row[1])
	}
	return names, types, err
}
