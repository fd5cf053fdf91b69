package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// encode writes v as indented JSON: the form of all results.
func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// decode reads one JSON value into v. It refuses anything after the value, and a schema,
// which is a field of v, other than those wanted, the newest first.
func decode(r io.Reader, v any, schema *string, wanted ...string) error {
	text, err := wholeText(r)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	switch syntax := (*json.SyntaxError)(nil); {
	case !errors.As(err, &syntax):
	case strings.HasSuffix(err.Error(), "after top-level value"):
		return errors.New("something stands behind the JSON")
	case syntax.Offset >= int64(len(text)) && len(bytes.TrimSpace(text)) == 0:
		err = io.EOF
	case syntax.Offset >= int64(len(text)) && strings.HasPrefix(err.Error(), "unexpected end"):
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return PlainJSON(err)
	}
	if !slices.Contains(wanted, *schema) {
		return fmt.Errorf("schema is %q, want %q", *schema, wanted[0])
	}
	return nil
}

// wholeText reads r to its end. A bytes.Buffer has it already: a second copy of a long document would count.
func wholeText(r io.Reader) ([]byte, error) {
	if b, ok := r.(*bytes.Buffer); ok {
		return b.Bytes(), nil
	}
	return io.ReadAll(r)
}

// PlainJSON says what encoding/json found wrong in words about the file: its own are about the
// types of this program.
func PlainJSON(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		what, _, _ := strings.Cut(kind.Value, " ") // of a number the digits follow
		place := "a value"
		if kind.Field != "" {
			place = kind.Field[strings.LastIndex(kind.Field, ".")+1:] // types stand among the fields before it
		}
		return &jsonError{fmt.Sprintf("%s is of JSON's kind %s, which it cannot be", place, what), err}
	case strings.HasSuffix(err.Error(), "exceeded max depth"): // as both of Go's packages say it
		return &jsonError{"values are nested more than 10,000 deep", err}
	}
	return &jsonError{strings.TrimPrefix(err.Error(), "json: "), err}
}

// jsonError is an error of encoding/json in other words.
type jsonError struct {
	text string
	err  error
}

func (e *jsonError) Error() string { return e.text }
func (e *jsonError) Unwrap() error { return e.err }
