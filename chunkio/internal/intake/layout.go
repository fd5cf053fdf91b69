package intake

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Layout describes the layout of the rows in a text, for other readers.
type Layout struct {
	Separator rune     // of CSV; 0 for NDJSON
	Header    bool     // the first row of CSV has the names
	Names     []string // of the columns, in the order of the fields of CSV
	// Nulls are the spellings of a missing value, ignoring blanks around them, and Numbers the numbers among them, in
	// any notation. In text columns only an empty field is missing, unless the user gave these spellings (TextNulls).
	Nulls     []string
	Numbers   []float64
	TextNulls bool
}

// newLayout describes a text, CSV or not, as far as the options determine it.
func (o Options) newLayout(isCSV bool) *Layout {
	l, nulls := new(Layout), newSpellings(o.Nulls)
	if nulls.replacesUsual || isCSV || len(o.Types) > 0 { // a member of NDJSON is a text only if a type is asked for
		l.Nulls, l.Numbers, l.TextNulls = nulls.list, nulls.numbers, nulls.replacesUsual
	}
	return l
}

func listNames(columns []Column) []string {
	names := make([]string, len(columns))
	for j, c := range columns {
		names[j] = c.Name
	}
	return names
}

// Step leads from a value of JSON to a value in it: to a member of an object, or by its index into an array.
type Step struct {
	Member string
	Index  int // -1: a member
}

// FindPaths reads NDJSON and finds the paths to the values of some of its columns: a column is called a.b if its
// member has this name, and if it is member b of an object a.
func FindPaths(from io.Reader, names []string) (map[string][][]Step, error) {
	text := bufio.NewReaderSize(from, 64<<10)
	if mark, err := text.Peek(len(byteOrderMark)); err == nil && string(mark) == string(byteOrderMark) {
		_, _ = text.Discard(len(mark)) // Peek has just returned these bytes
	}
	w := pathWalk{
		decoder:     jsontext.NewDecoder(text, jsontext.AllowDuplicateNames(true)),
		wantedNames: make(map[string]bool, len(names)), pathsByName: make(map[string][][]Step, len(names)),
	}
	for _, name := range names {
		w.wantedNames[name] = true
	}
	for {
		switch err := w.walkValue("", nil); {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return w.pathsByName, nil
		case err != nil:
			return nil, err
		}
	}
}

// pathWalk walks through values and notes the paths of the wanted names.
type pathWalk struct {
	decoder     *jsontext.Decoder
	wantedNames map[string]bool
	pathsByName map[string][][]Step // by name
}

// walkValue reads the value at the end of these steps, whose column has this name.
func (w *pathWalk) walkValue(name string, steps []Step) error {
	kind := w.decoder.PeekKind()
	if kind != '{' && kind != '[' {
		if err := w.decoder.SkipValue(); err != nil {
			return err
		}
		known := func(path []Step) bool { return slices.Equal(path, steps) }
		if w.wantedNames[name] && !slices.ContainsFunc(w.pathsByName[name], known) {
			w.pathsByName[name] = append(w.pathsByName[name], steps)
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
		if err := w.walkValue(within, append(steps[:len(steps):len(steps)], step)); err != nil {
			return err
		}
	}
}
