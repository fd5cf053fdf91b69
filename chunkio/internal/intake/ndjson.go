package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ufs-stream/ufs-stream/stream"
)

// ndjsonRows reads an object a line. Its members are columns; those of an object within are called
// a.b, and the values of an array a[0], a[1], …. A member that a line lacks is a null there.
type ndjsonRows struct {
	cutter
	layout  *Layout
	columns []Column
	nulls   spellings
	size    int64

	once    sync.Once
	index   map[string]int  // of the columns that are written
	parents map[string]bool // the objects and arrays that these are in
	maps    map[string]int  // and the columns that are maps
}

// mostColumns bounds the columns: more are keys that should be values.
const mostColumns = 1 << 20

func newNDJSON(c cutter, opt Options) (*ndjsonRows, error) {
	r := &ndjsonRows{cutter: c, nulls: newSpellings(opt.Nulls), layout: opt.layout(false)}
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
	r.columns, r.size = withoutParents(o.withMaps(opt.Mapped)), o.rows
	r.rows = max(r.mostCells()/max(len(r.columns), 1), 1)
	return r, nil
}

// member is called with every value of an object: its column's name, how much of it is the name of the object or array
// that the value is in, and its text where it is a string (quoted), or its JSON.
type member func(name []byte, within int, value []byte, quoted bool) error

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
		if err := f(name, within, value, quoted); err != nil {
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
	at := int64(0)
	return r.each(p, func(line int64) error {
		o.rows++
		at = line
		return nil
	}, func(name []byte, within int, value []byte, quoted bool) error {
		object, isMember := objectOf(name, within)
		kind := Unknown
		if !r.isMissing(value) {
			kind = kindOfJSON(value, quoted)
		}
		isNumber := kind == Unknown || kind.whole() || kind == Float
		if j, ok := o.maps[string(object)]; ok && isMember {
			if !isNumber {
				return &misfit{column: o.columns[j].Name, kind: Map, value: string(value)}
			}
			return nil
		}
		if _, ok := o.index[string(name)]; !ok {
			if o.named += len(name); len(o.columns) == mostColumns || o.named > r.mostNames() {
				return fmt.Errorf("more than %d different members, or %d MiB of their names: are keys among them that should be values?", mostColumns, r.mostNames()>>20)
			}
		}
		j := o.column(name)
		c, place := &o.columns[j], &o.places[j]
		if isMember {
			m := o.objects[string(object)]
			if m == nil {
				m = new(members)
				o.objects[string(object)] = m
			}
			m.add(o.rows, !place.met, isNumber)
		}
		if !place.met {
			place.met, place.object, place.isMember = true, string(object), isMember
		}
		if c.Kind != Text {
			c.see(kind, string(value), at)
		}
		return nil
	})
}

// withoutParents are the columns except the ones that are null unless they are objects or arrays: their members and
// values are columns.
func withoutParents(columns []Column) []Column {
	parents := map[string]bool{}
	for _, c := range columns {
		if c.Kind == Unknown {
			parents[c.Name] = false
		}
	}
	if len(parents) == 0 {
		return columns
	}
	for _, c := range columns {
		markParents(c.Name, func(parent string) {
			if _, null := parents[parent]; null {
				parents[parent] = true
			}
		})
	}
	return slices.DeleteFunc(columns, func(c Column) bool { return c.Kind == Unknown && parents[c.Name] })
}

// markParents calls mark with the names of the objects and arrays that a value may be in.
func markParents(name string, mark func(parent string)) {
	for i := 1; i < len(name); i++ {
		if name[i] == '.' || name[i] == '[' {
			mark(name[:i])
		}
	}
}

// parse implements rows.
func (r *ndjsonRows) parse(p piece, columns []Column, b *batch) error {
	b.reset(len(columns), bytes.Count(p.data, []byte{'\n'})+1)
	r.once.Do(func() { // of one writing
		r.index, r.parents, r.maps = newObserved(columns).index, map[string]bool{}, mapsOf(columns)
		for _, c := range columns {
			markParents(c.Name, func(parent string) { r.parents[parent] = true })
		}
	})
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
	}, func(name []byte, within int, value []byte, quoted bool) error {
		if object, ok := objectOf(name, within); ok && len(r.maps) > 0 {
			if j, ok := r.maps[string(object)]; ok {
				return addNumber(b, &columns[j], j*b.stride+started-1, keyOf(name, within), value, quoted)
			}
		}
		j := next
		if j >= len(columns) || columns[j].Name != string(name) {
			var ok bool
			if j, ok = index[string(name)]; !ok {
				if !quoted && string(value) == "null" && r.parents[string(name)] {
					return nil
				}
				return &misfit{column: string(name), added: true}
			}
		}
		next = j + 1
		if last[j] == started {
			return fmt.Errorf("the member %q is there twice", name)
		}
		last[j] = started
		c, at := &columns[j], j*b.stride+started-1
		isNull := !quoted && string(value) == "null" || r.isMissing(value)
		switch {
		case isNull:
		case c.Kind == Map:
			return &misfit{column: c.Name, kind: c.Kind, value: string(value)}
		case !quoted && c.changes(string(value)):
			return &misfit{column: c.Name, kind: c.Kind, value: string(value), spelt: true}
		case c.Kind == Text:
			b.setText(at, string(value))
		default:
			v, ok := parse(c.Kind, string(value))
			isMissing := !ok && c.fixed && r.nulls.hasText(string(value))
			if times := c.Kind >= Date; !ok && !isMissing || !c.fixed && quoted != times {
				return &misfit{column: c.Name, kind: c.Kind, value: string(value), fixed: c.fixed}
			}
			b.cells[at], b.there[at] = v, ok
		}
		return nil
	})
	b.rows = started
	return err
}

// addNumber adds a member of an object that is a map.
func addNumber(b *batch, c *Column, at int, key, value []byte, quoted bool) error {
	if !quoted && string(value) == "null" {
		return b.addEntry(at, key, 0, true)
	}
	x, ok := parseFloat(string(value))
	if quoted || !ok {
		return &misfit{column: c.Name, kind: Map, value: string(value)}
	}
	return b.addEntry(at, key, x, false)
}

// about implements rows.
func (r *ndjsonRows) about() Table {
	return Table{Format: "NDJSON", Columns: r.columns, Sample: r.size, Layout: r.layout}
}
