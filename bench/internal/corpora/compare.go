package corpora

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/app/recipe"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// comparison is the result of comparing the values that ufs-stream reads from a file with the values that DuckDB reads.
type comparison struct {
	comparedLeaves []string // names of the leaves (columns or fields) that were compared
	valueCount     int      // number of values of these leaves
	differences    []string // one sentence for each leaf that differs, or for the whole file
	notComparable  []string // leaves that DuckDB does not read as numbers, or cannot represent, with reasons
	refusal        string   // DuckDB's error if it cannot read the file or one of the leaves
}

func (c *comparison) recordRefusal(err error) error {
	if text, ok := errors.AsType[refusal](err); ok {
		c.refusal = string(text)
		return nil
	}
	return err
}

func (o *duckReader) compareLeaves(ctx context.Context, path, copied string, r *reading) (c comparison, err error) {
	if len(r.leaves) == 0 {
		return c, c.recordRefusal(o.readAllValues(ctx, copied))
	}
	places, err := r.locateLeaves(ctx, path)
	if err != nil {
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		c.differences = append(c.differences, fmt.Sprintf("its columns are read and cannot be found again: %v", err))
		return c, nil
	}
	if copied != path {
		for i := range places { // for other formats, convert has written the fields of structs as columns
			places[i].Path = []string{strings.Join(places[i].Path, ".")}
		}
	}
	pairs, err := o.makePairs(ctx, copied, r, places, &c)
	if err != nil {
		return c, c.recordRefusal(err)
	}
	err = o.comparePairs(ctx, copied, r.rows, pairs, &c)
	if errors.As(err, new(refusal)) && len(pairs) > 1 { // perhaps DuckDB refuses only one of the leaves, so try these one by one
		for i := range pairs {
			if err = c.recordRefusal(o.comparePairs(ctx, copied, r.rows, pairs[i:i+1], &c)); err != nil {
				break
			}
		}
	}
	return c, c.recordRefusal(err)
}

func (o *duckReader) comparePairs(ctx context.Context, path string, rows int64, pairs []pair, c *comparison) error {
	if len(pairs) == 0 {
		return nil
	}
	list := convert.Each(pairs, func(p pair) string { return p.expression })
	row, faults := 0, make([]leafDifference, len(pairs))
	err := o.runStatements(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+sqlTableOf(path), func(batch [][]*string) {
		for _, cells := range batch {
			for j, cell := range cells {
				if row < len(pairs[j].leaf.values) {
					faults[j].checkValue(row, pairs[j].leaf.values[row], pairs[j].duckExpression, cell)
				}
			}
			row++
		}
	})
	if err != nil {
		return err
	}
	if int64(row) != rows {
		c.differences = append(c.differences, fmt.Sprintf("%d rows, to DuckDB %d", rows, row))
	}
	for j, f := range faults {
		l := pairs[j].leaf
		c.comparedLeaves = append(c.comparedLeaves, l.Name)
		c.valueCount += min(row, len(l.values)) - f.beyond
		if f.beyond > 0 {
			c.notComparable = append(c.notComparable, fmt.Sprintf("%s (%s): %d of %d values are beyond what DuckDB's type holds", l.Name, l.Type, f.beyond, row))
		}
		if f.count > 0 {
			c.differences = append(c.differences, fmt.Sprintf("%s (%s): %d of %d values, %s", l.Name, l.Type, f.count, row, f.first))
		}
	}
	return nil
}

// pair is a leaf, together with the expression by which DuckDB reads it.
type pair struct {
	leaf *leaf
	duckExpression
}

func (o *duckReader) makePairs(ctx context.Context, path string, r *reading, places []recipe.Column, c *comparison) (pairs []pair, err error) {
	names, _, err := o.describeColumns(ctx, "FROM "+sqlTableOf(path))
	if err != nil {
		return nil, err
	}
	var present []int
	var list []string
	for i, p := range places {
		if !slices.Contains(names, p.Path[0]) {
			c.notComparable = append(c.notComparable, fmt.Sprintf("%s: DuckDB has no column of this name, perhaps because it does not tell letters by their case", r.leaves[i].Name))
			continue
		}
		present, list = append(present, i), append(list, fmt.Sprintf("%s AS c%d", p.DuckDB(), i))
	}
	if len(list) == 0 {
		return nil, nil
	}
	_, types, err := o.describeColumns(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+sqlTableOf(path))
	if err != nil {
		return nil, err
	}
	cut, err := o.queryRows(ctx, "SELECT name FROM parquet_schema("+quoteSQLString(path)+") WHERE logical_type LIKE 'TimestampType(isAdjustedToUTC=1%NANOS=Nano%'")
	if err != nil {
		return nil, err
	}
	for k, i := range present {
		l, path := &r.leaves[i], places[i].Path
		t, ok := newDuckExpression(places[i].DuckDB(), types[k])
		isCut := slices.ContainsFunc(cut, func(row []string) bool { return row[0] == path[len(path)-1] })
		switch {
		case !ok:
			c.notComparable = append(c.notComparable, fmt.Sprintf("%s: %s, to DuckDB %s", l.Name, l.Type, types[k]))
		case isCut || types[k] == "DOUBLE" && strings.HasPrefix(l.Type, "decimal"):
			c.notComparable = append(c.notComparable, fmt.Sprintf("%s: %s, which DuckDB rounds to %s", l.Name, l.Type, types[k]))
		default:
			if l.Type == "int96" { // int96 has nanoseconds, and DuckDB reads microseconds
				t.tolerance = 1e-6
			}
			pairs = append(pairs, pair{leaf: l, duckExpression: t})
		}
	}
	return pairs, nil
}

// leafDifference counts the differing values of a leaf.
type leafDifference struct {
	count  int
	first  string
	beyond int // number of the leaf's values that DuckDB cannot represent
}

func (f *leafDifference) checkValue(row int, ours float64, expression duckExpression, cell *string) {
	if expression.low < expression.high && (ours < expression.low || ours > expression.high) {
		f.beyond++
		return
	}
	theirs, err := expression.parseValue(cell)
	if err == nil && math.Float64bits(ours) == math.Float64bits(theirs) {
		return
	}
	if apart := math.Abs(ours - theirs); err == nil && expression.tolerance > 0 && apart <= max(expression.tolerance, math.Nextafter(math.Abs(ours), math.Inf(1))-math.Abs(ours)) {
		f.beyond++
		return
	}
	if f.count++; f.count > 1 {
		return
	}
	theirText := formatValue(theirs)
	if err != nil {
		theirText = err.Error()
	}
	f.first = fmt.Sprintf("row %d: %s, to DuckDB %s", row, formatValue(ours), theirText)
}

// formatValue writes a value with enough digits for a parser to recover the same bits. For a missing value it writes
// the kind of the missing value: null or inf.
func formatValue(x float64) string {
	switch math.Float64bits(x) {
	case stream.NullBits:
		return "null"
	case stream.InfBits:
		return "inf"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// compareCopy compares each row of a Parquet file, in columns of all types, with the row of the same number in a copy.
// The copy may have additional columns at the end, from the keys in the path.
func (o *duckReader) compareCopy(ctx context.Context, path, copied string) (c comparison, err error) {
	names, _, err := o.describeColumns(ctx, "FROM "+sqlTableOf(path))
	if err != nil {
		return c, c.recordRefusal(err)
	}
	expressions := convert.Each(names, func(name string) string { return recipe.Column{Path: []string{name}, Element: -1}.DuckDB() })
	numbered := func(path string) string {
		return fmt.Sprintf("SELECT %s, file_row_number FROM read_parquet(%s, hive_partitioning = false, file_row_number = true)", strings.Join(expressions, ", "), quoteSQLString(path))
	}
	const only = "SELECT count(*) FROM ((%s) EXCEPT ALL (%s))"
	first, second := numbered(path), numbered(copied)
	rows, err := o.queryRows(ctx, fmt.Sprintf("SELECT ("+only+"), ("+only+")", first, second, second, first))
	if err != nil {
		return c, c.recordRefusal(err)
	}
	c.comparedLeaves = names
	if lost, added := rows[0][0], rows[0][1]; lost != "0" || added != "0" {
		c.differences = append(c.differences, fmt.Sprintf("convert: %s rows of the file are not in the copy, %s of the copy not in the file", lost, added))
	}
	return c, nil
}
