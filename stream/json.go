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

// decodeJSON reads one JSON value into v, and refuses any data after it. schema points to the field of v with the name
// of the schema. decodeJSON refuses the value unless this name is one of `wanted`, the accepted schemas, newest first.
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

// readText reads r to its end. If r is a bytes.Buffer it does not copy the content, because a copy of a long document
// would need much memory.
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
		what, _, _ := strings.Cut(kind.Value, " ") // a number follows its kind and a space
		place := "a value"
		if kind.Field != "" {
			place = kind.Field[strings.LastIndex(kind.Field, ".")+1:] // earlier fields of the path may be Go types
		}
		return &jsonError{fmt.Sprintf("%s has the JSON type %s, which is not allowed here", place, what), err}
	case strings.HasSuffix(err.Error(), "exceeded max depth"): // both of Go's JSON packages use these words
		return &jsonError{"values are nested more than 10,000 deep", err}
	}
	return &jsonError{strings.TrimPrefix(err.Error(), "json: "), err}
}

// jsonError is an error of encoding/json with another text.
type jsonError struct {
	text string
	err  error
}

func (e *jsonError) Error() string { return e.text }
func (e *jsonError) Unwrap() error { return e.err }
