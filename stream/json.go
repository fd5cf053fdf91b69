package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// encode writes v as indented JSON: the form of all results.
func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// decode reads one JSON value into v. It refuses anything after the value, and a schema,
// which is a field of v, other than want.
func decode(r io.Reader, v any, schema *string, want string) error {
	d := json.NewDecoder(r)
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind the JSON")
	}
	if *schema != want {
		return fmt.Errorf("schema is %q, want %q", *schema, want)
	}
	return nil
}
