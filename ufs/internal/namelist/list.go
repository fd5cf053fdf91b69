package namelist

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// List is a list of features. Its features have ranks and names, and scores if the file has a column of scores.
type List struct {
	Features []stream.Selected
	Note     stream.Text // how the file was understood, if there was a choice; otherwise empty
	Bytes    int64       // upper bound of the memory that reading the list needed, not counting the text

	room      int64 // the largest value of Bytes; 0 means no limit
	size, at  int64 // bytes of the text, and the number of them that are read
	names     []string
	firstLine map[string]int
	keys      []float64 // key of each name by which the list is sorted, ascending; nil keeps the order
	scores    []float64 // score of each name; nil without scores
}

// Read reads a list from text, the content of the file at path. It allocates at most room bytes, or any number if room
// is 0. An error about a line is a *[stream.DataError] of that file. A text that cannot be a list has another error.
func Read(ctx context.Context, path string, text []byte, room int64) (*List, error) {
	text = TrimMark(text)
	l := &List{room: room, size: int64(len(text)), firstLine: map[string]int{}}
	read := l.readLines
	switch trimmed, ending := bytes.TrimLeft(text, " \t\r\n"), strings.ToLower(place.Ext(path)); {
	case ending == ".csv", ending == ".tsv":
		read = l.readTable
	case bytes.HasPrefix(trimmed, []byte("[")), bytes.HasPrefix(trimmed, []byte("{")):
		read = l.readJSON
	case looksLikeTable(trimmed):
		read = l.readTable
	}
	if err := checkText(ctx, text); err != nil {
		return nil, err
	}
	if err := read(ctx, path, text); err != nil {
		return nil, err
	}
	l.makeFeatures()
	return l, nil
}

// TrimMark removes the byte order mark of UTF-8 from the beginning of text.
func TrimMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

const (
	maxNameBytes = 64 << 10 // no column has so long a name, and messages quote names
	checkEvery   = 1 << 12  // number of lines after which the context is checked again
)

func checkText(ctx context.Context, text []byte) error {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return stream.Errorf("it is UTF-16; save it as UTF-8")
	}
	at := -1
	for i, c := range text {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' {
			at = i
			break
		}
		if i%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if at < 0 && !utf8.Valid(text) {
		at = bytes.IndexFunc(text, func(r rune) bool { return r == utf8.RuneError })
	}
	if at < 0 {
		return nil
	}
	return stream.Errorf("it is not text in UTF-8: line %d has the byte 0x%02x", 1+bytes.Count(text[:at], []byte("\n")), text[at])
}

// addName appends the feature with the given name, which is on the given line of the file.
func (l *List) addName(ctx context.Context, path, name string, line int) error {
	first, isKnown := l.firstLine[name]
	switch {
	case len(l.names)%checkEvery == 0 && ctx.Err() != nil:
		return ctx.Err()
	case name == "":
		return errLine(path, line, "the name is empty")
	case len(name) > maxNameBytes:
		return errLine(path, line, "a name has %d bytes, and none has more than %d", len(name), maxNameBytes)
	case isKnown && first == line:
		return errLine(path, line, "it names %q twice; name each feature once", name)
	case isKnown:
		return errLine(path, line, "it names %q, as line %d does; name each feature once", name, first)
	}
	l.Bytes += 2*featureBytes + entryBytes + int64(len(name))*9/8
	if l.room > 0 && l.Bytes > l.room {
		whole := float64(l.Bytes) * float64(l.size) / float64(l.at) // if the rest is like the part that is read
		return &stream.MemoryError{What: "reading " + path, Need: max(l.Bytes, int64(whole)), Limit: l.room, AtLeast: true}
	}
	name = strings.Clone(name) // it may be part of a longer text
	l.firstLine[name] = line
	l.names = append(l.names, name)
	return nil
}

// entryBytes is the memory for the entry of a name in the growing slices and in the map, and in their old parts: 16 bytes
// of a slice grow to 96 of garbage, as do the 24 of the map, and keys, scores and indices have 8 each. Callers copy the
// features and have two further maps of names.
const entryBytes = 3*96 + 96 + 3*48

var featureBytes = int64(reflect.TypeFor[stream.Selected]().Size())

func errLine(path string, line int, format string, args ...any) *stream.DataError {
	return stream.Dataf(path, "line %d: %w", line, stream.Errorf(format, args...))
}

// readLines reads a name from each line. It ignores blank lines, comments that begin with #, and blanks around names.
func (l *List) readLines(ctx context.Context, path string, text []byte) error {
	line, comments := 0, 0
	for raw := range bytes.Lines(text) {
		if line++; line%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		l.at += int64(len(raw))
		switch raw = bytes.TrimSpace(raw); {
		case len(raw) == 0:
		case raw[0] == '#':
			comments++
		case len(raw) > maxNameBytes:
			return errLine(path, line, "it has %d bytes, and no name has more than %d", len(raw), maxNameBytes)
		default:
			if err := l.addName(ctx, path, string(raw), line); err != nil {
				return err
			}
		}
	}
	if comments > 0 {
		l.Note = stream.Textf("%s: lines that begin with # are taken as comments: %d", path, comments)
	}
	return nil
}

// makeFeatures sorts the names by their keys, and numbers them. Names with equal keys keep their order.
func (l *List) makeFeatures() {
	order := make([]int, len(l.names))
	for i := range order {
		order[i] = i
	}
	if l.keys != nil {
		slices.SortStableFunc(order, func(a, b int) int { return compareKeys(l.keys[a], l.keys[b]) })
	}
	l.Features = make([]stream.Selected, len(order))
	for rank, i := range order {
		l.Features[rank] = stream.Selected{Rank: rank + 1, Name: l.names[i], Score: stream.Number(math.NaN()), Error: stream.Number(math.NaN())}
		if l.scores != nil {
			l.Features[rank].Score = stream.Number(l.scores[i])
		}
	}
	l.names, l.firstLine = nil, nil
}

func compareKeys(a, b float64) int {
	if math.IsNaN(a) != math.IsNaN(b) {
		return -cmp.Compare(a, b)
	}
	return cmp.Compare(a, b)
}
