package intake

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ufs-stream/ufs-stream/internal/convert"
)

// Layout describes the layout of the rows in a text file, for other programs that read the file.
type Layout struct {
	Separator rune     // separator of CSV; 0 for NDJSON
	Header    bool     // the first row of CSV contains the names
	Names     []string // names of the columns, in the order of the fields of CSV
	// Nulls lists the spellings of a missing value, without blanks around them. Numbers lists the values of those
	// spellings that are numbers: these values are missing in any notation. In text columns only an empty field is
	// missing, unless TextNulls is set, that is, the user gave the spellings.
	Nulls     []string
	Numbers   []float64
	TextNulls bool
}

// newLayout describes a text (CSV if isCSV is set) as far as the options determine it.
func (o Options) newLayout(isCSV bool) *Layout {
	l, nulls := new(Layout), newNullSpellings(o.Nulls)
	if nulls.replacesUsual || isCSV || len(o.Types) > 0 { // in NDJSON, a string is compared with the spellings only if a type is requested
		l.Nulls, l.Numbers, l.TextNulls = nulls.list, nulls.numbers, nulls.replacesUsual
	}
	return l
}

func namesOfColumns(columns []Column) []string {
	return convert.Each(columns, func(c Column) string { return c.Name })
}

// Step leads from a JSON value to a value inside it: to a member of an object, or to an element of an array by its
// index.
type Step struct {
	Member string
	Index  int // -1: the step leads to a member
}

// FindPaths reads NDJSON and finds the paths to the values of the columns with these names. The column a.b may be the
// member "a.b", or the member b of an object a.
func FindPaths(from io.Reader, names []string) (map[string][][]Step, error) {
	text := bufio.NewReaderSize(from, 64<<10)
	if mark, err := text.Peek(len(byteOrderMark)); err == nil && string(mark) == string(byteOrderMark) {
		_, _ = text.Discard(len(mark)) // Peek has returned these bytes
	}
	w := pathFinder{
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

// pathFinder traverses values and records the paths of the requested names.
type pathFinder struct {
	decoder     *jsontext.Decoder
	wantedNames map[string]bool
	pathsByName map[string][][]Step // paths found so far, by name
}

// walkValue reads the value to which the steps lead. The name is the name of its column.
func (w *pathFinder) walkValue(name string, steps []Step) error {
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
