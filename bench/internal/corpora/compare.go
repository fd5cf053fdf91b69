package corpora

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/recipe"
	"github.com/ufs-stream/ufs-stream/stream"
)

// comparison is a file beside DuckDB's reading of it.
type comparison struct {
	judged    []string // leaves that were compared
	values    int      // of these
	different []string // each a leaf, or a fault of the whole file: what is different
	apart     []string // leaves that are no numbers to DuckDB, or have values that it cannot hold, and why
	refusal   string   // DuckDB's, where it does not read the file, or a leaf
}

// take makes an error of ask a part of the comparison; what remains is an interruption.
func (c *comparison) take(err error) error {
	var told refusal
	if errors.As(err, &told) {
		c.refusal = string(told)
		return nil
	}
	return err
}

// compare compares every leaf of a reading of the file at path with DuckDB's reading of a Parquet file: of the
// same, or of its copy.
func (o *other) compare(ctx context.Context, path, parquet string, r *reading) (c comparison, err error) {
	if len(r.leaves) == 0 {
		return c, c.take(o.readsAll(ctx, parquet))
	}
	places, err := r.places(ctx, path)
	if err != nil {
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		c.different = append(c.different, fmt.Sprintf("its columns are read and cannot be found again: %v", err))
		return c, nil
	}
	if parquet != path {
		for i := range places { // convert writes the fields of structs of other formats as columns
			places[i].Path = []string{strings.Join(places[i].Path, ".")}
		}
	}
	pairs, err := o.pairs(ctx, parquet, r, places, &c)
	if err != nil {
		return c, c.take(err)
	}
	err = o.comparePairs(ctx, parquet, r.rows, pairs, &c)
	if errors.As(err, new(refusal)) && len(pairs) > 1 { // one of them may be what it refuses
		for i := range pairs {
			if err = c.take(o.comparePairs(ctx, parquet, r.rows, pairs[i:i+1], &c)); err != nil {
				break
			}
		}
	}
	return c, c.take(err)
}

// comparePairs compares some leaves, if DuckDB reads them all.
func (o *other) comparePairs(ctx context.Context, path string, rows int64, pairs []pair, c *comparison) error {
	if len(pairs) == 0 {
		return nil
	}
	var list []string
	for _, p := range pairs {
		list = append(list, p.expression)
	}
	row, faults := 0, make([]fault, len(pairs))
	err := o.ask(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+from(path), func(batch [][]*string) {
		for _, cells := range batch {
			for j, cell := range cells {
				if row < len(pairs[j].values) {
					faults[j].check(row, pairs[j].values[row], pairs[j].twin, cell)
				}
			}
			row++
		}
	})
	if err != nil {
		return err
	}
	if int64(row) != rows {
		c.different = append(c.different, fmt.Sprintf("%d rows, to DuckDB %d", rows, row))
	}
	for j, f := range faults {
		l := pairs[j].leaf
		c.judged = append(c.judged, l.Name)
		c.values += min(row, len(l.values)) - f.beyond
		if f.beyond > 0 {
			c.apart = append(c.apart, fmt.Sprintf("%s (%s): %d of %d values are beyond what DuckDB's type holds", l.Name, l.Type, f.beyond, row))
		}
		if f.count > 0 {
			c.different = append(c.different, fmt.Sprintf("%s (%s): %d of %d values, %s", l.Name, l.Type, f.count, row, f.first))
		}
	}
	return nil
}

// pair is a leaf and its twin.
type pair struct {
	*leaf
	twin
}

// pairs are the leaves that are as exact to DuckDB as they are to us; the others are told apart.
func (o *other) pairs(ctx context.Context, path string, r *reading, places []recipe.Column, c *comparison) (pairs []pair, err error) {
	names, _, err := o.columns(ctx, "FROM "+from(path))
	if err != nil {
		return nil, err
	}
	var there []int
	var list []string
	for i, p := range places {
		if !slices.Contains(names, p.Path[0]) {
			c.apart = append(c.apart, fmt.Sprintf("%s: DuckDB has no column of this name, perhaps because it does not tell letters by their case", r.leaves[i].Name))
			continue
		}
		there, list = append(there, i), append(list, fmt.Sprintf("%s AS c%d", p.DuckDB(), i))
	}
	if len(list) == 0 {
		return nil, nil
	}
	_, types, err := o.columns(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+from(path))
	if err != nil {
		return nil, err
	}
	cut, err := o.rows(ctx, "SELECT name FROM parquet_schema("+quoted(path)+") WHERE logical_type LIKE 'TimestampType(isAdjustedToUTC=1%NANOS=Nano%'")
	if err != nil {
		return nil, err
	}
	for k, i := range there {
		l, path := &r.leaves[i], places[i].Path
		t, ok := twinOf(places[i].DuckDB(), types[k])
		isCut := slices.ContainsFunc(cut, func(row []string) bool { return row[0] == path[len(path)-1] })
		switch {
		case !ok:
			c.apart = append(c.apart, fmt.Sprintf("%s: %s, to DuckDB %s", l.Name, l.Type, types[k]))
		case isCut || types[k] == "DOUBLE" && strings.HasPrefix(l.Type, "decimal"):
			c.apart = append(c.apart, fmt.Sprintf("%s: %s, which DuckDB rounds to %s", l.Name, l.Type, types[k]))
		default:
			if l.Type == "int96" { // of nanoseconds
				t.cut = 1e-6
			}
			pairs = append(pairs, pair{l, t})
		}
	}
	return pairs, nil
}

// fault counts the values of a leaf that are different.
type fault struct {
	count  int
	first  string
	beyond int // values that DuckDB cannot hold
}

func (f *fault) check(row int, ours float64, t twin, cell *string) {
	if t.low < t.high && (ours < t.low || ours > t.high) {
		f.beyond++
		return
	}
	theirs, err := t.value(cell)
	if err == nil && math.Float64bits(ours) == math.Float64bits(theirs) {
		return
	}
	if apart := math.Abs(ours - theirs); err == nil && t.cut > 0 && apart <= max(t.cut, math.Nextafter(math.Abs(ours), math.Inf(1))-math.Abs(ours)) {
		f.beyond++
		return
	}
	if f.count++; f.count > 1 {
		return
	}
	told := word(theirs)
	if err != nil {
		told = err.Error()
	}
	f.first = fmt.Sprintf("row %d: %s, to DuckDB %s", row, word(ours), told)
}

// word is a value as text that comes back to the same bits, what is missing by its kind.
func word(x float64) string {
	switch math.Float64bits(x) {
	case stream.NullBits:
		return "null"
	case stream.InfBits:
		return "inf"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// compareCopy compares the rows of a copy of a Parquet file with the file's, in their order, whatever their types
// are. What the path makes columns of in the copy is behind those of the file.
func (o *other) compareCopy(ctx context.Context, path, copied string) (c comparison, err error) {
	names, _, err := o.columns(ctx, "FROM "+from(path))
	if err != nil {
		return c, c.take(err)
	}
	kept := make([]string, len(names))
	for i, name := range names {
		kept[i] = recipe.Column{Path: []string{name}, Element: -1}.DuckDB()
	}
	numbered := func(path string) string {
		return fmt.Sprintf("SELECT %s, file_row_number FROM read_parquet(%s, hive_partitioning = false, file_row_number = true)", strings.Join(kept, ", "), quoted(path))
	}
	const only = "SELECT count(*) FROM ((%s) EXCEPT ALL (%s))"
	first, second := numbered(path), numbered(copied)
	rows, err := o.rows(ctx, fmt.Sprintf("SELECT ("+only+"), ("+only+")", first, second, second, first))
	if err != nil {
		return c, c.take(err)
	}
	c.judged = names
	if lost, added := rows[0][0], rows[0][1]; lost != "0" || added != "0" {
		c.different = append(c.different, fmt.Sprintf("convert: %s rows of the file are not in the copy, %s of the copy not in the file", lost, added))
	}
	return c, nil
}
