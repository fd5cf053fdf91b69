package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ufs-stream/ufs-stream/stream"
)

// ndjsonRows reads an object a line. Its members are columns; those of an object within are called
// a.b, and the values of an array a[0], a[1], …. A member that a line lacks is a null there.
type ndjsonRows struct {
	cutter
	columns []Column
	nulls   spellings
	size    int64

	once  sync.Once
	index map[string]int // of the columns that are written
}

// mostColumns bounds the columns: more are keys that should be values.
const mostColumns = 1 << 20

func newNDJSON(c cutter, opt Options) (*ndjsonRows, error) {
	r := &ndjsonRows{cutter: c, nulls: newSpellings(opt.Nulls)}
	first, err := r.sample(sampleBytes)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(first.data, byteOrderMark) {
		r.buf = r.buf[:copy(r.buf, r.buf[len(byteOrderMark):])]
		first.data = first.data[:len(first.data)-len(byteOrderMark)]
	}
	o := newObserved(nil)
	if err := r.observe(first, o); err != nil {
		return nil, err
	}
	r.columns, r.size = o.columns, o.rows
	r.rows = max(r.mostCells()/max(len(r.columns), 1), 1)
	return r, nil
}

// member is called with every value of an object: its column's name, and its text where it is a
// string (quoted), or its JSON.
type member func(name []byte, value []byte, quoted bool) error

// each calls row before every object of a piece, with its line, and f with its members.
func (r *ndjsonRows) each(p piece, row func(line int64) error, f member) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(p.data), jsontext.AllowDuplicateNames(true))
	line, counted := p.line, int64(0)
	var name []byte
	for {
		kind := d.PeekKind()
		at := d.InputOffset()
		line += int64(bytes.Count(p.data[counted:at], []byte{'\n'}))
		counted = at
		if kind == 0 {
			_, err := d.ReadToken()
			if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return r.fault(p, line, d, err)
		}
		// Blanks before the value are not passed over yet.
		blank := p.data[at:][:len(p.data[at:])-len(bytes.TrimLeft(p.data[at:], " \t\r\n"))]
		line += int64(bytes.Count(blank, []byte{'\n'}))
		counted += int64(len(blank))
		if kind != '{' {
			e := stream.Dataf(r.name, "line %d: no object: NDJSON has one {…} a line", line)
			if kind == '[' {
				e.Remedy = stream.PlainText("write an array's objects one a line first, as jq does")
			}
			return e
		}
		if err := row(line); err != nil {
			return r.fault(p, line, d, err)
		}
		var inner *misfit
		if err := walk(d, name[:0], f); errors.As(err, &inner) {
			inner.line = line
			return inner
		} else if err != nil {
			return r.fault(p, line, d, err)
		}
	}
}

// fault places what is wrong with the text.
func (r *ndjsonRows) fault(p piece, line int64, d *jsontext.Decoder, err error) error {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		line = p.line + int64(bytes.Count(p.data[:min(e.ByteOffset, int64(len(p.data)))], []byte{'\n'}))
		if err = e.Err; errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the object does not end")
		}
		err = stream.PlainJSON(err)
	}
	e := stream.Dataf(r.name, "line %d: %w", line, err)
	e.Remedy = stream.PlainText("NDJSON has one object a line; jq writes other JSON so")
	return e
}

// walk reads an object or array and calls f with the values in it.
func walk(d *jsontext.Decoder, name []byte, f member) error {
	open, err := d.ReadToken()
	if err != nil {
		return err
	}
	array := open.Kind() == '['
	within := len(name)
	for i := 0; ; i++ {
		if k := d.PeekKind(); k == '}' || k == ']' {
			_, err := d.ReadToken()
			return err
		}
		name = name[:within]
		if array {
			name = append(strconv.AppendInt(append(name, '['), int64(i), 10), ']')
		} else {
			if within > 0 {
				name = append(name, '.')
			}
			key, err := d.ReadValue()
			if err != nil {
				return err
			}
			if name, err = appendString(name, key); err != nil {
				return err
			}
		}
		switch d.PeekKind() {
		case '{', '[':
			if err := walk(d, name, f); err != nil {
				return err
			}
			continue
		}
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		quoted := value.Kind() == '"'
		if quoted {
			if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 {
				value = inner
			} else if value, err = appendString(nil, value); err != nil {
				return err
			}
		}
		if err := f(name, value, quoted); err != nil {
			return err
		}
	}
}

// appendString appends what a quoted string says.
func appendString(to []byte, quoted jsontext.Value) ([]byte, error) {
	if inner := quoted[1 : len(quoted)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return append(to, inner...), nil
	}
	return jsontext.AppendUnquote(to, quoted)
}

// kindOfJSON is the kind of a value: a string may be a date or a time, but never a number.
func kindOfJSON(value []byte, quoted bool) Kind {
	switch {
	case quoted:
		return kindOfTime(string(value))
	case string(value) == "null":
		return Unknown
	case value[0] == 't' || value[0] == 'f':
		return Bool
	}
	if k := kindOfWhole(string(value)); k != Unknown {
		return k
	}
	if _, ok := parseFloat(string(value)); ok {
		return Float
	}
	return Text // beyond float64
}

// isMissing reports whether a value is spelled as a missing one, where spellings were given: JSON has a null of its own.
func (r *ndjsonRows) isMissing(value []byte) bool {
	return r.nulls.given && len(value) > 0 && r.nulls.hasText(string(value))
}

// observe implements rows.
func (r *ndjsonRows) observe(p piece, o *observed) error {
	return r.each(p, func(int64) error {
		o.rows++
		return nil
	}, func(name, value []byte, quoted bool) error {
		if j, ok := o.index[string(name)]; ok {
			if c := &o.columns[j]; c.Kind != Text && !r.isMissing(value) {
				c.Kind = join(c.Kind, kindOfJSON(value, quoted))
			}
			return nil
		}
		if o.named += len(name); len(o.columns) == mostColumns || o.named > r.mostNames() {
			return fmt.Errorf("more than %d different members, or %d MiB of their names: are keys among them that should be values?", mostColumns, r.mostNames()>>20)
		}
		kind := Unknown
		if !r.isMissing(value) {
			kind = kindOfJSON(value, quoted)
		}
		o.see(string(name), kind)
		return nil
	})
}

// parse implements rows.
func (r *ndjsonRows) parse(p piece, columns []Column, b *batch) error {
	b.reset(len(columns), bytes.Count(p.data, []byte{'\n'})+1)
	r.once.Do(func() { r.index = newObserved(columns).index }) // of one writing
	index := r.index
	last := make([]int, len(columns)) // row that last had the member, from 1
	next := 0                         // where the next member stands most likely
	started := 0
	err := r.each(p, func(int64) error {
		if started++; started > b.stride {
			return errors.New("two objects on one line")
		}
		next = 0
		return nil
	}, func(name, value []byte, quoted bool) error {
		j := next
		if j >= len(columns) || columns[j].Name != string(name) {
			var ok bool
			if j, ok = index[string(name)]; !ok {
				return &misfit{column: string(name), added: true}
			}
		}
		next = j + 1
		if last[j] == started {
			return fmt.Errorf("the member %q is there twice", name)
		}
		last[j] = started
		c, at := columns[j], j*b.stride+started-1
		isNull := !quoted && string(value) == "null" || r.isMissing(value)
		switch {
		case isNull:
		case c.Kind == Text:
			b.setText(at, string(value))
		default:
			v, ok := parse(c.Kind, string(value))
			if times := c.Kind >= Date; !ok || quoted != times {
				return &misfit{column: c.Name, kind: c.Kind, value: string(value)}
			}
			b.cells[at], b.there[at] = v, true
		}
		return nil
	})
	b.rows = started
	return err
}

// about implements rows.
func (r *ndjsonRows) about() Table {
	return Table{Format: "NDJSON", Columns: r.columns, Sample: r.size}
}
