package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Reader reads a plan, one file at a time.
type Reader struct {
	Header Header

	in   *json.Decoder
	seen *digester
	n    int
}

// Open reads the header of a plan. The files follow by Next, to the very end: only there is
// the ID known to be right.
func Open(in io.Reader) (*Reader, error) {
	r := &Reader{in: json.NewDecoder(in)}
	// A newer program may mean by fields that nobody here knows what must not be passed over.
	r.in.DisallowUnknownFields()
	if err := r.expect(json.Delim('{')); err != nil {
		return nil, err
	}
	// The header's fields stand in front of the files; as an object of their own they decode
	// by the struct's tags.
	fields := map[string]json.RawMessage{}
	for {
		key, err := r.in.Token()
		if err != nil {
			return nil, torn(err)
		}
		name, ok := key.(string)
		if !ok {
			return nil, errors.New("it is no plan: it has no files")
		}
		if name == "files" {
			break
		}
		var value json.RawMessage
		if err := r.in.Decode(&value); err != nil {
			return nil, torn(err)
		}
		if _, twice := fields[name]; twice {
			return nil, fmt.Errorf("it has %q twice", name)
		}
		fields[name] = value
		if name == "schema" && string(value) != `"`+Schema+`"` {
			return nil, fmt.Errorf("its schema is %s, not %q: another version of the program made it, or it is no plan", value, Schema)
		}
	}
	if err := r.decodeHeader(fields); err != nil {
		return nil, err
	}
	return r, r.expect(json.Delim('['))
}

func (r *Reader) decodeHeader(fields map[string]json.RawMessage) error {
	if _, ok := fields["schema"]; !ok {
		return fmt.Errorf("it is no plan: no schema, which would be %q", Schema)
	}
	whole, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(whole))
	d.DisallowUnknownFields()
	if err := d.Decode(&r.Header); err != nil {
		return stream.PlainJSON(err)
	}
	r.seen, err = newDigester(r.Header)
	return err
}

// Next returns the next file, and io.EOF behind the last one, once everything has proved right.
func (r *Reader) Next() (File, error) {
	if !r.in.More() {
		return File{}, r.finish()
	}
	var f File
	if err := r.in.Decode(&f); err != nil {
		return File{}, fmt.Errorf("file %d: %w", r.n+1, torn(err))
	}
	if f.Path == "" {
		return File{}, fmt.Errorf("file %d: no path", r.n+1)
	}
	r.n++
	return f, r.seen.add(f)
}

func (r *Reader) finish() error {
	for _, end := range []json.Delim{']', '}'} {
		if err := r.expect(end); err != nil {
			return err
		}
	}
	if _, err := r.in.Token(); err != io.EOF {
		return errors.New("there is something behind its end")
	}
	if r.n != r.Header.Count {
		return fmt.Errorf("it has %d files, and its header says %d", r.n, r.Header.Count)
	}
	if id := r.seen.id(); id != r.Header.ID {
		return fmt.Errorf("its ID is %s, and its contents have %s: it was changed after it was made", r.Header.ID, id)
	}
	return io.EOF
}

func (r *Reader) expect(want json.Delim) error {
	got, err := r.in.Token()
	if err != nil {
		return torn(err)
	}
	if got != want {
		return fmt.Errorf("it is no plan: %v where %v should be", got, want)
	}
	return nil
}

// torn names an end that comes too early, and what is not JSON at all, such as statistics.
func torn(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early: it was cut off")
	}
	plain := stream.PlainJSON(err)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && plain.Error() == err.Error() {
		return errors.New("it is no plan: it is not JSON")
	}
	return plain
}
