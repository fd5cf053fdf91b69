package intake

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Layout is how the rows of a text lie in it, for others that read it.
type Layout struct {
	Separator rune     // of CSV; 0 for NDJSON
	Header    bool     // the first row of CSV has the names
	Names     []string // of the columns, in the order of the fields of CSV
	// Nulls are the values that stand for a missing one, blanks aside, and Numbers those however they are written. Of
	// texts only an empty field is missing, unless these were given (TextNulls).
	Nulls     []string
	Numbers   []float64
	TextNulls bool
}

// layout is the layout of a text, of CSV or not, as far as the options decide it.
func (o Options) layout(isCSV bool) *Layout {
	l, nulls := new(Layout), newSpellings(o.Nulls)
	if nulls.given || isCSV || len(o.Types) > 0 { // a member of NDJSON is a text only if a type is asked for
		l.Nulls, l.Numbers, l.TextNulls = nulls.listed, nulls.numbers, nulls.given
	}
	return l
}

// namesIn are the names of columns.
func namesIn(columns []Column) []string {
	names := make([]string, len(columns))
	for j, c := range columns {
		names[j] = c.Name
	}
	return names
}

// Step leads from a value of JSON to one in it: to a member of an object, or by its index into an array.
type Step struct {
	Member string
	Index  int // -1: a member
}

// FindPaths reads NDJSON for where the values of some of its columns lie: a column is called a.b if its member
// is called so, and if it is member b of an object a.
func FindPaths(from io.Reader, names []string) (map[string][][]Step, error) {
	text := bufio.NewReaderSize(from, 64<<10)
	if mark, err := text.Peek(len(byteOrderMark)); err == nil && string(mark) == string(byteOrderMark) {
		_, _ = text.Discard(len(mark)) // it was there
	}
	w := pathWalk{
		decoder: jsontext.NewDecoder(text, jsontext.AllowDuplicateNames(true)),
		wanted:  make(map[string]bool, len(names)), found: make(map[string][][]Step, len(names)),
	}
	for _, name := range names {
		w.wanted[name] = true
	}
	for {
		switch err := w.value("", nil); {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return w.found, nil
		case err != nil:
			return nil, err
		}
	}
}

// pathWalk goes through values and notes the paths of the wanted names.
type pathWalk struct {
	decoder *jsontext.Decoder
	wanted  map[string]bool
	found   map[string][][]Step // by name
}

// value reads a value of that name, which these steps lead to.
func (w *pathWalk) value(name string, steps []Step) error {
	kind := w.decoder.PeekKind()
	if kind != '{' && kind != '[' {
		if err := w.decoder.SkipValue(); err != nil {
			return err
		}
		known := func(path []Step) bool { return slices.Equal(path, steps) }
		if w.wanted[name] && !slices.ContainsFunc(w.found[name], known) {
			w.found[name] = append(w.found[name], steps)
		}
		return nil
	}
	if _, err := w.decoder.ReadToken(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if end := w.decoder.PeekKind(); end == '}' || end == ']' {
			_, err := w.decoder.ReadToken()
			return err
		}
		step, within := Step{Index: i}, name+"["+strconv.Itoa(i)+"]"
		if kind == '{' {
			key, err := w.decoder.ReadToken()
			if err != nil {
				return err
			}
			step = Step{Member: key.String(), Index: -1}
			if within = step.Member; len(steps) > 0 {
				within = name + "." + step.Member
			}
		}
		if err := w.value(within, append(steps[:len(steps):len(steps)], step)); err != nil {
			return err
		}
	}
}
