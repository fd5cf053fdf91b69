package intake

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ufs-stream/ufs-stream/stream"
)

// csvReader reads CSV according to RFC 4180, with one of the separators.
type csvReader struct {
	cutter
	separator rune
	layout    *Layout
	columns   []Column
	// dataLine is the line number of the first row if the first row is data, and 0 if it contains names.
	dataLine   int64
	nulls      nullSpellings
	notes      []stream.Text
	doubts     []stream.Text
	nullsFound []string // spellings of missing values that occur in the sample
	sampleRows int64    // number of rows in the sample
}

// separators are the possible separators; the most frequent one in the first row is used.
var separators = []byte{',', '\t', ';', '|'}

// byteOrderMark is the mark that some editors write at the beginning of a text.
var byteOrderMark = []byte("\xEF\xBB\xBF")

// newCSVReader reads the header and infers the types of the columns from the sample.
func newCSVReader(c cutter, tabs bool, opt Options) (*csvReader, error) {
	r := &csvReader{cutter: c, nulls: newNullSpellings(opt.Nulls), layout: opt.newLayout(true)}
	r.quotes = true
	first, err := r.peekSample(64 << 10)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(first.data, byteOrderMark) {
		r.buf = r.buf[:copy(r.buf, r.buf[len(byteOrderMark):])]
		first.data = first.data[:len(first.data)-len(byteOrderMark)]
	}
	if bytes.HasPrefix(first.data, []byte("\xFF\xFE")) || bytes.HasPrefix(first.data, []byte("\xFE\xFF")) {
		e := stream.Dataf(r.name, "the text is UTF-16")
		e.Remedy = stream.PlainText("convert it to UTF-8 first, as iconv does")
		return nil, e
	}
	if bytes.IndexByte(first.data, '\n') < 0 && bytes.IndexByte(bytes.TrimRight(first.data, "\r"), '\r') >= 0 {
		e := stream.Dataf(r.name, "the lines end with a carriage return alone, as those of old Macs")
		e.Remedy = stream.PlainText(`make them line feeds first, as tr '\r' '\n' does`)
		return nil, e
	}
	r.separator = '\t'
	if !tabs {
		r.separator = guessSeparator(first.data)
	}
	r.layout.Separator = r.separator
	in := r.newRecordReader(first.data)
	header, err := in.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, r.errAtLine(err, r.line)
	}
	if len(header) == 0 {
		return nil, stream.Dataf(r.name, "the text has no row: want a header with the columns' names, and rows below it")
	}
	line, _ := in.FieldPos(0)
	if err := r.readFirstRow(header, r.line+int64(line)-1, int(in.InputOffset()), opt); err != nil {
		return nil, err
	}
	r.layout.Header = r.dataLine == 0
	return r, r.inferColumnKinds()
}

// nameColumns checks the names of the columns, and gives each nameless column a unique name. pandas writes its index
// without a name. The other columns may be named c0 and c1, if pandas has read a text without a header.
func (r *csvReader) nameColumns(names []string) error {
	usedNames := make(map[string]bool, len(names))
	for j, name := range names {
		if !utf8.ValidString(name) {
			return r.errNotUTF8(1, "")
		}
		names[j] = strings.TrimSpace(name)
		usedNames[names[j]] = true
	}
	for j, name := range names {
		if name == "" {
			number := "c" + strconv.Itoa(j)
			name = number
			for suffix := 2; usedNames[name]; suffix++ {
				name = number + "_" + strconv.Itoa(suffix)
			}
			r.notes = append(r.notes, stream.Textf("%s: column %d has no name and is called %s", r.name, j+1, name))
		}
		r.columns = append(r.columns, Column{Name: name})
	}
	return nil
}

func (r *csvReader) inferColumnKinds() error {
	p, err := r.peekSample(sampleBytes)
	if err != nil {
		return err
	}
	o := newObserver(r.columns)
	if err := r.observePiece(p, o); err != nil {
		return err
	}
	r.columns, r.sampleRows, r.nullsFound = o.columns, o.rows, o.nullsFound
	return r.explainTexts(p)
}

func guessSeparator(text []byte) rune {
	var count [256]int
	quoted := false
	for _, c := range text {
		if c == '"' {
			quoted = !quoted
		}
		if c == '\n' && !quoted {
			break
		}
		if !quoted {
			count[c]++
		}
	}
	best := separators[0]
	for _, s := range separators {
		if count[s] > count[best] {
			best = s
		}
	}
	return rune(best)
}

func (r *csvReader) newRecordReader(data []byte) *csv.Reader {
	in := csv.NewReader(bufio.NewReaderSize(bytes.NewReader(data), 32<<10))
	in.Comma, in.FieldsPerRecord, in.ReuseRecord = r.separator, -1, true
	return in
}

func (r *csvReader) eachRecord(p piece, f func(line int64, record []string) error) error {
	in := r.newRecordReader(p.data)
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return r.errAtLine(err, p.line)
		}
		line, _ := in.FieldPos(0)
		at := p.line + int64(line) - 1
		if len(record) != len(r.columns) {
			e := stream.Dataf(r.name, "line %d has %s, not %d as the lines before it", at, fieldCountPhrase(len(record)), len(r.columns))
			e.Remedy = stream.PlainText("quote fields that contain the separator, give every row all fields, and remove lines above the header, as comments and titles")
			return e
		}
		if err := f(at, record); err != nil {
			return err
		}
	}
}

func fieldCountPhrase(n int) string {
	if n == 1 {
		return "1 field"
	}
	return fmt.Sprintf("%d fields", n)
}

// errAtLine adds the line to an error of the library. For an error of quotes it uses the line at which the row begins,
// because an open quote extends over the following lines.
func (r *csvReader) errAtLine(err error, first int64) error {
	if e, ok := errors.AsType[*csv.ParseError](err); ok {
		d := stream.Dataf(r.name, "line %d: %w", first+int64(e.Line)-1, e.Err)
		if e.StartLine < e.Line {
			d = stream.Dataf(r.name, "line %d: %w, in the row that goes on to line %d", first+int64(e.StartLine)-1, e.Err, first+int64(e.Line)-1)
		}
		d.Remedy = stream.PlainText(`quote a field that contains a quote, and double the quote: "5"" pipe"`)
		return d
	}
	return err
}

func (r *csvReader) errNotUTF8(line int64, column string) error {
	e := stream.Dataf(r.name, "line %d: the text is not UTF-8", line)
	e.Column, e.Remedy = column, stream.PlainText("convert it first, as iconv does: LATIN1 or CP1252 it is, most likely")
	return e
}

func (r *csvReader) observePiece(p piece, o *columnObserver) error {
	return r.eachRecord(p, func(line int64, record []string) error {
		for j, s := range record {
			c := &o.columns[j]
			if c.Kind == Text {
				continue
			}
			if s = trimBlanks(s); r.nulls.isNull(s) {
				o.nullsFound = addNullSpelling(o.nullsFound, s)
			} else {
				before := c.Kind
				if c.addValue(kindOfField(s), s, line); c.Kind == Text {
					o.recordTurnToText(j, before, line, s)
				}
			}
		}
		o.rows++
		return nil
	})
}

func (r *csvReader) parsePiece(p piece, columns []Column, b *batch) error {
	b.resetToSize(len(columns), bytes.Count(p.data, []byte{'\n'})+1)
	return r.eachRecord(p, func(line int64, record []string) error {
		at := b.rows
		for j, s := range record {
			c := &columns[j]
			if c.changesKind(s) {
				return &misfit{line: line, column: c.Name, kind: c.Kind, value: s, losesSpelling: true}
			}
			switch {
			case c.Kind != Text:
				v, ok := parseField(c.Kind, s)
				if !ok && !r.nulls.isNull(trimBlanks(s)) {
					return &misfit{line: line, column: c.Name, kind: c.Kind, value: s, typeRequested: c.typeRequested}
				}
				b.cells[at], b.present[at] = v, ok
			case !utf8.ValidString(s):
				return r.errNotUTF8(line, c.Name)
			case s != "" && (!r.nulls.replacesUsual || !r.nulls.isNull(trimBlanks(s))): // text is missing only if the user listed its spelling
				b.setText(at, s)
			}
			at += b.stride
		}
		b.rows++
		return nil
	})
}

func (r *csvReader) describeTable() Table {
	name := map[rune]string{',': "commas", '\t': "tabs", ';': "semicolons", '|': "bars"}[r.separator]
	return Table{Format: "CSV, separated by " + name, Columns: r.columns, Sample: r.sampleRows, Notes: r.notes, Doubts: r.doubts, Spelled: r.nullsFound,
		Layout: r.layout}
}
