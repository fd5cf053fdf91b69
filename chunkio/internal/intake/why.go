package intake

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// turningValue is the value that turned a column of another kind into text.
type turningValue struct {
	line  int64
	value string
}

func (o *columnObserver) recordTurnToText(columnIndex int, kindBefore Kind, line int64, value string) {
	if kindBefore == Unknown {
		return
	}
	if o.turnedToText == nil {
		o.turnedToText = map[int]turningValue{}
	}
	o.turnedToText[columnIndex] = turningValue{line, strings.Clone(value)}
}

// textSummary summarizes the values of the sample in a text column.
type textSummary struct {
	first       turningValue // the first value that is not a number
	numbers     int
	texts       int
	textsDiffer bool   // the column contains different texts
	form        string // form of the numbers that are written as texts; empty if there are none
	formless    int    // number of texts that do not look like a number in any form
}

func (r *csvReader) explainTexts(p piece) error {
	isText := func(c Column) bool { return c.Kind == Text }
	if !slices.ContainsFunc(r.columns, isText) {
		return nil
	}
	seen := make([]textSummary, len(r.columns))
	err := r.eachRecord(p, func(line int64, record []string) error {
		for j, s := range record {
			s = trimBlanks(s)
			if !isText(r.columns[j]) {
				continue
			}
			if r.nulls.isNull(s) {
				r.nullsFound = addNullSpelling(r.nullsFound, s)
			} else {
				seen[j].addText(line, s)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var singles []int
	for j := range seen {
		if isText(r.columns[j]) && r.explainText(j, &seen[j]) {
			singles = append(singles, j)
		}
	}
	r.addSingleSpellingDoubts(singles, seen)
	return nil
}

// maxFormed limits the number of texts of a column that are analysed for the form of numbers.
const maxFormed = 1000

func (t *textSummary) addText(line int64, s string) {
	if _, ok := parseFloat(s); ok {
		t.numbers++
		return
	}
	if t.texts++; t.texts == 1 {
		t.first = turningValue{line, strings.Clone(s)}
	}
	t.textsDiffer = t.textsDiffer || s != t.first.value
	if t.texts > maxFormed {
		return
	}
	form := formOfNumber(s)
	switch {
	case form == "" && isPunctuation(s): // a punctuation mark represents a missing value
	case form == "":
		t.formless++
	case t.form == "" || t.form == thousandsCommas && form == decimalCommas: // 1,234 can have both forms
		t.form = form
	}
}

// explainText records the reason why column j is text, and reports whether this reason is a single spelling.
func (r *csvReader) explainText(j int, t *textSummary) (isSingle bool) {
	name := r.columns[j].Name
	switch place := t.first.String(); {
	case t.form != "" && min(t.texts, maxFormed) > 2*t.formless:
		r.columns[j].Why = fmt.Sprintf("text: its numbers have %s (%s)", t.form, place)
		r.notes = append(r.notes, stream.Textf("%s: column %q is text, as its numbers have %s (%s): write them as 1234.5", r.name, name, t.form, place))
	case t.numbers > 0:
		r.columns[j].Why = "text (" + place + ")"
		if isSingle = t.numbers >= t.texts && !t.textsDiffer; t.numbers >= t.texts && t.textsDiffer {
			r.doubts = append(r.doubts, stream.Textf("%s: column %q is text, as not all of its values are numbers (%s)", r.name, name, place))
		}
	}
	return isSingle
}

// addSingleSpellingDoubts adds a warning about columns that are text because of a single spelling. One warning covers
// all columns with the same spelling. One warning also covers different spellings in one line, because that line is
// probably not a row.
func (r *csvReader) addSingleSpellingDoubts(columns []int, seen []textSummary) {
	lines := map[int64][]int{}
	for _, j := range columns {
		lines[seen[j].first.line] = append(lines[seen[j].first.line], j)
	}
	warned := map[string]bool{}
	for _, j := range columns {
		first := seen[j].first
		sameLine := lines[first.line]
		alike := slices.DeleteFunc(slices.Clone(columns), func(k int) bool { return seen[k].first.value != first.value })
		switch {
		case warned[first.value]:
			continue
		case len(sameLine) > 1 && len(alike) == 1:
			for _, k := range sameLine {
				warned[seen[k].first.value] = true
			}
			r.doubts = append(r.doubts, stream.Textf("%s: %s text only because of line %d (%s); if that line has names, units or totals, remove it; if it has missing values, give {null-values} %s",
				r.name, r.textColumnsPhrase(sameLine), first.line, quoteFirstFields(firstTextsOfColumns(sameLine, seen)), NullsWith(r.nullsFound, firstTextsOfColumns(sameLine, seen)...)))
		case first.line == r.dataLine:
			r.doubts = append(r.doubts, stream.Textf("%s: %s text only because of %q in the first row; if that is a name, give {header} yes, if it stands for a missing value, {null-values} %s",
				r.name, r.textColumnsPhrase(alike), truncateForMessage(first.value), NullsWith(r.nullsFound, first.value)))
		default:
			r.doubts = append(r.doubts, stream.Textf("%s: %s text only because of %q (line %d); if that stands for a missing value, give {null-values} %s",
				r.name, r.textColumnsPhrase(alike), truncateForMessage(first.value), first.line, NullsWith(r.nullsFound, first.value)))
		}
		warned[first.value] = true
	}
}

func (r *csvReader) textColumnsPhrase(columnIndices []int) string {
	if len(columnIndices) == 1 {
		return fmt.Sprintf("column %q is", r.columns[columnIndices[0]].Name)
	}
	names := convert.Each(columnIndices, func(j int) string { return r.columns[j].Name })
	return fmt.Sprintf("%d columns (%s) are", len(columnIndices), quoteFirstFields(names))
}

func firstTextsOfColumns(columnIndices []int, summaries []textSummary) (values []string) {
	const most = 8
	for _, j := range columnIndices[:min(len(columnIndices), most)] {
		values = append(values, summaries[j].first.value)
	}
	return values
}

func (t turningValue) String() string {
	return fmt.Sprintf("line %d: %q", t.line, truncateForMessage(t.value))
}

func truncateForMessage(s string) string {
	const most = 40
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// These constants describe forms of numbers that are read as text.
const (
	decimalCommas   = "decimal commas"
	thousandsCommas = "commas between thousands"
	thousandsBlanks = "blanks between thousands"
	percentSigns    = "percent signs"
	currencySigns   = "currency signs"
)

// maxNumberBytes bounds the length of a text that may be a number.
const maxNumberBytes = 40

var (
	decimalComma   = convert.CompilePattern(`^[+-]?(\d+|\d{1,3}([.' ]\d{3})+)?,\d+([eE][+-]?\d+)?$|^[+-]?\d{1,3}(\.\d{3}){2,}$`)
	thousandsComma = convert.CompilePattern(`^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$`)
	thousandsBlank = convert.CompilePattern(`^[+-]?\d{1,3}([' ]\d{3})+(\.\d*)?$`)
	currencyCode   = convert.CompilePattern(`^(?:[A-Z]{3}|kr|Kč|zł|Fr\.?) ?([\d+-].*)$|^(.*\d[.,]?) ?(?:[A-Z]{3}|kr|Kč|zł|Fr\.?)$`)
)

// formOfNumber returns the form of a number that is written for people, not for programs. It returns "" for all other
// texts.
func formOfNumber(s string) string {
	letters, digits := 0, 0
	for _, c := range s[:min(len(s), maxNumberBytes)] {
		switch {
		case unicode.IsLetter(c):
			letters++
		case unicode.IsDigit(c):
			digits++
		}
	}
	if len(s) >= maxNumberBytes || digits == 0 || letters > len("EUR") {
		return ""
	}
	s = strings.Map(func(c rune) rune {
		switch {
		case c == '’':
			return '\''
		case unicode.Is(unicode.Zs, c):
			return ' '
		case c == '−':
			return '-'
		}
		return c
	}, s)
	bare := s
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") { // accountants write negative numbers in parentheses
		bare = "-" + s[1:len(s)-1]
	}
	isPlain := func(s string) bool {
		_, ok := parseFloat(s)
		return ok || decimalComma().MatchString(s) || thousandsComma().MatchString(s) || thousandsBlank().MatchString(s)
	}
	if percent, ok := strings.CutSuffix(bare, "%"); ok && isPlain(trimBlanks(percent)) {
		return percentSigns
	}
	money := strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Sc, c) {
			return -1
		}
		return c
	}, bare)
	if m := currencyCode().FindStringSubmatch(bare); m != nil {
		money = m[1] + m[2]
	}
	switch money = strings.Join(strings.Fields(money), " "); {
	case money != bare && isPlain(strings.Replace(money, "- ", "-", 1)):
		return currencySigns
	case thousandsComma().MatchString(bare):
		return thousandsCommas
	case decimalComma().MatchString(bare):
		return decimalCommas
	case thousandsBlank().MatchString(bare):
		return thousandsBlanks
	}
	return ""
}

func (t *Table) explainTurnedColumns(name string, sample []Column, turned map[int]turningValue) {
	for j, c := range t.Columns {
		at, ok := turned[j]
		if !ok || c.Kind != Text || j >= len(sample) || sample[j].Kind == Text {
			continue
		}
		if !c.Identifier { // the reason for identifiers has precedence
			t.Columns[j].Why = "text (" + at.String() + ")"
		}
		t.Doubts = append(t.Doubts, stream.Textf("%s: column %q is text, as not all of its values are numbers (%s); if that stands for a missing value, add it to {null-values}", name, c.Name, at))
	}
}
