package namelist

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Titles of columns in lists of features, without blanks, dots, hyphens and underscores. The first is preferred.
var (
	nameTitles  = []string{"feature", "features", "name", "names", "featurename", "featurenames", "variable", "variables", "columnname", "column", "columns", "gene", "genes", "selected", "selectedfeatures"}
	rankTitles  = []string{"rank", "ranking", "ranks", "order", "place", "k"}
	scoreTitles = []string{"score", "scores", "importance", "importances", "featureimportance", "weight", "weights", "gain", "relevance"}
)

// table describes the columns of a CSV.
type table struct {
	comma              rune
	first              []string // the first row
	numbers, texts     []int    // fields of each column below the first row that are numbers, and that are other text
	hasHeader          bool
	name, rank, scores int // indices of columns; -1 if there are none
}

// looksLikeTable reports whether a text without a telling file name is CSV: a line begins with a quote, or the first line
// is a header with a title of names and other titles.
func looksLikeTable(text []byte) bool {
	if bytes.HasPrefix(text, []byte(`"`)) || bytes.Contains(text, []byte("\n\"")) {
		return true
	}
	for line := range bytes.Lines(text[:min(len(text), maxNameBytes)]) {
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		fields := bytes.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ';' || r == '\t' })
		return len(fields) > 1 && slices.ContainsFunc(fields, func(f []byte) bool { return isTitle(string(f), nameTitles) })
	}
	return false
}

func isTitle(field string, titles []string) bool { return slices.Contains(titles, plainTitle(field)) }

func plainTitle(field string) string {
	return strings.NewReplacer(" ", "", "_", "", "-", "", ".", "", `"`, "").Replace(strings.ToLower(strings.TrimSpace(field)))
}

// readTable reads a CSV. Its fields are separated by tabs, commas or semicolons: the first of these that divides all
// rows into the same number of fields, two or more. Otherwise it has one column.
func (l *List) readTable(ctx context.Context, path string, text []byte) error {
	t, err := examineTable(ctx, path, text)
	if err != nil || t == nil {
		return err
	}
	if err := t.chooseColumns(path); err != nil {
		return err
	}
	key, sign := t.rank, 1.0
	if key < 0 {
		key, sign = t.scores, -1
	}
	l.Note = t.describeReading(path)
	return eachRow(ctx, path, text, t.comma, func(r row) error {
		if r.isFirst && t.hasHeader {
			return nil
		}
		l.at = r.InputOffset()
		if err := l.addName(ctx, path, r.fields[t.name], r.line(t.name)); err != nil {
			return err
		}
		if t.scores >= 0 {
			score, err := r.parseNumber(path, t, t.scores)
			if err != nil {
				return err
			}
			l.scores = append(l.scores, score)
		}
		if key >= 0 {
			x, err := r.parseNumber(path, t, key)
			if err != nil {
				return err
			}
			l.keys = append(l.keys, sign*x)
		}
		return nil
	})
}

// examineTable finds the separator of a CSV, and describes its columns. It returns nil if the CSV has no rows.
func examineTable(ctx context.Context, path string, text []byte) (*table, error) {
	var byCommas *table
	var failed error
	for _, comma := range []rune{'\t', ',', ';'} {
		t := &table{comma: comma}
		err := eachRow(ctx, path, text, comma, func(r row) error {
			t.addRow(r)
			return nil
		})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil && len(t.first) > 1:
			return t, nil
		case comma == ',' && len(t.first) > 0:
			byCommas, failed = t, err
		case comma == ',':
			failed = err
		}
	}
	return byCommas, failed
}

func (t *table) addRow(r row) {
	if r.isFirst {
		t.numbers, t.texts = make([]int, len(r.fields)), make([]int, len(r.fields))
		for _, field := range r.fields {
			t.first = append(t.first, strings.Clone(field))
		}
		return
	}
	for i, field := range r.fields {
		switch {
		case isNumber(field):
			t.numbers[i]++
		case field != "":
			t.texts[i]++
		}
	}
}

func (t *table) isNumeric(column int) bool { return t.numbers[column] > 0 && t.texts[column] == 0 }

func isNumber(field string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// chooseColumns decides whether the first row is a header, and which columns contain names, ranks and scores. The first
// row is a header if it has a title of names, or if some column has numbers only below it, or text only below it.
func (t *table) chooseColumns(path string) error {
	t.name, t.rank, t.scores = -1, -1, -1
	t.hasHeader = slices.ContainsFunc(t.first, func(f string) bool { return isTitle(f, nameTitles) })
	for i, field := range t.first {
		differs := t.isNumeric(i) && !isNumber(field) || t.texts[i] > 0 && field == ""
		t.hasHeader = t.hasHeader || differs && len(t.first) > 1
	}
	if t.hasHeader {
		t.rank, t.scores = t.findColumn(rankTitles, false), t.findColumn(scoreTitles, false)
		if t.name = t.findColumn(nameTitles, true); t.name < 0 {
			t.name = t.findColumn(nameTitles, false)
		}
	}
	if t.name >= 0 {
		return nil
	}
	var texts []int
	for i, field := range t.first {
		isText := t.texts[i] > 0 || !t.hasHeader && field != "" && !isNumber(field)
		if len(t.first) == 1 || isText && i != t.rank && i != t.scores {
			texts = append(texts, i)
		}
	}
	if len(texts) != 1 {
		err := stream.Dataf(path, "%d of its %d columns may have the names of features", len(texts), len(t.first))
		err.Remedy = stream.Textf("give it a first line in which that column has the title name")
		return err
	}
	t.name = texts[0]
	return nil
}

func (t *table) findColumn(titles []string, textOnly bool) int {
	for _, title := range titles {
		for i, field := range t.first {
			if plainTitle(field) == title && (!textOnly || !t.isNumeric(i)) {
				return i
			}
		}
	}
	return -1
}

func (t *table) describeReading(path string) stream.Text {
	if !t.hasHeader {
		return stream.Textf("%s: column %d of the CSV is taken as names of features, the best first, and its first line is no header", path, t.name+1)
	}
	names, order := strconv.Quote(t.first[t.name]), "the best first"
	switch {
	case t.rank >= 0:
		order = "ordered by " + strconv.Quote(t.first[t.rank])
	case t.scores >= 0:
		order = "ordered by " + strconv.Quote(t.first[t.scores]) + ", the largest first"
	}
	return stream.Textf("%s: its first line is a header, and the column %s is taken as names of features, %s", path, names, order)
}

func (r row) parseNumber(path string, t *table, column int) (float64, error) {
	field := strings.TrimSpace(r.fields[column])
	x, err := strconv.ParseFloat(field, 64)
	switch {
	case field == "":
		return math.NaN(), nil
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, errLine(path, r.line(column), "%q in the column %q is no number", field, t.first[column])
	}
	return x, nil
}

// maxRowBytes bounds the size of a row, and with it the memory for a text whose quotes are not closed.
const maxRowBytes = 1 << 20

var errLongRow = stream.Errorf("a row has more than %d bytes, or its quotes are not closed", maxRowBytes)

// rowLimit is a reader that fails if more than maxRowBytes bytes are read before left is set again.
type rowLimit struct {
	text *bytes.Reader
	left int
}

func (r *rowLimit) Read(to []byte) (int, error) {
	if r.left <= 0 {
		return 0, errLongRow
	}
	n, err := r.text.Read(to[:min(len(to), r.left)])
	r.left -= n
	return n, err
}

type row struct {
	*csv.Reader
	fields  []string
	isFirst bool
}

func (r row) line(field int) int {
	n, _ := r.FieldPos(field)
	return n
}

// eachRow calls visit for each row that is not empty. Lines that begin with # are comments.
func eachRow(ctx context.Context, path string, text []byte, comma rune, visit func(row) error) error {
	limited := &rowLimit{text: bytes.NewReader(text), left: maxRowBytes}
	r := row{Reader: csv.NewReader(limited), isFirst: true}
	r.Comma, r.Comment, r.ReuseRecord, r.TrimLeadingSpace = comma, '#', true, comma != '\t'
	for rows := 0; ; rows++ {
		if rows%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		begin := r.InputOffset()
		fields, err := r.Read()
		wrong := (*csv.ParseError)(nil)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &wrong):
			bad := errLine(path, wrong.Line, "%w", wrong.Err)
			bad.Remedy = stream.Textf("write it as CSV, or as text with a name on each line")
			return bad
		case err != nil:
			return errLine(path, 1+bytes.Count(text[:begin], []byte("\n")), "%w", err)
		}
		limited.left = maxRowBytes
		if !slices.ContainsFunc(fields, func(f string) bool { return f != "" }) {
			continue
		}
		r.fields = fields
		if err := visit(r); err != nil {
			return err
		}
		r.isFirst = false
	}
}
