package corpora

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/duckdb"
	"github.com/ufs-stream/ufs-stream/stream"
)

// other is the other reader: DuckDB, in a session that is started again when a file has ended it.
type other struct {
	module  string // the folder of its npm package
	giveUp  time.Duration
	session *duckdb.Session
	end     context.CancelFunc
}

// inItsWords is how DuckDB names the file in a message.
var inItsWords = regexp.MustCompile(`"(/|[A-Za-z]:)[^"]*"`)

// refusal is what DuckDB refuses, or how it ended.
type refusal string

func (r refusal) Error() string { return string(r) }

// ask runs statements; what DuckDB refuses, and its death or hang, is a refusal.
func (o *other) ask(ctx context.Context, statements string, take func(batch [][]*string)) error {
	if o.session == nil {
		// Nothing is installed or loaded behind our back: what DuckDB reads is what it reads by itself.
		// Nor does it answer from what it has kept of another file that had the same name.
		const settings = `SET autoinstall_known_extensions = false; SET autoload_known_extensions = false;
			SET enable_external_file_cache = false; SET memory_limit = '2GB'; SET TimeZone = 'UTC'`
		within, end := context.WithCancel(ctx)
		s, err := duckdb.Start(within, o.module, "")
		if err == nil {
			_, err = s.Query(settings)
		}
		if err != nil {
			end()
			return err
		}
		o.session, o.end = s, end
	}
	stop := time.AfterFunc(o.giveUp, o.end)
	r, err := o.session.Each(statements, take)
	stop.Stop()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		o.close()
		return refusal(strings.TrimSpace(err.Error()))
	case r.Error != "":
		if strings.HasPrefix(r.Error, "FATAL") || strings.HasPrefix(r.Error, "INTERNAL") {
			o.close() // behind such an error DuckDB answers nothing more
		}
		first, _, _ := strings.Cut(r.Error, "\n")
		return refusal(inItsWords.ReplaceAllString(first, "FILE"))
	}
	return nil
}

// rows are the rows of a small result, null as "".
func (o *other) rows(ctx context.Context, statements string) (rows [][]string, err error) {
	err = o.ask(ctx, statements, func(batch [][]*string) {
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

// close ends the session.
func (o *other) close() {
	if o.session != nil {
		o.end()
		o.session.Close()
		o.session = nil
	}
}

// from is a Parquet file as a table of DuckDB; its path makes no columns.
func from(path string) string {
	return fmt.Sprintf("read_parquet(%s, hive_partitioning = false)", quoted(path))
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// readsAll reads every value of a file, as text, so that no statistics stand in for values.
func (o *other) readsAll(ctx context.Context, path string) error {
	_, err := o.rows(ctx, "SELECT max(COLUMNS(*)::VARCHAR) FROM "+from(path))
	return err
}

// twin is how DuckDB tells a leaf: by an expression of text, and the power of ten by which numbers are
// written in it. Decimals and times are told by their digits, which are rounded to float64 here, once.
type twin struct {
	expression string
	exponent   int
	low, high  float64 // of times: numbers outside DuckDB wraps around, so that they cannot be compared
	cut        float64 // of times: what DuckDB may cut off
}

// twinOf is the twin of an expression of a type; ok is false for types that are no numbers.
func twinOf(expression, typ string) (t twin, ok bool) {
	const day = 24 * 60 * 60
	name, _, _ := strings.Cut(typ, "(")
	text := func(format string) string { return "(" + fmt.Sprintf(format, expression) + ")::VARCHAR" }
	switch name {
	case "BOOLEAN":
		return twin{expression: text("%s::TINYINT")}, true
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "DECIMAL":
		return twin{expression: text("%s")}, true
	case "FLOAT", "DOUBLE":
		return twin{expression: text("%s::DOUBLE")}, true
	case "DATE":
		return twin{expression: text("%s - DATE '1970-01-01'")}, true
	case "TIMESTAMP_NS":
		return twin{expression: text("epoch_ns(%s)"), exponent: -9, low: math.MinInt64 / 1e9, high: math.MaxInt64 / 1e9}, true
	case "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_S", "TIMESTAMP_MS":
		return twin{expression: text("epoch_us(%s)"), exponent: -6, low: math.MinInt64 / 1e6, high: math.MaxInt64 / 1e6}, true
	case "TIME_NS":
		return twin{expression: text("epoch_ns(%s)"), exponent: -9, low: 0, high: day}, true
	case "TIME", "TIME WITH TIME ZONE":
		return twin{expression: text("epoch_us(%s)"), exponent: -6, low: 0, high: day}, true
	}
	return twin{}, false
}

// value is the value of a twin's text, marked as ufs-stream marks what is missing.
func (t twin) value(text *string) (float64, error) {
	if text == nil {
		return math.Float64frombits(stream.NullBits), nil
	}
	digits := *text
	if digits == "-nan" {
		digits = "nan" // a NaN has no sign that counts
	}
	if t.exponent != 0 {
		digits += "e" + strconv.Itoa(t.exponent)
	}
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0, fmt.Errorf("DuckDB's text %q is no number", *text)
	}
	if math.IsInf(x, 0) || math.IsNaN(x) {
		x = stream.Missed(x)
	}
	return x, nil
}

// columns are DuckDB's names and types of the columns of a query.
func (o *other) columns(ctx context.Context, query string) (names, types []string, err error) {
	rows, err := o.rows(ctx, "DESCRIBE "+query)
	for _, row := range rows {
		names, types = append(names, row[0]), append(types, row[1])
	}
	return names, types, err
}
