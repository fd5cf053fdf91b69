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

func encodeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// decodeJSON reads one JSON value into v. It refuses data after the value. It also refuses a schema, which is a field
// of v, that is not in the list wanted, which begins with the newest schema.
func decodeJSON(r io.Reader, v any, schema *string, wanted ...string) error {
	text, err := readText(r)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	switch syntax := (*json.SyntaxError)(nil); {
	case !errors.As(err, &syntax):
	case strings.HasSuffix(err.Error(), "after top-level value"):
		return errors.New("there is more text after the JSON value")
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

// readText reads r to its end. The content of a bytes.Buffer is not copied, because a second copy of a long document
// would use much memory.
func readText(r io.Reader) ([]byte, error) {
	if b, ok := r.(*bytes.Buffer); ok {
		return b.Bytes(), nil
	}
	return io.ReadAll(r)
}

// PlainJSON rewords errors of encoding/json, which mention Go types, in terms of the file.
func PlainJSON(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		what, _, _ := strings.Cut(kind.Value, " ") // digits follow the kind if it is a number
		place := "a value"
		if kind.Field != "" {
			place = kind.Field[strings.LastIndex(kind.Field, ".")+1:] // the fields before the last may be Go types
		}
		return &jsonError{fmt.Sprintf("%s has the JSON type %s, which is not allowed here", place, what), err}
	case strings.HasSuffix(err.Error(), "exceeded max depth"): // both of Go's JSON packages use these words
		return &jsonError{"values are nested more than 10,000 deep", err}
	}
	return &jsonError{strings.TrimPrefix(err.Error(), "json: "), err}
}

// jsonError rewords an error of encoding/json.
type jsonError struct {
	text string
	err  error
}

func (e *jsonError) Error() string { return e.text }
func (e *jsonError) Unwrap() error { return e.err }
